"""Keys that this process uses, taken out of whatever comes back from outside."""

import re
from base64 import b64decode, b64encode, urlsafe_b64encode
from binascii import Error as BadBase64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from threading import Lock

from proctor.io import json_bytes
from proctor.io.child_processes import is_secret
from proctor.io.json_bytes import Json

MARK = "[key]"

SHORTEST = 8
"""Characters that a key has at least; shorter ones would also be words of ordinary texts."""

PLACEHOLDERS = frozenset({
    "changeme", "lm-studio", "no-api-key", "no-key-required", "not-needed", "not-required",
    "placeholder", "sk-no-key-required", "undefined", "your-api-key",
})  # fmt: skip
"""What people write where a server wants some key and looks at none."""

_SECRET_NAMES = re.compile(
    r"key|token|secret|passw|signature|auth(?!or\b)|cookie|credential|session", re.I
)

_PASSWORD = re.compile(r"://[^/@\s]*:([^/@\s]*)@")

_PERCENT = re.compile(r"%(?:25)*([2-7][0-9a-f])")

_BACKSLASH = re.compile(r"\\(?:u00|x)([2-7][0-9a-f])")


@dataclass(frozen=True, slots=True)
class _Forms:
    """What is looked for: never changed, since threads look while others add."""

    plain: tuple[str, ...] = ()
    """The keys in small letters, the longest first."""
    hexadecimal: tuple[str, ...] = ()
    encoded: tuple[str, ...] = ()
    """Base64 of the keys, wherever they may stand in what was encoded."""

    def with_key(self, text: str) -> "_Forms":
        low = text.lower()
        both = tuple(dict.fromkeys((text, low)))
        return _Forms(
            plain=tuple(sorted((*self.plain, low), key=len, reverse=True)),
            hexadecimal=(*self.hexadecimal, *(form.encode().hex() for form in both)),
            encoded=(*self.encoded, *(core for form in both for core in _base64_cores(form))),
        )


class Secrets:
    """The keys in use, and every form in which a server may repeat one."""

    def __init__(self) -> None:
        self._forms = _Forms()
        self._adding = Lock()

    def add(self, *values: str) -> None:
        """Keep values out of what is stored and shown from now on."""
        for value in values:
            text = value.strip()
            low = text.lower()
            if len(text) < SHORTEST or low in PLACEHOLDERS:
                continue
            with self._adding:
                if low not in self._forms.plain:
                    self._forms = self._forms.with_key(text)

    def add_headers(self, headers: Mapping[str, str]) -> None:
        """Keep the values of headers out that carry a key: whole, and without their first word."""
        for name, value in headers.items():
            if is_secret_name(name):
                kind, _, rest = value.strip().partition(" ")
                self.add(
                    value, rest, *(_user_and_password(rest) if kind.lower() == "basic" else ())
                )
                self.add(*(part.partition("=")[2] for part in value.split(";")))

    def add_environment(self, environ: Mapping[str, str]) -> None:
        """Keep those variables out that hold keys by their names."""
        for name in credential_variables(environ):
            self.add(environ[name], *_PASSWORD.findall(environ[name]))

    def forget(self) -> None:
        """Know no key any more."""
        with self._adding:
            self._forms = _Forms()

    def within(self, text: str) -> bool:
        """Tell whether a text repeats a key, in any form that is looked for."""
        forms = self._forms
        if not forms.plain:
            return False
        low = text.lower()
        if any(form in low for form in (*forms.plain, *forms.hexadecimal)):
            return True
        if any(core in text for core in forms.encoded):
            return True
        plain = _unescaped(low)
        return plain != low and any(secret in plain for secret in forms.plain)

    def redacted(self, text: str) -> str:
        """Return a text without the keys that it repeats."""
        if not self.within(text):
            return text
        forms = self._forms
        for secret in forms.plain:
            text = _pattern(secret).sub(_mark, text)
        for digits in forms.hexadecimal:
            text = re.sub(digits, MARK, text, flags=re.I)
        for core in forms.encoded:
            text = text.replace(core, MARK)
        return text


