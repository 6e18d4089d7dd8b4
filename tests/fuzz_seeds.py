"""Right suites and answers of every dialect, and what makes wrong ones of them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

Files = Mapping[str, bytes]

NATIVE = b"""\
name: quiz
version: "1"
description: all kinds of criteria
language: en
reduce: avg
measures: [accuracy, {mean_points: tone}, pass@1]
criteria:
  - judged: Is it polite?
    id: tone
    weight: 0
cases:
  - id: one
    ask: What is red?
    tags: {lang: [python, git], level: easy}
    weight: 2
    full_score: 4.5
    null_score: 0.25
    min_points: -1
    max_points: 3
    references: [a colour, "1.10"]
    criteria:
      - keywords:
          - {text: '\\bred\\b', regex: true, ignore_case: true, weight: 1.5}
          - any: [blue, {all: [green, "yes"]}]
            cond: 'context[0] == "match" or len(context) > 2'
          - {text: no, neg: true}
      - number: 42
      - matches: "(a|b)+c"
  - &two
    id: two
    messages:
      - {role: system, content: Be brief.}
      - {role: user, content: Fill the blanks.}
    hidden: {facts: [1, 2.5, null, true]}
    dialogue: {scripted: {}}
    criteria:
      - blanks:
          template: "a [blank] b [blank]"
          targets: [x, {any: [y, z]}]
      - rouge: {metric: rougeL}
      - unit_tests:
          lang: python
          tests: [{content: "assert f(1) == 2"}]
  - more.yaml
"""
MORE = b"ask: Say one.\ncriteria: one\nfiles: [data.txt]\n"
ROWS = b"""\
{"id": "a", "ask": "What?", "criteria": [{"keywords": ["one", {"text": "two", "weight": 2}]}]}
{"id": "b", "ask": "Why?", "references": ["x"], "criteria": {"exact_match": {}}, "tags": {"k": "v"}}
"""
INFIBENCH = b"""\
id: c1
prompt_path: prompt.txt
type: code completion
lang: python
full_score: 2.0
null_score: 0.1
grading:
  max_score: 3
  min_score: 0
  keywords:
    - git stash
    - {content: "a|b", regex: true, to_lower: true, weight: 2.0}
    - or: [x, {and: [y, z]}]
      cond: 'context[0] == "match"'
      neg: true
  blank_filling:
    template: "git [blank] --all [blank]"
    blank_str: "[blank]"
    escape: "`'"
    targets:
      - {content: pull, or: [fetch]}
      - x
  similarity:
    - {metric: rougeL, references: [{path: prompt.txt}], min_score: 0.1, max_score: 0.9}
  unit_test:
    tests:
      - {path: prompt.txt, only_longest: true}
