"""Tests apart from the answer: the verdict is that of one process, for honest answers of all kinds."""

import asyncio
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from level import LEVEL
from proctor.contracts.sandbox import Sandbox
from proctor.contracts.scorer import ScoreContext
from proctor.core.program import Program, Ran
from proctor.core.score import Score, ScoreStatus
from proctor.origins.infibench.scorers import InfiBenchUnitTests
from proctor.sandboxes.bubblewrap import Bubblewrap
from proctor.sandboxes.plain_process import PlainProcess
from proctor.scorers.programs.languages import named
from proctor.scorers.programs.python_test_programs import isolation_of
from proctor.scorers.programs.unit_tests import UnitTest, UnitTests
from room import ROOM, Cold

pytestmark = pytest.mark.sandbox

# What it is, the answer, the test, whether it passes, and whether it runs apart by itself.
HONEST: list[tuple[str, str, str, bool, bool]] = [
    (
        'a function',
        'def f(x): return 2*x',
        'assert f(2)==4',
        True, True,
    ),
    (
        'a wrong function',
        'def f(x): return 2*x',
        'assert f(2)==5',
        False, True,
    ),
    (
        'a list sorted in place',
        'def f(x): x.sort()',
        'l=[3,1,2]\nf(l)\nassert l==[1,2,3]',
        True, True,
    ),
    (
        'a dict changed in place, deep inside',
        "def f(d): d['k']=[1]; d['n'].append(2)",
        "d={'n':[1]}\ni=d['n']\nf(d)\nassert d=={'n':[1,2],'k':[1]}\nassert d['n'] is i and i==[1,2]",
        True, True,
    ),
    (
        'the very list that was given',
        'def f(x): return x',
        'l=[1]\nassert f(l) is l',
        True, True,
    ),
    (
        'a built-in exception',
        "def f(x): raise KeyError('no')",
        "try:\n  f(1)\nexcept KeyError as e:\n  assert e.args==('no',)\nelse: assert False",
        True, True,
    ),
    (
        'an exception class of its own, with an attribute',
        "class MyE(ValueError):\n  def __init__(s,c): super().__init__('code %d'%c); s.code=c\ndef f(x): raise MyE(7)",
        "try:\n  f(1)\nexcept MyE as e:\n  assert e.code==7 and str(e)=='code 7' and isinstance(e,ValueError)\nelse: assert False",
        True, True,
    ),
    (
        'a generator',
        'def f(x):\n  for i in range(x): yield i*i',
        'import types\nassert list(f(4))==[0,1,4,9]\ng=f(3)\nassert next(g)==0',
        True, False,
    ),
    (
        'callbacks',
        'def f(g,x): return [g(i) for i in x]',
        "seen=[]\ndef g(i):\n  seen.append(i)\n  return i+1\nassert f(g,[1,2])==[2,3] and seen==[1,2]\nassert f(str,[1])==['1']\nassert f(lambda z:(z,),[1])==[(1,)]",
        True, True,
    ),
    (
        'a stack',
        'class Stack:\n  def __init__(self): self.items=[]\n  def push(self,x): self.items.append(x)\n  def pop(self): return self.items.pop()\n  def __len__(self): return len(self.items)\n  def __iter__(self): return iter(self.items)\n  def __contains__(self,x): return x in self.items',
        's=Stack()\ns.push(1);s.push(2)\nassert len(s)==2 and list(s)==[1,2] and 2 in s and 5 not in s\nassert s.pop()==2\nassert isinstance(s,Stack)\nassert s.items==[1]',
        True, True,
    ),
    (
        'operators',
        "class Vector:\n  def __init__(s,x,y): s.x,s.y=x,y\n  def __add__(s,o): return Vector(s.x+o.x,s.y+o.y)\n  def __mul__(s,k): return Vector(s.x*k,s.y*k)\n  def __eq__(s,o): return isinstance(o,Vector) and (s.x,s.y)==(o.x,o.y)\n  def __repr__(s): return f'V({s.x},{s.y})'\n  def __abs__(s): return (s.x**2+s.y**2)**.5",
        "assert Vector(1,2)+Vector(3,4)==Vector(4,6)\nassert Vector(1,2)*2==Vector(2,4)\nassert Vector(1,2)!=Vector(1,3)\nassert repr(Vector(1,2))=='V(1,2)'\nassert abs(Vector(3,4))==5.0",
        True, True,
    ),
    (
        'captured output',
        "def f():\n  print('hello')\n  print('x',end='')",
        "import io,contextlib\nb=io.StringIO()\nwith contextlib.redirect_stdout(b):\n  f()\nassert b.getvalue()=='hello\\nx'",
        True, True,
    ),
    (
        'replaced standard output',
        'def f(n): print(n)',
        "import io,sys\nold=sys.stdout\nsys.stdout=io.StringIO()\nf(3)\nout=sys.stdout.getvalue()\nsys.stdout=old\nassert out=='3\\n'",
        True, True,
    ),
    (
        'a float that is no number',
        "def f(x): return float('nan')",
        'import math\nassert math.isnan(f(1))',
        True, True,
    ),
    (
        'a dataclass',
        'from dataclasses import dataclass\n@dataclass\nclass P:\n  x:int\n  y:int=0\ndef f(x): return P(x)',
        'assert f(3)==P(3) and f(3).x==3\nassert P(1)!=P(2)',
        True, True,
    ),
    (
        'an enumeration',
        'import enum\nclass Color(enum.Enum):\n  RED=1\n  BLUE=2\ndef f(x): return Color.RED',
        "assert f(1)==Color.RED and f(1) is Color.RED\nassert [c.name for c in Color]==['RED','BLUE']\nassert Color['RED'].value==1 and Color(2)==Color.BLUE",
        True, False,
    ),
    (
        'arrays',
        'import numpy as np\ndef f(x): return np.array(x)*2',
        'import numpy as np\nassert np.allclose(f([1,2]),[2,4])\nassert f(np.arange(3)).tolist()==[0,2,4]\nassert (f([1])==np.array([2])).all()',
        True, True,
    ),
    (
        'a table',
        "import pandas as pd\ndef f(df):\n  df['b']=df['a']*2\n  return df",
        "import pandas as pd\nd=pd.DataFrame({'a':[1,2]})\nr=f(d)\nassert list(r['b'])==[2,4]\nassert r.equals(pd.DataFrame({'a':[1,2],'b':[2,4]}))\nassert 'b' in d.columns",
        True, True,
    ),
    (
        'a global that changes',
        'X=5\ndef f(): global X; X+=1',
        'f()\nassert X==6',
        True, True,
    ),
    (
        'a closure',
        'def make():\n  n=0\n  def inc():\n    nonlocal n\n    n+=1\n    return n\n  return inc',
        'c=make()\nassert c()==1 and c()==2',
        True, True,
    ),
    (
        'a stream of the test',
        'def f(s): return s.read().upper()',
        "import io\nassert f(io.StringIO('abc'))=='ABC'",
        True, True,
    ),
    (
        'a tree of the test',
        'def f(root): return 1+max(f(root.left),f(root.right)) if root else 0',
        'class Node:\n  def __init__(self,l=None,r=None): self.left,self.right=l,r\nassert f(Node(Node(),Node(Node())))==3',
        True, True,
    ),
    (
        'a tree of the test that is changed',
        'def f(root):\n  if root:\n    root.left,root.right=root.right,root.left\n    f(root.left);f(root.right)\n  return root',
        'class Node:\n  def __init__(self,v,l=None,r=None): self.v,self.left,self.right=v,l,r\nr=f(Node(1,Node(2),Node(3)))\nassert r.left.v==3 and r.right.v==2',
        True, True,
    ),
    (
        'a decorator',
        'from functools import wraps\ndef deco(fn):\n  @wraps(fn)\n  def w(*a,**k): return fn(*a,**k)*2\n  return w',
        'g=deco(lambda x,y=1:x+y)\nassert g(1)==4 and g(1,y=3)==8',
        True, True,
    ),
    (
        'a context manager',
        'class Ctx:\n  def __enter__(self): self.on=True; return self\n  def __exit__(self,*e): self.on=False; return True',
        'with Ctx() as c:\n  assert c.on\n  raise ValueError\nassert not c.on',
        True, True,
    ),
    (
        'keys and sets',
        "def f(x): return {1:'a',(1,2):{3}}",
        "assert f(0)=={1:'a',(1,2):{3}}",
        True, True,
    ),
    (
        'decimals and dates',
        "import decimal,datetime\ndef f(): return decimal.Decimal('1.5'), datetime.date(2020,1,1)",
        "import decimal,datetime\nassert f()==(decimal.Decimal('1.5'),datetime.date(2020,1,1))",
        True, True,
    ),
    (
        'an exception under pytest',
        "def f(x):\n  if x<0: raise ValueError('neg')",
        "import pytest\nwith pytest.raises(ValueError, match='neg'):\n  f(-1)",
        True, True,
    ),
    (
        'a test case with exceptions',
        "def f(x):\n  if x<0: raise ValueError('neg')",
        'import unittest\nclass T(unittest.TestCase):\n  def test_a(self):\n    self.assertIsNone(f(1))\n    with self.assertRaises(ValueError):\n      f(-1)\nr=unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(T))\nassert r.wasSuccessful()',
        True, True,
    ),
    (
        'a coroutine',
        'async def f(): return 1',
        'import asyncio\nassert asyncio.run(f())==1',
        True, False,
    ),
    (
        'an exception that nobody wants',
        'def f(x): return 1/0',
        'assert f(1)==1',
        False, True,
    ),
    (
        'a match object',
        "import re\ndef f(s): return re.match(r'(\\w)b',s)",
        "m=f('ab')\nassert m and m.group(1)=='a'\nassert f('zz') is None",
        True, True,
    ),
    (
        'static and class methods, properties',
        'class A:\n  @staticmethod\n  def s(x): return x\n  @classmethod\n  def c(cls): return cls()\n  @property\n  def p(self): return 4',
        "assert A.s(3)==3 and isinstance(A.c(),A) and A().p==4\na=A()\na.z=5\nassert a.z==5 and hasattr(a,'z') and not hasattr(a,'q')\nassert callable(A.s)",
        True, True,
    ),
    (
        'arguments by name',
        'def f(*a,**k): return a,k',
        "assert f(1,b=2)==((1,),{'b':2})",
        True, True,
    ),
    (
        'iterators of the test',
        'def f(it): return sum(it)',
        "assert f(x*x for x in range(4))==14\nassert f(iter([1,2]))==3\nassert f(map(int,'12'))==3",
        True, True,
    ),
    (
        'a key function',
        'def f(it): return sorted(it,key=len)',
        "assert f(['bb','a'])==['a','bb']\nassert sorted(['bb','a'],key=lambda s: f([s])[0])==['a','bb']",
        True, True,
    ),
    (
        'recursion',
        'def fib(n): return n if n<2 else fib(n-1)+fib(n-2)',
        'assert [fib(i) for i in range(10)]==[0,1,1,2,3,5,8,13,21,34]\nassert list(map(fib,range(3)))==[0,1,1]',
        True, True,
    ),
    (
        'a module that the answer imports',
        "import json\ndef f(): return json.dumps({'a':1})",
        "assert json.loads(f())=={'a':1}",
        True, True,
    ),
    (
        'a module that nobody imports',
        "def f(): return '{}'",
        'assert json.loads(f())=={}',
        False, True,
    ),
    (
        'modules of the preamble',
        'def f(x): return math.sqrt(x)',
        'assert math.isclose(f(4),2.0)',
        True, True,
    ),
    (
        'a class of the preamble',
        'from itertools import product\ndef f(x): return list(product(x,x))',
        "assert f([1])==[(1,1)]\nassert Counter(f('ab'))==Counter([('a','a'),('a','b'),('b','a'),('b','b')])",
        True, True,
    ),
    (
        'a copy of an object',
        'import copy\nclass A:\n  x=1',
        'import copy\na=A()\nassert copy.copy(a).x==1',
        True, False,
    ),
    (
        'arithmetic of objects that the test makes',
        'class V:\n  def __init__(self, x): self.x = x\n  def __mul__(self, k): return V(self.x * k)\n  def __radd__(self, k): return k + self.x',
        "v = V(2)\nassert (v * 3 * 2).x == 12\nassert 1 + v * 2 == 5\nassert sum([V(4)]) == 4",
        True, True,
    ),
    (
        'a class that compares by a method',
        'class V:\n  def __init__(self, x): self.x = x\n  def equals(self, x): return self.x == x',
        "assert V(2).equals(2)\nassert not V(2).equals(3)",
        True, True,
    ),
    (
        'the end of an iteration, by name',
        'def f(x): raise StopIteration',
        "try: f(1)\nexcept StopIteration: pass\nelse: assert False",
        True, True,
    ),
    (
        'a context manager that swallows errors',
        'class S:\n  def __enter__(self): return self\n  def __exit__(self, *e): return e[0] is ValueError',
        "with S(): raise ValueError\nseen = False\ntry:\n  with S(): raise KeyError\nexcept KeyError: seen = True\nassert seen",
        True, True,
    ),
    (
        'an exception of the answer, raised by the test',
        'class MyE(Exception): pass\ndef f(x):\n  try: x()\n  except MyE as e: return str(e)',
        "def g(): raise MyE('a')\nassert f(g)=='a'",
        True, False,
    ),
]  # fmt: skip


