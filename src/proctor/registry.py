"""One table from plugin names to classes; built-ins and strangers come through the same door."""

import importlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from proctor import origin_tables
from proctor.contracts.plain_params import plainly_built
from proctor.core.suite import VARIANT, Json, Spec
from proctor.errors import PluginError
from proctor.io import json_bytes
from proctor.io.search_paths import installed_entry_points
from proctor.records import dataclass
from proctor.suggestions import LOOSELY, suggest, suggest_scorer

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_OWN: Mapping[str, Mapping[str, str]] = {
    "scorer": {
        "actions": "proctor.scorers.structured.actions:Actions",
        "answer_relevance": "proctor.scorers.judged.rag:AnswerRelevance",
        "bert_score": "proctor.scorers.embedding.bert_score:BertScore",
        "bert_similarity": "proctor.scorers.embedding.bert_similarity:BertSimilarity",
        "blanks": "proctor.scorers.text.blanks:Blanks",
        "citations": "proctor.scorers.judged.citations:Citations",
        "command_ran": "proctor.scorers.agents.used:CommandRan",
        "contains": "proctor.scorers.text.comparisons:Contains",
        "context_precision": "proctor.scorers.judged.rag:ContextPrecision",
        "context_recall": "proctor.scorers.judged.rag:ContextRecall",
        "context_relevance": "proctor.scorers.judged.rag:ContextRelevance",
        "cost": "proctor.scorers.counts.spent:Cost",
        "eval_code": "proctor.scorers.programs.eval_code:EvalCode",
        "exact_match": "proctor.scorers.text.comparisons:ExactMatch",
        "faithfulness": "proctor.scorers.judged.rag:Faithfulness",
        "files_changed": "proctor.scorers.agents.files:FilesChanged",
        "hallucination": "proctor.scorers.judged.against_context:Hallucination",
        "hedging_language": "proctor.scorers.embedding.hedging:HedgingLanguage",
        "imported": "proctor.scorers.imported:ImportedScore",
        "instructions": "proctor.scorers.instructions.following:Instructions",
        "is_json": "proctor.scorers.structured.json_scorers:IsJson",
        "json_equal": "proctor.scorers.structured.json_equal:JsonEqual",
        "json_schema": "proctor.scorers.structured.json_scorers:FollowsSchema",
        "judged": "proctor.scorers.judged.criteria:Judged",
        "judged_correct": "proctor.scorers.judged.criteria:JudgedCorrect",
        "keywords": "proctor.scorers.text.keywords:Keywords",
        "language": "proctor.scorers.text.language:LanguageIs",
        "latency": "proctor.scorers.counts.spent:Latency",
        "length": "proctor.scorers.counts.length:Length",
        "matches": "proctor.scorers.text.comparisons:Matches",
        "maths": "proctor.scorers.maths.equality:Maths",
        "no_new_failures": "proctor.scorers.agents.failures:NoNewFailures",
        "noise_sensitivity": "proctor.scorers.judged.rag:NoiseSensitivity",
        "noted": "proctor.scorers.judged.noted:Noted",
        "number": "proctor.scorers.text.comparisons:Number",
        "python_check": "proctor.scorers.programs.python_check:PythonCheck",
        "qa_correctness": "proctor.scorers.judged.against_context:QaCorrectness",
        "rating": "proctor.scorers.judged.criteria:Rating",
        "rating_metric": "proctor.scorers.judged.rating_metric:RatingMetric",
        "readability": "proctor.scorers.counts.readability:Readability",
        "refusal": "proctor.scorers.text.refusal:Refuses",
        "retrieval": "proctor.scorers.retrieval.ranking:Retrieval",
        "rouge": "proctor.scorers.overlap.rouge:Rouge",
        "rubric": "proctor.scorers.judged.rubric:RubricItem",
        "says": "proctor.scorers.text.says:Says",
        "scoring_point": "proctor.scorers.judged.scoring_point:ScoringPoint",
        "similar": "proctor.scorers.embedding.similar:Similar",
        "skill_used": "proctor.scorers.agents.used:SkillUsed",
        "specificity": "proctor.scorers.counts.specificity:Specificity",
        "sql_equal": "proctor.scorers.structured.sql_equal:SqlEqual",
        "state_equal": "proctor.scorers.structured.state_equal:StateEqual",
        "summary_quality": "proctor.scorers.judged.summary_quality:SummaryQuality",
        "task_tests": "proctor.scorers.programs.task_tests:TaskTests",
        "text_metrics": "proctor.scorers.overlap.metrics:TextMetrics",
        "token_f1": "proctor.scorers.text.comparisons:TokenF1",  # nosec B105  # words, not a password
        "tool_calls": "proctor.scorers.structured.tool_calls:ToolCalls",
        "tool_used": "proctor.scorers.agents.used:ToolUsed",
        "unieval": "proctor.scorers.embedding.unieval:UniEval",
        "unit_tests": "proctor.scorers.programs.unit_tests:UnitTests",
        "word_count_match": "proctor.scorers.counts.word_count:WordCountMatch",
        "xml": "proctor.scorers.structured.xml:Xml",
    },
    "dialect": {
        "harbor": "proctor.formats.harbor.reader:Harbor",
        "native": "proctor.formats.native.dialect:Native",
        "promptfoo": "proctor.formats.promptfoo_config:PromptfooConfig",
        "recipe": "proctor.formats.recipes.reader:Recipes",
        "tau": "proctor.formats.tau.reader:Tau",
    },
    "candidate": {
        "acp": "proctor.agents.acp:AcpAgent",
        "claude-code": "proctor.agents.claude_code:ClaudeCode",
        "codex": "proctor.agents.codex:Codex",
        "exec": "proctor.agents.command:Command",
        "gemini-cli": "proctor.agents.gemini_cli:GeminiCli",
        "http": "proctor.agents.endpoint:HttpAgent",
        "nop": "proctor.agents.in_environment:Nop",
        "oracle": "proctor.agents.in_environment:Oracle",
        "opencode": "proctor.agents.opencode:OpenCode",
        "python": "proctor.agents.function:PythonFunction",
        "recorded": "proctor.agents.recorded:RecordedAgent",
    },
    "archive": {
        "inspect": "proctor.formats.imports.inspect_logs:InspectLogs",
        "lm-eval": "proctor.formats.imports.lm_eval_samples:LmEvalSamples",
        "harbor": "proctor.formats.imports.harbor_jobs:HarborJobs",
        "otlp": "proctor.formats.imports.otlp_traces:OtlpTraces",
        "promptfoo": "proctor.formats.imports.promptfoo_results:PromptfooResults",
    },
    "dialogue": {
        "clarify": "proctor.dialogues.clarify:Clarify",
        "fata": "proctor.dialogues.fata:Fata",
        "scripted": "proctor.dialogues.scripted:Scripted",
        "single_turn": "proctor.dialogues.single_turn:SingleTurn",
        "stateful_tools": "proctor.dialogues.stateful_tools:StatefulTools",
        "stateful_user": "proctor.dialogues.stateful_tools:StatefulUser",
        "tool_loop": "proctor.dialogues.tool_loop:ToolLoop",
        "virtual_user": "proctor.dialogues.virtual_user:VirtualUser",
    },
    "executor": {
        "local": "proctor.executors.local:LocalExecutor",
        "ray": "proctor.executors.ray:RayExecutor",
    },
    "measure": {
        "accuracy": "proctor.measures.basic:Accuracy",
        "agent_failure_rate": "proctor.measures.agents:AgentFailureRate",
        "agreement": "proctor.measures.agreement:JudgeAgreement",
        "ask_rate": "proctor.measures.dialogue:AskRate",
        "clarified": "proctor.measures.dialogue:Clarified",
        "clear_direct_rate": "proctor.measures.dialogue:ClearDirectRate",
        "cov_rate": "proctor.measures.dialogue:CovRate",
        "healthbench": "proctor.measures.answers:HealthBench",
        "hit_rate": "proctor.measures.agents:HitRate",
        "kept_asking": "proctor.measures.dialogue:KeptAsking",
        "mean_points": "proctor.measures.basic:MeanPoints",
        "named_metric": "proctor.measures.named:NamedMetric",
        "pass@1": "proctor.measures.answers:PassAt1",
        "pass@k": "proctor.measures.repeated:PassAtK",
        "pass^k": "proctor.measures.repeated:PassHatK",
        "pass_rate": "proctor.measures.basic:PassRate",  # nosec B105  # no password
        "reasons": "proctor.measures.dialogue:Reasons",
        "retrieval": "proctor.measures.retrieval:RetrievalMean",
        "score": "proctor.measures.dialogue:AskScore",
        "truncation_rate": "proctor.measures.answers:TruncationRate",
        "unq_events": "proctor.measures.dialogue:UnqEvents",
        "unq_rate": "proctor.measures.dialogue:UnqRate",
        "unreadable": "proctor.measures.dialogue:UnreadableVerdicts",
        "vague_ask_rate": "proctor.measures.dialogue:VagueAskRate",
    },
    "model": {
        "anthropic": "proctor.models.anthropic:Anthropic",
        "azure": "proctor.models.openai:Azure",
        "gemini": "proctor.models.gemini:Gemini",
        "local": "proctor.models.local:Local",
        "openai": "proctor.models.openai:OpenAI",
        "openai-chat": "proctor.models.openai:OpenAIChat",
        "openai-responses": "proctor.models.openai:OpenAIResponses",
        "replay": "proctor.models.replay:Replay",
    },
    "report": {
        "csv": "proctor.reports.tabular:CsvReport",
        "html": "proctor.reports.html:HtmlReport",
        "json": "proctor.reports.structured:JsonReport",
        "junit": "proctor.reports.junit:JunitReport",
        "md": "proctor.reports.tabular:MarkdownReport",
        "table": "proctor.reports.tabular:TableReport",
    },
    "sandbox": {
        "bubblewrap": "proctor.sandboxes.own_root:TaskBubblewrap",
        "docker": "proctor.sandboxes.container:Container",
        "process": "proctor.sandboxes.plain_process:PlainProcess",
    },
    "writer": {
        "native": "proctor.formats.native.writer:NativeWriter",
    },
    "layout": {},
}
BUILT_IN: Mapping[str, Mapping[str, str]] = {
    kind: {**rows, **origin_tables.plugins(kind)} for kind, rows in _OWN.items()
}
"""All that comes with Proctor: the plugins above, and those of origins."""

