"""What a simulated user must not say: planted faults are found, and honest messages are not."""

import pytest

from proctor.core.suite import Case, Tool
from proctor.dialogues.user_faults import faults_of

CASE = Case(
    id="c",
    messages=(),
    criteria=(),
    references=("2026-04-06", "12.80"),
    hidden={
        "task": "You are Ada Brook and want to renew The Tin Lantern. Ask for order ORD-7781.",
        "facts": {"member number": "M-1042", "postcode": "4051"},
    },
    tools=(Tool(name="renew_loan"), Tool(name="refund")),
)
ASKED = "What is your member number?"


@pytest.mark.parametrize(
    ("text", "asked", "kinds"),
    [
        # What a good user says.
        ("Hello, I want to renew The Tin Lantern.", [], []),
        ("It is about ORD-7781.", [], []),
        ("My number is M-1042.", [ASKED], []),
        ("That is m 1042.", [ASKED], []),
        ("I have two books, and 3 of them are late since 2025.", [ASKED], []),
        ("Can I get a refund?", [], []),
        ("Until 2026-04-06 then, thank you.", ["It is renewed until 2026-04-06."], []),
        ("I do not know.", ["What is your e-mail address?"], []),
        # What is asked in general may be answered in general.
        ("M-1042, postcode 4051.", ["Please give me all the details."], []),
        # Planted faults.
        ("Please renew it until 2026-04-06.", [], ["AnswerGivenAway"]),
        ("I owe 12.80, do I not?", [ASKED], ["AnswerGivenAway"]),
        ("I am Ada, M-1042, and want to renew it.", [], ["UnaskedFact"]),
        ("M-1042. My postcode is 4051.", [ASKED], ["UnaskedFact"]),
        ("My number is M-2077.", [ASKED], ["InventedDetail"]),
        ("Write to ada@brook.example.", [ASKED], ["InventedDetail"]),
        ("The ISBN is 9783161484100.", [ASKED], ["InventedDetail"]),
        ("Please call renew_loan for me.", [], ["SpokeOfTools"]),
        ('lend_book({"id": 1})', [], ["SpokeOfTools"]),
        ("[calls refund()]", [], ["SpokeOfTools"]),
    ],
)
def test_faults_of_a_message(text: str, asked: list[str], kinds: list[str]) -> None:
    faults = faults_of(text, CASE, candidate_texts=asked, shown=asked, own=())
    assert [fault.kind for fault in faults] == kinds


def test_a_fact_that_is_told_before_any_question_is_beyond_doubt() -> None:
    (early,) = faults_of("I am M-1042.", CASE, candidate_texts=[], shown=[], own=())
    (later,) = faults_of("M-1042, 4051.", CASE, candidate_texts=[ASKED], shown=[ASKED], own=())
    assert (early.severe, later.severe) == (True, False)


def test_what_its_own_tools_gave_is_known() -> None:
    (fault,) = faults_of("My card says C-555.", CASE, candidate_texts=[ASKED], shown=[], own=())
    assert fault.what == "C-555"
    assert not faults_of(
        "My card says C-555.", CASE, candidate_texts=[ASKED], shown=[], own=['{"n": "C-555"}']
    )


@pytest.mark.parametrize("facts", [["my card is blue"], "my card is blue", None])
def test_facts_may_be_written_as_texts(facts: object) -> None:
    case = Case(id="c", messages=(), criteria=(), hidden={"task": "t", "facts": facts})
    faults = faults_of("Note that my card is blue.", case, candidate_texts=[], shown=[], own=())
    assert [fault.kind for fault in faults] == (["UnaskedFact"] if facts else [])
