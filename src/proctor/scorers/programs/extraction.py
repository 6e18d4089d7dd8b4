"""The program in an answer: its code, and what stands before and after it."""

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from proctor.scorers.programs.language import Language

MOST_LINES = 400
"""Lines of an answer without fences that are searched for the part which is Python."""
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*([^\s`]*)[^`]*$")
_ONE_LINE = re.compile(r"^\s*```\s*([^`]+?)\s*```\s*$")
_BEGIN, _END = re.compile(r"^\s*\\begin\{code\}"), re.compile(r"^\s*\\end\{code\}")
_CODE = re.compile(
    r"[{};]\s*$|^\s*[)\]}]|<-|=>|^\s*(//|/\*|#include|#!|--\s|@\w+\s*$|<\?php)"
    r"|^\s*(import|from|using|package|func|fn|fun|def|class|function|const|let|var|val|local|sub|my"
    r"|public|private|static|struct|enum|interface|module|data|type|use|require|library|return|echo"
    r"|select|insert|update|delete|create|with)\b.*[^.!?:\s]\s*$"
    r"|^\s*[\w.$\[\]\"']+\s*[-+*/:]?=[^=]|^\s*\w+(::|\s*->)|^\s*(def|class|if|for|while)\b.*:\s*$",
    re.I,
)
_CALL = re.compile(r"[\w.]\(.*\)\s*[;,]?\s*$")
_START = re.compile(r"(def|class|import|from|async\s+def|@)\b|@|\w+\s*=[^=]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """The whole program: what comes first, the candidate's code, and the test."""

    text: str
    test_line: int
    """The line on which the test begins, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block of an answer."""

    tag: str
    text: str
    closed: bool = True

    @property
    def lines(self) -> int:
        """Return how many lines the block has."""
        return self.text.count("\n") + 1


def extract(
    answer: str,
    language: Language,
    *,
    prefix: str = "",
    only_longest: bool = False,
) -> str:
    """Return the code of an answer, with the prefix before it."""
    blocks = _blocks(answer)
    if not blocks:
        code = _python_of(answer, prefix) if language.name == "python" else _code_of(answer)
    else:
        chosen = _of_the_answer(blocks, language)
        if only_longest:
            chosen = [max(chosen, key=lambda block: block.lines)]
        code = _joined(chosen)
    if not prefix.strip() or prefix.strip() in code:
        return code
    return f"{prefix}\n{code}"


def compose(code: str, language: Language, *, before: str, test: str) -> Composed:
    """Put the parts of a program together, in the order in which they run."""
    shape = language.shape or _unchanged
    body = "\n".join(part for part in (shape(before), shape(code)) if part.strip())
    test = shape(test)
    guard = language.guard(test) if language.guard is not None else ""
    hoisted, (_, body, test) = _hoisted((guard, body, test), language)
    preamble = language.preamble_for("\n".join((hoisted, body, test)))
    head = "\n".join(part for part in (preamble, hoisted, body) if part)
    return joined_parts(future_first(head, language), test, language)


def joined_parts(head: str, test: str, language: Language) -> Composed:
    """Put the test behind all that comes before it."""
    head = f"{head}\n{language.joint}\n" if language.joint else f"{head}\n"
    if language.opening:
        head = language.opening + "\n" + head
    return Composed(text=head + test, test_line=head.count("\n") + 1)


def compose_script(code: str, language: Language, *, before: str) -> Composed:
    """Put together a program that stands by itself."""
    shape = language.shape or _unchanged
    body = "\n".join(part for part in (shape(before), shape(code)) if part.strip())
    hoisted, (body,) = _hoisted((body,), language)
    preamble = language.preamble_for(f"{hoisted}\n{body}") if _wants_preamble(language) else ""
    head = future_first("\n".join(part for part in (preamble, hoisted, body) if part), language)
    if language.opening:
        head = f"{language.opening}\n{head}"
    return Composed(text=f"{head}\n", test_line=1)


def _wants_preamble(language: Language) -> bool:
    return language.script is not None and language.script.preamble


def _unchanged(text: str) -> str:
    return text


def future_first(text: str, language: Language) -> str:
    """Put Python's imports from the future before everything else."""
    if language.name != "python" or "__future__" not in text:
        return text
    lines = text.split("\n")
    future = [line for line in lines if line.startswith("from __future__")]
    return "\n".join(future + [line for line in lines if not line.startswith("from __future__")])


def _hoisted(parts: Iterable[str], language: Language) -> tuple[str, list[str]]:
    """Take the lines that a language wants first out of all parts, each once."""
    left = list(parts)
    lines: dict[str, None] = {}
    for pattern in language.first:
        expression = re.compile(pattern, re.M)
        for number, part in enumerate(left):
            lines |= dict.fromkeys(match.group().strip() for match in expression.finditer(part))
            left[number] = expression.sub("", part)
    return "\n".join(lines), left


def _blocks(answer: str) -> list[Block]:
    """Return the fenced blocks; one that is never closed ends with the answer."""
    blocks: list[Block] = []
    lines: list[str] = []
    tag, closes = "", None
    for line in answer.replace("\r\n", "\n").split("\n"):
        if closes is None:
            opened = _opening(line)
            if opened is not None:
                (tag, closes), lines = opened, []
            elif one := _ONE_LINE.match(line):
                blocks.append(Block(tag="", text=one[1]))
        elif closes(line):
            blocks.append(Block(tag=tag, text="\n".join(lines)))
            closes = None
        else:
            lines.append(line)
    if closes is not None and any(line.strip() for line in lines):
        blocks.append(Block(tag=tag, text="\n".join(lines), closed=False))
    return blocks


def _of_the_answer(blocks: list[Block], language: Language) -> list[Block]:
    """Return the blocks that are the program: by their tags, and whole ones where there are any.

    A block without a tag is code of the test's language, unless the answer tags blocks of others;
    then it may be what a program prints. An answer that was cut off within a block had its program
    before, if any block before is code.
    """
    tagged = [block for block in blocks if block.tag in language.tags]
    bare = [block for block in blocks if not block.tag and _is_code(block.text, language)]
    others = any(block.tag and block.tag not in language.tags for block in blocks)
    if tagged and (others or not bare):
        chosen = tagged
    elif tagged:
        chosen = [block for block in blocks if block in tagged or block in bare]
        if language.name == "python" and _breaks(chosen, tagged):
            chosen = tagged
    else:
        chosen = bare if others and bare else blocks
    whole = [block for block in chosen if block.closed]
    return whole if any(block in tagged or block in bare for block in whole) else chosen


def _joined(blocks: Iterable[Block]) -> str:
    return "\n\n".join(block.text for block in blocks)


def _breaks(blocks: list[Block], fewer: list[Block]) -> bool:
    """Tell whether some of the blocks are Python, and all of them are not."""
    texts = [_joined(block for block in some if block.closed) for some in (blocks, fewer)]
    return not _parses(texts[0]) and _parses(texts[1])


def _is_code(text: str, language: Language) -> bool:
    """Tell code from what a program prints, as far as one can see it."""
    if language.name == "python" and (tree := _tree(text)) is not None:
        return any(not _is_value(node) for node in tree.body)
    return any(_CODE.search(line) or _CALL.search(line) for line in text.split("\n"))


def _is_value(node: ast.stmt) -> bool:
    """Tell whether a statement only names a value, as a line of output may do."""
    if not isinstance(node, ast.Expr):
        return False
    calls = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    return not any(isinstance(part, calls) for part in ast.walk(node))


def _opening(line: str) -> tuple[str, Callable[[str], bool]] | None:
    if fence := _FENCE.match(line):
        mark = fence[1]

        def ends(later: str) -> bool:
            bare = later.strip()
            return bare.startswith(mark) and not bare.strip(mark[0])

        return _tag(fence[2]), ends
    if _BEGIN.match(line):
        return "", lambda later: _END.match(later) is not None
    return None


def _tag(word: str) -> str:
    return re.split(r"[,:{]", word.lower().lstrip("{."))[0].rstrip("}")


def _python_of(answer: str, prefix: str) -> str:
    """Return the part of an answer without fences that is Python; all of it if none is."""
    if _parses(f"{prefix}\n{answer}") or _parses(answer):
        return answer
    lines = answer.split("\n")[:MOST_LINES]
    if prefix.strip():
        return answer
    for first, line in enumerate(lines):
        if not _START.match(line):
            continue
        for last in range(len(lines), first, -1):
            if lines[last - 1].strip() and _parses("\n".join(lines[first:last])):
                return "\n".join(lines[first:last])
    return answer


def _parses(text: str) -> bool:
    return _tree(text) is not None


def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _code_of(answer: str) -> str:
    """Return what stands between the first and the last line that look like code."""
    lines = answer.split("\n")
    marked = [number for number, line in enumerate(lines) if _CODE.search(line)]
    return "\n".join(lines[marked[0] : marked[-1] + 1]) if marked else answer