CONTRACTS: Mapping[str, str] = {
    "scorer": "proctor.contracts.scorer:Scorer",
    "dialect": "proctor.contracts.dialect:Dialect",
    "candidate": "proctor.contracts.agent:Agent",
    "archive": "proctor.contracts.archive:Archive",
    "dialogue": "proctor.contracts.dialogue:Dialogue",
    "executor": "proctor.contracts.executor:Executor",
    "measure": "proctor.contracts.measure:Measure",
    "model": "proctor.contracts.model:Model",
    "report": "proctor.contracts.report:Report",
    "sandbox": "proctor.contracts.sandbox:Sandbox",
    "writer": "proctor.contracts.dialect:SuiteWriter",
    "layout": "proctor.contracts.report:Layout",
}
"""The class that every plugin of a kind is a subclass of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a plugin."""

    name: str
    type: str
    default: Any
    required: bool


LENT = "python:"
"""What the name of a plugin begins with that a program lent as an object."""
MOST_LENT = 10_000
_LENT: dict[tuple[str, str], Any] = {}


def lend(kind: str, plugin: Any, label: str, key: str) -> str:
    """Make an object of a running program a plugin of this process, and return its name.

    The name says what the object is by its key, so that in every process the same object has the
    same name, and no two objects share one. Where the program has ended, nothing has this name.
    """
    name = f"{LENT}{label}#{key[:12]}"
    if len(_LENT) >= MOST_LENT:
        _LENT.pop(next(iter(_LENT)), None)
    _LENT[kind, name] = plugin
    return name


