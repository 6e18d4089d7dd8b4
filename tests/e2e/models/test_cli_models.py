"""run and plan with models: what reaches the server, sweeps, cassettes, money, several tasks."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.testing import Answer, Fault, Rule

Serve = Callable[..., Any]
YES = '{"reason": "because yes", "result": "yes"}'
NO = '{"reason": "because no", "result": "no"}'


def stable(made: Any) -> Any:
    """Return what must be the same in two runs of the same replies."""
    return {name: made[name] for name in ("totals", "measures", "groups", "usage")}


# a run with a model


def test_a_model_is_examined(cities: Any, serve: Serve) -> None:
    with serve() as server:
        flags = ("--temperature", "0.5", "--max-tokens", "9", "--seed", "3", "--top-p", "0.9")
        made = cities.json("run", "suite.yaml", "--model", server.at(), *flags, "--cases")
        totals = made["totals"]
        assert (totals["score"], totals["rate"], totals["errors"]) == (3.0, 0.75, 0)
        assert made["run"]["name"] == "cities-openai:m"
        assert made["run"]["candidate"] == "openai:m"
        assert made["run"]["status"] == "complete"
        assert "sampling:max_tokens=9,seed=3,temperature=0.5,top_p=0.9" in made["run"]["signature"]
        assert made["measures"]["accuracy"]["value"] == 0.75
        usage = made["usage"]
        assert (usage["calls"], usage["cost"]) == (4, 0.0)
        assert usage["prompt_tokens"] == sum(len(f"Say {c}.") // 4 + 1 for c in ("Paris", "Lyon", "Nice", "Metz"))  # fmt: skip
        assert usage["roles"] == {"candidate": {name: usage[name] for name in usage if name != "roles"}}  # fmt: skip
        body = server.calls[0].body
        assert {name: body[name] for name in ("model", "temperature", "max_tokens", "seed", "top_p")} == {
            "model": "m", "temperature": 0.5, "max_tokens": 9, "seed": 3, "top_p": 0.9,
        }  # fmt: skip
        again = cities.json("run", "suite.yaml", "--model", server.at(), *flags)
        assert stable(again) == stable(made)
        assert len(server.calls) == 4
        assert "Calls: 4 (4 candidate)" in cities("report", "@last").stdout


def test_what_is_not_said_is_not_sent(cities: Any, serve: Serve) -> None:
    with serve() as server:
        cities("run", "suite.yaml", "--model", server.at(), "--limit", "1")
    assert server.calls[0].body.keys() == {"model", "messages"}
    assert server.calls[0].body["messages"] == [{"role": "user", "content": "Say Paris."}]


def test_several_models_make_a_run_each(cities: Any, serve: Serve) -> None:
    with serve(roles={"good": None, "bad": "Never."}) as server:
        models = ("--model", server.at("good"), "--model", server.at("bad"))
        made = cities.json("run", "suite.yaml", *models)
        assert made.keys() == {"runs"}
        assert [(run["run"]["candidate"], run["totals"]["rate"]) for run in made["runs"]] == [
            ("openai:good", 0.75), ("openai:bad", 0.0),
        ]  # fmt: skip
        table = cities("run", "suite.yaml", *models, "--gate", "rate > 0.5", code=1)
        assert "gate missed" in table.stderr
        assert table.stdout.index("openai:good") < table.stdout.index("openai:bad")
        assert "--name is for one run" in cities("run", "suite.yaml", *models, "--name", "x", code=2).stderr  # fmt: skip
        plans = cities.json("plan", "suite.yaml", *models, "--attempts", "2")["plans"]
        assert [(plan["attempts"], plan["attempts_stored"]) for plan in plans] == [(8, 4), (8, 4)]
    assert len(server.calls) == 8


@pytest.mark.parametrize("attempts", [1, 3])
def test_attempts(cities: Any, attempts: int, serve: Serve) -> None:
    with serve() as server:
        flags = ("--attempts", str(attempts))
        made = cities.json("run", "suite.yaml", "--model", server.at(), *flags)
    assert made["totals"]["attempts"] == len(server.calls) == 4 * attempts
    assert ("pass@1" in made["measures"]) is (attempts > 1)


def test_an_attempt_that_failed_is_made_by_the_same_command(cities: Any, serve: Serve) -> None:
    rules = [
        Rule(fault=Fault("error", status=400, message="no lions"), matching="Lyon", tries=(1,))
    ]
    with serve(rules=rules) as server:
        args = ("run", "suite.yaml", "--model", server.at())
        done = cities(*args, code=3)
        assert " attempts failed; the same command retries them" in done.stderr
        assert "no lions" in cities("show", "@last", "lyon").stdout
        made = cities.json(*args)
    assert (made["run"]["status"], made["totals"]["score"]) == ("complete", 3.0)
    assert len(server.calls) == 5


# what reaches the server


def test_pictures_examples_roles_and_headers(cli: Any, serve: Serve) -> None:
    dot = b"\x89PNG dot"
    (cli.folder / "dot.png").write_bytes(dot)
    cli.write(
        "suite.yaml",
        """\
