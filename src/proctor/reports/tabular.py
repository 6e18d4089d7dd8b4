"""A run as rows: a table for terminals, Markdown, and CSV."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from proctor.contracts.report import Report, RunView
from proctor.core.names import clusters_text
from proctor.core.run import METRIC, CaseResult, Group, Measured
from proctor.core.suite import Json
from proctor.late_patterns import late_pattern
from proctor.records import dataclass
from proctor.reports.reasons import cause_of_case, one_line, reasons, shortfall

if TYPE_CHECKING:
    from rich.console import RenderableType

    from proctor.core.audit import NoiseFloor


UNLIMITED = 1_000_000
"""The width of a file or pipe, where nothing is cut or wrapped."""


def printed(
    parts: Sequence["RenderableType"], *, width: int | None = None, color: bool = False
) -> str:
    """Render tables and lines as text; lines are never wrapped."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(
        file=file,
        width=UNLIMITED if width is None else width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str))
    return "\n".join(line.rstrip() for line in file.getvalue().split("\n"))


HEADER = ("Group", "Score", "±", "Full", "Rate", "±", "Interval 95%", "Share", "Cases")
CASE_HEADER = ("Case", "Value", "Full", "Status", "Why")
CSV_HEADER = (
    *("section", "name", "score", "score_spread", "full", "rate", "spread"),
    *("interval_low", "interval_high", "share", "cases"),
)
CSV_CASE_HEADER = ("id", "status", "value", "full", "rate", "low", "high")

_UNKNOWN = "–"
MOST_NAMES = 5
"""How many cases a note on several runs names."""
_NARROWEST = 12
_PLAIN = late_pattern(r"[ -~\u00a1-\u00ac\u00ae-\u02ff\u2013\u2014\u2018-\u201f\u2026\u2500]*")
"""Latin letters, punctuation, and the rule of a table."""
_MARKDOWN = late_pattern(r"([\\|`*<\[\]])")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One line of a breakdown."""

    section: str
    name: str
    group: Group
    share: float | None
    """This row's share of all full marks."""
    clustered_by: str = ""
    """What cases of one cluster have in common."""
    noise: "NoiseFloor | None" = None
    """How far the rate would move if all were judged again, where the judge was audited."""
    shows_noise: bool = False
    """Whether the table has a column for that."""

    @property
    def label(self) -> str:
        """Return the row's name with its breakdown."""
        return self.name if self.section == "overall" else f"{self.section}: {self.name}"

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the row's cells, in the order of the header."""
        group = self.group
        return (
            one_line(self.label),
            f"{group.score:.2f}",
            _UNKNOWN if group.score_spread is None else f"{group.score_spread:.2f}",
            f"{group.full:.2f}",
            _percent(group.rate),
            _percent(group.spread),
            _range(group.interval),
            _percent(self.share),
            cases_words(group, self.clustered_by),
            *((self.noise_text,) if self.shows_noise else ()),
        )

    @property
    def noise_text(self) -> str:
        """Return how far the rate would move if all were judged again."""
        return _UNKNOWN if self.noise is None else f"± {100 * self.noise.value:.1f}"


def rows_of(view: RunView, by: Sequence[str] = ()) -> list[TableRow]:
    """Return the overall row, then each breakdown by full marks, in order of appearance."""
    totals = view.summary.totals
    listed: list[tuple[str, str, Group]] = [("overall", "Overall", totals)]
    for tag, groups in view.groups(by).items():
        ordered = sorted(groups.items(), key=lambda pair: -pair[1].full)
        listed += [(tag, name, group) for name, group in ordered]
    shows_noise = view.summary.noise_floor(totals) is not None
    return [
        TableRow(
            section=section,
            name=name,
            group=group,
            share=_part(group, totals),
            clustered_by=view.summary.clustered_by,
            noise=view.summary.noise_floor(group, name if section == METRIC else ""),
            shows_noise=shows_noise,
        )
        for section, name, group in listed
    ]


def header_of(rows: Sequence[TableRow]) -> tuple[str, ...]:
    """Return the names of the columns, with that of the noise floor where it is known."""
    return (*HEADER, "Noise") if rows and rows[0].shows_noise else HEADER


def cases_words(group: Group, clustered_by: str) -> str:
    """Return the number of cases, with that of the clusters they lie in where there are any."""
    if group.clusters is None:
        return str(group.cases)
    many = "" if group.cases == 1 else "s"
    return f"{group.cases} case{many} in {clusters_text(group.clusters, clustered_by)}"