async def score(sandbox: Sandbox, answer: str, test: UnitTest) -> Score:
    ctx = ScoreContext.of(f"```python\n{answer}\n```")
    ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=sandbox)
    return await UnitTests(tests=(test,)).score(ctx)


def verdict(answer: str, content: str, kind: type[Sandbox] = Bubblewrap, **options: Any) -> Score:
    return ROOM.run(score(ROOM.sandbox(kind), answer, UnitTest(content=content, **options)))


@pytest.mark.parametrize(
    ("answer", "content", "passes"),
    [(answer, content, passes) for _, answer, content, passes, _ in HONEST],
    ids=[row[0] for row in HONEST],
)
@pytest.mark.sampled(3)
def test_the_verdict_is_that_of_one_process(answer: str, content: str, passes: bool) -> None:
    if not LEVEL.ci and re.search("pandas|numpy|pytest", content):
        pytest.skip(".ci/run loads large packages")
    apart, together = verdict(answer, content), verdict(answer, content, isolate=False)
    assert (apart.points, together.points) == (passes, passes), (apart, together)


@pytest.mark.parametrize(
    ("content", "apart"),
    [(content, apart) for _, _, content, _, apart in HONEST],
    ids=[row[0] for row in HONEST],
)
def test_which_of_them_run_apart(content: str, apart: bool) -> None:
    language = named("python")
    assert language is not None
    assert (not isolation_of(content, "", language).reason) == apart


