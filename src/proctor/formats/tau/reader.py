"""Folders of τ-style tasks read as suites: tasks.json, db.json, policy.md, and tools.py."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from proctor.contracts.dialect import PlainDialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite, Tool, ToolCall
from proctor.core.tool_module import ToolFunction, functions_of, wrong_calls
from proctor.errors import DialectError, Problem, SuiteError
from proctor.formats.tau.task import TauAction, TauTask, unsupported
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Document, read_json, read_text
from proctor.io.validation import validate
from proctor.io.yaml_files import read_yaml

TASKS, STATE, POLICY, TOOLS = "tasks.json", "db.json", "policy.md", "tools.py"
USER_STATE, USER_KEY = "user_db.json", "user"
"""The file with the user's own data, and where the state has them."""
USER_TOOLS = "USER_TOOLS"
"""The name of the list in the module of tools that says which of them are the user's."""
HIDDEN_TOOLS = "HIDDEN_TOOLS"
"""The name of the list of functions that tasks call and nobody is offered."""
MOST_PLACED = 2 * 1024 * 1024
"""Bytes of a file of tasks in which the line of every value is known."""
FIRST_LOOK = 64 * 1024


@dataclass(frozen=True)
class Tau(PlainDialect):
    """Tasks in the style of τ-bench: tasks.json with db.json, policy.md and tools.py beside it."""

    name: ClassVar[str] = "tau"

    def recognises(self, path: Path) -> bool:
        tasks = path / TASKS if path.is_dir() else path
        if tasks.suffix.lower() != ".json" or not tasks.is_file():
            return False
        if not (tasks.parent / TOOLS).is_file():
            return False
        with tasks.open("rb") as file:
            start = file.read(FIRST_LOOK)
        return start.lstrip().startswith(b"[") and (
            b'"user_scenario"' in start or (b'"instruction"' in start and b'"actions"' in start)
        )

    def read_with(self, path: Path, root: Path | None, options: Mapping[str, str]) -> Reading:
        tasks = path / TASKS if path.is_dir() else path
        findings = Findings()
        domain = _Domain.read(tasks.parent, findings)
        document = _document(tasks)
        if not isinstance(document.data, list):
            message = f"expected a list of tasks, not {describe(document.data)}"
            raise SuiteError([document.problem((), message)])
        cases: dict[str, Case] = {}
        for place in range(len(document.data)):
            case = _case(document, place, domain, findings)
            if case is not None and case.id in cases:
                findings.add(document.problem((place, "id"), f"the id {case.id!r} is used twice"))
            elif case is not None:
                cases[case.id] = case
        if not document.data:
            findings.add(document.problem((), "there are no tasks here"))
        suite = Suite(
            name=tasks.parent.resolve().name,
            cases=tuple(cases.values()),
            measures=(Spec(name="pass^k", params={"k": 1}),),
            dialect=self.name,
        )
        findings.check(rest=suite)
        return Reading(suite=suite, warnings=tuple(findings.warnings))

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        message = "τ-style tasks are worked on in a dialogue, not answered on file"
        raise DialectError([Problem(message=message, file=str(path))])


