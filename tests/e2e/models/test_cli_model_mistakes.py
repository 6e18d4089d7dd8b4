"""Wrong names, keys, servers and roles: one clear error each, and no key in it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from proctor.testing import Fault, Rule

Serve = Callable[..., Any]


# mistakes


def test_a_server_that_is_not_there(cities: Any, dead: str) -> None:
    done = cities("run", "suite.yaml", "--model", f"openai:m@{dead}", code=3)
    assert done.stderr.startswith(f"error: openai:m: {dead} cannot be reached")
    assert done.stderr.count("\n") == 1


def test_a_judge_that_is_not_there_is_found_out_first(
    manners: Any, dead: str, serve: Serve
) -> None:
    manners.answers([{"case": "one", "output": "x"}])
    with serve("Sir.") as server:
        for who in (("--model", server.at()), ("--answers", "answers.jsonl")):
            args = ("run", "suite.yaml", *who, "--judge", f"openai:j@{dead}")
            assert f"{dead} cannot be reached" in manners(*args, code=3).stderr
    assert server.calls == []


@pytest.mark.parametrize("role", ["model", "judge", "judge of answers"])
@pytest.mark.parametrize("key", ["", "sk-wrong-key"])
@pytest.mark.sampled(4)
def test_a_wrong_key(manners: Any, role: str, key: str, serve: Serve) -> None:
    manners.answers([{"case": "one", "output": "x"}])
    if key:
        manners.env["OPENAI_API_KEY"] = key
    with serve("Sir.", key="sk-right-key") as locked, serve("Sir.") as free:
        who = {
            "model": ("--model", locked.at(), "--judge", free.at()),
            "judge": ("--model", free.at(), "--judge", locked.at()),
            "judge of answers": ("--answers", "answers.jsonl", "--judge", locked.at()),
        }[role]
        done = manners("run", "suite.yaml", *who, code=2)
        shown = manners("run", "suite.yaml", *who, "--json", code=2)
    assert "refused (401): the key is missing or wrong" in done.stderr
    assert "fix: check the key in OPENAI_API_KEY" in done.stderr
    assert done.stderr.count("\n") == 1
    assert json.loads(shown.stdout)["error"]["kind"] == "ModelError"
    said = done.stdout + done.stderr + shown.stdout + shown.stderr
    assert "sk-" not in said
    assert locked.calls == free.calls == []


def test_a_key_goes_to_whom_it_was_meant_for_and_nowhere_else(cities: Any, serve: Serve) -> None:
    cities.env["OPENAI_API_KEY"] = "sk-right-key"
    with serve(key="sk-right-key") as server:
        done = cities("run", "suite.yaml", "--model", server.at(), "--record", "tape.jsonl")
        cities("export", "@last", "--out", "run.jsonl")
    assert {headers["authorization"] for headers in server.headers} == {"Bearer sk-right-key"}
    kept = [path for path in cities.folder.rglob("*") if path.is_file()]
    assert len(kept) >= 4
    assert not [path for path in kept if b"sk-right-key" in path.read_bytes()]
    assert "sk-right-key" not in done.stdout + done.stderr


@pytest.mark.parametrize("url", ["https://models.example/v1", "http://192.0.2.1:8000/v1"])
@pytest.mark.parametrize("role", ["model", "judge"])
def test_offline_reaches_nobody_else(manners: Any, url: str, role: str, serve: Serve) -> None:
    manners.env["OPENAI_API_KEY"] = "sk-right-key"
    with serve("Sir.") as server:
        far, near = f"openai:far@{url}", server.at()
        model, judge = (far, near) if role == "model" else (near, far)
        args = ("run", "suite.yaml", "--model", model, "--judge", judge, "--offline")
        done = manners(*args, code=2)
        assert done.stderr.startswith("error: --offline: ")
        assert url.split("/")[2].partition(":")[0] in done.stderr
        assert done.stderr.count("\n") == 1
    assert server.calls == []


def test_offline_reaches_this_machine(cities: Any, serve: Serve) -> None:
    with serve() as server:
        made = cities.json("run", "suite.yaml", "--model", server.at(), "--offline")
    assert made["totals"]["score"] == 3.0


def test_a_model_that_the_server_does_not_have_ends_the_run(cities: Any, serve: Serve) -> None:
    rules = [Rule(fault=Fault("error", status=404, message="no model 'm' here"))]
    with serve(rules=rules) as server:
        done = cities("run", "suite.yaml", "--model", server.at(), "--concurrency", "1", code=2)
        assert "no model 'm' here" in done.stderr
        assert "fix: check the model's name 'm'" in done.stderr
        assert len(server.calls) < 4


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--model", "gpt-4o"], "fix: write openai:gpt-4o"),
        (["--model", "openai:"], "does not say whose model it is"),
        (["--model", "opnai:gpt-4o"], "there is no model 'opnai' (did you mean 'openai'?)"),
        (["--model", "openai:m@http://"], "is no base URL"),
        (["--model", "openai:m@http://me:pass@x/v1"], "a user name or a password"),
        (["--model", "openai:m", "--answers", "suite.yaml"], "mutually exclusive"),
        (["--model", "openai:m", "--judge", "wise"], "'wise' does not say whose model it is"),
        (["--model", "openai:m", "--price", "m=1"], "--price: expected MODEL=IN/OUT"),
        (["--model", "openai:m", "--price", "m"], "expected NAME=VALUE, as in --price gpt-4o=2.5/10"),
        (["--model", "openai:m", "--header", "X"], "--header: expected NAME=VALUE"),
        (["--model", "openai:m", "--max-turns", "3"], "has no option 'max_turns'"),
        ([], "there is no candidate"),
    ],
)  # fmt: skip
def test_wrong_input(cities: Any, args: list[str], message: str) -> None:
    done = cities("run", "suite.yaml", *args, code=2)
    assert message in done.stderr
    assert "pass@" not in done.stderr
    assert done.stdout == ""


def test_a_missing_judge(manners: Any, dead: str, serve: Serve) -> None:
    done = manners("run", "suite.yaml", "--model", f"openai:m@{dead}", code=2)
    assert "fix: add --judge" in done.stderr
    assert manners("plan", "suite.yaml", "--model", f"openai:m@{dead}", code=2).stdout == ""
    suite = (manners.folder / "suite.yaml").read_text()
    shown = suite.replace("[{judged: It is polite.}]", "[one, {judged: It is polite., weight: 0}]")
    manners.write("suite.yaml", shown)
    with serve() as server:
        done = manners("run", "suite.yaml", "--model", server.at())
    assert "warning: there is no --judge" in done.stderr
