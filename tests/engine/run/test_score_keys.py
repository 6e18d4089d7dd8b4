"""What each built-in scorer's scores rest on, and that a change of it, and of nothing else, counts.

The table names every input besides the criterion's parameters and the case; a scorer that is not in
it fails the first test.
"""

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proctor import registry
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import digest, score_key, scoring_key
from proctor.core.suite import Case, CaseFile, Criterion, Message, Spec
from proctor.engine.run.scorer_pool import Scorers
from proctor.judging import prompts
from proctor.scorers.embedding import checkpoints, sentences
from proctor.scorers.maths import comparing
from proctor.scorers.overlap import chinese
from proctor.scorers.programs import python_packages, toolchains

CODE = "import numpy\n\n\ndef check(answer):\n    return 1, 1, {}\n"
TORCH = ("torch", "transformers")
METRIC = (
    "metric_caution", "metric_compare", "metric_frame", "metric_right", "metric_sample",
    "metric_steps", "metric_verdict",
)  # fmt: skip


@dataclass(frozen=True)
class Rests:
    """The inputs of a scorer: parameters that bring all of them in, and what they are."""

    params: dict[str, Any] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    """It asks a judge, with these."""
    toolchain: str = ""
    """A language, whose version decides."""
    encoder: str = ""
    """The parameter that names a checkpoint."""
    files: tuple[str, ...] = ()
    """Parameters that name files."""
    sandbox: bool = False
    notes: bool = False
    context: bool = False
    """It looks at the passages that an attempt brought itself."""
    apart: bool = False
    """Equal answers in two attempts are judged apart."""
    usage: bool = False
    """It looks at what an attempt took."""


