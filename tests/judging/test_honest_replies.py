"""Honest judges stay readable: what they write around a verdict in practice."""

import asyncio
from typing import Literal

import pytest
from pydantic import BaseModel

from proctor.contracts.scorer import ScoreContext
from proctor.core.exchange import Sampling
from proctor.judging import ask, prompts, read
from proctor.scorers.judged.criteria import YesNo
from proctor.testing import ScriptedModel

YES = '{"reason": "It names Paris.", "result": "yes"}'
PRETTY = '{\n  "reason": "It names Paris.",\n  "result": "yes"\n}'

HONEST = {
    "alone": YES,
    "pretty": PRETTY,
    "spaces around": f"\n\n  {YES}  \n",
    "json fence": f"```json\n{YES}\n```",
    "upper case fence": f"```JSON\n{PRETTY}\n```",
    "bare fence": f"```\n{YES}\n```",
    "fence in one line": f"```json {YES}```",
    "fence that was cut off": f"```json\n{PRETTY}",
    "fence with spaces": f"``` json\n{YES}\n```\n",
    "reasoning line": f"Reasoning: The answer names Paris, as the reference does.\n```json\n{YES}\n```",
    "reasoning without a full stop": f"Reasoning: it agrees with the reference answer\n```json\n{YES}\n```",
    "reasoning in the same line": f"Reasoning: fine. {YES}",
    "long reasoning": "First I look at the question. " * 40 + f"\n\n{YES}",
    "reasoning that quotes words": f'The answer says "Paris". The reference is "Paris".\n{YES}',
    "reasoning that quotes in one line": f'It says "Paris", which is right. {YES}',
    "reasoning with curly quotes": f"It says “Paris”, and that is right.\n{YES}",
    "reasoning with French quotes": f"Il dit « Paris ».\n{YES}",
    "reasoning with Chinese quotes": f"回答是「巴黎」，与参考一致。\n{YES}",
    "reasoning in Chinese": f"推理：回答与参考一致。\n```json\n{YES}\n```",
    "label": f"Verdict: {YES}",
    "bold label": f"**Final verdict:**\n\n{YES}",
    "heading": f"## Result\n\n```json\n{YES}\n```",
    "final answer label": f"Final answer: {YES}",
    "output label": f"Some thoughts.\n\nOutput:\n{YES}",
    "here is": f"Here is my verdict:\n\n```json\n{YES}\n```",
    "json label": f"json\n{YES}",
    "Chinese label": f"结论：\n{YES}",
    "thinking": f'<think>Could be {{"result": "no"}}? No, it names Paris.</think>\n{YES}',
    "thinking twice": f"<think>a</think><think>b</think>{YES}",
    "reasoning tag": f"<reasoning>It says {{'a': 1}}.</reasoning>\n{YES}",
    "scratchpad": f"<scratchpad>\nstep one\n</scratchpad>\n\n```json\n{YES}\n```",
    "answer tag": f"<answer>{YES}</answer>",
    "verdict tag": f"I compared both.\n<verdict>\n{YES}\n</verdict>",
    "numbered steps": f"1. The question asks for a capital.\n2. The answer gives one.\n\n{YES}",
    "bullets": f"- names a city\n- the right one\n\n{YES}",
    "inline code": f"Verdict: `{YES}`",
    "draft and final that agree": f"Draft: {YES}\nI checked it again.\n{YES}",
    "draft without a reason": f'{{"result": "yes"}}\n\nChecked.\n\n{YES}',
    "extra keys": '{"reason": "r", "result": "yes", "confidence": 0.9, "steps": ["a", "b"]}',
    "nested extra": '{"reason": "r", "evidence": {"quote": "Paris"}, "result": "yes"}',
    "other order": '{"result": "yes", "reason": "r"}',
    "no reason": '{"result": "yes"}',
    "braces in the reason": '{"reason": "it uses {x} and } and ```", "result": "yes"}',
    "quotation marks in the reason": '{"reason": "it says \\"Paris\\"", "result": "yes"}',
    "a verdict in the reason": '{"reason": "it says {\\"result\\": \\"no\\"}", "result": "yes"}',
    "line break in the reason": '{"reason": "two\nlines", "result": "yes"}',
    "Chinese in the reason": '{"reason": "回答是“巴黎”。", "result": "yes"}',
    "set in braces": f"The set {{1, 2, 3}} is right.\n{YES}",
    "LaTeX": f"So \\boxed{{4}} and \\frac{{a}}{{b}}.\n{YES}",
    "code before": f"The code `x = {{1: 2}}` runs.\n{YES}",
    "other JSON before": f'The answer gives {{"name": "Ann", "age": 3}}, as asked for.\n\n{YES}',
    "JSON block of the answer before": f'It returns\n```json\n{{"name": "Ann"}}\n```\nas it should.\n\n```json\n{YES}\n```',
    "double braces": "{" + YES + "}",
    "explanation behind": f"{YES}\n\nExplanation: the answer names Paris.",
    "plain words behind": f"{YES}\n\nThe answer names the right city.",
    "fence, then an explanation": f"```json\n{YES}\n```\nReason: it fits the reference.",
    "farewell": f"Reasoning: fits.\n```json\n{YES}\n```\nI hope this helps!",
    "end token": f"{YES}<|im_end|>",
    "end of sequence": f"{YES}</s>",
    "rule behind": f"{YES}\n\n---\n",
    "full stop behind": f"{YES}.",
    "template first": 'I reply as {"reason": "one or two sentences", "result": "yes or no"}.\n' + YES,
    "table": f"| what | ok |\n| --- | --- |\n| city | yes |\n\n{YES}",
    "refusing words before": f"I cannot find any fault in it.\n{YES}",
}  # fmt: skip


