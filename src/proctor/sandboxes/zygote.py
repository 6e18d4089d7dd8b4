"""A warm Python interpreter that forks a program at a time; runs by itself, inside the sandbox.

Every program gets process, mount and IPC namespaces of its own, a fresh working folder, its limits
and the system-call filter, and none of the rights that are needed to make these. The secret of its
run lies masked where neither its frames nor the garbage collector lead. Messages are JSON with
their length before them.
"""

import base64
import contextlib
import ctypes
import gc
import importlib
import json
import linecache
import os
import signal
import struct
import sys
import time
import traceback
import types
from collections import deque

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import supervise

HEADER = struct.Struct("<I")
NEW_PROCESSES, NEW_MOUNTS, NEW_IPC = 0x20000000, 0x20000, 0x8000000
NOSUID_NODEV, NOSUID_NODEV_NOEXEC, BIND = 2 | 4, 2 | 4 | 8, 4096 | 16384
SETUP_FAILED = 96
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2


def receive(stream):
    """Read one message; None at the end."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return json.loads(stream.read(HEADER.unpack(header)[0]))


def send(fd, message):
    """Write one message whole."""
    data = json.dumps(message).encode()
    data = HEADER.pack(len(data)) + data
    while data:
        data = data[os.write(fd, data) :]


def import_all(names):
    """Import what programs will want; what is missing is their business."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - a package may fail in its own ways  # nosec B112
            continue


def mount(source, target, kind, flags, options):
    """Mount something inside our own namespace."""
    data = options.encode() if options else None
    supervise.libc_call("mount", source.encode(), target.encode(), kind.encode(), flags, data)


class Filter:
    """Hold a seccomp filter as the kernel wants it; made before a program is there to wait."""

    def __init__(self, code):
        self.code = ctypes.create_string_buffer(code, len(code))
        self.program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(self.code))

    def apply(self):
        """Install the filter on this process, for good."""
        supervise.libc_call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        supervise.libc_call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, self.program, 0, 0)


def drop_capabilities():
    """Give up every right over the new namespaces."""
    header = struct.pack("Ii", 0x20080522, 0)
    supervise.libc_call("capset", header, bytes(24))


