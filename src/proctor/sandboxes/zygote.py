"""A warm Python interpreter that forks a child for each program; runs inside the sandbox.

The interpreter itself is told nothing: it forks, reaps and says with which status a child ended.
A child makes namespaces of its own and fresh folders, and only then reads its job, from a socket
that it closes before the program's first line; the interpreter never reads there. It keeps none of
the rights that were needed for this. What a test is, it hears from the supervisor when the program
has run.
"""

import ctypes
import fcntl
import gc
import importlib
import linecache
import marshal
import operator
import os
import resource
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
FORK, RENEW = b"+", b"n"
"""Orders to fork a child, and to leave the network of the last one before."""
PIECE = 65536
ROUNDS = 12
"""How often code runs before its instructions are replaced by quicker ones for what they meet."""
FILES_ROOM = socket.CMSG_SPACE(4 * 4)
"""Room for the open files that come with a job."""
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


def renew_network():
    """Leave a network namespace that was used for a new one; children inherit it."""
    supervise.libc_call("unshare", NEW_NETWORK)
    # A program may talk to itself over its own network, where nobody else is.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def take_job(line):
    """Read the job; with it come the program's outputs, its proof, and what joins it to another."""
    data, notes, _, _ = line.recvmsg(PIECE, FILES_ROOM)
    length = HEADER.size + HEADER.unpack_from(data)[0]
    while len(data) < length:
        piece = line.recv(length - len(data))
        if not piece:
            raise EOFError
        data += piece
    job = marshal.loads(memoryview(data)[HEADER.size :])  # noqa: S302 - from the grader  # nosec B302
    return job, *memoryview(notes[0][2]).cast("i")


