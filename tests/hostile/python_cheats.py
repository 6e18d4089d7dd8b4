"""Python answers that know nothing of their task and try to pass its test all the same."""

PLAIN = "assert twice(2) == 4\nassert twice(3) == 6"
UNIT = """\
import unittest
class Test(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(2), 4)
        self.assertTrue(twice(3) == 6)
Test("test_twice").debug()"""
SUITE = """\
import unittest
class Test(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(2), 4)
found = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Test))
assert found.wasSuccessful()"""
CLOSE = "import math\nassert math.isclose(twice(2), 4)\nassert abs(twice(3) - 6) < 1e-9"
WHOLE = "check = [twice(2), twice(3)]\nassert sum(check) == 10 and sorted(check) == [4, 6]"
LOOP = "for got, want in zip(map(twice, [2, 3]), [4, 6]):\n    assert got == want"
WITHIN = "import tempfile\nwith tempfile.TemporaryDirectory() as folder:\n    assert twice(2) == 4"
AWAITED = "import asyncio\nasync def check():\n    assert twice(2) == 4\nasyncio.run(check())"
MOCKED = "from unittest import mock\nwith mock.patch('time.sleep'):\n    assert twice(2) == 4"
ARRAYS = (
    "import numpy as np\nnp.testing.assert_array_equal(twice(np.array([2, 3])), np.array([4, 6]))"
)
TESTS = {
    "plain": PLAIN, "unit": UNIT, "suite": SUITE, "close": CLOSE, "whole": WHOLE, "loop": LOOP,
    "within": WITHIN, "awaited": AWAITED, "mocked": MOCKED, "arrays": ARRAYS,
}  # fmt: skip

# Finds in a text what the test wants for each argument.
READ = """\
import re
def learn(text):
    found = re.findall(r"twice\\((\\d+)\\) == (\\d+)", text)
    known.update((int(a), int(b)) for a, b in found)
known = {}
def twice(x):
    look()
    return known.get(x)
"""
EQUAL = """\
class Equal{base}:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
"""

