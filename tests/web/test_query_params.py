"""Query parameters: an invalid one is an error that names it, never guessed."""

import pytest
from starlette.requests import Request

from proctor.errors import UsageError
from proctor.web.addresses import one_of, whole_number


def request(query: str) -> Request:
    return Request({"type": "http", "query_string": query.encode(), "headers": []})


@pytest.mark.parametrize(
    ("query", "number"),
    [("", 7), ("n=", 7), ("n=0", 0), ("n=-3", -3), ("n=2147483647", 2147483647), ("m=3", 7)],
)
def test_a_whole_number_or_its_default(query: str, number: int) -> None:
    assert whole_number(request(query), "n", 7) == number


@pytest.mark.parametrize(
    "text", ["x", "1.5", "1e3", "2147483648", "-2147483648", "9" * 5000, "0x10", "NaN"]
)
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="n must be a whole number"):
        whole_number(request(f"n={text}"), "n", 7)


def test_one_of_some_words_and_the_first_by_default() -> None:
    choices = ("", "up", "down")
    assert one_of(request("order=down"), "order", choices) == "down"
    assert one_of(request("order="), "order", choices) == ""
    assert one_of(request(""), "order", choices[1:]) == "up"
    with pytest.raises(UsageError, match="order must be one of: up, down"):
        one_of(request("order=Up"), "order", choices)
