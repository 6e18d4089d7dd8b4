"""The config of ColossalAI's evaluation: which metrics each category is scored by."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from proctor.core.suite import Json
from proctor.io.described import describe
from proctor.io.findings import Findings
from proctor.io.text_files import Loc
from proctor.origins.colossal.source import JsonDocument, near

LANGUAGES: Mapping[str, str] = {"cn": "zh", "en": "en"}
METHODS = ("GPT", "Metrics", "UniEval")
KEYS = (
    "language", "path_for_UniEval", "category",
    "target_file", "gpt_evaluation_prompt_file", "BERTScore", "UniEval_questions",
)  # fmt: skip
BERT_KEYS = ("model", "layer", "idf", "baseline", "leading_space", "device", "precision")


@dataclass(frozen=True, slots=True)
class Metric:
    """The part of ``text_metrics`` that a metric of the config is, and the rows it gives."""

    part: str
    rows: tuple[str, ...]
    compares: bool = True
    """Whether it compares with a reference."""


METRICS: Mapping[str, Metric] = {
    "BLEU": Metric("bleu", ("bleu1", "bleu2", "bleu3", "bleu4")),
    "ROUGE": Metric("rouge", ("rouge1", "rouge2", "rougeL")),
    "Distinct": Metric("distinct", ("distinct",), compares=False),
    "BERTScore": Metric("", ("bert_score",)),
    "Precision": Metric("prf", ("precision",)),
    "Recall": Metric("prf", ("recall",)),
    "F1 score": Metric("prf", ("f1_score",)),
    "CHRF": Metric("chrf", ("chrf",)),
}
UNIEVAL: Mapping[str, tuple[str, ...]] = {
    "summarization": ("coherence", "consistency", "fluency", "relevance"),
    "dialogue": (
        "naturalness", "coherence", "understandability",
        "engagingness", "groundedness",
    ),
    "data2text": ("naturalness", "informativeness"),
}  # fmt: skip
COMPARING = ("summarization-relevance", "data2text-informativeness")
TAKEN = {*METHODS, "BERTScore", *(row for metric in METRICS.values() for row in metric.rows)}
DIMENSIONS = tuple(f"{task}-{name}" for task, names in UNIEVAL.items() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryMetrics:
    """The metrics by which a category is scored."""

    gpt: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    unieval: tuple[str, ...] = ()

    @property
    def compares(self) -> tuple[str, ...]:
        """Return the metrics that compare with a reference."""
        comparing = [name for name in self.metrics if METRICS[name].compares]
        return (*comparing, *(name for name in self.unieval if name in COMPARING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A config as it was read."""

    document: JsonDocument
    language: str = "en"
    """``zh`` or ``en``, whatever the config calls it."""
    categories: Mapping[str, CategoryMetrics] = field(default_factory=dict)
    unieval: Mapping[str, str] = field(default_factory=dict)
    """The path of the model of each task."""
    questions: Mapping[str, Json] = field(default_factory=dict)
    """Dimensions of the user's own, with the question that each asks."""
    bert: Mapping[str, Json] = field(default_factory=dict)
    """The encoder of BERTScore, where the config names one."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The other files that the config names, by their keys."""

    def place_of(self, category: str, method: str, name: str) -> Loc:
        """Return where a name stands in the list of a category."""
        place = self.document.data["category"][category][method].index(name)
        return ("category", category, method, place)


def is_config(data: Json) -> bool:
    """Tell whether JSON is meant as a config."""
    if not isinstance(data, dict) or not isinstance(data.get("category"), dict):
        return False
    if "language" in data or "path_for_UniEval" in data:
        return True
    rows = [row for row in data["category"].values() if isinstance(row, dict)]
    return any(method in row for row in rows for method in METHODS)


def read_config(document: JsonDocument, findings: Findings) -> Config:
    """Read a config, and note all that is wrong with it."""
    return _ConfigReader(document, findings).config()


