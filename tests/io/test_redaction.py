"""Keys taken out of what comes back, in the forms in which servers repeat them."""

import base64
import json
import urllib.parse
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from proctor.contracts.redacted import redact_reply
from proctor.core.exchange import Reply
from proctor.core.names import holds_user_info, without_user_info
from proctor.io.redaction import (
    MARK,
    SECRETS,
    Secrets,
    credential_variables,
    redact,
    redact_body,
    redact_bytes,
    redact_error,
    redact_json,
)

KEY = "sk-Canary/7+x_y=Z9"


@pytest.fixture(autouse=True)
def _one_key() -> Iterator[None]:
    SECRETS.forget()
    SECRETS.add(KEY)
    yield
    SECRETS.forget()


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


FORMS: dict[str, Callable[[str], str]] = {
    "plain": lambda key: key,
    "lower": str.lower,
    "upper": str.upper,
    "url": urllib.parse.quote,
    "url in full": lambda key: "".join(f"%{ord(char):02X}" for char in key),
    "url twice": lambda key: urllib.parse.quote(urllib.parse.quote(key, safe=""), safe=""),
    "json": escaped,
    "json twice": lambda key: escaped(key).replace("\\", "\\\\"),
    "json in part": lambda key: escaped(key[:5]) + key[5:],
    "slashes": lambda key: key.replace("/", "\\/"),
    "python": lambda key: "".join(f"\\x{ord(char):02x}" for char in key),
    "html": lambda key: "".join(f"&#{ord(char)};" for char in key),
    "html hex": lambda key: "".join(f"&#x{ord(char):X};" for char in key),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "base64 after one": lambda key: base64.b64encode(f"u{key}".encode()).decode(),
    "base64 after two": lambda key: base64.b64encode(f"u:{key}, and more".encode()).decode(),
    "base64 of bearer": lambda key: base64.b64encode(f"Bearer {key}\n".encode()).decode(),
    "base64 for urls": lambda key: base64.urlsafe_b64encode(f"ab{key}".encode()).decode(),
    "hex": lambda key: key.encode().hex(),
    "hex upper": lambda key: key.encode().hex().upper(),
}


def recovered(text: str) -> bool:
    """Tell whether anybody can read the key, or most of it, out of a text."""
    fresh = Secrets()
    fresh.add(KEY)
    return fresh.within(text)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("frame", ["{}", "Your key is {}.", '{{"key":"{}"}}', "a{}b"])
def test_every_form_is_found_and_taken_out(form: str, frame: str) -> None:
    said = frame.format(FORMS[form](KEY))
    assert recovered(said)
    made = redact(said)
    assert not recovered(made), made
    assert MARK in made


@pytest.mark.parametrize("form", FORMS)
def test_bodies_stay_json(form: str) -> None:
    text = FORMS[form](KEY)
    for body in (
        json.dumps({"error": {"message": f"bad key {text}", text: [text, {"x": text}]}}),
        json.dumps({"choices": [{"message": {"content": f"\n{text}\n"}}]}, ensure_ascii=False),
    ):
        made = redact_body(body.encode())
        json.loads(made)
        assert not recovered(made.decode())


def test_what_repeats_no_key_is_the_very_same() -> None:
    for data in (b"", b"\xff\xfe\x00", json.dumps({"a": ["sk", "Canary/7", "100 %"]}).encode()):
        assert redact_body(data) is data
        assert redact_bytes(data) is data
    reply = Reply(text="plain \\u0041 %41 &amp; QUJD", thinking="t")
    assert redact_reply(reply) is reply


def test_a_new_line_before_other_letters_is_no_key() -> None:
    SECRETS.add("next-canary-1")
    body = b'{"text":"one\\next-canary-1"}'
    assert json.loads(redact_body(body)) == {"text": "one\next-canary-1"}
    nested = json.dumps({"text": json.dumps({"inner": "one\next-canary-1"})}).encode()
    assert json.loads(json.loads(redact_body(nested))["text"]) == {"inner": "one\next-canary-1"}


