"""Which known name somebody probably meant by one that nobody knows."""

from collections.abc import Iterable, Mapping

ALIKE = 0.6
"""How similar two names are, of at most 1, that one may be meant by the other."""
LOOSELY = 0.5
"""The same for names that people shorten or extend: of plugins, commands, columns and runs."""
MOST_LISTED = 20
SCORERS_ELSEWHERE: Mapping[str, str] = {
    "answer_relevancy": "answer_relevance: true",
    "bleu": "text_metrics: {metrics: [bleu]}",
    "chrf": "text_metrics: {metrics: [chrf]}",
    "contains_all": "contains: [TEXT, OTHER]",
    "contains_any": "contains: {texts: [TEXT, OTHER], all: false}",
    "contains_json": "is_json: {whole: false}",
    "context_faithfulness": "faithfulness: true",
    "equal": "exact_match: true",
    "equals": "exact_match: true",
    "exact": "exact_match: true",
    "f1": "token_f1: true",
    "factuality": "judged_correct: true",
    "g_eval": "judged: QUESTION",
    "groundedness": "faithfulness: true",
    "icontains": "contains: {texts: TEXT, ignore_case: true}",
    "icontains_all": "contains: {texts: [TEXT, OTHER], ignore_case: true}",
    "icontains_any": "contains: {texts: [TEXT, OTHER], all: false, ignore_case: true}",
    "iequals": "exact_match: {ignore_case: true}",
    "includes": "contains: TEXT",
    "is_refusal": "refusal: true",
    "is_valid_json": "is_json: true",
    "javascript": "python_check: {module: MODULE, func: FUNCTION}",
    "json": "json_equal: VALUE",
    "levenshtein": "rouge: true",
    "llm_rubric": "judged: QUESTION",
    "model_graded_closedqa": "judged: QUESTION",
    "model_graded_fact": "judged_correct: true",
    "model_graded_factuality": "judged_correct: true",
    "model_graded_qa": "judged_correct: true",
    "pattern": "matches: PATTERN",
    "python": "python_check: {module: MODULE, func: FUNCTION}",
    "regex": "matches: PATTERN",
    "regexp": "matches: PATTERN",
    "rouge_n": "rouge: {metric: rouge1}",
    "semantic_similarity": "similar: {threshold: 0.8}",
    "similarity": "similar: {threshold: 0.8}",
    "starts_with": "matches: ^TEXT",
    "word_count": "length: {max: 50, unit: words}",
}
"""By the name of a check in other tools, in small letters with ``_``: the nearest criterion."""


def similar(
    name: str, choices: Iterable[str], *, most: int = 1, cutoff: float = ALIKE
) -> list[str]:
    """Return the known names most like a name, the best first, in whatever case it is written."""
    from difflib import get_close_matches

    names = {one.casefold(): one for one in reversed([*choices])}
    return [names[one] for one in get_close_matches(name.casefold(), names, most, cutoff)]


def closest(name: str, choices: Iterable[str], *, cutoff: float = ALIKE) -> str:
    """Return the known name most like a name; an empty one where none is."""
    return next(iter(similar(name, choices, cutoff=cutoff)), "")


def suggest(
    name: str,
    choices: Iterable[str],
    *,
    listed: Iterable[str] | None = None,
    cutoff: float = ALIKE,
) -> str:
    """Return ``did you mean 'x'?`` where something similar is known, else what may be chosen.

    That is ``listed``, in its order, or else the first of the known names in theirs.
    """
    choices = sorted(choices)
    if close := closest(str(name), choices, cutoff=cutoff):
        return did_you_mean(close)
    if listed is not None:
        return f"known are: {', '.join(listed)}"
    more = ", …" if len(choices) > MOST_LISTED else ""
    return f"known are: {', '.join(choices[:MOST_LISTED])}{more}" if choices else ""


def suggest_scorer(
    name: str,
    choices: Iterable[str],
    *,
    listed: Iterable[str] | None = None,
    cutoff: float = ALIKE,
) -> str:
    """Return how a criterion is written that other tools call so, or else what is similar."""
    choices = [*choices]
    plain = str(name).casefold().replace("-", "_").replace(" ", "_")
    if plain in choices:
        return did_you_mean(plain)
    if criterion := SCORERS_ELSEWHERE.get(plain):
        return f"did you mean '{criterion}'?"
    return suggest(name, choices, listed=listed, cutoff=cutoff)


def did_you_mean(*names: str) -> str:
    """Ask whether one of some names was meant; an empty text without any."""
    return f"did you mean {', '.join(map(repr, names))}?" if any(names) else ""
