"""Who may start a process, or import by name: a list with reasons, read off the sources.

A module that is not listed starts nothing and imports nothing by a name that it was given. None of
those that are listed passes on a name, a path or an environment of a suite.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src" / "proctor"

# What starts a process, or finds a program to start.
STARTS = (
    "subprocess.*", "os.exec*", "os.spawn*", "os.posix_spawn*", "os.system", "os.popen", "os.fork*",
    "os.startfile", "pty.*", "multiprocessing.*", "concurrent.futures.ProcessPoolExecutor",
    "asyncio.create_subprocess_*", "*.subprocess_exec", "*.subprocess_shell", "webbrowser.*",
    "shutil.which", "ctypes.util.find_library", "uuid.getnode", "uuid.uuid1", "platform.processor",
    "platform.architecture", "ray.init", "pydantic_monty.Monty",
    "proctor.io.child_processes.*", "proctor.io.search_paths.find_installed",
)  # fmt: skip
# What imports by a name, changes where modules come from, or runs a text or an object.
IMPORTS = (
    "importlib.import_module", "importlib.reload", "importlib.util.*", "importlib.machinery.*",
    "importlib.metadata.*", "importlib.abc.*", "__import__", "runpy.*", "pkgutil.*", "zipimport.*",
    "imp.*", "site.*", "code.*", "codeop.*", "exec", "eval", "compile", "sys.path", "sys.meta_path",
    "sys.path_hooks", "pickle.*", "marshal.load*", "shelve.*", "dill.*", "cloudpickle.*", "joblib.*",
    "torch.load", "*.exec_module", "*.load_module", "ctypes.CDLL", "ctypes.cdll.*", "ctypes.PyDLL",
    "proctor.io.search_paths.trust_folders", "proctor.io.search_paths.importing_from",
    "proctor.io.search_paths.installed_entry_points",
)  # fmt: skip
# Only types, constants and exceptions.
HARMLESS = (
    "subprocess.DEVNULL", "subprocess.PIPE", "subprocess.Popen", "subprocess.SubprocessError",
    "subprocess.TimeoutExpired", "importlib.metadata.EntryPoint", "asyncio.subprocess.*",
    "importlib.metadata.PackageNotFoundError", "importlib.machinery.ModuleSpec",
    "importlib.machinery.EXTENSION_SUFFIXES",
    "proctor.io.child_processes.is_secret", "proctor.io.child_processes.OUTSIDE",
)  # fmt: skip
# Called with a name that is written there, these find or import what we chose.
BY_LITERAL = (
    "ctypes.CDLL", "importlib.import_module", "importlib.util.find_spec", "importlib.metadata.version",
    "proctor.io.search_paths.find_installed",
)  # fmt: skip

BUILT_IN = ("__import__", "compile", "eval", "exec")
# Named as a whole, whichever part of it is used.
WHOLE = ("importlib.machinery.PathFinder.*",)

COMPILED = "methods of our own dataclasses, of the names of their fields"
OURS = "by a table in the sources; no name of a suite gets into it"
INSIDE = "runs inside the sandbox, where programs are run"
AGENTS = "in the process of an agent, which the person named"

ALLOWED: dict[str, tuple[set[str], str]] = {
    "agents/coding.py": ({"proctor.io.child_processes.tool_environment"}, AGENTS),
    "agents/coding_inside.py": (
        {"proctor.io.child_processes.find_program", "proctor.io.child_processes.probe"},
        "finds node and the libraries it loads, to mount them where an agent works",
    ),
    "agents/confinement.py": ({"proctor.io.child_processes.find_program"}, AGENTS),
    "agents/launchers/proctor_acp_turn.py": ({"subprocess.Popen()"}, AGENTS),
    "agents/launchers/proctor_inside.py": ({"subprocess.call"}, AGENTS),
    "io/child_processes.py": (
        {"asyncio.create_subprocess_exec", "shutil.which", "subprocess.Popen()"},
        "the one place that starts processes: whole paths, outside of suites, cleaned variables",
    ),
    "io/process_memory.py": (
        {"importlib.abc.MetaPathFinder", "sys.meta_path"},
        "keeps one library from being imported for nothing; imports nothing itself",
    ),
    "io/search_paths.py": (
        {"importlib.machinery.ExtensionFileLoader", "importlib.machinery.FileFinder",
         "importlib.machinery.PathFinder", "importlib.machinery.SourceFileLoader",
         "importlib.metadata.distributions", "importlib.metadata.packages_distributions",
         "sys.meta_path", "sys.path", "sys.path_hooks"},
        "the one place that says where modules come from; looks up the first part of names only",
    ),
    "engine/run/plugin_sources.py": (
        {"proctor.io.search_paths.find_installed"},
        "where the modules lie that a person's own plugin imports: read and hashed, not imported",
    ),
    "scorers/programs/python_packages.py": (
        {"proctor.io.search_paths.find_installed"},
        "whether the packages are installed that code of a suite imports; imports none of them",
    ),
    "__main__.py": ({"sys.path"}, "leaves the working directory, which python -m puts first"),
    "__init__.py": ({"importlib.import_module"}, OURS),
    "_moved.py": (
        {"importlib.import_module", "importlib.util.find_spec", "sys.meta_path"}, OURS
    ),
    "origin_tables.py": ({"importlib.import_module"}, OURS),
    "cli/main.py": ({"importlib.import_module"}, OURS),
    "cli/demo.py": (
        {"proctor.io.child_processes.find_program"},
        "looks where Proctor itself lies, to say how it is called; starts nothing",
    ),
    "cli/doctor.py": ({"importlib.metadata.version"}, OURS),
    "api/function_identity.py": (
        {"pickle.dumps", "pickle.PicklingError"},
        "tables that a function uses are hashed as they would be written; nothing is read",
    ),
    "api/options.py": (
        {"proctor.io.search_paths.trust_folders"},
        "with allow_import=True, by which the program lets the suite's own modules be imported",
    ),
    "scorers/__init__.py": ({"importlib.import_module"}, OURS),
    "cli/options.py": (
        {"proctor.io.search_paths.trust_folders"},
        "with --allow-import, by which the person lets the suite's own modules be imported",
    ),
    "registry.py": (
        {"importlib.import_module", "proctor.io.search_paths.installed_entry_points"},
        "our table, plugins that somebody installed, and module:Class with --allow-import alone",
    ),
    "io/downloads.py": (
        {"proctor.io.child_processes.own_module", "proctor.io.child_processes.probe",
         "proctor.io.child_processes.tool_environment"},
        "pip, for packages that our own tables name; their bytes are checked",
    ),
    "origins/arthur/own_scorers.py": (
        {"importlib.import_module"},
        "a scorer that the notebook passed, or a stored one with allow_import=True",
    ),
    "engine/agents/setup.py": (
        {"proctor.io.search_paths.find_installed"},
        "the packages that a case depends on are looked up, by the first part, without importing",
    ),
    "io/parquet_files.py": (
        {"proctor.io.child_processes.own_environment", "proctor.io.child_processes.own_module",
         "proctor.io.child_processes.popen"},
        "what decodes Parquet: this interpreter, our own module, no keys; the file is its input",
    ),
    "io/message_process.py": (
        {"proctor.io.child_processes.own_environment", "proctor.io.child_processes.own_module",
         "proctor.io.child_processes.spawn"},
        "workers of large runs: this interpreter, our own module, keys only for parts at an address",
    ),
    "executors/local.py": (
        {"proctor.io.child_processes.own_environment", "proctor.io.child_processes.own_module",
         "proctor.io.child_processes.spawn"},
        "grading processes: this interpreter, our own module",
    ),
    "executors/worker.py": ({"sys.path"}, "takes the path of the process that it works for"),
    "executors/ray.py": ({"ray.init"}, "the cluster that the person named"),
    "executors/ray_worker.py": ({"sys.path"}, "takes the path of the process that it works for"),
    "models/local.py": (
        {"proctor.io.child_processes.own_environment", "proctor.io.child_processes.own_module",
         "proctor.io.child_processes.spawn"},
        "the process that serves weights: this interpreter, our own module",
    ),
    "scorers/overlap/process.py": (
        {"proctor.io.child_processes.own_environment", "proctor.io.child_processes.own_module",
         "proctor.io.child_processes.popen"},
        "overlap beside the grading process: this interpreter, our own module, no keys",
    ),
    "scorers/embedding/checkpoints.py": ({"importlib.metadata.version", "importlib.util.find_spec"}, OURS),
    "scorers/overlap/values.py": (
        {"importlib.import_module"}, "the formulas that the class of a scorer names, no suite"
    ),
    "scorers/maths/comparing.py": ({"importlib.metadata.version"}, OURS),
    "scorers/text/conditions.py": (
        {"pydantic_monty.Monty"},
        "the interpreter of conditions, which comes with its package",
    ),
    "core/python_snippet.py": ({"compile"}, "reads the text of a suite into a tree; runs nothing"),
    "scorers/programs/toolchains.py": (
        {"proctor.io.child_processes.find_program", "proctor.io.child_processes.probe",
         "proctor.io.search_paths.find_installed"},
        "toolchains of our own table; packages are looked up by names, without importing",
    ),
    "scorers/programs/npm_folders.py": (
        {"proctor.io.child_processes.find_program", "proctor.io.child_processes.probe"},
        "npm, asked where it installs for everybody",
    ),
    "sandboxes/bubblewrap.py": (
        {"proctor.io.child_processes.find_program", "proctor.io.child_processes.probe"},
        "bubblewrap itself, tried once",
    ),
    "sandboxes/own_root.py": (
        {"proctor.io.child_processes.probe"},
        "bubblewrap itself, tried once with /usr/bin/true",
    ),
    "sandboxes/door.py": ({"subprocess.run"}, INSIDE),
    "sandboxes/container.py": (
        {"proctor.io.child_processes.probe"},
        "docker or podman, with an image that the person named",
    ),
    "sandboxes/container_environment.py": (
        {"importlib.util.find_spec", "proctor.io.child_processes.probe",
         "proctor.io.child_processes.spawn"},
        "docker or podman, with the image of a task; where the package of a fixed name is",
    ),
    "sandboxes/container_engine.py": (
        {"proctor.io.child_processes.find_program", "proctor.io.child_processes.probe",
         "proctor.io.child_processes.tool_environment"},
        "docker or podman: which of them is here, and the end of a container",
    ),
    "sandboxes/privileges.py": (
        {"proctor.io.child_processes.probe"}, "a shell that does nothing, tried once",
    ),
    "sandboxes/supervisor_job.py": (
        {"proctor.io.child_processes.spawn"},
        "the sandbox around a program; what is inside it gets by the supervisor",
    ),
    "sandboxes/plain_process.py": (
        {"proctor.io.child_processes.tool_environment"},
        "no boundary, as it says; but its programs do not search the working directory",
    ),
    "sandboxes/warm_python.py": (
        {"proctor.io.child_processes.spawn"},
        "the sandbox around a warm interpreter, the same",
    ),
    "sandboxes/supervise.py": ({"marshal.loads", "os.execvpe", "os.fork", "sys.path"}, INSIDE),
    "sandboxes/warm_supervisor.py": ({"marshal.loads", "os.fork", "sys.path"}, INSIDE),
    "records.py": ({"exec"}, COMPILED),
    "core/late_code.py": ({"exec"}, COMPILED),
    "engine/bulk/inputs.py": (
        {"importlib.import_module"}, "numpy, in another thread, while the first rows are checked"
    ),
    "web/compiled_templates.py": ({"marshal.load"}, "templates of ours, kept beside our compiled modules"),
    "web/store_pool.py": (
        {"importlib.import_module"}, "what reads the files of large runs: three names in the sources"
    ),
    "sandboxes/zygote.py": (
        {"compile", "exec", "importlib.import_module", "marshal.loads", "os.fork", "sys.path"},
        INSIDE,
    ),
    "scorers/programs/function_call.py": (
        {"compile", "exec", "importlib.import_module", "os.fork", "sys.path"}, INSIDE,
    ),
    "scorers/programs/python_test_programs.py": (
        {"compile"}, "makes the bytecode of a suite's test; runs nothing",
    ),
    "scorers/programs/launchers/answer_side.py": ({"compile", "exec"}, INSIDE),
    "scorers/programs/launchers/launch.py": ({"os.fork", "sys.path"}, INSIDE),
    "scorers/programs/launchers/pristine.py": (
        {"compile", "exec", "importlib.import_module", "sys.meta_path", "sys.path",
         "sys.path_hooks"},
        INSIDE,
    ),
    "scorers/programs/launchers/rehearsal.py": ({"compile", "os.fork"}, INSIDE),
    "scorers/programs/launchers/test_side.py": (
        {"compile", "exec", "importlib.import_module", "marshal.loads"}, INSIDE,
    ),
    "agents/function.py": (
        {"proctor.io.search_paths.importing_from"},
        "an agent that the person wants in this very process",
    ),
    "agents/process.py": (
        {"*.subprocess_exec", "proctor.io.child_processes.find_program"},
        "the keeper of an agent's process, in the attempt's own folder; the agent is the person's",
    ),
    "agents/sessions.py": (
        {"proctor.io.child_processes.own_environment"},
        "the environment of the person's own agent, in which no working directory is searched",
    ),
    "agents/source_hash.py": ({"sys.path"}, "reads the text of the person's agent; imports nothing"),
    "agents/launchers/proctor_calling.py": (
        {"*.exec_module", "importlib.import_module", "importlib.util.module_from_spec",
         "importlib.util.spec_from_file_location"},
        AGENTS,
    ),
    "dialogues/launchers/mcp_client.py": ({"subprocess.Popen()"}, INSIDE),
    "contracts/launchers/tool_calls.py": ({"compile", "exec"}, INSIDE),
    "agents/launchers/proctor_driver.py": ({"importlib.import_module", "sys.path"}, AGENTS),
    "agents/launchers/proctor_keeper.py": ({"os.execvp", "os.fork"}, AGENTS),
}  # fmt: skip


def chain(node: ast.expr) -> tuple[str, ...]:
    """Return the parts of a dotted name; none where it begins with something else than a name."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (*chain(node.value), node.attr) if chain(node.value) else ()
    return ()


