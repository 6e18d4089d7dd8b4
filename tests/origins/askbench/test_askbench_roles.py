"""Who plays which role, by the INI files of AskBench."""

from pathlib import Path

import pytest

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.engine.models.access import FLAGS, credentials_for
from proctor.errors import Problem, UsageError
from proctor.origins.askbench.ini import IniValues, merged, read_ini
from proctor.origins.askbench.roles import RoleReader

URL = "http://127.0.0.1:9/v1"


def roles(
    folder: Path, text: str, task: str = "", **how: object
) -> tuple[dict[str, ModelChoice], list[Problem], list[Problem]]:
    """Read the roles of a base INI with a task's INI over it."""
    files = []
    for name, content in (("base.ini", text), ("task.ini", task)):
        (folder / name).write_text(content)
        files.append(read_ini(folder / name).sections)
    values = IniValues(sections=merged(*files))
    settings = {"compat": "", "several_turns": False, **how}
    warnings: list[Problem] = []
    reader = RoleReader(values=values, **settings)  # type: ignore[arg-type]
    found = reader.roles()
    wrong = [problem for role in reader.unusable.values() for problem in role.problems]
    return found, [*values.findings.errors, *wrong], warnings


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        (f"api_type = qwen\napi_url = {URL}", f"openai:qwen@{URL}"),
        (f"api_type = gpt-x\nmodel_name = default\napi_url = {URL}", f"openai:gpt-x@{URL}"),
        (f"api_type = none\nmodel_name = mine\napi_url = {URL}", f"openai:mine@{URL}"),
        (f"api_type = none\napi_url = {URL}", f"openai:none@{URL}"),
        (f"api_url = {URL}", f"openai:none@{URL}"),
        (f"model_name = default\napi_url = {URL}", f"openai:default@{URL}"),
        (f'api_type = "q"\napi_url = "{URL}, {URL}/b"', f"openai:q@{URL},{URL}/b"),
        ("model_name = gpt-x", "openai:gpt-x"),
        ("api_type = none", None),
        ("api_type = default", None),
        ("model_name = default", None),
        ("", None),
    ],
)
def test_the_model_that_is_examined(tmp_path: Path, text: str, spec: str | None) -> None:
    found, problems, _ = roles(tmp_path, f"[model]\n{text}\n")
    assert problems == []
    assert (found["candidate"].spec if "candidate" in found else None) == spec


FULL = f"""\
[model]
api_type = qwen
api_url = {URL}
sk_token = key-1
timeout = 30
system_prompt = Be brief.
extra_prompt = Think.
enable_thinking = false
headers = {{"x-team": "a"}}
[generateconfig]
temperature = 0.7
max_tokens = 16000
max_concurrent = 7
top_p = 0.8
top_k = 20
[evaluatorconfig]
api_type = judge
api_url = {URL}
sk_token = none
time_out = 60
temperature = 0
max_new_tokens = 100
max_concurrent = 3
system_prompt = You judge.
top_k = 5
[simulatorconfig]
api_type = user
api_url = {URL}
"""


def test_all_settings_of_a_role(tmp_path: Path) -> None:
    found, problems, warnings = roles(tmp_path, FULL)
    assert problems == warnings == []
    off = {"chat_template_kwargs": {"enable_thinking": False}}
    assert found["candidate"] == ModelChoice(
        spec=f"openai:qwen@{URL}",
        sampling=Sampling(temperature=0.7, max_tokens=16000, top_p=0.8, top_k=20, extra=off),
        access=found["candidate"].access,
        concurrency=7,
        timeout=30.0,
        system="Be brief.",
        suffix="Think.",
    )
    assert "key-1" not in repr(found)
    sent = credentials_for(found["candidate"])
    assert (sent.key, dict(sent.headers), sent.environment) == ("key-1", {"x-team": "a"}, False)
    assert found["judge"] == ModelChoice(
        spec=f"openai:judge@{URL}",
        sampling=Sampling(temperature=0.0, max_tokens=100, top_p=1.0, top_k=5),
        access=found["judge"].access,
        concurrency=3,
        timeout=60.0,
        system="You judge.",
    )
    assert found["simulator"].sampling == Sampling(temperature=0.3, max_tokens=1024, top_p=1.0)


def test_as_the_original_asks(tmp_path: Path) -> None:
    single, _, _ = roles(tmp_path, FULL, compat="original")
    assert (single["candidate"].system, single["candidate"].suffix) == ("Be brief.", "Think.")
    assert single["candidate"].sampling.extra == {}
    assert (single["judge"].system, single["judge"].sampling.top_k) == ("", None)
    several, _, _ = roles(tmp_path, FULL, compat="original", several_turns=True)
    assert (several["candidate"].system, several["candidate"].suffix) == ("", "")
    in3, _, _ = roles(tmp_path, FULL, compat="original", simulator_is_judge=True)
    assert "simulator" not in in3
    assert "simulator" in roles(tmp_path, FULL, simulator_is_judge=True)[0]


