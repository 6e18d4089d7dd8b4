"""Battles: both orders, what needs no judge, what is missing, and nothing asked twice."""

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.attempt import Attempt, AttemptStatus
from proctor.core.comparison import BattleOutcome, Preference
from proctor.core.exchange import Sampling
from proctor.core.fingerprint import answer_key, case_key, suite_key
from proctor.core.run import Run
from proctor.core.suite import Case, Message, Spec, Suite
from proctor.engine.battle import run_battle
from proctor.engine.battle.run_battle import battle, battles_of
from proctor.engine.run.settings import CallSettings, JudgeSettings
from proctor.errors import MissingResource, ModelError, UsageError
from proctor.origins.colossal.battle_files import write_battle
from proctor.store.rows import RunAttempt
from proctor.store.store import Store
from proctor.testing import Answer, FakeServer, Fault

FENCED = re.compile(r"<<(answer_[12]) \w+>>\n(.*?)\n<<end of", re.S)
FILE = {
    "system_prompt": "S",
    "prompt_template": "{question}|{answer_1}|{answer_2}|{prompt}",
    "prompt": "P",
}
Answers = Mapping[str, Any]


def by_length(messages: list[Any], body: Any) -> str:
    """Mark an answer by the number of its letters."""
    found = dict(FENCED.findall(messages[0]["content"]))
    marks = {f"score_{key[-1]}": min(10, max(1, len(text))) for key, text in found.items()}
    return json.dumps({"reason": "longer", **marks})


def always_first(messages: list[Any], body: Any) -> str:
    return '{"reason": "seat", "score_1": 9, "score_2": 2}'


@pytest.fixture
def save(store: Store) -> Callable[..., str]:
    """Store a run of answers by case; a list has one attempt for each, an exception none."""

    def make(
        name: str, answers: Answers, *, words: str = "{}?", language: str = "en", cluster: str = ""
    ) -> str:
        cases = tuple(
            Case(
                id=case,
                messages=(Message(role="user", content=words.format(case)),),
                criteria=(),
                cluster=cluster,
                tags={"kind": ("even" if int(case) % 2 == 0 else "odd",)},
                hidden={"instruction": words.format(case), "input": ""},
            )
            for case in answers
        )
        suite = Suite(name="s", cases=cases, language=language)
        keyed = [(case_key(case), case) for case in cases]
        key = suite_key(suite, [found for found, _ in keyed])
        store.suites.put(suite, key, keyed)
        store.runs.save(
            Run(id=f"id-{name}", name=name, suite="s", suite_key=key, candidate=Spec(name=name))
        )
        for position, case in enumerate(cases):
            given = answers[case.id]
            for index, text in enumerate(given if isinstance(given, list) else [given]):
                attempt = attempted(case.id, text, index)
                found = answer_key(case, attempt) + name
                store.attempts.put([(found, attempt)])
                row = RunAttempt(position=position, index=index, attempt_key=found)
                store.attempts.link(f"id-{name}", [row])
        return f"id-{name}"

    return make


def attempted(case: str, text: Any, index: int) -> Attempt:
    if isinstance(text, AttemptStatus):
        return Attempt(case_id=case, index=index, status=text, error="gone")
    return Attempt.of(case, text, index=index)


@pytest.fixture
def hold(store: Store) -> Callable[..., BattleOutcome]:
    def make(server: FakeServer, *runs: str, **how: Any) -> BattleOutcome:
        judges = how.pop("judges", (ModelChoice(spec=f"openai:j@{server.url}"),))
        panel = JudgeSettings(judges=judges, repeats=how.pop("repeats", 1))
        return asyncio.run(battle(store, runs, panel, **how))

    return make


LONG, SHORT = {"1": "aaaa", "2": "aaaa", "3": "aa"}, {"1": "bb", "2": "bbbbb", "3": "bb"}


