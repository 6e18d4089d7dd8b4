"""A run as the result files of InfiBench's own tools: details, summary and table."""

import io
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter

from proctor.contracts.report import Layout, RunView
from proctor.core.fold import parse_fold
from proctor.core.run import Group
from proctor.core.suite import Case, Json
from proctor.errors import SuiteError
from proctor.io.text_files import inside, unusable_name
from proctor.io.yaml_files import read_yaml
from proctor.origins.infibench.entry import Sums, entry_of
from proctor.reports.structured import clean

_METRICS: Mapping[str, str] = {"customized": "custom"}
_SECTIONS: Mapping[str, str] = {"lang": "Lang", "type": "Type", "metric": "Metric"}
_ROW_FILES = (".csv", ".jsonl", ".parquet")
# What a reader of YAML 1.1, which the original's tools use, takes for a text without quotes.
_BARE = re.compile(r"[A-Za-z_][\w/.+#-]*(?: [\w/.+#-]+)*", re.ASCII)
_NOT_TEXT = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}


@dataclass
class _Order:
    """The order in which rows of the table first appear when the cases are sorted by key."""

    first: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)

    def see(self, key: str, case: Case) -> None:
        """Take in one case with the key it has in the result file."""
        groups = [(tag, value) for tag, values in case.tags.items() for value in values]
        groups += [("metric", criterion.label) for criterion in case.criteria]
        for place, row in enumerate(groups):
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
    """The result files of the original InfiBench evaluator.

    Its grader writes details as YAML and a summary of three lines; its statistics program makes
    the table of the YAML, and comes to the same one here. A case without a value is written as
    the original writes one that broke: 0 of 0, with the reason in ``info`` and ``error_obj``, so
    that sums over the file equal the run's own.
    """

    model_name: str = ""
    """The heading of the table; the candidate's name if empty."""
    home: str = ""
    """The folder that the paths of cases start from; what a case's file says of it is copied."""

    def beside(self, suite: Path) -> "InfiBenchLayout":
        return replace(self, home=str(suite if suite.is_dir() else suite.parent))

    def write(self, view: RunView, folder: Path) -> list[Path]:
        """Write ``{suite}_{candidate}.yaml``, ``.txt`` and ``_stats_table.txt`` into a folder."""
        stem = f"{_file_name(view.suite.name)}_{_file_name(_answers_name(view.candidate))}"
        detail, summary = folder / f"{stem}.yaml", folder / f"{stem}.txt"
        table = folder / f"{stem}_stats_table.txt"
        self.write_files(view, detail, summary, table)
        return [detail, summary, table]

    def write_files(
        self, view: RunView, detail: Path, summary: Path, table: Path | None = None
    ) -> Sums:
        """Write the files wherever the original's flags say, and return the summary's numbers."""
        for path in (detail, summary, table):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
        partial = detail.with_name(f".{detail.name}.part")
        with partial.open("w", encoding="utf-8") as file:
            order, sums = self._write_cases(view, file)
        partial.replace(detail)
        summary.write_text(sums.text(), encoding="utf-8")
        if table is not None:
            table.write_text(self._table(view, order), encoding="utf-8")
        return sums

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

    def _write_cases(self, view: RunView, file: IO[str]) -> tuple[_Order, Sums]:
        """Write all cases sorted by key, which come unsorted, holding only one in memory."""
        order, sums, how = _Order(), Sums(), parse_fold(view.suite.reduce)
        places: dict[str, tuple[int, int]] = {}
        with tempfile.TemporaryFile() as unsorted:
            for result in view.results():
                key = result.case.source or result.case.id
                key = _text(key if key not in places else f"{key}#{result.case.id}")
                order.see(key, result.case)
                case_entry = entry_of(result, how, self._written(result.case))
                sums = sums.plus(case_entry, result)
                entry = _dumped({key: case_entry}).encode()
                places[key] = (unsorted.tell(), len(entry))
                unsorted.write(entry)
            for key in sorted(places):
                start, length = places[key]
                unsorted.seek(start)
                file.write(unsorted.read(length).decode())
            if not places:
                file.write("{}\n")
        return order, sums

    def _written(self, case: Case) -> Mapping[str, Json]:
        """Return what the file of a case says, where it lies; else nothing."""
        if not self.home or not case.source or unusable_name(case.source):
            return {}
        home = Path(self.home)
        path = inside(home, home, case.source)
        if path is None or not path.is_file():
            return {}
        try:
            data = read_yaml(path).data
        except SuiteError:
            return {}
        return data if isinstance(data, dict) and "grading" in data else {}


def _numbers(label: str, group: Group) -> list[str]:
    return [
        label,
        f"{group.score:.2f}",
        f"±{group.score_spread or 0.0:.2f}",
        f"{group.rate or 0.0:.2%}",
        f"±{group.spread or 0.0:.2%}",
        f"{group.full:.2f}",
    ]


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    """Set one line; a number and its spread stand in one column."""
    cells = [f" {cell.ljust(width)} " for cell, width in zip(row, widths, strict=True)]
    return "|".join([cells[0], f"{cells[1]} {cells[2]}", f"{cells[3]} {cells[4]}", *cells[5:]])


class _Representer(SafeRepresenter):
    """Writer of texts and numbers that YAML 1.1 and 1.2 read alike."""

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
