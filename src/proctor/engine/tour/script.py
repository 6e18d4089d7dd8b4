"""What the scripted models and the scripted judge of the tour say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from proctor.core.suite import Json
from proctor.io import json_bytes
from proctor.io.yaml_files import read_yaml
from proctor.testing.faults import Fault
from proctor.testing.replies import Answer, Scripted

UNREADABLE = "!"
"""In the place of a reason: a reply that cannot be read; in the place of an answer: an error."""
_ANSWER = re.compile(
    r"<<answer(?:[ _]?[12])? (\w+)>>\n(.*?)\n<<end of answer(?:[ _]?[12])? \1>>", re.S
)
_CRITERION = re.compile(r"<<criterion \w+>>\n(.*?)\n<<end of criterion", re.S)


@dataclass(frozen=True, kw_only=True)
class TourScript:
    """The lines of all roles, by case."""

    cases: Sequence[Mapping[str, Json]]
    """As the suite's file has them."""
    lines: Mapping[str, Mapping[str, Json]]
    phase: str = ""
    """``before`` for the answers of earlier runs."""

    @classmethod
    def read(cls, folder: Path, phase: str = "") -> "TourScript":
        """Read the suite of a folder, and the script beside it."""
        cases = read_yaml(folder / "suite.yaml").data["cases"]
        return cls(cases=cases, lines=read_yaml(folder / "script.yaml").data, phase=phase)

    def answer(self, messages: list[Json], body: Json) -> Scripted:
        """Answer as a candidate: its name is the model's."""
        question = str(messages[-1]["content"])
        case = self._case_of(question)
        line = self._line(case, self._role(str(body["model"]), messages))
        replies = line if isinstance(line, list) else [line]
        return [Fault("error", status=400) if one == UNREADABLE else str(one) for one in replies]

    def judge(self, messages: list[Json], body: Json) -> Scripted:
        """Rule on a statement about an answer, or compare two answers."""
        # The first message holds the material; others follow where a reply could not be read.
        text = str(messages[0]["content"])
        shown = [match[2] for match in _ANSWER.finditer(text)]
        case = self._case_of(text)
        if len(shown) == 2:
            return self._compared(case, shown[0], shown[1])
        wanted = _CRITERION.search(text)
        name = self._criterion(case, wanted[1] if wanted else "")
        return self._ruled(case, name, self._author(case, shown[0] if shown else ""))

    def _ruled(self, case: str, name: str, author: str) -> Scripted:
        lines = self.lines[case]
        reason = self._denied(case, author).get(name)
        if reason == UNREADABLE:
            return "I would rather not say."
        holds = reason is None
        why = str(lines.get("yes", {}).get(name, "The answer does.") if holds else reason)
        return _verdict({"reason": why, "result": "yes" if holds else "no"})

    def _compared(self, case: str, first: str, second: str) -> Scripted:
        marks = [self._mark(case, answer) for answer in (first, second)]
        better = "Both are equally good."
        if marks[0] != marks[1]:
            place = 1 if marks[0] > marks[1] else 2
            better = f"Answer {place} meets more of what the case asks for."
        return _verdict({"reason": better, "score_1": marks[0], "score_2": marks[1]})

    def _mark(self, case: str, answer: str) -> int:
        denied = self._denied(case, self._author(case, answer))
        return max(1, (9 if answer.strip() else 3) - 3 * len(denied))

    def _denied(self, case: str, author: str) -> Mapping[str, Json]:
        """Return the reasons against an answer; a line of its own has none of another's."""
        lines, denied = self.lines[case], self.lines[case].get("no", {})
        role = author.partition(" ")[0]
        plain = role.partition("_")[0]
        if author in denied or role in denied:
            return dict(denied.get(author, denied.get(role, {})))
        return {} if role != plain and role in lines else dict(denied.get(plain, {}))

    def _line(self, case: str, role: str) -> Json:
        lines, plain = self.lines[case], role.partition("_")[0]
        return lines[role] if role in lines else lines[plain]

    def _role(self, model: str, messages: list[Json]) -> str:
        if self.phase:
            return f"{model}_{self.phase}"
        return f"{model}_strict" if messages[0]["role"] == "system" else model

    def _author(self, case: str, answer: str) -> str:
        """Return whose line an answer is, such as `small` or `small 2` for its second attempt.

        A probe of an audit may have changed some of its words.
        """
        best, most = "large", -1.0
        for role, written in self.lines[case].items():
            if role in ("no", "yes"):
                continue
            for place, line in enumerate(written if isinstance(written, list) else [written], 1):
                nearness = SequenceMatcher(None, str(line).strip(), answer.strip()).ratio()
                if nearness > most:
                    best, most = f"{role} {place}" if place > 1 else role, nearness
        return best

    def _criterion(self, case: str, text: str) -> str:
        criteria = next(one["criteria"] for one in self.cases if one["id"] == case)
        return next((str(one["id"]) for one in criteria if one.get("judged") == text.strip()), "")

    def _case_of(self, text: str) -> str:
        """Return the case whose question stands in a text."""
        return next(str(one["id"]) for one in self.cases if one["vars"]["question"] in text)


def _verdict(data: Mapping[str, Json]) -> Answer:
    written = json_bytes.dumps(dict(data)).decode()
    return Answer(text=f"Reasoning: {data['reason']}\n```json\n{written}\n```")


def sums_suite(count: int) -> dict[str, Json]:
    """Return a suite of sums, as its file would have it."""
    pairs = [(7 * place % 90 + 10, 13 * place % 80 + 10) for place in range(count)]
    return {
        "name": "sums",
        "version": "1",
        "cases": [
            {
                "id": f"sum-{place:03}",
                "ask": f"What is {one} + {other}?",
                "tags": {"carry": "yes" if one % 10 + other % 10 > 9 else "no"},
                "criteria": {"number": one + other},
            }
            for place, (one, other) in enumerate(pairs, 1)
        ],
    }


def sums(messages: list[Json], body: Json) -> Scripted:
    """Add two numbers, and forget to carry in some of them."""
    one, other = map(int, re.findall(r"\d+", str(messages[-1]["content"]))[-2:])
    forgets = one % 10 + other % 10 > 9 and one % 3 == 0
    return f"{one} + {other} = {one + other - 10 * forgets}"