def notes_of(view: RunView) -> list[str]:
    """Return notes on what the sums leave out, and the measures, one line each."""
    totals = view.summary.totals
    notes = []
    if view.run.imported:
        notes.append("Imported: answers and scores are as in the file")
    if (early := view.run.stopped_early) is not None:
        notes.append(early_note(early))
    if totals.unanswered:
        notes.append(f"Unanswered: {totals.unanswered} of {totals.attempts} attempts")
    if totals.unscored:
        cases = f"{totals.cases_unscored} case{'' if totals.cases_unscored == 1 else 's'}"
        bounds = f"; the rate lies within {_range(totals.bounds)}" if totals.bounds else ""
        notes.append(
            f"Unscored: {totals.unscored} of {totals.attempts} attempts,"
            f" {cases} without a value{bounds}"
        )
    if totals.errors:
        notes.append(
            f"Errors: {totals.errors} of {totals.attempts} attempts failed and are not counted;"
            " the same command retries them"
        )
    if ragged := view.summary.ragged:
        notes.append(
            f"Buckets: the attempts at {ragged} case{'' if ragged == 1 else 's'} do not fill them;"
            " the best of fewer attempts is lower, and so is the rate"
        )
    notes += reference_notes(view.summary.references)
    measures = view.summary.measures.items()
    notes += [_measure_line(one_line(name), measured) for name, measured in measures]
    summary = view.summary
    split = summary.variance is not None and summary.variance.attempts is not None
    if summary.corrected or summary.audit is not None or split:
        from proctor.reports.judged import judge_notes

        notes += judge_notes(view.summary)
    if summary.scan is not None:
        from proctor.reports.scan_notes import scan_notes

        notes += scan_notes(summary.scan)
    return notes + [line for line in (usage_line(view.summary.usage),) if line]


def early_note(early: Mapping[str, Json]) -> str:
    """Say that a run ended before its last case, and what its numbers are worth therefore."""
    return (
        f"Stopped early: {early['cases']} of {early['of']} cases, taken at random until"
        f" {one_line(str(early['question']))!r} was answered: {early['answer']}"
        f" (evidence {early['odds']:,.3g}:1); the rate is not that of a full run, its interval"
        " holds at any time, those of groups, measures and corrected scores do not"
    )


def reference_notes(counts: Mapping[str, Json]) -> list[str]:
    """Say if references look too strict: no answer equals one, though some contain it."""
    if not counts:
        return []
    unmatched, compared = counts["unmatched"], counts["compared"]
    if contained := counts["contained"]:
        names = ", ".join(one_line(name) for name in contained)
        return [
            f"References: no answer to {unmatched} of {compared} cases equals one, but some contain"
            f" one ({names}); to count these, write contains: {{any: references}}"
        ]
    if unmatched == compared > 1:
        return [f"References: no answer to any of the {compared} cases equals one; are they right?"]
    return []


def shared_reference_notes(several: Sequence[Mapping[str, Json]]) -> list[str]:
    """Say once for several runs of a suite if its references look too strict."""
    noted = [counts for counts in several if reference_notes(counts)]
    strict = [counts for counts in noted if counts["contained"]]
    notes = []
    if strict:
        names = dict.fromkeys(one_line(name) for counts in strict for name in counts["contained"])
        notes.append(
            f"References: in {len(strict)} of {len(several)} runs answers to some cases equal none,"
            f" but contain one ({', '.join(islice(names, MOST_NAMES))}); to count these, write"
            " contains: {any: references}"
        )
    if others := len(noted) - len(strict):
        notes.append(
            f"References: in {others} of {len(several)} runs no answer to any case equals one;"
            " are they right?"
        )
    return notes


@dataclass(frozen=True)
class TableReport(Report):
    """Report of a run as a table for terminals."""

    width: int | None = None
    """The terminal's width, to which long texts are wrapped; None for no limit."""
    color: bool = False

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        rows = rows_of(view, by)
        head = [*first_lines(view), _headline(view), ""]
        tables = [(header_of(rows), _sections(rows), False)]
        if cases:
            listed = [_case_cells(result) for result in view.results()]
            tables.append((CASE_HEADER, [listed], True))
        last = [*notes_of(view), f"Signature: {one_line(view.run.signature) or _UNKNOWN}"]
        if self.width is None and not self.color:
            lines = [*head]
            for header, sections, text_last in tables:
                lines += [*_plain_table(header, sections, text_last=text_last), ""]
            lines += last
            if all(map(_is_plain, lines)):
                return "".join(f"{line.rstrip()}\n" for line in lines)
        parts: list[RenderableType] = [*head]
        for header, sections, text_last in tables:
            parts += [_rich_table(header, sections, fold_last=text_last), ""]
        parts += last
        narrowest = _width_of(rows)
        width = None if self.width is None else max(self.width, narrowest)
        return printed(parts, width=width, color=self.color)


