"""Tests that a task brings along, run apart from the agent on what it left."""

import io
import math
import re
import sys
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from proctor.contracts.environment import Environment, EnvironmentCommand
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.environment import CHANGES, LOGS, REWARDS, TESTS, EnvironmentNeeds, unpacked_file
from proctor.core.program import Ran
from proctor.core.rounds import files_of
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.errors import ModelError, ProctorError
from proctor.io import json_bytes
from proctor.scorers.programs.task_toolbox import TOOLBOX, toolbox_files
from proctor.scorers.programs.task_wants import LACKING, is_told, lacking, wanted

if TYPE_CHECKING:
    from collections.abc import Sequence

NO_SANDBOX = "there is no sandbox to run the tests in"
LONGEST = 24 * 3600.0
SHOWN = 2000
_TOOL = re.compile(
    r"(usr/(local/)?|^root/)s?bin/(ba|da|z)?sh$|(usr/(local/)?|^root/)s?bin/(python[\d.]*|pytest|py\.test|uvx?|pip\d*|"
    r"cat|cmp|cp|curl|cut|diff|echo|env|false|grep|head|jq|ls|mkdir|node|perl|ruby|sed|sort|tail|tee|"
    r"test|timeout|tr|true|wc|wget|which|\[)$"
)
_HOOK = re.compile(
    r"(^|/)(sitecustomize|usercustomize)\.py$|(site|dist)-packages/[^/]+\.pth$|"
    r"^root/etc/(ld\.so\.(preload|cache|conf)|environment)"
)
_LIBRARY = re.compile(
    r"^usr/(local/)?lib/python3[^/]*/(?!(site|dist)-packages(/|$))[^/]+|"
    r"^usr/lib(32|64|x32)?/([^/]+/)?(ld-|lib)[^/]*\.so"
)


@dataclass(frozen=True)
class TaskTests(Scorer):
    """Points that a task's own ``tests/test.sh`` gives to what an agent left in the environment.

    The tests run in a fresh environment with the changes that the agent made: nothing that it left
    running, wrote to ``/logs/verifier`` or put into ``/tests`` is there, and neither are programs
    and start-up hooks of the system that it replaced; the score names them. The reward is a number
    from 0 to 1 in ``reward.json`` or ``reward.txt``; of a map with several, ``reward`` counts, or
    else their mean. Tests that give no reward leave the attempt unscored.
    """

    version: ClassVar[str] = "2"
    reads_notes: ClassVar[bool] = True
    time_limit: ClassVar[float] = LONGEST

    files: Mapping[str, Json]
    """The files of the folder ``tests``."""
    environment: str = ""
    """The key of what the environment needs, which the case itself holds."""
    timeout: float = 600.0
    user: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    separate: bool = False
    """Whether the tests see nothing but the artifacts of what the agent left."""
    artifacts: tuple[str, ...] = ()
    own: Mapping[str, Json] = field(default_factory=dict)
    """What the tests' own environment needs, where it differs from the agent's."""
    collect: tuple[Mapping[str, Json], ...] = ()
    """Commands that gather something in the agent's environment before the tests run."""
    reward: str = ""
    """The one of several rewards that counts; by default ``reward``, or else the mean of all."""

    @property
    def needs_sandbox(self) -> bool:
        return True

    def problems(self) -> Iterator[str]:
        if "test.sh" not in self.files:
            yield "there is no tests/test.sh"
        if not 0 < self.timeout <= LONGEST:
            yield f"the timeout is from 0 to {LONGEST:g} seconds, not {self.timeout:g}"

    async def score(self, ctx: ScoreContext) -> Score:
        if ctx.sandbox is None:
            return Score.failed(NO_SANDBOX, out_of=1.0)
        needs = EnvironmentNeeds.of(ctx.case)
        if self.separate and self.own:
            needs = EnvironmentNeeds.from_json(self.own)
        if needs is None:
            return Score.failed("the case has no environment for the tests", out_of=1.0)
        key = files_of(ctx.attempt).get(CHANGES, "")
        if not key or ctx.read_file is None:
            return Score.failed(
                "what the agent left in the environment was not kept: there is nothing, or it is"
                " larger than the 32 MiB that are stored",
                out_of=1.0,
            )
        try:
            archive = ctx.read_file(key)
            suspicious = suspicions(archive)
            if self.collect:
                archive = await self._collected(ctx, archive, frozenset(suspicious))
            environment = ctx.sandbox.environment(needs)
            try:
                await environment.start()
                return await self._verified(environment, archive, suspicious)
            finally:
                await environment.close()
        except (ProctorError, OSError) as error:
            return Score.failed(f"the tests could not be run: {error}", out_of=1.0)

    async def _collected(self, ctx: ScoreContext, archive: bytes, without: frozenset[str]) -> bytes:
        """Return what is left once the hooks have run on what the agent left."""
        needs = EnvironmentNeeds.of(ctx.case)
        assert needs is not None
        assert ctx.sandbox is not None
        environment = ctx.sandbox.environment(needs)
        try:
            await environment.start()
            await environment.restore(archive, (), without)
            for hook in self.collect:
                await environment.run(
                    EnvironmentCommand(
                        argv=("/bin/bash", "-c", str(hook["command"])),
                        wall=float(hook.get("timeout_sec", 60.0)),
                        user=str(hook.get("user") or ""),
                        env=hook.get("env", {}),
                    )
                )
            return await environment.changes()
        finally:
            await environment.close()

    async def _verified(
        self, environment: Environment, archive: bytes, suspicious: Mapping[str, str]
    ) -> Score:
        # Before the agent's changes, so that it cannot take away what would be missed.
        missing = await self._missing(environment)
        only = self.artifacts or ((LOGS + "/artifacts",) if self.separate else ())
        await environment.restore(archive, only, frozenset(suspicious))
        await environment.place({}, REWARDS)
        await environment.place(self.files, TESTS)
        await environment.place(toolbox_files(), TOOLBOX)
        ran = await environment.run(
            EnvironmentCommand(
                argv=("/bin/bash", f"{TESTS}/test.sh"),
                wall=self.timeout,
                user=self.user,
                env={**_own_variables(environment), **self.env},
                needs=(sys.prefix,) if environment.shares_programs else (),
            )
        )
        return self._read(
            ran,
            await environment.read(f"{REWARDS}/reward.json"),
            await environment.read(f"{REWARDS}/reward.txt"),
            sorted(set(suspicious.values())),
            missing,
        )

    async def _missing(self, environment: Environment) -> list[str]:
        """Return what the test script would install and the environment does not have."""
        script, _ = unpacked_file(self.files.get("test.sh", ""))
        wants = wanted(script.decode("utf-8", "replace"))
        if not wants.packages and not wants.programs:
            return []
        ran = await environment.run(
            EnvironmentCommand(
                argv=("/bin/sh", "-c", LACKING, "sh", *wants.arguments),
                wall=60.0,
                env=_own_variables(environment),
                needs=(sys.prefix,) if environment.shares_programs else (),
            )
        )
        return lacking(ran.stdout)

    def _read(
        self,
        ran: Ran,
        as_json: bytes | None,
        as_text: bytes | None,
        suspicious: "Sequence[str]",
        missing: "Sequence[str]" = (),
    ) -> Score:
        whole = f"{ran.stdout}\n{ran.stderr}".strip()
        output = whole[-SHOWN:]
        detail: dict[str, Json] = {"output": output} if output else {}
        if suspicious:
            detail["suspicious"] = list(suspicious)
        noted = f"; not counted: the agent {', '.join(suspicious)}" if suspicious else ""
        if ran.not_started:
            return Score.failed(f"the tests could not be run: {ran.not_started}", out_of=1.0)
        if ran.lost:
            return Score.failed("the tests could not be run: the environment was lost", out_of=1.0)
        try:
            rewards = _rewards(as_json, as_text)
        except (TypeError, ValueError) as error:
            return Score.failed(f"the reward cannot be read: {error}", out_of=1.0, detail=detail)
        if not rewards:
            how = (
                f"passed the limit on {ran.stopped} ({self.timeout:g} s)" if ran.stopped
                else f"ended with {ran.code}"
            )  # fmt: skip
            last = " ".join(output.splitlines()[-2:])[-300:]
            reason = f"the tests gave no reward: test.sh {how}: {last}{noted}"
            return Score.failed(reason, out_of=1.0, detail=detail)
        points = self._points(rewards)
        if points <= 0 and missing and is_told(whole):
            names = ", ".join(missing)
            reason = (
                f"the tests lacked what they would have fetched: {names} (fix: put it into the"
                f" image of the task, or install it beside Proctor){noted}"
            )
            return Score.failed(reason, out_of=1.0, detail={**detail, "missing": list(missing)})
        if len(rewards) > 1 or "reward" not in rewards:
            detail["rewards"] = rewards
        listed = ", ".join(f"{name} {value:g}" for name, value in rewards.items())
        return Score(
            points=min(1.0, max(0.0, points)), out_of=1.0, reason=f"{listed}{noted}", detail=detail
        )

    def _points(self, rewards: Mapping[str, float]) -> float:
        name = self.reward or "reward"
        return rewards[name] if name in rewards else math.fsum(rewards.values()) / len(rewards)