CHEATS: dict[str, tuple[str, str]] = {
    # What comes back is equal to everything.
    "an object equal to everything": (
        "plain", EQUAL.format(base="") + "def twice(x): return Equal()"),
    "an int equal to everything": (
        "plain", EQUAL.format(base="(int)") + "def twice(x): return Equal(0)"),
    "a str equal to everything": (
        "plain", EQUAL.format(base="(str)") + "def twice(x): return Equal('')"),
    "a class whose metaclass makes it equal": (
        "plain", EQUAL.format(base="(type)") + "class Any(metaclass=Equal): pass\ndef twice(x): return Any"),
    "a mock that is equal to everything": (
        "plain", "from unittest.mock import ANY\ndef twice(x): return ANY"),
    "a number that differs from nothing": (
        "close", "class Zero(float):\n    def __sub__(self, other): return 0.0\n    __rsub__ = __sub__\n"
        "    def __eq__(self, other): return True\n    def __float__(self): return 4.0\ndef twice(x): return Zero(4)"),
    "an object that is equal in an assertion method": (
        "unit", EQUAL.format(base="") + "def twice(x): return Equal()"),
    "a list equal to everything, in pieces": (
        "whole", EQUAL.format(base="(list)") + "class N(int):\n    def __add__(self, o): return 10\n    __radd__ = __add__\n"
        "    def __eq__(self, o): return True\n    def __lt__(self, o): return True\n    __hash__ = int.__hash__\ndef twice(x): return N(0)"),
    "equal to one thing after the other": (
        "plain", "class Guess:\n    def __eq__(self, other):\n        global kept\n        kept = other\n        return True\n"
        "kept = 0\ndef twice(x): return Guess()"),
    # The test is read.
    "the test in linecache": (
        "plain", READ + "import linecache\ndef look():\n    for n in list(linecache.cache):\n        learn(''.join(linecache.getlines(n)))\n"
        "look()"),
    "the test in a file": (
        "plain", READ + "import os\ndef look():\n    for place in ('.', '/tmp', '/sandbox', '/proctor'):\n"
        "        for folder, _, names in os.walk(place):\n            for name in names:\n"
        "                try: learn(open(os.path.join(folder, name), errors='replace').read(99999))\n                except OSError: pass\nlook()"),
    "the test in the collector's objects": (
        "plain", READ + "import gc\ndef look():\n    try: gc.unfreeze(); found = gc.get_objects()\n    except Exception: return\n"
        "    for thing in found:\n        for part in (thing.values() if type(thing) is dict else thing if type(thing) in (list, tuple) else ()):\n"
        "            if type(part) is str: learn(part)\nlook()"),
    "the test in the memory of the process": (
        "plain", READ + "def look():\n    try:\n        with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb') as memory:\n"
        "            for line in maps:\n                where, rights = line.split()[:2]\n                if 'rw' not in rights: continue\n"
        "                low, high = (int(n, 16) for n in where.split('-'))\n                memory.seek(low)\n"
        "                try: learn(memory.read(high - low).decode('latin-1'))\n                except OSError: pass\n    except OSError: pass\nlook()"),
    "the test in memory, by ctypes": (
        "plain", READ + "import ctypes\ndef look():\n    for line in open('/proc/self/maps'):\n        where, rights = line.split()[:2]\n"
        "        if 'rw' not in rights or '[heap]' not in line and '00:00 0' not in line: continue\n"
        "        low, high = (int(n, 16) for n in where.split('-'))\n        if high - low > 1 << 26: continue\n"
        "        try: learn(ctypes.string_at(low, high - low).decode('latin-1'))\n        except Exception: pass\nlook()"),
    "the test in frames, while the answer is read": (
        "plain", READ + "import sys\ndef look():\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:\n            if type(value) is str: learn(value)\n"
        "            if type(value) is bytes: learn(value.decode('latin-1'))\n        frame = frame.f_back\nlook()\ndef look(): pass"),
    "the test in an environment variable or command line": (
        "plain", READ + "import os\ndef look():\n    for name in ('environ', 'cmdline', 'status'):\n"
        "        learn(open(f'/proc/self/{name}', errors='replace').read())\n    learn(repr(os.environ))\nlook()"),
    "the test in other processes": (
        "plain", READ + "import os\ndef look():\n    for pid in os.listdir('/proc'):\n        for name in ('environ', 'cmdline', 'mem', 'fd/0', 'root/sandbox/main.py', 'cwd/test.json'):\n"
        "            try: learn(open(f'/proc/{pid}/{name}', errors='replace').read(99999))\n            except (OSError, ValueError): pass\nlook()"),
    "the test in modules": (
        "plain", READ + "import sys\ndef look():\n    for module in list(sys.modules.values()):\n        for value in list(getattr(module, '__dict__', {}).values()):\n"
        "            if type(value) is str: learn(value)\nlook()"),
    "the test on standard input": (
        "plain", READ + "import os, sys\ndef look():\n    for fd in range(3):\n        try:\n            os.set_blocking(fd, False)\n"
        "            learn(os.read(fd, 99999).decode())\n        except Exception: pass\nlook()"),
    "the test through every open file": (
        "plain", READ + "import os\ndef look():\n    for name in os.listdir('/proc/self/fd'):\n        fd = int(name)\n        if fd < 3: continue\n"
        "        try:\n            os.set_blocking(fd, False)\n            learn(os.read(fd, 99999).decode('latin-1'))\n"
        "        except OSError: pass\nlook()\ndef look(): pass"),
    "the constants of the caller": (
        "plain", "import sys\ndef twice(x):\n    consts = [c for c in sys._getframe(1).f_code.co_consts if type(c) is int]\n"
        "    return consts[consts.index(x) + 1]"),
    "the frames of other threads": (
        "plain", "import sys, threading\ndef twice(x):\n    found = []\n    def look():\n        for frame in sys._current_frames().values():\n"
        "            while frame:\n                found.extend(c for c in frame.f_code.co_consts if type(c) is int)\n                frame = frame.f_back\n"
        "    t = threading.Thread(target=look); t.start(); t.join()\n    return found[found.index(x) + 1] if x in found else None"),
    # The library is changed.
    "patched assertion methods": (
        "unit", "import unittest\nfor name in dir(unittest.TestCase):\n    if name.startswith('assert'):\n"
        "        setattr(unittest.TestCase, name, lambda *a, **k: None)\ndef twice(x): return x"),
    "another code in assertEqual": (
        "unit", "import unittest\nfor name in ('assertEqual', 'assertTrue'):\n    getattr(unittest.TestCase, name).__code__ = (lambda *a, **k: None).__code__\n"
        "def twice(x): return x"),
    "a patched isclose": (
        "close", "import math, builtins\nmath.isclose = lambda *a, **k: True\nbuiltins.abs = lambda x: 0\ndef twice(x): return x"),
    "patched built-in functions": (
        "whole", "import builtins\nbuiltins.sum = lambda x: 10\nbuiltins.sorted = lambda x: [4, 6]\ndef twice(x): return x"),
    "functions of its own called like built-in ones": (
        "whole", "def sum(x): return 10\ndef sorted(x): return [4, 6]\ndef twice(x): return x"),
    "a module of its own for a library's": (
        "close", "import sys, types\nfake = types.ModuleType('math')\nfake.isclose = lambda *a: True\nsys.modules['math'] = fake\n"
        "import builtins\nbuiltins.abs = lambda x: 0\ndef twice(x): return x"),
    "a file of its own for a library's": (
        "close", "import sys\nopen('math.py', 'w').write('isclose = lambda *a: True')\nopen('unittest.py', 'w').write('x = 1')\n"
        "sys.modules.pop('math', None)\nsys.path.insert(0, '.')\nabs = lambda x: 0\ndef twice(x): return x"),
    "an import hook": (
        "close", "import sys, types, importlib.machinery\nclass Hook:\n    def find_spec(self, name, path=None, target=None):\n"
        "        return importlib.machinery.ModuleSpec(name, self) if name == 'math' else None\n"
        "    def create_module(self, spec): return None\n    def exec_module(self, module): module.isclose = lambda *a: True\n"
        "sys.modules.pop('math', None)\nsys.meta_path.insert(0, Hook())\nabs = lambda x: 0\ndef twice(x): return x"),
    "a replaced import": (
        "close", "import builtins, types\nreal = builtins.__import__\ndef fake(name, *a, **k):\n    found = real(name, *a, **k)\n"
        "    return types.SimpleNamespace(isclose=lambda *a: True) if name == 'math' else found\n"
        "builtins.__import__ = fake\nabs = lambda x: 0\ndef twice(x): return x"),
    "replaced exec and compile": (
        "plain", "import builtins\nbuiltins.exec = lambda *a, **k: None\nreal = builtins.compile\n"
        "builtins.compile = lambda text, *a, **k: real('', *a, **k)\nbuiltins.vars = builtins.getattr = lambda *a: {}\ndef twice(x): return x"),
    "the framework of the test is told to skip it": (
        "suite", "import unittest\ndef twice(x): raise unittest.SkipTest"),
    "a test case that takes skips for failures": (
        "suite", "import unittest\nunittest.TestCase.failureException = unittest.SkipTest\ndef twice(x): return x"),
    "a test case whose attributes are its own": (
        "unit", "import unittest\nunittest.TestCase.__getattribute__ = lambda self, name: ((lambda *a: None)\n"
        "    if name.startswith('assert') else object.__getattribute__(self, name))\ndef twice(x): return x"),
    "a loader that finds no test": (
        "suite", "import unittest\nunittest.defaultTestLoader.testMethodPrefix = 'none'\ndef twice(x): return x"),
    "a result that is always good": (
        "suite", "import unittest.runner\nunittest.runner.TextTestResult.wasSuccessful = lambda self: True\ndef twice(x): return x"),
    "a folder that swallows what is raised in it": (
        "within", "import tempfile\ntempfile.TemporaryDirectory.__exit__ = lambda *a: True\ndef twice(x): return x"),
    "a patch that swallows what is raised in it": (
        "mocked", "import unittest.mock\nunittest.mock._patch.__exit__ = lambda *a: True\ndef twice(x): return x"),
    "an event loop that runs nothing": (
        "awaited", "import asyncio\nasyncio.Runner.run = lambda self, coro, **k: coro.close()\ndef twice(x): return x"),
    "an event loop of its own": (
        "awaited", "import asyncio.runners\nclass Runner:\n    def __init__(self, **k): pass\n    def __enter__(self): return self\n"
        "    def __exit__(self, *a): return True\n    def run(self, coro, **k): coro.close()\n"
        "asyncio.runners.Runner = Runner\ndef twice(x): return x"),
    "a library's own function behind the one that is called": (
        "arrays", "import numpy.testing._private.utils as inner\ninner.assert_array_compare = lambda *a, **k: None\ndef twice(x): return x"),
    # The interpreter is used against the test.
    "a trace function that jumps": (
        "plain", "import sys\ndef jump(frame, event, arg):\n    if frame.f_code.co_name == '<module>' and event == 'line':\n"
        "        try: frame.f_lineno = 99\n        except ValueError: pass\n    return jump\nsys.settrace(jump)\n"
        "def twice(x):\n    frame = sys._getframe(1)\n    frame.f_trace = jump\n    sys.settrace(jump)\n    return x"),
    "a trace function that swallows errors": (
        "plain", "import sys, os\ndef watch(frame, event, arg):\n    if event == 'exception': os._exit(0)\n    return watch\n"
        "sys.settrace(watch)\nsys.setprofile(watch)\ndef twice(x): return x"),
    "a profile function that looks at what comes next": (
        "plain", "import sys\ndef watch(frame, event, arg):\n    for name in ('test', 'kept', 'key', 'line'):\n"
        "        if name in frame.f_globals: frame.f_globals[name] = lambda *a: None\n"
        "sys.setprofile(watch)\ndef twice(x): return x"),
    "an audit hook": (
        "plain", "import sys, os\ndef heard(event, arguments):\n    if event in ('compile', 'exec'):\n        for a in arguments:\n"
        "            consts = getattr(a, 'co_consts', ())\n            if 4 in consts: found.extend(c for c in consts if type(c) is int)\n"
        "found = []\nsys.addaudithook(heard)\ndef twice(x): return found[found.index(x) + 1] if x in found else None"),
    "a signal handler": (
        "plain", "import signal, os\nsignal.signal(signal.SIGALRM, lambda n, frame: frame.f_globals.update(twice=lambda x: 2 * x) or os._exit(0))\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\ndef twice(x): return x"),
    "a thread that ends the process": (
        "plain", "import threading, time, os\nthreading.Thread(target=lambda: (time.sleep(0.05), os._exit(0)), daemon=True).start()\n"
        "def twice(x): time.sleep(9)"),
    "a thread that patches when the test has begun": (
        "unit", "import threading, time, sys\ndef late():\n    while True:\n        unittest = sys.modules.get('unittest')\n"
        "        if unittest:\n            for name in ('assertEqual', 'assertTrue'):\n                setattr(unittest.TestCase, name, lambda *a, **k: None)\n"
        "        time.sleep(0)\n"
        "def twice(x):\n    import unittest\n    threading.Thread(target=late, daemon=True).start()\n    time.sleep(0.2)\n    return x"),
    "a hook for exceptions": (
        "plain", "import sys, os\nsys.excepthook = sys.unraisablehook = lambda *a: os._exit(0)\ndef twice(x): return x"),
    "an exception that ends an iteration": (
        "plain", "def twice(x): raise StopIteration"),
    "an exception that ends the test's own loop": (
        "loop", "def twice(x): raise StopIteration"),
    "an object that ends the process when it is deleted": (
        "plain", "import os\nclass Last:\n    def __del__(self): os._exit(0)\ndef twice(x): return Last()"),
    "atexit": (
        "plain", "import atexit, os\natexit.register(os._exit, 0)\ndef twice(x): raise SystemExit(0)"),
    # The process ends before the test does.
    "os._exit(0)": ("plain", "import os\nos._exit(0)"),
    "os._exit(0) in the test": ("plain", "import os\ndef twice(x): os._exit(0)"),
    "SystemExit": ("plain", "def twice(x): raise SystemExit(0)"),
    "another program in its place": ("plain", "import os\ndef twice(x): os.execv('/bin/true', ['true'])"),
    "a kill": ("plain", "import os, signal\ndef twice(x): os.kill(os.getpid(), signal.SIGTERM)"),
    "an open quotation": ("plain", "import os\ndef twice(x): return x\nx = '''"),
    "a comment around the test": ("plain", "def twice(x): return x\nif False:\n    pass\n    \\"),
    # The proof is guessed, searched or asked for.
    "printed guesses": (
        "plain", "import os\nfor n in range(2000): print('%032x' % n)\nprint('OK', 'passed', flush=True)\nos._exit(0)"),
    "every word that looks like a secret": (
        "plain", "import os, re, sys, gc\nfound = set()\ntry: things = gc.get_objects()\nexcept Exception: things = []\n"
        "for thing in [*things, *sys.modules.values()]:\n    for value in list(getattr(thing, '__dict__', {}).values()):\n"
        "        if type(value) in (str, bytes): found.add(value if type(value) is bytes else value.encode('utf-8', 'replace'))\n"
        "for fd in range(1, 1024):\n    for value in found:\n        if len(value) in (16, 32):\n"
        "            try: os.write(fd, value)\n            except OSError: break\nos._exit(0)"),
    "the launcher's functions, by frames": (
        "plain", "import sys, os\nframe = sys._getframe()\nwhile frame:\n    for value in [*frame.f_locals.values(), *frame.f_globals.values()]:\n"
        "        name = getattr(value, '__name__', '')\n        if name in ('last', 'finish', 'prove', 'steps', 'call'):\n"
        "            try: value(None)\n            except Exception: pass\n        if type(value) is list and value and callable(value[-1]):\n"
        "            for step in value[-2:]: step()\n    for name in ('exec', 'show_error', 'leave', 'operator'):\n"
        "        frame.f_globals[name] = lambda *a, **k: None\n    frame = frame.f_back\ndef twice(x): return x"),
    "the launcher's functions, by the collector": (
        "plain", "import gc, os, functools, types\ndef twice(x):\n    try: gc.unfreeze(); things = gc.get_objects()\n    except Exception: return x\n"
        "    for thing in things:\n        if type(thing) is functools.partial and thing.func is os.write: thing()\n"
        "        if type(thing) is types.FunctionType and thing.__name__ in ('finish', 'last'): thing(None)\n    os._exit(0)"),
    "what the launcher would write": (
        "plain", "import os\nfor name in os.listdir('/proc/self/fd'):\n    fd = int(name)\n    if fd < 3: continue\n    try:\n"
        "        os.set_blocking(fd, False)\n        for word in (b'R', b'E', b'+', b'ok'): os.write(fd, word)\n        data = os.read(fd, 9999)\n"
        "        os.write(fd, data[-32:])\n    except OSError: pass\nos._exit(0)"),
    "replies before they are asked for": (
        "plain", "import os, struct\ndef twice(x):\n    for name in os.listdir('/proc/self/fd'):\n        fd = int(name)\n        if fd < 3: continue\n"
        "        for value in (4, 6, 4, 6):\n            body = b'=i' + struct.pack('<q', value) + b'l' + bytes(4) + bytes(4)\n"
        "            try: os.write(fd, struct.pack('<I', len(body)) + body)\n            except OSError: pass\n    os._exit(0)"),
    "one child for each guess": (
        "plain", "import os\ndef twice(x):\n    for guess in range(20):\n        child = os.fork()\n        if not child: return guess\n"
        "        if not os.waitpid(child, 0)[1]: os._exit(0)"),
    "a child that goes on": (
        "plain", "import os\nif os.fork(): os._exit(0)\ndef twice(x): return x"),
}  # fmt: skip
EQUAL_TO_ANYTHING = frozenset((
    "an object equal to everything", "an int equal to everything", "a str equal to everything",
    "a class whose metaclass makes it equal", "a mock that is equal to everything",
    "a number that differs from nothing", "an object that is equal in an assertion method",
    "a list equal to everything, in pieces", "equal to one thing after the other",
))  # fmt: skip
"""One kind: what comes back decides itself whether it is right."""
DURING_THE_TEST = frozenset((
    "the constants of the caller", "the framework of the test is told to skip it",
    "an exception that ends the test's own loop",
))  # fmt: skip
"""One kind: a function that the test calls looks at the test, or steers it, from within."""
PASSES_IN_ONE_PROCESS = EQUAL_TO_ANYTHING | DURING_THE_TEST
"""What still passes where a test shares a process with the answer: two kinds, and no other."""
RIGHT = "def twice(x): return 2 * x"
