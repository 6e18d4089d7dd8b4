"""A suite of any origin as native files that people can read and change."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from proctor import registry
from proctor.contracts.dialect import SuiteWriter
from proctor.core.fingerprint import plain
from proctor.core.prompt import question_of
from proctor.core.suite import VARIANT, CandidatePrompt, Case, Criterion, Json, Message, Spec, Suite
from proctor.errors import PluginError, SuiteError
from proctor.formats.native.case import WITH_TASK
from proctor.formats.native.case_files import copy_files, file_rows
from proctor.formats.native.criteria import LONG_KEYS, OWN_KEYS, free_id
from proctor.formats.native.tools import PROVIDER_TYPES
from proctor.io.text_files import MAX_FILE, MAX_LINE
from proctor.io.yaml_files import yaml_text

MAX_INLINE = 2_000
CASES_FILE = "cases.jsonl"
SINGLE_TURN = Spec(name="single_turn")

_NUMBERS: Sequence[tuple[str, float | None]] = (
    ("weight", 1.0),
    ("full_score", 1.0),
    ("null_score", 0.0),
    ("min_points", None),
    ("max_points", None),
    ("out_of", None),
)


@dataclass(frozen=True)
class NativeWriter(SuiteWriter):
    """Suites of any origin in Proctor's own format."""

    def write(self, suite: Suite, folder: Path) -> Path:
        return write_native(suite, folder)


def write_native(suite: Suite, folder: Path) -> Path:
    """Write a suite as ``suite.yaml``; very many or very long cases go to a file beside it."""
    header = _header(suite)
    written = [case_data(case, keep_source=suite.dialect != "native") for case in suite.cases]
    try:
        text = None if len(written) > MAX_INLINE else yaml_text({**header, "cases": written})
        if text is None or not _is_readable(text):
            text = yaml_text({**header, "cases": [CASES_FILE]})
        else:
            written = []
        rows = [json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in written]
        for case in suite.cases:
            copy_files(case.files, folder)
        return _save(folder, text, rows)
    except (ValueError, UnicodeEncodeError) as error:
        raise SuiteError(f"the suite {suite.name!r} cannot be written: {error}") from None


def case_data(case: Case, *, keep_source: bool = False) -> dict[str, Json]:
    """Return a case as the keys and values of a native file, in the shortest exact form."""
    has_task = case.dialogue.name in WITH_TASK and bool(case.hidden.get("task"))
    if not (case.messages or has_task) or not (case.criteria or case.references):
        raise SuiteError(f"the case {case.id!r} asks nothing, or nothing says how to score it")
    data: dict[str, Json] = {"id": case.id, **_question_keys(case)}
    if case.references:
        data["references"] = _one_or_list(case.references)
    if case.context:
        data["context"] = _one_or_list(case.context)
    if (criteria := _criteria(case)) is not None:
        data["criteria"] = criteria
    if case.tags:
        data["tags"] = {name: _one_or_list(values) for name, values in case.tags.items()}
    data |= {key: value for key, default in _NUMBERS if (value := getattr(case, key)) != default}
    data |= _tools(case)
    if case.dialogue != SINGLE_TURN:
        data["dialogue"] = _plugin(case.dialogue)
    rest = {
        "hidden": plain(case.hidden),
        "files": file_rows(case.files),
        "setup": plain(case.setup),
    }
    data |= {key: value for key, value in rest.items() if value}
    if case.cluster:
        data["cluster"] = case.cluster
    if keep_source and case.source:
        data["source"] = case.source
    return data


def _tools(case: Case) -> dict[str, Json]:
    """Return the tools of a case and the shape of its reply."""
    data: dict[str, Json] = {}
    if case.tools:
        data["tools"] = [plain(tool) for tool in case.tools]
    if case.tool_choice:
        data["tool_choice"] = case.tool_choice
    if case.response_format:
        schema = plain(case.response_format)
        # A schema that reads like what a provider writes around one is written with it.
        wrapped = schema.get("type") in PROVIDER_TYPES or set(schema) == {"file"}
        data["response_format"] = (
            {"type": "json_schema", "json_schema": {"schema": schema}} if wrapped else schema
        )
    return data


def _header(suite: Suite) -> dict[str, Json]:
    header: dict[str, Json] = {"name": suite.name}
    defaults = {"version": "", "description": "", "language": "en", "reduce": "avg"}
    for key, default in defaults.items():
        if (value := getattr(suite, key)) != default:
            header[key] = value
    if suite.measures:
        header["measures"] = [_plugin(measure) for measure in suite.measures]
    if suite.prompts:
        header["prompts"] = {one.name: _prompt(one) for one in suite.prompts}
    if suite.cluster:
        header["cluster"] = suite.cluster
    if suite.dialect != "native":
        header["origin"] = suite.dialect
    if suite.variant:
        header[VARIANT] = suite.variant
    return header


