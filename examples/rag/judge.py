"""A judge that goes by words alone: it reads what it is asked, and compares words and numbers.

It knows nothing of scorers, cases or planted faults: it sees the prompt as a model does. It serves
to try this example without a key, and stands in for a model in tests.

    python judge.py proctor run suite.yaml --answers answers.jsonl --judge openai:words@JUDGE
"""

import json
import re
import subprocess
import sys
from typing import Any

from proctor.testing import FakeServer

MARKED = re.compile(r"<<(?!end of )([^<>\n]+) ([0-9a-f]{32})>>\n(.*?)\n<<end of \1 \2>>", re.S)
NUMBERED = re.compile(r"(?:passage|claim|citation) (\d+)(?: of passage (\d+))?")
WORD = re.compile(r"[A-Za-z]+(?:-[a-z]+)*|\d+")
SENTENCE = re.compile(r"[^.]+\.")
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been by can do does for from had has have how in is it its may"
        " must not of on once one only or out so than that the their them there they this to until"
        " was were what when where which while who will with within would",
    )
)


def marked(text: str) -> dict[str, str]:
    """Return what stands between marks, by name; pieces inside of others have names, too."""
    pieces = {}
    for name, _, inner in MARKED.findall(text):
        pieces[name] = inner
        pieces |= marked(inner)
    return pieces


def words(text: str) -> set[str]:
    """Return the words of a text that say something, cut to their stems, and its numbers."""
    told = [word.lower() for word in WORD.findall(text)]
    return {word if word.isdigit() else word.rstrip("s")[:5] for word in told if word not in COMMON}


def names(text: str) -> set[str]:
    """Return the names in a text: words in capitals that do not begin a sentence, and numbers."""
    inside = re.sub(r"(?:\A|(?<=[.!?] ))\w+", "", text)
    capitals = re.findall(r"\b[A-Z]\w+", inside)
    return words(" ".join([*capitals, *re.findall(r"\d+", text)]))


def compared(claim: str, text: str) -> str:
    """Return whether a text says a claim, something else in its place, or nothing of it."""
    told, known = words(claim), words(text)
    covered = len(told & known) / max(1, len(told))
    if covered >= 0.7 and names(claim) <= known:
        return "said"
    return "otherwise" if covered >= 0.5 else "not said"


def subject(question: str) -> set[str]:
    """Return the words that name what is asked about: those in capitals, and the next one."""
    named = re.findall(r"(?<!\A)\b[A-Z]\w+(?: [a-z]+)?", question[1:])
    return words(" ".join(named))


def on_question(text: str, question: str) -> bool:
    """Tell whether a text has a word in common with what is asked about the subject."""
    return bool(words(text) & (words(question) - subject(question)))


def ruled(prompt: str) -> dict[str, Any]:
    """Return the verdict on what a prompt shows."""
    pieces = marked(prompt)
    listed: dict[str, list[str]] = {}
    for name, inner in pieces.items():
        if NUMBERED.fullmatch(name):
            listed.setdefault(name.split()[0], []).append(inner)
    if '{"claims"' in prompt:
        told = re.sub(r"\s*\[[\w, -]+\]", "", pieces["answer"])
        return {"claims": [sentence.strip() for sentence in SENTENCE.findall(told)]}
    if "citation" in listed:
        return rulings(_citation(pieces, listed["passage"]))
    if "claim" in listed and "passage" in listed:
        return rulings(_supported(claim, listed["passage"]) for claim in listed["claim"])
    if "claim" in listed and "reference" in pieces:
        means = {"said": "agrees", "otherwise": "contradicts", "not said": "not said"}
        known = SENTENCE.findall(pieces["reference"])
        return rulings({"result": means[closest(claim, known)[0]]} for claim in listed["claim"])
    question = pieces["question"]
    if "claim" in listed:
        kept = [on_question(claim, question) for claim in listed["claim"]]
        return rulings({"result": "relevant" if one else "irrelevant"} for one in kept)
    if "reference" in pieces:
        facts = SENTENCE.findall(pieces["reference"])
        kept = [any(compared(fact, text) == "said" for fact in facts) for text in listed["passage"]]
        return rulings({"result": "useful" if one else "useless"} for one in kept)
    kept = [
        subject(question) <= words(text) and on_question(text, question)
        for text in listed["passage"]
    ]
    return rulings({"result": "relevant" if one else "irrelevant"} for one in kept)


def closest(claim: str, texts: list[str]) -> tuple[str, int]:
    """Return what the text says that is closest to a claim, and its number."""
    order = ("said", "otherwise", "not said")
    place, number = min(
        (order.index(compared(claim, text)), number) for number, text in enumerate(texts, 1)
    )
    return order[place], number


def _supported(claim: str, passages: list[str]) -> dict[str, Any]:
    means = {"said": "supported", "otherwise": "contradicted", "not said": "not said"}
    told, number = closest(claim, passages)
    return {"result": means[told], "passages": [] if told == "not said" else [number]}


def _citation(pieces: dict[str, str], passages: list[str]) -> Any:
    means = {"said": "supports", "otherwise": "no", "not said": "no"}
    for name, sentence in pieces.items():
        match = NUMBERED.fullmatch(name)
        if match is not None and match[2]:
            yield {"result": means[compared(sentence, passages[int(match[2]) - 1])]}


def rulings(results: Any) -> dict[str, Any]:
    """Number results from 1."""
    numbered = [{"number": number, "reason": "", **one} for number, one in enumerate(results, 1)]
    return {"rulings": numbered}


def reply(messages: list[Any], body: Any) -> str:
    """Reply as a judge is asked to: one line, then JSON."""
    verdict = json.dumps(ruled(messages[-1]["content"]))
    return f"Reasoning: by its words.\n```json\n{verdict}\n```"


if __name__ == "__main__":
    with FakeServer(reply) as server:
        command = [part.replace("JUDGE", server.url) for part in sys.argv[1:]]
        code = subprocess.call(command)
    sys.exit(code)