def lent(kind: str, name: str) -> Any:
    """Return the object that was lent under a name; none where none was."""
    return _LENT.get((kind, name)) if name.startswith(LENT) else None


def is_lent(plugin: Any) -> bool:
    """Tell whether an object belongs to the calling program, which closes it itself."""
    return any(plugin is one for one in _LENT.values())


def name_of(kind: str, plugin_class: type[Any]) -> str:
    """Return the name of a class that comes with Proctor or is installed; empty where it is not."""
    target = f"{plugin_class.__module__}:{plugin_class.__qualname__}"
    for name, built_in in BUILT_IN[kind].items():
        if built_in == target:
            return name
    return next((name for name, entry in _installed(kind).items() if entry.value == target), "")


def names(kind: str) -> list[str]:
    """List the names known for a kind of plugin, installed ones included."""
    installed = _installed(kind)
    return sorted({*BUILT_IN[kind], *installed}) if installed else list(_own_names(kind))


def find(kind: str, name: str, *, allow_import: bool = False) -> type[Any]:
    """Return the class behind a name, or say which name was probably meant."""
    if (target := BUILT_IN[kind].get(name)) is not None:
        built_in: type[Any] = _load(kind, target)
        return built_in
    if (instance := lent(kind, name)) is not None:
        return type(instance)
    if name.startswith(LENT) and "#" in name:
        raise PluginError(
            f"the {kind} {name!r} was an object of a Python program, which has ended"
            " (fix: hand it over again, or write it as a class of a module)"
        )
    if (entry := _installed(kind).get(name)) is not None:
        origin = f" of {entry.dist.name}" if entry.dist else ""
        what = f"the {kind} {name!r} (entry point {entry.value!r}{origin})"
        return _plugin(kind, f"{entry.module}:{entry.attr}", what)
    if ":" in name:
        if not allow_import:
            raise PluginError(
                f"the {kind} {name!r} would import code of the suite's choice"
                " (fix: pass --allow-import if you trust this suite)"
            )
        return _plugin(kind, name, f"the {kind} {name!r}")
    choices = names(kind)
    search = suggest_scorer if kind == "scorer" else suggest
    meant = search(name, choices, listed=choices, cutoff=LOOSELY)
    raise PluginError(f"there is no {kind} {name!r} ({meant})")