def test_the_better_answer_wins_whoever_is_shown_first(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)
    with FakeServer(by_length) as server:
        outcome = hold(server, "a", "b")
        other = hold(server, "b", "a")
    (pair,) = outcome.pairs
    assert (pair.win, pair.tie, pair.loss, pair.invalid, pair.missing) == (1, 1, 1, 0, 0)
    assert (pair.win_rate, pair.share, pair.agreement) == (1 / 3, 0.5, 1.0)
    assert pair.scores == pytest.approx((10 / 3, 3.0))
    assert pair.first_seat == 0.5
    assert {tag: dict(rows) for tag, rows in pair.groups.items()}["kind"]["even"].loss == 1
    assert outcome.complete
    assert outcome.leaderboard == ()
    assert (other.pairs[0].win, other.pairs[0].loss) == (1, 1)
    assert other.pairs[0].scores == pytest.approx((3.0, 10 / 3))
    assert len(server.calls) == 6
    assert (outcome.bought, other.bought) == (6, 0)
    assert outcome.usage["calls"] == 6


def test_a_judge_that_goes_by_the_seat_decides_nothing(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)
    with FakeServer(always_first) as server:
        both = hold(server, "a", "b").pairs[0]
        one = hold(server, "a", "b", both_orders=False).pairs[0]
    assert (both.win, both.tie, both.loss) == (0, 3, 0)
    assert (both.agreement, both.first_seat) == (0.0, 1.0)
    assert (one.win, one.tie, one.loss, one.agreement) == (3, 0, 0, None)
    assert len(server.calls) == 6