@pytest.mark.parametrize("kind", [Cold, PlainProcess])
@pytest.mark.sampled(2)
@pytest.mark.slow
def test_it_is_the_same_without_warm_interpreters(kind: type[Sandbox]) -> None:
    assert verdict("def f(x): return 2 * x", "assert f(2) == 4", kind, isolate=True).points == 1.0
    wrong = verdict("def f(x): return x", "assert f(2) == 4", kind, isolate=True)
    assert (wrong.points, wrong.reason.partition("; ")[2]) == (
        0.0,
        "test 1: AssertionError at line 6",
    )


BEFORE = """\
import math
LIMIT = 10
seen = []
class Node:
    def __init__(self, value): self.value = value
def values(nodes): return [node.value for node in nodes]
def note(value): seen.append(value)
def check(got, wanted): assert got == wanted
def solve(x): pass
"""


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (
            "def solve(n): return [Node(i) for i in range(n)]",
            "assert values(solve(3)) == [0, 1, 2]",
        ),
        ("def solve(n): note(n)", "solve(4)\nassert seen == [4]"),
        ("def solve(node): return node.value + LIMIT", "assert solve(Node(5)) == 15 == LIMIT + 5"),
        ("def solve(n): return math.sqrt(n)", "check(solve(9), 3.0)"),
    ],
)
def test_what_stands_before_the_answer_is_there_for_both(answer: str, content: str) -> None:
    made = verdict(answer, content, before=BEFORE, isolate=True)
    assert made.points == 1.0, made


