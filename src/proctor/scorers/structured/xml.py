"""Answers in XML: well-formed, with the elements and texts that are wanted."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from proctor.contracts.scorer import Probe, TextScorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.scorers.structured.json_answers import fenced

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element  # nosec B405  # the type alone

DEEPEST = 200
_LANGUAGES = ("", "xml", "html", "svg")
_DECLARATION = re.compile(r"\A<\?xml[^>]*encoding=[^>]*\?>", re.IGNORECASE)


class NotXml(Exception):
    """An answer that is no XML; the text says why."""


@dataclass(frozen=True)
class Xml(TextScorer):
    """Pass when the answer is well-formed XML with what is wanted in it.

    ``root`` is the name of the outermost element, ``has`` lists paths that lead to an element (as
    in ElementTree: ``item/name``, ``.//name``, ``item[@id='3']``), ``values`` gives the text at a
    path. With ``equal``, the whole must equal a reference, whatever its spaces, order of attributes
    and way to quote. Entities and document types of its own are refused.
    """

    instant: ClassVar[bool] = True
    columnar: ClassVar[bool] = True
    fixed_marks: ClassVar[bool] = True
    instant_length: ClassVar[int] = 200_000

    root: str = ""
    has: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)
    equal: bool = False
    whole: bool = False
    """Whether the answer must be XML and nothing else, not in a fenced block or a text."""
    partial: bool = False
    """Whether the points are the share of what is wanted, once the answer is XML."""

    def score_texts(self, output: str, references: tuple[str, ...]) -> Score:
        try:
            text, element = _xml_in(output, whole=self.whole)
        except NotXml as error:
            return Score(points=0.0, out_of=1.0, reason=f"the answer is not XML: {error}")
        if self.equal and not references:
            return Score.failed("the case has no reference to compare with", out_of=1.0)
        wrong, wanted = list(self._wrong(element)), 1 + len(self.has) + len(self.values)
        wanted = wanted if self.root else wanted - 1
        if self.equal:
            wanted += 1
            try:
                if _canonical(text) not in [_canonical(_parsed(one)[0]) for one in references]:
                    wrong.append("it does not equal the reference")
            except NotXml as error:
                return Score.failed(f"the reference is not XML: {error}", out_of=1.0)
        if not wrong:
            return Score(points=1.0, out_of=1.0, reason="the answer is XML, as wanted")
        points = (wanted - len(wrong)) / wanted if self.partial else 0.0
        return Score(points=points, out_of=1.0, reason="; ".join(wrong[:5]))

    def problems(self) -> Iterable[str]:
        from xml.etree.ElementTree import Element  # nosec B405

        for path in (*self.has, *self.values):
            try:
                Element("x").findall(path)
            except (SyntaxError, KeyError, ValueError, TypeError) as error:
                yield f"{path!r} is no path to an element: {error}"

    def probes(self, case: Case) -> Iterable[Probe]:
        return [Probe(kind="reference", answer=one) for one in case.references if self.equal]

    def _wrong(self, element: "Element") -> Iterable[str]:
        if self.root and element.tag != self.root:
            yield f"the outermost element is {element.tag[:80]!r}, not {self.root!r}"
        for path in self.has:
            if element.find(path) is None:
                yield f"there is no {path}"
        for path, text in self.values.items():
            there = ["".join(one.itertext()).strip() for one in element.findall(path)[:1000]]
            if not there:
                yield f"there is no {path}"
            elif text.strip() not in there:
                yield f"{path} is {there[0][:80]!r}, not {text!r}"


def _xml_in(output: str, *, whole: bool) -> tuple[str, "Element"]:
    """Return the XML of an answer: the whole, the last fenced block, or from tag to tag."""
    try:
        return _parsed(output)
    except NotXml as error:
        if whole:
            raise
        why = error
    blocks = [block for language, block in fenced(output) if language in _LANGUAGES]
    start, end = output.find("<"), output.rfind(">")
    for block in [*reversed(blocks), output[start : end + 1] if start >= 0 else ""]:
        try:
            return _parsed(block)
        except NotXml as error:
            why = error if block else why
    raise why


def _parsed(text: str) -> tuple[str, "Element"]:
    """Parse XML that has no entities, no document type and is not too deep."""
    from xml.etree import ElementTree  # nosec B405
    from xml.parsers import expat  # nosec B407

    text = _DECLARATION.sub("", text.strip())
    depth = 0

    def begin(name: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise NotXml(f"more than {DEEPEST} elements are nested")

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*declared: object) -> None:
        raise NotXml("it declares a document type")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
        return text, ElementTree.fromstring(text)  # noqa: S314 - checked above  # nosec B314
    except (expat.ExpatError, ElementTree.ParseError, ValueError) as error:
        raise NotXml(str(error)) from None


def _canonical(text: str) -> str:
    from xml.etree import ElementTree  # nosec B405

    return ElementTree.canonicalize(text, strip_text=True)
