"""Random suites and answers to them: criteria of every kind that a large run may have."""

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.core.suite import Json

Draw = random.Random
WORDS = (
    "Paris", "London", "four", "4", "blue", "green", "Müller", "数字", "it's", "x-ray", "the", "a",
    "1,000.5", "-3", "½", "42", "ＡＢＣ", "naïve", "não", "привет", "مرحبا", "सड़क", "日本語です", "北京",
    "e\u0301", "👩‍👩‍👧", "\u200b", "ß", "SS", "İ", "ǆ", "def", "is", "I", "sorry,", "cannot", "Dr.", "?", "!",
)  # fmt: skip
ODD = (
    "", " ", "\n", "\t\r\n", "\x00", "a\x00b", "\x7f\x85\u2028\u2029", "null", "NaN", "-0.0", "1e400", "true",
    "\ufeff", "\ufffe", "<a>&amp;</a>", "<a", "[]", "{}", '{"a": 1}', '{"a": true}', '{"a": 1.0}', "[1, [2]]",
    '```json\n{"a": [1, 2]}\n```', "\\boxed{\\frac{1}{2}}", "$x^2$", "0.5", "1/2", "𝟜", "١٢٣", "一百", "I cannot help with that.",
    "抱歉，我无法提供", "He said: Paris.", "<root><item id='3'><name>x</name></item></root>", "\U0010ffff", "\u202eabc",
)  # fmt: skip
HALVES = ("\ud800", "a\udfffb", "\ud83d")
"""Halves of surrogate pairs, which answers in JSON may have and suites may not."""
VALUES: tuple[Json, ...] = (
    1, True, 1.0, 0, False, 0.0, -0.0, None, "", "a", "1", [], {}, [1], [True], {"a": 1}, {"a": True},
    {"a": 1.0}, {"a": [1, 2]}, {"b": {"a": None}}, 1e300, 2**53 + 1, "数字",
)  # fmt: skip
LONG = 20_000
TAGS = ("kind", "level", "odd tag", "类")


