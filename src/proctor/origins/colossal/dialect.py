"""ColossalAI's evaluation: a config, a file of targets and prompt files as one suite."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

from proctor.contracts.dialect import Dialect, Reading
from proctor.core.attempt import Attempt
from proctor.core.suite import Case, Criterion, Json, Message, Spec, Suite
from proctor.errors import DialectError, SuiteError, UsageError
from proctor.io.concurrency import tallied
from proctor.io.findings import Findings
from proctor.io.text_files import inside
from proctor.origins.colossal import prompts
from proctor.origins.colossal.config import METRICS, CategoryMetrics, Config, is_config, read_config
from proctor.origins.colossal.config import resolved as model_path
from proctor.origins.colossal.records import AnswerRecord, check_ids, read_answers, read_records
from proctor.origins.colossal.source import near, read_document

ORIGINAL = "original"
TEXT_METRICS, BERT_SCORE, UNIEVAL = "Metrics", "BERTScore", "UniEval"
# The encoders of the original, which it names for each language.
ENCODERS: Mapping[str, Mapping[str, Json]] = {
    "en": {"model": "roberta-large", "layer": 17, "leading_space": True},
    "zh": {"model": "bert-base-chinese", "layer": 8},
}
TARGETS_HINT = (
    "name it with --dialect-option target_file=FILE (proctor colossal: --target_file), or in"
    ' the config as "target_file"'
)
FIRST_LOOK = 4 * 1024 * 1024


@dataclass(frozen=True)
class Colossal(Dialect):
    """Configs, targets and answers of ColossalAI's evaluation pipeline."""

    name: ClassVar[str] = "colossal"
    option_names: ClassVar[tuple[str, ...]] = (
        "target_file", "prompt_file", "with_reference", "logprobs", "battle",
    )  # fmt: skip

    def recognises(self, path: Path) -> bool:
        if path.suffix.lower() != ".json" or not path.is_file():
            return False
        try:
            if path.stat().st_size > FIRST_LOOK:
                return False
            return is_config(read_document(path).data)
        except (SuiteError, OSError):
            return False

    def read(self, path: Path, *, compat: str = "", root: Path | None = None) -> Reading:
        return self.read_all(path, compat=compat, root=root)[0]

    def read_all(
        self,
        path: Path,
        *,
        compat: str = "",
        root: Path | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Sequence[Reading]:
        if compat not in ("", ORIGINAL):
            raise UsageError(f"unknown compat mode {compat!r} (use 'original', or none)")
        chosen = dict(options or {})
        self.check_options(chosen)
        document = read_document(path)
        if not is_config(document.data):
            message = "this is no config: it has no 'language' and no 'category' with metrics"
            raise DialectError([document.problem((), message)])
        findings = Findings()
        config = read_config(document, findings)
        reader = _SuiteReader(config, compat, root or path.parent, chosen, findings)
        return (reader.battle() if "battle" in chosen else reader.suite(),)

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        yield from read_answers(path, suite)

    def battle_prompt(self, path: Path | None, language: str) -> dict[str, str]:
        """Read a battle prompt file, or the one of ours in a language."""
        return prompts.battle_prompt(path, language)

    def unfilled(self, path: Path) -> list[tuple[int, str]]:
        """Return the targets that have neither target nor output, by place, with the question."""
        records = read_records(path, ("instruction",), Findings())
        records.findings.check()
        return [(row.place, row.question()) for row in records.rows if not row.reference]

    def filled(self, path: Path, outputs: Mapping[int, str]) -> list[Json]:
        """Return the records of a file of targets, with these outputs put in."""
        data = read_document(path).data
        return [
            {**row, "output": outputs[place]} if place in outputs else row
            for place, row in enumerate(data)
        ]


@dataclass
class _SuiteReader:
    """Reader of a suite from a config and the files beside it, which collects problems of all."""

    config: Config
    compat: str
    root: Path
    options: Mapping[str, str]
    findings: Findings
    _opened: list[prompts.PromptFile] = field(default_factory=list)
    _general: list[str] = field(default_factory=list)
    """Categories that are rated by the general prompt."""

    def suite(self) -> Reading:
        """Read the targets as cases, each scored by what the config says of its category."""
        path = self._file("target_file", "target_file")
        if path is None and not self.findings.errors:
            document = self.config.document
            message = "the config does not say where the targets are"
            self.findings.error_at(document, (), message, hint=TARGETS_HINT)
        rows = self._targets(path) if path is not None else []
        categories = {row.category for row in rows} or set(self.config.categories)
        criteria = {
            name: self._criteria(name, metrics)
            for name, metrics in self.config.categories.items()
            if name in categories
        }
        taken = f"the one for {prompts.GENERAL!r} is taken"
        self._warn_of(
            self._general,
            f"{{}} has no prompt of its own; {taken}",
            f"{{}} categories have no prompt of their own; {taken}: {{}}",
        )
        self._stop_if_wrong()
        cases = [
            self._case(row, criteria[row.category]) for row in tallied("read", rows, len(rows))
        ]
        return self._reading(_unique(cases), self.config.document.path.stem)

    def battle(self) -> Reading:
        """Read the questions of a file of answers as cases that nothing scores."""
        needed = ("category", "instruction", "output", "id")
        records = read_records(Path(self.options["battle"]), needed, self.findings)
        check_ids(records)
        self._stop_if_wrong()
        joint = " " if self.compat else "\n"
        cases = [_bare_case(row, joint) for row in records.rows]
        return self._reading(cases, f"{self.config.document.path.stem}-battle", measured=False)

    def _reading(self, cases: Sequence[Case], name: str, *, measured: bool = True) -> Reading:
        suite = Suite(
            name=name,
            cases=tuple(cases),
            language=self.config.language,
            measures=self._measures() if measured else (),
            dialect=Colossal.name,
            compat=self.compat,
        )
        return Reading(suite=suite, warnings=tuple(self.findings.warnings))

    def _targets(self, path: Path) -> list[AnswerRecord]:
        """Read the targets of the categories that the config has, and check that they suffice."""
        needed = ("category",) if self.compat else ("category", "instruction", "id")
        records = read_records(path, needed, self.findings)
        if not self.compat:
            check_ids(records)
        left_out: dict[str, int] = {}
        for row in records.rows:
            metrics = self.config.categories.get(row.category)
            if metrics is None:
                left_out[row.category] = left_out.get(row.category, 0) + 1
            elif not self.compat and not row.reference and (why := self._compares(metrics)):
                hint = "write a target or an output, or let --fill-targets MODEL do so"
                message = f"id {row.key} has neither target nor output, and {why} compares with it"
                records.report((row.place,), message, hint)
        for name, count in left_out.items():
            hint = near(name, self.config.categories)
            message = f"{count} targets of category {name!r} are left out: the config has none"
            self.findings.warn_at(records.document, (), message, hint=hint)
        present = {row.category for row in records.rows}
        self._warn_of(
            [name for name in self.config.categories if name not in present],
            "there is no target of category {}",
            "there is no target of {} categories: {}",
        )
        return [row for row in records.rows if row.category in self.config.categories]

    def _compares(self, metrics: CategoryMetrics) -> str:
        """Name a metric of a category that compares with a reference."""
        if self._with_reference and metrics.gpt:
            return "a rating with reference"
        own = [n for n in metrics.unieval if "{reference}" in _ask(self.config.questions.get(n))]
        return next(iter([*metrics.compares, *own]), "")

    def _criteria(self, category: str, metrics: CategoryMetrics) -> tuple[Criterion, ...]:
        """Make the criteria of a category; numbers of all kinds are shown, and never added."""
        ratings = self._ratings(category, metrics.gpt) if metrics.gpt else []
        return tuple(
            criterion
            for criterion in (
                self._text_metrics(metrics),
                self._bert_score(metrics),
                self._unieval(metrics),
                *ratings,
            )
            if criterion is not None
        )

    def _text_metrics(self, metrics: CategoryMetrics) -> Criterion | None:
        text_metrics = [METRICS[name] for name in metrics.metrics if METRICS[name].part]
        if not text_metrics:
            return None
        params: dict[str, Json] = {
            "metrics": list(dict.fromkeys(metric.part for metric in text_metrics))
        }
        if self.compat:
            params |= {"language": self.config.language, "compat": self.compat}
        rows = [row for metric in text_metrics for row in metric.rows]
        return _shown(TEXT_METRICS, "text_metrics", params, rows)

    def _bert_score(self, metrics: CategoryMetrics) -> Criterion | None:
        if BERT_SCORE not in metrics.metrics:
            return None
        params = dict(self.config.bert)
        if self.compat and not params:
            params = dict(ENCODERS[self.config.language])
        if named := params.get("model"):
            params["model"] = model_path(self.config.document.path, str(named))
        return _shown(BERT_SCORE, "bert_score", params, ["bert_score"])

    def _unieval(self, metrics: CategoryMetrics) -> Criterion | None:
        if not metrics.unieval:
            return None
        tasks = {name.partition("-")[0] for name in metrics.unieval}
        models = {
            task: model_path(self.config.document.path, path)
            for task, path in self.config.unieval.items()
            if task in tasks
        }
        params: dict[str, Json] = {"dimensions": list(metrics.unieval), "models": models}
        own = {n: text for n, text in self.config.questions.items() if n in metrics.unieval}
        if own:
            params["questions"] = own
        if self.compat:
            params["compat"] = self.compat
        return _shown(UNIEVAL, "unieval", params, [reversed_name(name) for name in metrics.unieval])

    def _ratings(self, category: str, names: tuple[str, ...]) -> list[Criterion]:
        prompt = self._prompts.of(category)
        at = ("category", category, "GPT")
        document = self.config.document
        if prompt is None:
            if not self._prompts.findings.errors:
                message = f"no prompt for {category!r}, and none for {prompts.GENERAL!r}"
                hint = f"write one into {self._prompts.document.path}"
                self.findings.error_at(document, at, message, hint=hint)
            return []
        if prompt.category != category:
            self._general.append(category)
        criteria = []
        for name in names:
            rated_by = prompt
            if name not in prompt.metrics or name not in prompt.steps:
                what = "defines no metric" if name not in prompt.metrics else "has no CoT for"
                message = f"the prompt for {prompt.category!r} {what} {name!r}"
                loc = self.config.place_of(category, "GPT", name)
                if (completed := self._completed(prompt, category, name)) is None:
                    hint = near(name, prompt.metrics)
                    self.findings.error_at(document, loc, message, hint=hint)
                    continue
                rated_by = completed
                message = f"{message}; the words that come with Proctor are taken"
                self.findings.warn_at(document, loc, message)
            criteria.append(self._rating(name, rated_by))
        return criteria

    def _completed(
        self, prompt: prompts.CategoryPrompt, category: str, name: str
    ) -> prompts.CategoryPrompt | None:
        """Return the general prompt with our words for a metric that it lacks, if we have some.

        The original's own files are such a pair. What is missing in a prompt that was written for
        the category is a mistake in it.
        """
        if prompt.category == category:
            return None
        ours = prompts.prompt_file(None, self.config.language).of(category)
        if ours is None or name not in ours.metrics or name not in ours.steps:
            return None
        return replace(
            prompt,
            metrics={**prompt.metrics, name: ours.metrics[name]},
            steps={**prompt.steps, name: ours.steps[name]},
        )

    def _rating(self, name: str, prompt: prompts.CategoryPrompt) -> Criterion:
        params: dict[str, Json] = {
            "metric": name,
            "definition": prompt.metrics[name],
            "steps": prompt.steps[name],
            "prompt": prompt.prompt,
        }
        if self._with_reference:
            params["with_reference"] = True
        logprobs = self._flag("logprobs", not self.compat)
        if not logprobs:
            params["logprobs"] = False
        if self.compat:
            params["compat"] = self.compat
        return _shown(name, "rating_metric", params, [name])

    def _measures(self) -> tuple[Spec, ...]:
        """Return a measure for every number that some category is scored by."""
        automatic: dict[str, None] = {}
        unieval: dict[str, None] = {}
        ratings: dict[str, None] = {}
        for metrics in self.config.categories.values():
            for name in metrics.metrics:
                automatic |= dict.fromkeys(METRICS[name].rows)
            unieval |= dict.fromkeys(reversed_name(name) for name in metrics.unieval)
            ratings |= dict.fromkeys(metrics.gpt)
        shown = [_measure(name) for name in {**automatic, **unieval}]
        # No answer has no rating: a scale that begins with 1 has no number for it.
        return (*shown, *(_measure(name, unanswered=None) for name in ratings))

    def _case(self, row: AnswerRecord, criteria: tuple[Criterion, ...]) -> Case:
        references = (row.reference,) if row.reference or self.compat else ()
        return replace(_bare_case(row, "\n"), criteria=criteria, references=references)

    @property
    def _prompts(self) -> prompts.PromptFile:
        """Return the prompt file, which is opened where somebody asks for it."""
        if not self._opened:
            path = self._file("prompt_file", "gpt_evaluation_prompt_file")
            self._opened.append(prompts.prompt_file(path, self.config.language))
        return self._opened[0]

    @property
    def _with_reference(self) -> bool:
        return self._flag("with_reference", False)

    def _flag(self, name: str, default: bool) -> bool:
        text = self.options.get(name)
        return default if text is None else text.lower() in ("1", "true", "yes")

    def _file(self, option: str, key: str) -> Path | None:
        """Return the file that an option names, or else the config."""
        if file := self.options.get(option):
            return Path(file)
        if (named := self.config.files.get(key)) is None:
            return None
        document = self.config.document
        path = inside(self.root, document.path.parent, named)
        if path is None:
            message = f"{named!r} lies outside the folder {self.root}"
            self.findings.error_at(document, (key,), message)
        return path

    def _warn_of(self, names: Sequence[str], one: str, several: str) -> None:
        """Warn once of categories that are alike in something."""
        if not names:
            return
        listed = ", ".join(map(repr, names))
        message = one.format(listed) if len(names) == 1 else several.format(len(names), listed)
        self.findings.warn_at(self.config.document, ("category", names[0]), message)

    def _stop_if_wrong(self) -> None:
        for file in self._opened:
            self.findings.include(file.findings)
        self.findings.check()


def reversed_name(dimension: str) -> str:
    """Return the row of a UniEval dimension: ``fluency-summarization``."""
    task, _, name = dimension.partition("-")
    return f"{name}-{task}"


def _shown(name: str, scorer: str, params: Mapping[str, Json], rows: Sequence[str]) -> Criterion:
    """Make a criterion whose numbers are shown under the names of its rows."""
    spec = Spec(name=scorer, params=params)
    return Criterion(id=name, scorer=spec, weight=0.0, metric=", ".join(rows))


def _ask(question: Json) -> str:
    """Return the words of a question of the user's own."""
    return str(question.get("ask", "")) if isinstance(question, dict) else str(question or "")


def _measure(name: str, **more: Json) -> Spec:
    return Spec(name="named_metric", params={"metric": name, "by": "category", **more})


def _bare_case(row: AnswerRecord, joint: str) -> Case:
    return Case(
        id=row.key,
        messages=(Message(role="user", content=row.question(joint)),),
        criteria=(),
        hidden={"instruction": row.instruction, "input": row.input},
        tags={"category": (row.category,)},
        source=f"{row.place + 1}",
    )


def _unique(cases: Sequence[Case]) -> list[Case]:
    """Tell cases apart whose ids are the same, where the original looks at no ids."""
    seen: dict[str, int] = {}
    distinct = []
    for case in cases:
        seen[case.id] = seen.get(case.id, 0) + 1
        again = seen[case.id] > 1
        distinct.append(replace(case, id=f"{case.id}~{seen[case.id]}") if again else case)
    return distinct