def variant(kind: str, name: str) -> type[Any] | None:
    """Return the class that an origin has in place of a plugin; none where no origin has one.

    It is a subclass with one more parameter, by which a spec asks for it.
    """
    target = _variants(kind).get(name)
    return None if target is None else _load(kind, target)


def variant_names(kind: str, name: str) -> tuple[str, ...]:
    """Return the names that a spec may ask for a variant by."""
    own_class = variant(kind, name)
    return () if own_class is None else get_args(get_type_hints(own_class)[VARIANT])


def variant_of(spec: Spec) -> dict[str, Json]:
    """Return the parameters by which another plugin is of the same origin's variant as this one."""
    return {VARIANT: spec.params[VARIANT]} if spec.params.get(VARIANT) else {}


def class_of(kind: str, spec: Spec, *, allow_import: bool = False) -> type[Any]:
    """Return the class behind a spec: the plugin of that name, or an origin's variant of it."""
    if spec.params.get(VARIANT) and (variant_class := variant(kind, spec.name)) is not None:
        return variant_class
    return find(kind, spec.name, allow_import=allow_import)


MOST_SHARED = 10_000
"""How many scorers are kept for those who ask for the same."""
_SHARED: dict[tuple[str, bytes], Any] = {}
_OF_SPEC: dict[int, tuple[Spec, Any]] = {}
"""The shared scorers of specs that were asked for last, by the identity of the spec."""


def build(kind: str, spec: Spec, *, allow_import: bool = False) -> Any:
    """Make a plugin of its spec, checking every parameter.

    Some of Proctor's own scorers depend on nothing but their parameters: who asks for the same
    scorer gets the same object. A suite is read, surveyed and scored, and each step asks for it.
    """
    if kind == "scorer":
        if (scorer := shared_scorer(spec)) is not None:
            return scorer
        cls: Any = _self_contained(spec.name)
        if cls is not None and not spec.params.get(VARIANT):
            return _shared(cls, spec)
        if spec.name in BUILT_IN[kind]:
            cls = class_of(kind, spec)
            return _shared(cls, spec) if _is_self_contained(cls) else _built(cls, kind, spec)
    if (instance := lent(kind, spec.name)) is not None:
        return instance
    return _built(class_of(kind, spec, allow_import=allow_import), kind, spec)


