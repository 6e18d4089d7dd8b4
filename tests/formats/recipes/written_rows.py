"""Rows in the schemas of public benchmarks, written by us, with right and wrong replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Reply = str | list[dict[str, Any]]
"""A text, or tool calls."""


@dataclass(frozen=True)
class Written:
    """A few rows of one recipe, with replies to each that are right and wrong."""

    rows: tuple[Mapping[str, Any], ...]
    right: tuple[Reply, ...]
    wrong: tuple[Reply, ...]


_CHOICE = {"A": "iron", "B": "gold", "C": "tin", "D": "zinc"}
_CHECK = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-3) == 9\n"
_FUNCTION = {
    "task_id": "HumanEval/900",
    "prompt": 'def square(x):\n    """Return x times x."""\n',
    "canonical_solution": "    return x * x\n",
    "test": _CHECK,
    "entry_point": "square",
}
_SUM = "```python\na, b = map(int, input().split())\nprint(a + b)\n```"
_DIFFERENCE = "```python\na, b = map(int, input().split())\nprint(a - b)\n```"
ROWS: dict[str, Written] = {
    "gsm8k": Written(
        (
            {"question": "3 boxes hold 4 pens each. How many pens?", "answer": "3*4=12\n#### 12"},
            {"question": "What are 500 and 700?", "answer": "Add them.\n#### 1,200"},
        ),
        ("3 times 4. The answer is 12.", "The answer is 1200."),
        ("The answer is 7.", "The answer is 12."),
    ),
    "math500": Written(
        (
            {"problem": "Halve $1$.", "solution": "s", "answer": "\\frac{1}{2}",
             "subject": "Prealgebra", "level": 1, "unique_id": "test/prealgebra/1.json"},
        ),
        ("It is $\\boxed{0.5}$.",),
        ("It is $\\boxed{2}$, from 1/2.",),
    ),
    "aime": Written(
        ({"ID": "2024-I-99", "Problem": "Find $5^3-1$.", "Solution": "s", "Answer": 124},),
        ("\\boxed{124}",),
        ("\\boxed{125}",),
    ),
    "mmlu": Written(
        (
            {"question": "Which is Au?", "subject": "chemistry",
             "choices": ["iron", "gold", "tin", "zinc"], "answer": 1},
        ),
        ("Not A.\nANSWER: B",),
        ("ANSWER: B\nNo, wait.\nANSWER: C",),
    ),
    "mmlu-pro": Written(
        (
            {"question_id": 1, "question": "Which is Sn?", "answer": "C", "answer_index": 2,
             "options": ["iron", "gold", "tin", "zinc", "lead"], "cot_content": "",
             "category": "chemistry", "src": "ours"},
        ),
        ("**ANSWER: C**",),
        ("The answer may be C.",),
    ),
    "gpqa": Written(
        (
            {"Question": "Which decays?", "Correct Answer": "the neutron",
             "Incorrect Answer 1": "the proton", "Incorrect Answer 2": "the electron",
             "Incorrect Answer 3": "the photon", "High-level domain": "Physics"},
        ),
        ("ANSWER: B",),
        ("ANSWER: A",),
    ),
    "ifeval": Written(
        (
            {"key": 1, "prompt": "Name two colours in lower case. Use no comma.",
             "instruction_id_list": ["punctuation:no_comma", "change_case:english_lowercase"],
             "kwargs": [{"relation": None}, {}]},
        ),
        ("the colours are red and blue",),
        ("the colours are red, blue",),
    ),
    "bbh": Written(
        (
            {"input": "not ( True ) and ( True ) is", "target": "False"},
            {"input": "Options:\n(A) 5 May\n(B) 6 May", "target": "(B)"},
        ),
        ("Step by step.\nANSWER: False", "ANSWER: (B)"),
        ("ANSWER: True", "ANSWER: (A), not (B)"),
    ),
    "humaneval": Written(
        (_FUNCTION,),
        ("```python\ndef square(x):\n    return x * x\n```",),
        ("```python\ndef square(x):\n    return 2 * x\n```",),
    ),
    "humaneval-plus": Written(
        (_FUNCTION,),
        ("```python\ndef square(x):\n    return x ** 2\n```",),
        ("```python\ndef square(x):\n    return x\n```",),
    ),
    "mbpp-plus": Written(
        (
            {"task_id": 2, "prompt": "Write a function that doubles a number.",
             "code": "def double(n): return 2 * n", "source_file": "", "test_imports": [],
             "test_list": ["assert double(2) == 4"],
             "test": "assert double(2) == 4\nassert double(0) == 0\nassert double(-1) == -2\n"},
        ),
        ("```python\ndef double(n):\n    return n + n\n```",),
        ("```python\ndef double(n):\n    return n * n\n```",),
    ),
    "apps": Written(
        (
            {"id": 1, "question": "Add two numbers.", "solutions": "[]", "url": "", "starter_code":
             "", "difficulty": "introductory",
             "input_output": '{"inputs": ["1 2\\n", "5 6\\n"], "outputs": ["3\\n", "11\\n"]}'},
        ),
        (_SUM,),
        (_DIFFERENCE,),
    ),
    "livecodebench": Written(
        (
            {"question_title": "Add", "question_content": "Add two numbers.", "platform": "atcoder",
             "question_id": "abc900_a", "contest_id": "abc900", "contest_date": "2026-01-01",
             "starter_code": "", "difficulty": "easy", "private_test_cases": "", "metadata": "{}",
             "public_test_cases": '[{"input": "1 2\\n", "output": "3\\n", "testtype": "stdin"}]'},
        ),
        (_SUM,),
        (_DIFFERENCE,),
    ),
    "cmmlu": Written(
        ({"Question": "金的符号是 Au，它是哪一个？", **_CHOICE, "Answer": "B"},),
        ("先看选项。\n答案：B",),
        ("答案：B\n不对。\n答案：D",),
    ),
    "ceval": Written(
        (
            {"id": 0, "question": "锡的符号是 Sn，它是哪一个？", **_CHOICE, "answer": "C",
             "explanation": ""},
        ),
        ("答案是：C",),
        ("答案：A",),
    ),
    "simpleqa": Written(
        ({"metadata": "{}", "problem": "Who wrote Faust?", "answer": "Goethe"},),
        ("Johann Wolfgang von Goethe",),
        ("Schiller",),
    ),
    "bfcl": Written(
        (
            {"id": "live_multiple_0", "question": [[{"role": "user", "content": "Rain in Rome?"}]],
             "function": [{"name": "weather.get", "description": "d", "parameters": {
                 "type": "dict", "required": ["city"], "properties": {
                     "city": {"type": "string"}, "days": {"type": "float"}}}}],
             "ground_truth": [{"weather.get": {"city": ["Rome", "Roma"], "days": [1, ""]}}]},
            {"id": "live_multiple_1", "question": [[{"role": "user", "content": "Tea for Ada?"}]],
             "function": [{"name": "order", "description": "d", "parameters": {
                 "type": "dict", "properties": {"items": {"type": "array", "items": {"type": "dict"}},
                                                "to": {"type": "dict"}, "notes": {"type": "array"}}}}],
             "ground_truth": [{"order": {
                 "items": [[{"name": ["tea", "Tea"], "count": [1, ""]}]],
                 "to": [{"name": ["Ada"], "town": ["", "Rome"]}], "notes": ["", [], ["soon"]]}}]},
        ),
        ([{"name": "weather_get", "arguments": {"city": "Roma"}}],
         [{"name": "order", "arguments": {"items": [{"name": "Tea"}], "to": {"name": "Ada"},
                                          "notes": ["soon"]}}]),
        ([{"name": "weather_get", "arguments": {"city": "Roma", "unit": "C"}}],
         [{"name": "order", "arguments": {"items": [{"name": ["tea", "Tea"]}], "to": {"name": "Ada"}}}]),
    ),
}  # fmt: skip
