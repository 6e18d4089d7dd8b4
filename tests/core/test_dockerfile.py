"""Dockerfiles are read as far as they can be followed."""

import pytest

from proctor.core.dockerfile import base_images, filled, instructions, last_workdir, unfollowed

TEXT = """# a comment
FROM debian:12 AS base

ENV A=1 \\
    B="two words"
WORKDIR /srv
workdir inner
COPY ["a b.txt", "/data/"]
RUN echo 1 && \\
    # a comment inside
    echo 2
"""


def test_instructions_are_joined_and_numbered() -> None:
    read = [(step.name, step.line) for step in instructions(TEXT)]
    names = ["FROM", "ENV", "WORKDIR", "WORKDIR", "COPY", "RUN"]
    assert read == list(zip(names, [2, 4, 6, 7, 8, 9], strict=True))
    steps = list(instructions(TEXT))
    assert steps[1].words == ["A=1", "B=two words"]
    assert steps[4].words == ["a b.txt", "/data/"]
    assert steps[5].text.split() == ["echo", "1", "&&", "echo", "2"]


def test_the_last_folder_counts() -> None:
    assert last_workdir(TEXT) == "/srv/inner"
    assert last_workdir("FROM x") == ""


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("FROM a\nFROM b", 2, "stages"),
        ("FROM a\nCOPY --from=b /x /y", 2, "another image"),
        ("FROM a\nADD https://example.org/x /x", 2, "an address"),
        ("FROM a\nRUN <<END\nls\nEND", 2, "a text of its own"),
        ("FROM a\nONBUILD RUN ls", 2, "ONBUILD"),
    ],
)
def test_what_only_an_engine_can_follow(text: str, line: int, what: str) -> None:
    found = next(iter(unfollowed(text)))
    assert found[0] == line
    assert what in found[1]


def test_the_rest_can_be_followed() -> None:
    assert not list(unfollowed(TEXT))


def test_variables_are_filled_in() -> None:
    assert filled("$A ${B} ${C:-c} $D", {"A": "1", "B": "2"}) == "1 2 c "


@pytest.mark.parametrize(
    ("text", "images"),
    [
        ("FROM debian:12\nRUN echo from=here", ["debian:12"]),
        ("ARG V=3.13\nFROM python:${V}-slim AS base\nFROM base\n", ["python:3.13-slim"]),
        ("FROM --platform=linux/amd64 a AS one\nFROM b\nCOPY --from=one /x /x\n", ["a", "b"]),
        (
            "FROM scratch\nCOPY --from=ghcr.io/astral-sh/uv:0.9 /uv /bin/\n",
            ["ghcr.io/astral-sh/uv:0.9"],
        ),
        ("FROM a\nFROM b\nCOPY --from=0 /x /x\n", ["a", "b"]),
        ("FROM a\nRUN --mount=type=bind,from=c,target=/c cp /c/x /\n", ["a", "c"]),
        ("", []),
    ],
)
def test_images_that_are_built_upon(text: str, images: list[str]) -> None:
    assert list(base_images(text)) == images