@pytest.mark.parametrize(
    ("answer", "content", "reason"),
    [
        ("class Odd(int): pass\ndef f(): return Odd(4)", "assert f() == 4", "a Odd cannot cross to the test"),
        ("class Odd:\n    def __sub__(self, other): return 0\ndef f(): return Odd()", "assert abs(f() - 4) < 1", "cannot cross"),
        ("class Odd:\n    def __contains__(self, x): return True\ndef f(): return Odd()", "assert 4 in f()", "cannot cross"),
        ("class Odd:\n    def f(self): return Odd()\n    def __sub__(self, other): return 0", "assert abs(Odd().f() - 4) < 1", "cannot cross"),
        ("class Odd:\n    def f(self): return self\n    def __sub__(self, other): return 0", "assert abs(Odd().f() - 4) < 1", "cannot cross"),
        ("class Odd:\n    def f(self): return Odd()\n    def __contains__(self, x): return True", "assert 4 in Odd().f()", "cannot cross"),
        ("class Odd(str):\n    def startswith(self, x): return True\ndef f(): return Odd()", "assert f().startswith('a')", "cannot cross"),
        ("import pandas as pd\nclass Odd(pd.DataFrame):\n    def equals(self, x): return True\ndef f(): return Odd()",
         "import pandas as pd\nassert f().equals(pd.DataFrame({'a': [1]}))", "cannot cross"),
        ("def f(x): raise StopIteration", "assert all(map(lambda x: f(x) == x, [1, 2]))", "the answer raised StopIteration"),
        ("class Odd:\n    def __enter__(self): return 1\n    def __exit__(self, *error): return True", "with Odd() as got:\n    assert got == 2", "AssertionError"),
        ("class Odd(int): pass\ndef f(): return Odd(4)", "try:\n    f() == 4\nexcept BaseException: pass", "cannot cross"),
        ("def f(): return ' ' * 10**8", "f()", "cannot cross: a value that is too large"),
        ("def f():\n    x = []\n    for _ in range(999): x = [x]\n    return x", "f()", "too deep"),
        ("import os\ndef f(): os._exit(3)", "f()", "exit status 3"),
        ("import os\ndef f(): os._exit(0)", "f()", "ended early: exit status 0"),
        ("def f(): return 1 +", "f()", "SyntaxError"),
        ("raise KeyError('x')", "f()", "KeyError: 'x' at line 5"),
        ("def f(): raise KeyError('x')", "f()", "KeyError: 'x' at line 6"),
        ("import ctypes\ndef f(): ctypes.string_at(0)", "f()", "ended by signal SIGSEGV"),
        ("def f():\n    while True: pass", "f()", "timed out after 2 s"),
        ("def f():\n    x = []\n    while True: x.append(bytearray(10**7))", "f()", "used more memory"),
        ("def f():\n    while True: print('x' * 10000)", "f()", "printed more than allowed"),
        ("g = 1", "f()", "NameError: name 'f' is not defined"),
        ("def f(x): return x", "class A:\n    __slots__ = ()\nimport re\nf(re)", "a module of the test cannot cross to the answer"),
        ("import os\ndef f():\n    for fd in range(3, 9):\n        try: os.write(fd, b'x' * 99)\n        except OSError: pass",
         "f()", "cannot be read"),
    ],
)  # fmt: skip
@pytest.mark.sampled(5)
def test_a_miss_says_why(answer: str, content: str, reason: str) -> None:
    made = verdict(answer, content, isolate=True, timeout=2 if "timed out" in reason else 20)
    assert made.points == 0.0
    assert reason in made.reason, made


