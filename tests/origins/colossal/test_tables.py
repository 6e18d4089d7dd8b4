"""Tables of result folders: blanks, formulas that are none, and lists over all models."""

from pathlib import Path

import pytest

from proctor.origins.colossal.tables import (
    file_name,
    plain_cell,
    read_mapping,
    write_analysis,
    write_json,
    write_rating_analysis,
    write_table,
)


def test_a_table_has_blanks_where_nothing_was_asked_for(tmp_path: Path) -> None:
    cells = {"bleu": {"qa": 0.5, "chat": 1.0}, "=rouge": {"chat": 0.0}}
    path = write_table(tmp_path / "deep" / "t.csv", cells, ["qa", "chat"])
    assert path.read_text() == ",qa,chat\nbleu,0.5,1.0\n'=rouge,,0.0\n"
    assert list(path.parent.iterdir()) == [path]


def test_the_analysis_lists_all_models_and_skips_what_is_no_table(tmp_path: Path) -> None:
    results = tmp_path / "evaluation_results"
    write_table(results / "b_results.csv", {"bleu": {"qa": 0.5}}, ["qa"])
    write_table(results / "a_results.csv", {"bleu": {"qa": 0.25}}, ["qa", "chat"])
    (results / "c_results.csv").write_bytes(b"\xff\xfe")
    (results / "d_results.csv").write_text(",qa\nbleu,words\n")
    (results / "e_results.csv").write_text("")
    path, rows = write_analysis(tmp_path, "all.csv")
    assert rows == [("a", "qa", "bleu", 0.25), ("b", "qa", "bleu", 0.5)]
    assert path.read_text().splitlines() == [
        ",model,category,metric,score",
        "0,a,qa,bleu,0.25",
        "1,b,qa,bleu,0.5",
    ]


def test_ratings_without_a_mean_are_listed_and_not_drawn(tmp_path: Path) -> None:
    folder = tmp_path / "evaluation_statistics"
    write_json(
        folder / "m_evaluation_statistics.json",
        {"qa": {"tone": {"avg_score": 3}, "wit": {"avg_score": None, "best_3": {"1": 5}}}, "x": 3},
    )
    write_json(folder / "n_evaluation_statistics.json", [1])
    (folder / "o_evaluation_statistics.json").write_text("{")
    path, rows = write_rating_analysis(tmp_path, "ratings.csv")
    assert rows == [("m", "qa", "tone", 3.0)]
    assert len(path.read_text().splitlines()) == 3
    assert read_mapping(folder / "n_evaluation_statistics.json") == {}


@pytest.mark.parametrize(
    ("name", "plain"),
    [("model", "model"), ("a/b\\c:d", "a_b_c_d"), ("..", "unnamed"), (" .x. ", "x"), ("", "unnamed"),
     ("漢", "漢"), ("a\nb", "a_b")],
)  # fmt: skip
def test_a_name_is_one_part_of_a_path(name: str, plain: str) -> None:
    assert file_name(name) == plain


@pytest.mark.parametrize(
    ("text", "cell"),
    [("=1+1", "'=1+1"), ("-x", "'-x"), ("@x", "'@x"), ("x=1", "x=1"), ("a\0b", "ab"), ("", "")],
)
def test_no_cell_is_a_formula(text: str, cell: str) -> None:
    assert plain_cell(text) == cell