def test_one_order_uses_what_was_compared_in_the_other(
    save: Any, hold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {str(n): "a" * (n % 5 + 3) for n in range(20)}
    save("a", answers), save("b", dict.fromkeys(answers, "b" * 5))
    alternating = run_battle.jobs_of
    with FakeServer(by_length) as server:
        with monkeypatch.context() as patch:
            patch.setattr(  # as version 0.1.0 did it: the first run always first
                run_battle,
                "jobs_of",
                lambda entries, runs, both, **_: alternating(entries, runs, both),
            )
            before = hold(server, "a", "b", both_orders=False)
        calls = len(server.calls)
        after = hold(server, "a", "b", both_orders=False)
        turned = hold(server, "b", "a", both_orders=False)
    assert len(server.calls) == calls
    assert before.pairs[0] == after.pairs[0]
    assert (turned.pairs[0].loss, turned.bought) == (after.pairs[0].win, 0)
    assert before.pairs[0].first_seat is None


def test_stored_battles_of_one_order_are_read_as_such(save: Any, hold: Any, store: Store) -> None:
    answers = {str(n): "a" * (n % 5 + 3) for n in range(20)}
    save("a", answers), save("b", dict.fromkeys(answers, "b" * 5))
    with FakeServer(by_length) as server:
        outcome = hold(server, "a", "b", both_orders=False)
    assert len({one.first for one in outcome.comparisons}) == 2
    (stored,) = run_battle.battles_of(store, ["a", "b"])
    assert stored.orders == 1
    assert stored.pairs[0].valid == 20


def test_what_is_plain_needs_no_judge(save: Any, hold: Any) -> None:
    save("a", {"1": "same", "2": None, "3": "x", "4": " "})
    save("b", {"1": "same\n", "2": "y", "3": "", "4": None})
    with FakeServer("never asked") as server:
        outcome = hold(server, "a", "b")
        assert server.calls == []
    (pair,) = outcome.pairs
    assert (pair.win, pair.tie, pair.loss, pair.scores) == (1, 2, 1, None)
    assert {one.judge for one in outcome.comparisons} == {""}


def test_a_verdict_that_cannot_be_read_counts_for_nobody(save: Any, hold: Any) -> None:
    save("a", {"1": "good", "2": "good"}), save("b", {"1": "bad", "2": "worse"})
    with FakeServer({"worse": "I like both", ".": '{"score_1": 5, "score_2": 5}'}) as server:
        outcome = hold(server, "a", "b")
        count = len(server.calls)
        again = hold(server, "a", "b")
    assert count == 2 + 2 * 3
    assert len(server.calls) == count + 2 * 3, "what nobody could read is asked for again"
    for found in (outcome, again):
        (pair,) = found.pairs
        assert (pair.tie, pair.invalid, pair.valid) == (1, 1, 1)
        assert not found.complete, "half of it came to nothing"
    (bad, _) = [one for one in again.comparisons if one.outcome is Preference.INVALID]
    assert bad.raw == ("I like both",) * 3
    assert "no readable verdict" in bad.reason


@pytest.mark.parametrize("marks", ["0, 5", "11, 5", '"8", 5', "true, 5", "null, 5"])
@pytest.mark.sampled(2)
def test_marks_out_of_range_or_of_another_type_are_no_marks(
    save: Any, hold: Any, marks: str
) -> None:
    save("a", {"1": "good"}), save("b", {"1": "bad"})
    one, two = marks.split(", ")
    with FakeServer(f'{{"reason": "", "score_1": {one}, "score_2": {two}}}') as server:
        assert hold(server, "a", "b").pairs[0].invalid == 1


def test_a_judge_out_of_reach_leaves_gaps_that_the_next_start_fills(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)

    def half(messages: list[Any], body: Any) -> Any:
        if "2?" in messages[0]["content"]:
            return Fault("error", status=400, message="too long for me")
        return by_length(messages, body)

    with FakeServer(half) as server:
        outcome = hold(server, "a", "b")
        assert (outcome.pairs[0].valid, outcome.pairs[0].missing, outcome.complete) == (2, 1, False)
        assert "too long for me" in " ".join(outcome.warnings)
        server.script, before = by_length, len(server.calls)
        outcome = hold(server, "a", "b")
    assert (outcome.pairs[0].valid, outcome.complete) == (3, True)
    assert len(server.calls) - before == 2


def test_a_judge_that_is_not_there_at_all_is_said_at_once(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)
    with FakeServer() as server:
        pass
    with pytest.raises(ModelError):
        hold(server, "a", "b")


def test_other_answers_of_the_same_run_are_compared_anew(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)
    with FakeServer(by_length) as server:
        hold(server, "a", "b")
        save("b", {**SHORT, "1": "bbbbbbb"})
        changed = hold(server, "a", "b")
    assert (changed.pairs[0].win, changed.pairs[0].loss) == (0, 2)
    assert len(server.calls) == 6 + 2
    assert len(changed.comparisons) == 6


@pytest.mark.slow
def test_earlier_battles_are_found_again(save: Any, hold: Any, store: Store) -> None:
    runs = [save("a", LONG), save("b", SHORT), save("c", {"1": "c", "2": "c", "3": "c"})]
    with FakeServer(by_length) as server:
        made = hold(server, *runs)
        hold(server, *runs[:2], both_orders=False)
    found, single = battles_of(store, runs)
    shown = [(p.first, p.second, p.win, p.tie, p.loss, p.scores, p.groups) for p in made.pairs]
    assert [(p.first, p.second, p.win, p.tie, p.loss, p.scores, p.groups) for p in found.pairs] == [
        (*row[:6], {}) for row in shown
    ]
    assert found.leaderboard == made.leaderboard
    assert (found.judge, found.orders, single.orders) == ("openai:j", 2, 1)
    assert [(pair.first, pair.second) for pair in single.pairs] == [tuple(runs[:2])]
    assert battles_of(store, [runs[0]]) == []


def test_cases_of_one_cluster_are_one_draw(save: Any, hold: Any) -> None:
    answers = {str(n): "aaaa" for n in range(6)}, {str(n): "bb" for n in range(6)}
    with FakeServer(by_length) as server:
        alone = hold(server, save("a", answers[0]), save("b", answers[1]))
        one = hold(server, save("c", answers[0], cluster="q"), save("d", answers[1], cluster="q"))
    assert (alone.pairs[0].win, one.pairs[0].win) == (6, 6)
    assert alone.pairs[0].interval == pytest.approx((0.541, 1.0), abs=1e-3)
    assert one.pairs[0].interval == pytest.approx((0.025, 1.0), abs=1e-3)


def test_a_leaderboard_of_three(save: Any, hold: Any) -> None:
    runs = [
        save("weak", {str(n): "w" for n in range(12)}),
        save("strong", {str(n): "s" * (9 if n else 2) for n in range(12)}),
        save("middle", {str(n): "m" * 4 for n in range(12)}),
    ]
    with FakeServer(by_length) as server:
        outcome = hold(server, *runs)
        other = hold(server, *runs[::-1])
    names = [outcome.name_of(found.run) for found in outcome.leaderboard]
    assert names == ["strong", "middle", "weak"]
    assert [found.rank for found in outcome.leaderboard] == [1, 2, 3]
    assert [(s.win, s.tie, s.loss) for s in outcome.leaderboard] == [
        (23, 0, 1), (13, 0, 11), (0, 0, 24)]  # fmt: skip
    for one, two in zip(outcome.leaderboard, other.leaderboard, strict=True):
        assert (one.run, one.strength, one.interval) == (two.run, two.strength, two.interval)
        assert one.interval[0] <= one.strength <= one.interval[1]
    assert sum(found.strength for found in outcome.leaderboard) == pytest.approx(0)
    assert other.bought == 0


def test_attempts_face_each_other_one_by_one(save: Any, hold: Any) -> None:
    save("a", {"1": ["aaa", "a", "aaa"]}), save("b", {"1": ["bb", "bb"]})
    with FakeServer(by_length) as server:
        every = hold(server, "a", "b").pairs[0]
        first = hold(server, "a", "b", attempts=1).pairs[0]
    assert (every.win, every.loss) == (1, 1)
    assert every.interval == pytest.approx((0.0319, 0.9681), abs=1e-4)
    assert (first.win, first.loss) == (1, 0)


def test_an_attempt_that_was_never_made_is_missing(save: Any, hold: Any) -> None:
    save("a", {"1": "aaa", "2": AttemptStatus.ERROR}), save("b", {"1": "b", "2": "b"})
    with FakeServer(by_length) as server:
        outcome = hold(server, "a", "b")
    assert (outcome.pairs[0].win, outcome.pairs[0].missing, outcome.complete) == (1, 1, False)
    assert "could not be made" in outcome.warnings[0]


@pytest.mark.slow
def test_cases_that_differ_are_left_out_and_named(save: Any, hold: Any) -> None:
    save("a", {"1": "aaa", "2": "a", "3": "a"}), save("b", {"1": "b", "4": "b"})
    save("c", {"1": "c"}, words="another {}?")
    save("d", {"9": "d"})
    with FakeServer(by_length) as server:
        outcome = hold(server, "a", "b")
        assert outcome.pairs[0].win == 1
        assert outcome.complete
        assert "3 cases are in only one" in outcome.warnings[0]
        with pytest.raises(UsageError, match="no question in common"):
            hold(server, "a", "c")
        with pytest.raises(UsageError, match="no case in common"):
            hold(server, "a", "d")
        with pytest.raises(UsageError, match="named twice"):
            hold(server, "a", "id-a")
        with pytest.raises(UsageError, match="at least two"):
            hold(server, "a")
        with pytest.raises(MissingResource, match="needs a judge"):
            hold(server, "a", "b", judges=())


def test_a_panel_and_a_chinese_suite(save: Any, hold: Any) -> None:
    save("a", LONG, language="zh"), save("b", SHORT, language="zh")
    with FakeServer(roles={"one": by_length, "two": always_first}) as server:
        judges = [ModelChoice(spec=f"openai:j@{server.url_of(role)}") for role in ("one", "two")]
        outcome = hold(server, "a", "b", judges=tuple(judges))
    assert outcome.judge == "openai:j,openai:j"
    assert len(server.calls) == 12
    assert outcome.pairs[0].tie == 3
    assert "1 号回答" in server.calls[0].body["messages"][0]["content"]


def test_money_that_is_spent_up_stops_a_battle(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)

    def dear(messages: list[Any], body: Any) -> Answer:
        return Answer(by_length(messages, body), tokens=(1_000_000, 0))

    calls = CallSettings(max_cost=2.5, prices={"openai:j": (1.0, 1.0)}, concurrency=1)
    with FakeServer(dear) as server:
        outcome = hold(server, "a", "b", calls=calls)
        assert "2.5 dollars" in outcome.stopped
        assert not outcome.complete
        assert len(server.calls) == 2
        outcome = hold(server, "a", "b")
    assert outcome.complete
    assert len(server.calls) == 6


def test_a_prompt_file_of_ones_own_in_both_orders(save: Any, hold: Any) -> None:
    save("a", LONG), save("b", SHORT)

    def lines(messages: list[Any], body: Any) -> Any:
        found = dict(FENCED.findall(messages[1]["content"]))
        return [" 8\nhm", f"{len(found['answer_1'])}, {len(found['answer_2'])}\nso"]

    with FakeServer(lines) as server:
        outcome = hold(server, "a", "b", prompt=FILE)
    (pair,) = outcome.pairs
    assert (pair.win, pair.tie, pair.loss, pair.invalid) == (1, 1, 1, 0)
    assert {one.reason for one in outcome.comparisons} == {"so"}
    assert server.calls[0].body["messages"][0] == {"role": "system", "content": "S"}
    assert "response_format" not in server.calls[0].body


def test_as_the_original_in_one_order_with_its_parser_and_files(
    save: Any, hold: Any, tmp_path: Any
) -> None:
    replies = ["8 7\nx", "6 9\nx", "7 7\nx", "no idea", "9,9", "10/10 vs 9/10", "7.5/10 8.5/10", ""]
    save("A", {str(n): f"a{n}" for n in (10, *range(1, 8))})
    save("B", {str(n): f"b{n}" for n in (10, *range(1, 8))})
    texts = dict(zip([*range(1, 8), 10], replies, strict=True))

    def say(messages: list[Any], body: Any) -> str:
        question, one, two, _ = messages[1]["content"].split("|")
        number = int(question.removesuffix("?"))
        assert (one, two) == (f"a{number}", f"b{number}")
        return texts[number]

    with FakeServer(say) as server:
        outcome = hold(server, "A", "B", prompt=FILE, variant="original")
        again = hold(server, "A", "B", prompt=FILE, variant="original")
    assert len(server.calls) == 8 + 2, "what the original cannot read is asked for again"
    body = server.calls[0].body
    assert (body["temperature"], body["max_tokens"]) == (0.2, 2048)
    (pair,) = outcome.pairs
    assert (pair.loss, pair.win, pair.tie, pair.invalid) == (1, 2, 3, 2)
    assert pair.scores == pytest.approx((7.5, 7.666666666666667), abs=1e-12)
    for found in (outcome, again):
        files = write_battle(found, tmp_path)
    folder = tmp_path / "gpt_evaluate" / "battle_results"
    assert files[-1] == folder / "battle_results.json"
    assert json.loads(files[-1].read_text())["A_vs_B"] == {
        "model": ["A", "B"], "better": 1, "worse": 2, "tie": 3,
        "win_rate": 1 / 6, "score": [7.5, 7.666666666666667],
    }  # fmt: skip
    assert sorted(path.name for path in (folder / "A_vs_B").iterdir()) == [
        "A_vs_B_evaluations.json", "A_vs_B_invalid.json", "A_vs_B_tie.json",
        "B_better.json", "B_worse.json"]  # fmt: skip
    every = json.loads((folder / "A_vs_B" / "A_vs_B_evaluations.json").read_text())
    assert [row["id"] for row in every] == [1, 2, 3, 4, 5, 6, 7, 10]
    assert [row["evaluation"] for row in every] == replies
    assert every[3]["score"] == [-1, -1]
    better = json.loads((folder / "A_vs_B" / "B_better.json").read_text())
    assert better == [{"evaluation": "6 9\nx", "id": 2, "score": [6.0, 9.0]}]


def test_what_the_person_says_of_sampling_goes_before_the_usual(save: Any, hold: Any) -> None:
    save("a", {"1": "aa"}), save("b", {"1": "b"})
    with FakeServer(by_length) as server:
        hold(server, "a", "b")
        spec = f"openai:j@{server.url}"
        warm = ModelChoice(spec=spec, sampling=Sampling(temperature=0.7, max_tokens=9))
        hold(server, "a", "b", judges=(warm,))
    asked = [(c.body.get("temperature"), c.body.get("max_tokens")) for c in server.calls]
    assert asked == [(0.0, None)] * 2 + [(0.7, 9)] * 2
