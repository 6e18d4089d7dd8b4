"""Which dialect reads a path, and which are loaded to find out."""

import subprocess
import sys
from pathlib import Path

import pytest

from proctor import origin_tables, registry
from proctor.core.suite import Spec
from proctor.engine.run import read_suite

FILES = {
    "infibench": [
        ("suite.yaml", "cases:\n  - cases/one.yaml\n"),
        ("suite.yml", "cases:\n- weight: 2\n  path: one.yml\nversion: 1\n"),
        ("suite.yaml", "attempt_reduce_mode: avg\ncases: []\n"),
        ("suite.yaml", "null_score_per_question: 0\ncases: []\n"),
        ("case.YAML", "id: 1\ngrading: {}\n"),
        ("case.yaml", "prompt_path: a.txt\n"),
    ],
    "taskweaver": [
        ("case.yaml", "eval_query: []\n"),
        ("case.yml", "app_dir: x\ntask_description: do it\n"),
    ],
    "bench": [
        ("rows.csv", "input,reference_output\na,b\n"),
        ("suite.json", '{"name": "' + "x" * 100_000 + '", "scoring_method": "exact_match"}'),
    ],
    "colossal": [("config.json", '{"language": "en", "category": {}}')],
    "askbench": [
        ("task.ini", "[model]\nmodel_name = x\n[tasks]\nenabled = a\n"),
        ("asks.jsonl", '{"task": "a", "id": "x", "vague": true, "ask_again": 1}\n'),
        ("test.jsonl", '{"id": 1, "ori_question": "ask", "expected_answer": "d"}\n'),
        ("rows.jsonl", '{"id": 1, "ori_question": "a", "degraded_question": "b",'
         ' "degraded_info": "c", "required_points": [], "expected_answer": "d"}\n'),
    ],
}  # fmt: skip
ROWS = [(dialect, *row) for dialect, rows in FILES.items() for row in rows]


@pytest.mark.parametrize(("dialect", "name", "text"), ROWS)
def test_a_file_that_a_dialect_recognises_bears_its_sign(
    tmp_path: Path, dialect: str, name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert registry.build("dialect", Spec(name=dialect)).recognises(path)
    assert read_suite.find_dialect(path).name == dialect


def test_every_dialect_of_an_origin_has_signs() -> None:
    assert set(origin_tables.signs()) == set(origin_tables.plugins("dialect")) == set(FILES)


@pytest.mark.parametrize(("name", "text"), [
    ("quiz.yaml", 'name: q\ncases:\n  - {ask: "a?", criteria: {contains: a}}\n'),
    ("quiz.jsonl", '{"id": "a", "ask": "a?", "criteria": {"contains": "a"}}\n'),
    ("quiz.jsonl", '{"suite": {"name": "q"}}\n{"ask": "a?"}\n'),
])  # fmt: skip
@pytest.mark.sampled(3)
@pytest.mark.slow
def test_no_origin_is_loaded_for_a_native_suite(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    code = (
        "import sys\nfrom pathlib import Path\nfrom proctor.engine.run import read_suite\n"
        f"assert read_suite.find_dialect(Path({name!r})).name == 'native'\n"
        "print([n for n in sys.modules if n.startswith('proctor.origins.') and n.count('.') > 2])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