def test_what_the_answer_prints_is_kept_in_its_order() -> None:
    answer = "import sys\nprint('module')\ndef f(x):\n    print(x)\n    print('to stderr', file=sys.stderr)"
    made = verdict(answer, "f(1)\nprint('between')\nf(2)", isolate=True)
    (row,) = made.detail["tests"]
    assert row["stdout"].split() == ["module", "1", "between", "2"]
    assert row["stderr"].count("to stderr") == 2


def test_the_two_see_nothing_of_each_other() -> None:
    answer = (
        "import os\ndef look():\n    found = ' '.join(open(f'/proc/{p}/cmdline').read() for p in os.listdir('/proc') if p.isdigit())\n"
        "    return sorted(os.listdir('.')), len([p for p in os.listdir('/proc') if p.isdigit()]) > 9, 'launch' in found\n"
        "open('left', 'w').close()"
    )
    made = verdict(answer, "assert look() == (['left'], False, False), look()", isolate=True)
    assert made.points == 1.0, made


PROBLEMS = [
    ("import os\nassert f()", "it uses the module os"),
    ("assert open('x').read() == f()", "it uses open"),
    ("from unittest.mock import patch\nassert f()", "it uses unittest.mock"),
    ("import random\nrandom.seed(1)\nassert f()", "it uses random.seed"),
    ("import sys\nsys.setrecursionlimit(9)\nassert f()", "it uses sys.setrecursionlimit"),
    ("import time\ntime.sleep = None\nassert f()", "it changes time.sleep"),
    ("N = 3\nassert f() == 3", "it sets N for the answer to read"),
    ("total += 1\nassert f() == 1", "it sets total for the answer to read"),
    (
        "class A(Base): pass\nassert A().x",
        "a definition of its own is made with names of the answer",
    ),
    (
        "@deco\ndef g(): pass\nassert g()",
        "a definition of its own is made with names of the answer",
    ),
    ("class A:\n    x = f(1)\nassert A.x", "a class of its own is made with names of the answer"),
    ("async def g(): return await f()\ng()", "it is asynchronous"),
    ("assert Money(5) == 5", "it compares an object of the answer's class with plain data"),
    (
        "a = Money(5)\nb = a + a\nassert b == 10",
        "it compares an object of the answer's class with plain data",
    ),
    ("x = Box()\nx.items.append(1)\nassert x.size() == 1", "it changes what an object holds"),
    ("x = Box()\nx.items[0] = 1\nassert x.size() == 1", "it changes what an object holds"),
    ("for i in range(10**6):\n    assert f(i) == i", "it calls the answer more than 5,000 times"),
    (
        "assert all(f(i, j) for i in range(100) for j in range(100))",
        "it calls the answer more than 5,000 times",
    ),
    ("assert f.__code__.co_argcount == 1", "it uses __code__"),
    (
        "assert type(Box()).__name__ == 'Box'",
        "it asks for the type of objects of the answer's classes",
    ),
    ("pass", "it uses nothing of the answer by name"),
    ("assert sum([1]) == 1", "it uses nothing of the answer by name"),
    ("assert f(", "the test is not Python by itself"),
    ("raise MyError('x')", "it raises an exception of the answer"),
    ("import warnings\nassert f()", "it uses the module warnings"),
    (
        "import contextlib\nwith contextlib.redirect_stderr(None): f()",
        "it uses contextlib.redirect_stderr",
    ),
    ("shutil.rmtree(f())", "it uses the module shutil"),
]


