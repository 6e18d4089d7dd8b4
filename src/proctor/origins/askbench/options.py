"""How a task is put: what flags, the environment and the INI say, in this order."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from proctor.errors import Problem, UsageError
from proctor.io.findings import Findings
from proctor.origins.askbench.ini import IniEntry, IniValues, truth
from proctor.origins.askbench.tasks import GUIDANCE, Protocol, Task
from proctor.suggestions import suggest


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of the command line, which go before those of the file."""

    max_turns: int | None = None
    guidance: str = ""
    strict: bool | None = None
    tasks: tuple[str, ...] = ()
    attempts: int | None = None

    @classmethod
    def of(cls, values: Mapping[str, str]) -> "Options":
        """Read options, or say which one is wrong."""
        guidance = values.get("guidance", "").strip().lower()
        if guidance and guidance not in GUIDANCE:
            raise UsageError(f"unknown guidance {guidance!r} (use one of {', '.join(GUIDANCE)})")
        tasks = tuple(name.strip() for name in values.get("tasks", "").split(",") if name.strip())
        return cls(
            max_turns=_count(values, "max_turns"),
            guidance=guidance,
            strict=_strict(values["strict"], "strict") if values.get("strict") else None,
            tasks=tasks,
            attempts=_count(values, "attempts"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocols:
    """Source of each task's protocol: options, environment, file."""

    values: IniValues
    options: Options
    compat: str

    def of(self, task: Task, findings: Findings) -> Protocol:
        """Return how a task is put."""
        protocol = Protocol(
            compat=self.compat,
            max_turns=self.options.max_turns or self._turns(),
            guidance=self.options.guidance or self._guidance(),
            strict=self._strict(),
        )
        if task.fata and not self.compat and protocol.strict:
            message = "FATA has a protocol of its own: strict mode does not change it"
            findings.warn(Problem(message=message, severity="warning"))
        return protocol

    def _turns(self) -> int | None:
        entry = self.values.entry("evaluatorconfig", "max_turns")
        if entry is None or not entry.text:
            return None
        return self.values.whole("evaluatorconfig", "max_turns", 3, least=1)

    def _guidance(self) -> str:
        mode = os.environ.get("GUIDANCE_MODE", "").strip().lower()
        entry: IniEntry | None = None
        if not mode:
            entry = self.values.entry("evaluatorconfig", "guidance_mode")
            mode = "" if entry is None else entry.text.strip().lower()
        if not mode or mode in GUIDANCE:
            return mode or "none"
        if self.compat:
            return "none"
        hint = suggest(mode, GUIDANCE)
        if entry is None:
            raise UsageError(f"GUIDANCE_MODE is {mode!r} ({hint})")
        self.values.findings.add(entry.problem(f"unknown guidance_mode {mode!r}", hint=hint))
        return "none"

    def _strict(self) -> bool:
        if self.options.strict is not None:
            return self.options.strict
        setting = os.environ.get("STRICT_MODE")
        if setting is None or not setting.strip():
            return self.values.flag("evaluatorconfig", "strict_mode", False)
        try:
            return truth(setting)
        except ValueError:
            if self.compat:
                return False
        raise UsageError(f"STRICT_MODE is {setting!r} (use 1 or 0)")


def _count(values: Mapping[str, str], name: str) -> int | None:
    if not (text := values.get(name, "")):
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        flag = name.replace("_", "-")
        raise UsageError(f"--{flag} must be a whole number of at least 1, not {text!r}")
    return number


def _strict(text: str, name: str) -> bool:
    try:
        return truth(text)
    except ValueError:
        raise UsageError(f"{name} is {text!r} (use 1 or 0)") from None