def test_what_holds_where_nothing_is_written(tmp_path: Path) -> None:
    text = f"[model]\napi_url = {URL}\n[evaluatorconfig]\napi_url = {URL}\n"
    found, _, _ = roles(tmp_path, text)
    assert found["candidate"].sampling == Sampling(temperature=0.6, max_tokens=4096)
    assert found["judge"].sampling == Sampling(temperature=0.1, max_tokens=2048, top_p=1.0)
    assert (found["candidate"].concurrency, found["judge"].concurrency) == (15, 10)
    assert found["candidate"].timeout == 600.0
    minus = f"[model]\napi_url = {URL}\n[generateconfig]\ntop_p = -1\ntop_k = -1\n"
    sampling = roles(tmp_path, minus)[0]["candidate"].sampling
    assert (sampling.top_p, sampling.top_k) == (None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model_type = vllm", "model_type is 'vllm': only 'api' is known"),
        ("api_url = 127.0.0.1:8000", "this is no address of a server"),
        ("api_url = ftp://h/v1", "this is no address of a server"),
        ("api_url = http://", "this is no address of a server"),
        ("api_url = http://h:99999/v1", "this is no address of a server"),
        ("api_url = http://me:pw-1@h/v1", "the address carries a user name or a password"),
        ("headers = x: y", "expected a JSON object of strings for 'headers'"),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    more = "" if "api_url" in text else f"api_url = {URL}\n"
    _, problems, _ = roles(tmp_path, f"[model]\n{more}{text}\n")
    (problem,) = problems
    assert problem.message == message
    assert problem.line == (3 if more else 2)
    assert "pw-1" not in str(problem)


ELSEWHERE = "https://elsewhere.example/v1"


@pytest.mark.parametrize("section", ["model", "evaluatorconfig", "simulatorconfig"])
@pytest.mark.parametrize("held", ["sk_token = key-1", 'headers = {"authorization": "key-1"}'])
@pytest.mark.parametrize("swapped", [False, True])
def test_what_is_sent_keeps_its_own_file(
    tmp_path: Path, section: str, held: str, swapped: bool
) -> None:
    """Neither file may send what it holds to an address of the other."""
    files = [f"[{section}]\n{held}\n", f"[{section}]\napi_type = x\napi_url = {ELSEWHERE}\n"]
    found, problems, warnings = roles(tmp_path, *(reversed(files) if swapped else files))
    assert problems == warnings == []
    (choice,) = found.values()
    role = next(iter(found))
    assert "key-1" not in repr(choice)
    with pytest.raises(UsageError) as caught:
        credentials_for(choice, role)
    message = str(caught.value)
    assert f"{tmp_path / 'base.ini'}:" in message
    assert f"{tmp_path / 'task.ini'}:" in message
    assert FLAGS[role] in message
    assert held.partition(" ")[0] in message
    assert "key-1" not in message


def test_one_file_that_holds_both_is_taken_at_its_word(tmp_path: Path) -> None:
    base = f"[model]\napi_url = {URL}\nsk_token = key-1\n"
    both = f"[model]\napi_url = {ELSEWHERE}\nsk_token = key-2\n"
    sent = credentials_for(roles(tmp_path, base, both)[0]["candidate"])
    assert (sent.key, sent.environment) == ("key-2", False)
    none = f"[model]\napi_url = {ELSEWHERE}\nsk_token = none\n"
    assert credentials_for(roles(tmp_path, base, none)[0]["candidate"]).key == ""


@pytest.mark.parametrize(
    ("key", "more"),
    [("model_name", ""), ("model_name", f"api_url = {URL}"), ("api_type", f"api_url = {URL}")],
)
def test_a_name_does_not_smuggle_an_address_in(tmp_path: Path, key: str, more: str) -> None:
    base = f"[model]\nsk_token = key-1\n{more}\n"
    found, problems, _ = roles(tmp_path, base, f"[model]\n{key} = gpt@{ELSEWHERE}\n")
    assert "candidate" not in found
    (problem,) = problems
    assert "holds an address" in problem.message
    assert problem.field == key


def test_a_key_without_an_address_stays_with_the_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    choice = roles(tmp_path, "[model]\nmodel_name = gpt-x\nsk_token = key-1\n")[0]["candidate"]
    assert credentials_for(choice).key == "key-1"
    monkeypatch.setenv("OPENAI_BASE_URL", ELSEWHERE)
    with pytest.raises(UsageError, match="the environment variable OPENAI_BASE_URL names"):
        credentials_for(choice)
