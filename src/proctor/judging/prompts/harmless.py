"""Strangers' words made harmless: what looks like a mark or a role token no longer does.

A mark's number cannot be guessed, but a model may not compare numbers. So whatever reads like a
mark is shown as ``[not a mark: …]``: in any case, spacing, width, script or encoding. Everything
else (code, markup, other languages) stays as it is.
"""

import html
import re
import unicodedata
from functools import cache

_NAMES = (
    r"answers?(?:[ _]?[12])?|questions?|references?|contexts?|conversations?|transcripts?|messages?"
    r"|materials?|criteri(?:on|a)|outputs?|quer(?:y|ies)|statements?|tasks?|agents?|users?"
    r"|assistants?|systems?|developers?|tools?|points?|info|shown|knowledge|texts?|first|second"
    r"|candidates?|extracted|choices|category|repl(?:y|ies)|responses?|prompts?|instructions?"
    r"|documents?|inputs?|judges?|examiners?|verdicts?|sys|inst|data|untrusted|strangers?"
    r"|passages?|claims?|sentences?|citations?"
)
_GAP = r"[\s._*~|-]"
_END = rf"e{_GAP}?n{_GAP}?d{_GAP}{{0,8}}[o0]{_GAP}?f"
_NAME = rf"[\s_:.-]{{1,8}}(?:the\s{{1,8}})?(?:{_NAMES})\b"
_WORDS = r"(?:[\s_.:#-]{1,8}\w{1,40}){0,6}"
_HEX = r"[0-9a-f]{6,64}"
_NUMBERED = rf"[\s.:#-]{{1,8}}{_HEX}\b"
_MARK = re.compile(
    "|".join(
        (
            # <<end of …, in any brackets, and as far as it looks like one.
            rf"(?P<closing><[\s<]{{0,12}}+/?\s{{0,8}}+{_END}(?![a-z0-9])"
            rf"(?:{_WORDS}\s{{0,8}}>{{1,8}}|(?:{_NAME})?(?:{_NUMBERED})?))",
            rf"(?P<bracketed>[\[{{(][\[{{(\s]{{0,8}}+/?\s{{0,8}}+{_END}{_NAME}"
            rf"(?:{_NUMBERED})?\s{{0,8}}[\]}})]{{0,8}})",
            rf"(?P<tail>\b{_END}{_NAME}{_WORDS}\s{{0,8}}>{{2,8}})",
            rf"(?P<numbered>\b{_END}{_NAME}{_WORDS}?[\s:#-]{{1,8}}[0-9a-f]{{10,64}}\b)",
            # <<answer 0a1b2c3d>>, <</answer>>, <<system>>
            rf"(?P<opening><\s{{0,8}}+<[\s<]{{0,12}}+/?\s{{0,8}}+(?:{_NAMES})\b{_WORDS}"
            rf"(?:{_NUMBERED}\s{{0,8}}>{{0,8}}|\s{{0,8}}>\s{{0,8}}>{{1,8}}))",
            r"(?P<other><\s{0,8}+<[^<>\n]{0,60}(?:结束|結束|终止|完毕)[^<>\n]{0,60}>\s{0,8}>)",
        )
    ),
    re.IGNORECASE,
)
_DOUBTFUL = ("opening", "other")
"""Kinds that are ordinary quotation where the brackets are those of a language."""
_PLAIN_BRACKETS = re.compile(r"[<＜﹤]|&#?\w{2,8};|\\[ux]|%3c", re.IGNORECASE)
_NUMBER = re.compile(rf"\b(?=[a-f]{{0,64}}\d){_HEX}\b")
_DONE = "[not a mark: "
_ENTITY = re.compile(r"&#?\w{1,31};|\\u\{?0{0,4}3[ce]\}?|\\x3[ce]|%3[ce]|&(?:lt|gt)", re.IGNORECASE)
_TOKEN = re.compile(
    r"<(?P<open>[|｜])(?P<name>[\w/▁.-]{1,40})(?P<close>[|｜])>"
    r"|(?P<inst>\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])"
    r"|(?P<turn></?(?:start|end)_of_(?:turn|image)>|<(?:bos|eos|pad)>)"
)
_SUSPECT = re.compile(r"<|&|%3|\\[ux]|end|[^\x00-\x7f]|\[/?[A-Z]", re.IGNORECASE)

_LETTERS = {
    "a": "аαɑᴀдạ", "b": "Ьвβƅ", "c": "сϲᴄ", "d": "ԁɗđժ", "e": "еεєҽëèéêēɛ℮", "f": "ƒϝғ",
    "g": "ɡց", "h": "һհн", "i": "іιıɩΙІ", "j": "јϳ", "k": "кκ", "l": "ӏⅼǀ", "m": "мɱ",
    "n": "ոηпñɴ", "o": "оοօσөøо০๐〇", "p": "рρ", "q": "ԛգ", "r": "гɼᴦ", "s": "ѕꜱƽ", "t": "тτţ",
    "u": "υսцʋ", "v": "νѵ", "w": "ԝωшա", "x": "хχ", "y": "уγүყ", "z": "ᴢźʐ",
}  # fmt: skip
_LEFT = {"<": "‹＜﹤〈⟨˂ᐸ❮❬⧼〈❰", "<<": "«《⟪≪⋘⪡"}
_RIGHT = {">": "›＞﹥〉⟩˃ᐳ❯❭⧽〉❱", ">>": "»》⟫≫⋙⪢"}
_WHITE_SPACE = frozenset("\t\n\r")
_COMPATIBLE = (
    (0xA0, 0x250), (0x1E00, 0x1F00), (0x2000, 0x2C00), (0x3000, 0x3400), (0xFE00, 0x10000),
    (0x1D400, 0x1D800), (0x1F100, 0x1F200),
)  # fmt: skip
_IGNORED = ((0x0, 0x20), (0x7F, 0xA0), (0x300, 0x370), (0x20D0, 0x2100), (0xFE00, 0xFE10),
            (0xE0100, 0xE01F0))  # fmt: skip


