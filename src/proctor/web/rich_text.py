"""Untrusted text as people meant it: Markdown, code, formulas and JSON, from an allow-list.

Every element and attribute of the result is written by this module; what the libraries return is
read as a tree of tokens, and its texts are escaped here. Addresses are shown, never fetched.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from proctor.io.text_files import parse_json
from proctor.web.highlight import visible
from proctor.web.pictures import is_embedded

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MOST = 200_000
"""How many characters of a text are rendered; a longer one is shown as it is."""
MOST_CODE = 10_000
"""How many characters of a block of code have its words coloured."""
MOST_FORMULA = 2_000
MOST_FORMULAS = 200
MOST_NESTED = 20
_SCHEMES = ("http", "https", "mailto")
_LANGUAGES = {
    "bash", "c", "cpp", "c++", "csharp", "css", "diff", "go", "haskell", "html", "ini", "java",
    "javascript", "js", "json", "kotlin", "lua", "make", "perl", "php", "python", "py", "python3",
    "r", "ruby", "rust", "scala", "sh", "shell", "sql", "swift", "toml", "ts", "typescript",
    "xml", "yaml", "yml",
}  # fmt: skip
"""What is coloured: lexers that are known to take a time in proportion to the text."""
_PLAIN = {
    "paragraph": "p", "bullet_list": "ul", "ordered_list": "ol", "list_item": "li",
    "blockquote": "blockquote", "table": "table", "thead": "thead", "tbody": "tbody", "tr": "tr",
    "th": "th", "td": "td", "em": "em", "strong": "strong", "s": "s",
}  # fmt: skip
_FORMULA = re.compile(
    r"\$\$(?P<display>[^$]{1,2000})\$\$"
    r"|\\\[(?P<bracket>(?:(?!\\\]).){1,2000})\\\]"
    r"|\\\((?P<paren>(?:(?!\\\)).){1,2000})\\\)"
    r"|(?<![\w$\\])\$(?P<inline>[^\s$](?:[^$\n]{0,500}[^\s$\\])?)\$(?![\w$])",
    re.DOTALL,
)
_HOLE = re.compile("\ue000(\\d+)\ue001")
"""Where a formula was taken out of the text before Markdown is read."""
_CODE = re.compile(
    r"^(?:`{3,}|~{3,}).*?(?:^(?:`{3,}|~{3,})\s*$|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE
)
_MATHML = frozenset(
    [
        "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msup",
        "msub", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mstyle",
        "mpadded", "mphantom", "menclose",
    ]
)  # fmt: skip
_MATHML_ATTRIBUTES = frozenset(
    [
        "display", "displaystyle", "stretchy", "fence", "separator", "form", "linethickness",
        "mathvariant", "columnalign", "rowspacing", "columnspacing", "accent", "movablelimits",
        "minsize", "maxsize", "width",
    ]
)  # fmt: skip
_ENTITY = re.compile(r"&#x([0-9A-Fa-f]{1,6});")


def rendered(text: str) -> Markup | None:
    """Return a text as HTML; none where it is too long, or says the same as it is."""
    if len(text) > MOST or not text.strip():
        return None
    shown = visible(text).replace("\ue000", "⟦U+E000⟧").replace("\ue001", "⟦U+E001⟧")
    if (indented := _indented_json(shown)) is not None:
        return Markup('<pre class="code">{}</pre>').format(coloured(indented, "json"))
    formulas: list[Markup] = []
    source = _without_formulas(shown, formulas)
    tokens = _parser().parse(source)
    if len(tokens) <= 3 and not formulas and not _has_markup(tokens):
        return None
    return Markup("").join(_Rendering(formulas).blocks(tokens))


def _has_markup(tokens: "Sequence[Token]") -> bool:
    """Tell whether Markdown changes what a single paragraph looks like."""
    return any(
        token.type != "inline" and token.type not in ("paragraph_open", "paragraph_close")
        for token in tokens
    ) or any(
        child.type not in ("text", "softbreak")
        for token in tokens
        for child in token.children or ()
    )


def coloured(code: str, language: str) -> Markup:
    """Return code with its words in spans of classes; plain where the language is not known."""
    name = language.strip().lower()
    if name not in _LANGUAGES or len(code) > MOST_CODE:
        return escape(code)
    from pygments.lexers import get_lexer_by_name
    from pygments.token import STANDARD_TYPES

    lexer = get_lexer_by_name(name, stripnl=False, ensurenl=False)
    parts = []
    for kind, value in lexer.get_tokens(code):
        token_type = next(one for one in reversed(kind.split()) if one in STANDARD_TYPES)
        short, part = STANDARD_TYPES[token_type], escape(value)
        parts.append(f'<span class="c-{short}">{part}</span>' if short else part)
    return Markup("".join(parts))  # noqa: S704  # nosec B704 - escaped above


def formula(latex: str, *, display: bool = False) -> Markup | None:
    """Return a formula as MathML; none where it cannot be read."""
    if len(latex) > MOST_FORMULA or _depth(latex) > MOST_NESTED:
        return None
    from latex2mathml.converter import convert_to_element

    try:
        element = convert_to_element(latex, display="block" if display else "inline")
    except Exception:  # noqa: BLE001 - a library of many errors, and a text of a stranger
        return None
    return _mathml(element)


def _depth(latex: str) -> int:
    depth = most = 0
    for char in latex:
        depth += (char == "{") - (char == "}")
        most = max(most, depth)
    return most


def _mathml(element: Any) -> Markup:
    """Write a tree of MathML with allowed elements and attributes alone."""
    inner = _math_text(element.text) + Markup("").join(
        _mathml(child) + _math_text(child.tail) for child in element
    )
    tag = str(element.tag).rpartition("}")[2]
    if tag not in _MATHML:
        return inner
    attributes = Markup("").join(
        Markup(' {}="{}"').format(name, value)
        for name, value in element.attrib.items()
        if name in _MATHML_ATTRIBUTES
    )
    return Markup("<{}{}>{}</{}>").format(tag, attributes, inner, tag)


def _math_text(text: str | None) -> Markup:
    """Escape a text of the converter, which writes symbols as references to characters."""
    return escape(_ENTITY.sub(lambda match: chr(min(int(match[1], 16), 0x10FFFF)), text or ""))


def _indented_json(text: str) -> str | None:
    """Return a text that is one JSON object or array with indents; none for anything else."""
    bare = text.strip()
    if not (bare[:1] + bare[-1:] in ("{}", "[]") and len(bare) > 2):
        return None
    try:
        return json.dumps(parse_json(bare), indent=2, ensure_ascii=False)
    except ValueError:
        return None


def _without_formulas(text: str, formulas: list[Markup]) -> str:
    """Replace formulas outside of code by numbered holes, and collect what to put there."""

    def taken(match: re.Match[str]) -> str:
        latex = next(group for group in match.groups() if group is not None)
        shown = len(formulas) < MOST_FORMULAS and formula(
            latex, display=match.lastgroup in ("display", "bracket")
        )
        if not shown:
            return match.group()
        formulas.append(shown)
        return f"\ue000{len(formulas) - 1}\ue001"

    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_FORMULA.sub(taken, text[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*parts, _FORMULA.sub(taken, text[end:])])


class _Rendering:
    """HTML of the tokens of one text."""

    def __init__(self, formulas: Sequence[Markup]) -> None:
        self._formulas = formulas

    def blocks(self, tokens: "Sequence[Token]") -> Iterator[Markup]:
        """Yield the HTML of blocks, in their order."""
        for token in tokens:
            if token.type == "inline":
                yield from self.spans(token.children or ())
            elif token.type in ("fence", "code_block"):
                language = token.info.split()[0] if token.info.split() else ""
                code = coloured(token.content.rstrip("\n"), language)
                yield Markup('<pre class="code">{}</pre>').format(code)
            elif token.type == "hr":
                yield Markup("<hr>")
            elif token.type.startswith("heading_"):
                level = token.tag[1:]
                opening = Markup('<p class="heading level-{}">').format(level)
                yield opening if token.nesting > 0 else Markup("</p>")
            else:
                yield from self._element(token)

    def _element(self, token: "Token") -> Iterator[Markup]:
        kind = token.type.removesuffix("_open").removesuffix("_close")
        tag = _PLAIN.get(kind)
        if tag is None or token.hidden:
            return
        if token.nesting < 0:
            yield Markup("</{}>").format(tag)
        elif tag == "ol" and str(token.attrs.get("start", "")).isdigit():
            yield Markup('<ol start="{}">').format(int(token.attrs["start"]))
        else:
            yield Markup("<{}>").format(tag)

    def spans(self, tokens: "Sequence[Token]") -> Iterator[Markup]:
        """Yield the HTML of what stands within a block."""
        address: list[str] = []
        for token in tokens:
            if token.type == "text":
                yield self._text(token.content)
            elif token.type == "code_inline":
                yield Markup("<code>{}</code>").format(token.content)
            elif token.type == "softbreak":
                yield Markup("\n")
            elif token.type == "hardbreak":
                yield Markup("<br>")
            elif token.type == "link_open":
                address.append(str(token.attrs.get("href", "")))
                yield _link_opening(address[-1])
            elif token.type == "link_close":
                yield _link_closing(address.pop() if address else "")
            elif token.type == "image":
                yield _image(str(token.attrs.get("src", "")), token.content)
            else:
                yield from self._element(token)

    def _text(self, text: str) -> Markup:
        """Escape a text, with formulas in their holes."""
        parts, end = [], 0
        for hole in _HOLE.finditer(text):
            parts += [escape(text[end : hole.start()]), self._formulas[int(hole[1])]]
            end = hole.end()
        return Markup("").join([*parts, escape(text[end:])])


def _is_address(address: str) -> bool:
    try:
        return urlsplit(address).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _link_opening(address: str) -> Markup:
    if not _is_address(address):
        return Markup('<span class="link">')
    return Markup('<a href="{}" rel="noreferrer noopener nofollow" target="_blank">').format(
        address
    )


def _link_closing(address: str) -> Markup:
    """Close a link, and say where it leads."""
    closing = Markup("</a>") if _is_address(address) else Markup("</span>")
    return closing + _shown_address(address)


def _shown_address(address: str) -> Markup:
    return Markup(' <small class="address">({})</small>').format(address)


def _image(address: str, words: str) -> Markup:
    """Return a picture that the text itself carries; of any other, its words and its address."""
    if is_embedded(address):
        return Markup('<img src="{}" alt="{}">').format(address, words)
    return Markup('<span class="picture">{}</span>').format(words) + _shown_address(address)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MOST_NESTED})
    parser.enable(["table", "strikethrough"])
    parser.disable(["html_block", "html_inline"])
    # Every address becomes text here; which of them may be followed is decided where it is written.
    parser.validateLink = _any_address  # type: ignore[method-assign]
    return parser


def _any_address(url: str) -> bool:
    return True