"""
COLOSSAL = {
    "language": "en",
    "category": {
        "chat": {"GPT": ["naturalness", "relevance"], "Metrics": ["Distinct"]},
        "closed_qa": {"Metrics": ["BLEU", "Recall", "Precision", "CHRF"]},
    },
}
TARGETS = [
    {"category": "chat", "instruction": "Say hello.", "input": "", "output": "Hi.", "id": 1},
    {"category": "closed_qa", "instruction": "1+1?", "input": "Add.", "target": "2", "id": 2},
]
BENCH = b'id,input,reference_output,context\nx,a?,A,\ny,"b, c?","B ""q""",d\n'
BENCH_SUITE = {
    "name": "s",
    "scoring_method": {"name": "exact_match", "type": "built_in", "config": {"case_sensitive": True}},
    "test_cases": [{"id": "1", "input": "a?", "reference_output": "A"}],
    "id": "0a6bc2c8-1b3b-4b47-9f0c-2a2f6e0f3a11",
    "created_at": "2023-11-05T14:02:21.551200",
    "updated_at": "2023-11-05T14:02:21.551200",
}  # fmt: skip
ASKBENCH = b"""\
[model]
api_type = qwen
api_url = http://127.0.0.1:9/v1
[generateconfig]
temperature = 0.5
max_tokens = 100
[tasks]
enabled = ask_mind
tasks_config_path = .
[path]
save_dir = results
[evaluatorconfig]
api_type = judge
api_url = http://127.0.0.1:9/v1
max_turns = 5
"""
TASK = (
    b"[evalset]\nevalsetname = ask_mind\n[path]\ndata_dir = .\n[generateconfig]\nmax_tokens = 7\n"
)
ASKED = b"""\
{"ori_question": "2 + 2?", "expected_answer": "4", "degraded_question": "less", \
"degraded_info": "why", "required_points": ["a", "b"]}
{"ori_question": "3?", "expected_answer": "3", "degraded_question": "?", "degraded_info": "w", \
"required_points": ["c"], "id": 7}
"""
TASKWEAVER = b"""\
version: 0.1
app_dir: project
config_var:
  execution_service.kernel_mode: local
data_files: [data.txt]
dependencies: [json]
eval_query:
  - user_query: What is 17 times 6?
    post_index: -1
    scoring_points:
      - score_point: The answer is 102
        weight: 1
      - score_point: used a tool
        weight: 0.5
        eval_code: |-
          assert "102" in agent_response
"""
TASKWEAVER_NEW = b"""\
version: 0.1
app_dir: project
task_description: Find the mean.
max_rounds: 3
scoring_points:
  - {score_point: the mean is 3, weight: 2}
"""
ANSWERS = b"""\
{"case": "one", "output": "red", "attempt": 0}
{"case": "one", "messages": [{"role": "assistant", "content": "blue"}], "attempt": 1}
{"case": "two", "output": "a x b y", "usage": {"prompt_tokens": 1}, "error": null}
"""
ANSWER_SUITE = b"""\
name: quiz
cases:
  - {id: one, ask: Which, criteria: red}
  - {id: two, ask: Which, criteria: {keywords: [x, y]}}
"""
OTHERS: Files = {"more.yaml": MORE, "data.txt": b"data\n", "prompt.txt": b"Say it.\n"}

Seed = tuple[str, str, Files]
"""A dialect, the file that is named on the command line (mutated first), and all files."""


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1).encode()


SEEDS: Sequence[Seed] = (
    ("native", "suite.yaml", {"suite.yaml": NATIVE, **OTHERS}),
    ("native", "suite.jsonl", {"suite.jsonl": ROWS}),
    ("native", "suite.csv", {"suite.csv": b'id,ask,criteria,weight\na,b?,c,1\nd,"e,f",g,0.5\n'}),
    ("native", "suite.json", {"suite.json": b'{"name": "a", "cases": [' + ROWS.split(b"\n")[0] + b"]}"}),
    ("infibench", "suite.yaml", {"suite.yaml": b"cases: [c1.yaml]\n", "c1.yaml": INFIBENCH, **OTHERS}),
    ("infibench", "c1.yaml", {"c1.yaml": INFIBENCH, **OTHERS}),
    ("colossal", "config.json", {"config.json": _json(COLOSSAL), "targets.json": _json(TARGETS)}),
    ("bench", "suite.csv", {"suite.csv": BENCH}),
    ("bench", "suite.json", {"suite.json": _json(BENCH_SUITE)}),
    ("askbench", "base.ini", {"base.ini": ASKBENCH, "ask_mind.ini": TASK, "ask_mind/test.jsonl": ASKED}),
    ("askbench", "ask_mind/test.jsonl", {"ask_mind/test.jsonl": ASKED}),
    ("taskweaver", "case.yaml", {"case.yaml": TASKWEAVER, "project/config.json": b"{}", **OTHERS}),
    ("taskweaver", "case.yaml", {"case.yaml": TASKWEAVER_NEW, "project/config.json": b"{}", **OTHERS}),
)  # fmt: skip

