"""A warm Python interpreter that forks a child for each program; runs inside the sandbox.

The interpreter itself is told nothing: it forks, reaps and says with which status a child ended.
A child makes namespaces of its own and fresh folders, and only then reads its job, from a socket
that nobody else has. It keeps none of the rights that were needed for this, and the socket is
closed before the program's first line. What a test is, it hears from the supervisor when the
program has run.
"""

import ctypes
import fcntl
import gc
import importlib
import linecache
import marshal
import operator
import os
import signal
import socket
import struct
import sys
import traceback
import types
from functools import partial

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import limits_watch
import supervise

HEADER = struct.Struct("<I")
PLACES = ("/sandbox", "/tmp", "/dev/shm")  # nosec B108  # places inside the sandbox
NEW_PROCESSES, NEW_MOUNTS, NEW_IPC, NEW_NETWORK = 0x20000000, 0x20000, 0x8000000, 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
NOSUID_NODEV, NOSUID_NODEV_NOEXEC, BIND = 2 | 4, 2 | 4 | 8, 4096 | 16384
SETUP_FAILED = 96
REMOUNT, READ_ONLY = 32, 1
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2


def import_all(names):
    """Import what programs will want; what is missing is their business."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:  # noqa: BLE001, S112 - a package may fail in its own ways  # nosec B112
            continue


def load_all(modules):
    """Load modules of ours that many programs use."""
    for name in modules:
        sys.modules[name] = types.ModuleType(name)
    for name, source in modules.items():
        module = sys.modules[name]
        module.__file__ = name + ".py"
        exec(compile(source, module.__file__, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # nosec B102


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


def prepare(own):
    """Give this process limits, namespaces and folders that nobody else has."""
    for door in own.doors:
        os.write(door, b"0")
    os.setsid()
    supervise.libc_call("unshare", NEW_MOUNTS | NEW_IPC)
    size = "size=%d,nr_inodes=%d,mode=0700" % (own.disk // 2, limits_watch.MAX_NODES)
    for place in PLACES[:2]:
        mount("tmpfs", place, "tmpfs", NOSUID_NODEV, size)
    mount("tmpfs", PLACES[2], "tmpfs", NOSUID_NODEV, "size=16m,nr_inodes=10000,mode=0700")
    for place, path in own.again:
        os.makedirs(path, exist_ok=True)
        mount(place, path, "none", BIND, None)


def show_own_processes(masks):
    """Mount a /proc of this namespace, for all children alike.

    The one around us shows our own processes. Where the kernel refuses another (parts of that one
    are covered, as for a superuser that stays one), no program begins here.
    """
    supervise.libc_call("unshare", NEW_MOUNTS)
    mount("proc", "/proc", "proc", NOSUID_NODEV_NOEXEC, None)
    for source, target in masks:
        mount(source, target, "none", BIND, None)
        mount("none", target, "none", REMOUNT | 4096 | READ_ONLY | NOSUID_NODEV_NOEXEC, None)


class Network:
    """The network namespace of the next program: new, or one in which nothing has ever happened.

    To make one, and for the kernel to take it down, costs more than most programs do, and most
    never open a socket. One is kept only while no packet has passed its loopback, no socket is left
    in it, and no label of a flow: then it is as it was made.
    """

    def __init__(self):
        self.fresh = None

    def renew(self):
        """Leave a namespace that was used for one that was not; children inherit it."""
        if self.fresh is not None and self.state() == self.fresh:
            return
        supervise.libc_call("unshare", NEW_NETWORK)
        # A program may talk to itself over its own network, where nobody else is.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
        self.fresh = self.state()

    def state(self):
        """Return what the kernel counts of all that happens here; none where it does not say."""
        seen = []
        for name in ("dev", "sockstat", "ip6_flowlabel"):
            try:
                fd = os.open("/proc/self/net/" + name, os.O_RDONLY)
            except FileNotFoundError:
                seen.append(b"")
                continue
            seen.append(os.read(fd, 65536))
            os.close(fd)
        # The second line counts what TCP holds on the whole machine.
        counted = [row for row in seen[1].split(b"\n") if row.startswith(b"sockets:")]
        return (seen[0], counted, seen[2]) if seen[0] and counted else None


def take_job(line):
    """Read the job; with it come the socket for the proof, and one to another program."""
    header, sockets, _, _ = socket.recv_fds(line, HEADER.size, 2)
    data = b""
    while len(data) < HEADER.unpack(header)[0]:
        piece = line.recv(HEADER.unpack(header)[0] - len(data))
        if not piece:
            raise EOFError
        data += piece
    return marshal.loads(data), *sockets  # noqa: S302 - it comes from the grader  # nosec B302


def run_program(line, pipes, own):
    """Take in a job, and run the program's text in this very interpreter."""
    job, proof, *channel = take_job(line)
    if job["disk"] != own.disk:
        for place in PLACES[:2]:
            mount("tmpfs", place, "tmpfs", NOSUID_NODEV | REMOUNT, "size=%d" % (job["disk"] // 2))
    null = os.open(os.devnull, os.O_RDONLY)
    for number, fd in enumerate((null, pipes[0], pipes[1])):
        os.dup2(fd, number)
    # A number that nothing else uses, so that a program which closes or writes to what it finds by
    # habit does not hit it.
    proof = os.dup2(proof, 300 + os.urandom(1)[0], inheritable=False)
    os.chdir("/sandbox")
    supervise.write_files(job["files"])
    supervise.apply_limits(job["limits"])
    drop_capabilities()
    supervise.libc_call("prctl", supervise.PR_SET_DUMPABLE, 1, 0, 0, 0)
    own.filter.apply()
    sys.path[0] = "/sandbox"
    become_main(job["env"])
    run, arguments = (sys.modules.pop("pristine", Plain) if job["late"] else Plain).run, [
        job["text"], job["names"], proof, job["secret"],
    ]  # fmt: skip
    job.clear()
    line.sendall(supervise.STARTED)
    line.detach()
    close_all_but(proof, *channel)
    if channel:
        os.dup2(channel[0], supervise.CHANNEL)
        os.close(channel[0])
    del proof, pipes, own, line
    run(arguments)


def become_main(env):
    """Let this process look like one that was started for the program, without modules of ours."""
    sys.argv = ["main.py"]
    for name, value in env.items():
        os.environ[name] = value
    for name in ("confined", "limits_watch", "supervise", "warm_supervisor", "zygote", "__main__"):
        sys.modules.pop(name, None)
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()


def close_all_but(*fds):
    """Close every file but the standard ones and these."""
    first = 3
    for fd in sorted(fds):
        os.closerange(first, fd)
        first = fd + 1
    os.closerange(first, 4096)


class Plain:
    """A program without a test of its own."""

    @staticmethod
    def run(arguments):
        """Run the text to its end; it does not return."""
        text, _, line, key = arguments
        arguments.clear()
        # The elements of a list that is being sorted are seen by nobody.
        steps = [partial(outcome, text), partial(os.write, line, key), partial(os._exit, 0)]
        del text, line, key
        steps.sort(key=operator.call)


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


class Own:
    """What every child needs and none changes."""

    def __init__(self, settings):
        self.filter = Filter(settings["filter"])
        self.again, self.disk = settings["again"], settings["disk"]
        self.doors = settings["doors"]
        # Looked up before there is a program, for all of them.
        for name in ("capset", "mount", "prctl", "unshare"):
            getattr(supervise.LIBC, name)


def make_ready(settings):
    """Load what programs will want, and see to it that children share its memory."""
    os.environ.pop("LD_BIND_NOW", None)
    import_all(settings["imports"])
    load_all(settings["modules"])
    gc.collect()
    gc.freeze()


def breed(control, settings):
    """Fork a child, wait for its end and say how it ended, again and again.

    This is the first process of a namespace, where no program can signal it; all that a program
    leaves behind comes to it, and is killed before the next child is there.
    """
    supervise.libc_call("prctl", supervise.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The children are offered with this process, which is soon replaced, unlike the grader.
    supervise.offer_to_killer()
    show_own_processes(settings["masks"])
    make_ready(settings)
    own = Own(settings)
    network = Network()
    while True:
        network.renew()
        ours, theirs = socket.socketpair()
        reads, writes = zip(os.pipe(), os.pipe(), strict=True)
        pid = os.fork()
        if pid == 0:
            control.detach()
            ours.detach()
            close_all_but(theirs.fileno(), *writes, *own.doors)
            become(theirs, writes, own)
        theirs.close()
        fds = (os.pidfd_open(pid), ours.detach(), *reads)
        socket.send_fds(control, [b"child"], fds)
        for fd in (*fds, *writes):
            os.close(fd)
        control.send(b"%d" % reap(pid))


def reap(pid):
    """Wait for a child, and for all that come to us; leave nothing, and return its exit code."""
    done, status = 0, 0
    while done != pid:
        done, status = os.waitpid(-1, 0)
    try:
        os.waitpid(-1, os.WNOHANG)
        supervise.kill_all()
    except ChildProcessError:
        pass  # whatever has no parent any more is a child of ours: nothing is left
    return os.waitstatus_to_exitcode(status)


def become(line, pipes, own):
    """Turn this process into a program; it does not return."""
    try:
        prepare(own)
        places = [os.open(place, os.O_PATH | os.O_CLOEXEC) for place in PLACES]
        socket.send_fds(line, [supervise.STARTED], places)
        run_program(line, pipes, own)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the loop
        line.sendall(("-%s" % error).encode()[:4096])
    finally:
        os._exit(SETUP_FAILED)
