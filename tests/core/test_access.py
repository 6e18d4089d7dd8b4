"""Who named an address and who named a key: which of them may meet."""

import pytest

from proctor.core.access import COMMAND_LINE, Access, Credential, Destination, Source
from proctor.errors import UsageError

ENVIRONMENT = Source(kind="environment", place="the environment variable X")
BASE = Source(kind="file", place="base.ini:3", file="/a/base.ini")
SAME = Source(kind="file", place="base.ini:9", file="/a/base.ini")
TASK = Source(kind="file", place="task.ini:3", file="/a/task.ini")


@pytest.mark.parametrize(
    ("held", "address", "meets"),
    [
        (COMMAND_LINE, COMMAND_LINE, True),
        (COMMAND_LINE, ENVIRONMENT, True),
        (ENVIRONMENT, COMMAND_LINE, True),
        (BASE, SAME, True),
        (BASE, TASK, False),
        (TASK, BASE, False),
        (ENVIRONMENT, TASK, False),
        (COMMAND_LINE, TASK, False),
        (TASK, COMMAND_LINE, False),
        (TASK, ENVIRONMENT, False),
    ],
)
@pytest.mark.parametrize("kind", ["key", "headers"])
def test_what_meets(held: Source, address: Source, meets: bool, kind: str) -> None:
    value = {"key": "s3cret"} if kind == "key" else {"headers": {"x-team": "s3cret"}}
    access = Access(source=address, credentials=(Credential(name="it", source=held, **value),))  # type: ignore[arg-type]
    assert "s3cret" not in repr(access)
    assert bool(access.conflicts(address)) is not meets
    if meets:
        sent = access.to(address, fix="")
        assert (sent.key, dict(sent.headers)) == (value.get("key", ""), value.get("headers", {}))
        assert sent.environment is address.personal
        return
    with pytest.raises(UsageError) as caught:
        access.to(address, fix="use --model")
    for word in (held.place, address.place, "it", "use --model"):
        assert word in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_one_credential_of_another_source_holds_all_of_them_back() -> None:
    own = Credential(name="own", key="k", source=TASK)
    other = Credential(name="other", headers={"a": "b"}, source=BASE)
    with pytest.raises(UsageError, match=r"base\.ini:3 holds other, and task\.ini:3 names"):
        Access(source=TASK, credentials=(own, other)).to(TASK, fix="")


def test_a_provider_s_own_address_is_of_no_source() -> None:
    access = Access(source=TASK, credentials=(Credential(name="k", key="k", source=BASE),))
    sent = access.to(None, fix="")
    assert (sent.key, sent.environment) == ("k", False)


def test_what_a_reader_leaves_open_is_the_file_s() -> None:
    """A reader that says nothing of sources cannot pass for the person."""
    access = Access(credentials=(Credential(name="k", key="k"),)).read_from(BASE)
    assert (access.source, access.credentials[0].source) == (BASE, BASE)
    exact = Access(source=TASK, credentials=(Credential(name="k", key="k", source=TASK),))
    assert exact.read_from(BASE) == exact


@pytest.mark.parametrize("path", ["@evil.example/v1", ".evil.example", "chat", ":80/x"])
def test_no_path_leads_to_another_server(path: str) -> None:
    destination = Destination(base="https://api.example", headers={"authorization": "s3cret"})
    with pytest.raises(ValueError, match="no path below"):
        destination.url(path)
    assert destination.url("/chat") == "https://api.example/chat"
    assert "s3cret" not in repr(destination)