def imported(tree: ast.AST) -> dict[str, str]:
    """Return what the names that a source imports stand for."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


@cache
def matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def meaning(node: ast.expr, names: dict[str, str]) -> str:
    """Return what a name means, if that is among what is looked for; else nothing."""
    if isinstance(node, ast.Attribute):
        anybody = f"*.{node.attr}"
        if anybody in STARTS + IMPORTS:
            return anybody
    parts = chain(node)
    if not parts:
        return ""
    if len(parts) == 1 and parts[0] in BUILT_IN and parts[0] not in names:
        return parts[0]
    if parts[0] not in names:
        return ""
    whole = ".".join((names[parts[0]], *parts[1:]))
    return whole if matches(whole, STARTS + IMPORTS) else ""


def used(text: str) -> Iterator[str]:
    """Yield what a source uses that starts processes or imports by name."""
    tree = ast.parse(text)
    names = imported(tree)
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        name = meaning(node, names) if isinstance(node, ast.Name | ast.Attribute) else ""
        call = calls.get(id(node))
        first = call.args[0] if call is not None and call.args else None
        if name == "subprocess.Popen" and call is not None:
            yield "subprocess.Popen()"
        elif name in BY_LITERAL and isinstance(first, ast.Constant):
            continue
        elif name and not matches(name, HARMLESS):
            yield next((p.removesuffix(".*") for p in WHOLE if fnmatchcase(name, p)), name)


@pytest.mark.slow
def test_only_those_listed_start_processes_or_import_by_name() -> None:
    found = {
        str(path.relative_to(SOURCES)): names
        for path in sorted(SOURCES.rglob("*.py"))
        if (names := set(used(path.read_text(encoding="utf-8"))))
    }
    assert found == {name: names for name, (names, _) in ALLOWED.items()}


def test_each_has_its_reason() -> None:
    assert all(len(reason.split()) > 3 for _, reason in ALLOWED.values())


@pytest.mark.parametrize(
    "text",
    [
        "import subprocess\nsubprocess.run(['x'])",
        "import subprocess as s\ns.check_output('x')",
        "from subprocess import run as go\ngo('x')",
        "import os\nos.system('x')",
        "from os import execv\nexecv('x', [])",
        "import asyncio\nasyncio.create_subprocess_shell('x')",
        "def f(loop):\n    loop.subprocess_exec(None, 'x')",
        "import multiprocessing.pool as p\np.Pool()",
        "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor()",
        "import importlib\ndef f(name):\n    importlib.import_module(name)",
        "from importlib.util import find_spec\ndef f(name):\n    find_spec(name)",
        "from importlib import metadata\nmetadata.entry_points()",
        "def f(name):\n    __import__(name)",
        "import sys\nsys.path.insert(0, '')",
        "import runpy\nrunpy.run_path('x')",
        "import pickle\npickle.loads(b'')",
        "def f(spec):\n    spec.loader.exec_module(1)",
        "import ctypes\nctypes.cdll.LoadLibrary('x')",
        "def f():\n    import subprocess\n    return subprocess.getoutput('x')",
        "from proctor.io import child_processes\nchild_processes.probe(['x'])",
    ],
)  # fmt: skip
def test_the_list_would_miss_none_of_these(text: str) -> None:
    assert list(used(text))


@pytest.mark.parametrize(
    "text",
    [
        "from importlib.util import find_spec\nfind_spec('jieba')",
        "import re\nre.compile('x')",
        "def f(code):\n    return code.strip()",
        "import asyncio\ndef f(p: asyncio.subprocess.Process): ...",
    ],
)
def test_what_is_harmless_needs_no_place_in_the_list(text: str) -> None:
    assert not list(used(text))
