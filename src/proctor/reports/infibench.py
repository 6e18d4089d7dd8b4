"""A run as the result files of InfiBench's own tools: details in YAML, and the table as text."""

import io
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter

from proctor.core.fingerprint import plain
from proctor.core.run import AttemptResult, CaseResult, Group
from proctor.core.score import Score, ScoreStatus, ValueStatus
from proctor.core.suite import Case, Criterion, Json
from proctor.reports.reasons import unscored_reasons
from proctor.reports.structured import clean, tag_object
from proctor.reports.view import Layout, RunView

_FIELDS: Mapping[str, str] = {
    "keywords": "keywords",
    "blanks": "blank_filling",
    "unit_tests": "unit_test",
    "rouge": "similarity",
    "python_check": "custom",
}
_ROUGE = ("rouge1", "rouge2", "rougeL", "rougeLsum", "normalized_score")
_METRICS: Mapping[str, str] = {"customized": "custom"}
_SECTIONS: Mapping[str, str] = {"lang": "Lang", "type": "Type", "metric": "Metric"}
_ROW_FILES = (".csv", ".jsonl", ".parquet")
# What a reader of YAML 1.1, which the original's tools use, takes for a text without quotes.
_BARE = re.compile(r"[A-Za-z_][\w/.+#-]*(?: [\w/.+#-]+)*", re.ASCII)
_NOT_TEXT = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass
class _Order:
    """Remember where each row of the table first appears when the cases are sorted by key."""

    first: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)

    def see(self, key: str, case: Case) -> None:
        """Take in one case with the key it has in the result file."""
        found = [(tag, value) for tag, values in case.tags.items() for value in values]
        found += [("metric", criterion.label) for criterion in case.criteria]
        for place, row in enumerate(found):
            self.first[row] = min((key, place), self.first.get(row, (key, place)))

    def rows(self, tag: str, groups: Mapping[str, Group]) -> list[tuple[str, Group]]:
        """Return the rows of one breakdown: the largest first, then as they appear."""
        last = ("\U0010ffff", 0)
        return sorted(
            groups.items(),
            key=lambda row: (-row[1].full, self.first.get((tag, row[0]), last)),
        )


@dataclass(frozen=True)
class InfiBenchLayout(Layout):
    """Write the result YAML and the table of the original InfiBench evaluator.

    A case without a value is written as the original writes one that broke: 0 of 0, with the
    reason in ``info`` and ``error_obj``, so that sums over the file equal the run's own.
    """

    model_name: str = ""
    """The heading of the table; the candidate's name if empty."""

    def write(self, view: RunView, folder: Path) -> list[Path]:
        """Write ``{suite}_{candidate}.yaml`` and ``.txt`` into a folder."""
        stem = f"{_file_name(view.suite.name)}_{_file_name(_answers_name(view.candidate))}"
        detail, table = folder / f"{stem}.yaml", folder / f"{stem}.txt"
        self.write_files(view, detail, table)
        return [detail, table]

    def write_files(self, view: RunView, detail: Path | None, table: Path | None) -> None:
        """Write the files, or one of them, wherever the original's flags say."""
        for path in (detail, table):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
        if detail is None:
            order = _write_cases(view, io.StringIO())
        else:
            partial = detail.with_name(f".{detail.name}.part")
            with partial.open("w", encoding="utf-8") as file:
                order = _write_cases(view, file)
            partial.replace(detail)
        if table is not None:
            table.write_text(self._table(view, order), encoding="utf-8")

    def _table(self, view: RunView, order: _Order) -> str:
        """Return the original's table, character for character."""
        totals = view.summary.totals
        name = self.model_name or _answers_name(view.candidate)
        rows = [["", name, "", "", "", "Full Score", "Allocation"]]
        rows.append([*_numbers("Overall Score", totals), ""])
        for tag, heading in _SECTIONS.items():
            for row, group in order.rows(tag, view.summary.groups.get(tag, {})):
                label = f"{heading}: {_METRICS.get(row, row) if tag == 'metric' else row}"
                share = group.full / totals.full if totals.full else 0.0
                rows.append([*_numbers(_text(label), group), f"{share:.2%}"])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [_line(row, widths) for row in rows]
        splitter = "|".join("-" * (width + 2) for width in widths)
        rule = "-" * len(splitter)
        return "\n".join([rule, lines[0], splitter, *lines[1:], rule])


