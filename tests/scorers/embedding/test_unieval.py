"""UniEval: the original's questions and values, and where ours does better."""

import asyncio
import json
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from needs import problem, unmet
from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Message, Spec
from proctor.errors import PluginError
from proctor.executors.local import LocalExecutor
from proctor.scorers.embedding import checkpoints, device_stream, sentences, unieval

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
TINY = str(GOLDEN / "colossal_tinyt5")
KNOWN = json.loads((GOLDEN / "colossal.json").read_text(encoding="utf-8"))["unieval"]
TASKS = dict.fromkeys(("summarization", "dialogue", "data2text", "fact"), TINY)
NOISE = 6e-6
"""What other neighbours in a batch do to this model's values, in single precision."""


def scorer(*dimensions: str, **params: Any) -> Any:
    given = {"dimensions": list(dimensions), "models": TASKS, **params}
    return registry.build("scorer", Spec(name="unieval", params=given))


def context(
    output: str, *, source: str = "", given: str = "", reference: str | None = None, fact: str = ""
) -> ScoreContext:
    case = Case(
        id="1",
        messages=(Message(role="user", content="the prompt"),),
        criteria=(),
        references=() if reference is None else (reference,),
        context=(fact,) if fact else (),
        hidden={"instruction": source, "input": given} if source else {},
    )
    return ScoreContext(case=case, attempt=Attempt.of("1", output))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let nobody answer, and return what was asked; the answer is how long the question is."""
    heard: list[str] = []

    class Counting:
        def likely(self, questions: list[str]) -> list[float]:
            heard.extend(questions)
            return [float(len(question)) for question in questions]

    if reason := problem("torch"):
        unmet("torch", reason)
    monkeypatch.setattr("proctor.scorers.embedding.unieval.answerer", lambda *given: Counting())
    return heard


@pytest.mark.parametrize("dimension", KNOWN["input_formats"])
def test_the_questions_are_the_originals_to_the_letter(dimension: str) -> None:
    texts = {"source": "<SRC>", "reference": "<REF>", "context": "<CTX>"}
    question = unieval._published()[1][dimension]
    assert question.filled(texts, "<OUT>") == KNOWN["input_formats"][dimension]


@pytest.mark.torch
def test_the_originals_answers() -> None:
    from proctor.scorers.embedding.t5_yes_no import answerer

    rows = KNOWN["formula"]["samples"]
    found = answerer(TINY, "cpu", "float32").likely([row["input"] for row in rows])
    assert found == pytest.approx([row["score"] for row in rows], abs=NOISE)
    parts = KNOWN["aggregation"]["sentence_inputs_and_scores"].values()
    inputs = [text for part in parts for text in part["inputs"]]
    values = [value for part in parts for value in part["scores"]]
    found = answerer(TINY, "cpu", "float32").likely(inputs)
    assert found == pytest.approx(values, abs=NOISE)


@pytest.mark.torch
@pytest.mark.parametrize("task", ["summarization", "dialogue", "data2text"])
def test_the_originals_values(task: str) -> None:
    rows = KNOWN["aggregation"]["results"][task]["per_item"]
    contexts = [
        context(row["system_output"], source=row["source"], reference=row["reference"])
        for row in KNOWN["aggregation"]["data"]
    ]
    names = [f"{task}-{dimension}" for dimension in rows[0]]
    found = scorer(*names, compat="original").score_batch(contexts)
    for row, score in zip(rows, found, strict=True):
        wanted = {f"{dimension}-{task}": value for dimension, value in row.items()}
        assert score.detail["metrics"] == pytest.approx(wanted, abs=NOISE)
        assert score.points == next(iter(score.detail["metrics"].values()))
        assert score.out_of is None


@pytest.mark.torch
def test_neighbours_make_no_difference() -> None:
    from proctor.scorers.embedding.t5_yes_no import Answerer

    questions = [f"question: Is it {'very ' * (i % 90)}long? </s> it: {i % 7}" for i in range(120)]
    ours = Answerer(TINY, "cpu", "float32")
    assert ours.likely([]) == []
    ours.budget = 300
    found = ours.likely(questions)
    assert found == pytest.approx([ours.likely([one])[0] for one in questions], abs=NOISE)


@pytest.mark.torch
def test_a_question_too_long_is_cut_at_its_end() -> None:
    from proctor.scorers.embedding.t5_yes_no import answerer

    ask = answerer(TINY, "cpu", "float32").likely
    long = "question: Is this it? </s> it: " + "the cat sat. " * 800
    assert ask([long]) == pytest.approx(ask([long + "mat " * 300]), abs=1e-6)


@pytest.mark.torch
def test_less_is_asked_at_once_where_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from proctor.scorers.embedding.t5_yes_no import Answerer

    ours = Answerer(TINY, "cpu", "float32")
    questions = [f"question: Is it {i}?" for i in range(60)]
    wanted = ours.likely(questions)
    sizes: list[int] = []
    plain = ours._margins

    def short(batch: Any) -> Any:
        sizes.append(len(batch.texts))
        if len(batch.texts) > 20:
            raise torch.OutOfMemoryError("there is no more")
        return plain(batch)

    monkeypatch.setattr(ours, "_margins", short)
    assert ours.likely(questions) == pytest.approx(wanted, abs=NOISE)
    assert sizes[0] > 20
    assert sizes[-1] <= 20


@pytest.mark.torch
@pytest.mark.parametrize("packed", [False, True])
def test_questions_in_many_units_keep_their_values_and_order(packed: bool) -> None:
    from proctor.scorers.embedding.t5_yes_no import Answerer

    questions = [f"question: Is it {'very ' * (i * 7 % 50)}{i % 40}?" for i in range(80)]
    ours = Answerer(TINY, "cpu", "float32")
    wanted = ours.likely(questions)
    if packed:
        ours.pack()
        assert ours.packed is not None
    ours.unit, ours.budget = 700, 200
    assert len(list(ours._units(questions))) > 10
    assert ours.likely(questions) == pytest.approx(wanted, abs=NOISE)
    assert len(set(wanted)) > 30


@pytest.mark.torch
def test_a_question_that_fits_nowhere_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from proctor.scorers.embedding.t5_yes_no import Answerer

    plain = Answerer._margins

    def short(self: Any, batch: Any) -> Any:
        if batch.filled > 300:
            raise torch.OutOfMemoryError("there is no more")
        return plain(self, batch)

    monkeypatch.setattr(Answerer, "_margins", short)
    monkeypatch.setattr(unieval, "answerer", Answerer)
    texts = ["The cat.", "mat " * 400, "A dog."]
    found = scorer("dialogue-naturalness").score_batch([context(text) for text in texts])
    assert [score.status for score in found] == [
        ScoreStatus.SCORED, ScoreStatus.FAILED, ScoreStatus.SCORED,
    ]  # fmt: skip
    assert "memory" in found[1].reason


@pytest.mark.torch
def test_a_number_too_large_for_half_precision_is_computed_again_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from proctor.scorers.embedding.t5_packed import PackedT5
    from proctor.scorers.embedding.t5_yes_no import Answerer

    questions = [f"question: Is it {i}?" for i in range(9)]
    ours = Answerer(TINY, "cpu", "float32")
    wanted = ours.likely(questions)
    ours.pack()
    plain = PackedT5.logits

    def overflowing(self: Any, texts: Any) -> Any:
        logits = plain(self, texts)
        logits[len(logits) // 2] = float("nan")
        return logits

    monkeypatch.setattr(PackedT5, "logits", overflowing)
    assert ours.likely(questions) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.torch
def test_a_batch_that_nobody_waits_for_any_more_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.scorers.embedding.t5_yes_no import Answerer

    asked_batches: list[int] = []
    begun = threading.Event()
    go_on = threading.Event()
    plain = Answerer._margins

    def slow(self: Any, batch: Any) -> Any:
        asked_batches.append(len(batch.texts))
        begun.set()
        assert go_on.wait(20)
        return plain(self, batch)

    def many(*args: Any) -> Any:
        ours = Answerer(*args)
        ours.budget = 64
        return ours

    monkeypatch.setattr(Answerer, "_margins", slow)
    monkeypatch.setattr(unieval, "answerer", many)
    made = scorer("dialogue-naturalness")
    contexts = [context(f"The cat {i}.") for i in range(60)]

    async def interrupted() -> None:
        spec = Spec(name="unieval", params={})
        work = asyncio.ensure_future(LocalExecutor().score_batch(made, spec, contexts))
        assert await asyncio.to_thread(begun.wait, 20)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        go_on.set()

    asyncio.run(interrupted())
    assert len(asked_batches) == 1
    assert not [t for t in threading.enumerate() if t.name.startswith(device_stream.THREAD)]


@pytest.mark.torch
def test_a_checkpoint_of_two_tasks_is_loaded_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    shutil.copytree(TINY, folder)
    loaded: list[str] = []
    plain = checkpoints.load

    def counted(kind: str, model: str, *more: Any, **options: Any) -> Any:
        loaded.append(model)
        return plain(kind, model, *more, **options)

    monkeypatch.setattr(checkpoints, "load", counted)
    models = {"summarization": str(folder), "data2text": f"{tmp_path}/./model"}
    made = scorer("summarization-fluency", "data2text-naturalness", models=models)
    made.score(context("The cat sat."))
    made.score(context("The dog ran."))
    assert loaded == [str(folder)]


def test_what_is_asked_and_what_is_left_out(asked: list[str]) -> None:
    made = scorer(
        "summarization-consistency", "data2text-informativeness", "dialogue-groundedness",
        "dialogue-naturalness",
    )  # fmt: skip
    score = made.score(context("One. Two {reference}.", source="Do", given="it"))
    assert asked == [
        "question: Is this claim consistent with the document? </s> claim: One. </s>"
        " document: Do\nit",
        "question: Is this claim consistent with the document? </s> claim: Two {reference}. </s>"
        " document: Do\nit",
        "question: Is this a natural response in the dialogue? </s> response: One. Two"
        " {reference}.",
    ]
    assert score.detail["metrics"] == {
        "consistency-summarization": (len(asked[0]) + len(asked[1])) / 2,
        "naturalness-dialogue": float(len(asked[2])),
    }
    assert score.detail["left_out"] == ["informativeness-data2text", "groundedness-dialogue"]
    assert score.points == score.detail["metrics"]["consistency-summarization"]


@pytest.mark.parametrize(
    ("compat", "inputs"),
    [
        ("", ["summary: A </s> document: Do\nit", "response: A </s> fact: the fact"]),
        ("original", ["summary: A </s> document: Doit", "response: A </s> fact: "]),
    ],
)
def test_the_source_and_the_fact(asked: list[str], compat: str, inputs: list[str]) -> None:
    made = scorer("summarization-coherence", "dialogue-groundedness", compat=compat)
    made.score(context("A", source="Do", given="it", fact="the fact"))
    assert [text.split(" </s> ", 1)[1] for text in asked] == inputs


def test_without_instruction_the_prompt_is_the_source(asked: list[str]) -> None:
    scorer("summarization-coherence").score(context("A"))
    assert asked[0].endswith("</s> document: the prompt")


@pytest.mark.parametrize(
    ("compat", "values"),
    [
        ("", {"fluency-summarization": 0.0, "naturalness-dialogue": 0.0}),
        ("original", {"fluency-summarization": 0.0, "naturalness-dialogue": 69.0}),
    ],
)
def test_an_empty_answer(asked: list[str], compat: str, values: Any) -> None:
    made = scorer("summarization-fluency", "dialogue-naturalness", compat=compat)
    assert made.score(context("")).detail["metrics"] == values


def test_nothing_to_ask(asked: list[str]) -> None:
    score = scorer("data2text-informativeness").score(context("A"))
    assert score.status is ScoreStatus.NOT_APPLICABLE
    assert asked == []


def test_questions_of_your_own(asked: list[str]) -> None:
    made = scorer(
        "data2text-persuasiveness", "dialogue-warmth",
        questions={
            "data2text-persuasiveness": "question: Is it persuasive? </s> utterance: {output}",
            "dialogue-warmth": {"ask": "Warm? {output}", "of": "sentences", "fold": "sum"},
        },
    )  # fmt: skip
    assert list(made.problems()) == []
    score = made.score(context("Hello. Dear."))
    assert asked == [
        "question: Is it persuasive? </s> utterance: Hello. Dear.", "Warm? Hello.", "Warm? Dear.",
    ]  # fmt: skip
    assert score.detail["metrics"]["warmth-dialogue"] == float(len(asked[1]) + len(asked[2]))


@pytest.mark.parametrize(
    ("dimensions", "params", "message"),
    [
        ((), {}, "at least one"),
        (("summarization-fluence",), {}, "did you mean 'summarization-fluency'?"),
        (("summarization-a",), {"questions": {"summarization-a": "x {output} {what}"}}, "{what}"),
        (("summarization-a",), {"questions": {"summarization-a": "x"}}, "there is no {output}"),
        (("own",), {"questions": {"own": "{output}"}}, "task-dimension"),
        (("own-a",), {"questions": {"own-a": "{output}"}}, "no model is named"),
    ],
)
def test_what_is_wrong_is_said_before(
    dimensions: tuple[str, ...], params: Any, message: str
) -> None:
    assert message in " ".join(scorer(*dimensions, **params).problems())


def test_questions_are_checked() -> None:
    with pytest.raises(PluginError):
        scorer("a-b", questions={"a-b": {"ask": "{output}", "fold": "max"}})


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "find_spec", lambda name: None)
    made = scorer("summarization-fluency", models={"summarization": "./nowhere"})
    assert list(made.missing()) == [
        "UniEval needs torch and transformers (fix: pip install 'proctor[semantic]')",
        "UniEval: there is no folder ./nowhere (fix: name one, or a name of the model hub)",
    ]
    found = made.score_batch([context("a"), context("b")])
    assert [score.status for score in found] == [ScoreStatus.FAILED] * 2
    assert scorer("summarization-fluency", models={})._model("summarization-fluency") == (
        "MingZhong/unieval-sum"
    )


@pytest.mark.torch
def test_what_is_no_t5(tmp_path: Path) -> None:
    score = scorer(
        "dialogue-naturalness", models={"dialogue": str(GOLDEN / "colossal_tinybert")}
    ).score(context("a"))
    assert score.status is ScoreStatus.FAILED
    assert "cannot be loaded" in score.reason


@pytest.mark.torch
def test_what_a_score_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "_punkt", lambda: None)
    whole, cut = scorer("dialogue-naturalness"), scorer("summarization-fluency")
    assert whole.toolchain().startswith("colossal_tinyt5@")
    assert whole.toolchain().endswith("float32")
    assert cut.toolchain().endswith("float32 sentences by rules")