def text(draw: Draw, most: int = 8) -> str:
    """Return a text of any kind."""
    chance = draw.random()
    if chance < 0.15:
        return draw.choice(ODD)
    if chance < 0.155:
        return (draw.choice(WORDS) + draw.choice((" ", "", "\n"))) * (LONG // 8)
    said = draw.choices(WORDS, k=draw.randint(1, most))
    return draw.choice((" ", " ", " ", "\n", "", "，")).join(said)


def texts(draw: Draw, least: int = 1, most: int = 3) -> list[str]:
    return [text(draw, 3) for _ in range(draw.randint(least, most))]


def solid(draw: Draw, most: int = 3) -> str:
    """Return a text that is not empty."""
    return text(draw, most).strip() or draw.choice(WORDS)


def flag(draw: Draw) -> bool:
    return draw.random() < 0.5


def some(draw: Draw, **params: Callable[[], Json]) -> dict[str, Json]:
    """Return some of these parameters."""
    return {name: make() for name, make in params.items() if draw.random() < 0.4}


def _keyword(draw: Draw, *, plain: bool) -> Json:
    if plain or flag(draw):
        return solid(draw)
    kind = draw.randrange(5)
    extra = some(
        draw,
        weight=lambda: draw.choice((0.5, 1, 2, 0.1)),
        neg=lambda: flag(draw),
        ignore_case=lambda: flag(draw),
    )
    if kind == 0:
        return {"text": draw.choice(("f..r", "[a-z]+", r"\d", "数.")), "regex": True, **extra}
    if kind == 1:
        return {"any": [solid(draw), {"text": solid(draw), "ignore_case": True}], **extra}
    if kind == 2:
        return {"all": [solid(draw), {"any": [solid(draw), solid(draw)]}], **extra}
    if kind == 3:
        cond = draw.choice(("len(response) > 9", "context[-1] == 'match'", "'a' in ans"))
        return {"text": solid(draw), "cond": cond, **extra}
    return {"text": solid(draw), **extra}


def _instruction(draw: Draw) -> Json:
    return draw.choice(
        (
            {"id": "punctuation:no_comma"},
            {"id": "keywords:existence", "keywords": [draw.choice(WORDS)]},
            {"id": "change_case:english_lowercase"},
            {"id": "length_constraints:number_words", "num_words": 3, "relation": "at least"},
            {"id": "startend:quotation"},
            {"id": "detectable_format:json_format"},
        )
    )


def _call(draw: Draw) -> Json:
    name = draw.choice(("get", "put"))
    if flag(draw):
        return name
    call: dict[str, Json] = {"name": name, "arguments": {"a": draw.choice(VALUES)}}
    return {**call, **some(draw, tolerance=lambda: 0.5)}


def _action(draw: Draw) -> Json:
    return {"name": "get", "arguments": {"a": draw.choice(VALUES)}} if flag(draw) else "put"


KINDS: Mapping[str, Callable[[Draw], Json]] = {
    "actions": lambda d: {
        "actions": [_action(d) for _ in range(d.randint(1, 2))],
        **some(d, none=lambda: "put", in_order=lambda: flag(d), partial=lambda: flag(d)),
    },
    "blanks": lambda d: {
        "template": "a [blank] c [blank].",
        "targets": [solid(d), {"any": ["four", {"text": "f.*", "regex": True}], "weight": 2}],
        **some(d, min_match=lambda: 0.1),
    },
    "command_ran": lambda d: {"command": "ls|get", **some(d, at_most=lambda: 0)},
    "contains": lambda d: d.choice(
        (
            solid(d),
            [solid(d), solid(d)],
            {"any": "references"},
            {"all": "references"},
            "references",
            {"texts": [solid(d), solid(d)], "all": False, "none": solid(d)},
            {"texts": solid(d), "ignore_case": True},
        )
    ),
    "cost": lambda d: d.choice((True, {"dollars": 0.5})),
    "exact_match": lambda d: d.choice(
        (True, {"ignore_case": True}, {"strict": True}, {"strict": True, "strip": False})
    ),
    "files_changed": lambda d: {"never": ["*.txt"]},
    "imported": lambda d: {"metric": "m"},
    "instructions": lambda d: {
        "instructions": [_instruction(d) for _ in range(d.randint(1, 3))],
        **some(d, loose=lambda: flag(d), all_or_nothing=lambda: flag(d)),
    },
    "is_json": lambda d: (
        some(d, kind=lambda: d.choice(("object", "array", "number")), whole=lambda: flag(d)) or True
    ),
    "json_equal": lambda d: {
        "value": d.choice(VALUES[:7] + VALUES[8:]),
        **some(
            d,
            partial=lambda: flag(d),
            ignore=lambda: "b",
            extra_keys=lambda: flag(d),
            ignore_order=lambda: flag(d),
            tolerance=lambda: 0.1,
        ),
    },
    "json_schema": lambda d: {
        "schema": d.choice(
            (
                {"type": "object"},
                {"type": "object", "properties": {"a": {"const": d.choice(VALUES)}}},
                {"enum": [1, "a"]},
                {"type": "array", "items": {"type": "integer"}},
            )
        )
    },
    "keywords": lambda d: [_keyword(d, plain=d.random() < 0.6) for _ in range(d.randint(1, 3))],
    "language": lambda d: d.choice(("en", "zh", "de", "French", "ja")),
    "latency": lambda d: d.choice((True, {"seconds": 1.5})),
    "length": lambda d: (
        some(
            d,
            max=lambda: d.randint(1, 9),
            min=lambda: d.randint(0, 1),
            unit=lambda: d.choice(("words", "characters", "sentences", "lines")),
        )
        or True
    ),
    "matches": lambda d: {
        "pattern": d.choice(("(four|blue)+", "^[a-z ]*$", r"\d+", "数|字", ".*x")),
        **some(d, ignore_case=lambda: flag(d), full=lambda: flag(d)),
    },
    "maths": lambda d: some(d, extract=lambda: flag(d)) or True,
    "noted": lambda d: d.choice(("correct", "seconds", "flag")),
    "number": lambda d: d.choice((4, 4.0, -3, 1000.5, {"value": 42, "tolerance": 40})),
    "readability": lambda d: d.choice((True, {"counts": True})),
    "refusal": flag,
    "retrieval": lambda d: {
        "name": d.choice(("recall", "precision", "hit", "mrr", "ndcg", "map")),
        **some(d, k=lambda: d.randint(1, 3)),
    },
    "rouge": lambda d: {
        "metric": d.choice(("rouge1", "rouge2", "rougeL", "rougeLsum")),
        **some(d, low=lambda: 0.1, high=lambda: 0.7, references=lambda: [solid(d)]),
    },
    "says": lambda d: {
        "texts": d.choice((solid(d), "references", [solid(d), solid(d)])),
        **some(d, none=lambda: solid(d), partial=lambda: flag(d)),
    },
    "skill_used": lambda d: {"skill": "s", **some(d, at_most=lambda: 0)},
    "specificity": lambda d: True,
    "text_metrics": lambda d: {
        "metrics": d.sample(("bleu", "rouge", "distinct", "chrf", "prf"), d.randint(1, 3)),
        **some(d, language=lambda: d.choice(("en", "zh"))),
    },
    "token_f1": lambda d: True,
    "tool_calls": lambda d: {
        "calls": [_call(d) for _ in range(d.randint(1, 2))],
        **some(
            d,
            in_order=lambda: flag(d),
            extra_calls=lambda: flag(d),
            **d.choice(({"partial": lambda: True}, {"at_least": lambda: 1})),
        ),
    },
    "tool_used": lambda d: {"tool": "ge*", **some(d, input=lambda: "a")},
    "word_count_match": lambda d: True,
    "xml": lambda d: (
        some(
            d,
            root=lambda: "root",
            has=lambda: [".//name"],
            values=lambda: {"item/name": "x"},
            whole=lambda: flag(d),
            partial=lambda: flag(d),
        )
        or True
    ),
}
"""Criteria of each scorer that needs neither a judge nor a sandbox nor an encoder."""
WITH_REFERENCES = frozenset(
    {"exact_match", "maths", "rouge", "text_metrics", "token_f1", "word_count_match", "contains", "says"}
)  # fmt: skip
SHOWN = frozenset({"text_metrics"})
MEASURES: tuple[Json, ...] = (
    "accuracy", {"accuracy": {"over": "attempts"}}, "pass@1", "pass@2", "pass^2", {"pass_rate": {"threshold": 0.3}},
    {"mean_points": {"criterion": "first"}}, {"named_metric": {"metric": "bleu1", "by": "kind"}}, "truncation_rate",
    {"retrieval": {"name": "recall"}}, "healthbench", "hit_rate", "agent_failure_rate",
)  # fmt: skip


@dataclass
class Made:
    """A suite and answers to it, and how they are to be run."""

    header: dict[str, Json]
    cases: list[dict[str, Json]]
    answers: list[dict[str, Json]]
    settings: dict[str, Any] = field(default_factory=dict)


def criterion(draw: Draw, names: list[str], place: int) -> Json:
    """Return a criterion, written in one of the ways that there are."""
    name = draw.choice(names)
    written = KINDS[name](draw)
    if name == "contains" and type(written) is str and written != "references" and flag(draw):
        return written
    made: dict[str, Json] = {name: written}
    if type(written) is dict and flag(draw):
        made = {"scorer": name, "with": written}
    if place and draw.random() < 0.15:
        made["weight"] = draw.choice((0, 0.3, 2, -0.5, -1, 1e-3))
    if name in SHOWN:
        made["weight"] = 0
    if draw.random() < 0.15:
        made["metric"] = draw.choice(("m1", "m2"))
    if draw.random() < 0.1:
        made["id"] = f"c{place}" if place else "first"
    return made


def case(draw: Draw, number: int, names: list[str], patterns: list[Json], rest: float) -> Any:
    """Return a case; ``rest`` is how often it has something that few cases have."""
    odd = draw.random
    made: dict[str, Json] = {"id": f"c{number}{draw.choice(('', '', 'é', ' x', '数'))}"}
    made["ask"] = f"{number}: {text(draw)}" if odd() < 0.9 else solid(draw)
    if odd() < 0.85:
        made["references"] = [solid(draw, 5) for _ in range(draw.randint(1, 3))]
    if odd() < 0.75:
        made["criteria"] = draw.choice(patterns)
    else:
        made["criteria"] = [criterion(draw, names, place) for place in range(draw.randint(1, 3))]
    if "references" not in made:
        made["references"] = [solid(draw)]
    if odd() < 0.5:
        made["tags"] = {
            tag: draw.choice((draw.choice("ab"), [draw.choice("ab"), "c"], "数"))
            for tag in sorted(draw.sample(TAGS, draw.randint(1, 2)), key=TAGS.index)
        }
    extras: dict[str, Callable[[], Json]] = {
        "weight": lambda: draw.choice((0, 0.5, 1.7, 3)),
        "full_score": lambda: draw.choice((0, 0.5, 3, 10)),
        "null_score": lambda: draw.choice((-1, 0.2)),
        "min_points": lambda: draw.choice((0, -0.5)),
        "max_points": lambda: draw.choice((1, 0.5, 2)),
        "out_of": lambda: draw.choice((1, 2.5)),
        "cluster": lambda: f"k{draw.randrange(4)}",
        "source": lambda: "written by hand",
        "hidden": lambda: {"relevant": draw.choice((["d1", "d2"], {"d1": 2, "d3": 1}))},
        "context": lambda: texts(draw),
        "vars": lambda: {"x": solid(draw), "y": draw.choice(VALUES[8:])},
        "system": lambda: solid(draw),
        "examples": lambda: [{"ask": solid(draw), "answer": solid(draw)}],
        "response_format": lambda: {"type": "object", "properties": {"a": {"type": "integer"}}},
        "tools": lambda: [{"name": "get", "parameters": {"type": "object"}}, "put"],
    }
    for name, make in extras.items():
        if odd() < rest:
            made[name] = make()
    if odd() < rest:
        made["messages"] = [
            {"role": "user", "content": solid(draw)},
            {"role": "assistant", "content": solid(draw)},
            {"role": "user", "content": made.pop("ask")},
        ]
        made.pop("system", None)
        made.pop("examples", None)
    return made


def answer(draw: Draw, of: Mapping[str, Json], rest: float, *, halves: bool) -> dict[str, Json]:
    """Return an answer to a case."""
    odd = draw.random
    made: dict[str, Json] = {"case": of["id"]}
    right = draw.choice(of["references"])
    made["output"] = draw.choice((right, right, text(draw), text(draw), f"{right} {text(draw)}"))
    if halves and odd() < 0.03:
        made["output"] += draw.choice(HALVES)
    if odd() < rest:
        made["output"] = draw.choice((None, "", 4, 4.5, True, 10**20, 1e300))
    if odd() < rest:
        said = {"role": "assistant", "content": made.pop("output")}
        if type(said["content"]) is not str:
            said["content"] = "x"
        if flag(draw):
            said["tool_calls"] = [{"name": "get", "arguments": {"a": draw.choice(VALUES)}}]
        begun = of.get("messages", [{"role": "user", "content": of.get("ask", "")}])
        made["messages"] = [*(begun if flag(draw) else []), said]
        if odd() < 0.3:
            made["messages"] += [
                {"role": "user", "content": "go on"},
                {**said, "content": text(draw)},
            ]
    elif odd() < rest:
        made["tool_calls"] = [
            {"name": draw.choice(("get", "put")), "arguments": {"a": draw.choice(VALUES)}}
        ]
    extras: dict[str, Callable[[], Json]] = {
        "seconds": lambda: draw.choice((0.1, 2, 5.5)),
        "cost": lambda: draw.choice((0.1, 1)),
        "retrieved": lambda: draw.sample(["d1", "d2", "d3"], draw.randint(0, 3)),
        "context": lambda: draw.choice((texts(draw), [{"text": solid(draw), "id": "d1"}], "one")),
        "model": lambda: solid(draw),
        "note": lambda: draw.choice(VALUES),
    }
    for name, make in extras.items():
        if odd() < rest:
            made[name] = make()
    return made


def random_suite(seed: int, size: int = 0) -> Made:
    """Make a suite and answers of a seed."""
    draw = random.Random(seed)
    size = size or draw.choice((1, 3, 12, 40))
    names = draw.sample(sorted(KINDS), draw.choice((1, 2, 4, len(KINDS))))
    patterns = [
        [criterion(draw, names, place) for place in range(draw.randint(1, 3))]
        for _ in range(draw.randint(1, 4))
    ]
    rest = draw.choice((0, 0, 0.03, 0.15))
    header: dict[str, Json] = some(
        draw,
        full_score=lambda: draw.choice((2, 0.5)),
        null_score=lambda: -0.5,
        weight=lambda: 0.7,
        reduce=lambda: draw.choice(("max", "min", "median", "avg_max_2")),
        measures=lambda: draw.sample(MEASURES, draw.randint(1, 3)),
        tags=lambda: {"all": "x"},
        cluster=lambda: draw.choice(("kind", "ask", "references")),
        language=lambda: "zh",
        vars=lambda: {"z": "1"},
    )
    if flag(draw):
        header = {}
    cases = [case(draw, number, names, patterns, rest) for number in range(size)]
    if header.get("cluster") == "kind":
        cases[0]["tags"] = {"kind": "a"}
    halves = flag(draw)
    most = draw.choice((1, 1, 3))
    answers = []
    for one in cases:
        few = 1 if draw.random() < 0.9 else 0
        tries = few if most == 1 else draw.randint(0, most)
        for number in range(tries):
            made = answer(draw, one, rest, halves=halves)
            if rest and draw.random() < 0.1 and most > 1:
                made["attempt"] = number + draw.choice((0, 10))
            answers.append(made)
    if not answers:
        answers.append({"case": cases[0]["id"], "output": "x"})
    if draw.random() < 0.3:
        draw.shuffle(answers)
    settings = some(
        draw,
        attempts=lambda: draw.randint(1, 3),
        interval=lambda: "bootstrap",
        limit=lambda: draw.randint(1, size),
    )
    return Made(header, cases, answers, settings)


def as_jsonl(rows: list[Any], draw: Draw) -> str:
    """Write rows as JSON, with or without escapes."""
    lines = []
    for row in rows:
        line = json.dumps(row, ensure_ascii=draw.random() < 0.7)
        try:
            line.encode()
        except UnicodeEncodeError:
            line = json.dumps(row)
        lines.append(line + "\n")
    return "".join(lines)