def _numbers(label: str, group: Group) -> list[str]:
    return [
        label,
        f"{group.score:.2f}",
        f"±{group.score_spread:.2f}",
        f"{group.rate or 0.0:.2%}",
        f"±{group.spread:.2%}",
        f"{group.full:.2f}",
    ]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Set one line; a number and its spread stand in one column."""
    cells = [f" {cell.ljust(width)} " for cell, width in zip(row, widths, strict=True)]
    return "|".join([cells[0], f"{cells[1]} {cells[2]}", f"{cells[3]} {cells[4]}", *cells[5:]])


def _write_cases(view: RunView, file: IO[str]) -> _Order:
    """Write all cases sorted by key, which come unsorted, holding only one in memory."""
    order = _Order()
    places: dict[str, tuple[int, int]] = {}
    with tempfile.TemporaryFile() as unsorted:
        for result in view.results():
            key = result.case.source or result.case.id
            key = _text(key if key not in places else f"{key}#{result.case.id}")
            order.see(key, result.case)
            entry = _dumped({key: _entry(result)}).encode()
            places[key] = (unsorted.tell(), len(entry))
            unsorted.write(entry)
        for key in sorted(places):
            start, length = places[key]
            unsorted.seek(start)
            file.write(unsorted.read(length).decode())
        if not places:
            file.write("{}\n")
    return order


def _entry(result: CaseResult) -> dict[str, Json]:
    """Make what the original keeps of one case."""
    case, folded = result.case, result.folded
    entry: dict[str, Json] = {name: tag_object(values) for name, values in case.tags.items()}
    entry |= {"id": case.id, "null_score": case.null_score}
    if case.weight != 1:
        entry["weight"] = case.weight
    entry["all_scores"] = [attempt.value.value for attempt in result.attempts]
    entry["detail"] = [_detail(case, attempt) for attempt in result.attempts]
    if folded.value is None:
        broken = {"info": folded.status.value, "error_obj": "; ".join(unscored_reasons(result))}
        return entry | {"full_score": 0.0, "now_score": 0.0, "now_std": 0.0} | broken
    return entry | {
        "full_score": case.full_score,
        "now_score": folded.value,
        "now_std": folded.spread,
    }


def _detail(case: Case, attempt: AttemptResult) -> dict[str, Json]:
    """Make what the original keeps of one response."""
    detail: dict[str, Json] = {}
    if attempt.value.status is ValueStatus.ERROR:
        return {"info": "error encountered", "error_obj": attempt.attempt.error}
    if attempt.value.status is ValueStatus.UNANSWERED:
        return {"info": "no answer"}
    for criterion in case.criteria:
        if (score := attempt.scores.get(criterion.id)) is not None:
            _add_score(detail, criterion, score)
    for name, limit in (("max_score", case.max_points), ("min_score", case.min_points)):
        if limit is not None:
            detail[name] = limit
    return detail


def _add_score(detail: dict[str, Json], criterion: Criterion, score: Score) -> None:
    """Add one criterion under the original's keys; several of one kind are added up."""
    name = _FIELDS.get(criterion.scorer.name, criterion.id)
    if score.status is ScoreStatus.FAILED:
        detail[f"{name}_error"] = score.reason
        return
    if score.points is None:
        return
    weight = criterion.weight
    got, out_of = weight * score.points, weight * (score.out_of or 0.0)
    detail[f"{name}_score"] = detail.get(f"{name}_score", 0.0) + got
    detail[f"{name}_totscore"] = detail.get(f"{name}_totscore", 0.0) + out_of
    for key, value in _kept(name, plain(score.detail)):
        several = isinstance(value, list) and isinstance(detail.get(key), list)
        detail[key] = detail[key] + value if several else value


def _kept(name: str, detail: Json) -> Iterator[tuple[str, Json]]:
    """Yield the original's keys for the detail of one kind of criterion."""
    known = detail if isinstance(detail, dict) else {}
    if name == "keywords":
        yield "keywords", [rule["status"] for rule in known.get("rules", [])]
    elif name == "blank_filling":
        yield "blank_filling_detail", [blank["line"] for blank in known.get("blanks", [])]
    elif name == "similarity":
        yield "similarity_detail", [{key: known[key] for key in _ROUGE if key in known}]
    elif name == "unit_test":
        yield "unit_test_detail", known.get("tests", detail)
    elif detail is not None:
        yield f"{name}_detail", detail
    if "scoring_detail" in known:
        handler = "post_handler_detail" if name == "keywords" else f"{name}_post_handler_detail"
        yield handler, known["scoring_detail"]


class _Representer(SafeRepresenter):
    """Write texts and numbers so that readers of YAML 1.1 and 1.2 read the same."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write every value out."""
        return True


def _represent_text(representer: SafeRepresenter, text: str) -> ScalarNode:
    bare = _BARE.fullmatch(text) and text.lower() not in _NOT_TEXT
    style = None if bare else '"'
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_float(representer: SafeRepresenter, number: float) -> ScalarNode:
    text = repr(number)
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return representer.represent_scalar("tag:yaml.org,2002:float", text)


_Representer.add_representer(str, _represent_text)
_Representer.add_representer(float, _represent_float)


def _dumped(entry: Mapping[str, Json]) -> str:
    """Return one mapping as YAML with sorted keys."""
    writer = YAML(typ="safe")
    writer.Representer = _Representer
    writer.default_flow_style = False
    writer.allow_unicode = True
    writer.width = 1_000_000
    writer.sort_base_mapping_type_on_output = True  # type: ignore[assignment]
    file = io.StringIO()
    writer.dump(clean(entry, _text), file)
    return file.getvalue()


def _text(text: str) -> str:
    """Replace what no file can hold: half a surrogate pair, which model output may contain."""
    return text.encode("utf-8", "replace").decode()


def _answers_name(candidate: str) -> str:
    """Return the candidate's name without the ending of a file of rows."""
    for ending in _ROW_FILES:
        candidate = candidate.removesuffix(ending)
    return candidate


def _file_name(name: str) -> str:
    """Return a name that is one plain part of a path."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "_", _text(name)).strip(". ") or "unnamed"
