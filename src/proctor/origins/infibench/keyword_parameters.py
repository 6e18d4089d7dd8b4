"""InfiBench keyword rules as parameters of the keywords scorer."""

from dataclasses import dataclass, replace
from typing import Any

from proctor.core.suite import Json
from proctor.io.text_files import Loc
from proctor.origins.infibench.format import WrittenNode, WrittenRule, keys_of, weight_of
from proctor.origins.infibench.notes import Notes, Params, shortest


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeywordsAround:
    """Settings that a keyword inherits from the nodes around it."""

    regex: bool = False
    lowered: bool = False
    """The whole rule ignores case, which the original does by lowering the pattern as well."""


def keyword_rules(notes: Notes, items: list[Any], at: Loc) -> list[Json]:
    """Turn all entries that are rules into rules of the scorer."""
    rules: list[Json] = []
    for index, item in enumerate(items):
        loc = (*at, index)
        if not isinstance(item, WrittenRule):
            rules.append(shortest(_leaf(notes, item, loc, _KeywordsAround())))
        elif item.post_handler is None:
            rules.append(_rule(notes, item, loc))
        elif others := sorted(keys_of(item) - {"post_handler"}):
            notes.ignored(loc, others, "an entry with 'post_handler' is no keyword")
    if not rules:
        notes.error(at, "no keyword is given")
    return rules


def full_marks(items: list[Any]) -> float:
    """Sum the weights that can be won."""
    total = 0.0
    for item in items:
        is_rule = not isinstance(item, WrittenRule) or (item.post_handler is None and not item.neg)
        total += weight_of(item) if is_rule else 0.0
    return total


def _rule(notes: Notes, rule: WrittenRule, loc: Loc) -> Json:
    notes.beside_content(rule, loc, "applies it to the whole rule")
    if rule.content is None:
        notes.differs(
            loc,
            "a rule without 'content'",
            "loses the case",
            "reads the rule itself",
            reproduced=False,
        )
    params = _node(notes, rule, loc, _KeywordsAround(lowered=bool(rule.to_lower)))
    if weight_of(rule) != 1.0:
        params["weight"] = weight_of(rule)
    if rule.neg:
        params["neg"] = True
    return shortest(params)


def _node(notes: Notes, node: WrittenNode, loc: Loc, around: _KeywordsAround) -> Params:
    """Make a node of what is written as a mapping; what it says holds for all below it."""
    own = (
        _rule_settings(notes, node, loc)
        if isinstance(node, WrittenRule)
        else _settings(notes, node, loc)
    )
    inner = _branch(notes, node, loc, replace(around, regex=own.get("regex", around.regex)))
    if "cond" in inner and "cond" in own:
        inner = {"all": [shortest(inner)]}
    return {**own, **inner}


def _settings(notes: Notes, node: WrittenNode, loc: Loc) -> Params:
    """Return what a node inside a rule says of its keywords."""
    own: Params = {}
    if node.regex is not None or (notes.original and "regex" in keys_of(node)):
        own["regex"] = bool(node.regex)
    if node.to_lower is not None:
        notes.nested_to_lower((*loc, "to_lower"))
        if not notes.original:
            own["ignore_case"] = node.to_lower
    if node.cond is not None:
        own["cond"] = notes.condition((*loc, "cond"), node.cond)
    notes.meaningless(node, loc, ("weight", "neg"))
    return own


def _rule_settings(notes: Notes, rule: WrittenRule, loc: Loc) -> Params:
    """Return what a rule itself says; the original looks at nothing but ``to_lower``."""
    own: Params = {"ignore_case": True} if rule.to_lower else {}
    if notes.original:
        return own
    if rule.regex is not None:
        own["regex"] = rule.regex
    if rule.cond is not None:
        own["cond"] = notes.condition((*loc, "cond"), rule.cond)
    return own


def _branch(notes: Notes, node: WrittenNode, loc: Loc, around: _KeywordsAround) -> Params:
    """Make the part that counts: ``or``, ``and``, ``content``; in a rule ``content`` first."""
    order = ("content", "or", "and") if isinstance(node, WrittenRule) else ("or", "and", "content")
    values = {"or": node.any_of, "and": node.all_of, "content": node.content}
    present = [name for name in order if values[name] is not None]
    if len(present) > 1:
        notes.ignored(loc, present[1:], f"{present[0]!r} comes first")
    chosen = present[0]
    if chosen == "content":
        return _content(notes, node.content, (*loc, "content"), around)
    nodes = [
        shortest(_content(notes, branch, (*loc, chosen, index), around))
        for index, branch in enumerate(values[chosen] or [])
    ]
    return {"any" if chosen == "or" else "all": nodes}


def _content(notes: Notes, value: Any, loc: Loc, around: _KeywordsAround) -> Params:
    if isinstance(value, WrittenNode):
        return _node(notes, value, loc, around)
    return _leaf(notes, value, loc, around)


def _leaf(notes: Notes, value: Json, loc: Loc, around: _KeywordsAround) -> Params:
    text = notes.spelt(loc, value)
    if not text:
        notes.error(loc, "an empty keyword matches every answer")
    if around.regex:
        notes.pattern(loc, text, lowered=around.lowered)
    return {"text": text}
