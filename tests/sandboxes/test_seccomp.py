"""The filter is what it should be: read back, instruction by instruction, by a small machine."""

import errno
import platform
import struct

import pytest

from proctor.sandboxes.seccomp import CONFINED, DENIED, filter_code, single_process_code

ALLOW, KILL = 0x7FFF0000, 0x80000000
ARCHES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
NUMBERS = {
    "x86_64": {"read": 0, "openat": 257, "clone": 56, "clone3": 435, "socket": 41, "ioctl": 16,
               "execve": 59, "prlimit64": 302},
    "aarch64": {"read": 63, "openat": 56, "clone": 220, "clone3": 435, "socket": 198, "ioctl": 29,
                "execve": 221, "prlimit64": 261},
}  # fmt: skip


def denied(number: int) -> int:
    return 0x00050000 | number


def judge(code: bytes, arch: int, number: int, *args: int) -> int:
    """Run the filter on one call, as the kernel does."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *(*args, *[0] * (6 - len(args))))
    steps = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    at = value = 0
    while True:
        kind, yes, no, constant = steps[at]
        at += 1
        if kind == 0x20:
            value = struct.unpack_from("<I", data, constant)[0]
        elif kind == 0x06:
            return constant
        else:
            true = {0x15: value == constant, 0x35: value >= constant, 0x45: value & constant}[kind]
            at += yes if true else no


@pytest.mark.parametrize("machine", ARCHES)
def test_every_denied_call_is_denied(machine: str) -> None:
    code = filter_code(machine)
    assert code is not None
    column = list(ARCHES).index(machine)
    for name, numbers in DENIED.items():
        if numbers[column] is not None:
            assert judge(code, ARCHES[machine], numbers[column]) == denied(errno.EPERM), name


@pytest.mark.parametrize("machine", ARCHES)
def test_every_other_call_is_allowed(machine: str) -> None:
    code = filter_code(machine)
    assert code is not None
    column = list(ARCHES).index(machine)
    named = {numbers[column] for numbers in DENIED.values()}
    named |= {NUMBERS[machine][name] for name in ("clone", "clone3", "socket", "ioctl")}
    for number in {*range(600), 0x3FFFFFFF} - named:
        assert judge(code, ARCHES[machine], number) == ALLOW, number


@pytest.mark.parametrize("machine", ARCHES)
@pytest.mark.parametrize(
    ("call", "args", "verdict"),
    [
        ("read", (), ALLOW),
        ("openat", (), ALLOW),
        ("execve", (), ALLOW),
        ("clone", (17,), ALLOW),
        ("clone", (0x3D0F00,), ALLOW),
        ("clone", (0x10000000 | 17,), denied(errno.EPERM)),
        ("clone", (0x20000,), denied(errno.EPERM)),
        ("clone", (0x40000000,), denied(errno.EPERM)),
        ("clone3", (), denied(errno.ENOSYS)),
        ("socket", (1,), ALLOW),
        ("socket", (2,), ALLOW),
        ("socket", (10,), ALLOW),
        ("socket", (16,), denied(errno.EAFNOSUPPORT)),
        ("socket", (17,), denied(errno.EAFNOSUPPORT)),
        ("socket", (40,), denied(errno.EAFNOSUPPORT)),
        ("socket", (0x100000002,), ALLOW),
        ("ioctl", (1, 0x5401), ALLOW),
        ("ioctl", (1, 0x5412), denied(errno.EPERM)),
        ("ioctl", (1, 0x541C), denied(errno.EPERM)),
        ("ioctl", (1, 0x100005412), denied(errno.EPERM)),
        ("ioctl", (3, 0x8905), ALLOW),
        ("ioctl", (3, 0x8910), denied(errno.EPERM)),
        ("ioctl", (3, 0x8912), denied(errno.EPERM)),
        ("ioctl", (3, 0x8BFF), denied(errno.EPERM)),
        ("ioctl", (3, 0x8C00), ALLOW),
        ("prlimit64", (0, 7, 0x7FFF00000000), ALLOW),
        ("prlimit64", (1, 7, 0), ALLOW),
        ("prlimit64", (1, 7, 0x7FFF00000000), denied(errno.EPERM)),
        ("prlimit64", (1, 7, 0x5000), denied(errno.EPERM)),
        ("prlimit64", (0x100000000, 7, 0x5000), ALLOW),
    ],
)
def test_calls_are_told_apart(machine: str, call: str, args: tuple[int, ...], verdict: int) -> None:
    code = filter_code(machine)
    assert code is not None
    assert judge(code, ARCHES[machine], NUMBERS[machine][call], *args) == verdict


@pytest.mark.parametrize("machine", ARCHES)
def test_a_confined_program_is_killed_for_more(machine: str) -> None:
    code, single = filter_code(machine, confined=True), single_process_code(machine)
    assert code is not None
    assert single is not None
    arch, column = ARCHES[machine], list(ARCHES).index(machine)
    killed = {numbers[column] for numbers in CONFINED.values()} | {NUMBERS[machine]["socket"]}
    refused = {numbers[column] for numbers in DENIED.values()}
    for number in {*range(600), 0x3FFFFFFF} - {NUMBERS[machine]["clone3"]}:
        wanted = denied(errno.EPERM) if number in refused else ALLOW
        assert judge(code, arch, number) == (KILL if number in killed else wanted), number
    starting = {56, 57, 58, 435} if machine == "x86_64" else {220, 435}
    assert {n for n in range(600) if judge(single, arch, n) != ALLOW} == starting
    for flags, verdict in ((0, ALLOW), (0o2000000, ALLOW), (1, KILL), (2, KILL), (0o100, KILL)):
        for high in (0, 1 << 32):
            opened = judge(code, arch, NUMBERS[machine]["openat"], 0, 0, flags | high)
            assert opened == verdict, flags
            if machine == "x86_64":
                assert judge(code, arch, 2, 0, flags | high) == verdict, flags


@pytest.mark.parametrize(
    ("arch", "number", "verdict"),
    [
        (0x40000003, 20, KILL),
        (ARCHES["aarch64"], 63, KILL),
        (ARCHES["x86_64"], 0x40000000 + 1, denied(errno.ENOSYS)),
    ],
)
def test_numbers_of_other_machines_do_not_pass(arch: int, number: int, verdict: int) -> None:
    code = filter_code("x86_64")
    assert code is not None
    assert judge(code, arch, number) == verdict


def test_there_is_none_for_an_unknown_machine() -> None:
    assert filter_code("sparc64") is None
    assert filter_code() == filter_code(platform.machine())
