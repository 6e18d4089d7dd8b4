"""Tools that a suite brings along as a Python module, and the state that they work on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from proctor.contracts.tool_session import MOST_STATE
from proctor.core.suite import Json, Spec, Tool
from proctor.core.tool_module import ToolFunction, functions_of, wrong_calls
from proctor.errors import Problem
from proctor.formats.native.spot import Spot
from proctor.formats.native.tools import MODULE, STATEFUL_TOOLS, STATEFUL_USER
from proctor.io.described import describe
from proctor.io.text_files import parse_json
from proctor.suggestions import suggest

_ACTION_SCORERS = {"state_equal": ("actions", "checks"), "actions": ("actions", "none")}
"""By scorer, the parameters that list calls of tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleKeys:
    """A module of tools as a suite names it."""

    source: str = ""
    functions: tuple[ToolFunction, ...] = ()
    only: tuple[str, ...] | None = None
    user: tuple[str, ...] = ()
    timeout: float | None = None

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return what the candidate may call."""
        return tuple(
            function.tool
            for function in self.functions
            if (function.name in self.only if self.only is not None else True)
            and (function.name not in self.user or function.name in (self.only or ()))
        )


def read_module(spot: Spot) -> ModuleKeys:
    """Read a module of tools, noting every problem where it stands, in the module too."""
    spot.unknown_keys((MODULE, "only", "user", "timeout"))
    at = spot.at(MODULE)
    source = at.file_text()
    if source is None:
        return ModuleKeys()
    functions, problems = functions_of(source)
    path = at.path()
    for problem in problems:
        spot.findings.add(
            Problem(
                message=str(problem),
                file=str(path),
                line=problem.line or None,
                column=problem.column or None,
            )
        )
    names = [function.name for function in functions]
    only = _names(spot, "only", names)
    user = _names(spot, "user", names) or ()
    timeout = spot.value.get("timeout")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0
    ):
        spot.error(f"expected seconds, not {describe(timeout)}", key="timeout")
        timeout = None
    return ModuleKeys(source=source, functions=functions, only=only, user=user, timeout=timeout)


def _names(spot: Spot, key: str, names: Sequence[str]) -> tuple[str, ...] | None:
    if spot.value.get(key) is None:
        return None
    chosen = []
    for item in spot.at(key).items():
        if item.value in names:
            chosen.append(item.value)
        elif names:
            item.error(
                f"the module has no tool {item.value!r}", hint=suggest(str(item.value), names)
            )
    return tuple(chosen)


def read_state(spot: Spot) -> dict[str, Json]:
    """Read the state that tools begin with: a file, the value itself, or a file with actions."""
    value = spot.value
    if isinstance(value, str):
        return {"state": _file(spot)}
    if not isinstance(value, dict):
        spot.error(f"a state is a JSON file, or a mapping, not {describe(value)}")
        return {}
    if "file" not in value or set(value) - {"file", "actions"}:
        return {"state": value} if _fits(spot, value) else {}
    state: dict[str, Json] = {"state": _file(spot.at("file"))}
    if value.get("actions"):
        calls = [(item, _call(item)) for item in spot.at("actions").items()]
        state["actions"] = [call for _, call in calls if call is not None]
    return state


def _file(spot: Spot) -> Json:
    text = spot.file_text()
    if text is None:
        return None
    try:
        value = parse_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        where = Problem(message=f"this is not JSON: {error}", file=str(spot.path()), line=line)
        spot.findings.add(where)
        return None
    return value if _fits(spot, value) else None


def _fits(spot: Spot, value: Json) -> bool:
    try:
        size = len(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        spot.error("a state is texts, finite numbers, lists and mappings")
        return False
    if size > MOST_STATE:
        spot.error(f"the state is larger than {MOST_STATE // 2**20} MiB")
    return size <= MOST_STATE


def _call(spot: Spot) -> dict[str, Json] | None:
    value = {"name": spot.value} if isinstance(spot.value, str) else spot.value
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        spot.error("an action is the name of a tool, or a mapping with 'name' and 'arguments'")
        return None
    if not isinstance(value.get("arguments", {}), dict):
        spot.error("arguments are a mapping", key="arguments")
        return None
    return {"name": value["name"], "arguments": value.get("arguments", {})}


def dialogue_with_module(
    spot: Spot,
    dialogue: Spec,
    module: ModuleKeys,
    state: Mapping[str, Json],
    hidden: Mapping[str, Json],
) -> Spec:
    """Return the dialogue in which the tools of a module are called."""
    wanted = STATEFUL_USER if hidden.get("task") else STATEFUL_TOOLS
    if dialogue.name == STATEFUL_USER and wanted == STATEFUL_TOOLS:
        spot.error(
            "the simulated user has no task", hint="write what it wants as 'task' under 'hidden'"
        )
    elif dialogue.name not in ("single_turn", STATEFUL_TOOLS, STATEFUL_USER):
        spot.error(
            f"tools of a module are called in the dialogue {wanted!r}, and this case has"
            f" {dialogue.name!r}",
            hint="leave out 'dialogue'",
            key="dialogue" if "dialogue" in spot.value else "",
        )
    params = dict(dialogue.params) if dialogue.name in (STATEFUL_TOOLS, STATEFUL_USER) else {}
    tools: dict[str, Json] = {"source": module.source, **state}
    if module.timeout is not None:
        tools["timeout"] = module.timeout
    params["tools"] = tools
    if wanted == STATEFUL_USER and module.user:
        params["user_tools"] = list(module.user)
    elif module.user and wanted == STATEFUL_TOOLS:
        spot.warn("the user has tools, and the case has no simulated user (no hidden 'task')")
    calls = [(call["name"], call["arguments"]) for call in state.get("actions", ())]
    if module.functions:
        at_state = "state" if "state" in spot.value else ""
        for wrong in wrong_calls(module.functions, calls):
            spot.error(f"the state's actions: {wrong}", key=at_state)
    _check_actions(spot, module)
    return Spec(name=wanted, params=params)


def _check_actions(spot: Spot, module: ModuleKeys) -> None:
    """Note the actions of a case's own criteria that its tools cannot do, each where it stands."""
    if not module.functions or spot.value.get("criteria") is None:
        return
    for scorer, at in _written_actions(spot.at("criteria")):
        value = {"name": at.value} if isinstance(at.value, str) else at.value
        if not isinstance(value, dict) or not isinstance(value.get("name"), str):
            continue
        arguments = value.get("arguments")
        exact = scorer == "state_equal"
        names = [function.name for function in module.functions]
        if value["name"] not in names:
            at.error(f"there is no tool {value['name']!r}", hint=suggest(value["name"], names))
        elif exact or isinstance(arguments, dict):
            one = [function for function in module.functions if function.name == value["name"]]
            wrong = one[0].wrong_arguments({} if arguments is None else arguments)
            if wrong and (exact or "needs" not in wrong):
                at.error(wrong)


def _written_actions(spot: Spot) -> Iterator[tuple[str, Spot]]:
    """Yield every action that a criterion names, with its scorer."""
    for entry in spot.items():
        if not isinstance(entry.value, dict):
            continue
        for scorer, keys in _ACTION_SCORERS.items():
            if scorer not in entry.value:
                continue
            at = entry.at(scorer)
            if isinstance(at.value, dict):
                for key in keys:
                    if isinstance(at.value.get(key), list):
                        yield from ((scorer, item) for item in at.at(key).items())
            elif isinstance(at.value, list):
                yield from ((scorer, item) for item in at.items())
