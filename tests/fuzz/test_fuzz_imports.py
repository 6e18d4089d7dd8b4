"""Mutated exports: a ProctorError or a run that every page shows; nothing of one's own is moved.

`make test` tries a few, `make full` thousands.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from fuzz_seeds import KINDS, TOKENS, mutated
from fuzzing import within
from level import LEVEL
from proctor.core.attempt import Attempt
from proctor.core.comparison import Comparison, Preference
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.run import Run
from proctor.core.score import Score
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec, Suite
from proctor.engine.run.evaluate import finish
from proctor.engine.run.scorer_pool import Scorers
from proctor.engine.run.stored_view import view_of
from proctor.engine.transfer.export_import import read_archive, read_runs, write_runs
from proctor.errors import ProctorError
from proctor.reports.structured import to_object
from proctor.store.rows import RunAttempt
from proctor.store.store import Store
from proctor.web.app import make_app

pytestmark = pytest.mark.scaled
TOTAL = LEVEL.of(quick=50, ci=400, full=3_333)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, KINDS - 1),
        st.integers(0, 65_535),
        st.integers(0, len(TOKENS) - 1),
        st.integers(0, 200),
    ),
    min_size=1,
    max_size=4,
)
ODD: Sequence[Any] = (
    None, True, False, 0, 1, -1, 2, 7.5, -0.0, 1e30, -1e30, 1e300, 1e15, 2**31, 2**63, 2**200, "", "x",
    "answered", "scored", "failed", "running", "\x00", "\x1b[31m", "\u202e", "\ud800", "../../etc/passwd",
    "<script>alert(1)</script>", "x" * 3000, [], {}, [None], [[]], [1, 2], ["a"], {"a": 1}, {"name": "x"},
    {"calls": "x"}, [{"role": "user", "content": "x"}], {"candidate": {"calls": -1}}, [0, 1e9], "0" * 64,
    {"rounds": [{}], "files": [{"a": "b"}]}, {"rules": [{}], "tests": [{}], "raw": [1]}, 253402300800.0, -5.5,
    {"ledger": {"points": [1], "covered": [[2]], "first": ["x"]}, "turns": [{}], "flags": [1], "truncated": [{}]},
)  # fmt: skip
KEYS = (
    "id", "name", "case", "attempts", "scores", "run", "suite", "imported", "started", "finished", "status", "settings",
    "candidate", "params", "usage", "notes", "detail", "index", "points", "out_of", "weight", "turn", "measures", "reduce",
    "compat", "language", "cases", "extra", "own", "key", "proctor", "comparison", "tags", "files", "dialogue",
)  # fmt: skip
STRUCTURED = st.lists(
    st.tuples(
        st.integers(0, 4),
        st.integers(0, 65_535),
        st.integers(0, len(ODD) - 1),
        st.sampled_from(KEYS),
    ),
    min_size=1,
    max_size=3,
)


def tries(share: float) -> settings:
    return settings(
        max_examples=max(5, round(TOTAL * share)),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


def example(number: int) -> Case:
    return Case(
        id=f"c{number}",
        messages=(Message(role="user", content=f"{number}?"),),
        criteria=(
            Criterion(id="says", scorer=Spec(name="contains", params={"text": "a"}), turn=0),
            Criterion(id="length", scorer=Spec(name="exact_match"), weight=0),
        ),
        references=("a",),
        context=("b",),
        hidden={"fact": 1},
        tags={"lang": ("go",), "level": ("a", "b")},
        files=(CaseFile(name="f", digest="0" * 32, path="/etc/passwd"),),
    )


def put(store: Store, name: str) -> Run:
    cases = tuple(example(number) for number in range(2))
    suite = Suite(name="quiz", cases=cases, measures=(Spec(name="accuracy"),))
    keys = [case_key(one) for one in cases]
    key = suite_key(suite, keys)
    store.suites.put(suite, key, list(zip(keys, cases, strict=True)))
    judge = {"model": "openai:j", "sampling": {"temperature": 0.0}}
    candidate = Spec(name="model", params={"model": "openai:m", "sampling": {"seed": 1}})
    run = Run(
        id=name, name=name, suite="quiz", suite_key=key, candidate=candidate, started=1.0,
        settings={"attempts": 2, "judges": [judge], "simulator": judge, "interval": "t"},
    )  # fmt: skip
    store.runs.save(run)
    for place, one in enumerate(cases):
        for index in range(2 - place):
            notes = {
                "rounds": [
                    {"state": "finished", "post_list": [{"message": "m", "send_to": "User"}]}
                ],
                "files": [{"out.txt": "0" * 32}],
                "ledger": {"points": ["p"], "covered": [[True]], "asked": [[True]], "first": [1]},
                "turns": [{"turn": 1, "raw": ["r"]}],
                "flags": [{"turn": 1, "kind": "k"}],
            }
            attempt = Attempt(
                case_id=one.id, index=index, seconds=1.0, notes=notes, meta={"m": 1},
                messages=(Message(role="assistant", content=f"a {place}", thinking="t"),),
                usage={"candidate": {"calls": 1, "prompt_tokens": 5, "cost": 0.1}},
            )  # fmt: skip
            key = f"{name}-{place}-{index}"
            detail = {"rules": [{"keyword": "a", "status": "match", "points": 1, "spans": [[0, 1]]}],
                      "raw": ["x"], "usage": {"calls": 1}}  # fmt: skip
            scores = {"says": Score(points=1.0, out_of=1.0, reason="r", detail=detail),
                      "length": Score(points=3.0)}  # fmt: skip
            store.attempts.put([(key, attempt)])
            store.scores.put((f"{key}-{c}", "contains", score) for c, score in scores.items())
            linked = {c: f"{key}-{c}" for c in scores}
            store.attempts.link(
                name, [RunAttempt(position=place, index=index, attempt_key=key, score_keys=linked)]
            )
    return finish(store, run, suite, Scorers()).run


class Room:
    """A store with a run of one's own, the pages over it, and what is mutated."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place = folder, str(folder / "store.db")
        with Store.open(str(folder / "theirs.db")) as theirs:
            put(theirs, "theirs")
            put(theirs, "also")
            compared = Comparison(
                case_id="c0", first="theirs", second="also", judge="j", asked="h", scores=(1.0, 2.0),
                outcome=Preference.SECOND, raw=("r",), reason="so",
            )  # fmt: skip
            theirs.comparisons.put([("k", "c", compared)])
            write_runs(theirs, ["theirs", "also"], folder / "seed.jsonl")
        self.seed = (folder / "seed.jsonl").read_bytes()
        self.rows = [json.loads(line) for line in self.seed.splitlines()]
        self.store = Store.open(self.place)
        put(self.store, "mine")
        self.own = self.summed(self.store)
        self.client = TestClient(
            make_app(self.place), base_url="http://127.0.0.1", raise_server_exceptions=True
        )
        self.imported = 0

    def summed(self, store: Store) -> Any:
        view = view_of(store, "mine")
        return to_object(view, cases=True), [
            key for key, _, _ in store.comparisons.of_runs(["mine"])
        ]

    def read(self, take_in: Callable[[Store], Sequence[Any]]) -> None:
        """Take something in; what came in is shown on every page, and taken out again."""
        store = self.store
        try:
            with within():
                views = take_in(store)
        except ProctorError:
            assert len(store.runs.newest()) == 1, "what is refused leaves nothing behind"
            return
        runs = [view.run for view in views]
        self.imported += 1
        try:
            assert all(run.imported for run in runs)
            for run in runs[:1]:
                self.look_at(store, run)
            assert self.summed(store) == self.own
        finally:
            for run in runs:
                store.runs.delete(run.id)

    def look_at(self, store: Store, run: Run) -> None:
        at = f"/runs/{quote(run.id)}"
        case = next(iter(store.results.iter_rows(run.id))).case_id
        one = f"?id={quote(case, safe='', errors='replace')}"
        paths = ["/", "/home.json", at, f"{at}/case{one}"]
        if self.imported % 5 == 1:
            paths += [f"{at}.json", f"{at}/case.json{one}", f"{at}/histogram.svg", f"{at}/label",
                      f"/suites/{run.suite_key}", f"/compare?run=mine&run={run.id}&force=1"]  # fmt: skip
        for path in paths:
            answer = self.client.get(path)
            assert answer.status_code in (200, 400, 404), (path, answer.status_code, answer.text)
            if path in ("/", "/home.json", at, f"{at}.json"):
                assert answer.status_code == 200, (path, answer.text)
        json.dumps(to_object(view_of(store, run.id), cases=True), allow_nan=False)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    made = Room(tmp_path_factory.mktemp("imports"))
    with made.client, made.store:
        yield made


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    for key, part in inner:
        yield from places(part, (*at, key))


