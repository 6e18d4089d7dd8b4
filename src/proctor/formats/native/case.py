"""A case as people write it in a native suite, and the defaults it falls back on."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from proctor.core.fingerprint import digest
from proctor.core.suite import VARIANT, Case, Json, Message, Spec, Tool, ToolCall
from proctor.formats.native.case_files import FileKeys, read_files, read_setup, solutions
from proctor.formats.native.criteria import (
    SCALAR,
    Criteria,
    Number,
    OneOrMany,
    Plugin,
    Share,
    Shorthand,
    Text,
    Texts,
    Vars,
    WrittenCriterion,
    read_criteria,
    read_plugin,
)
from proctor.formats.native.spot import ROLES, Spot
from proctor.formats.native.tools import (
    STATEFUL_TOOLS,
    STATEFUL_USER,
    TOOL_LOOP,
    McpServer,
    ResponseFormat,
    State,
    ToolChoice,
    ToolResults,
    Tools,
    check_no_module,
    check_tool_choice,
    dialogue_with_tools,
    names_module,
    read_offers,
)
from proctor.io.validation import Strict
from proctor.suggestions import suggest

if TYPE_CHECKING:
    from proctor.formats.native.stateful_tools import ModuleKeys

ASKING = ("ask", "ask_file", "messages")
VIRTUAL_USER = "virtual_user"
WITH_TASK = (VIRTUAL_USER, STATEFUL_USER)  # they speak first where nothing is asked


class _Example(Strict):
    ask: Text = Field(description="The question.")
    answer: Text = Field(description="Its answer.")


class DefaultKeys(Strict):
    """What a file may say once for all of its cases."""

    full_score: Share | None = Field(
        default=None, description="What full marks are worth.", json_schema_extra={"default": 1}
    )
    null_score: Number | None = Field(
        default=None, description="What no answer is worth.", json_schema_extra={"default": 0}
    )
    weight: Share | None = Field(
        default=None, description="How much the case counts.", json_schema_extra={"default": 1}
    )
    system: Text | None = Field(default=None, description="A system message before the question.")
    examples: "list[_Example] | None" = Field(
        default=None, description="Questions with their answers, put before the question."
    )
    dialogue: Plugin = Field(
        default=None,
        description="How the case is put to the candidate.",
        json_schema_extra={"default": "single_turn"},
    )
    tags: dict[str, Texts] = Field(
        default_factory=dict,
        description="Names with one value or several, to group and filter by.",
    )
    vars: Vars = Field(default=None, description="The values that prompts name.")
    criteria: Criteria = Field(default=None, description="How the answer is scored.")
    tools: Tools = Field(default=None, description="The tools that the candidate may call.")
    tool_choice: ToolChoice = Field(
        default=None, description="auto, none, required, or the tool that is to be called."
    )
    response_format: ResponseFormat = Field(
        default=None, description="JSON Schema that the reply is to follow."
    )
    tool_results: ToolResults = Field(
        default=None, description="What tools give, so that the candidate can go on."
    )
    mcp: McpServer = Field(
        default=None, description="An MCP server whose tools the candidate may call."
    )
    state: State = Field(
        default=None, description="What the tools of a module work on: a JSON file, or its value."
    )


_Pictures = Annotated[
    Annotated[list[str], OneOrMany()], Field(description="Pictures: files or https addresses.")
]


class _WrittenMessage(Strict):
    role: Annotated[str, WithJsonSchema({"enum": list(ROLES)})]
    content: Text = ""
    images: _Pictures = Field(default_factory=list)
    tool_calls: list[Any] = Field(
        default_factory=list, description="The tools that the assistant called."
    )
    tool_call_id: Text = Field(default="", description="The call whose result this is.")


class _Passage(Strict):
    text: Text | None = None
    file: Text | None = Field(default=None, description="A file that holds the text.")


_Passages = Annotated[list[Annotated[_Passage, Shorthand({"type": SCALAR})]], OneOrMany()]
_Files = Annotated[list[Annotated[FileKeys, Shorthand({"type": "string"})]], OneOrMany()]
_ONE_QUESTION: Json = [{"required": [key]} for key in ASKING]
_NO_QUESTION: Json = {"anyOf": [{"required": ["hidden"]}, {"required": ["vars"]}]}


class CaseKeys(DefaultKeys):
    """A case: what is asked, and how the answer is scored."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [*_ONE_QUESTION, {**_NO_QUESTION, "not": {"anyOf": _ONE_QUESTION}}]
        }
    )

    id: Text | None = Field(
        default=None, min_length=1, description="The case's name, once in a suite."
    )
    ask: Text | None = Field(default=None, description="The question: one message of the user.")
    ask_file: Text | None = Field(default=None, description="A file that holds the question.")
    messages: list[_WrittenMessage] | None = Field(
        default=None,
        min_length=1,
        description="The conversation that the candidate is to go on with.",
    )
    images: _Pictures = Field(default_factory=list)
    reference: _Passages = Field(
        default_factory=list, description="The answer known to be right: the same as references."
    )
    references: _Passages = Field(default_factory=list, description="Answers known to be right.")
    context: _Passages = Field(
        default_factory=list, description="Passages that came with the question."
    )
    hidden: dict[str, Any] = Field(default_factory=dict, description="Facts for judges only.")
    min_points: Number | None = Field(default=None, description="The fewest points that count.")
    max_points: Number | None = Field(
        default=None,
        description="The most points that count; also the most that full marks need.",
    )
    out_of: Number | None = Field(
        default=None, description="The points of full marks, where the criteria do not tell."
    )
    files: _Files = Field(
        default_factory=list,
        description="Files and folders that an agent finds in its working folder.",
    )
    setup: dict[str, Any] = Field(
        default_factory=dict, description="What an agent's working place needs."
    )
    solution: _Passages = Field(
        default_factory=list,
        description="Shell script that does what an agent is asked for, one for each turn.",
    )
    cluster: Text = Field(
        default="",
        description="What it belongs to: the cases of one cluster count as one draw.",
    )
    source: Text | None = Field(
        default=None, description="Where the case was written; only for people."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """Settings of a case that sets none of its own."""

    full_score: float = 1.0
    null_score: float = 0.0
    weight: float = 1.0
    system: str = ""
    examples: tuple[Message, ...] = ()
    """Questions with their answers, put before the question of a case."""
    dialogue: Spec = field(default_factory=lambda: Spec(name="single_turn"))
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    vars: Mapping[str, Json] = field(default_factory=dict)
    criteria: tuple[WrittenCriterion, ...] | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: str = ""
    response_format: Mapping[str, Json] = field(default_factory=dict)
    tool_results: tuple[Json, ...] = ()
    mcp: Mapping[str, Json] = field(default_factory=dict)
    module: "ModuleKeys | None" = None
    """The Python file whose functions are the tools."""
    state: Mapping[str, Json] = field(default_factory=dict)
    cluster_by: str = ""
    """The tag or the field whose value is the cluster of a case that names none."""


def normal(spot: Spot) -> dict[str, Json]:
    """Write out the shorthands of a header or a case, leaving out keys without a value."""
    data: dict[str, Json] = {}
    for key, value in spot.value.items():
        if value is None:
            continue
        if key in _TEXT_KEYS:
            data[key] = value if type(value) is str else spot.at(key).text()
        elif key in _PART_KEYS:
            data[key] = _part(key, spot.at(key))
        else:
            data[key] = value
    return data


_PART_KEYS = frozenset(
    {
        "reference",
        "references",
        "context",
        "solution",
        "files",
        "tags",
        "messages",
        "examples",
        "images",
    }
)


def _part(key: str, part: Spot) -> Json:
    """Write out the shorthands of a value that has parts."""
    value = part.value
    if key in ("reference", "references", "context", "solution"):
        return [_passage(item) for item in part.items()]
    if key == "files":
        return [_named_file(item) for item in part.items()]
    if key == "images":
        return [item.text() for item in part.items()]
    if key == "tags" and isinstance(value, dict):
        return {name: [item.text() for item in part.at(name).items()] for name in value}
    if key in ("messages", "examples") and isinstance(value, list):
        return [_message(item) for item in part.items()]
    return value


_DEFAULTS = tuple(entry.name for entry in fields(Defaults))


def defaults_of(spot: Spot, keys: DefaultKeys, outer: Defaults) -> Defaults:
    """Lay the defaults of a file over those of the file that includes it."""
    changed: dict[str, Any] = {
        key: value
        for key in ("full_score", "null_score", "weight", "system")
        if (value := getattr(keys, key)) is not None
    }
    if keys.examples is not None:
        changed["examples"] = tuple(
            Message(role=role, content=text)
            for example in keys.examples
            for role, text in (("user", example.ask), ("assistant", example.answer))
        )
    if keys.tags:
        changed["tags"] = {**outer.tags, **_tags(keys)}
    if keys.vars is not None:
        from proctor.formats.native.prompts import read_vars

        changed["vars"] = {**outer.vars, **read_vars(spot.at("vars"))}
    if keys.criteria is not None:
        changed["criteria"] = read_criteria(spot.at("criteria"))
    if keys.dialogue is not None:
        changed["dialogue"] = read_plugin("dialogue", spot.at("dialogue")) or outer.dialogue
    changed |= read_offers(spot, keys) | _stateful_offers(spot, keys)
    if not changed:
        return outer
    own = {name: getattr(outer, name) for name in _DEFAULTS}
    return Defaults(**(own | changed))


def _stateful_offers(spot: Spot, keys: DefaultKeys) -> dict[str, Any]:
    """Read a module of tools, and the state they begin with."""
    offers: dict[str, Any] = {}
    if keys.tools is not None and names_module(spot.value["tools"]):
        from proctor.formats.native.stateful_tools import read_module

        module = read_module(spot.at("tools"))
        offers = {"module": module, "tools": module.tools}
    if keys.state is not None:
        from proctor.formats.native.stateful_tools import read_state

        offers["state"] = read_state(spot.at("state"))
    return offers


KEYS = frozenset(CaseKeys.model_fields)
"""The keys of a case."""


def read_case(spot: Spot, defaults: Defaults, default_id: str) -> Case | None:
    """Read one case, or note all that is wrong with it."""
    before = spot.findings.total
    strange = spot.unknown_keys(KEYS)
    readable = spot
    if strange:
        known_keys = {key: value for key, value in spot.value.items() if key not in strange}
        readable = replace(spot, value=known_keys)
    keys = spot.validated(CaseKeys, normal(readable))
    if keys.id is not None and any(char < " " for char in keys.id):
        spot.error("an id is one line of text", key="id")
    _check_hidden(spot, keys.hidden)
    own = defaults_of(spot, keys, defaults)
    if own.module is not None:
        from proctor.formats.native.stateful_tools import dialogue_with_module

        dialogue = dialogue_with_module(spot, own.dialogue, own.module, own.state, keys.hidden)
        own = replace(own, dialogue=dialogue)
    elif keys.state is not None:
        check_no_module(spot, own.dialogue)
    messages = _messages(spot, keys, own)
    references = _references(spot, keys)
    context = _passages(spot, keys.context, "context")
    has_reference = (
        references or strange or spot.value.get("references") or spot.value.get("reference")
    )
    criteria = _criteria(spot, own, bool(has_reference))
    _check_points(spot, keys, criteria)
    dialogue = dialogue_with_tools(spot, own.dialogue, own.tool_results, own.mcp)
    check_tool_choice(spot, own.tool_choice, own.tools, served=bool(own.mcp))
    _check_turns(spot, dialogue, criteria)
    files, setup = read_files(spot, keys.files), read_setup(spot, keys.setup)
    hidden = {**keys.hidden, **solutions(_passages(spot, keys.solution, "solution"))}
    if not references:
        _warn_of_nothing_to_compare(spot, criteria)
    if spot.findings.total > before:
        return None
    case = Case(
        id=keys.id or default_id,
        messages=messages,
        criteria=tuple(written.criterion for written in criteria),
        references=references,
        context=context,
        hidden=hidden,
        dialogue=dialogue,
        tags=own.tags,
        weight=own.weight,
        full_score=own.full_score,
        null_score=own.null_score,
        min_points=keys.min_points,
        max_points=keys.max_points,
        out_of=keys.out_of,
        files=files,
        setup=setup,
        vars=own.vars,
        tools=own.tools,
        tool_choice=own.tool_choice,
        response_format=own.response_format,
        source=spot.place() if keys.source is None else keys.source,
    )
    cluster = keys.cluster or cluster_of(case, own.cluster_by)
    return replace(case, cluster=cluster) if cluster else case


CLUSTER_FIELDS = ("ask", "context", "references", "source")
"""What cases may have in common besides a tag."""


def cluster_of(case: Case, name: str) -> str:
    """Return the value of a tag of a case, or the key of a field's text; empty if it has none."""
    if not name:
        return ""
    if values := case.tags.get(name):
        return "; ".join(values)
    if name == "source":
        return case.source
    if name == "ask":
        return digest(case.prompt)[:16] if case.prompt else ""
    texts = getattr(case, name) if name in CLUSTER_FIELDS else ()
    return digest(texts)[:16] if texts else ""


_TEXT_KEYS = frozenset(
    {"id", "ask", "ask_file", "system", "cluster", "source", "name", "version", "description",
     "language", "origin", VARIANT, "reduce"}
)  # fmt: skip


def _passage(spot: Spot) -> Json:
    text = spot.text()
    return {"text": text} if isinstance(text, str) else text


def _named_file(spot: Spot) -> Json:
    return {"file": spot.value} if isinstance(spot.value, str) else spot.value


def _message(spot: Spot) -> Json:
    if not isinstance(spot.value, dict):
        return spot.value
    return {
        key: [item.text() for item in spot.at(key).items()]
        if key == "images"
        else spot.at(key).text()
        for key in spot.value
    }


def _tags(keys: DefaultKeys) -> dict[str, tuple[str, ...]]:
    return {name: tuple(values) for name, values in keys.tags.items()}


def _messages(spot: Spot, keys: CaseKeys, defaults: Defaults) -> tuple[Message, ...]:
    asking_keys = [key for key in ASKING if getattr(keys, key) is not None]
    if len(asking_keys) > 1:
        message = f"{' and '.join(asking_keys)} say the same thing; write one of them"
        spot.error(message, key=asking_keys[1])
        return ()
    system = (Message(role="system", content=defaults.system),) if defaults.system else ()
    if not asking_keys and defaults.dialogue.name in WITH_TASK and keys.hidden.get("task"):
        return system
    if not asking_keys and defaults.vars:
        from proctor.core.prompt import question_of

        question = Message(role="user", content=question_of(defaults.vars), images=_images(spot))
        return (*system, *defaults.examples, question)
    if not asking_keys:
        written = [key for key, value in spot.value.items() if value is not None]
        if all(key in CaseKeys.model_fields and key not in ASKING for key in written):
            spot.error(
                "the case asks nothing",
                hint="write the question under 'ask', or as 'messages'"
                if defaults.dialogue.name not in WITH_TASK
                else "write what the virtual user wants as 'task' under 'hidden'",
            )
        return ()
    if keys.messages is not None:
        if keys.images:
            spot.error("pictures go into the message that they belong to", key="images")
        messages = _written_messages(spot, keys.messages)
        if any(message.role == "system" for message in messages):
            if keys.system:
                spot.error("there is a system message in 'messages' already", key="system")
            return messages
    else:
        text = keys.ask if keys.ask is not None else spot.at("ask_file").file_text()
        messages = (Message(role="user", content=text or "", images=_images(spot)),)
    return system + defaults.examples + messages


def _images(spot: Spot) -> tuple[str, ...]:
    """Return the pictures of a case or a message."""
    if not isinstance(spot.value.get("images"), list | str):
        return ()
    return tuple(image for item in spot.at("images").items() if (image := item.image()))


def _check_hidden(spot: Spot, hidden: Mapping[str, Json]) -> None:
    if not hidden:
        return
    try:
        json.dumps(hidden, allow_nan=False)
    except (TypeError, ValueError):
        message = "hidden facts are texts, finite numbers, lists and mappings"
        spot.error(message, key="hidden")


def _written_messages(spot: Spot, written: Sequence[_WrittenMessage]) -> tuple[Message, ...]:
    messages = []
    for place, message in enumerate(written):
        at = spot.at("messages").at(place)
        if message.role not in ROLES:
            hint = suggest(message.role, ROLES)
            at.error(f"there is no role {message.role!r}", hint=hint, key="role")
        if "content" not in at.value and not message.tool_calls:
            at.error("the message has no 'content'")
        messages.append(
            Message(
                role=message.role,
                content=message.content,
                images=_images(at),
                tool_calls=_tool_calls(at),
                tool_call_id=message.tool_call_id,
            )
        )
    return tuple(messages)


def _tool_calls(spot: Spot) -> tuple[ToolCall, ...]:
    calls = []
    for at in spot.at("tool_calls").items() if spot.value.get("tool_calls") else ():
        try:
            from proctor.core.tool_calls import call_from

            calls.append(call_from(at.value))
        except ValueError as error:
            at.error(str(error))
    return tuple(calls)


def _references(spot: Spot, keys: CaseKeys) -> tuple[str, ...]:
    """Return the references, under whichever of their two names they are written."""
    if keys.reference and keys.references:
        spot.error(
            "reference and references say the same thing; write one of them", key="reference"
        )
    name = "reference" if keys.reference else "references"
    return _passages(spot, keys.reference or keys.references, name)


def _passages(spot: Spot, written: Sequence[_Passage], key: str) -> tuple[str, ...]:
    texts = []
    for passage, at in zip(written, spot.at(key).items() if written else (), strict=True):
        if (passage.text is None) == (passage.file is None):
            at.error("expected a string, or a mapping with the key 'file'")
        elif passage.file is not None:
            texts.append(at.at("file").file_text() or "")
        else:
            texts.append(passage.text or "")
    return tuple(texts)


def _criteria(spot: Spot, defaults: Defaults, excused: bool) -> tuple[WrittenCriterion, ...]:
    """Return the criteria of a case: its own, the suite's, or equality with its references."""
    criteria, own = defaults.criteria, spot.value.get("criteria")
    if criteria is None:
        if excused:
            return read_criteria(replace(spot, value={"exact_match": True}))
    elif criteria or own != []:
        return criteria
    if not excused:
        hint = "write 'criteria', or 'references' to compare the answer with"
        spot.error("nothing says how to score the answer to this case", hint=hint)
    else:
        spot.warn("the list of criteria is empty: the case cannot be scored", key="criteria")
    return ()


def _check_turns(spot: Spot, dialogue: Spec, criteria: Sequence[WrittenCriterion]) -> None:
    """Compare the turns that criteria score with those that the dialogue has."""
    if all(written.criterion.turn is None for written in criteria):
        return
    most = {
        "single_turn": 1,
        "scripted": len(dialogue.params.get("then", ())) + 1,
        TOOL_LOOP: dialogue.params.get("max_turns", 10),
        VIRTUAL_USER: dialogue.params.get("max_rounds"),
        **dict.fromkeys((STATEFUL_TOOLS, STATEFUL_USER), dialogue.params.get("max_turns", 30)),
    }.get(dialogue.name)
    for written in criteria:
        turn = written.criterion.turn
        if most is not None and turn is not None and turn >= most:
            spot.error(
                f"the criterion {written.criterion.id!r} scores turn {turn + 1}, and the dialogue"
                f" {dialogue.name!r} ends with turn {most}",
                key="criteria" if "criteria" in spot.value else "",
            )


def _warn_of_nothing_to_compare(spot: Spot, criteria: Sequence[WrittenCriterion]) -> None:
    for written in criteria:
        scorer = written.criterion.scorer
        if scorer.name in ("exact_match", "token_f1") or (
            scorer.name == "rouge" and not scorer.params.get("references")
        ):
            spot.warn(f"{scorer.name} compares with references, and the case has none")
        elif scorer.name == "contains" and "references" in scorer.params.values():
            hint = "for the word itself, write 'contains: {texts: references}'"
            spot.warn("contains looks for references, and the case has none", hint=hint)


def _check_points(spot: Spot, keys: CaseKeys, criteria: Sequence[WrittenCriterion]) -> None:
    """Compare the limits of a case with what its criteria can give."""
    low, high, out_of = keys.min_points, keys.max_points, keys.out_of
    if low is not None and high is not None and low > high:
        spot.error(f"min_points ({low:g}) is greater than max_points ({high:g})", key="min_points")
        return
    for name in ("max_points", "out_of"):
        limit = getattr(keys, name)
        if limit is not None and limit <= 0:
            spot.warn(f"{name} is {limit:g}: no marks can be won", key=name)
            return
    counted = [written for written in criteria if written.criterion.weight > 0]
    marks = [written.full_marks for written in counted]
    if not marks or None in marks:
        return
    best = sum(j.criterion.weight * (j.full_marks or 0.0) for j in counted)
    _warn_of_limits(spot, best, high, out_of)


def _warn_of_limits(spot: Spot, best: float, high: float | None, out_of: float | None) -> None:
    if best <= 0:
        spot.warn("the criteria give no points: the case cannot be scored")
        return
    if high is not None and high > best + 1e-9:
        message = f"max_points is {high:g}, but the criteria give {best:g} at most"
        spot.warn(message, hint=f"{best:g} will be taken as full marks", key="max_points")
    reached = best if high is None else min(best, high)
    if out_of is not None and out_of > reached + 1e-9:
        message = f"full marks cannot be reached: {reached:g} of {out_of:g} points can be won"
        spot.warn(message, key="out_of")
