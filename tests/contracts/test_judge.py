"""What a ruling leaves behind: how it was reached, at what cost, and by whom."""

from proctor.contracts.judge import ReadingError, Ruling, SpokenVerdict
from proctor.core.exchange import Usage


def test_a_record_has_how_often_and_at_what_cost() -> None:
    ruling = Ruling(verdict="yes", rung="fence", tries=2, raw=("?", "yes"), usage=Usage(calls=2))
    record = ruling.record()
    assert {name: record[name] for name in ("rung", "tries", "raw")} == {
        "rung": "fence",
        "tries": 2,
        "raw": ["?", "yes"],
    }
    assert record["usage"]["calls"] == 2
    assert "verdict" not in record
    assert not {"panel", "logprobs"} & record.keys()


def test_a_record_of_a_panel_has_each_ruling() -> None:
    single = Ruling(verdict=1, raw=("1",), logprobs={"1": -0.1})
    record = Ruling(verdict=1, panel=(single, single)).record()
    assert [one["raw"] for one in record["panel"]] == [["1"], ["1"]]
    assert record["panel"][0]["logprobs"] == {"1": -0.1}


def test_a_reader_may_be_asked_again_and_words_say_nothing_by_default() -> None:
    assert not ReadingError("unclear").final
    assert SpokenVerdict.from_words("yes") is None
