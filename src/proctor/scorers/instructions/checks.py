"""The kinds of instructions of IFEval, each with a check of our own.

A check takes the answer and the instruction's own parameters, under the names of the published
data. Each is quick and sure to end on any text: no pattern here has nested repetitions, and words
from a suite are looked for as they are, never as patterns.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from proctor.core.suite import Json
from proctor.io.text_files import parse_json
from proctor.scorers.instructions.text_units import count_sentences, tokens, word_count
from proctor.scorers.text.language import guess

Parameters = Mapping[str, Json]
Check = Callable[[str, Parameters], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionKind:
    """One kind of instruction: its check, and the parameters that it cannot do without."""

    check: Check
    required: tuple[str, ...] = ()


def _related(count: int, relation: Json, wanted: Json) -> bool:
    if relation == "less than":
        return count < int(wanted)
    return count >= int(wanted)


def _has_keywords(answer: str, params: Parameters) -> bool:
    lowered = answer.lower()
    return all(str(keyword).lower() in lowered for keyword in params["keywords"])


def _keyword_frequency(answer: str, params: Parameters) -> bool:
    count = answer.lower().count(str(params["keyword"]).lower())
    return _related(count, params.get("relation"), params["frequency"])


def _no_forbidden_words(answer: str, params: Parameters) -> bool:
    return not any(
        re.search(rf"\b{re.escape(str(word))}\b", answer, re.IGNORECASE)
        for word in params["forbidden_words"]
    )


def _letter_frequency(answer: str, params: Parameters) -> bool:
    count = answer.lower().count(str(params["letter"]).lower())
    return _related(count, params.get("let_relation"), params["let_frequency"])


def _in_language(answer: str, params: Parameters) -> bool:
    return _is_language(answer, str(params["language"]))


def _is_language(answer: str, language: str) -> bool:
    """Tell whether a text is in a language; a short one may be in any language of its script."""
    told = guess(answer)
    if told.language:
        return told.language == language
    return not told.possible or language in told.possible


def _sentences(answer: str, params: Parameters) -> bool:
    return _related(count_sentences(answer), params.get("relation"), params["num_sentences"])


def _parts(answer: str, separator: str) -> list[str] | None:
    """Return the parts between separators; none where one inside is empty."""
    parts = [part.strip() for part in answer.split(separator)]
    if not all(parts[1:-1]):
        return None
    return [part for part in parts if part]


def _paragraphs(answer: str, params: Parameters) -> bool:
    parts = _parts(answer, "***")
    return parts is not None and len(parts) == int(params["num_paragraphs"])


def _words(answer: str, params: Parameters) -> bool:
    return _related(word_count(answer), params.get("relation"), params["num_words"])


def _first_word_of_paragraph(answer: str, params: Parameters) -> bool:
    blocks = answer.split("\n\n")
    number = int(params["nth_paragraph"])
    if sum(bool(block.strip()) for block in blocks) != int(params["num_paragraphs"]):
        return False
    if not 1 <= number <= len(blocks) or not (words := blocks[number - 1].split()):
        return False
    first = re.split(r"[.,?!'\"]", words[0].strip().lstrip("'\""), maxsplit=1)[0]
    return first.lower() == str(params["first_word"]).lower()


def _placeholders(answer: str, params: Parameters) -> bool:
    placeholders = re.findall(r"\[[^\n\]]*\]", answer)
    return len(placeholders) >= int(params["num_placeholders"])


def _postscript(answer: str, params: Parameters) -> bool:
    marker = str(params.get("postscript_marker") or "P.S.").strip().lower()
    patterns = {"p.p.s": r"p\.\s?p\.\s?s", "p.s.": r"p\.\s?s\."}
    return re.search(patterns.get(marker, re.escape(marker)), answer.lower()) is not None


def _bullets(answer: str, params: Parameters) -> bool:
    count = 0
    for line in answer.split("\n"):
        text = line.lstrip()
        starred = text.startswith("*") and len(text) > 1 and text[1] != "*"
        count += starred or text.startswith("-")
    return count == int(params["num_bullets"])


def _constrained(answer: str, params: Parameters) -> bool:
    return any(f"My answer is {choice}." in answer for choice in ("yes", "no", "maybe"))


def _highlights(answer: str, params: Parameters) -> bool:
    single = re.findall(r"\*[^\n*]*\*", answer)
    double = re.findall(r"\*\*[^\n*]*\*\*", answer)
    count = sum(bool(highlight.strip("*").strip()) for highlight in (*single, *double))
    return count >= int(params["num_highlights"])


def _sections(answer: str, params: Parameters) -> bool:
    splitter = re.escape(str(params["section_spliter"]).strip())
    count = len(re.findall(rf"{splitter}\s?\d+", answer))
    return count >= int(params["num_sections"])


def _json(answer: str, params: Parameters) -> bool:
    text = answer.strip()
    for opening in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(opening)
    try:
        parse_json(text.removesuffix("```").strip())
    except ValueError:
        return False
    return True


def _title(answer: str, params: Parameters) -> bool:
    return any(title.strip("<> ") for title in re.findall(r"<<[^\n]+>>", answer))


def _two_responses(answer: str, params: Parameters) -> bool:
    parts = _parts(answer, "******")
    return parts is not None and len(parts) == 2 and parts[0] != parts[1]


def _repeats_prompt(answer: str, params: Parameters) -> bool:
    return answer.strip().lower().startswith(str(params["prompt_to_repeat"]).strip().lower())


def _ending(answer: str, params: Parameters) -> bool:
    text = answer.strip().strip('"').lower()
    return text.endswith(str(params["end_phrase"]).strip().lower())


def _quotation(answer: str, params: Parameters) -> bool:
    text = answer.strip()
    return len(text) > 1 and text.startswith('"') and text.endswith('"')


def _capital_words(answer: str, params: Parameters) -> bool:
    count = sum(token.isupper() for token in tokens(answer))
    return _related(count, params.get("capital_relation"), params["capital_frequency"])


def _all_capital(answer: str, params: Parameters) -> bool:
    return answer.isupper() and _is_language(answer, "en")


def _all_lowercase(answer: str, params: Parameters) -> bool:
    return answer.islower() and _is_language(answer, "en")


def _no_comma(answer: str, params: Parameters) -> bool:
    return "," not in answer


def _kind(check: Check, *required: str) -> InstructionKind:
    return InstructionKind(check=check, required=required)


KINDS: Mapping[str, InstructionKind] = {
    "change_case:capital_word_frequency": _kind(_capital_words, "capital_frequency"),
    "change_case:english_capital": _kind(_all_capital),
    "change_case:english_lowercase": _kind(_all_lowercase),
    "combination:repeat_prompt": _kind(_repeats_prompt, "prompt_to_repeat"),
    "combination:two_responses": _kind(_two_responses),
    "detectable_content:number_placeholders": _kind(_placeholders, "num_placeholders"),
    "detectable_content:postscript": _kind(_postscript),
    "detectable_format:constrained_response": _kind(_constrained),
    "detectable_format:json_format": _kind(_json),
    "detectable_format:multiple_sections": _kind(_sections, "section_spliter", "num_sections"),
    "detectable_format:number_bullet_lists": _kind(_bullets, "num_bullets"),
    "detectable_format:number_highlighted_sections": _kind(_highlights, "num_highlights"),
    "detectable_format:title": _kind(_title),
    "keywords:existence": _kind(_has_keywords, "keywords"),
    "keywords:forbidden_words": _kind(_no_forbidden_words, "forbidden_words"),
    "keywords:frequency": _kind(_keyword_frequency, "keyword", "frequency"),
    "keywords:letter_frequency": _kind(_letter_frequency, "letter", "let_frequency"),
    "language:response_language": _kind(_in_language, "language"),
    "length_constraints:nth_paragraph_first_word": _kind(
        _first_word_of_paragraph, "num_paragraphs", "nth_paragraph", "first_word"
    ),
    "length_constraints:number_paragraphs": _kind(_paragraphs, "num_paragraphs"),
    "length_constraints:number_sentences": _kind(_sentences, "num_sentences"),
    "length_constraints:number_words": _kind(_words, "num_words"),
    "punctuation:no_comma": _kind(_no_comma),
    "startend:end_checker": _kind(_ending, "end_phrase"),
    "startend:quotation": _kind(_quotation),
}
"""All kinds, by the names of the published data."""