@dataclass(frozen=True)
class MarkdownReport(Report):
    """Report of a run as a Markdown table."""

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        lines = [f"**{escaped(line)}**" for line in first_lines(view) if line]
        lines += (
            ["", f"**{escaped(_headline(view))}**", ""]
            if lines
            else [
                f"**{escaped(_headline(view))}**",
                "",
            ]
        )
        rows = rows_of(view, by)
        lines += md_table(header_of(rows), (row.cells for row in rows))
        if notes := notes_of(view):
            lines += ["", *(f"- {escaped(note)}" for note in notes)]
        lines += ["", f"Signature: `{one_line(view.run.signature).replace('`', ' ') or _UNKNOWN}`"]
        if cases:
            lines += ["", *md_table(CASE_HEADER, map(_case_cells, view.results()))]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class CsvReport(Report):
    """Report of a run's rows, or its cases, as CSV with full precision."""

    def render(self, view: RunView, *, by: Sequence[str] = (), cases: bool = False) -> str:
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        if cases:
            writer.writerows(_csv_cases(view))
        else:
            rows = rows_of(view, by)
            clustered = rows[0].group.clusters is not None
            noisy = rows[0].shows_noise
            more = [*(["clusters"] if clustered else []), *(["noise_floor"] if noisy else [])]
            writer.writerow([*CSV_HEADER, *more])
            writer.writerows(_csv_row(row, more) for row in rows)
        return file.getvalue()


def _csv_row(row: TableRow, more: Sequence[str]) -> list[str | float | None]:
    group = row.group
    low, high = group.interval or (None, None)
    name = row.section if row.section == "overall" else row.name
    return [
        *(csv_text(row.section), csv_text(name), group.score, group.score_spread, group.full),
        *(group.rate, group.spread, low, high, row.share, group.cases),
        *((group.clusters,) if "clusters" in more else ()),
        *((None if row.noise is None else row.noise.value,) if "noise_floor" in more else ()),
    ]


def _csv_cases(view: RunView) -> Iterator[Sequence[str | float | None]]:
    """Yield the header and a row per case, in a second pass after collecting the tags."""
    tags: dict[str, None] = {}
    listed = []
    for result in view.results():
        case, folded = result.case, result.folded
        tags.update(dict.fromkeys(case.tags))
        rate = None
        if folded.value is not None and case.full_score:
            rate = folded.value / case.full_score
        values = [folded.value, case.full_score, rate, folded.low, folded.high]
        listed.append((case, folded.status.value, values))
    named = [f"tag:{tag}" if tag in CSV_CASE_HEADER else tag for tag in tags]
    yield [*CSV_CASE_HEADER, *map(csv_text, named)]
    for case, status, values in listed:
        texts = [csv_text("; ".join(case.tags.get(tag, ()))) for tag in tags]
        yield [csv_text(case.id), status, *values, *texts]


def csv_text(text: str) -> str:
    """Return a text that no spreadsheet reads as a formula, and that can be encoded.

    A carriage return would end the row, and what follows it could be a formula again.
    """
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\n")) else text


def first_lines(view: RunView) -> list[str]:
    """Return the first line: what the run lacks, if anything."""
    return [text, ""] if (text := shortfall(view)) else []


def _headline(view: RunView) -> str:
    run = view.run
    regraded = f" · regraded from {run.regraded}" if run.regraded else ""
    about = f"suite {run.suite} · candidate {view.candidate} · {view.status}{regraded}"
    return one_line(f"{run.name} · {about}")


def _case_cells(result: CaseResult) -> tuple[str, ...]:
    value = result.folded.value
    why, cause = reasons(result), cause_of_case(result)
    more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
    return (
        one_line(result.case.id),
        _UNKNOWN if value is None else f"{value:.4g}",
        f"{result.case.full_score:g}",
        f"{result.folded.status.value} ({cause})" if cause else result.folded.status.value,
        one_line(why[0]) + more if why else "",
    )