SECRETS = Secrets()
"""The keys of this process."""


def redact(text: str) -> str:
    """Return a text without the keys of this process."""
    return SECRETS.redacted(text)


def redact_json(value: Json) -> Json:
    """Return a JSON value without the keys of this process, in names and in texts."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(name)): redact_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redact_json(inner) for inner in value]
    if isinstance(value, int | float) and SECRETS.within(str(value)):
        return MARK
    return value


def redact_bytes(data: bytes) -> bytes:
    """Return bytes of any kind without the keys of this process."""
    text = data.decode("latin-1")
    return redact(text).encode("latin-1") if SECRETS.within(text) else data


def redact_body(data: bytes) -> bytes:
    """Return the body of a response without the keys of this process; JSON stays JSON."""
    if not SECRETS.within(data.decode("latin-1")):
        return data
    try:
        return json_bytes.dumps(redact_json(json_bytes.loads(data)))
    except (ValueError, RecursionError):
        return redact_bytes(data)


def redact_error(error: Exception) -> None:
    """Take the keys of this process out of the words of an exception, in place."""
    error.args = tuple(redact(part) if isinstance(part, str) else part for part in error.args)


def is_secret_name(name: str) -> bool:
    """Tell whether a header or a parameter carries a key, by its name."""
    return _SECRET_NAMES.search(name) is not None


def credential_variables(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the variables that hold keys: by their names, and not paths or words."""
    return [
        name
        for name, value in environ.items()
        if is_secret(name, value)
        and len(value.strip()) >= SHORTEST
        and not value.startswith(("/", "~", "."))
        and not (value.isalpha() and len(value) < 12)
    ]


def _mark(match: re.Match[str]) -> str:
    """Return the mark, unless a backslash makes another character of the first: a new line, say."""
    before = match.string[: match.start()]
    backslashes = len(before) - len(before.rstrip("\\"))
    return match[0] if backslashes % 2 and match[0][0] in "bfnrtux" else MARK


@lru_cache(maxsize=64)
def _pattern(secret: str) -> re.Pattern[str]:
    """Return a pattern of a text in any spelling."""
    return re.compile("".join(map(_any_character, secret)), re.I)


def _any_character(char: str) -> str:
    """Return a pattern of a character that may be escaped as addresses, JSON and HTML do."""
    codes = {ord(char), ord(char.upper())}
    forms = [rf"\\*{re.escape(char)}" if char in "/\"'" else re.escape(char)]
    for code in codes:
        forms += [f"%(?:25)*{code:02x}", rf"\\+u{code:04x}", rf"\\+x{code:02x}"]
        forms += [f"&#0*{code};?", f"&#x0*{code:x};?"]
    return f"(?:{'|'.join(forms)})"


def _unescaped(text: str) -> str:
    """Undo the escapes of addresses, JSON and HTML, as far as they stand for plain characters."""
    if "%" in text:
        text = _PERCENT.sub(_character, text)
    if "\\\\" in text:
        text = re.sub(r"\\+", r"\\", text)
    if "\\u00" in text or "\\x" in text:
        text = _BACKSLASH.sub(_character, text)
    if "\\/" in text:
        text = text.replace("\\/", "/")
    return unescape(text).lower() if "&" in text else text.lower()


def _character(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))


def _base64_cores(secret: str) -> list[str]:
    """Return what every base64 of a text with this in it contains, by where it begins."""
    data = secret.encode()
    cores: dict[str, None] = {}
    for before in range(3):
        for encode in (b64encode, urlsafe_b64encode):
            whole = encode(b"\0" * before + data).decode()
            first = -(-before * 8 // 6)
            last = (before + len(data)) * 8 // 6
            if last - first >= SHORTEST:
                cores[whole[first:last]] = None
    return list(cores)


def _user_and_password(encoded: str) -> Iterable[str]:
    try:
        text = b64decode(encoded, validate=True).decode("utf-8")
    except (BadBase64, ValueError):
        return ()
    return (text, text.partition(":")[2])