class Shown(BaseModel):
    """Hold a verdict of another shape."""

    notes: str | None = ""
    is_final: bool
    points: list[str]
    kind: Literal["a", "b"] = "a"


def asked(output: str, reply: str) -> YesNo:
    ctx = ScoreContext.of(output, prompt="Capital of France?", references=["Paris"])
    message = prompts.load("judge_yes_no").message(
        {},
        {
            "conversation": ctx.prompt,
            "references": "Paris",
            "answer": output,
            "criterion": "right?",
        },
        ctx.marks,
    )
    ruling = asyncio.run(
        ask(ScriptedModel([reply]), (message,), YesNo, tries=1, sampling=Sampling())
    )
    return ruling.verdict


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_reply_is_read(name: str) -> None:
    assert asked("It is Paris.", HONEST[name]).result == "yes"


@pytest.mark.parametrize("name", [name for name in HONEST if name != "template first"])
def test_an_honest_reply_is_read_without_its_prompt(name: str) -> None:
    assert read(HONEST[name], YesNo)[0].result == "yes"


def test_there_are_enough_of_them() -> None:
    assert len(HONEST) >= 40


@pytest.mark.parametrize(
    "reply",
    [
        '{"is_final": true, "points": ["x"], "notes": null}',
        'So {"is_final": true, "points": ["x"]}',
        'First {"is_final": true, "points": ["x"], "notes": "a"} and again\n'
        '{"is_final": true, "points": ["x"], "notes": "b", "kind": "a"}',
    ],
)
def test_verdicts_that_rule_the_same_may_give_other_reasons(reply: str) -> None:
    assert read(reply, Shown)[0].points == ["x"]


def test_an_answer_that_is_json_itself_can_be_judged() -> None:
    answer = '{"result": "yes", "city": "Paris"}'
    reply = f"The answer is {answer}, which is what was asked for.\n\n{YES}"
    assert asked(answer, reply).result == "yes"
    wrong = '{"reason": "no city", "result": "no"}'
    assert asked(answer, f"It gives\n```json\n{answer}\n```\n\n{wrong}").result == "no"
