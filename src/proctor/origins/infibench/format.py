"""The InfiBench files as models: which key may stand where, and what it may hold."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from proctor.io.validation import Strict

METRICS = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def _scalar(value: Any) -> Any:
    """Let any single value pass; how it was spelt is looked up where it stands."""
    if isinstance(value, str | int | float):
        return value
    raise PydanticCustomError("string_type", "expected a string")


def _some(value: list[Any]) -> list[Any]:
    if not value:
        raise PydanticCustomError("empty_list", "the list is empty; at least one entry is needed")
    return value


def _kind(value: Any) -> str:
    if isinstance(value, Mapping | Strict):
        return "mapping"
    return "list" if isinstance(value, list) else "text"


def _two_kinds(value: Any) -> str:
    return "mapping" if _kind(value) == "mapping" else "text"


def _list_or_text(value: Any) -> str:
    return "list" if isinstance(value, list) else "text"


Text = Annotated[Any, BeforeValidator(_scalar)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(allow_inf_nan=False, gt=0)]
Texts = Annotated[
    Annotated[Text, Tag("text")] | Annotated[list[Text], AfterValidator(_some), Tag("list")],
    Discriminator(_list_or_text),
]


class WrittenHandler(Strict):
    """A Python function beside the case."""

    module: str
    func: str


class WrittenNode(Strict):
    """A keyword, one of several nodes, or all of them."""

    content: "Content | None" = None
    any_of: "Annotated[list[Content], AfterValidator(_some)] | None" = Field(None, alias="or")
    all_of: "Annotated[list[Content], AfterValidator(_some)] | None" = Field(None, alias="and")
    cond: Text | None = None
    regex: bool | None = None
    to_lower: bool | None = None
    weight: Number | None = None
    neg: bool | None = None

    @property
    def says_nothing(self) -> bool:
        """Tell whether there is nothing to look for."""
        return self.content is None and self.any_of is None and self.all_of is None

    @model_validator(mode="after")
    def _has_content(self) -> "WrittenNode":
        if self.says_nothing:
            raise PydanticCustomError(
                "no_content", "nothing to look for: one of 'content', 'or' and 'and' is needed"
            )
        return self


Content = Annotated[
    Annotated[Text, Tag("text")] | Annotated[WrittenNode, Tag("mapping")], Discriminator(_two_kinds)
]


class WrittenRule(WrittenNode):
    """Points for a node that is found, or the function that corrects the points."""

    post_handler: WrittenHandler | None = None

    @property
    def says_nothing(self) -> bool:
        return self.post_handler is None and super().says_nothing


class AnswerEntry(Strict):
    """Right answers for a blank."""

    content: "Answers | None" = None
    any_of: "Annotated[list[Answers], AfterValidator(_some)] | None" = Field(None, alias="or")
    cond: Text | None = None
    regex: bool | None = None
    to_lower: bool | None = None
    weight: Number | None = None

    @model_validator(mode="after")
    def _has_content(self) -> "AnswerEntry":
        if self.content is None and self.any_of is None:
            raise PydanticCustomError(
                "no_content", "no right answer: one of 'content' and 'or' is needed"
            )
        return self


OneAnswer = Annotated[
    Annotated[Text, Tag("text")] | Annotated[AnswerEntry, Tag("mapping")], Discriminator(_two_kinds)
]
Answers = Annotated[
    Annotated[Text, Tag("text")]
    | Annotated[AnswerEntry, Tag("mapping")]
    | Annotated[list[OneAnswer], AfterValidator(_some), Tag("list")],
    Discriminator(_kind),
]


class WrittenTarget(AnswerEntry):
    """The right answers for one blank, and their weight."""

    substr_match: bool = False


class BlankFilling(Strict):
    """A template with blanks, and the right answers for them."""

    template: str
    blank_str: str = "[blank]"
    escape: str | None = None
    prefix: str = ""
    targets: list[
        Annotated[
            Annotated[WrittenTarget, Tag("mapping")] | Annotated[Text, Tag("text")],
            Discriminator(_two_kinds),
        ]
    ]
    post_handler: WrittenHandler | None = None


class WrittenUnitTest(Strict):
    """One test of a program."""

    content: str | None = None
    path: str | None = None
    prefix: str = ""
    prefix_path: str | None = None
    cleanup_path: str | None = None
    weight: Number = 1.0
    timeout: Positive | None = None
    only_longest: bool = False

    @model_validator(mode="after")
    def _has_content(self) -> "WrittenUnitTest":
        if self.content is None and self.path is None:
            raise PydanticCustomError("no_content", "one of 'content' and 'path' is needed")
        return self


class WrittenUnitTests(Strict):
    """The tests of a program."""

    lang: Text | None = None
    tests: Annotated[
        list[
            Annotated[
                Annotated[WrittenUnitTest, Tag("mapping")] | Annotated[Text, Tag("text")],
                Discriminator(_two_kinds),
            ]
        ],
        AfterValidator(_some),
    ]


class Reference(Strict):
    """The file of a reference answer."""

    path: str


def _metric(value: str) -> str:
    if value not in METRICS:
        metrics = ", ".join(METRICS)
        raise PydanticCustomError(
            "unknown_metric",
            "unknown metric '{value}' (known are: {known})",
            {"value": value, "known": metrics},
        )
    return value


class Similarity(Strict):
    """References that the answer is compared with."""

    metric: Annotated[str, AfterValidator(_metric)]
    references: Annotated[
        list[
            Annotated[
                Annotated[Reference, Tag("mapping")] | Annotated[Text, Tag("text")],
                Discriminator(_two_kinds),
            ]
        ],
        AfterValidator(_some),
    ]
    max_score: Number | None = None
    min_score: Number | None = None
    weight: Number = 1.0


class Customized(WrittenHandler):
    """A Python function that scores the answer."""

    real_metric_type: str | None = None


class Grading(Strict):
    """The way in which a case is scored."""

    max_score: Positive | None = None
    min_score: Number | None = None
    keywords: (
        Annotated[
            list[
                Annotated[
                    Annotated[WrittenRule, Tag("mapping")] | Annotated[Text, Tag("text")],
                    Discriminator(_two_kinds),
                ]
            ],
            AfterValidator(_some),
        ]
        | None
    ) = None
    blank_filling: BlankFilling | None = None
    unit_test: WrittenUnitTests | None = None
    similarity: Annotated[list[Similarity], AfterValidator(_some)] | None = None
    customized: Customized | None = None


class WrittenCase(Strict):
    """A case as it is written."""

    id: Text | None = None
    prompt_path: str
    type: Texts | None = None
    lang: Texts | None = None
    domain: Texts | None = None
    full_score: Positive | None = None
    null_score: Number | None = None
    grading: Grading


class SuiteEntry(Strict):
    """A case of a suite, by its file."""

    path: str
    weight: Annotated[float, Field(allow_inf_nan=False, ge=0)] | None = None


class SuiteFile(Strict):
    """A suite as it is written."""

    attempt_reduce_mode: str = "avg"
    full_score_per_question: Positive = 1.0
    null_score_per_question: Number = 0.0
    cases: Annotated[
        list[
            Annotated[
                Annotated[SuiteEntry, Tag("mapping")] | Annotated[str, Tag("text")],
                Discriminator(_two_kinds),
            ]
        ],
        AfterValidator(_some),
    ]
    version: Text | None = None


class Parameters(Strict, extra="ignore"):
    """The description of a responses folder; only the file names matter here."""

    answer_paths: dict[str, list[str] | None]


def keys_of(model: Strict) -> set[str]:
    """Return the keys that are written in a mapping."""
    fields = type(model).model_fields
    return {fields[name].alias or name for name in model.model_fields_set}


def weight_of(thing: Any) -> float:
    """Return the weight of a rule, target or test; a bare text has the usual one."""
    weight = getattr(thing, "weight", None)
    return 1.0 if weight is None else float(weight)
