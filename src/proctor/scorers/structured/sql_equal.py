"""A query that a candidate wrote, compared by the rows it gives with those that are wanted."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import Probe, ScoreContext, Scorer
from proctor.core.program import Limits, Program, Step
from proctor.core.score import Score
from proctor.core.suite import Case, Json
from proctor.core.tool_calls import same_value
from proctor.scorers.structured.assignment import best_pairs
from proctor.scorers.structured.json_answers import fenced
from proctor.scorers.structured.launchers import query_sql

LAUNCHER = Path(query_sql.__file__)
LIMITS = Limits(wall=30.0, memory=512 * 1024 * 1024, processes=16, output=16 * 1024 * 1024)
MOST_NEAR = 50
"""Rows that are paired by their nearness; more of them are compared in sorted order."""
NO_SANDBOX = "the query was not run: there is no sandbox"
_LANGUAGES = ("", "sql", "sqlite", "sqlite3", "postgresql", "mysql")


@dataclass(frozen=True)
class SqlEqual(Scorer):
    """Pass when the answer is a query that gives the wanted rows, on SQLite in the sandbox.

    ``setup`` makes the database. The wanted rows are those of ``query``, or ``rows`` as they are,
    or those of a reference, the best one counting. The answer's query, in a fenced block or the
    whole answer, may only read; it is stopped after 5 seconds or 10,000 rows. Unless ``ordered``,
    the order of rows does not matter; the names of columns do with ``columns``.
    """

    fixed_marks: ClassVar[bool] = True
    time_limit: ClassVar[float] = 120.0

    setup: str = ""
    query: str = ""
    rows: tuple[tuple[Any, ...], ...] | None = None
    ordered: bool = False
    columns: bool = False
    tolerance: float = 0.0
    """How far numbers may be apart, absolutely or as a share of the greater one."""
    partial: bool = False
    """Whether the points are the share of rows that are right, of those wanted or those given."""

    @property
    def needs_sandbox(self) -> bool:
        return True

    async def score(self, ctx: ScoreContext) -> Score:
        if ctx.sandbox is None:
            return Score.failed(NO_SANDBOX, out_of=1.0)
        wanted = [self.query] if self.query else list(ctx.references)
        if self.rows is None and not wanted:
            return Score.failed("there is no query, and no reference to compare with", out_of=1.0)
        wanted = [] if self.rows is not None else wanted
        queries = [sql_in(ctx.output), *wanted]
        outcomes, why = await _run(ctx.sandbox, self._program(queries))
        if why:
            return Score.failed(f"the sandbox did not run the query: {why}", out_of=1.0)
        answer, *others = outcomes
        if "setup" in answer:
            return Score.failed(f"the setup failed: {answer['setup']}", out_of=1.0)
        for other in others:
            if "error" in other:
                return Score.failed(f"the wanted query failed: {other['error']}", out_of=1.0)
        if "error" in answer:
            return Score(points=0.0, out_of=1.0, reason=f"the query failed: {answer['error']}")
        if self.rows is not None:
            others = [{"columns": answer["columns"], "rows": [list(row) for row in self.rows]}]
        scores = [self._compared(other, answer) for other in others]
        return max(scores, key=lambda score: score.points or 0.0)

    def problems(self) -> Iterable[str]:
        if self.query and self.rows is not None:
            yield "the wanted rows are given by 'query' or as 'rows', not by both"
        if self.columns and self.rows is not None:
            yield "names of columns are compared with those of a query; 'rows' have none"
        if self.tolerance < 0:
            yield f"the tolerance is 0 or more, not {self.tolerance:g}"

    def doubts(self, case: Case) -> Iterable[str]:
        if not self.query and self.rows is None and not case.references:
            yield "sql_equal has no query, and the case has no reference"

    def probes(self, case: Case) -> Iterable[Probe]:
        queries = [self.query] if self.query else case.references
        return [Probe(kind="reference", answer=query) for query in queries if self.rows is None]

    def _program(self, queries: Sequence[str]) -> Program:
        return Program(
            steps=(Step(argv=("python3", "-I", "-B", "main.py")),),
            files={
                "main.py": LAUNCHER.read_bytes() + b"\n\nmain()\n",
                query_sql.JOB: json.dumps({"setup": self.setup, "queries": queries}).encode(),
            },
            env={"PATH": f"{sys.prefix}/bin:/usr/local/bin:/usr/bin:/bin"},
            needs=(sys.prefix,),
            limits=LIMITS,
            toolchain=f"python {sys.version}",
        )

    def _compared(self, wanted: Mapping[str, Json], answer: Mapping[str, Json]) -> Score:
        detail = {"rows": answer["rows"][:10], "wanted": wanted["rows"][:10]}
        if self.columns and wanted["columns"] != answer["columns"]:
            named, there = ", ".join(wanted["columns"]), ", ".join(answer["columns"])
            reason = f"its columns are {there}, not {named}"
            return Score(points=0.0, out_of=1.0, reason=reason[:400], detail=detail)
        rights, rows = wanted["rows"], answer["rows"]
        most = max(len(rights), len(rows))
        right = self._in_place(rights, rows) if self.ordered else self._anywhere(rights, rows)
        if right == most:
            return Score(points=1.0, out_of=1.0, reason=f"its {most} rows are as wanted")
        reason = f"{right} of {len(rights)} wanted rows, {len(rows)} given"
        if right == len(rights) == len(rows):
            reason += ", in another order"
        points = right / most if self.partial else 0.0
        return Score(points=points, out_of=1.0, reason=reason, detail=detail)

    def _same(self, wanted: Json, actual: Json) -> bool:
        return same_value(wanted, actual, tolerance=self.tolerance)

    def _in_place(self, wanted: Sequence[Json], rows: Sequence[Json]) -> int:
        return sum(self._same(*pair) for pair in zip(wanted, rows, strict=False))

    def _anywhere(self, wanted: Sequence[Json], rows: Sequence[Json]) -> int:
        """Count rows that are there as often as they are wanted; near ones where that is enough."""
        rights, others = Counter(map(_key, wanted)), Counter(map(_key, rows))
        exact = (rights & others).total()
        if not self.tolerance:
            return exact
        left = [json.loads(row) for row in (rights - others).elements()]
        free = [json.loads(row) for row in (others - rights).elements()]
        if max(len(left), len(free)) > MOST_NEAR:
            return exact + self._in_place(left, free)
        worth = [[float(self._same(one, other)) for other in free] for one in left]
        return exact + len(best_pairs(worth))


def sql_in(output: str) -> str:
    """Return the query of an answer: its last fenced block, or all of it."""
    blocks = [block for language, block in fenced(output) if language in _LANGUAGES]
    return (blocks[-1] if blocks else output).strip().rstrip(";").strip()


def _key(row: Sequence[Json]) -> str:
    """Write a row so that equal ones are the same text: 1 and 1.0 are equal in SQL."""
    plain = [
        int(value) if isinstance(value, float) and value.is_integer() else value for value in row
    ]
    return json.dumps(plain, sort_keys=True)


async def _run(sandbox: Sandbox, program: Program) -> tuple[list[Json], str]:
    """Return what came of each query, or why there is nothing."""
    ran = await sandbox.run_python(program) or await sandbox.run(program)
    if ran.not_started:
        return [], ran.not_started
    if ran.stopped is not None:
        # Queries are stopped before: what is left is the suite's own, or a cell of gigabytes.
        limit = f"it passed the limit on {ran.stopped}"
        return [{"error": limit}, *[{"rows": [], "columns": []}] * 9], ""
    try:
        outcomes = json.loads(ran.stdout)
    except ValueError:
        outcomes = None
    if not isinstance(outcomes, list):
        return [], f"it gave no report: {ran.stderr.strip()[-300:]}"
    return outcomes, ""
