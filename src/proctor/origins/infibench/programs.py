"""Programs as InfiBench's own grader finds, puts together, builds and runs them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from proctor.scorers.programs.extraction import Composed, future_first, joined_parts
from proctor.scorers.programs.language import Language
from proctor.scorers.programs.language_table import JVM, TYPESCRIPT

MARKERS = ("```", r"\begin{code}", r"\end{code}")
_TSC = (
    f"node {TYPESCRIPT}/bin/tsc main.ts --outfile main.js >&2;"
    " printf '\\n;__proctorEnd();\\n' >>main.js"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraderLanguage:
    """How the grader treats programs of one language, where that differs from ours."""

    build: tuple[tuple[str, ...], ...] = ()
    run: tuple[str, ...] = ()
    joint: str = ""
    """The line between the candidate's code and the test."""
    stops: tuple[str, ...] = ()
    """What ends an answer without fences."""
    depth: int = 0
    """How many braces are taken for open around an answer without fences."""


RUNS: Mapping[str, GraderLanguage] = {
    "python": GraderLanguage(
        stops=("\nclass", "\ndef", "\n#", "\n@", "\nprint", "\nif", "\nassert")
    ),
    "javascript": GraderLanguage(depth=1),
    "typescript": GraderLanguage(build=(("sh", "-c", _TSC),)),
    "java": GraderLanguage(run=("java", *JVM, "-cp", ".", "proctor.Launch", "Main"), depth=2),
    "c++": GraderLanguage(joint="#undef main", depth=1),
    "c#": GraderLanguage(),
    "go": GraderLanguage(stops=("\n//", "\nfunc main(", "struct", "\nfunc"), depth=1),
    "r": GraderLanguage(),
}
"""The languages that the grader runs."""


def graded(language: Language) -> Language:
    """Return a language as the grader builds and runs it; one that it does not know is ours."""
    if (own := RUNS.get(language.name)) is None:
        return language
    return replace(
        language,
        build=own.build or language.build,
        run=own.run or language.run,
        joint=own.joint,
        late=None,
    )


def composed(code: str, language: Language, *, before: str, test: str) -> Composed:
    """Put a program together as it is written; only Python's future goes first."""
    head = f"{before}\n{code}"
    if language.preamble:
        preamble = language.preamble_for(f"{head}\n{test}")
        head = future_first(f"{preamble}\n{head}".strip(), language)
    return joined_parts(head, test, language)


def extracted(text: str, language: Language, *, only_longest: bool) -> str:
    """Return the code of an answer by the rules by which the published numbers were made."""
    if sum(text.count(marker) for marker in MARKERS) < 2:
        return _function_body(text, language)
    lines = text.split("\n")
    marked = [n for n, line in enumerate(lines) if any(marker in line for marker in MARKERS)]
    pairs = list(zip(marked[::2], marked[1::2], strict=False))
    if only_longest and pairs:
        pairs = [max(pairs, key=lambda pair: pair[1] - pair[0])]
    return "\n\n".join("\n".join(lines[first + 1 : last]) for first, last in pairs)


def _function_body(text: str, language: Language) -> str:
    """Cut an answer without fences as if it went on with the body of a function."""
    for word in RUNS[language.name].stops:
        text = text.partition(word)[0]
    if language.name == "python":
        lines = text.split("\n")
        for number, line in enumerate(lines):
            if line.strip() and line[0] not in " \t":
                return "\n".join(lines[:number])
        return text
    return _closed(text, language) if RUNS[language.name].depth else text


def _closed(text: str, language: Language) -> str:
    depth = RUNS[language.name].depth
    for place, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if depth == 0:
            return text[: place + 1]
    if language.name == "java":
        if (main := text.find("public static void main")) >= 0:
            text = text[:main] + "}"
        if "}" in text:
            text = text[: text.rfind("}") + 1]
        return text + "\n}" if text.count("{") - 1 == text.count("}") else text
    return text[: text.rfind("}") + 1] if "}" in text else text