def changed(value: Any, changes: Sequence[tuple[int, int, int, str]]) -> Any:
    """Change a JSON value: put an odd one somewhere, take one away, add a key, move a list on."""
    made = json.loads(json.dumps(value))
    for kind, where, odd, key in changes:
        known = list(places(made))
        at = known[where * len(known) >> 16]
        if not at:
            continue
        holder = made
        for part in at[:-1]:
            holder = holder[part]
        if kind == 0 or kind == 4:
            holder[at[-1]] = deepcopy(ODD[odd])
        elif kind == 1:
            del holder[at[-1]]
        elif kind == 2 and isinstance(holder, dict):
            holder[key] = deepcopy(ODD[odd])
        elif isinstance(holder, list):
            holder.append(deepcopy(holder[at[-1]]))
    return made


@pytest.mark.slow
def test_what_is_mutated_is_right_before(room: Room) -> None:
    before = room.imported
    room.read(lambda store: read_runs(store, room.folder / "seed.jsonl").views)
    assert room.imported == before + 1


@tries(0.3)
@given(changes=CHANGES)
@pytest.mark.slow
def test_exports_with_other_bytes(room: Room, changes: list[tuple[int, int, int, int]]) -> None:
    path = room.folder / "run.jsonl"
    path.write_bytes(mutated(room.seed, changes))
    room.read(lambda store: read_runs(store, path).views)


