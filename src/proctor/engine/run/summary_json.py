"""The numbers of a run as JSON and back, for the store; what is none of them is an error."""

from collections.abc import Mapping
from dataclasses import fields

from proctor.core.exchange import Usage
from proctor.core.fingerprint import plain
from proctor.core.run import Group, Measured, Summary, Totals
from proctor.core.suite import Json


def summary_json(summary: Summary) -> dict[str, Json]:
    """Make JSON of all numbers."""
    document: dict[str, Json] = plain(summary)
    return document


def summary_from(data: Mapping[str, Json]) -> Summary:
    """Make the numbers of their JSON."""
    return Summary(
        totals=Totals(**_filled(data["totals"]), bounds=_pair(data["totals"].get("bounds"))),
        groups={
            tag: {name: Group(**_filled(group)) for name, group in rows.items()}
            for tag, rows in data.get("groups", {}).items()
        },
        measures={
            name: Measured(
                value=_number(measured.get("value")),
                interval=_pair(measured.get("interval")),
                n=_count(measured["n"]),
                detail=measured.get("detail"),
                note=_text(measured.get("note", "")),
            )
            for name, measured in data.get("measures", {}).items()
        },
        usage=_used(data.get("usage", {})),
        references=_mapping(data.get("references", {})),
        failures={
            name: [_mapping(row) for row in rows]
            for name, rows in _mapping(data.get("failures", {})).items()
        },
    )


def sound_summary(data: Mapping[str, Json] | None) -> Mapping[str, Json] | None:
    """Return what a store has of a run's numbers, where all of it can be read."""
    if data is None:
        return None
    try:
        summary_from(data)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
    return data


def _filled(data: Mapping[str, Json]) -> dict[str, Json]:
    """Return the fields of a group, or of totals but their bounds."""
    group_fields = {
        name: _count(value) if name in _COUNTS else _sure(value)
        for name, value in data.items()
        if name not in _SEVERAL
    }
    return {
        **group_fields,
        "rate": _number(data.get("rate")),
        "spread": _number(data.get("spread")),
        "interval": _pair(data.get("interval")),
    }


_SEVERAL = ("rate", "spread", "interval", "bounds")
_COUNTS = ("cases", "cases_unscored", "attempts", "unanswered", "unscored", "errors")


def _number(value: Json) -> Json:
    return None if value is None else _sure(value)


def _sure(value: Json) -> Json:
    if type(value) not in (int, float):
        raise TypeError(f"{value!r:.40} is no number")
    return value


def _count(value: Json) -> Json:
    if not float(_sure(value)).is_integer():
        raise TypeError(f"{value!r:.40} is no count")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no text")
    return value


def _mapping(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{value!r:.40} is no mapping")
    return value


def _pair(value: Json) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = value
    return _sure(low), _sure(high)


def _used(data: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what calls took, where all that is counted is a number."""
    for field in fields(Usage):
        _number(data.get(field.name))
    return dict(data)
