"""The steps of an agent as a tree: what an agent within it did, and what its model asked for."""

import json
from typing import Any

import pytest

from proctor.core.attempt import Attempt
from proctor.core.exchange import Usage
from proctor.core.rounds import Attachment, Post, Round
from proctor.engine.models.proxy_call import ProxyCall
from proctor.reports.turns import DEEPEST
from proctor.web.pages import trace_tree
from proctor.web.pages.trace import trace_of
from proctor.web.pages.trace_tree import WIDTH, flat, lanes, timed

Shape = list[Any]


def steps_of(*posts: Post) -> list[dict[str, Any]]:
    told = Round(user_query="q", posts=posts)
    return trace_of(Attempt(case_id="a", notes={"rounds": [told.to_json()]}), most=None)


def shape(steps: list[dict[str, Any]]) -> Shape:
    """Return the tree as nested lists of titles."""

    def of(step: dict[str, Any]) -> Any:
        return [step["title"], *map(of, step["within"])] if step["within"] else step["title"]

    return [of(step) for step in steps if step["depth"] == 0]


def said(text: str, **more: Any) -> Post:
    return Post(message=text, send_from="Planner", send_to="Planner", **more)


def ran(tool: str, text: str, output: str = "ok", seconds: float | None = None, **more: Any) -> Any:
    took = () if seconds is None else (Attachment(type="took", content={"seconds": seconds}),)
    back = Post(message=output, send_from=tool, send_to="Planner", attachments=took,
                parent=more.get("parent", ""))  # fmt: skip
    return Post(message=text, send_from="Planner", send_to=tool, **more), back


def asked(reply: str, *tools: tuple[str, Any], status: int = 200) -> Post:
    call = ProxyCall(
        path="chat/completions", model="m", request_messages=[{"role": "user", "content": "now?"}],
        reply_text=reply, settings={"temperature": 0.5}, status=status, seconds=1.0,
        tools=tuple({"name": name, "arguments": json.dumps(words)} for name, words in tools),
        usage=Usage(prompt_tokens=7, completion_tokens=2),
    )  # fmt: skip
    return call.post


FIRST = Post(message="q", send_from="User", send_to="Planner")
LAST = Post(message="a", send_from="Planner", send_to="User")


def test_steps_hang_on_the_step_within_which_they_were_done() -> None:
    steps = steps_of(
        FIRST,
        *ran("Task", "look", id="t1"),
        *ran("Read", "a", parent="t1", id="t2"),
        said("deep", parent="t2"),
        said("near", parent="t1"),
        *ran("Bash", "ls"),
        LAST,
    )
    tool, near = ["Task", ["Read", "Planner → Planner"], "Planner → Planner"], "Bash"
    assert shape(steps) == ["User → Planner", tool, near, "Planner → User"]
    assert [step["number"] for step in steps] == list(range(1, 8))
    assert [step["depth"] for step in steps] == [0, 0, 1, 2, 1, 0, 0]
    assert lanes(steps) == 3


def test_a_measured_step_took_what_was_done_inside_it_as_well() -> None:
    steps = steps_of(
        *ran("Task", "look", seconds=6.0, id="t1"),
        *ran("Read", "a", seconds=2.0, parent="t1"),
        *ran("Read", "b", seconds=1.0, parent="t1"),
        *ran("Bash", "ls", seconds=4.0),
    )
    assert timed(steps) == 10.0
    task, first, second, last = steps
    assert (task["width"], last["width"]) == (0.6 * WIDTH, 0.4 * WIDTH)
    assert (first["lane"], first["start"], first["width"]) == (1, task["start"], 0.4 * WIDTH)
    assert second["start"] + second["width"] == last["start"]
    unmeasured = steps_of(
        *ran("Task", "look", id="t1"), *ran("Read", "a", seconds=2.0, parent="t1")
    )
    assert timed(unmeasured) == 2.0


