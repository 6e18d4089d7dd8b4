"""The numbers of a run as JSON and back, for the store."""

from collections.abc import Mapping

from proctor.core.fingerprint import plain
from proctor.core.run import Group, Measured, Summary, Totals
from proctor.core.suite import Json


def summary_json(summary: Summary) -> dict[str, Json]:
    """Make JSON of all numbers."""
    made: dict[str, Json] = plain(summary)
    return made


def summary_from(data: Mapping[str, Json]) -> Summary:
    """Make the numbers of their JSON."""
    return Summary(
        totals=Totals(**_filled(data["totals"], bounds=None)),
        groups={
            tag: {name: Group(**_filled(group)) for name, group in rows.items()}
            for tag, rows in data.get("groups", {}).items()
        },
        measures={
            name: Measured(
                value=found.get("value"),
                interval=_pair(found),
                n=found["n"],
                detail=found.get("detail"),
                note=found.get("note", ""),
            )
            for name, found in data.get("measures", {}).items()
        },
        usage=data.get("usage", {}),
        references=data.get("references", {}),
        failures=data.get("failures", {}),
    )


def _filled(data: Mapping[str, Json], **defaults: Json) -> dict[str, Json]:
    made = {"rate": None, **defaults, **data, "interval": _pair(data)}
    if made.get("bounds") is not None:
        made["bounds"] = tuple(made["bounds"])
    return made


def _pair(data: Mapping[str, Json]) -> tuple[float, float] | None:
    found = data.get("interval")
    return None if found is None else (found[0], found[1])