@pytest.mark.parametrize(("content", "reason"), PROBLEMS)
def test_a_test_that_must_share_a_process_is_told_why(content: str, reason: str) -> None:
    wanted = UnitTests(tests=(UnitTest(content=content, isolate=True),))
    assert list(wanted.problems()) == [f"test 1: it cannot be isolated: {reason}"]
    assert list(UnitTests(tests=(UnitTest(content=content),)).problems()) == []


@pytest.mark.parametrize(
    ("test", "lang", "reason"),
    [
        (UnitTest(content="f()", isolate=True), "javascript", "tests in javascript run in the process"),
        (UnitTest(content="f()", isolate=True, cleanup="x"), "python", "it has a cleanup"),
        (UnitTest(content="f()", isolate=True, before="if"), "python", "what stands before the answer"),
        (UnitTest(content="check(f())", isolate=True, before="seen = []\ndef check(x):\n    seen.append(x)\n    assert x"), "python",
         "check, which stands before the answer, checks something itself"),
    ],
)  # fmt: skip
def test_what_else_keeps_a_test_in_the_process(test: UnitTest, lang: str, reason: str) -> None:
    (problem,) = UnitTests(tests=(test,), lang=lang).problems()
    assert reason in problem


def test_published_numbers_are_made_in_one_process() -> None:
    @dataclass
    class Kept(Sandbox):
        tier: ClassVar[str] = "kept"
        joins: ClassVar[bool] = True
        programs: list[Program] = field(default_factory=list)

        async def run(self, program: Program) -> Ran:
            self.programs.append(program)
            return Ran(code=0, step=0, finished=True, proved=True)

    kept = Kept()
    for compat, isolate in (("original", None), ("original", True), ("", False), ("", None)):
        test = UnitTest(content="assert f(1) == 1", isolate=isolate)
        ctx = ScoreContext.of("def f(x): return x")
        ctx = ScoreContext(case=ctx.case, attempt=ctx.attempt, sandbox=kept)
        asyncio.run((InfiBenchUnitTests if compat else UnitTests)(tests=(test,)).score(ctx))
    assert [program.partner is not None for program in kept.programs] == [False, False, False, True]
    whole, _, late, apart = kept.programs
    assert b"assert f(1)" in whole.files["main.py"]
    assert b"assert f(1)" not in late.files["main.py"]
    assert b"assert f(1)" in late.stdin
    assert apart.partner is not None
    assert b"assert f(1)" not in repr(apart.partner).encode()


@pytest.mark.slow
def test_a_sandbox_that_cannot_keep_them_apart_runs_them_together_unless_told() -> None:
    class Alone(Bubblewrap):
        joins: ClassVar[bool] = False

    assert verdict("def f(x): return x", "assert f(1) == 1", Alone).points == 1.0
    made = verdict("def f(x): return x", "assert f(1) == 1", Alone, isolate=True)
    assert made.status is ScoreStatus.FAILED
    assert "this sandbox cannot run a test apart from the answer" in made.reason