TOKENS: Sequence[bytes] = tuple(
    token.encode("utf-8", "surrogatepass") if isinstance(token, str) else token
    for token in (
        "", " ", "\n", "\t", "\r", "\0", "\x1b[31m", "\x7f", "\u202e", "\ufeff", "\ud800", "\u2028", "é", "全",
        b"\xff", b"\xc3", b"\xff\xfe", "-", "- ", "?", ": ", ":", ",", "[", "]", "{", "}", "[" * 70, "{a: " * 70,
        "'", '"', "\\", "|", ">", "&a ", "*a", "*two", "<<: *two\n", "!!python/object:os.system", "!!binary x",
        "!x ", "%YAML 1.1\n---\n", "---\n", "...\n", "#", "@", "`", "~", "null", "true", "no", "on", "0", "-1", "-0.0",
        "1e309", "-1e309", "1e-400", ".nan", "NaN", ".inf", "-.inf", "Infinity", "0x1F", "0o17", "1_000", "9" * 400,
        "9" * 5000, "1:30:00", "2026-11-15", "2026-13-45T99:99", "../", "../../../../../etc/passwd", "/etc/passwd",
        "/dev/zero", "~/x", "a/../..", ".", "..", "(a+)+$", "(?P<n>", "(?R)", "[[:x", "a{1,99999}", "\\1", "\\Z",
        "x" * 300, "x" * 3000, "id", "ask", "cases", "criteria", "scorer", "weight", "tags", "dialogue", "files",
        "hidden", "messages", "role", "content", "keywords", "regex", "cond", "any", "judged", "os:system",
        "builtins:exec", "proctor.cli.main:main", "__import__('os')", "context[0]", "while True: pass", "%(x)s", "%",
        "${x}", "{x}", "{{ 7*7 }}", "[model]\n", "= ", "a = b = c\n", "\"\"", "[]", "{}", "[null]", "{\"a\": 1}",
        "-9223372036854775809", "18446744073709551616",
    )
)  # fmt: skip

Mutation = tuple[int, int, int, int]
KINDS = 8


def mutated(data: bytes, mutations: Sequence[Mutation]) -> bytes:
    """Change some bytes: each mutation is a kind, a place out of 65,536, a token and a length."""
    for kind, where, token, length in mutations:
        at = where * (len(data) + 1) >> 16
        end = min(len(data), at + length)
        word = TOKENS[token % len(TOKENS)]
        match kind % KINDS:
            case 0:
                data = data[:at] + word + data[at:]
            case 1:
                data = data[:at] + word + data[end:]
            case 2:
                data = data[:at] + data[end:]
            case 3:
                data = data[:end] + data[at:end] * (1 + token % 5) + data[end:]
            case 4:
                data = data[:at] + bytes([token % 256]) + data[at + 1 :]
            case 5:
                data = _value(data, at, word)
            case 6:
                data = _lines(data, at, token)
            case _:
                data = data[:at]
    return data[:200_000]


def _value(data: bytes, at: int, word: bytes) -> bytes:
    """Put a word in the place of the value that follows."""
    begin = min((found for found in (data.find(mark, at) for mark in (b": ", b"- ", b"= ", b",")) if found >= 0),
                default=-1)  # fmt: skip
    if begin < 0:
        return data + word
    begin += 2 if data[begin : begin + 1] != b"," else 1
    ends = [
        found
        for found in (data.find(mark, begin) for mark in (b"\n", b",", b"}", b"]"))
        if found >= 0
    ]
    return data[:begin] + word + data[min(ends, default=len(data)) :]


def _lines(data: bytes, at: int, token: int) -> bytes:
    """Take a line away, say it twice, or move it to the end or to the right."""
    lines = data.split(b"\n")
    place = min(data.count(b"\n", 0, at), len(lines) - 1)
    line = lines.pop(place)
    again = ([], [line, line], [b"  " + line], [line.lstrip()])[token % 4]
    return b"\n".join([*lines[:place], *again, *lines[place:]])
