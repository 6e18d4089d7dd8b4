"""A suite's scoring method as Arthur Bench describes it: name, kind, configuration, categories."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from proctor.core.suite import Case, Json, Spec
from proctor.origins.arthur.method_table import CUSTOM, METHODS, ORIGINAL, Category

_NAMES = {
    "model": "model_type",
    "precision_weight": "precision_weight",
    "sentence": "hedging_language",
    "threshold": "threshold",
}
"""What Arthur Bench calls the parameters that can be configured."""


class Described(NamedTuple):
    """The method that a suite is scored by."""

    name: str
    custom: bool
    config: Mapping[str, Json]
    categories: Sequence[Category]

    @property
    def categorical(self) -> bool:
        """Tell whether scores are categories rather than numbers alone."""
        return bool(self.categories)

    def object(self) -> dict[str, Json]:
        """Return it as Arthur Bench writes it."""
        return {
            "name": self.name,
            "type": "custom" if self.custom else "built_in",
            "config": dict(self.config),
            "output_type": "categorical" if self.categorical else "continuous",
            "categories": [one._asdict() for one in self.categories] or None,
        }


def described(case: Case, compat: str) -> Described:
    """Describe the method by which a case, as all cases of its suite, is scored."""
    if not case.criteria:
        return Described("", True, {}, ())
    criterion = case.criteria[0]
    spec, method = criterion.scorer, METHODS.get(criterion.id)
    if spec.name == CUSTOM or method is None:
        params = spec.params
        config = params.get("config") if spec.name == CUSTOM else dict(params)
        categories = [_category(one) for one in params.get("categories") or ()]
        return Described(str(params.get("name") or criterion.id), True, config or {}, categories)
    config = {theirs: spec.params[ours] for ours, theirs in _NAMES.items() if ours in spec.params}
    if criterion.id == "exact_match":
        config["case_sensitive"] = _flag(spec, compat)
    return Described(criterion.id, False, config, list(method.categories.values()))


def _flag(spec: Spec, compat: str) -> bool:
    """Return the flag that was given; the original's means the opposite of its name."""
    sensitive = not spec.params.get("ignore_case", False)
    return sensitive is not (compat == ORIGINAL)


def _category(value: Json) -> Category:
    if isinstance(value, Mapping):
        return Category(str(value.get("name")), value.get("description"))
    return Category(str(value))
