"""What to examine with: suites, their cases and the criteria of a case."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from proctor.core.prompt_fences import Mark
from proctor.records import dataclass

# A JSON value. Any, because mypy cannot narrow a recursive alias where plugins read parameters.
Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A storable call: the name of a plugin and its JSON parameters."""

    name: str
    params: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool that a model may call."""

    name: str
    description: str = ""
    parameters: Mapping[str, Json] = field(default_factory=dict)
    """JSON Schema of its arguments; empty where it takes none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool by a model."""

    name: str
    arguments: Json = field(default_factory=dict)
    """The decoded arguments, usually a mapping; the text itself where it is not valid JSON."""
    id: str = ""
    """Tells apart the calls of one message; a message with the role ``tool`` refers to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a transcript."""

    role: str
    """``system``, ``developer``, ``user``, ``assistant`` or ``tool``."""
    content: str
    images: tuple[str, ...] = ()
    """Pictures that come with the text, as ``data:`` or ``https:`` addresses."""
    thinking: str = ""
    """What a model wrote before its answer; never scored, and not sent back as text."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The tools that an assistant called with this message."""
    tool_call_id: str = ""
    """The call whose result this is, in a message with the role ``tool``."""
    carried: Mapping[str, Json] = field(default_factory=dict, hash=False)
    """What a provider wants back unchanged with this message, by the provider's name: signed or
    encrypted thinking. Never scored."""
    marks: tuple[Mark, ...] = field(
        default=(), compare=False, repr=False, metadata={"is_content": False}
    )
    """The marks around strangers' words in a prompt; what they are is not part of any key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidatePrompt:
    """A template for what a candidate is shown of a case; it belongs to the candidate."""

    name: str
    text: str = ""
    """The words that stand in the place of the question; other messages of a case stay."""
    messages: tuple[Message, ...] = ()
    """A whole conversation in the place of the case's own, where there is no ``text``."""
    place: str = field(default="", compare=False, metadata={"is_content": False})
    """The file that it was written in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One thing to score in a case; a negative weight is a penalty, weight 0 is only shown."""

    id: str
    scorer: Spec
    weight: float = 1.0
    metric: str = ""
    """The row of the breakdown by metric; empty means the scorer's name."""
    turn: int | None = None
    """The turn that is scored, from 0, with all before it; none means the whole attempt."""

    @property
    def label(self) -> str:
        """Return the name of this criterion's row in the breakdown by metric."""
        return self.metric or self.scorer.name


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseFile:
    """A file that a candidate finds in its working folder."""

    name: str
    """Its name in the working folder, with ``/`` between folders."""
    digest: str
    """The key of its content."""
    path: str = ""
    """Where it lies now; not part of its content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to ask, and how its answer is scored."""

    id: str
    messages: tuple[Message, ...]
    criteria: tuple[Criterion, ...]
    references: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    hidden: Mapping[str, Json] = field(default_factory=dict)
    """Facts for judges only; a candidate never sees them."""
    dialogue: Spec = field(default_factory=lambda: Spec(name="single_turn"))
    tags: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weight: float = 1.0
    full_score: float = 1.0
    null_score: float = 0.0
    min_points: float | None = None
    max_points: float | None = None
    out_of: float | None = None
    """A fixed denominator, where a format prescribes one; else it follows from the criteria."""
    files: tuple[CaseFile, ...] = ()
    """What lies in an agent's working folder when it begins."""
    setup: Mapping[str, Json] = field(default_factory=dict)
    """What an agent's working place needs: settings, commands, packages."""
    tools: tuple[Tool, ...] = ()
    """The tools that a candidate may call."""
    tool_choice: str = ""
    """``auto``, ``none``, ``required`` or the name of a tool; empty means the server's default."""
    response_format: Mapping[str, Json] = field(default_factory=dict)
    """JSON Schema that the reply is to follow; empty where it may be any text."""
    vars: Mapping[str, Json] = field(default_factory=dict)
    """The values that the templates of prompts name."""
    cluster: str = ""
    """The name of what it belongs to, such as the question of which it is a paraphrase: all cases
    of one cluster are one draw in statistics. Empty means that the case stands for itself."""
    source: str = ""
    """Where the case was written, as its format names it; not part of its content."""

    @property
    def prompt(self) -> str:
        """Return the text of the last user message, the question as such."""
        for message in reversed(self.messages):
            if message.role == "user":
                return message.content
        return ""


VARIANT = "compat"
"""What the name of an origin's variant is kept under: in specs, suites, settings, signatures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Cases, how attempts at them fold into one value, and measures."""

    name: str
    cases: Sequence[Case]
    version: str = ""
    description: str = ""
    language: str = "en"
    reduce: str = "avg"
    measures: tuple[Spec, ...] = ()
    dialect: str = "native"
    cluster: str = ""
    """The tag, or the field of a case, whose value is the cluster of a case that names none."""
    prompts: tuple[CandidatePrompt, ...] = ()
    """The ways in which candidates are asked the cases; not part of what the suite is."""
    compat: str = ""
    """``original`` where the format's own odd behaviour is kept, so that old numbers come out."""

    @property
    def variant(self) -> str:
        """Return the name of the variant that the suite's origin has of everything; often none."""
        return self.compat

    @property
    def attempts_in_turn(self) -> bool:
        """Tell whether no case has its second attempt before every case has had its first."""
        return self.compat == "original"

    @property
    def shares_of_value(self) -> bool:
        """Tell whether metrics are parts of what a case can give, not of what its criteria can."""
        return bool(self.compat)
