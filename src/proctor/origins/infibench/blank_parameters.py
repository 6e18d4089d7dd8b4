"""InfiBench blank filling as parameters of the blanks scorer."""

from dataclasses import dataclass, replace
from typing import Any

from proctor.core.suite import Json
from proctor.io.text_files import Loc
from proctor.origins.infibench.format import (
    AnswerEntry,
    BlankFilling,
    WrittenTarget,
    keys_of,
    weight_of,
)
from proctor.origins.infibench.notes import Notes, Params, shortest

STRIP = " '\"·`"
ORIGINAL_STRIP = " '\"`"
NEVER: Json = {"text": "(?!)", "regex": True}
"""A right answer that no text is equal to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _BlanksAround:
    """Settings that a right answer inherits from the mappings around it."""

    regex: bool = False
    ignore_case: bool | None = None
    cond: str = ""
    lowered: bool = False
    """The whole target ignores case, which the original does by lowering the pattern as well."""

    def apply(self, text: str) -> Json:
        """Make the alternative of a text."""
        alternative: Params = {"text": text}
        if self.regex:
            alternative["regex"] = True
        if self.ignore_case is not None and self.ignore_case != self.lowered:
            alternative["ignore_case"] = self.ignore_case
        if self.cond:
            alternative["cond"] = self.cond
        return shortest(alternative)


def blank_params(notes: Notes, filling: BlankFilling, at: Loc) -> Params:
    """Turn a template and its targets into parameters of the scorer."""
    _check_template(notes, filling, at)
    escape = filling.escape
    if escape is None:
        escape = ORIGINAL_STRIP if notes.original else STRIP
    params: Params = {
        "template": filling.template,
        "targets": [
            _target(notes, target, (*at, "targets", index))
            for index, target in enumerate(filling.targets)
        ],
        "blank": filling.blank_str,
        "strip": escape,
    }
    if filling.prefix:
        params["prefix"] = filling.prefix
    return params


def _check_template(notes: Notes, filling: BlankFilling, at: Loc) -> None:
    template, blank = filling.template, filling.blank_str
    if not template.strip():
        notes.error((*at, "template"), "the template is empty")
        return
    if not blank:
        notes.error((*at, "blank_str"), "the text that marks a blank is empty")
        return
    count = sum(template.startswith(blank, place) for place in range(len(template)))
    if count != template.count(blank):
        notes.error((*at, "template"), f"the blanks {blank!r} overlap in the template")
    elif count != len(filling.targets):
        message = f"{len(filling.targets)} targets for {count} blanks ({blank!r} in the template)"
        notes.error((*at, "targets"), message)
    for there, what, original in (
        (template.startswith(blank), "a blank at the start", "loses the filling's first character"),
        (template.endswith(blank), "a blank at the end", "loses the case with an error"),
        (blank * 2 in template, "two blanks side by side", "reads the first of them as empty"),
    ):
        if there:
            notes.differs((*at, "template"), what, original, "reads it like any other")


def _target(notes: Notes, target: Any, loc: Loc) -> Json:
    if not isinstance(target, WrittenTarget):
        return notes.spelt(loc, target)
    _warn_target(notes, target, loc)
    around = _BlanksAround(lowered=bool(target.to_lower))
    if notes.original and target.content is not None:
        options = _original_options(notes, target.content, (*loc, "content"), around)
    else:
        options = _options_in(notes, target, loc, _inside(notes, target, loc, around))
    params: Params = {"any": options}
    if weight_of(target) != 1.0:
        params["weight"] = weight_of(target)
    if target.to_lower:
        params["ignore_case"] = True
    if target.substr_match:
        params["substring"] = True
    plain = len(params) == 1 and len(options) == 1 and isinstance(options[0], str)
    return options[0] if plain else params


def _warn_target(notes: Notes, target: WrittenTarget, loc: Loc) -> None:
    """Warn of what the original does not see in a target."""
    notes.beside_content(target, loc, "applies it to every alternative")
    if target.content is None:
        notes.differs(
            loc, "a target without 'content'", "loses the case", "reads 'or'", reproduced=False
        )
    if target.content is not None and target.any_of is not None:
        notes.ignored(loc, ["or"], "'content' comes first")
    if isinstance(target.content, AnswerEntry):
        keys = ", ".join(repr(key) for key in notes.keys_at((*loc, "content")))
        notes.differs(
            (*loc, "content"),
            "a mapping as the content of a blank",
            f"takes its keys ({keys}) for the right answers",
            "reads it as alternatives",
            hint="write a list of alternatives under 'content'",
        )


def _original_options(notes: Notes, content: Any, loc: Loc, around: _BlanksAround) -> list[Json]:
    """Return the alternatives that the original sees: a list's texts, or a mapping's keys."""
    if isinstance(content, AnswerEntry):
        _options(notes, content, loc, around)  # for what it warns of
        return list(notes.keys_at(loc))
    if not isinstance(content, list):
        return [_leaf(notes, content, loc, around)]
    return [_original_option(notes, each, (*loc, i), around) for i, each in enumerate(content)]


def _original_option(notes: Notes, value: Any, loc: Loc, around: _BlanksAround) -> Json:
    if not isinstance(value, AnswerEntry):
        return _leaf(notes, value, loc, around)
    _warn_answer(notes, value, loc)
    if value.content is None or isinstance(value.content, list | AnswerEntry):
        return NEVER
    cond = "" if value.cond is None else notes.condition((*loc, "cond"), value.cond)
    own = replace(around, regex=bool(value.regex), cond=cond)
    return _leaf(notes, value.content, (*loc, "content"), own)


def _options_in(notes: Notes, answer: AnswerEntry, loc: Loc, around: _BlanksAround) -> list[Json]:
    """Return the alternatives in a mapping: ``or`` before ``content``, but for a target itself."""
    if answer.any_of is None or (isinstance(answer, WrittenTarget) and answer.content is not None):
        return _options(notes, answer.content, (*loc, "content"), around)
    return _options(notes, answer.any_of, (*loc, "or"), around)


def _options(notes: Notes, value: Any, loc: Loc, around: _BlanksAround) -> list[Json]:
    if isinstance(value, list):
        lists = [_options(notes, each, (*loc, index), around) for index, each in enumerate(value)]
        return [option for each in lists for option in each]
    if not isinstance(value, AnswerEntry):
        return [_leaf(notes, value, loc, around)]
    _warn_answer(notes, value, loc)
    return _options_in(notes, value, loc, _inside(notes, value, loc, around))


def _inside(notes: Notes, answer: AnswerEntry, loc: Loc, around: _BlanksAround) -> _BlanksAround:
    """Return what holds inside a mapping: what it says, and else what was said around it."""
    cond = "" if answer.cond is None else notes.condition((*loc, "cond"), answer.cond)
    if cond and around.cond:
        cond = f"({around.cond}) and ({cond})"
    return replace(
        around,
        regex=around.regex if answer.regex is None else answer.regex,
        ignore_case=around.ignore_case if answer.to_lower is None else answer.to_lower,
        cond=cond or around.cond,
    )


def _warn_answer(notes: Notes, answer: AnswerEntry, loc: Loc) -> None:
    """Warn of what the original does not see in an alternative."""
    if "to_lower" in keys_of(answer):
        notes.nested_to_lower((*loc, "to_lower"))
    if answer.any_of is not None and answer.content is not None:
        notes.ignored(loc, ["content"], "'or' comes first")
    if loc[-1] != "content" and (
        answer.content is None or isinstance(answer.content, list | AnswerEntry)
    ):
        notes.differs(
            loc,
            "an alternative that is not one text",
            "never matches it",
            "reads all that is in it",
        )
    notes.meaningless(answer, loc, ("weight",))


def _leaf(notes: Notes, value: Json, loc: Loc, around: _BlanksAround) -> Json:
    text = notes.spelt(loc, value)
    if around.regex:
        notes.pattern(loc, text, lowered=around.lowered)
    return around.apply(text)
