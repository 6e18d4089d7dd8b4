"""The summary for a pull request: what it says, and what strangers' texts cannot do in it."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.core.grid import GridRun, PromptVerdict, RunGrid
from proctor.core.run import RunStatus
from proctor.reports.pull_request import (
    MOST_CASES,
    ChangedCase,
    SummarizedRun,
    Verdict,
    code,
    prose,
    pull_request_summary,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 5 of 6", "`plain 5 of 6`"),
        ("a|b", "`a¦b`"),
        ("ends `x` <img src=x>", "`ends 'x' <img src=x>`"),
        ("line\none", "`line one`"),
        ("tail\\", "`tail⧵`"),
        ("@somebody [x](http://y)", "`@somebody [x](http://y)`"),
        ("x" * 300, f"`{'x' * 200}…`"),
        ("", ""),
    ],
)
def test_strangers_texts_stand_in_code_spans(text: str, shown: str) -> None:
    assert code(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("new is better than old: +4.2 points", "new is better than old: +4.2 points"),
        ("@everybody", "@\u200beverybody"),
        ("m@host:80", "m@host:80"),
        ("see https://evil.example", "see https\u200b://evil.example"),
        ("![x](y) <b>", r"!\[x\](y) \<b\>"),
        ("a|b`c`*d*_e_", r"a\|b\`c\`\*d\*\_e\_"),
        ("# title\n- item", r"\# title - item"),
    ],
)
def test_names_make_no_mention_link_or_markup(text: str, shown: str) -> None:
    assert prose(text) == shown


def test_our_own_commands_are_code_and_other_marks_stay_escaped() -> None:
    assert prose("(`proctor compare` says more)") == "(`proctor compare` says more)"
    assert prose("`proctor <b>`") == "\\`proctor \\<b\\>\\`"
    assert prose("`rm` and `proctor run") == "\\`rm\\` and \\`proctor run"


def test_a_run_by_itself_lists_what_is_short_of_full_marks(make_view: Any) -> None:
    text = pull_request_summary([SummarizedRun(view=make_view())])
    assert text.startswith("## Proctor\n\n| Run | Result | Rate |")
    assert "| first | incomplete | 41.67% |" in text
    assert "Short of full marks:" in text
    assert "| `0-0-3` | 0 | 1 | `no answer` |" in text
    assert "| `0-0-4` | – | 1 | `unit_test: no sandbox` |" in text
    assert "### " not in text


@pytest.mark.parametrize(
    ("gates", "state"),
    [([], "complete"), ([True], "passed"), ([True, False], "gate missed")],
)
def test_the_state_of_a_complete_run(make_view: Any, gates: list[bool], state: str) -> None:
    view = make_view()
    totals = replace(view.summary.totals, errors=0)
    view = replace(
        view,
        run=replace(view.run, status=RunStatus.COMPLETE),
        summary=replace(view.summary, totals=totals),
    )
    rows = [{"gate": "rate >= 0.5", "held": held, "note": "", "luck": None} for held in gates]
    run = SummarizedRun(view=view, gates=rows)
    assert run.state == state
    assert f"| first | {state} |" in pull_request_summary([run])


def test_a_verdict_its_worse_cases_and_links(make_view: Any) -> None:
    worse = [ChangedCase(id="a", before=1.0, after=0.25, full=1.0, why="too | short")]
    verdict = Verdict(sentence="b is worse than a", worse=worse, worse_count=3, warnings=["w"])
    text = pull_request_summary(
        [SummarizedRun(view=make_view(), verdict=verdict)], [("Report", "https://x.example/r")]
    )
    assert "**b is worse than a**" in text
    assert "\n- w\n" in text
    assert "| `a` | 1 | 0.25 | 1 | `too ¦ short` |\n\n… and 2 more\n" in text
    assert "Short of full marks" not in text
    assert text.endswith("\n[Report](<https://x.example/r>)\n")


def test_long_lists_are_cut(make_view: Any) -> None:
    view = make_view()
    many = [result for result in view.results() for _ in range(MOST_CASES)]
    text = pull_request_summary([SummarizedRun(view=replace(view, results=lambda: iter(many)))])
    assert text.count("\n| `") == MOST_CASES
    assert "\n… and more\n" in text


def test_several_runs_have_a_grid_of_prompts_and_models(make_view: Any) -> None:
    view = make_view()
    places = [("m|1", "plain"), ("m|1", "strict"), ("n", "plain")]
    runs = tuple(
        GridRun(
            id=f"{model}{prompt}",
            name="r",
            prompt=prompt,
            model=model,
            candidate=model,
            totals=replace(view.summary.totals, rate=0.5, interval=(0.25, 0.75)),
            status="complete",
        )
        for model, prompt in places
    )
    verdict = PromptVerdict(first="plain", second="strict", models=2, sentence="strict is @better")
    grid = RunGrid(runs=runs, best="nplain", note="n is better", prompt_verdicts=(verdict,))
    text = pull_request_summary([SummarizedRun(view=view)], (), grid)
    assert "\n| Prompt | m\\|1 | n |\n| --- | ---: | ---: |\n" in text
    assert "\n| plain | 50.0% (25.0–75.0) | 50.0% (25.0–75.0) \\* |\n" in text
    assert "\n| strict | 50.0% (25.0–75.0) | – |\n" in text
    assert "\n\\* n is better\n" in text
    assert "\n**strict is @\u200bbetter**\n" in text
    assert text.index("| Prompt |") < text.index("Short of full marks:")
