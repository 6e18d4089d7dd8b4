"""Tables of others: columns by other names, encodings, workbooks, objects, and rows that repeat."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.contracts.dialect import Reading
from proctor.errors import SuiteError, UsageError
from proctor.formats.native.dialect import Native
from proctor.formats.tables import ColumnMap, suggested, suggested_answers, table_rows

COLUMNS = "ask=question,reference=answer"
KNOWN = ("ask", "reference", "references", "id")


def read(path: Path, columns: str = COLUMNS) -> Reading:
    (reading,) = Native().read_all(path, options={"columns": columns} if columns else {})
    return reading


def test_columns_by_other_names(tmp_path: Path) -> None:
    rows = [
        {"question": "1+1?", "answer": "2", "split": "test"},
        {"question": "2+2?", "answer": "4"},
    ]
    (tmp_path / "a.csv").write_text("question,answer,split\n1+1?,2,test\n2+2?,4,\n")
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("a.csv", "b.jsonl"):
        cases = read(tmp_path / name).suite.cases
        assert [(case.prompt, case.references) for case in cases] == [
            ("1+1?", ("2",)),
            ("2+2?", ("4",)),
        ]
    more = read(tmp_path / "a.csv", f"{COLUMNS},tags.part=split,vars.q=question").suite.cases[0]
    assert more.tags == {"part": ("test",)}
    assert more.vars == {"q": "1+1?"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_encodings_and_delimiters(tmp_path: Path, encoding: str, sign: str) -> None:
    path = tmp_path / "t.csv"
    text = f"question{sign}answer\nHauptstadt von Österreich?{sign}Wien\nFähre, Größe?{sign}groß\n"
    path.write_bytes(text.replace("Fähre,", "Fähre").encode(encoding))
    reading = read(path)
    assert reading.suite.cases[0].prompt == "Hauptstadt von Österreich?"
    assert any("cp1252" in str(w) for w in reading.warnings) == (encoding == "cp1252")


def test_chinese_tables(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        "question,answer\n法国的首都是哪里？,巴黎\nWhat is 水?,water\n".encode("gb18030")
    )
    reading = read(path)
    assert reading.suite.cases[0].references == ("巴黎",)
    assert "gb18030" in str(reading.warnings[0])


def test_what_is_no_text_stays_an_error(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"ask,reference\n\x81\x00,x\n")
    with pytest.raises(SuiteError):
        read(path, "")


def test_workbooks(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (
        ["question", "answer", None],
        ["1+1?", 2, "x"],
        [None, None, None],
        ["Pi?", 3.14, None],
    ):
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    cases = read(tmp_path / "t.xlsx").suite.cases
    assert [(case.id, case.prompt, case.references) for case in cases] == [
        ("t-1", "1+1?", ("2",)),
        ("t-2", "Pi?", ("3.14",)),
    ]
    (tmp_path / "no.xlsx").write_text("no workbook")
    with pytest.raises(SuiteError, match="not readable as Excel"):
        read(tmp_path / "no.xlsx")


def test_answers_by_other_names(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("id,ask,reference\na,1+1?,2\n")
    (tmp_path / "r.csv").write_text("question_id,response,model\na,2,m\n")
    suite = read(tmp_path / "s.csv", "").suite
    (attempt,) = Native().answers_by(tmp_path / "r.csv", suite, "case=question_id,output=response")
    assert (attempt.case_id, attempt.output, attempt.meta) == ("a", "2", {"model": "m"})
    with pytest.raises(SuiteError, match="--columns case=question_id,output=response"):
        list(Native().answers(tmp_path / "r.csv", suite))


RAGAS = [
    {
        "user_input": "Open?",
        "retrieved_contexts": ["At nine."],
        "response": "Nine",
        "reference": "9",
    },
    {
        "user_input": "Free?",
        "retrieved_contexts": ["Yes.", "No."],
        "response": "Yes",
        "reference": "yes",
    },
]
RAGAS_COLUMNS = "ask=user_input,context=retrieved_contexts,output=response"


def json_lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_one_table_with_questions_passages_and_answers(tmp_path: Path) -> None:
    """Rows without an id are answers to the case that asks their question."""
    path = json_lines(tmp_path / "r.jsonl", RAGAS)
    suite = read(path, RAGAS_COLUMNS).suite
    assert [case.context for case in suite.cases] == [("At nine.",), ("Yes.", "No.")]
    attempts = list(Native().answers_by(path, suite, RAGAS_COLUMNS))
    assert [(one.case_id, one.output) for one in attempts] == [("r-1", "Nine"), ("r-2", "Yes")]
    assert attempts[1].meta["context"] == ["Yes.", "No."]
    other = json_lines(tmp_path / "o.jsonl", [{"ask": " Free? ", "output": "No"}])
    (attempt,) = Native().answers(other, suite)
    assert (attempt.case_id, attempt.output) == ("r-2", "No")
    (attempt,) = Native().answers_by(other, suite, RAGAS_COLUMNS)
    assert attempt.case_id == "r-2"


def test_rows_whose_question_nobody_or_several_ask(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "r.jsonl", [*RAGAS, RAGAS[0]])
    suite = read(path, RAGAS_COLUMNS).suite
    with pytest.raises(SuiteError, match=r"2 cases ask what this row answers \(r-1, r-3\)"):
        list(Native().answers_by(path, suite, RAGAS_COLUMNS))
    other = json_lines(tmp_path / "o.jsonl", [{"ask": "Where?", "output": "No"}])
    with pytest.raises(SuiteError, match="no case of the suite asks 'Where\\?'"):
        list(Native().answers(other, suite))


def test_what_a_key_could_be_is_said_with_the_option(tmp_path: Path) -> None:
    path = json_lines(tmp_path / "r.jsonl", RAGAS)
    with pytest.raises(SuiteError, match=r"say --columns context=retrieved_contexts\)"):
        read(path, "")
    (tmp_path / "t.csv").write_text("ask,ground_truth\nx,y\n")
    with pytest.raises(SuiteError, match=r"say --columns references=ground_truth\)"):
        read(tmp_path / "t.csv", "")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("ask", "expected NAME=COLUMN"),
        ("ask=", "expected NAME=COLUMN"),
        ("aks=question", "did you mean 'ask'"),
        ("ask=a,ask=b", "'ask' is there twice"),
    ],
)
def test_mistakes_in_the_option(columns: str, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        ColumnMap.parse(columns, KNOWN)


def test_columns_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("frage,antwort\nx,y\n")
    with pytest.raises(SuiteError, match="there is no column 'question'"):
        read(tmp_path / "a.csv")
    with pytest.raises(SuiteError, match="--columns ask=COLUMN"):
        read(tmp_path / "a.csv", "")
    (tmp_path / "b.csv").write_text("question,answer\nx,y\n")
    with pytest.raises(SuiteError, match="--columns ask=question,references=answer"):
        read(tmp_path / "b.csv", "")


def test_rows_that_repeat_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ask,reference\na,1\nb,2\na,1\na,2\na,1\n")
    (warning,) = read(path, "").warnings
    assert "rows of this table repeat earlier ones: 4 (as 2), 6 (as 2)" in str(warning)


def test_suggestions() -> None:
    assert suggested(["Question", "target", "other"], KNOWN) == "ask=Question,references=target"
    assert suggested(["ask"], KNOWN) == ""
    assert suggested_answers({"id": 1, "response": "x"}) == "case=id,output=response"
    assert suggested_answers({"case": 1, "output": "x"}) == ""


class _Frame:
    """Stands for a DataFrame."""

    def to_dict(self, kind: str) -> list[dict[str, Any]]:
        assert kind == "records"
        return [{"ask": "a", "n": float("nan")}]


_Frame.__module__ = "pandas.core.frame"


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ([{"ask": "a", "x": None}], [{"ask": "a"}]),
        ({"ask": ["a", "b"], "n": [1, 2]}, [{"ask": "a", "n": 1}, {"ask": "b", "n": 2}]),
        (_Frame(), [{"ask": "a"}]),
        ([{"ask": "a", "l": ("x", {"y": 1})}], [{"ask": "a", "l": ["x", {"y": 1}]}]),
    ],
)
def test_tables_that_are_objects(table: Any, rows: list[dict[str, Any]]) -> None:
    assert list(table_rows(table)) == rows


def test_an_arrow_table() -> None:
    import pyarrow

    assert list(table_rows(pyarrow.table({"ask": ["a"], "n": [None]}))) == [{"ask": "a"}]


def test_objects_that_are_no_tables() -> None:
    with pytest.raises(UsageError, match="different lengths"):
        list(table_rows({"a": [1], "b": []}))
    with pytest.raises(UsageError, match="a row of a table is a mapping"):
        list(table_rows([1]))