def test_all_parts_of_a_reply() -> None:
    reply = Reply(
        text=KEY, thinking=KEY, finish=KEY, request_id=KEY, served_by=f"gpt-{KEY}",
        logprobs={KEY: -1.0}, round={"post_list": [{KEY: KEY}]},
    )  # fmt: skip
    assert KEY not in repr(redact_reply(reply))


@pytest.mark.parametrize(
    "value", ["", "none", "EMPTY", "ollama", "s3cret", "lm-studio", "not-needed", "   "]
)
def test_what_is_no_key_is_left_in_texts(value: str) -> None:
    SECRETS.forget()
    SECRETS.add(value)
    assert redact(f"it says {value} here") == f"it says {value} here"


def test_headers() -> None:
    secrets = Secrets()
    basic = base64.b64encode(b"me:pass-word-1").decode()
    secrets.add_headers({
        "Authorization": "Bearer the-bearer-1", "X-Api-Key": "the-api-key-1", "X-Team": "the-team-name",
        "Proxy-Authorization": f"Basic {basic}", "Cookie": "sid=the-session-1; a=b",
    })  # fmt: skip
    said = f"the-bearer-1 the-api-key-1 the-team-name {basic} pass-word-1 the-session-1"
    assert secrets.redacted(said) == f"{MARK} {MARK} the-team-name {MARK} {MARK} {MARK}"


def test_variables_that_hold_keys() -> None:
    environ = {
        "OPENAI_API_KEY": "sk-123456", "GITHUB_TOKEN": "ghp_abcdefgh1", "DB_PASSWORD": "hunter2-hunter2",
        "SSL_KEYFILE": "/etc/ssl/key.pem", "TOKENIZERS_PARALLELISM": "disabled", "SHORT_KEY": "abc",
        "HOME": "/nowhere-at-all", "LANG": "a-long-language",
        "DATABASE_URL": "postgres://me:the-db-password@h/d",
    }  # fmt: skip
    names = ["OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "DATABASE_URL"]
    assert credential_variables(environ) == names
    secrets = Secrets()
    secrets.add_environment(environ)
    assert secrets.redacted("it is the-db-password") == f"it is {MARK}"


def test_exceptions_and_json() -> None:
    error = ValueError(f"refused {KEY}", 3)
    redact_error(error)
    assert error.args == (f"refused {MARK}", 3)
    assert redact_json({"a": (KEY, 1, None)}) == {"a": [MARK, 1, None]}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:pw@h/v1", "http://…@h/v1"),
        ("http://me:p/w?x#y@h/v1", "http://…@h/v1"),
        ("postgresql://u:a@b@h:5432/d", "postgresql://…@h:5432/d"),
        ("no 'openai:x@https://k@h' here", "no 'openai:x@https://…@h' here"),
        ("openai:x@http://h/v1", "openai:x@http://h/v1"),
        ("mail a@b.c or see http://h/", "mail a@b.c or see http://h/"),
    ],
)
def test_addresses_are_shown_without_names_and_passwords(text: str, shown: str) -> None:
    assert without_user_info(text) == shown


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("http://me:pw@h/v1", True),
        ("http://me@h/v1", True),
        ("http://:pw@h/v1", True),
        ("HTTPS://me:pw@h", True),
        ("http:\\\\me:pw@h", True),
        ("http://me:p/w@h/v1", True),
        ("http://me:p?w@h/v1", True),
        ("openai:x@http://h/v1,http://me:pw@i/v1", True),
        ("openai:x@http://h/v1", False),
        ("openai:claude@2024@https://h/v1", False),
        ("http://h/v1?mail=a@b", False),
    ],
)
def test_addresses_with_names_and_passwords(text: str, held: bool) -> None:
    assert holds_user_info(text) is held


@pytest.mark.slow
def test_threads_may_look_while_others_add() -> None:
    secrets = Secrets()

    def look() -> bool:
        return any(secrets.within(f"text {number} " * 50) for number in range(200))

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(4)]
        for number in range(200):
            secrets.add(f"a-key-with-number-{number}")
        assert [one.result() for one in looking] == [False] * 4
    assert secrets.redacted("a-key-with-number-199") == MARK
