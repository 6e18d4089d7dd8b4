"""Data of the shared page: blocks, each question once, texts cut, and nothing that ends a script."""

import json
import re
import zlib
from base64 import b64decode
from types import SimpleNamespace
from typing import Any

import pytest

from proctor.core.run import Run
from proctor.core.suite import Spec, Suite
from proctor.engine.run.aggregate import case_result, fold_of
from proctor.web.share import data


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": "</script><!--"}, '{"a":"</script><!--"}'),
        ({"a": None, "b": "", "c": [], "d": 0, "e": False}, '{"d":0,"e":false}'),
        ([{"text": "so", "hit": False, "more": 0}], '["so"]'),
        ([{"text": "so", "hit": True, "more": 0}], '[{"text":"so","hit":true,"more":0}]'),
        ([float("nan"), None, "\ud800"], '[null,null,"⟦U+D800⟧"]'),
    ],
)
def test_data_is_written_briefly_and_visibly(value: Any, text: str) -> None:
    assert data.written(value) == text


def unpacked(block: str) -> tuple[str, Any]:
    """Return the name of a block and what is in it; nothing in it can end the element."""
    found = re.fullmatch(
        r'<script type="application/octet-stream" id="([\w-]+)">([A-Za-z0-9+/=]*)</script>\n', block
    )
    assert found is not None
    return found[1], json.loads(zlib.decompress(b64decode(found[2])))


def test_what_would_end_a_script_is_packed() -> None:
    text = data.written({"a": "</script><!--\ud800"})
    assert unpacked(data.data_block("x", text)) == ("x", {"a": "</script><!--⟦U+D800⟧"})


def test_blocks_are_full_but_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "BLOCK", 2)
    blocks = data.Blocks("came")
    written = [block for text in ("1", "2", "3") for block in blocks.add(text)]
    written += [*blocks.rest(), *blocks.rest()]
    assert [unpacked(block) for block in written] == [("came-0", [1, 2]), ("came-1", [3])]
    assert list(data.Blocks("none").rest()) == []


def test_a_question_is_there_once_however_many_runs_ask_it() -> None:
    questions = data.Questions()
    numbers = [questions.add(text)[0] for text in ("a", "b", "a", "漢", "b")]
    assert numbers == [0, 1, 0, 2, 1]
    assert questions.blocks.count == 3


def piece(text: str, more: int = 0) -> dict[str, Any]:
    return {"text": text, "hit": False, "more": more}


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([piece("abc")], ["abc"]),
        ([piece("abcde")], ["abcd", 1]),
        ([piece("abc"), piece("de"), piece("f")], ["abc", "d", 2]),
        ([piece("ab"), piece("", more=7)], ["ab", 7]),
        ([], []),
    ],
)
def test_what_is_cut_off_is_counted(pieces: list[Any], shown: list[Any]) -> None:
    cut = data._cut(pieces, 4)
    assert [one["text"] or one["more"] for one in cut] == shown


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("  two\n words ", "two words"),
        ("x" * data.START, "x" * data.START),
        ("x" * (data.START + 1), "x" * data.START + "…"),
        ("a" + " " * 400 + "b", "a…"),
        ("", ""),
    ],
)
def test_a_row_has_the_beginning_of_a_text_on_one_line(text: str, start: str) -> None:
    assert data._start(text) == start


def test_a_case_has_its_row_its_question_and_what_came_of_it(examined: Any) -> None:
    one = examined.plain("c", "the *answer*", 1.0, detail={"long": "x" * 9000})
    pairs = list(zip(one.attempts, one.scores, strict=True))
    result = case_result(fold_of(Suite(name="s", cases=())), one.case, pairs)
    run = Run(id="r", name="r", suite="s", suite_key="k", candidate=Spec(name="recorded"))
    view = SimpleNamespace(run=run, suite=Suite(name="s", cases=()))
    row, question, came = data.case_parts(view, 0, result)  # type: ignore[arg-type]
    assert row[:4] == ["c", "scored", 1.0, 1.0]
    assert row[6:] == [{"kind": "odd"}, "c?", "the *answer*", "", None, None, 1]
    said = came["attempts"][0]["turns"][0]["text"]
    assert said["rich"] == [["p", {}, "the ", ["em", {}, "answer"]]]
    assert question.keys() == {"messages", "references", "context", "hidden", "dialogue"}
    (score,) = came["attempts"][0]["scores"]
    assert score["verdict"]["kind"] == "good"
    assert "the *answer*" in score["verdict"]["prompt"][-1]["text"][0]["text"]
    assert sum(len(one["text"]) for one in score["detail"]) == data.MOST_DETAIL
    assert score["detail"][-1]["more"] > 4000
