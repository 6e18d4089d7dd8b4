"""Queries on SQLite in the real sandbox: the rows they give, and what they may not do."""

import asyncio
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer_async
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, Spec
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.scorers.structured.sql_equal import sql_in

SETUP = """
CREATE TABLE city (name TEXT, country TEXT, people REAL);
INSERT INTO city VALUES ('Paris', 'France', 2.1), ('Lyon', 'France', 0.5), ('Oslo', 'Norway', 0.7);
"""
WANTED = "SELECT name, people FROM city WHERE country = 'France' ORDER BY name"
GOOD = "SELECT name, people FROM city WHERE country = 'France'"
ROWS: list[tuple[str, dict[str, Any], float]] = [
    (GOOD, {}, 1),
    (f"{GOOD};", {}, 1),
    (f"Here it is:\n```sql\n{GOOD};\n```", {}, 1),
    (f"{GOOD} ORDER BY name DESC", {}, 1),
    (f"{GOOD} ORDER BY name DESC", {"ordered": True}, 0),
    (f"{GOOD} ORDER BY name", {"ordered": True}, 1),
    (f"{GOOD} ORDER BY name", {"ordered": False}, 1),
    ("SELECT name AS n, people FROM city WHERE country = 'France'", {"columns": False}, 1),
    ("SELECT name AS n, people FROM city WHERE country = 'France'", {"columns": True}, 0),
    (GOOD, {"columns": True}, 1),
    ("SELECT name, people FROM city", {}, 0),
    ("SELECT name, people FROM city", {"partial": True}, 2 / 3),
    ("SELECT name, people FROM city WHERE name = 'Paris'", {"partial": True}, 0.5),
    ("SELECT name, people + 0.01 FROM city WHERE country = 'France'", {}, 0),
    ("SELECT name, people + 0.01 FROM city WHERE country = 'France'", {"tolerance": 0.05}, 1),
    ("SELECT name, people + 0.2 FROM city WHERE country = 'France'", {"tolerance": 0.05}, 0),
    ("SELECT nothing FROM city", {}, 0),
    ("I do not know.", {}, 0),
    ("", {}, 0),
    # It may only read.
    (f"DELETE FROM city; {GOOD}", {}, 0),
    ("DROP TABLE city", {}, 0),
    ("INSERT INTO city VALUES ('X', 'France', 1) RETURNING name, people", {}, 0),
    ("ATTACH '/tmp/x.db' AS x", {}, 0),
    ("PRAGMA query_only = OFF", {}, 0),
    ("SELECT load_extension('/tmp/x.so')", {}, 0),
    ("SELECT name FROM sqlite_master", {}, 0),
    ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i FROM n", {}, 0),
    ("WITH c AS (SELECT * FROM city) SELECT name, people FROM c WHERE country = 'France'", {}, 1),
]


def scorer(**params: Any) -> Any:
    return registry.build("scorer", Spec(name="sql_equal", params={"setup": SETUP, **params}))


async def scored(rows: list[tuple[str, Any]], references: list[str]) -> list[Score]:
    sandbox = Bubblewrap()
    try:
        scores = []
        for text, built in rows:
            plain = ScoreContext.of(text, references=references)
            ctx = ScoreContext(case=plain.case, attempt=plain.attempt, sandbox=sandbox)
            scores.append(await run_scorer_async(built, ctx))
        return scores
    finally:
        await sandbox.close()


def one(text: str, references: list[str], **params: Any) -> Score:
    return asyncio.run(scored([(text, scorer(**params))], references))[0]


@pytest.mark.sandbox
@pytest.mark.slow
def test_points() -> None:
    rows = [(text, scorer(query=WANTED, **how)) for text, how, _ in ROWS]
    scores = asyncio.run(scored(rows, []))
    for (text, how, points), score in zip(ROWS, scores, strict=True):
        assert score.points == pytest.approx(points), (text, how, score.reason)


@pytest.mark.sandbox
@pytest.mark.slow
def test_wanted_rows_come_from_references_or_as_they_are() -> None:
    assert one(GOOD, ["SELECT 1", WANTED]).points == 1
    assert one("SELECT 1, 'x', NULL", [], rows=[[1.0, "x", None]]).points == 1
    assert one("SELECT 1, 'x', NULL", [], rows=[[1, "x", 0]]).points == 0
    assert one("SELECT x'ff'", ["SELECT x'ff'"]).points == 1


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize(
    ("references", "params", "words"),
    [
        ([], {}, "no query, and no reference"),
        (["SELECT none FROM city"], {}, "the wanted query failed: no such column"),
        ([WANTED], {"setup": "CREATE nonsense"}, "the setup failed"),
    ],
)
def test_a_suite_that_is_wrong_leaves_it_unscored(
    references: list[str], params: dict[str, Any], words: str
) -> None:
    score = one(GOOD, references, **params)
    assert score.status is ScoreStatus.FAILED
    assert words in score.reason


def test_without_a_sandbox_nothing_is_run() -> None:
    score = asyncio.run(run_scorer_async(scorer(query=WANTED), ScoreContext.of(GOOD)))
    assert score.status is ScoreStatus.FAILED
    assert scorer().needs_sandbox


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"query": "SELECT 1", "rows": [[1]]}, "not by both"),
        ({"rows": [[1]], "columns": True}, "'rows' have none"),
        ({"tolerance": -1}, "0 or more, not -1"),
    ],
)
def test_problems(params: dict[str, Any], words: str) -> None:
    (problem,) = scorer(**params).problems()
    assert words in problem


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("SELECT 1;", "SELECT 1"),
        ("```\nSELECT 1\n```", "SELECT 1"),
        ("```sql\nSELECT 1;\n```\nor\n```SQL\nSELECT 2;\n```", "SELECT 2"),
        ("```python\nx\n```\nSELECT 1", "```python\nx\n```\nSELECT 1"),
    ],
)
def test_the_query_of_an_answer(text: str, query: str) -> None:
    assert sql_in(text) == query


def test_a_case_without_anything_to_compare_with_is_doubted() -> None:
    case = Case(id="c", messages=(), criteria=())
    assert list(scorer().doubts(case))
    assert not list(scorer(query=WANTED).doubts(case))
