"""What is thrown at the sandbox: each program, where it runs, and what is to become of it."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from proctor.core.program import MIB, Limits
from proctor.sandboxes.bubblewrap import droppable

PROGRAMS = Path(__file__).with_name("programs")
LANGUAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "py": (("python3", "{name}"),),
    "c": (("gcc", "-w", "-o", "made", "{name}"), ("./made",)),
    "cpp": (("g++", "-w", "-o", "made", "{name}", "-pthread"), ("./made",)),
    "sh": (("bash", "{name}"),),
    "pl": (("perl", "{name}"),),
    "js": (("node", "{name}"),),
    "java": (("javac", "{name}"), ("java", "-Xmx64m", "-XX:TieredStopAtLevel=1", "{stem}")),
    "rb": (("ruby", "{name}"),),
    "php": (("php", "{name}"),),
    "lua": (("lua", "{name}"),),
}

# Programs that find every door closed, say so, and end well.
REFUSED = [
    "memory_memfd.py", "memory_sysv.c", "disk_sparse.py", "net_tcp.py", "net_udp.py",
    "net_dns.py", "net_ipv6.py", "net_raw.py", "net_vsock.py", "net_netlink.py",
    "net_abstract.py", "net_services.py", "net_families.c", "net_packet.c", "net_bash.sh",
    "net_perl.pl", "net_http.js", "network.rb", "read_environment.py", "read_host_files.py",
    "read_first_process.py", "read_shadow.c", "read_secrets.sh", "read_files.js",
    "kernel_memory.py", "handles.py", "devices.c", "write_supervisor.py", "write_outside.sh",
    "hard_link.py", "upwards.py", "delete_folder.py", "kill_host.py", "trace_supervisor.c",
    "memory_of_supervisor.c", "open_files.py", "proc_sys.py", "sys_files.sh", "oom_score.py",
    "raise_limits.py", "real_time.c", "become_root.c", "setuid_programs.sh", "unshare.sh",
    "mounts.c", "chroot.pl", "new_namespaces.c", "join_namespace.c", "kernel_doors.c",
    "machine_state.c", "type_into_terminal.c", "open_files_exhausted.py", "pty_flood.py",
    "shell.php", "doors.py", "see_others.py", "write_proc.py", "mark_host.py",
]  # fmt: skip

# Programs that pass a limit, and which.
STOPPED = {
    "fork_bomb.py": "processes",
    "fork_bomb.sh": "processes",
    "fork_bomb.pl": "processes",
    "fork_bomb.rb": "processes",
    "fork_setsid.py": "processes",
    "vfork_bomb.c": "processes",
    "zombie_flood.c": "processes",
    "thread_bomb.py": "processes",
    "threads.cpp": "processes",
    "Threads.java": "processes",
    "children.js": "processes",
    "memory_bytes.py": "memory",
    "memory_mmap.py": "memory",
    "memory_malloc.c": "memory",
    "memory_children.py": "memory",
    "memory_undumpable.py": "memory",
    "memory.js": "memory",
    "memory.php": "memory",
    "memory.lua": "memory",
    "memory_shared.py": "disk",
    "disk_many_files.py": "disk",
    "disk_inodes.py": "disk",
    "disk_signal.c": "disk",
    "output_stdout.py": "output",
    "output_gigabyte.py": "output",
    "output_no_newline.c": "output",
    "output_stderr.pl": "output",
    "output_both.js": "output",
    "busy.py": "cpu",
    "busy_children.py": "cpu",
    "cpu_ignored.c": "cpu",
    "sleep.py": "time",
    "ignore_signals.py": "time",
    "stop_self.py": "time",
    "stop_group.py": "time",
    "fill_and_leave.py": "disk",
    "disk_shared_files.py": "disk",
    "memory_tables.py": "memory",
    "memory_udp.py": "memory",
    "memory_tcp.py": "memory",
}

# Programs that end by themselves, how, and what they still say.
ENDED = {
    "disk_one_file.py": (1, "File too large"),
    "deep_recursion.js": (1, "RangeError"),
    "terminate.cpp": (-6, "on purpose"),
    "killed.c": (-9, ""),
    "aborted.c": (-6, ""),
    "crash.c": (-11, ""),
    "stack_overflow.c": (-11, ""),
    "old_calls.c": (-31, "refused"),
    "open_supervisor.py": (7, ""),
    "fake_report.py": (7, "FORGED"),
    "fake_report_proc.sh": (7, ""),
    "forge_python.py": (7, ""),
    "exec_shadow.sh": (7, ""),
    "close_output.py": (3, ""),
    "kill_supervisor.py": (0, "still here"),
    "daemon.py": (0, "left one behind"),
    "daemon_with_pipe.py": (0, "left one behind"),
    "daemon.sh": (0, "left some behind"),
    "close_folder.py": (0, ""),
    "claim_not_found.py": (127, "No such file"),
    "claim_not_found.sh": (127, "No such file"),
    "claim_not_permitted.pl": (126, "Permission denied"),
    "claim_setup_failed.py": (96, "the sandbox failed"),
    "claim_on_every_file.py": (95, "no room"),
    "claim_and_exec.py": (127, "not found"),
    "close_all.py": (127, ""),
    "kill_namespace.py": (94, "still here"),
    "starve.py": (93, ""),
    "reuse_ports.py": (0, "still here"),
}

# Programs that end well, but never gave back the secret that a finished test gives.
UNPROVED = [
    "exit_zero.py", "fake_success.py", "exit_early.pl", "exit_early.js", "exit_early.cpp",
    "exit_early.rb", "Halt.java", "shell.lua",
]  # fmt: skip

# Programs with a test of their own below.
APART = [
    "memory_sockets.py", "memory_pardoned.py", "disk_attributes.py", "deep_recursion.py", "kept_link.py", "kept_below_link.py",
    "kept_fifo.py", "kept_folder.py", "terminal.py", "invalid_utf8.py", "nul_bytes.c",
    "huge_line.py", "stdin_unread.py", "stdin_echo.py", "step_holds_file.py",
    "step_swaps_file.py", "step_daemon.py",
]  # fmt: skip

SMALL = Limits(
    wall=20,
    memory=256 * MIB,
    disk=64 * MIB,
    file_size=16 * MIB,
    output=256 * 1024,
    processes=32,
    cpu=15,
)
OTHER_LIMITS = {
    "cpu": Limits(wall=20, cpu=1),
    "time": Limits(wall=1),
}

# Programs in Python that no warm interpreter runs, and why.
COLD_ONLY = {
    "stdin_unread.py": "warm programs have no standard input",
    "stdin_echo.py": "warm programs have no standard input",
    "step_holds_file.py": "warm programs have one step",
    "step_swaps_file.py": "warm programs have one step",
    "step_daemon.py": "warm programs have one step",
    "kept_link.py": "warm programs bring nothing back",
    "kept_below_link.py": "warm programs bring nothing back",
    "kept_fifo.py": "warm programs bring nothing back",
    "kept_folder.py": "warm programs bring nothing back",
}

# Where a warm interpreter's child ends otherwise than a process of its own, and why.
WARM_ENDED = {
    # It tells an end by an exception from the end of the text, whatever status was asked for.
    "forge_python.py": (1, "SystemExit: 7"),
    "open_supervisor.py": (1, "SystemExit: 7"),
    "fake_success.py": (1, "SystemExit: 0"),
}
# It has the pipe open on which it proves that it came to its end.
WARM_FILES = "open_files.py"

PATHS = ("cold", "warm")
WHO = {
    "root": PATHS,
    "an ordinary user": PATHS,
    # It stays the superuser, and the kernel gives its programs no /proc of their own.
    "root, with an environment of mode 0700": ("cold",),
}
"""Who starts sandboxes, and on which paths each runs the whole table."""


def who() -> str:
    """Return which of them we are."""
    if os.geteuid() != 0:
        return "an ordinary user"
    return "root" if droppable((sys.prefix,)) else "root, with an environment of mode 0700"


@dataclass(frozen=True)
class Expected:
    """What is to become of a program."""

    limit: str | None = None
    code: int | None = 0
    says: str = ""
    escapes: bool = False
    """Whether it may say that it got somewhere, since that is known and does no harm."""


def expected(name: str, path: str) -> Expected:
    """Return what is to become of a program on one of the two paths."""
    if name in STOPPED:
        return Expected(limit=STOPPED[name], code=None)
    if path == "warm" and name in WARM_ENDED:
        code, says = WARM_ENDED[name]
        return Expected(code=code, says=says)
    if name in ENDED:
        code, says = ENDED[name]
        return Expected(code=code, says=says)
    if path == "warm" and name == WARM_FILES:
        return Expected(escapes=True)
    return Expected(says="refused" if name in REFUSED else "")


def on_path(path: str) -> list[str]:
    """Return the programs that are run on a path, those with a test of their own left out."""
    named = [*REFUSED, *STOPPED, *ENDED, *UNPROVED]
    if path == "cold":
        return named
    return [name for name in named if name.endswith(".py") and name not in COLD_ONLY]