def _sections(rows: Sequence[TableRow]) -> list[list[tuple[str, ...]]]:
    sections: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        sections.setdefault(row.section, []).append(row.cells)
    return list(sections.values())


def _rich_table(
    header: Sequence[str], sections: Sequence[Sequence[Sequence[str]]], *, fold_last: bool = False
) -> "RenderableType":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for place, name in enumerate(header):
        if place == 0 or (fold_last and place == len(header) - 1):
            texts = [name, *(row[place] for section in sections for row in section)]
            narrowest = min(_NARROWEST, max(map(len, texts)))
            table.add_column(name, overflow="fold", min_width=narrowest)
        else:
            table.add_column(name, no_wrap=True, justify="right")
    for section in sections:
        for cells in section:
            table.add_row(*(Text(cell) for cell in cells))
        table.add_section()
    return table


def _plain_table(
    header: Sequence[str], sections: Sequence[Sequence[Sequence[str]]], *, text_last: bool = False
) -> list[str]:
    """Lay out a table as rich does where nothing is cut or coloured; loading rich takes longer."""
    columns = zip(header, *(row for section in sections for row in section), strict=True)
    widths = [max(map(len, column)) for column in columns]
    texts = {0, len(widths) - 1 if text_last else 0}

    def line(cells: Sequence[str]) -> str:
        return "  ".join(
            cell.ljust(width) if place in texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )

    lines = [line(header), "─" * (sum(widths) + 2 * (len(widths) - 1))]
    for number, section in enumerate(sections):
        lines += [""] * bool(number)
        lines += [line(cells) for cells in section]
    return lines


def _is_plain(text: str) -> bool:
    """Tell whether each character of a text takes one place, and none means anything else."""
    return _PLAIN.fullmatch(text) is not None


def _width_of(rows: Sequence[TableRow]) -> int:
    """Return the width that the numbers need, beside a narrow first column."""
    columns = list(zip(header_of(rows), *(row.cells for row in rows), strict=True))[1:]
    return _NARROWEST + sum(max(map(len, column)) + 2 for column in columns)


def md_table(header: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    """Write a table as Markdown, line by line."""
    yield f"| {' | '.join(header)} |"
    yield f"| --- |{' ---: |' * (len(header) - 1)}"
    for row in rows:
        yield f"| {' | '.join(map(escaped, row))} |"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\1", text)


def _measure_line(name: str, measured: Measured) -> str:
    value = _UNKNOWN if measured.value is None else f"{measured.value:.4f}"
    ends = measured.interval
    interval = f" [{ends[0]:.4f}, {ends[1]:.4f}]" if ends else ""
    if not isinstance(measured.detail, Mapping):
        note = f"; {measured.note}" if measured.note else ""
        return f"{name}: {value}{interval} (n = {measured.n}{note})"
    shown = one_line(", ".join(f"{key} {count}" for key, count in measured.detail.items()))
    if measured.value is None:
        return f"{name}: {shown}"
    counted = all(type(count) is int for count in measured.detail.values())
    return f"{name}: {value}{interval} (n = {measured.n}{f': {shown}' if counted else ''})"


def usage_line(usage: Mapping[str, Json]) -> str:
    """Return calls, tokens and cost of a run; empty if no model was called."""
    if not usage.get("calls"):
        return ""
    tokens_in, tokens_out = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    cost = usage.get("cost")
    money = "" if cost is None else f", ${cost:,.4f}"
    shares = [f"{n['calls']:,} {role}" for role, n in usage.get("roles", {}).items()]
    roles = f" ({', '.join(shares)})" if shares else ""
    cached, thought = usage.get("cached_tokens"), usage.get("reasoning_tokens")
    read = f" ({cached:,} cached)" if cached else ""
    thinking = f" ({thought:,} reasoning)" if thought else ""
    tokens = f"tokens in {tokens_in:,}{read}, out {tokens_out:,}{thinking}"
    return f"Calls: {usage['calls']:,}{roles}, {tokens}{money}"


def _part(group: Group, totals: Group) -> float | None:
    return group.full / totals.full if totals.full else None


def _percent(rate: float | None) -> str:
    return _UNKNOWN if rate is None else f"{rate * 100:.2f}%"


def _range(interval: tuple[float, float] | None) -> str:
    if interval is None:
        return _UNKNOWN
    return f"{interval[0] * 100:.1f}–{interval[1] * 100:.1f}%"