def shared_scorer(spec: Spec) -> Any | None:
    """Return the shared scorer of this very spec, if it was asked for before."""
    entry = _OF_SPEC.get(id(spec))
    return entry[1] if entry is not None and entry[0] is spec else None


def _shared(cls: Any, spec: Spec) -> Any:
    """Return the one scorer of these parameters, or make it."""
    if not (params := _written(spec.params)):
        return _built(cls, "scorer", spec)
    key = spec.name, params
    if (shared := _SHARED.get(key)) is None:
        shared = _built(cls, "scorer", spec)
        if len(_SHARED) >= MOST_SHARED:
            _SHARED.clear()
        _SHARED[key] = shared
    if len(_OF_SPEC) >= MOST_SHARED:
        _OF_SPEC.clear()
    _OF_SPEC[id(spec)] = spec, shared
    return shared


@cache
def _self_contained(name: str) -> Any | None:
    """Return the scorer of a name that comes with Proctor, if it is self-contained."""
    cls: Any = find("scorer", name) if name in BUILT_IN["scorer"] else None
    return cls if cls is not None and _is_self_contained(cls) else None


@cache
def _is_self_contained(cls: Any) -> bool:
    """Tell whether a scorer scores here and now, with no program or package that may change."""
    contract = _load("scorer", CONTRACTS["scorer"])
    return cls.instant is True and cls.toolchain is contract.toolchain


def _written(params: Mapping[str, Json]) -> bytes:
    """Return parameters as JSON; nothing where JSON does not tell them apart from others."""
    try:
        text = json_bytes.dumps_small(params)
    except (TypeError, ValueError, RecursionError):
        return b""
    return b"" if b"null" in text else text


def _built(cls: Any, kind: str, spec: Spec) -> Any:
    if spec.name in BUILT_IN[kind] and (plain := plainly_built(cls, spec.params)) is not None:
        return plain
    from pydantic import BaseModel, ValidationError
    from pydantic.errors import PydanticUserError

    if not is_dataclass(cls) and not issubclass(cls, BaseModel):
        fix = f"fix: write @dataclass(frozen=True) above class {cls.__name__}"
        raise PluginError(f"{kind} {spec.name!r}: {cls.__name__} is no dataclass ({fix})")
    field_names, params = _field_names(cls), dict(spec.params)
    offered = field_names
    if VARIANT not in field_names and spec.name in _variants(kind):
        params.pop(VARIANT, None)  # It is empty: the plugin itself is meant.
        offered = (*field_names, VARIANT)
    wrong = [_unknown(name, offered) for name in params if name not in field_names]
    if wrong:
        raise PluginError(f"{kind} {spec.name!r}: {'; '.join(wrong)}")
    try:
        built = _adapter(cls).validate_python(params)
    except (PydanticUserError, NameError) as error:
        reason = str(error).splitlines()[0]
        message = f"{kind} {spec.name!r}: its parameters cannot be read: {reason}"
        raise PluginError(message) from None
    except ValidationError as error:
        from proctor.io.validation import words_of

        raise PluginError(f"{kind} {spec.name!r}: {'; '.join(words_of(error))}") from None
    if not _finite(built) and (endless := next(_endless(built, ()), None)) is not None:
        raise PluginError(f"{kind} {spec.name!r}: {endless}: expected a finite number")
    return built


def parameters(kind: str, name: str) -> list[Parameter]:
    """Describe the parameters of a plugin, the main one first."""
    own = [
        Parameter(
            name=f.name,
            type=_type_name(f.type),
            default=f.default_factory() if f.default_factory is not MISSING else f.default,
            required=f.default is MISSING and f.default_factory is MISSING,
        )
        for f in fields(find(kind, name))
    ]
    if name in _variants(kind):
        own.append(Parameter(name=VARIANT, type="str", default="", required=False))
    return own


