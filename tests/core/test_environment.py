"""Files of tasks travel as JSON, and come back as they were."""

import pytest

from proctor.core.environment import SETUP, EnvironmentNeeds, packed_file, unpacked_file
from proctor.core.suite import Case
from proctor.io import json_bytes


@pytest.mark.parametrize("executable", [False, True])
@pytest.mark.parametrize("content", [b"", b"text\n", "ä".encode(), b"\xff\x00"])
def test_files_come_back(content: bytes, executable: bool) -> None:
    entry = json_bytes.loads(json_bytes.dumps(packed_file(content, executable=executable)))
    assert unpacked_file(entry) == (content, executable)


def test_needs_are_read_from_a_case() -> None:
    case = Case(id="c", messages=(), criteria=())
    assert EnvironmentNeeds.of(case) is None
    setup = {SETUP: {"workdir": "/w", "hosts": ["a"]}}
    needs = EnvironmentNeeds.of(Case(id="c", messages=(), criteria=(), setup=setup))
    assert needs == EnvironmentNeeds(workdir="/w", hosts=("a",))