def test_tools_hang_on_the_model_call_that_asked_for_them() -> None:
    steps = steps_of(
        FIRST,
        asked("I look.", ("Read", {"path": "a"}), ("Read", {"path": "b"})),
        asked("", ("Bash", {"cmd": "ls"})),
        asked("a"),
        said("I look."),
        *ran("Read", '{"path": "a"}'),
        *ran("Read", '{"path": "b"}'),
        *ran("Bash", '{"cmd": "ls"}'),
        LAST,
    )
    # What the model said is the call's reply, and stands there once.
    assert shape(steps) == [
        "User → Planner", ["m", "Read", "Read"], ["m", "Bash"], "m", "Planner → User",
    ]  # fmt: skip
    call = steps[1]
    texts = {
        item["kind"]: "".join(one["text"] for one in item["text"]) for item in call["exchange"]
    }
    assert json.loads(texts["model_settings"]) == {"temperature": 0.5}
    assert json.loads(texts["model_request"]) == [{"role": "user", "content": "now?"}]
    assert (call["seconds"], call["tokens"], call["more"]) == (1.0, 9, [])
    assert [one["text"] for one in call["input"]] == ["now?"]
    assert "".join(one["text"] for one in call["output"]).split("\n")[0] == "I look."


def test_calls_of_an_agent_that_tells_of_no_steps_stay_in_order() -> None:
    steps = steps_of(FIRST, asked("x", ("Read", {})), asked("y", status=500), LAST)
    assert shape(steps) == ["User → Planner", "m", "m", "Planner → User"]
    assert [(step["failed"], step["error"]) for step in steps] == [
        (False, ""), (False, ""), (True, "HTTP 500"), (False, ""),
    ]  # fmt: skip


def test_only_tools_of_the_same_name_and_arguments_are_matched_where_numbers_differ() -> None:
    steps = steps_of(
        FIRST,
        asked("", ("Read", {"path": "b"}), ("Gone", {})),
        *ran("Read", '{"path": "other"}'),
        *ran("Read", '{"path":"b"}'),
        LAST,
    )
    assert shape(steps) == ["User → Planner", "Read", ["m", "Read"], "Planner → User"]


def test_arguments_are_compared_as_values_each_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    canonical = trace_tree._canonical

    def noted(text: str) -> str:
        read.append(text)
        return canonical(text)

    monkeypatch.setattr(trace_tree, "_canonical", noted)
    count = 50
    asks = [asked("", ("bash", {"n": float(number), "then": "x"})) for number in range(count)]
    told = [ran("bash", f'{{"then": "x",  "n": {number}}}') for number in reversed(range(count))]
    others = [post for pair in (*told, ran("bash", "{")) for post in pair]
    steps = steps_of(FIRST, *asks, *others, LAST)
    hung = [step for step in steps if step["within"]]
    assert len(hung) == count
    assert len(read) == len(set(read))


def test_model_calls_of_an_agent_within_stand_inside_it() -> None:
    steps = steps_of(
        FIRST,
        asked("", ("Task", {"do": 1})),
        asked("", ("Read", {"path": "a"})),
        asked("found it"),
        asked("a"),
        *ran("Task", '{"do": 1}', id="t1"),
        *ran("Read", '{"path": "a"}', parent="t1"),
        LAST,
    )
    assert shape(steps) == [
        "User → Planner", ["m", ["Task", ["m", "Read"], "m"]], "m", "Planner → User",
    ]  # fmt: skip


def test_no_step_is_lost_where_parents_are_unknown_run_in_a_circle_or_lie_very_deep() -> None:
    steps = steps_of(
        said("x", id="a", parent="b"), said("y", id="b", parent="a"), said("z", parent="?")
    )
    assert len(steps) == 3
    chain = [said(str(n), id=f"s{n}", parent=f"s{n - 1}") for n in range(2000)]
    deep = steps_of(*chain)
    assert len(deep) == 2000
    assert max(step["depth"] for step in deep) == DEEPEST
    assert len(list(flat([deep[0]]))) == 2000