def _own_variables(environment: Environment) -> dict[str, str]:
    path = f"{TOOLBOX}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    python = {"PROCTOR_PYTHON": sys.executable} if environment.shares_programs else {}
    return {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1", **python}


def _rewards(as_json: bytes | None, as_text: bytes | None) -> dict[str, float]:
    """Return the rewards by name; none where there is no file."""
    if as_json is not None:
        value = json_bytes.loads(as_json)
        rewards_by_name = value if isinstance(value, dict) else {"reward": value}
    elif as_text is not None:
        rewards_by_name = {"reward": as_text.decode("utf-8", "replace").strip()}
    else:
        return {}
    rewards = {}
    for name, value in rewards_by_name.items():
        number = float(value)
        if not math.isfinite(number):
            raise ValueError(f"{name} is {value}")
        rewards[str(name)] = number
    return rewards


def suspicions(archive: bytes) -> dict[str, str]:
    """Return the entries of an archive of changes that tests must not see, each with what it is."""
    suspicious: dict[str, str] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as packed:
            for member in packed:
                if what := _suspicion(member):
                    suspicious[member.name] = what
    except (tarfile.TarError, OSError, EOFError) as error:
        raise ModelError(f"what was left in the environment cannot be read: {error}") from None
    return suspicious


def _suspicion(member: tarfile.TarInfo) -> str:
    path = "/" + member.name.removeprefix("root/")
    if member.issym() and path in (LOGS, REWARDS, TESTS):
        return f"made {path} a link"
    if path.startswith(f"{REWARDS}/"):
        return f"wrote {path}"
    if path.startswith(f"{TESTS}/"):
        return f"wrote {path}"
    if _TOOL.search(member.name):
        return f"replaced the program {path}"
    if _HOOK.search(member.name):
        return f"put a start-up hook at {path}"
    if _LIBRARY.search(member.name):
        return f"replaced a library of the system, {path}"
    return ""
