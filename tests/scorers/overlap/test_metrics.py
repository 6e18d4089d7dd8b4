"""Overlap metrics: the original's numbers where they are asked for, the right ones otherwise."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from proctor import ScoreContext, Spec
from proctor.contracts.scoring import run_scorer
from proctor.core.score import Score
from proctor.errors import PluginError
from proctor.origins.colossal import overlap
from proctor.registry import build
from proctor.scorers.overlap import chinese
from proctor.scorers.overlap import process as overlap_process
from proctor.scorers.overlap.values import OURS

GOLDEN = json.loads(
    (Path(__file__).resolve().parents[2] / "golden" / "colossal.json").read_text(encoding="utf-8")
)
METRICS = {
    "BLEU": "bleu",
    "ROUGE": "rouge",
    "CHRF": "chrf",
    "Distinct": "distinct",
    "Precision": "prf",
    "Recall": "prf",
    "F1 score": "prf",
}
LANGUAGES = {"cn": "zh", "en": "en"}
ALL = ["bleu", "rouge", "distinct", "chrf", "prf"]


def scorer(**params: Any) -> Any:
    return build("scorer", Spec(name="text_metrics", params=params))


def judged(answer: str, *references: str, **params: Any) -> Score:
    score: Score = scorer(**params).score(ScoreContext.of(answer, references=references))
    return score


def values(answer: str, *references: str, **params: Any) -> dict[str, float]:
    found: dict[str, float] = judged(answer, *references, **params).detail["metrics"]
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.slow
def test_the_originals_values(name: str, language: str) -> None:
    rows = GOLDEN[name][language]
    asked = {"metrics": METRICS[name], "language": LANGUAGES[language], "compat": "original"}
    contexts = [ScoreContext.of(row["prediction"], references=[row["reference"]]) for row in rows]
    for row, score in zip(rows, scorer(**asked).score_batch(contexts), strict=True):
        if "error" in row:
            assert (score.status, score.points) == ("failed", None)
            assert score.reason == f"the original stops at rouge: {row['error']}"
            continue
        found = score.detail["metrics"]
        assert {key: found[key] for key in row["value"]} == pytest.approx(
            row["value"], rel=1e-9, abs=1e-300
        ), row["note"]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_originals_tokens(language: str) -> None:
    for row in GOLDEN["preprocessing"][language]:
        for side in row.values():
            prepared = overlap.prepared(side["raw"])
            assert prepared == side["preprocessed"]
            assert overlap.tokens(prepared, LANGUAGES[language]) == side["tokens"]
            if language == "cn":
                assert chinese.cut_exactly(side["raw"]) == side["tokens_raw_for_distinct"]


@pytest.mark.slow
def test_what_the_original_stops_at_costs_the_other_metrics_nothing() -> None:
    score = judged("", "答案", metrics=ALL, language="zh", compat="original")
    assert score.status == "scored"
    assert set(score.detail["metrics"]) & {"rouge1", "rouge2", "rougeL"} == set()
    assert score.detail["errors"] == {"rouge": "ValueError: Hypothesis is empty."}
    assert score.detail["metrics"]["bleu4"] == 0.0


@pytest.mark.parametrize(
    ("answer", "reference", "expected"),
    [
        ("Romance.", "romance", {"bleu4": 1, "rouge1": 1, "f1_score": 1}),
        ("romance", "romance", {"chrf": 1, "bleu1": 1, "bleu4": 1, "rougeL": 1, "distinct": 1}),
        ("娱乐", "娱乐", {"chrf": 1, "bleu1": 1, "bleu4": 1, "rougeL": 1, "f1_score": 1}),
        ("这条新闻属于娱乐类。", "娱乐", {"precision": 1 / 6, "recall": 1, "f1_score": 2 / 7}),
        ("the the the", "the cat", {"precision": 1 / 3, "recall": 1 / 2, "f1_score": 0.4}),
        ("b a", "a b", {"precision": 1, "recall": 1, "rougeL": 0.5, "rouge2": 0}),
        ("a b a b", "x", {"distinct": (2 / 4 + 2 / 3 + 2 / 2) / 3, "bleu1": 0, "chrf": 0}),
        ("a b", "a c", {"bleu1": 1 / 2, "bleu2": (1 / 2 * 1 / 2) ** 0.5}),
        ("使用 Python 3 部署", "用python部署", {"precision": 2 / 4, "recall": 2 / 3}),
        ("ＡＢＣ café", "abc cafe\u0301", {"f1_score": 1}),
    ],
)
def test_the_right_values(answer: str, reference: str, expected: dict[str, float]) -> None:
    found = values(answer, reference)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    ["今天天气很好，我们去公园散步吧。", "สวัสดีครับ ผมชื่อสมชาย", "Привет, мир! Это я.", "مرحبا بالعالم يا صديقي",
     "नमस्ते दुनिया कैसे हो", "こんにちは世界です", "안녕하세요 여러분 반갑", "naïve café über Straße",
     "𠀀𠀁㐀鿿 々〇", "שלום עולם מה נשמע"],
)  # fmt: skip
def test_equal_texts_of_any_script_are_equal(text: str) -> None:
    names = ["bleu1", "bleu4", "rouge1", "rouge2", "rougeL", "chrf", "precision", "recall"]
    found = values(text, text)
    assert {name: found[name] for name in names} == pytest.approx(dict.fromkeys(names, 1.0))


@pytest.mark.parametrize("compat", ["", "original"])
@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize(
    ("answer", "reference"),
    [
        ("", "答案 x"),
        ("x", ""),
        ("", ""),
        ("?!…", "。。"),
        ("\ud800", "a"),
        ("\0", "a"),
        (" \n", "\u3000"),
    ],
)
def test_texts_without_words_stop_nothing(
    answer: str, reference: str, language: str, compat: str
) -> None:
    found = values(answer, reference, language=language, compat=compat)
    lexical = {name: value for name, value in found.items() if name not in ("chrf", "distinct")}
    assert set(lexical.values()) <= {0.0}


def test_the_best_reference_counts_and_only_the_first_one_to_the_original() -> None:
    found = values("a b c", "x", "a b c d", "a")
    assert found["rouge1"] == pytest.approx(6 / 7)
    assert (found["precision"], found["recall"]) == (1.0, 0.75)
    assert values("a b c", "x", "a b c", compat="original")["bleu1"] == 0.0


def test_points_are_the_first_value_and_never_marks() -> None:
    score = judged("a b", "a c", metrics=["prf", "bleu"])
    assert (score.points, score.out_of) == (0.5, None)
    assert next(iter(score.detail["metrics"])) == "precision"
    assert score.reason.startswith("precision 0.5000, recall 0.5000")


def test_only_distinct_needs_no_reference() -> None:
    assert judged("a b", metrics="distinct").points == 1.0
    score = judged("a b", metrics=["distinct", "bleu"])
    assert (score.status, score.reason) == ("failed", "there is no reference to compare with")


@pytest.mark.parametrize(
    ("params", "words"),
    [({"metrics": []}, "no metrics"), ({"metrics": ["bleu", "rouge", "bleu"]}, "'bleu' is asked")],
)
def test_problems(params: dict[str, Any], words: str) -> None:
    assert words in " ".join(scorer(**params).problems())
    assert list(scorer().problems()) == []


@pytest.mark.parametrize("params", [{"metrics": ["blue"]}, {"language": "cn"}, {"compat": "old"}])
def test_unknown_words_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(PluginError):
        scorer(**params)


@pytest.mark.slow
def test_many_texts_are_shared_with_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = overlap_process.TextProcess.ask

    def ask(self: overlap_process.TextProcess, job: Any) -> Any:
        made = plain(self, job)
        asked.append(made is not None)
        return made

    process = overlap_process.TextProcess()
    monkeypatch.setattr(overlap_process.TextProcess, "ask", ask)
    monkeypatch.setattr(overlap_process, "_processes", lambda: [process])
    monkeypatch.setattr(overlap_process, "PART", 2)
    texts = [f"词语 {number} and \ud800 {'公园' * (number % 7)}" for number in range(200)]
    contexts = [
        ScoreContext.of(text, references=[other])
        for text, other in zip(texts, reversed(texts), strict=True)
    ]
    for compat in ("original", ""):
        alone = scorer(compat=compat).score_batch(contexts)
        with monkeypatch.context() as patch:
            patch.setattr(overlap_process, "WORTH", 0)
            patch.setattr(overlap_process, "values_of", waiting(asked))
            assert scorer(compat=compat).score_batch(contexts) == alone
        assert any(asked)
        asked.clear()
    process.close()
    monkeypatch.setattr(overlap_process, "WORTH", 0)
    monkeypatch.setattr(overlap_process.sys, "executable", "no-such-program")
    assert scorer().score_batch(contexts) == alone
    assert asked == [False]


@pytest.mark.slow
def test_a_process_that_has_ended_is_started_again() -> None:
    process = overlap_process.TextProcess()
    job = [[["a b", "a c", "en"]], ["prf"], OURS]
    wanted = [[{"precision": 0.5, "recall": 0.5, "f1_score": 0.5}, {}]]
    assert process.ask(job) == wanted
    assert process._process is not None
    process._process.kill()
    process._process.wait()
    assert process.ask(job) == wanted
    assert process.ask([[["a", "b", "en"]], ["no such metric"], OURS]) is None
    assert process.ask(job) == wanted
    process.close()


def waiting(asked: list[int]) -> Any:
    """Return a slow way to compute, so that the other process gets something to do."""
    from time import monotonic, sleep

    from proctor.scorers.overlap.values import values_of

    def slowly(*args: Any) -> Any:
        until = monotonic() + 20
        while not asked and monotonic() < until:
            sleep(0.01)
        return values_of(*args)

    return slowly


class TestWithoutTheExtra:
    """What happens where neither jieba nor rjieba is installed."""

    @pytest.fixture(autouse=True)
    def nothing_installed(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        cached = (chinese.cut_by, chinese.cutter, chinese._quick, chinese._jieba)
        for one in cached:
            one.cache_clear()
        monkeypatch.setattr(chinese, "find_spec", lambda name: None)
        yield
        for one in cached:
            one.cache_clear()

    def test_chinese_is_cut_sign_by_sign_and_the_signature_says_so(self) -> None:
        assert values("今天", "今年", language="")["f1_score"] == 0.5
        assert scorer().toolchain() == "Chinese by signs"
        assert list(scorer().missing()) == []

    def test_what_asks_for_chinese_says_how_to_install_it(self) -> None:
        for compat in ("", "original"):
            assert "pip install" in " ".join(scorer(language="zh", compat=compat).missing())
        ctx = ScoreContext.of("今天", references=["今天"])
        score = run_scorer(scorer(compat="original"), ctx)
        assert score.status == "failed"
        assert "proctor[chinese]" in score.reason

    def test_english_needs_nothing(self) -> None:
        assert list(scorer(language="en", compat="original").missing()) == []
        assert values("a b", "a b", compat="original")["bleu2"] == 1.0


@pytest.mark.parametrize(
    ("params", "tools"),
    [
        ({}, f"Chinese by rjieba {version('rjieba')}"),
        (
            {"language": "zh", "compat": "original"},
            f"Chinese by jieba 0.42.1 rjieba {version('rjieba')}",
        ),
        ({"language": "en"}, ""),
        ({"metrics": "chrf"}, ""),
    ],
)
def test_the_toolchain_names_what_cuts(params: dict[str, Any], tools: str) -> None:
    assert scorer(**params).toolchain() == tools
    assert list(scorer(**params).missing()) == []
