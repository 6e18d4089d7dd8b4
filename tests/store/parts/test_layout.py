"""Rows as columns and back: nothing is lost, and a case keeps its key."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.case_value import ValueStatus
from proctor.core.encoding import attempt_from, case_from
from proctor.core.fingerprint import case_key
from proctor.core.score import Score, ScoreStatus
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec, ToolCall
from proctor.store.parts import layout
from proctor.store.rows import LinkedCase, ResultRow, decode, decode_object, unescape

AWKWARD = "a\x00b\ud800c\x10d"


def cases() -> Iterator[Case]:
    ask = (Message(role="user", content="Why? – 为什么"),)
    one = Criterion(id="k", scorer=Spec(name="contains", params={"text": ["x"], "b": 1.5}))
    yield Case(id="plain", messages=ask, criteria=(one,), references=("x",), source="quiz.yaml:3")
    yield Case(
        id="rich",
        messages=(*ask, Message(role="user", content="?", images=("data:x",))),
        criteria=(one, Criterion(id="j", scorer=Spec(name="judged"), weight=-0.1, turn=1)),
        hidden={"z": None, "large": 2**70, "a": [1, {"y": 2, "b": 3}]},
        tags={"topic": ("x",), "lang": ("en", "zh")},
        weight=2.0,
        cluster="c",
        files=(CaseFile(name="a.txt", digest="0" * 32, path="/somewhere"),),
    )
    yield Case(id=AWKWARD, messages=(Message(role="user", content=AWKWARD),), criteria=())


def attempts(case_id: str) -> Iterator[Attempt]:
    yield Attempt.of(case_id, "an answer")
    yield Attempt.of(case_id, "", index=1)
    yield Attempt.of(case_id, None, index=2)
    yield Attempt(case_id=case_id, index=3, status=AttemptStatus.ERROR, error="gone")
    reply = Message(role="assistant", content="yes", thinking="hm")
    yield Attempt(case_id=case_id, index=4, messages=(reply,), seconds=1.5, usage={"calls": 1})
    meta = {"temperature": 0.5, "odd": AWKWARD}
    plain_reply = Message(role="assistant", content=AWKWARD)
    yield Attempt(case_id="of another case", index=5, messages=(plain_reply,), meta=meta)
    yield Attempt(case_id="", index=6, messages=(Message(role="user", content="?"), plain_reply))
    calls = (ToolCall(name="get", arguments={"a": True}),)
    for number, more in enumerate(
        ({"tool_calls": calls}, {"tool_call_id": "1"}, {"carried": {"x": 1}}), 7
    ):
        yield Attempt(case_id=case_id, index=number, messages=(replace(plain_reply, **more),))


def written(table: pa.Table) -> pa.Table:
    """Return a table as a file gives it back."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **layout.writing_options(table.schema))
    return pq.read_table(io.BytesIO(sink.getvalue()))


def texts(table: pa.Table, name: str) -> list[str | None]:
    values = table[name].to_pylist()
    if name in layout.escaped_columns(table.schema):
        return [None if value is None else unescape(value) for value in values]
    return values


@pytest.mark.parametrize("case", [*cases()], ids=["plain", "rich", "awkward"])
def test_a_case_is_the_same_after_a_file_and_its_key_comes_from_its_document(case: Case) -> None:
    table = written(layout.case_table(layout.columns_of_cases([(7, case)])))
    (document,), (source,) = texts(table, "document"), texts(table, "source")
    assert table["position"].to_pylist() == [7]
    assert texts(table, "id") == [case.id]
    assert document is not None
    assert layout.key_of_case(document) == case_key(case)
    content = decode_object(layout.decodable(document))
    ordered = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert layout.key_of_case(ordered) == case_key(case)
    assert list(content.get("tags", ())) == list(case.tags)
    assert case_from(decode_object(layout.decodable(document)) | {"source": source}) == case


