"""How many of a case's instructions an answer follows, checked by rule."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from proctor.contracts.scorer import TextScorer
from proctor.core.score import Score
from proctor.core.suite import Json
from proctor.scorers.instructions.checks import KINDS
from proctor.suggestions import suggest

ID = "id"


@dataclass(frozen=True)
class Instructions(TextScorer):
    """Give a point for each instruction that the answer follows, of the 25 kinds of IFEval.

    Each instruction is a mapping with the kind as ``id``, such as ``punctuation:no_comma``, and its
    parameters by the names of the published data. With ``all_or_nothing`` only an answer that
    follows them all has a point. With ``loose``, an instruction also counts as followed if it is
    without the answer's first or last line, or without asterisks.
    """

    instant: ClassVar[bool] = True
    instant_length: ClassVar[int] = 200_000
    fixed_marks: ClassVar[bool] = True

    instructions: tuple[Mapping[str, Json], ...]
    loose: bool = False
    all_or_nothing: bool = False

    @property
    def full_marks(self) -> float | None:
        return 1.0 if self.all_or_nothing else float(len(self.instructions))

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        return 0.0, self.full_marks

    def problems(self) -> Iterable[str]:
        if not self.instructions:
            yield "there is no instruction to check"
        for instruction in self.instructions:
            name = str(instruction.get(ID, ""))
            if (kind := KINDS.get(name)) is None:
                hint = suggest(name, KINDS)
                yield f"there is no kind of instruction {name!r}" + (f" ({hint})" if hint else "")
                continue
            for parameter in kind.required:
                if instruction.get(parameter) is None:
                    yield f"the instruction {name!r} lacks {parameter!r}"

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        versions = _loosened(output) if self.loose else [output]
        followed = [
            any(version.strip() and _holds(instruction, version) for version in versions)
            for instruction in self.instructions
        ]
        missed = [
            str(instruction[ID])
            for instruction, holds in zip(self.instructions, followed, strict=True)
            if not holds
        ]
        points = float(all(followed)) if self.all_or_nothing else float(sum(followed))
        many = f"{sum(followed)} of {len(followed)} instructions followed"
        reason = f"{many}; not {', '.join(missed)}" if missed else many
        return Score(
            points=points, out_of=self.full_marks, reason=reason, detail={"missed": missed}
        )


def _holds(instruction: Mapping[str, Json], answer: str) -> bool:
    return KINDS[str(instruction[ID])].check(answer, instruction)


def _loosened(answer: str) -> list[str]:
    """Return the answer, also without its first and last line, each as it is and without ``*``."""
    lines = answer.split("\n")
    versions = [answer, "\n".join(lines[1:]), "\n".join(lines[:-1]), "\n".join(lines[1:-1])]
    versions = [versions[0], *(version.strip() for version in versions[1:])]
    return [*versions, *(version.replace("*", "") for version in versions)]