name: seen
system: Be brief.
examples:
  - {ask: "1 + 1?", answer: "2"}
criteria: x
cases:
  - {id: picture, ask: "What is it?", images: [dot.png, "https://pictures.example/cat.jpg"]}
  - {id: bare, ask: "2 + 2?", examples: []}
  - id: written
    examples: []
    messages:
      - {role: developer, content: Answer in French.}
      - {role: user, content: "Which?", images: dot.png}
      - {role: assistant, content: That.}
      - {role: user, content: "Sure?"}
""",
    )
    with serve("x") as server:
        flags = ("--system", "Be kind.", "--header", "X-Team=red", "--header", "X-Sum=1=1")
        cli("run", "suite.yaml", "--model", server.at(), *flags)
    data = f"data:image/png;base64,{base64.b64encode(dot).decode()}"
    picture = {"type": "image_url", "image_url": {"url": data}}
    link = {"type": "image_url", "image_url": {"url": "https://pictures.example/cat.jpg"}}
    kind, brief = ({"role": "system", "content": f"Be {how}."} for how in ("kind", "brief"))
    sent = {len(body["messages"]): body["messages"] for body in server.asked()}
    assert sent == {
        5: [
            kind,
            brief,
            {"role": "user", "content": "1 + 1?"},
            {"role": "assistant", "content": "2"},
            {"role": "user", "content": [{"type": "text", "text": "What is it?"}, picture, link]},
        ],
        3: [kind, brief, {"role": "user", "content": "2 + 2?"}],
        6: [
            kind,
            brief,
            {"role": "developer", "content": "Answer in French."},
            {"role": "user", "content": [{"type": "text", "text": "Which?"}, picture]},
            {"role": "assistant", "content": "That."},
            {"role": "user", "content": "Sure?"},
        ],
    }
    assert [(h["x-team"], h["x-sum"]) for h in server.headers] == [("red", "1=1")] * 3
    stored = b"".join(path.read_bytes() for path in (cli.folder / ".proctor").iterdir())
    assert b"X-Team" not in stored


def test_anthropic_is_asked_in_its_own_way(cities: Any, serve: Serve) -> None:
    with serve() as server:
        cities.env["ANTHROPIC_API_KEY"] = "key-of-mine"
        model = f"anthropic:claude@{server.url}"
        made = cities.json("run", "suite.yaml", "--model", model, "--system", "S")
    assert made["totals"]["score"] == 3.0
    assert {call.path for call in server.calls} == {"/v1/messages"}
    assert {body["system"] for body in server.asked()} == {"S"}
    assert {headers["x-api-key"] for headers in server.headers} == {"key-of-mine"}


# cassettes


def test_a_cassette_gives_the_same_numbers_without_a_server(manners: Any, serve: Serve) -> None:
    with serve("Sir.", roles={"judge": [("Say two", NO), ("", YES)]}) as server:
        args = ("run", "suite.yaml", "--model", server.at(), "--judge", server.at("judge"))
        first = manners.json(*args)
        again = manners.json(*args, "--record", "tapes/one.jsonl")  # all of it from the store
        assert len(server.calls) == 6
    tape = manners.folder / "tapes" / "one.jsonl"
    assert len(tape.read_text().splitlines()) == 6
    replay = ("--model", "replay:tapes/one.jsonl", "--judge", "replay:tapes/one.jsonl")
    flags = ("--offline", "--store", "elsewhere.db")
    played = manners.json("run", "suite.yaml", *replay, *flags)
    assert stable(first) == stable(again) == stable(played)
    assert played["run"]["candidate"] == "replay:tapes/one.jsonl"
    suite = (manners.folder / "suite.yaml").read_text()
    manners.write("suite.yaml", suite.replace("Say two", "Say 2"))
    done = manners("run", "suite.yaml", *replay, *flags, code=3)
    assert " attempts failed; the same command retries them" in done.stderr
    shown = manners("show", "@last", "two", "--store", "elsewhere.db").stdout
    assert "has no reply to this request (for two#0): 'Say 2.'" in shown


def test_a_cassette_that_is_not_there(cities: Any) -> None:
    done = cities("run", "suite.yaml", "--model", "replay:gone.jsonl", code=2)
    assert done.stderr == "error: replay:gone.jsonl: No such file or directory\n"


def test_a_plan_writes_nothing(cities: Any, dead: str) -> None:
    cities("plan", "suite.yaml", "--model", f"openai:m@{dead}", "--record", "tape.jsonl")
    assert [path.name for path in cities.folder.iterdir()] == ["suite.yaml"]


# money


def paid(messages: list[Any], body: Any) -> Answer:
    return Answer(messages[-1]["content"], tokens=(1000, 0))


def test_money_stops_a_run_and_more_money_goes_on(cities: Any, serve: Serve) -> None:
    with serve(paid) as server:
        price = ("--price", "m=1000/0", "--concurrency", "1")  # a dollar a call
        args = ("run", "suite.yaml", "--model", server.at(), *price)
        for _ in range(2):  # the same limit once more buys nothing more
            done = cities(*args, "--max-cost", "2.5", "--json", code=3)
            made = json.loads(done.stdout)
            assert (made["run"]["status"], made["totals"]["errors"]) == ("incomplete", 2)
            assert made["usage"]["cost"] == 2.0
            assert "what is left of the 2.5 dollars of --max-cost (0.500000)" in done.stderr
            assert "2.0000 spent so far" in done.stderr
            assert len(server.calls) == 2
        left = cities.json("plan", *args[1:])["usage"]
        assert (left["calls"], left["range"]["calls"]) == (2, [2, 2, 2])
        made = cities.json(*args, "--max-cost", "4")
    assert (made["run"]["status"], made["usage"]["cost"]) == ("complete", 4.0)
    assert len(server.calls) == 4
    assert server.finished_twice() == []


def test_money_for_judges(manners: Any, serve: Serve) -> None:
    with serve("Sir.", roles={"judge": YES}) as server:
        judge = ("--judge", server.at("judge"), "--price", "judge=1000/0", "--price", "m=0/0")
        args = ("run", "suite.yaml", "--model", server.at(), *judge)
        call = manners.json(*args, "--limit", "1")["usage"]["cost"]
        for _ in range(2):
            made = manners.json(*args, "--max-cost", str(1.5 * call), code=3)
            assert (made["run"]["status"], made["totals"]["unscored"]) == ("incomplete", 2)
            assert len(server.asked("judge")) == 1
        made = manners.json(*args, "--max-cost", str(3.5 * call))
    assert (made["run"]["status"], made["totals"]["score"]) == ("complete", 3.0)
    assert made["usage"]["cost"] == pytest.approx(3 * call, rel=0.1)
    assert (len(server.asked()), len(server.asked("judge"))) == (3, 3)


def test_money_needs_prices(cities: Any) -> None:
    done = cities("run", "suite.yaml", "--model", "openai:m@https://a.example", "--max-cost", "1", code=2)  # fmt: skip
    assert done.stderr == (
        "error: --max-cost cannot be enforced: no price is known for openai:m (fix: add --price"
        " 'openai:m=IN/OUT', in dollars per million tokens; 0/0 where it costs nothing)\n"
    )


def test_the_plan_in_words(manners: Any, dead: str) -> None:
    models = ("--model", f"openai:m@{dead}", "--judge", "openai:nobody@https://far.example")
    plan = manners("plan", "suite.yaml", *models).stdout
    assert "calls     6 (6 to 12)" in plan
    assert "candidate: 3" in plan
    assert "judge: 3 (3 to 9)" in plan
    assert "cost      unknown (fix: --price MODEL=IN/OUT)" in plan
    priced = manners("plan", "suite.yaml", *models, "--price", "nobody=1/1").stdout
    assert "cost      $" in priced


# several tasks in one file


@pytest.fixture
def tasks(cli: Any) -> Callable[[str], str]:
    """Write an INI with two tasks, for a server."""

    def write(url: str) -> str:
        for name, answers in {"math500": ["4", "5"], "medqa": ["B"]}.items():
            rows = [
                {"ori_question": f"{name} {n}?", "expected_answer": answer}
                for n, answer in enumerate(answers)
            ]
            place: Path = cli.folder / "data" / name
            place.mkdir(parents=True)
            (place / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(
            cli.write(
                "base.ini",
                f"[model]\napi_type = m\napi_url = {url}\n[tasks]\nenabled = math500, medqa\n"
                f"[path]\ndata_dir = data\n[evaluatorconfig]\napi_type = j\napi_url = {url}\n",
            )
        )

    return write


def test_check_and_convert_of_several_tasks(cli: Any, tasks: Callable[[str], str]) -> None:
    base = tasks("http://127.0.0.1:9/v1")
    found = cli.json("check", base)["suites"]
    assert [(one["suite"], one["cases"], one["counts"]["error"]) for one in found] == [
        ("math500", 2, 0), ("medqa", 1, 0),
    ]  # fmt: skip
    assert cli("check", base).stdout.splitlines() == [
        "math500: 2 cases, 0 errors", "medqa: 1 case, 0 errors",
    ]  # fmt: skip
    wrote = cli.json("convert", base, "--out", "native")["suites"]
    assert [(one["suite"], one["cases"]) for one in wrote] == [("math500", 2), ("medqa", 1)]
    for one in wrote:
        assert Path(one["wrote"]).parent.name == one["suite"]
        assert cli.json("check", one["wrote"])["counts"]["error"] == 0


def test_a_run_of_several_tasks(cli: Any, tasks: Callable[[str], str], serve: Serve) -> None:
    """The INI names the models; a key of the environment stays at home."""
    cli.env["OPENAI_API_KEY"] = "sk-right-key"

    def answered(messages: list[Any], body: Any) -> str:
        ruling = '{"reason": "r", "result": "correct"}'
        return ruling if "result" in json.dumps(messages) else "It is 4."

    with serve(answered) as server:
        base = tasks(server.url)
        plans = cli.json("plan", base)["plans"]
        assert [plan["usage"]["roles"]["judge"][0] for plan in plans] == [2, 1]
        made = cli.json("run", base)["runs"]
        assert [(run["run"]["suite"], run["totals"]["rate"]) for run in made] == [
            ("math500", 1.0), ("medqa", 1.0),
        ]  # fmt: skip
        assert cli.json("run", base, "--limit", "1")["runs"][0]["totals"]["cases"] == 1
    assert len(server.calls) == 6
    assert not [headers for headers in server.headers if "authorization" in headers]