@dataclass(frozen=True, kw_only=True)
class _Domain:
    """What all tasks of a folder share."""

    source: str
    functions: tuple[ToolFunction, ...]
    user: tuple[str, ...]
    hidden: tuple[str, ...]
    state: Json
    policy: str

    @classmethod
    def read(cls, folder: Path, findings: Findings) -> "_Domain":
        """Read the files beside the tasks, noting every problem of them."""
        source = read_text(folder / TOOLS)
        functions, problems = functions_of(source)
        for problem in problems:
            findings.add(
                Problem(
                    message=str(problem),
                    file=str(folder / TOOLS),
                    line=problem.line or None,
                    column=problem.column or None,
                )
            )
        state: Json = {}
        if (folder / STATE).is_file():
            try:
                state = read_json(folder / STATE).data
            except SuiteError as error:
                findings.add(*error.problems)
        if (folder / USER_STATE).is_file():
            state = _with_user_state(folder, state, findings)
        policy = read_text(folder / POLICY) if (folder / POLICY).is_file() else ""
        user, hidden = _listed(source, USER_TOOLS), _listed(source, HIDDEN_TOOLS)
        for names, those in ((USER_TOOLS, user), (HIDDEN_TOOLS, hidden)):
            for name in those:
                if functions and name not in {function.name for function in functions}:
                    message = f"{names} names {name!r}, which is none of the tools"
                    findings.add(Problem(message=message, file=str(folder / TOOLS)))
        return cls(
            source=source,
            functions=functions,
            user=tuple(name for name in user if name not in hidden),
            hidden=hidden,
            state=state,
            policy=policy.strip(),
        )

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Return what the candidate may call."""
        return tuple(f.tool for f in self.functions if f.name not in (*self.user, *self.hidden))


def _with_user_state(folder: Path, state: Json, findings: Findings) -> Json:
    """Return the state with the user's own data in it."""
    try:
        own = read_json(folder / USER_STATE).data
    except SuiteError as error:
        findings.add(*error.problems)
        return state
    if isinstance(state, Mapping) and USER_KEY not in state:
        return {**state, USER_KEY: own}
    message = f"{STATE} must be a mapping without {USER_KEY!r}: there the user's own data go"
    findings.add(Problem(message=message, file=str(folder / USER_STATE)))
    return state


def _listed(source: str, name: str) -> tuple[str, ...]:
    """Return the names in a list of a module of tools."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    for node in tree.body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id == name:
            parts = (
                node.value.elts if isinstance(node.value, ast.List | ast.Tuple | ast.Set) else ()
            )
            return tuple(str(part.value) for part in parts if isinstance(part, ast.Constant))
    return ()


def _document(path: Path) -> Document:
    """Read a file of tasks, with the line of each value where that does not take long."""
    if path.is_file() and path.stat().st_size > MOST_PLACED:
        return read_json(path)
    try:
        return read_yaml(path)  # JSON is YAML, and its reader knows where everything stands.
    except SuiteError:
        return read_json(path)


def _case(document: Document, place: int, domain: _Domain, findings: Findings) -> Case | None:
    """Read one task, or note all that is wrong with it."""
    before = findings.total
    data = document.data[place]
    try:
        task = validate(TauTask, document, data if isinstance(data, dict) else {}, (place,))
    except SuiteError as error:
        findings.add(*error.problems)
        return None
    for at, message in unsupported(task):
        findings.add(document.problem((place, *at), message))
    if not any(_criteria(task)):
        at = (place, *(("evaluation_criteria",) if task.evaluation_criteria else ()))
        findings.add(document.problem(at, "nothing of the reward_basis is written"))
    _check_calls(document, place, task, domain, findings)
    if findings.total > before:
        return None
    tools: dict[str, Json] = {"source": domain.source, "state": _state(task, domain.state)}
    if actions := [*_first_actions(task)]:
        tools["actions"] = actions
    params: dict[str, Json] = {"tools": tools}
    if domain.user:
        params["user_tools"] = list(domain.user)
    case_id = str(task.id) if task.id is not None else f"task-{place}"
    at_line = document.place((place,))
    return Case(
        id=case_id,
        messages=tuple(_messages(task, domain.policy)),
        criteria=tuple(_criteria(task)),
        references=tuple(task.criteria.communicate_info or ()),
        hidden={"task": task.task},
        dialogue=Spec(name="stateful_user", params=params),
        tools=domain.tools,
        source=f"{document.path.name}:{at_line.line}" if at_line else document.path.name,
    )


def _check_calls(
    document: Document, place: int, task: TauTask, domain: _Domain, findings: Findings
) -> None:
    """Note actions that the tools cannot do, each where it stands."""
    if not domain.functions:
        return
    first = ("evaluation_criteria", "actions") if task.evaluation_criteria else ("actions",)
    for number, action in enumerate(task.criteria.actions or ()):
        for wrong in wrong_calls(domain.functions, [(action.name, action.all_arguments)]):
            findings.add(document.problem((place, *first, number), wrong))
    if task.initial_state is not None:
        at = ("initial_state", "initialization_actions")
        for number, call in enumerate(task.initial_state.initialization_actions or ()):
            for wrong in wrong_calls(domain.functions, [(call.func_name, call.arguments)]):
                findings.add(document.problem((place, *at, number), wrong))
    _check_assertions(document, place, task, domain, findings)
    for number, message in enumerate(task.history):
        for one in message.tool_calls or ():
            for wrong in wrong_calls(domain.functions, [(one.name, one.arguments)]):
                at = ("initial_state", "message_history")
                findings.add(document.problem((place, *at, number), wrong))


def _check_assertions(
    document: Document, place: int, task: TauTask, domain: _Domain, findings: Findings
) -> None:
    """Note assertions that cannot be called, or that the candidate or the user could call."""
    if "ENV_ASSERTION" not in task.criteria.reward_basis:
        return
    for number, one in enumerate(task.criteria.env_assertions or ()):
        at = (place, "evaluation_criteria", "env_assertions", number)
        wrong = [*wrong_calls(domain.functions, [(one.func_name, one.arguments)])]
        if not wrong and one.func_name not in domain.hidden:
            wrong = [f"{one.func_name!r} is a tool: name it in {HIDDEN_TOOLS} of {TOOLS}"]
        findings.add(*(document.problem(at, message) for message in wrong))


def _messages(task: TauTask, policy: str) -> Iterator[Message]:
    """Yield the policy, and what was said before the task begins."""
    if policy:
        yield Message(role="system", content=policy)
    for one in task.history:
        calls = tuple(
            ToolCall(name=call.name, arguments=call.arguments, id=call.id)
            for call in one.tool_calls or ()
        )
        yield Message(
            role=one.role,
            content=one.content or "",
            tool_calls=calls,
            tool_call_id=one.id if one.role == "tool" else "",
        )


def _first_actions(task: TauTask) -> Iterator[dict[str, Json]]:
    """Yield the calls that bring the state about: the task's own, then those of its history."""
    initial = task.initial_state
    for call in (initial.initialization_actions or ()) if initial is not None else ():
        yield {"name": call.func_name, "arguments": call.arguments}
    failed = {one.id for one in task.history if one.role == "tool" and one.error}
    for message in task.history:
        for one in message.tool_calls or ():
            if one.id not in failed:
                yield {"name": one.name, "arguments": one.arguments}


