"""Sentences of English text: by NLTK's Punkt where its data is installed, else by rules of ours."""

import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DATA = "tokenizers/punkt_tab/english/"
_CLOSE = r"[\"')\]}”’]*+"
_MARK = re.compile(
    rf"(?<![.?!])(?P<run>[.?!]++)(?!{_CLOSE}\s*+\Z)"
    rf"(?:(?P<close>{_CLOSE})(?P<gap>\s++)|(?=[)\";}}\]*:@'({{\[]))"
)
_BACK = 60
"""How far a word before a mark is looked at; no abbreviation is as long."""
_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_ABBREVIATIONS = _words(
    """
    a.m ala ariz aug ave bros calif co col colo conn corp d.c dec dr feb fla ft ga gen ill inc jan
    jr kan ky lt ltd maj mich minn mr mrs ms n.c n.j n.y nev nov oct okla ore p.m pa ph.d prof r.i
    rep sen sep sept sr st tenn u.k u.n u.s va vs vt w.va wash wis
    """
)
"""Words that keep their dot. Punkt knows neither e.g. nor etc., so that they end sentences."""
_LETTERS = frozenset("cdefghklmnprstvw")
"""Letters that are taken for somebody's initial, whatever follows."""
_OPENERS = _words(
    """
    although both but despite earlier even finally furthermore he her here him however i if in
    instead it many meanwhile moreover most nevertheless nothing otherwise since so some still such
    the them there these they this though through tomorrow unless us were when whether which while
    without yesterday your
    """
)
"""Words that are no names, so that written large they begin a sentence, even after these."""
_COMMON = _OPENERS | _words(
    """
    a after all also an and another any as at because before by children did do does during each
    every few first for from had has have his how is its later may men my next no nobody not now of
    on once one only or other our people perhaps police second several she students that their then
    third those three thus to today two under until was we what where who why will women would yet
    you
    """
)


def split(text: str) -> list[str]:
    """Cut a text into sentences; there is none in a text of white space."""
    return [sentence for sentence in _splitter()(text) if sentence.strip()]


def splitter_name() -> str:
    """Return by what sentences are cut."""
    return f"nltk {version('nltk')} punkt" if _punkt() is not None else "sentences by rules"


@cache
def _splitter() -> Callable[[str], list[str]]:
    return _punkt() or by_rules


@cache
def _punkt() -> Callable[[str], list[str]] | None:
    if find_spec("nltk") is None:
        return None
    import nltk

    try:
        nltk.data.find(_DATA)
    except LookupError:
        return None
    return lambda text: list(nltk.tokenize.sent_tokenize(text))


def by_rules(text: str) -> list[str]:
    """Cut a text after marks that end a sentence; new lines alone end none."""
    sentences, start = [], 0
    for mark in _MARK.finditer(text):
        if _is_end(text, mark):
            sentences.append(text[start : mark.end("run" if mark["gap"] is None else "close")])
            start = mark.end()
    sentences.append(text[start:].rstrip())
    return [sentence for sentence in sentences if sentence]


def _is_end(text: str, mark: re.Match[str]) -> bool:
    before = text[max(0, mark.start() - _BACK) : mark.start()]
    stem = before.split()[-1].lower() if before and not before[-1].isspace() else ""
    stem = stem.lstrip("\"'([{*_`")
    if mark["gap"] is None and not stem[-1:].isalnum():
        return False
    if mark["run"].strip("."):
        return True
    # Where something is closed after the dot, the next word tells nothing.
    tells = mark["gap"] is not None and not mark["close"]
    following = text[mark.end() : mark.end() + _BACK].split(maxsplit=1)[0] if tells else ""
    large, small = following[:1].isupper(), following[:1].islower()
    word = following.rstrip("\"')]}.,;:?!").lower()
    if len(mark["run"]) > 1 or {stem, stem.rsplit("-", 1)[-1]} & _ABBREVIATIONS:
        return large and word in _OPENERS
    if len(stem) == 1 and stem.isalpha():
        return stem not in _LETTERS and not small and (not large or word in _COMMON)
    return not (small and _NUMBER.fullmatch(stem))
