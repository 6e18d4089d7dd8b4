"""What an attempt did to the state of its case, and what its user did, in lines."""

import json
from collections.abc import Mapping

from proctor.core.json_changes import AFTER, BEFORE, PATH, path_words
from proctor.core.suite import Json, ToolCall
from proctor.core.tool_calls import call_text
from proctor.reports.reasons import rows_of

ACTIONS, STATE = "actions", "state"
_SHOWN = 200


def user_calls(notes: Mapping[str, Json]) -> list[str]:
    """Return the simulated user's calls of its own tools, each with what it gave."""
    return [
        f"{call_text(_call(row))} → {_cut(str(row.get('result', '')))}"
        for row in rows_of(notes, ACTIONS)
        if row.get("by") == "user"
    ]


def state_changes(notes: Mapping[str, Json]) -> list[str]:
    """Return what changed in the state, a line each."""
    return [_words(change) for change in rows_of(notes.get(STATE), "changes")]


def state_object(notes: Mapping[str, Json]) -> dict[str, Json]:
    """Return the actions of an attempt and what changed in the state, as JSON; often nothing."""
    data: dict[str, Json] = {}
    if ACTIONS in notes:
        data[ACTIONS] = rows_of(notes, ACTIONS)
    if isinstance(notes.get(STATE), Mapping):
        data["state_changes"] = rows_of(notes[STATE], "changes")
    if notes.get("flags"):
        data["simulator_flags"] = notes["flags"]
    return data


def _call(row: Mapping[str, Json]) -> ToolCall:
    return ToolCall(name=str(row.get("name", "")), arguments=row.get("arguments") or {})


def _words(change: Mapping[str, Json]) -> str:
    path = change.get(PATH)
    where = path_words(path if isinstance(path, list | tuple) else ())
    if AFTER not in change:
        return f"{where}: {_value(change.get(BEFORE))} is gone"
    if BEFORE not in change:
        return f"{where}: new, {_value(change[AFTER])}"
    return f"{where}: {_value(change[BEFORE])} → {_value(change[AFTER])}"


def _value(value: Json) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