HANDLER = {"module": "own", "func": "check", "source": CODE}
MATHS = ("math-verify", "sympy", "latex2sympy2-extended")
SCORERS: dict[str, Rests] = {
    "actions": Rests({"actions": ["x"]}, notes=True),
    "answer_relevance": Rests(prompts=("rag_claims", "rag_on_question"), context=True),
    "bert_score": Rests(packages=TORCH, encoder="model", files=("idf", "baseline")),
    "bert_similarity": Rests(packages=TORCH, encoder="model"),
    "blanks": Rests(
        {"template": "a [blank]", "targets": ["x"], "post_handler": HANDLER},
        packages=("numpy",), toolchain="python", sandbox=True,
    ),
    "citations": Rests(prompts=("rag_citations",), context=True),
    "contains": Rests({"texts": ["x"]}),
    "context_precision": Rests(prompts=("rag_useful",), context=True),
    "context_recall": Rests(prompts=("rag_claims", "rag_support"), context=True),
    "context_relevance": Rests(prompts=("rag_relevant",), context=True),
    "cost": Rests({"dollars": 1}, usage=True),
    "eval_code": Rests(
        {"code": "import numpy\nassert rounds"},
        packages=("numpy",), toolchain="python", sandbox=True, notes=True,
    ),
    "exact_match": Rests(),
    "faithfulness": Rests(prompts=("rag_claims", "rag_support"), context=True),
    "hallucination": Rests(prompts=("bench_hallucination",), notes=True, context=True),
    "hedging_language": Rests(packages=TORCH, encoder="model"),
    "imported": Rests({"metric": "accuracy"}),
    "instructions": Rests({"instructions": [{"kind": "punctuation:no_comma"}]}),
    "is_json": Rests(),
    "json_equal": Rests({"value": 1}),
    "json_schema": Rests({"schema": {"type": "object"}}),
    "judged": Rests(
        {"question": "Is it?"}, prompts=("judge_yes_no", "judge_passages"), context=True
    ),
    "judged_correct": Rests(
        {"kind": "maths", "maths_first": True, "compat": "original"},
        packages=MATHS, prompts=("judge_correct", "judge_rules_maths"), apart=True,
    ),
    "keywords": Rests(
        {"rules": ["x"], "post_handler": HANDLER},
        packages=("numpy",), toolchain="python", sandbox=True,
    ),
    "language": Rests({"language": "en"}),
    "latency": Rests({"seconds": 1}, usage=True),
    "length": Rests({"max": 1}, packages=("rjieba",)),
    "matches": Rests({"pattern": "x"}),
    "maths": Rests(
        {"judge_fallback": True},
        packages=MATHS, prompts=("judge_correct", "judge_rules_maths"),
    ),
    "noise_sensitivity": Rests(
        prompts=("rag_claims", "rag_support", "rag_useful", "rag_by_reference"), context=True
    ),
    "noted": Rests(notes=True),
    "number": Rests({"value": 1}),
    "python_check": Rests(
        HANDLER, packages=("numpy",), toolchain="python", sandbox=True,
    ),
    "qa_correctness": Rests(prompts=("bench_correct",), notes=True, context=True),
    "rating": Rests(
        {"question": "How good?"}, prompts=("judge_rating", "judge_passages"), context=True
    ),
    "rating_metric": Rests({"metric": "m", "definition": "d"}, prompts=METRIC),
    "readability": Rests(packages=("pyphen", "rjieba")),
    "refusal": Rests(),
    "retrieval": Rests(context=True),
    "rouge": Rests(),
    "rubric": Rests(
        {"criterion": "c", "compat": "original"},
        prompts=("judge_rubric", "judge_passages"), apart=True, context=True,
    ),
    "says": Rests({"texts": "x"}),
    "scoring_point": Rests({"statement": "s"}, prompts=("point_round",), notes=True),
    "similar": Rests(packages=TORCH, encoder="model"),
    "specificity": Rests(packages=("wordfreq",)),
    "sql_equal": Rests({"query": "select 1"}, sandbox=True),
    "state_equal": Rests({"actions": ["x"]}, sandbox=True, notes=True),
    "summary_quality": Rests(prompts=("bench_summary",)),
    "command_ran": Rests({"command": "x"}, notes=True),
    "files_changed": Rests({"files": "a.py"}, notes=True),
    "no_new_failures": Rests({"command": "true"}, sandbox=True, notes=True),
    "skill_used": Rests({"skill": "x"}, notes=True),
    "tool_used": Rests({"tool": "x"}, notes=True),
    "task_tests": Rests({"files": {"test.sh": "exit 0"}}, sandbox=True, notes=True),
    "text_metrics": Rests({"compat": "original"}, packages=("jieba", "rjieba")),
    "token_f1": Rests(),
    "tool_calls": Rests({"calls": ["x"]}),
    "unieval": Rests({"dimensions": ["summarization-fluency"]}, packages=TORCH),
    "unit_tests": Rests(
        {"tests": [{"content": "import numpy\nassert f()"}]},
        packages=("numpy",), toolchain="python", sandbox=True,
    ),
    "word_count_match": Rests(packages=("rjieba",)),
    "xml": Rests(),
}  # fmt: skip
CASE = Case(
    id="one",
    messages=(Message(role="user", content="What?"),),
    criteria=(),
    references=("This.",),
    context=("A passage.",),
    hidden={"fact": "hidden"},
)
ATTEMPT = Attempt.of("one", "That.")
JUDGE = {"model": "one", "sampling": {}, "repeats": 1}


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget what was found out about this machine, before and after; look for no GPU."""
    monkeypatch.setattr(checkpoints, "device_of", lambda asked: "cpu")
    monkeypatch.setattr(sentences, "_punkt", lambda: None)
    forget()
    yield
    forget()


def forget() -> None:
    for known in (
        chinese.cut_by, chinese.cutter, chinese.exact_cutter, comparing.library_versions,
        python_packages._versions, checkpoints.identity, toolchains._version,
    ):  # fmt: skip
        known.cache_clear()


def key(
    name: str,
    params: dict[str, Any] | None = None,
    *,
    case: Case = CASE,
    attempt: Attempt = ATTEMPT,
    judge: Any = JUDGE,
    place: str = "",
    **about: Any,
) -> str:
    """Return the key of a score, as a run that begins now would make it."""
    rests = SCORERS[name]
    spec = Spec(name=name, params=rests.params if params is None else params)
    criterion = Criterion(id="c", scorer=spec, **about)
    scorers = Scorers(judge=judge, place=place)
    return scorers.keys(replace(case, criteria=(*case.criteria, criterion)), attempt)["c"]


def test_the_inputs_of_every_built_in_scorer_are_listed() -> None:
    assert {*SCORERS} == {*registry.BUILT_IN["scorer"]}
    for name, rests in SCORERS.items():
        scorer = registry.build("scorer", Spec(name=name, params=rests.params))
        told = (bool(rests.prompts), rests.sandbox, rests.notes, rests.apart, rests.context)
        needs = (
            *(scorer.needs_judge, scorer.needs_sandbox),
            *(scorer.reads_notes, scorer.per_attempt, scorer.reads_context),
        )
        assert told == needs, name
        assert bool(scorer.toolchain()) == bool(rests.packages or rests.toolchain), name


@pytest.mark.parametrize("name", SCORERS)
def test_what_a_case_and_its_answer_say_counts(name: str) -> None:
    said = replace(ATTEMPT, messages=(Message(role="assistant", content="Other."),))
    changed = [
        key(name),
        key(name, attempt=said),
        key(name, case=replace(CASE, references=("Other.",))),
        key(name, case=replace(CASE, context=("Other.",))),
        key(name, case=replace(CASE, hidden={"fact": "other"})),
        key(name, case=replace(CASE, messages=(Message(role="user", content="Why?"),))),
        key(name, case=replace(CASE, files=(CaseFile(name="f", digest="1"),))),
        key(name, case=replace(CASE, files=(CaseFile(name="f", digest="2"),))),
    ]
    assert len({*changed}) == len(changed)


@pytest.mark.parametrize("name", SCORERS)
def test_nothing_else_of_a_case_or_an_attempt_counts(name: str) -> None:
    rests = SCORERS[name]
    before = key(name)
    assert key(name) == before
    other = Criterion(id="d", scorer=Spec(name="number", params={"value": 3}))
    renamed = replace(CASE, id="two", tags={"lang": ("en",)}, weight=3.0, source="elsewhere.yaml")
    assert key(name, case=replace(renamed, criteria=(other,))) == before
    assert key(name, weight=2.0) == before
    took = replace(ATTEMPT, seconds=3.0, usage={"calls": 1}, meta={"file": "x"})
    assert (key(name, attempt=took) == before) is not rests.usage
    if not rests.usage:
        assert (key(name, attempt=replace(took, index=1)) == before) is not rests.apart
        noted = replace(took, notes={"ended": "x"})
        assert (key(name, attempt=noted) == before) is not rests.notes
    assert (key(name, judge={"model": "other"}) == before) is not bool(rests.prompts)
    assert (key(name, place="image python:3.9") == before) is not rests.sandbox


@pytest.mark.parametrize("name", SCORERS)
def test_the_passages_that_an_attempt_brought_count_where_they_are_read(name: str) -> None:
    rests, before = SCORERS[name], key(name)
    if rests.usage:
        return
    for brought in ({"context": ["Own."]}, {"retrieved": ["d1"]}):
        on_file = key(name, attempt=replace(ATTEMPT, meta=brought))
        noted = key(name, attempt=replace(ATTEMPT, notes=brought))
        assert (on_file == before) is not rests.context
        assert (noted == before) is not (rests.context or rests.notes)


PLAIN = {"judged": "judge_yes_no", "rating": "judge_rating", "rubric": "judge_rubric"}


@pytest.mark.parametrize("name", PLAIN)
def test_a_prompt_without_passages_has_the_key_it_always_had(name: str) -> None:
    """The keys are those of version 0.1.0, whose judges were shown no passages."""
    params = {key: value for key, value in SCORERS[name].params.items() if key != "compat"}
    scorer = registry.build("scorer", Spec(name=name, params=params))
    blind = registry.build("scorer", Spec(name=name, params={**params, "context": False}))
    plain = prompts.keys_of([PLAIN[name]], "en")
    assert scorer.prompt_key("en") == blind.context_prompt_key("en") == plain
    assert scorer.context_prompt_key("en") != plain
    without = replace(CASE, context=())
    judge, version = digest(JUDGE), scorer.version
    spec = Spec(name=name, params=params)
    expected = score_key(
        scoring_key(without, Criterion(id="c", scorer=spec), f"{version}+{judge}+{plain}"), ATTEMPT
    )
    assert key(name, params, case=without) == expected


@pytest.mark.parametrize("name", [name for name, rests in SCORERS.items() if rests.params])
def test_its_parameters_count(name: str) -> None:
    params = SCORERS[name].params
    first = next(iter(params))
    assert key(name, {**params, first: _other(params[first])}) != key(name)


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return {"maths": "choice", "original": ""}.get(value, f"{value}\n# other")
    if isinstance(value, bool | int):
        return not value if isinstance(value, bool) else value + 1
    if isinstance(value, dict):
        return {**value, "type": "array"}
    if isinstance(value[0], str):
        other = {"x": "y", "summarization-fluency": "summarization-coherence"}
        return [other[value[0]]]
    others = {
        "content": "assert f() == 2",
        "kind": "change_case:english_lowercase",
    }
    return [{name: others[name] for name in value[0]}]


@pytest.mark.parametrize(
    ("name", "prompt"), [(name, one) for name, rests in SCORERS.items() for one in rests.prompts]
)
def test_the_wording_of_its_prompts_counts(
    name: str, prompt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, real = key(name), prompts._read

    def edited(asked: str, language: str) -> prompts.Prompt:
        found = real(asked, language)
        return replace(found, key="edited") if asked == prompt else found

    monkeypatch.setattr(prompts, "_read", edited)
    assert key(name) != before


@pytest.mark.parametrize(
    ("name", "package"), [(name, one) for name, rests in SCORERS.items() for one in rests.packages]
)
def test_the_versions_of_packages_that_decide_count(
    name: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec(package.replace("-", "_")) is None:
        pytest.skip(f"{package} is not installed")
    before = key(name)
    another_version(monkeypatch, package)
    assert key(name) != before


def another_version(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    real: Callable[[Any], str] = importlib.metadata.Distribution.version.fget  # type: ignore[attr-defined]

    def version(self: importlib.metadata.Distribution) -> str:
        return "0.0.1" if self.metadata["Name"].lower().replace("_", "-") == package else real(self)

    monkeypatch.setattr(importlib.metadata.Distribution, "version", property(version))
    forget()


@pytest.mark.parametrize("name", [name for name, rests in SCORERS.items() if rests.toolchain])
def test_the_version_of_its_language_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(name)
    monkeypatch.setattr("platform.python_version", lambda: "3.1.4")
    forget()
    assert key(name) != before


@pytest.mark.parametrize("name", [name for name, rests in SCORERS.items() if rests.encoder])
def test_the_weights_of_its_encoder_count_and_not_where_they_lie(name: str, tmp_path: Path) -> None:
    def encoder(place: str, weights: bytes) -> str:
        folder = tmp_path / place / "encoder"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}", encoding="utf-8")
        (folder / "model.safetensors").write_bytes(weights)
        scorer = registry.build(
            "scorer", Spec(name=name, params={SCORERS[name].encoder: str(folder)})
        )
        return str(scorer.toolchain())

    assert encoder("one", b"1") == encoder("two", b"1") != encoder("three", b"2")


def test_the_revision_of_an_encoder_of_the_hub_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    model = "somebody/encoder"
    known = []
    for revision in ("1" * 40, "2" * 40):
        folder = tmp_path / "models--somebody--encoder"
        for path, text in {
            "refs/main": revision,
            f"snapshots/{revision}/config.json": "{}",
        }.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        forget()
        known.append(key("bert_score", {"model": model}))
    forget()
    assert known[0] != known[1] == key("bert_score", {"model": model})


@pytest.mark.parametrize(
    ("name", "param"), [(name, one) for name, rests in SCORERS.items() for one in rests.files]
)
def test_the_content_of_files_that_it_reads_counts(name: str, param: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("1", encoding="utf-8")
    before = key(name, {param: str(path)})
    assert key(name, {param: str(path)}) == before
    path.write_text("2", encoding="utf-8")
    assert key(name, {param: str(path)}) != before


@pytest.mark.slow
def test_keys_are_the_same_in_every_process_and_folder(tmp_path: Path) -> None:
    code = (
        "import json, test_score_keys as t; t.checkpoints.device_of = lambda asked: 'cpu';"
        " t.sentences._punkt = lambda: None;"
        " print(json.dumps({n: t.key(n) for n in t.SCORERS}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(Path(__file__).parent), "PYTHONHASHSEED": "7", "PATH": "/usr/bin"},
    )  # fmt: skip
    assert json.loads(done.stdout) == {name: key(name) for name in SCORERS}


# Made by version 0.1.0: scores of these scorers that it stored must still be found.
STORED = {
    "blanks": ({"template": "a [blank]", "targets": ["x"]}, "3d9a842ae42d6b9ea7633c973f52050d"),
    "contains": ({"texts": ["x"]}, "16cdf1cd46a62238c087ab6ede1d47cc"),
    "keywords": ({"rules": ["x"]}, "1c7f30fdda0178c050f64bdaa92d3c28"),
    "matches": ({"pattern": "x"}, "cdc8b0f2cda9fb4ca4a3c51803c51baf"),
    "noted": ({}, "f487f61e643ae43ec004f86593ce4ad9"),
    "number": ({"value": 1}, "54ba7e43a07bcd68ed269606dbdaf53d"),
    "rouge": ({}, "92b64c4ff24a9439de82394798bbecae"),
}


@pytest.mark.parametrize("name", STORED)
def test_scores_that_an_earlier_version_stored_are_found(name: str) -> None:
    params, stored = STORED[name]
    assert key(name, params) == stored


# Lists in the code itself. Who changes one raises the scorer's version, and writes both here.
LISTS = {
    "specificity": ("counts.specificity", ["VAGUE"], "1 a1b913666314"),
    "unieval": (
        "embedding.sentences",
        ["_ABBREVIATIONS", "_LETTERS", "_OPENERS", "_COMMON"],
        "1 db5864d86a63",
    ),
    "exact_match": (
        "text.comparisons",
        ["_FULL_WIDTH", "_ALIKE", "_PAIRS", "_ARTICLES"],
        "2 2dc27f310171",
    ),
    "maths": (
        "maths.forms",
        ["_SMALL", "_TENS", "_WORDS", "_SCALES", "_PARTS", "_SIGNS"],
        "1 f00e1033239b",
    ),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_list_in_the_code_changes_only_with_the_version(name: str) -> None:
    module, lists, wanted = LISTS[name]
    scorers = importlib.import_module(f"proctor.scorers.{module}")
    values = [getattr(scorers, one) for one in lists]
    plain = [
        [f"{part}={one[part]}" for part in one] if isinstance(one, Mapping) else sorted(one)
        for one in values
    ]
    version = registry.find("scorer", name).version
    assert f"{version} {digest(plain)[:12]}" == wanted