def _state(task: TauTask, state: Json) -> Json:
    """Return the state that a task begins with: the domain's, with the task's own data in it."""
    initial = task.initial_state
    data = initial.initialization_data if initial is not None else None
    if data is None:
        return state
    changes = [data.agent_data, {USER_KEY: data.user_data} if data.user_data else None]
    for change in changes:
        state = plain(_merged(state, change)) if change else state
    return state


def _merged(state: Json, changes: Json) -> Json:
    if not isinstance(state, Mapping) or not isinstance(changes, Mapping):
        return changes
    return {**state, **{key: _merged(state.get(key), value) for key, value in changes.items()}}


def _criteria(task: TauTask) -> Iterator[Criterion]:
    """Yield what the task's reward is made of; it passes when all of them do."""
    criteria = task.criteria
    basis, actions = criteria.reward_basis, criteria.actions or []
    texts = [text for text in criteria.communicate_info or () if text]
    if "DB" in basis:
        rows = [{"name": one.name, "arguments": one.all_arguments} for one in actions]
        yield _criterion("state_equal", {"actions": rows})
    if "ACTION" in basis and actions:
        yield _criterion("actions", {"actions": [_wanted(one) for one in actions]})
    if "ENV_ASSERTION" in basis and criteria.env_assertions:
        checks = [
            {"name": one.func_name, "arguments": one.arguments, "gives": one.assert_value}
            for one in criteria.env_assertions
        ]
        yield _criterion("state_equal", {"checks": checks}, "env_assertions")
    if "COMMUNICATE" in basis and texts:
        yield _criterion("says", {"texts": texts})
    if "NL_ASSERTION" in basis:
        for number, text in enumerate(criteria.nl_assertions or (), 1):
            yield _criterion("judged", {"question": text}, f"judged-{number}")


def _criterion(name: str, params: Mapping[str, Json], own_id: str = "") -> Criterion:
    return Criterion(id=own_id or name, scorer=Spec(name=name, params=params))


def _wanted(action: TauAction) -> dict[str, Json]:
    names = action.compare_args
    arguments = {
        name: value
        for name, value in action.all_arguments.items()
        if names is None or name in names
    }
    return {"name": action.name, "arguments": arguments, "by": action.requestor}
