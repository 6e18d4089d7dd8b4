"""Fill a store for a tour of the pages: every run is real work on scripted answers.

Models and judge are scripted servers on this machine: requests, replies, scores, prices and times
go the way of any other run. Only the dates of the runs of earlier weeks are set back.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from proctor.contracts.model import ModelChoice
from proctor.core.exchange import Sampling
from proctor.core.run import Run
from proctor.core.suite import Spec
from proctor.engine.audit.run_audit import Audit, AuditSettings
from proctor.engine.battle.run_battle import battle
from proctor.engine.run.evaluate import evaluate, evaluate_all
from proctor.engine.run.settings import CallSettings, JudgeSettings, RunSettings, SuiteSettings
from proctor.engine.tour.script import TourScript, sums, sums_suite
from proctor.io.yaml_files import yaml_text
from proctor.store.rows import Label, LinkedCase
from proctor.store.store import Store
from proctor.testing.server import FakeServer

AGENT = "proctor.starter.tour.agent:answer"
ATTEMPTS = 3
DAY = 86_400.0
LATENCIES = {"large": (0.3, 0.9), "small": (0.05, 0.3), "judge": (0.02, 0.1)}
"""Seconds before each reply of the scripted servers, from the quickest to the slowest."""
LIVE_CASES = 120
LIVE_LATENCY = (0.8, 1.6)
LABELLED = "right"
"""The criterion that all cases have."""
LIVE = "tour-live"
MARKER = "  # New in version 2\n"
PEOPLE = ("ada", "ben")
PRICES = {"large": (3.0, 15.0), "small": (0.15, 0.6), "judge": (1.0, 4.0)}
Notice = Callable[[str], None]


def _silent(_: str) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Tour:
    """The tour over one store; what is there already is not made again."""

    store: Store
    folder: Path
    """Where the suite, the script and the agent lie."""
    notice: Notice = _silent
    latencies: Mapping[str, tuple[float, float]] = field(default_factory=lambda: LATENCIES)
    live_latency: tuple[float, float] = LIVE_LATENCY

    async def fill(self) -> None:
        """Make all runs but the one in progress, then the battle, the audit and the labels."""
        with self._servers("before") as servers, self._first_version() as suite:
            for name, model, days in (("tour-large-1", "large", 14), ("tour-small-1", "small", 13)):
                await self._earlier(name, self._settings(suite, model, servers), days)
        with self._servers("before") as servers:
            for name, model, days in (("tour-large-2", "large", 7), ("tour-small-2", "small", 6)):
                settings = self._settings(self.folder / "suite.yaml", model, servers)
                await self._earlier(name, settings, days)
            self.store.baselines.pin("help-desk", self.store.runs.get("tour-small-2").id)
        with self._servers() as servers:
            for model in ("large", "small"):
                await self._grid(model, servers)
            await self._agent()
            await self._judged_again(servers["judge"])
        self._label("tour-small-plain")

    async def run_on(self) -> None:
        """Have a run in progress for ever; of those that ended, the last one stays."""
        while True:
            for number in self._live_numbers()[:-1]:
                for old in self.store.runs.named(f"{LIVE}-{number}"):
                    self.store.runs.delete(old.id)
            await self.run_slowly()

    def _live_numbers(self) -> list[int]:
        names = self.store.runs.names_like(f"{LIVE}-")
        ends = (name.removeprefix(f"{LIVE}-") for name in names)
        return sorted(int(end) for end in ends if end.isdecimal())

    async def run_slowly(self) -> None:
        """Make one more run, of some minutes: one to be watched."""
        number = max(self._live_numbers(), default=0) + 1
        with (
            FakeServer(sums, latency=self.live_latency, keep=False) as server,
            TemporaryDirectory() as folder,
        ):
            path = Path(folder) / "sums.yaml"
            path.write_text(yaml_text(sums_suite(LIVE_CASES)), encoding="utf-8")
            settings = RunSettings(
                suite=SuiteSettings(path=path),
                model=_choice("small", server),
                calls=CallSettings(prices=PRICES, concurrency=1),
                name=f"{LIVE}-{number}",
                repeat_label=f"live {number}",
            )
            await evaluate(settings, self.store)

    async def _earlier(self, name: str, settings: RunSettings, days: float) -> None:
        if self._is_there(name):
            return
        outcome = await evaluate(replace(settings, name=name, repeat_label=name), self.store)
        self._date(outcome.view.run, days)

    async def _grid(self, model: str, servers: Mapping[str, FakeServer]) -> None:
        if self._is_there(f"tour-{model}-strict"):
            return
        settings = self._settings(self.folder / "suite.yaml", model, servers)
        for prompt in ("plain", "strict"):
            one = replace(settings, prompts=(prompt,), name=f"tour-{model}-{prompt}")
            await evaluate_all(one, self.store)

    async def _agent(self) -> None:
        if self._is_there("tour-agent"):
            return
        suite = SuiteSettings(path=self.folder / "agent.yaml")
        agent = Spec(name="python", params={"target": AGENT})
        await evaluate(RunSettings(suite=suite, agent=agent, name="tour-agent"), self.store)

    async def _judged_again(self, judge: FakeServer) -> None:
        """Let the judge compare the answers of two runs, and be asked again itself."""
        panel, calls = _panel(judge), CallSettings(prices=PRICES)
        runs = ("tour-large-plain", "tour-small-plain")
        compared, _ = self.store.comparisons.count([self.store.runs.get(name).id for name in runs])
        if not compared:
            self.notice(f"battle: {' against '.join(runs)}")
            await battle(self.store, runs, panel, calls=calls, attempts=1)
        run = self.store.runs.get("tour-small-plain")
        if not self.store.audits.of_run(run.id):
            self.notice("audit: the judge of tour-small-plain")
            settings = AuditSettings(sample=12)
            await Audit(self.store, run, panel, settings, calls).carry_out()

    def _label(self, name: str) -> None:
        """Give labels of two people, who mostly agree with the judge."""
        run = self.store.runs.get(name)
        if self.store.labels.of_run(run.id):
            return
        self.notice(f"labels: {name}, by {' and '.join(PEOPLE)}")
        self.store.labels.add_many(
            Label(
                run_id=run.id,
                case_id=linked.case.id,
                index=0,
                criterion=LABELLED,
                points=float(points if (linked.position + number) % 9 else 1 - points),
                author=person,
                created=time.time(),
            )
            for linked in self.store.attempts.iter_cases(run.id)
            for points in _points(linked)
            for number, person in enumerate(PEOPLE)
            if linked.position % 3 == 0
        )

    def _is_there(self, name: str) -> bool:
        there = bool(self.store.runs.named(name, limit=1))
        self.notice(f"{name}: {'is there already' if there else 'running'}")
        return there

    def _date(self, run: Run, days: float) -> None:
        """Set the dates of a run back."""
        ended = run.finished
        self.store.runs.save(
            replace(
                run,
                started=run.started - days * DAY,
                finished=None if ended is None else ended - days * DAY,
            )
        )

    def _settings(self, suite: Path, model: str, servers: Mapping[str, FakeServer]) -> RunSettings:
        return RunSettings(
            suite=SuiteSettings(path=suite),
            model=_choice(model, servers[model]),
            panel=_panel(servers["judge"]),
            calls=CallSettings(prices=PRICES),
            attempts=ATTEMPTS,
            prompts=("plain",),
        )

    @contextmanager
    def _servers(self, phase: str = "") -> Iterator[dict[str, FakeServer]]:
        script = TourScript.read(self.folder, phase)
        with (
            FakeServer(script.answer, latency=self.latencies["large"], keep=False) as large,
            FakeServer(script.answer, latency=self.latencies["small"], keep=False) as small,
            FakeServer(script.judge, latency=self.latencies["judge"], keep=False) as judge,
        ):
            yield {"large": large, "small": small, "judge": judge}

    @contextmanager
    def _first_version(self) -> Iterator[Path]:
        """Write the suite as it was before its last cases were added."""
        text = (self.folder / "suite.yaml").read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:
            path = Path(folder) / "suite.yaml"
            first = text.partition(MARKER)[0].replace('version: "2"', 'version: "1"')
            path.write_text(first, encoding="utf-8")
            yield path


@contextmanager
def in_progress(
    url: str | None, folder: Path, *, latency: tuple[float, float] = LIVE_LATENCY
) -> Iterator[None]:
    """Have a run of the tour in progress, in a thread of its own, until the context is left."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="tour", daemon=True)
    thread.start()
    with Store.open(url) as store:
        work = Tour(store=store, folder=folder, live_latency=latency).run_on()
        going = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            yield
        finally:
            going.cancel()
            asyncio.run_coroutine_threadsafe(_all_ended(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _all_ended() -> None:
    if others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)


def _points(linked: LinkedCase) -> Iterator[float]:
    """Yield what the judge gave to the first attempt, if it gave anything."""
    for _, scores in linked.attempts[:1]:
        if (score := scores.get(LABELLED)) is not None and score.points is not None:
            yield score.points


def _choice(model: str, server: FakeServer) -> ModelChoice:
    return ModelChoice(spec=f"openai:{model}@{server.url}", sampling=Sampling(temperature=0.7))


def _panel(server: FakeServer) -> JudgeSettings:
    choice = ModelChoice(spec=f"openai:judge@{server.url}", sampling=Sampling(temperature=0.0))
    return JudgeSettings(judges=(choice,))