def harmless(text: str) -> str:
    """Return a stranger's text in which nothing can be taken for a mark or a role token."""
    if not _SUSPECT.search(text):
        return text
    return _TOKEN.sub(_broken_up, _without_marks(text))


def _without_marks(text: str) -> str:
    if _MARK.search(_folded(text)) is None:
        return text
    folded, places = _folded_with_places(text)
    parts, done = [], 0
    for mark in _MARK.finditer(folded):
        start, end = places[mark.start()], places[mark.end() - 1] + 1
        end = _end_of_piece(text, places, mark.end(), end)
        original = text[start:end]
        if start < done or not _is_mark(mark, original, folded):
            continue
        parts += [text[done:start], _shown(mark[0])]
        done = end
    return "".join([*parts, text[done:]])


def _is_mark(mark: re.Match[str], original: str, folded: str) -> bool:
    if folded[: mark.start()].endswith(_DONE):
        return False
    if mark.lastgroup == "numbered":
        return _NUMBER.search(mark[0]) is not None
    if mark.lastgroup not in _DOUBTFUL:
        return True
    return bool(_PLAIN_BRACKETS.match(original) or _NUMBER.search(mark[0]))


def _shown(folded: str) -> str:
    """Say what the mark says, in words that are none."""
    inner = " ".join(re.sub(r"[<>\[\]{}()]", " ", folded).split())
    return f"{_DONE}{inner}]"


def _broken_up(token: re.Match[str]) -> str:
    """Show a role token so that no tokenizer takes it for one."""
    if token["name"] is not None:
        return f"< {token['open']}{token['name']}{token['close']} >"
    return f"{token[0][0]} {token[0][1:-1]} {token[0][-1]}"


def _folded(text: str) -> str:
    """Return a text as it looks: plain letters and brackets, nothing invisible, decoded."""
    if "&" in text or "\\" in text or "%" in text:
        text = _ENTITY.sub(lambda entity: _decoded(entity[0]), text)
    return text.lower() if text.isascii() and text.isprintable() else text.translate(_table())


def _folded_with_places(text: str) -> tuple[str, list[int]]:
    """Return the folded text, and for each of its characters where it stands in the original."""
    folded_text: list[str] = []
    places: list[int] = []
    place = 0
    while place < len(text):
        entity = _ENTITY.match(text, place) if text[place] in "&\\%" else None
        piece = _decoded(entity[0]) if entity is not None else text[place]
        seen = piece.translate(_table())
        folded_text.append(seen)
        places += [place] * len(seen)
        place = entity.end() if entity is not None else place + 1
    return "".join(folded_text), places


def _end_of_piece(text: str, places: list[int], after: int, end: int) -> int:
    """Return where the last character of a match ends: an encoded one is longer than itself."""
    last = places[after - 1]
    entity = _ENTITY.match(text, last)
    return entity.end() if entity is not None else end


def _decoded(piece: str) -> str:
    if piece.startswith("&"):
        decoded = html.unescape(piece if piece.endswith(";") else f"{piece};")
        return decoded if len(decoded) == 1 else piece
    return "<" if piece.rstrip("}").lower().endswith("c") else ">"


class _Folding(dict[int, str]):
    """What each character looks like; letters without an entry are in lower case."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code).lower()
        return self[code]


@cache
def _table() -> _Folding:
    table = _Folding()
    for first, last in _COMPATIBLE:
        for code in range(first, last):
            plain = unicodedata.normalize("NFKD", chr(code))
            letters = "".join(char for char in plain if not unicodedata.combining(char)).lower()
            if letters and letters.isascii():
                table[code] = letters
            elif unicodedata.category(chr(code)) in ("Cf", "Mn", "Me"):
                table[code] = ""
    for first, last in _IGNORED:
        table |= {code: "" for code in range(first, last) if chr(code) not in _WHITE_SPACE}
    table |= dict.fromkeys((173, 847, 1564, 4447, 4448, 6068, 6069, 6158), "")
    table |= {0xE0000 + code: chr(code).lower() for code in range(0x20, 0x7F)}
    table |= {0xE0001: "", 0xE007F: "", 0x3164: "", 0xFFA0: "", 0xFEFF: ""}
    for seen, odd in {**_LETTERS, **_LEFT, **_RIGHT}.items():
        table |= {ord(char): seen for one in odd for char in {one, one.upper()} if len(char) == 1}
    table |= dict.fromkeys((160, 5760, *range(8192, 8203), 8239, 8287, 12288), " ")
    table |= dict.fromkeys((133, 8232, 8233, 11, 12), "\n")
    return table