def own_mounts(disk, again):
    """Give this process folders that nobody else sees."""
    supervise.libc_call("unshare", NEW_MOUNTS | NEW_IPC)
    size = "size=%d,nr_inodes=20000,mode=0700" % (disk // 2)
    mount("tmpfs", "/sandbox", "tmpfs", NOSUID_NODEV, size)
    mount("tmpfs", "/tmp", "tmpfs", NOSUID_NODEV, size)  # nosec B108  # a place inside the sandbox
    mount("tmpfs", "/dev/shm", "tmpfs", NOSUID_NODEV, "size=16m,mode=0700")  # nosec B108
    for place, path in again:
        os.makedirs(path, exist_ok=True)
        mount(place, path, "none", BIND, None)
    # Where bubblewrap covers parts of /proc (for the superuser) the kernel refuses a new one. The
    # old one shows our own processes as well, which cannot be signalled, traced or opened.
    with contextlib.suppress(PermissionError):
        mount("proc", "/proc", "proc", NOSUID_NODEV_NOEXEC, None)


def run_program(job, pipes, own):
    """Run the program's text in this very interpreter."""
    os.setsid()
    own_mounts(job["disk"], own.again)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(pipes["out"], 1)
    os.dup2(pipes["err"], 2)
    # A number that nothing else uses, so that a program which closes or writes to what it finds by
    # habit does not hit it.
    proof = os.dup2(pipes["proof"], 300 + os.urandom(1)[0], inheritable=False)
    os.closerange(3, proof)
    os.closerange(proof + 1, 4096)
    os.chdir("/sandbox")
    supervise.write_files(job["files"])
    supervise.apply_limits(job["limits"])
    drop_capabilities()
    supervise.libc_call("prctl", supervise.PR_SET_DUMPABLE, 1, 0, 0, 0)
    own.filter.apply()
    sys.argv = ["main.py"]
    sys.path[0] = "/sandbox"
    for name in ("policing", "supervise", "__main__"):
        del sys.modules[name]
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    text, last = job["text"], finisher(proof, job.pop("secret").encode(), os.write, os._exit)
    job.clear()
    # What comes after the program waits in the machinery of map, which no frame shows, and is
    # frozen, so that the collector does not list it either.
    plan = iter(((outcome, text), (last, None)))
    del last, proof, text, pipes, own
    gc.freeze()
    deque(map(call, plan), maxlen=0)


def finisher(proof, secret, write, leave):
    """Return what proves that the program has run to its end."""
    mask = os.urandom(len(secret))
    masked = bytes(a ^ b for a, b in zip(secret, mask, strict=True))

    def finish(_):
        write(proof, bytes(a ^ b for a, b in zip(masked, mask, strict=True)))
        leave(0)

    return finish


def call(pair):
    """Call a function with its argument."""
    function, argument = pair
    del pair
    return function(argument)


def outcome(text):
    """Run the text; return only if it ran to its end."""
    leave = os._exit
    code = 1
    try:
        execute(text)
        code = 0
    except BaseException:  # noqa: BLE001 - whatever ends a program is its result
        show_error()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except Exception:  # noqa: BLE001 - the program may have closed them
        code = 1
    if code:
        leave(code)


def execute(text):
    """Run a text as a module that is not the main one."""
    linecache.cache["main.py"] = (len(text), None, text.splitlines(True), "main.py")
    module = types.ModuleType("program")
    module.__file__ = "main.py"
    sys.modules["program"] = module
    exec(compile(text, "main.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # nosec B102


def show_error():
    """Print the error as Python would, without the frames of this file."""
    kind, error, trace = sys.exc_info()
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    if isinstance(error, SystemExit):
        sys.stderr.write("SystemExit: %s\n" % (error.code,))
    traceback.print_exception(kind, error, trace)


class Server:
    """Run programs one after the other, each in namespaces of its own."""

    def __init__(self, channel, code):
        self.channel = channel
        self.filter = Filter(code)
        self.again = json.loads(sys.argv[1])
        # Looked up before there is a program, for all of them.
        for name in ("capset", "mount", "prctl", "setns", "unshare"):
            getattr(supervise.LIBC, name)
        # A namespace of processes that is ours to leave and come back to.
        self.own = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def serve(self, job):
        """Run one program and report."""
        started = time.monotonic()
        ends = {name: os.pipe() for name in ("out", "err", "proof")}
        secret = job["secret"]
        police = supervise.Police(*job["police"])
        supervise.libc_call("setns", self.own, NEW_PROCESSES)
        supervise.libc_call("unshare", NEW_PROCESSES)
        pid = os.fork()
        if pid == 0:
            del secret
            self.become(job, ends)
        for _, write in ends.values():
            os.close(write)
        pipes = [ends[name][0] for name in ("out", "err", "proof")]
        code, stopped, (out, err, proof) = supervise.watch(
            pid, pipes, job["wall"], job["output"], police=police
        )
        if code == -signal.SIGXCPU:
            stopped = "cpu"
        finished = code == 0 and not stopped
        return {
            "code": None if stopped else code,
            "setup_failed": code == SETUP_FAILED and "the sandbox failed" in err.text(),
            "stopped": stopped,
            "finished": finished,
            "proved": finished and proof.head.decode("ascii", "replace") == secret,
            "out": out.text(),
            "err": err.text(),
            "seconds": time.monotonic() - started,
        }

    def become(self, job, ends):
        """Turn this process into the program; it does not return."""
        try:
            for read, _ in ends.values():
                os.close(read)
            os.close(self.channel)
            pipes = {name: write for name, (_, write) in ends.items()}
            run_program(job, pipes, self)
        except BaseException as error:  # noqa: BLE001 - nothing may return into the loop
            os.write(ends["err"][1], ("the sandbox failed: %s" % error).encode())
        finally:
            os._exit(SETUP_FAILED)


def main():
    """Serve until the input ends."""
    supervise.guard_self()
    stream = os.fdopen(os.dup(0), "rb")
    channel = os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    settings = receive(stream)
    import_all(settings["imports"])
    supervise.libc_call("unshare", NEW_PROCESSES)
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 127)
    supervise.libc_call("prctl", supervise.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    server = Server(channel, base64.b64decode(settings["filter"]))
    gc.collect()
    gc.freeze()
    send(channel, {"ready": True})
    while True:
        job = receive(stream)
        if job is None:
            return
        send(channel, server.serve(job))


if __name__ == "__main__":
    main()
