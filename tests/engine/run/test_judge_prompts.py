"""What a judge was shown, without a judge."""

import pytest

from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion, Message, Spec
from proctor.engine.run.judge_prompts import judge_messages


def shown(scorer: Spec, answer: str | None = "It is 7.") -> list[str]:
    criterion = Criterion(id="c", scorer=scorer)
    question = Message(role="user", content="What is 3 + 4?")
    case = Case(id="sum", messages=(question,), criteria=(criterion,))
    return [one.content for one in judge_messages(case, criterion, Attempt.of("sum", answer))]


def test_the_prompt_has_question_answer_and_criterion() -> None:
    (prompt,) = shown(Spec(name="judged", params={"question": "Is the sum right?"}))
    for part in ("What is 3 + 4?", "It is 7.", "Is the sum right?"):
        assert part in prompt


@pytest.mark.parametrize(
    ("scorer", "answer"),
    [
        (Spec(name="contains", params={"text": "7"}), "7"),
        (Spec(name="nobody_has_this"), "7"),
        (Spec(name="somewhere.else:scorer"), "7"),
        (Spec(name="judged", params={"question": "Is it?", "odd": 1}), "7"),
        (Spec(name="judged", params={"question": "Is it?"}), None),
    ],
)
def test_nothing_is_shown_where_no_judge_is_asked(scorer: Spec, answer: str | None) -> None:
    assert shown(scorer, answer) == []