@tries(0.3)
@given(changes=STRUCTURED)
@pytest.mark.slow
def test_exports_with_other_values(room: Room, changes: list[tuple[int, int, int, str]]) -> None:
    path = room.folder / "run.jsonl"
    rows = changed(room.rows, changes)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    room.read(lambda store: read_runs(store, path).views)


@tries(0.1)
@given(changes=CHANGES)
@pytest.mark.slow
def test_exports_of_ones_own_with_other_bytes(
    room: Room, changes: list[tuple[int, int, int, int]]
) -> None:
    path = room.folder / "own.jsonl"
    write_runs(room.store, ["mine"], path, own=True)
    whole = path.read_bytes()
    path.write_bytes(mutated(whole, changes))
    if path.read_bytes() != whole:
        with within(), pytest.raises(ProctorError):
            read_runs(room.store, path, own=True)
    assert room.summed(room.store) == room.own


SUITE = {
    "id": "0a6bc2c8-1b3b-4b47-9f0c-2a2f6e0f3a11", "name": "quiz", "description": "d",
    "scoring_method": {"name": "exact_match", "type": "built_in", "config": {}, "output_type": "continuous"},
    "test_cases": [{"id": f"c{n}", "input": f"{n}?", "reference_output": "a"} for n in range(3)],
    "created_at": "2026-01-02T03:04:05", "version": "0.3.1",
}  # fmt: skip
RUN = {
    "id": "5a3fd1d1-55b5-4a3e-8a3c-1e1f7a1b9c22", "name": "theirs", "created_at": "2026-01-02T03:04:05",
    "model_name": "m", "model_version": "1", "foundation_model": "f", "prompt_template": "p",
    "test_cases": [{"id": f"c{n}", "output": "a", "score": 1.0, "score_result": {"score": 1.0,
                    "category": {"name": "good", "description": "d"}}} for n in range(3)],
}  # fmt: skip


def folder_of(room: Room, suite: bytes, run: bytes) -> Path:
    root = room.folder / "bench_runs"
    shutil.rmtree(root, ignore_errors=True)
    (root / "quiz" / "r").mkdir(parents=True)
    (root / "quiz" / "suite.json").write_bytes(suite)
    (root / "quiz" / "r" / "run.json").write_bytes(run)
    return root


@tries(0.15)
@given(changes=CHANGES, of_run=st.booleans())
@pytest.mark.slow
def test_folders_with_other_bytes(
    room: Room, changes: list[tuple[int, int, int, int]], of_run: bool
) -> None:
    suite, run = (json.dumps(one).encode() for one in (SUITE, RUN))
    suite, run = (suite, mutated(run, changes)) if of_run else (mutated(suite, changes), run)
    root = folder_of(room, suite, run)
    room.read(lambda store: [view for _, views, _ in read_archive(store, root) for view in views])


@tries(0.15)
@given(changes=STRUCTURED)
@pytest.mark.slow
def test_folders_with_other_values(room: Room, changes: list[tuple[int, int, int, str]]) -> None:
    suite, run = (*changed([SUITE, RUN], changes), SUITE, RUN)[:2]
    root = folder_of(room, json.dumps(suite).encode(), json.dumps(run).encode())
    room.read(lambda store: [view for _, views, _ in read_archive(store, root) for view in views])