def _is_readable(text: str) -> bool:
    """Tell whether a file stays well within what is read."""
    return len(text) < MAX_FILE // 8 and max(map(len, text.split("\n"))) < MAX_LINE


def _save(folder: Path, text: str, rows: Sequence[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "suite.yaml"
    path.write_text(text, encoding="utf-8", newline="\n")
    if rows:
        with (folder / CASES_FILE).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(rows)
    return path


def _question_keys(case: Case) -> dict[str, Json]:
    """Return the question, or the vars that it is made of."""
    data = _question(case.messages)
    if not case.vars:
        return data
    if data.get("ask") == question_of(case.vars):
        del data["ask"]
    return {**data, "vars": plain(case.vars)}


def _question(messages: Sequence[Message]) -> dict[str, Json]:
    if any(message.images or message.tool_calls or message.tool_call_id for message in messages):
        return {"messages": [_message(message) for message in messages]}
    roles = [message.role for message in messages]
    if not roles:
        return {}
    if roles == ["user"]:
        return {"ask": messages[0].content}
    if roles == ["system", "user"] and messages[0].content:
        return {"system": messages[0].content, "ask": messages[1].content}
    return {"messages": [_message(message) for message in messages]}


def _message(message: Message) -> dict[str, Json]:
    data: dict[str, Json] = {"role": message.role, "content": message.content}
    rest = {
        "images": list(message.images),
        "tool_calls": plain(message.tool_calls),
        "tool_call_id": message.tool_call_id,
    }
    return data | {key: value for key, value in rest.items() if value}


def _prompt(prompt: CandidatePrompt) -> Json:
    return [_message(message) for message in prompt.messages] or prompt.text


def _one_or_list(texts: Sequence[str]) -> Json:
    return texts[0] if len(texts) == 1 else list(texts)


def _criteria(case: Case) -> Json:
    """Return the criteria; none where those that the reader fills in are meant."""
    ids = _default_ids(case.criteria)
    if case.references and case.criteria == (
        Criterion(id="exact_match", scorer=Spec(name="exact_match")),
    ):
        return None
    written = [_criterion(c, ids) for c in case.criteria]
    return written[0] if len(written) == 1 else written


def _default_ids(criteria: Sequence[Criterion]) -> set[str]:
    """Return the ids that need not be written, because the reader makes the same.

    Ids that are written change which ones the reader makes, so it is tried until nothing changes.
    """
    left_out = {c.id for c in criteria}
    while True:
        taken = {c.id for c in criteria if c.id not in left_out}
        wrong = set()
        for criterion in criteria:
            if criterion.id not in left_out:
                continue
            default_id = free_id(criterion.scorer.name, taken)
            taken.add(default_id)
            if default_id != criterion.id:
                wrong.add(criterion.id)
        if not wrong:
            return left_out
        left_out -= set(islice(sorted(wrong), 1))


def _criterion(criterion: Criterion, default_ids: set[str]) -> Json:
    label: dict[str, Json] = {} if criterion.id in default_ids else {"id": criterion.id}
    if criterion.weight != 1.0:
        label["weight"] = criterion.weight
    if criterion.metric:
        label["metric"] = criterion.metric
    if criterion.turn is not None:
        label["turn"] = criterion.turn + 1
    name, params = criterion.scorer.name, plain(criterion.scorer.params)
    text = params.get("texts") if name == "contains" and len(params) == 1 else None
    if isinstance(text, str) and not label and text not in registry.names("scorer"):
        return text
    if name in (*OWN_KEYS, *LONG_KEYS):
        return {"scorer": name, "with": params, **label}
    return {name: _value(name, params), **label}


def _value(name: str, params: Mapping[str, Json]) -> Json:
    """Return parameters as they stand behind a scorer's name: the main one alone where it is."""
    if not params:
        return True
    if len(params) > 1 or ":" in name:
        return params
    try:
        main = registry.main_parameter("scorer", name)
    except PluginError:
        return params
    value = params.get(main) if main else None
    return params if value is None or value is True or isinstance(value, dict) else value


def _plugin(spec: Spec) -> Json:
    params: Any = plain(spec.params)
    return {spec.name: params} if params else spec.name