def _type_name(kind: Any) -> str:
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


def main_parameter(kind: str, name: str) -> str | None:
    """Return the parameter that ``name: value`` stands for; a class without fields has none."""
    plugin: Any = find(kind, name)
    return next(iter(_field_names(plugin)), None)


def params_from(kind: str, name: str, value: Json) -> dict[str, Json]:
    """Read ``name: value`` as people write it: a mapping of parameters, or the main one alone."""
    if value is None or value is True:
        return {}
    if isinstance(value, dict):
        return dict(value)
    main = main_parameter(kind, name)
    if main is None:
        raise PluginError(f"the {kind} {name!r} takes no parameter")
    return {main: value}


def describe(kind: str) -> Iterator[tuple[str, str]]:
    """Yield each name of a kind with the first line of its class's description."""
    for name in names(kind):
        try:
            text = (find(kind, name).__doc__ or "").strip()
        except PluginError as error:
            text = f"Cannot be used: {error}"
        yield name, text.splitlines()[0] if text else ""


@cache
def _variants(kind: str) -> Mapping[str, str]:
    return origin_tables.variants(kind)


@cache
def _own_names(kind: str) -> tuple[str, ...]:
    return tuple(sorted(BUILT_IN[kind]))


@cache
def _installed(kind: str) -> "Mapping[str, EntryPoint]":
    return installed_entry_points(f"proctor.{kind}s")


@cache
def _adapter(cls: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(cls)


@cache
def _load(kind: str, target: str) -> Any:
    """Return what ``module:name`` is; ``kind`` says what it is needed for."""
    module, _, path = target.partition(":")
    try:
        value: Any = importlib.import_module(module)
    except ImportError as error:
        raise PluginError(f"the {kind} {target!r} cannot be imported: {error}") from None
    try:
        for name in path.split("."):
            value = getattr(value, name)
    except AttributeError:
        raise PluginError(f"the module {module!r} has no {path!r}") from None
    return value


def _plugin(kind: str, target: str, what: str) -> type[Any]:
    """Return a stranger's class, or say why it cannot be a plugin of this kind."""
    try:
        plugin = _load(kind, target)
    except PluginError as error:
        raise PluginError(f"{what}: {error}") from None
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise PluginError(f"{what} cannot be imported: {text}") from error
    if not isinstance(plugin, type):
        raise PluginError(f"{what} is not a class")
    contract = _load(kind, CONTRACTS[kind])
    if not issubclass(plugin, contract):
        home = contract.__module__
        fix = f"fix: derive {plugin.__name__} from {home}.{contract.__name__}"
        raise PluginError(f"{what} is not a subclass of {contract.__name__} ({fix})")
    if missing := sorted(getattr(plugin, "__abstractmethods__", ())):
        raise PluginError(f"{what} does not define {', '.join(missing)}")
    return plugin


def _finite(value: Any) -> bool:
    """Tell quickly whether no number of a plugin's parameters is infinite or none at all."""
    kind: Any = type(value)
    if kind in _PLAIN:
        return True
    if isinstance(value, float):
        return isfinite(value)
    parts = value if isinstance(value, list | tuple) else _parts(value, kind)
    return all(_finite(part) for part in parts if type(part) not in _PLAIN)


def _parts(value: Any, kind: Any) -> list[Any]:
    return [getattr(value, name, None) for name in _field_names(kind)]


_PLAIN = frozenset({str, int, bool, type(None)})


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) else ()


def _endless(value: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the parameters that are infinite or not a number, however deep they lie."""
    if isinstance(value, float):
        if not isfinite(value):
            yield ".".join(path)
    elif is_dataclass(value):
        for f in fields(value):
            yield from _endless(getattr(value, f.name, None), (*path, f.name))
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from _endless(part, (*path, str(number)))


def _unknown(name: str, field_names: Collection[str]) -> str:
    meant = (
        suggest(name, field_names, listed=sorted(field_names), cutoff=LOOSELY)
        if field_names
        else "it has none"
    )
    return f"unknown parameter {name!r} ({meant})"