def test_attempts_and_scores_are_the_same_after_a_file() -> None:
    scores = {
        "k": Score(points=0.1 + 0.2, out_of=1.0, reason="one of 3", detail={"n": [1, None, 2.5]}),
        "j": Score.failed("no judge"),
        "n": Score(status=ScoreStatus.NOT_APPLICABLE),
        "s": Score(points=3.0, reason=AWKWARD, detail=AWKWARD),
    }
    rows = []
    for position, case in enumerate(cases()):
        made = [(attempt, scores if attempt.index != 2 else {}) for attempt in attempts(case.id)]
        rows.append(LinkedCase(position, case, made))
    columns = layout.columns_of_attempts(rows, {(0, 4): "a-key"})
    table = written(layout.attempt_table(columns))
    assert table.num_rows == 3 * 10
    again = [
        attempt_from(layout.attempt_fields(rows[position].case.id, number, status, output, rest))
        for position, number, status, output, rest in zip(
            table["position"].to_pylist(),
            table["number"].to_pylist(),
            texts(table, "status"),
            texts(table, "output"),
            texts(table, "attempt"),
            strict=True,
        )
    ]
    assert again == [attempt for row in rows for attempt, _ in row.attempts]
    assert table["attempt"].null_count >= 3 * 2, "plain answers need no JSON"
    assert table["attempt_key"].to_pylist()[4] == "a-key"
    listed = table["scores"].to_pylist()
    assert [len(one) for one in listed] == [len(of) for row in rows for _, of in row.attempts]
    first = listed[0]
    assert [one["criterion"] for one in first] == list(scores)
    assert [one["scorer"] for one in first] == ["contains", "j", "n", "s"]
    assert [one["points"] for one in first] == [0.1 + 0.2, None, None, 3.0]
    assert [one["out_of"] for one in first] == [1.0, None, None, None]
    assert "scores.reason" in layout.escaped_columns(table.schema)
    assert unescape(first[3]["reason"]) == AWKWARD
    assert decode(first[3]["detail"]) == AWKWARD
    assert decode(first[0]["detail"]) == {"n": [1, None, 2.5]}


def test_ready_columns_of_arrow_and_numpy_are_taken_as_they_are() -> None:
    import numpy as np

    columns = layout.AttemptColumns(
        position=np.arange(2),
        number=np.zeros(2, dtype=np.int32),
        status=pa.array(["answered"] * 2).dictionary_encode(),
        output=pa.chunked_array([["a"], ["b"]]),
        attempt=pa.nulls(2, pa.string()),
        attempt_key=pa.nulls(2, pa.string()),
        scores=layout.ScoreColumns(
            offsets=np.array([0, 1, 2]),
            criterion=pa.array(["k", "k"]).dictionary_encode(),
            scorer=["contains", "contains"],
            status=["scored", "scored"],
            points=np.array([0.5, 1.0]),
            out_of=np.ones(2),
            reason=[b"", b"more"],
            detail=[b'{"n":1}', None],
        ),
    )
    table = written(layout.attempt_table(columns))
    assert table["output"].to_pylist() == ["a", "b"]
    assert [one[0]["detail"] for one in table["scores"].to_pylist()] == ['{"n":1}', None]
    assert table.schema.equals(layout.attempt_schema())


def test_results_are_columns() -> None:
    rows = [
        ResultRow(
            position=n,
            case_id=f"c{n}",
            status=ValueStatus.SCORED if n else ValueStatus.UNSCORED,
            value=0.5 if n else None,
            full=1.0,
            weight=2.0,
            low=0.25,
            high=0.75,
            spread=0.125,
            tags={"lang": ("en", AWKWARD)},
            cluster="c" if n else "",
        )
        for n in range(3)
    ]
    table = written(layout.result_table(layout.columns_of_results(rows)))
    assert table["value"].to_pylist() == [None, 0.5, 0.5]
    assert table["cluster"].to_pylist() == [None, "c", "c"]
    assert decode(table["tags"].to_pylist()[0]) == {"lang": ["en", AWKWARD]}
    assert table.schema.names == layout.result_schema().names


def test_what_is_read_whole_is_one_row_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "GROUP", 2)
    results = [
        ResultRow(
            position=place, case_id=f"c{place}", status=ValueStatus.SCORED, value=1.0, full=1.0,
            weight=1.0, low=1.0, high=1.0, spread=0.0,
        )
        for place in range(5)
    ]  # fmt: skip
    columns = layout.columns_of_cases((place, case) for place, case in enumerate(cases()))
    tables = layout.result_table(layout.columns_of_results(results)), layout.case_table(columns)
    groups = []
    for table in tables:
        file = io.BytesIO()
        pq.write_table(table, file, **layout.writing_options(table.schema))
        groups.append(pq.ParquetFile(file).metadata.num_row_groups)
    assert groups == [1, 2]
