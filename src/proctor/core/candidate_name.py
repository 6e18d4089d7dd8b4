"""The name by which people know a candidate."""

from pathlib import PurePath

from proctor.core.suite import Spec


def candidate_label(candidate: Spec) -> str:
    """Name a candidate: a model with its provider, or the last part of the answers' path."""
    params = candidate.params
    if (model := params.get("model")) and not params.get("name"):
        return f"{candidate.name}:{model}"
    for key in ("label", "name"):
        if params.get(key):
            return str(params[key])
    for key in ("path", "answers", "file"):
        if params.get(key):
            return PurePath(str(params[key])).name or candidate.name
    return candidate.name
