"""Messages of the engine in the words of Python."""

import pytest

import proctor
from proctor import ProctorError
from proctor.api.python_words import python_words, told_in_python
from proctor.errors import MissingResource, SuiteError
from proctor.scorers import Judged


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("--attempts must be at least 1", "attempts must be at least 1"),
        ("fix: add --judge openai:NAME, or a", "fix: add judge='openai:NAME', or a"),
        ("fix: --attempts 5)", "fix: attempts=5)"),
        ("fix: --max-cost 2.5.", "fix: max_cost=2.5."),
        ("name another store with --store)", "name another store with store=)"),
        ("what differs; or --force)", "what differs; or force=True)"),
        ("--offline: nothing may be sent", "offline: nothing may be sent"),
        ("use --sandbox docker)", "use sandbox='docker')"),
        ("fix: --columns ask=A,reference=B", "fix: columns={'A': 'ask', 'B': 'reference'}"),
        ("proctor serve --port 80", "proctor serve --port 80"),
        ("a -- b", "a -- b"),
    ],
)
def test_options_have_the_names_of_parameters(text: str, words: str) -> None:
    assert python_words(text) == words


def test_errors_are_worded_and_stay_what_they_are() -> None:
    with pytest.raises(SuiteError) as raised, told_in_python():
        raise SuiteError("needs --judge openai:NAME")
    assert "judge='openai:NAME'" in str(raised.value)
    assert len(raised.value.problems) == 1


def test_whoever_calls_a_function_is_told_of_its_parameters() -> None:
    with pytest.raises(MissingResource, match="add judge='openai:NAME'"):
        proctor.evaluate([("a", "b")], lambda question: "b", criteria=Judged("Right?"))
    with pytest.raises(MissingResource, match="add judge='openai:NAME'"):
        proctor.Grader([("a", "b")], criteria=Judged("Right?"))
    one = proctor.evaluate([("a", "b")], lambda question: "b")
    other = proctor.evaluate([("a", "b")], lambda question: "b", criteria={"contains": "b"})
    with pytest.raises(ProctorError, match=r"cannot be compared.*or force=True"):
        proctor.compare(one, other, force=False)
    with pytest.warns(UserWarning, match="not alike: other question, criteria or weight") as told:
        assert proctor.compare(one, other).warnings
    assert told[0].filename == __file__
    assert proctor.compare(one, other, force=True).difference == 0