def become_program(line, own):
    """Take in a job, and keep no more than a program may have; return how it is run, and what."""
    job, out, err, proof, *channel = take_job(line)
    if job["disk"] != own.disk:
        for place in PLACES[:2]:
            mount("tmpfs", place, "tmpfs", NOSUID_NODEV | REMOUNT, "size=%d" % (job["disk"] // 2))
    proof = take_outputs(out, err, proof)
    os.chdir("/sandbox")
    supervise.write_files(job["files"])
    supervise.apply_limits(job["limits"])
    drop_capabilities()
    supervise.libc_call("prctl", supervise.PR_SET_DUMPABLE, 1, 0, 0, 0)
    own.filter.apply()
    run = (sys.modules.pop("pristine", Plain) if job["late"] else Plain).run
    arguments = begin(job, line, proof)
    close_ours(proof, channel)
    return run, arguments


def take_outputs(out, err, proof):
    """Put a program's files where it looks for them; return where its proof goes.

    That is a number that nothing else uses, so that a program which closes or writes to what it
    finds by habit does not hit it.
    """
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(out, 1)
    os.dup2(err, 2)
    return os.dup2(proof, 300 + os.urandom(1)[0], False)


def begin(job, line, proof):
    """Say that the program begins; return what is run."""
    for name, value in job["env"].items():
        os.environ[name] = value
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    arguments = [job["call"] or job["text"], job["names"], proof, job["secret"]]
    job.clear()
    gc.enable()
    line.sendall(supervise.STARTED)
    return arguments


def close_ours(proof, channel):
    """Leave nothing of ours open."""
    close_all_but(proof, *channel)
    if channel:
        os.dup2(channel[0], supervise.CHANNEL)
        os.close(channel[0])


def become_main():
    """Let this process look like one that was started for a program, without modules of ours."""
    sys.argv = ["main.py"]
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path != here]
    for name in ("confined", "limits_watch", "supervise", "warm_supervisor", "zygote", "__main__"):
        sys.modules.pop(name, None)


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
        if type(text) is tuple:
            sys.modules[text[0]].main(supervise.CHANNEL, text[1])
        else:
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
        sys.path.insert(0, PLACES[0])

    def prepare(self):
        """Give this process namespaces and folders of its own; return the folders, open."""
        prepare(self)
        return [os.open(place, os.O_PATH | os.O_CLOEXEC) for place in PLACES]

    def become_program(self, line):
        """Turn this process into a program; return how it is run, and what."""
        return become_program(line, self)


def make_ready(settings):
    """Load what programs will want, and see to it that children share its memory."""
    os.environ.pop("LD_BIND_NOW", None)
    import_all(settings["imports"])
    load_all(settings["modules"])
    rehearse(settings)
    gc.collect()
    if hasattr(supervise.LIBC, "malloc_trim"):
        supervise.LIBC.malloc_trim(0)
    gc.freeze()


def rehearse(settings):
    """Do, again and again, what can be undone of what a child does before its program runs.

    What the interpreter learns when code runs for the first times then lies in memory that all
    children share.
    """
    ours, theirs = socket.socketpair()
    names = ("text", "names", "secret", "limits", "env")
    data = marshal.dumps({"call": None, **dict.fromkeys(names, "")})
    bytecode = Filter(settings["filter"]).program
    core = supervise.LIMITS["CORE"]
    for _ in range(ROUNDS):
        files = [os.open(os.devnull, os.O_RDWR), os.pidfd_open(os.getpid())]
        send_files(ours, HEADER.pack(len(data)) + data, files[0], files[0], files[0])
        parts, out, err, proof = take_job(theirs)
        files += [out, err, proof, take_outputs(out, err, proof)]
        supervise.apply_limits({})
        supervise.limit(core, *resource.getrlimit(core))
        supervise.libc_call("prctl", supervise.PR_SET_DUMPABLE, 0, bytecode, 0, 0)
        parts["env"] = {}
        text = begin(parts, theirs, files[-1])[0]
        ours.recv(PIECE)
        [partial(execute, text)].sort(key=operator.call)
        for fd in files:
            os.close(fd)
    ours.close()
    theirs.close()
    sys.modules.pop("program")
    linecache.cache.clear()


def breed(control, line, settings, kind):
    """Fork a child where the supervisor wants one, and say how it ended, again and again.

    This is the first process of a namespace, where no program can signal it; all that a program
    leaves behind comes to it, and is killed before the next child is there. After each fork, every
    page of memory that it writes to is copied: so it does next to nothing, and its children and
    the supervisor do the rest.
    """
    supervise.libc_call("prctl", supervise.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # The children are offered with this process, which is soon replaced, unlike the grader.
    supervise.offer_to_killer()
    show_own_processes(settings["masks"])
    make_ready(settings)
    own = kind(settings)
    become_main()
    gc.disable()
    read, write, fork, fd = os.read, os.write, os.fork, control.fileno()
    while order := read(fd, 1):
        if order == RENEW:
            renew_network()
        pid = fork()
        if pid == 0:
            become(line, own)
        write(fd, b"%d %d" % reap(pid))


def reap(pid):
    """Wait for a child and all that come to us; return its exit code.

    With it comes the processor time of all children so far, in hundredths of seconds.
    """
    done = 0
    while done != pid:
        done, status = os.waitpid(-1, 0)
    try:
        os.waitpid(-1, os.WNOHANG)
        supervise.kill_all()
    except ChildProcessError:
        pass  # whatever has no parent any more is a child of ours: nothing is left
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return os.waitstatus_to_exitcode(status), 100 * (used.ru_utime + used.ru_stime)


def become(line, own):
    """Turn this process into a program; it does not return."""
    try:
        places = own.prepare()
        send_files(line, supervise.STARTED, os.pidfd_open(os.getpid()), *places)
        run, arguments = own.become_program(line)
        line.detach()
        del own, places
        run(arguments)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the loop
        line.sendall(("-%s" % error).encode()[:4096])
    finally:
        os._exit(SETUP_FAILED)


def send_files(line, data, *fds):
    """Send a message with open files; the library's own way imports and copies more."""
    rights = struct.pack("%di" % len(fds), *fds)
    return line.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
