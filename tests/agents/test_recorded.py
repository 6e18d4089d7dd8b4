"""Rounds on file, played again."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.contracts.agent import Workspace
from proctor.core.suite import Case, Spec
from proctor.errors import ModelError

from .conftest import Talk, agent

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / ".." / "shared" / "golden" / "taskweaver_round.json"


def on_file(query: str, reply: str, state: str = "finished") -> dict[str, Any]:
    posts = [
        {"message": query, "send_from": "User", "send_to": "Planner"},
        {"message": reply, "send_from": "Planner", "send_to": "User"},
    ]
    return {"user_query": query, "state": state, "post_list": posts}


ROUNDS = [on_file("one", "1"), on_file("two", "2")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rounds.json", json.dumps(ROUNDS)),
        ("rounds.json", json.dumps({"rounds": ROUNDS})),
        ("rounds.json", json.dumps({"cases": {"c0": [], "c1": ROUNDS}})),
        ("rounds.jsonl", json.dumps({"case": "c1", "rounds": ROUNDS}) + "\n"),
        ("rounds.jsonl", "".join(json.dumps({"case": "c1", "round": r}) + "\n\n" for r in ROUNDS)),
        ("rounds.jsonl", "".join(json.dumps({"case_id": "c1", **r}) + "\n" for r in ROUNDS)),
        ("folder/c1.json", json.dumps(ROUNDS)),
    ],
)
def test_rounds_in_every_form(name: str, text: str, here: Path, talk: Talk) -> None:
    place = here / name
    place.parent.mkdir(exist_ok=True)
    place.write_text(text)
    path = str(place.parent if name.startswith("folder") else place)
    rounds = talk("recorded", "one", " two ", "three", path=path)
    assert [made.reply for made in rounds] == ["1", "2", None]
    assert rounds[2].error == "there are only 2 rounds on file"


def test_other_questions_and_failed_rounds(here: Path, talk: Talk) -> None:
    (here / "r.json").write_text(json.dumps([on_file("one", "1"), on_file("two", "", "failed")]))
    rounds = talk("recorded", "uno", "two", path="r.json")
    assert rounds[0].error == "round 1 on file answers another question: 'one'"
    assert rounds[1].error == "the round is failed"
    assert talk("recorded", "uno", path="r.json", any_query=True)[0].reply == "1"


@pytest.mark.parametrize(
    ("text", "why"),
    [("{", "not valid JSON"), ("[1]", "a round is an object"), ('{"rounds": {}}', "these are no rounds"),
     ('[{"case": "a", "post_list": []}, {"post_list": []}]', "a row says under 'case'"),
     (None, "no such file")],
)  # fmt: skip
def test_problems(text: str | None, why: str, here: Path) -> None:
    if text is not None:
        (here / "r.json").write_text(text)
    made = registry.build("candidate", Spec(name="recorded", params={"path": "r.json"}))
    assert why in next(iter(made.problems()))


def test_a_case_without_rounds_is_told(here: Path, workspace: Workspace) -> None:
    (here / "r.json").write_text(json.dumps({"cases": {"other": ROUNDS}}))
    with pytest.raises(ModelError, match="has no rounds of the case 'c1'"):
        asyncio.run(agent("recorded", path="r.json").open(workspace))


def test_a_case_named_by_its_file_finds_its_rounds(here: Path, workspace: Workspace) -> None:
    (here / "kept").mkdir()
    (here / "kept" / "hello.json").write_text(json.dumps(ROUNDS))
    case = Case(id="hello.yaml", messages=(), criteria=())
    made = Workspace(case=case, index=0, folder=workspace.folder)
    session = asyncio.run(agent("recorded", path="kept").open(made))
    assert asyncio.run(session.send("one")).reply == "1"


def test_other_rounds_are_another_agent(here: Path) -> None:
    (here / "r.json").write_text(json.dumps(ROUNDS))
    before = agent("recorded", path="r.json").identity
    (here / "r.json").write_text(json.dumps(ROUNDS[:1]))
    assert agent("recorded", path="r.json").identity != before


@pytest.mark.skipif(not GOLDEN.exists(), reason="the shared golden data is not here")
@pytest.mark.parametrize("era", ["new_HEAD_d44ddef2", "seed_era_e9a0658a"])
def test_real_rounds_come_back_as_they_are(era: str, here: Path, talk: Talk) -> None:
    rounds = json.loads(GOLDEN.read_text())[era]["rounds"]
    (here / "r.json").write_text(json.dumps(rounds))
    played = talk("recorded", *(made["user_query"] for made in rounds), path="r.json")
    for made, wanted in zip(played, rounds, strict=True):
        told = made.to_json()
        assert told["state"] == wanted["state"]
        assert [p["message"] for p in told["post_list"]] == [
            p["message"] for p in wanted["post_list"]
        ]
        assert [a for p in told["post_list"] for a in p["attachment_list"]] == [
            {"extra": None, **a} for p in wanted["post_list"] for a in p["attachment_list"]
        ]
