"""A seccomp filter as BPF code: what no program under examination has any business calling."""

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from functools import cache

# One instruction: code, jump if true, jump if false, constant.
_Instruction = tuple[int, int, int, int]
_LOAD, _JEQ, _JGE, _JSET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH, _ARG0, _ARG1, _ARG2 = 0, 4, 16, 24, 32
_HIGH = 4
"""How far the upper half of an argument lies behind the lower one."""

_ARCHES: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# What reaches beyond the sandbox, and memory that no process is seen to hold (memfd, System V).
# System calls by name: number on x86_64, number on aarch64 (none where there is no such call).
DENIED: Mapping[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_setup": (206, 0),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "modify_ldt": (154, None),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "uselib": (134, None),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
_LOOKED_INTO: Mapping[str, tuple[int, int]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "prlimit64": (302, 261),
    "socket": (41, 198),
}
"""Calls that are refused for some arguments, or as if they did not exist."""
_NEW_NAMESPACE = 0x7E020080
"""All CLONE_NEW… flags together."""
_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET, AF_INET6: there is no network, but runtimes expect to be able to ask."""
_TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX, which type into a terminal."""
_INTERFACES = (0x8910, 0x8C00)
"""From where to where requests ask about network interfaces. A socket that was made elsewhere, as
the one to a partner is, would answer for the interfaces there."""


CONFINED: Mapping[str, tuple[int | None, int | None]] = {
    "bind": (49, 200),
    "creat": (85, None),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ioprio_set": (251, 30),
    "link": (86, None),
    "linkat": (265, 37),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "mq_open": (240, 180),
    "openat2": (437, 437),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "setpriority": (141, 140),
    "socketpair": (53, 199),
    "symlink": (88, None),
    "symlinkat": (266, 36),
}
"""What a program that only computes has no business calling either: it is killed for it.

Part of it would change the process that forks the next program.
"""
_OPENING: Mapping[str, tuple[int | None, int | None]] = {"open": (2, None), "openat": (257, 56)}
_STARTING: Mapping[str, tuple[int | None, int | None]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fork": (57, None),
    "vfork": (58, None),
}
_WRITING = 0o102 | 1
"""O_WRONLY, O_RDWR and O_CREAT."""


@cache
def filter_code(machine: str | None = None, *, confined: bool = False) -> bytes | None:
    """Return the filter for a kind of machine; none where we have no table for it.

    A confined program can neither write files nor start others nor open sockets.

    The kernel tries every number that there is when the filter is installed, for each warm program
    anew: so numbers are searched for by halves, and not one after the other.
    """
    machine = machine or platform.machine()
    if machine not in _ARCHES:
        return None
    column = list(_ARCHES).index(machine)
    head: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCH),
        (_JEQ, 1, 0, _ARCHES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        # The x32 numbers of the same calls would pass the table below.
        head += [(_JGE, 0, 1, 0x40000000), _deny(errno.ENOSYS)]
    blocks = _blocks(confined=confined)
    chosen = {
        numbers[column]: "denied" for numbers in DENIED.values() if numbers[column] is not None
    }
    chosen |= {numbers[column]: name for name, numbers in _LOOKED_INTO.items()}
    if confined:
        chosen |= {numbers[column]: "killed" for numbers in CONFINED.values()}
        chosen |= {numbers[column]: name for name, numbers in _OPENING.items()}
    tree = _tree(sorted((number, name) for number, name in chosen.items() if number is not None))
    places, end = {}, len(tree)
    for name, block in blocks.items():
        places[name] = end
        end += len(block)
    code = [*head, *(_resolved(step, at, places) for at, step in enumerate(tree))]
    code += [step for block in blocks.values() for step in block]
    return b"".join(struct.pack("<HBBI", *step) for step in code)


@cache
def single_process_code(machine: str | None = None) -> bytes | None:
    """Return a filter that kills whoever starts a process or a thread."""
    machine = machine or platform.machine()
    if machine not in _ARCHES:
        return None
    column = list(_ARCHES).index(machine)
    numbers = [row[column] for row in _STARTING.values() if row[column] is not None]
    code: list[_Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    code += [(_JEQ, len(numbers) - at, 0, number or 0) for at, number in enumerate(numbers)]
    code += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _KILL)]
    return b"".join(struct.pack("<HBBI", *step) for step in code)


def _blocks(*, confined: bool) -> Mapping[str, Sequence[_Instruction]]:
    """Return what is done with a call once it is found, each part ending in a verdict."""
    allow: _Instruction = (_RETURN, 0, 0, _ALLOW)
    kill: _Instruction = (_RETURN, 0, 0, _KILL)
    opening = {
        name: [(_LOAD, 0, 0, place), (_JSET, 0, 1, _WRITING), kill, allow]
        for name, place in (("open", _ARG1), ("openat", _ARG2))
    }
    families = [(_JEQ, len(_FAMILIES) - place, 0, family) for place, family in enumerate(_FAMILIES)]
    requests = [(_JEQ, len(_TERMINAL) - place, 0, code) for place, code in enumerate(_TERMINAL)]
    return {
        "allowed": [allow],
        "denied": [_deny(errno.EPERM)],
        "clone3": [_deny(errno.ENOSYS)],
        "clone": [
            (_LOAD, 0, 0, _ARG0),
            (_JSET, 0, 1, _NEW_NAMESPACE),
            _deny(errno.EPERM),
            allow,
        ],
        "socket": [kill]
        if confined
        else [(_LOAD, 0, 0, _ARG0), *families, _deny(errno.EAFNOSUPPORT), allow],
        "ioctl": [
            (_LOAD, 0, 0, _ARG1),
            (_JGE, 0, 1, _INTERFACES[0]),
            (_JGE, 0, len(_TERMINAL) + 1, _INTERFACES[1]),
            *requests,
            allow,
            _deny(errno.EPERM),
        ],
        # Limits may be set for oneself and read of all: whoever forks programs has their number.
        "prlimit64": [
            (_LOAD, 0, 0, _ARG0),
            (_JEQ, 4, 0, 0),
            (_LOAD, 0, 0, _ARG2),
            (_JEQ, 0, 3, 0),
            (_LOAD, 0, 0, _ARG2 + _HIGH),
            (_JEQ, 0, 1, 0),
            allow,
            _deny(errno.EPERM),
        ],
        **({"killed": [kill], **opening} if confined else {}),
    }


_Step = tuple[int, int | str, int | str, int]
"""An instruction whose jumps may lead to a named part."""


def _tree(rows: Sequence[tuple[int, str]]) -> list[_Step]:
    """Search for a number by halves; what is not found is allowed."""
    if len(rows) == 1:
        return [(_JEQ, rows[0][1], "allowed", rows[0][0])]
    half = len(rows) // 2
    below, above = _tree(rows[:half]), _tree(rows[half:])
    return [(_JGE, len(below), 0, rows[half][0]), *below, *above]


def _resolved(step: _Step, at: int, places: Mapping[str, int]) -> _Instruction:
    """Write jumps to named parts as distances, which have one byte each."""
    code, yes, no, constant = step
    jumps = [places[jump] - at - 1 if isinstance(jump, str) else jump for jump in (yes, no)]
    assert all(0 <= jump < 256 for jump in jumps)
    return (code, jumps[0], jumps[1], constant)


def _deny(number: int) -> _Instruction:
    return (_RETURN, 0, 0, _ERRNO | number)
