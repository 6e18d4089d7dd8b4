"""The proof of a file: whoever changes, cuts or adds to it has none."""

import json
from pathlib import Path

import pytest

from proctor.engine.transfer.proof import Proof
from proctor.errors import SuiteError

KEY = b"k" * 32
LINES = [b'{"proctor":2}\n', b'{"case":1}\n', b'{"case":2}\n']


def sealed(lines: list[bytes], key: bytes = KEY) -> list[bytes]:
    proof = Proof(key)
    for line in lines:
        proof.take(line)
    return [*lines, json.dumps({"own": proof.written()}).encode() + b"\n"]


def check(path: Path, lines: list[bytes], key: bytes = KEY) -> None:
    path.write_bytes(b"".join(lines))
    Proof(key).check(path)


def test_what_the_store_wrote_is_its_own(tmp_path: Path) -> None:
    check(tmp_path / "run.jsonl", sealed(LINES))
    check(tmp_path / "empty.jsonl", sealed([]))


@pytest.mark.parametrize(
    ("lines", "key", "words"),
    [
        (sealed(LINES)[1:], KEY, "was changed"),
        ([*sealed(LINES)[:1], *sealed(LINES)[2:]], KEY, "was changed"),
        ([b'{"proctor":1}\n', *sealed(LINES)[1:]], KEY, "was changed"),
        ([*LINES[::-1], sealed(LINES)[-1]], KEY, "was changed"),
        ([*LINES, b"{}\n", sealed(LINES)[-1]], KEY, "was changed"),
        (sealed(LINES), b"x" * 32, "not one of this store"),
        (LINES, KEY, "was not exported with --own"),
        ([*sealed(LINES), b"{}\n"], KEY, "was not exported with --own"),
        ([*LINES, b'{"own":3}\n'], KEY, "was not exported with --own"),
        ([*LINES, b"not json\n"], KEY, "was not exported with --own"),
        ([], KEY, "was not exported with --own"),
    ],
)
def test_what_was_changed_or_comes_from_elsewhere_is_refused(
    tmp_path: Path, lines: list[bytes], key: bytes, words: str
) -> None:
    with pytest.raises(SuiteError, match=words):
        check(tmp_path / "run.jsonl", lines, key)
