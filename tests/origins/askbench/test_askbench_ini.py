"""INI files of AskBench: how they are read, merged, and found wanting."""

from configparser import ConfigParser
from pathlib import Path

import pytest

from proctor.errors import SuiteError
from proctor.origins.askbench.ini import IniValues, check_keys, merged, read_ini

PLAIN = """\
# a comment
[Model]
; another
API_URL = http://127.0.0.1:1/v1
api_type: qwen
empty =
two = first
  second

  third
spaced   =   a = b : c

[tasks]
enabled = a, b
"""


def ini(folder: Path, text: str, name: str = "base.ini") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_values_are_those_of_configparser(tmp_path: Path) -> None:
    path = ini(tmp_path, PLAIN)
    known = ConfigParser(interpolation=None)
    known.read(path)
    found = {
        section: {key: entry.text for key, entry in entries.items()}
        for section, entries in read_ini(path).sections.items()
    }
    assert found == {section: dict(known[section]) for section in known.sections()}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"quoted"', "quoted"),
        ('""', ""),
        ('"', '"'),
        ('"a" and "b', '"a" and "b'),
        ("'single'", "'single'"),
        ("100% sure", "100% sure"),
        ("100%% sure", "100% sure"),
        ("%(api_type)s", "%(api_type)s"),
    ],
)
def test_quotes_and_percent_signs(tmp_path: Path, written: str, value: str) -> None:
    found = read_ini(ini(tmp_path, f"[model]\nsystem_prompt = {written}\n"))
    assert found.sections["model"]["system_prompt"].text == value


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[model]\na = 1\nA = 2\n", 3, "the key 'a' is already on line 2"),
        ("[model]\n[tasks]\n[model]\n", 3, "the section [model] is already on line 1"),
        ("a = 1\n[model]\n", 1, "a key stands before the first [section]"),
        ("[model]\nnothing here\n", 2, "neither [section] nor key = value"),
        ("[model]\n= 3\n", 2, "neither [section] nor key = value"),
    ],
)
def test_lines_that_cannot_be_read(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(SuiteError) as caught:
        read_ini(ini(tmp_path, text))
    (problem,) = caught.value.problems
    assert message in problem.message
    assert (problem.file, problem.line) == (str(tmp_path / "base.ini"), line)


def test_all_broken_lines_are_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as caught:
        read_ini(ini(tmp_path, "x = 1\n[model]\nwhat\na = 1\na = 2\n"))
    assert [problem.line for problem in caught.value.problems] == [1, 3, 5]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[model]\napi_ulr = x\n", "unknown key 'api_ulr' in [model]", "did you mean 'api_url'?"),
        ("[path]\ndatadir = x\n", "unknown key 'datadir' in [path]", "did you mean 'data_dir'?"),
        (
            "[evalutorconfig]\n",
            "unknown section [evalutorconfig]",
            "did you mean 'evaluatorconfig'?",
        ),
        ("[MODEL]\n", "unknown section [MODEL]", "did you mean 'model'?"),
    ],
)
def test_unknown_keys_and_sections(tmp_path: Path, text: str, message: str, hint: str) -> None:
    (problem,) = check_keys(read_ini(ini(tmp_path, text)), {"math500"})
    assert problem.message == message
    assert hint in problem.hint
    assert problem.line == (1 if "section" in message else 2)


def test_a_free_section_may_hold_any_key(tmp_path: Path) -> None:
    found = read_ini(ini(tmp_path, "[math500]\nwhatever = 1\n"))
    assert list(check_keys(found, {"math500"})) == []


@pytest.mark.parametrize(
    "text",
    [
        "[model]\nsk_tokn = sk-abc-123\n",
        "[model]\nsk_token = sk-abc-123\ntimeout = x\n",
        '[model]\nheaders = {"x": "sk-abc-123"}\ntimeout = x\n',
        "[model]\napi_url = http://me:sk-abc-123@127.0.0.1/\ntimeout = x\n",
    ],
)
def test_no_secret_is_shown(tmp_path: Path, text: str) -> None:
    found = read_ini(ini(tmp_path, text))
    values = IniValues(sections=found.sections)
    values.seconds("model", 1.0)
    problems = [*check_keys(found, ()), *values.findings.errors]
    for entry in found.sections["model"].values():
        problems.append(entry.problem("something"))
        assert "abc-123" not in repr(entry)
    assert problems
    assert not any("abc-123" in str(problem) + repr(problem) for problem in problems)


def test_merging_goes_key_by_key(tmp_path: Path) -> None:
    base = read_ini(ini(tmp_path, "[model]\na = base\nb = base\n[path]\nc = base\n"))
    task = read_ini(ini(tmp_path, "[model]\nb = task\n[evalset]\nd = task\n", "task.ini"))
    found = merged(base.sections, task.sections)
    texts = {s: {k: e.text for k, e in entries.items()} for s, entries in found.items()}
    assert texts == {
        "model": {"a": "base", "b": "task"},
        "path": {"c": "base"},
        "evalset": {"d": "task"},
    }
    assert found["model"]["b"].path.name == "task.ini"
    assert found["model"]["a"].path.name == "base.ini"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("max_turns = 4", ""),
        ("max_turns = four", "expected a whole number for 'max_turns'"),
        ("max_turns = 0", "'max_turns' must be at least 1"),
        ("temperature = nan", "expected a number for 'temperature'"),
        ("temperature = hot", "expected a number for 'temperature'"),
        ("temperature = -0.5", "'temperature' must be at least 0"),
        ("strict_mode = perhaps", "expected true or false for 'strict_mode'"),
        ("timeout = 0", "'timeout' must be at least 0.001"),
    ],
)
def test_typed_values(tmp_path: Path, text: str, wrong: str) -> None:
    found = read_ini(ini(tmp_path, f"[evaluatorconfig]\n{text}\n"))
    values = IniValues(sections=found.sections)
    turns = values.whole("evaluatorconfig", "max_turns", 3, least=1)
    values.number("evaluatorconfig", "temperature", 0.1)
    values.flag("evaluatorconfig", "strict_mode", False)
    values.seconds("evaluatorconfig", 600.0)
    assert [problem.message for problem in values.findings.errors] == ([wrong] if wrong else [])
    assert turns == (3 if wrong else 4)