@dataclass
class _ConfigReader:
    """Reader of one config."""

    document: JsonDocument
    findings: Findings

    def config(self) -> Config:
        """Read the whole of it."""
        data = self.document.data
        for key in data:
            if key not in KEYS:
                self._report((key,), f"unknown key {key!r}", near(key, KEYS))
        language = self._language(data)
        questions = self._questions(data.get("UniEval_questions"))
        paths = self._texts(data, "path_for_UniEval")
        for task in paths:
            if task not in UNIEVAL:
                hint = near(task, UNIEVAL)
                self._report(("path_for_UniEval", task), f"there is no UniEval task {task!r}", hint)
        categories = self._categories(data.get("category"), questions)
        config = Config(
            document=self.document,
            language=language,
            categories=categories,
            unieval=paths,
            questions=questions,
            bert=self._bert(data.get("BERTScore")),
            files=dict(self._files(data)),
        )
        self._check_unieval(config)
        return config

    def _language(self, data: Json) -> str:
        value = data.get("language")
        if value is None:
            hint = 'write "language": "en", or "cn"'
            self._report((), "the config does not say its language", hint)
            return "en"
        if isinstance(value, str) and value in LANGUAGES:
            return LANGUAGES[value]
        meant = "did you mean 'cn'?" if str(value).lower()[:2] in ("zh", "ch") else ""
        hint = meant or "known are: cn, en"
        self._report(("language",), f"there is no language {value!r}", hint)
        return "en"

    def _categories(self, data: Json, questions: Mapping[str, Json]) -> dict[str, CategoryMetrics]:
        if not isinstance(data, dict) or not data:
            message = "the config names no category"
            self._report(("category",), message, 'write "category": {"open_qa": {"GPT": […]}}')
            return {}
        return {name: self._metrics_of(name, row, questions) for name, row in data.items()}

    def _metrics_of(
        self, category: str, row: Json, questions: Mapping[str, Json]
    ) -> CategoryMetrics:
        at: Loc = ("category", category)
        if not isinstance(row, dict):
            self._report(at, f"expected a mapping of {', '.join(METHODS)}, not {describe(row)}")
            return CategoryMetrics()
        for key in row:
            if key not in METHODS:
                self._report((*at, key), f"unknown key {key!r}", near(key, METHODS))
        dimensions = (*DIMENSIONS, *questions)
        ratings = self._names(row, at, "GPT")
        for name in ratings:
            if name in TAKEN:
                message = f"a rating cannot be called {name!r}: another number has that name"
                self._report((*at, "GPT"), message)
        return CategoryMetrics(
            gpt=ratings,
            metrics=self._names(row, at, "Metrics", tuple(METRICS), "metric"),
            unieval=self._names(row, at, "UniEval", dimensions, "UniEval dimension"),
        )

    def _names(
        self, row: Json, at: Loc, key: str, allowed: tuple[str, ...] = (), what: str = ""
    ) -> tuple[str, ...]:
        """Read a list of names; those that nobody knows are problems."""
        listed = row.get(key)
        if listed is None:
            return ()
        if not isinstance(listed, list):
            self._report((*at, key), f"expected a list of names, not {describe(listed)}")
            return ()
        names: dict[str, None] = {}
        for place, name in enumerate(listed):
            loc = (*at, key, place)
            if not isinstance(name, str) or not name:
                self._report(loc, f"expected a name, not {describe(name)}")
            elif allowed and name not in allowed:
                self._report(loc, f"there is no {what} {name!r}", near(name, allowed))
            else:
                names[name] = None
        return tuple(names)

    def _questions(self, value: Json) -> dict[str, Json]:
        """Read dimensions of the user's own; what is wrong with one the scorer says."""
        if value is None or isinstance(value, dict):
            return value or {}
        self._report(("UniEval_questions",), f"expected a mapping, not {describe(value)}")
        return {}

    def _texts(self, data: Json, key: str) -> dict[str, str]:
        texts = data.get(key)
        if texts is None:
            return {}
        if not isinstance(texts, dict):
            self._report((key,), f"expected a mapping of strings, not {describe(texts)}")
            return {}
        for name, value in texts.items():
            if not isinstance(value, str):
                self._report((key, name), f"expected a string, not {describe(value)}")
        return {name: value for name, value in texts.items() if isinstance(value, str)}

    def _bert(self, setting: Json) -> dict[str, Json]:
        if setting is None:
            return {}
        if isinstance(setting, str):
            return {"model": setting}
        if not isinstance(setting, dict):
            self._report(("BERTScore",), f"expected a model, not {describe(setting)}")
            return {}
        for key in setting:
            if key not in BERT_KEYS:
                self._report(("BERTScore", key), f"unknown key {key!r}", near(key, BERT_KEYS))
        return {key: value for key, value in setting.items() if key in BERT_KEYS}

    def _files(self, data: Json) -> Iterator[tuple[str, str]]:
        for key in ("target_file", "gpt_evaluation_prompt_file"):
            value = data.get(key)
            if isinstance(value, str) and value:
                yield key, value
            elif value is not None:
                self._report((key,), f"expected a path, not {describe(value)}")

    def _check_unieval(self, config: Config) -> None:
        """Report UniEval where it cannot be: in Chinese, or without its models."""
        for category, metrics in config.categories.items():
            if not metrics.unieval:
                continue
            at: Loc = ("category", category, "UniEval")
            if config.language != "en":
                message = "UniEval judges English only, and the config's language is 'cn'"
                self._report(at, message, 'leave UniEval out, or write "language": "en"')
            for name in metrics.unieval:
                task = name.partition("-")[0]
                if task in UNIEVAL and task not in config.unieval:
                    hint = f'write "path_for_UniEval": {{"{task}": "path of the model"}}'
                    message = f"there is no path to the UniEval model of {task!r}"
                    self._report(config.place_of(category, "UniEval", name), message, hint)

    def _report(self, loc: Loc, message: str, hint: str = "") -> None:
        self.findings.error_at(self.document, loc, message, hint=hint)


def resolved(path: Path, named: str) -> str:
    """Return where a model lies that a config names: beside the config, or as it is written."""
    beside = path.parent / named
    return str(beside) if named and not Path(named).exists() and beside.exists() else named
