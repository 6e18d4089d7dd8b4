"""Languages by name, and what this machine has for each of them."""

from functools import cache
from typing import TYPE_CHECKING

from proctor.scorers.programs.language import Language
from proctor.scorers.programs.language_table import LANGUAGES
from proctor.suggestions import suggest

if TYPE_CHECKING:
    from proctor.contracts.scorer import LanguageSupport


def languages() -> "list[LanguageSupport]":
    """Describe all languages: name, aliases, whether and in which version it is here."""
    from proctor.scorers.programs.toolchains import listed

    return listed()


def named(name: str) -> Language | None:
    """Return the language of a name or alias."""
    return _by_name().get(name.strip().lower())


def suggestion(name: str) -> str:
    """Say that there is no such language, and which one was probably meant."""
    main = [language.name for language in LANGUAGES]
    return f"there is no language {name!r} ({suggest(name.strip(), _by_name(), listed=main)})"


@cache
def _by_name() -> dict[str, Language]:
    return {name: language for language in LANGUAGES for name in (language.name, *language.aliases)}
