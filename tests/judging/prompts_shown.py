"""Every prompt that judges and simulated users are shown, made of one case and one answer."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from proctor.contracts.dialogue import DialogueContext
from proctor.contracts.judge import Judge, Ruling
from proctor.contracts.model import Model
from proctor.contracts.scorer import ScoreContext
from proctor.core.attempt import Attempt
from proctor.core.exchange import Reply, Request, Sampling
from proctor.core.prompt_fences import MARKS, Marks
from proctor.core.score import Score
from proctor.core.suite import Case, Message, Spec
from proctor.dialogues.clarify import Clarify
from proctor.dialogues.conversation import Conversation, DialogueStopped
from proctor.dialogues.fata import Fata
from proctor.dialogues.ledger import Ledger
from proctor.dialogues.simulated import SimulatedUser
from proctor.dialogues.virtual_user import VirtualUser
from proctor.engine.battle.prompt import Asking
from proctor.errors import JudgeError
from proctor.registry import build
from proctor.scorers.judged.numbered_rulings import ListedClaims, NumberedRulings

Shown = tuple[str, tuple[Message, ...]]

FILE = {
    "system_prompt": "sys",
    "prompt_template": "Q {question}\n{answer_1}\n{answer_2} {prompt}",
    "prompt": "marks",
}
OWN_PROMPT = "Q {question} A {answer} {metric} {steps} {{x}}"
SCORERS: list[tuple[str, dict[str, Any]]] = [
    ("judged", {"question": "Is it?", "context": False}),
    ("judged", {"question": "Is it?"}),
    ("judged_correct", {}),
    ("judged_correct", {"compat": "original", "kind": "choice", "choices": ["a", "b"]}),
    ("rubric", {"criterion": "x", "context": False}),
    ("rubric", {"criterion": "x"}),
    ("rating", {"question": "q", "context": False}),
    ("rating", {"question": "q"}),
    ("rating_metric", {"metric": "fluency", "definition": "d", "with_reference": True}),
    ("rating_metric", {"metric": "correctness", "definition": "d", "with_reference": True, "prompt": OWN_PROMPT}),
    ("rating_metric", {"metric": "c", "definition": "d", "compat": "original"}),
    ("scoring_point", {"statement": "s"}),
    ("scoring_point", {"statement": "s", "history": True}),
    ("qa_correctness", {}),
    ("qa_correctness", {"compat": "original"}),
    ("hallucination", {}),
    ("summary_quality", {}),
    ("summary_quality", {"compat": "original"}),
    ("maths", {"judge_fallback": True}),
    ("faithfulness", {}),
    ("answer_relevance", {}),
    ("context_precision", {}),
    ("context_recall", {}),
    ("context_relevance", {}),
    ("citations", {}),
    ("noise_sensitivity", {}),
]  # fmt: skip
SHOW_PASSAGES = {"judged", "rubric", "rating"}
"""Scorers that show passages unless ``context`` is false, as it was in version 0.1.0."""
WITHOUT_MARKS = {"rating_metric original", "battle original"}
"""As the originals ask, whose published numbers rest on their own words."""


@dataclass
class Noting(Judge):
    """A judge that notes what it is shown, and rules on nothing but claims and numbered things."""

    shown: list[tuple[Message, ...]] = field(default_factory=list)
    identity: Any = None

    async def ask(self, messages: Sequence[Message], verdict: Any, **how: Any) -> Ruling[Any]:
        self.shown.append(tuple(messages))
        if (texts := getattr(how.get("reader"), "texts", None)) is not None:
            self.shown.append(texts.first_turn)
            if texts.second_turn is not None:
                self.shown.append((texts.second_turn,))
        if verdict is ListedClaims:
            return Ruling(verdict=ListedClaims(claims=("A claim.", "Another.")))
        if issubclass(verdict, NumberedRulings):
            result = verdict.choices[0]
            rulings = [{"number": n, "result": result} for n in range(1, verdict.count + 1)]
            return Ruling(verdict=verdict(rulings=rulings))
        raise JudgeError("nothing", raw=(), usage=None, reason="")


@dataclass
class Telling(Model):
    """A simulated user that notes what it is shown, and tells too much."""

    tells: str
    shown: list[tuple[Message, ...]] = field(default_factory=list)
    identity: Any = None
    label: str = "telling"

    async def reply(self, request: Request) -> Reply:
        self.shown.append(request.messages)
        return Reply(text=self.tells)

    async def check(self) -> None:
        pass


def all_of(
    case: Case, said: Sequence[Message], attempt: Attempt, *, marks: Marks = MARKS, tells: str = ""
) -> Iterator[Shown]:
    """Yield what is shown about a case, in both languages."""
    for language in ("en", "zh"):
        yield from of_scorers(case, attempt, language, marks)
        yield from of_dialogues(case, said, language, marks, tells)
        yield from of_battles(case, said, language, marks)


def of_scorers(case: Case, attempt: Attempt, language: str, marks: Marks) -> Iterator[Shown]:
    for name, params in SCORERS:
        judge = Noting()
        scorer = build("scorer", Spec(name=name, params=params))
        if name == "citations":
            cites = Message(role="assistant", content=f"{attempt.output} [1].")
            attempt = replace(attempt, messages=(cites,))
        ctx = ScoreContext(case=case, attempt=attempt, judge=judge, language=language, marks=marks)
        if name == "maths":
            left = Score(points=0.0, detail={"readable": False})
            asyncio.run(scorer.finish(ctx, left))
        else:
            asyncio.run(scorer.score(ctx))
        bare = name == "rating_metric" and params.get("compat")
        label = f"{name} original" if bare else name
        if name in SHOW_PASSAGES and params.get("context", True):
            label = f"{name} with passages"
        for messages in judge.shown:
            yield label, messages


def of_dialogues(
    case: Case, said: Sequence[Message], language: str, marks: Marks, tells: str
) -> Iterator[Shown]:
    telling = Telling(tells or "a is 3, EXPECTED")
    candidate: Any = None
    ctx = DialogueContext(
        case=case, index=0, candidate=candidate, simulator=telling, language=language, marks=marks
    )
    talk = Conversation(ctx, exchanged=list(said), turn=2)
    for scenario in ("missing_info", "overconfidence", "plain", "in3"):
        for strict in (False, True):
            dialogue: Any = build(
                "dialogue", Spec(name="clarify", params={"scenario": scenario, "strict": strict})
            )
            assert isinstance(dialogue, Clarify)
            yield "clarify", dialogue._arbitration(talk)
        user = SimulatedUser(scenario, Sampling())
        yield "clarify", user.messages(talk)
        ledger = Ledger.of(case)
        ledger.turns.append({})
        with suppress(DialogueStopped):
            asyncio.run(user.answer(talk, ledger))
    for messages in telling.shown:
        yield "clarify", messages
    yield "fata", Fata()._arbitration(talk)
    yield "fata", Fata(max_turns=3)._arbitration(talk)
    yield "virtual_user", VirtualUser().messages(talk)


def of_battles(case: Case, said: Sequence[Message], language: str, marks: Marks) -> Iterator[Shown]:
    one = Attempt(case_id="c", messages=(Message(role="assistant", content="one"),))
    two = Attempt(case_id="c", messages=tuple(said))
    ways: list[dict[str, Any]] = [
        {},
        {"references": True},
        {"file": FILE},
        {"file": FILE, "variant": "original"},
    ]
    for how in ways:
        asking = Asking(language=language, marks=marks, **how)
        name = "battle original" if how.get("variant") else "battle"
        yield name, asking.messages(case, one, two)
