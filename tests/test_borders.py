"""Who may decode what others wrote: a list with reasons, read off the sources.

Files from outside are read by ``source``, ``row_source`` and ``yaml_source``, which have limits on
bytes, rows, nesting and numbers and say where something is wrong. Other modules decode only what is
listed here.
"""

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src" / "proctor"

DECODERS = (
    "json.load", "json.loads", "orjson.loads", "wire.loads", "csv.reader", "csv.DictReader", "tarfile.open",
    "zipfile.ZipFile", "gzip.open", "bz2.open", "lzma.open", "zipfile.Path", "shutil.unpack_archive",
    "configparser.ConfigParser", "tomllib.load", "tomllib.loads", "plistlib.load", "marshal.load", "sqlite3.connect",
    "pyarrow.parquet.ParquetFile", "pyarrow.parquet.read_table", "pyarrow.parquet.read_schema", "pandas.read_csv",
    "pandas.read_parquet", "pandas.read_json", "numpy.load", "ElementTree.parse", "ElementTree.fromstring",
)  # fmt: skip
READERS = ("read_text", "read_bytes", "open")
"""What reads a whole file, as a method of a path, in the folders that read files of others."""
OUTSIDE = ("dialects", "recorded_rounds.py", "models", "reports")

TALK = "what a process of ours, or one that we started, writes to its pipe"
REPLY = (
    "the reply of a server, a judge or an agent; how large it may be is limited where it comes in"
)
OURS = "a file of this package"
SANDBOX = "what a program in the sandbox printed, whose output is limited"

ALLOWED: dict[str, tuple[set[str], str]] = {
    "source.py": ({"csv.reader", "json.loads"}, "the border"),
    "row_source.py": ({"json.loads"}, TALK),
    "parquet_process.py": (
        {"json.loads", "pyarrow.parquet.ParquetFile", "pyarrow.parquet.read_schema"},
        "the border, in a process whose memory is limited",
    ),
    "wire.py": ({"json.loads", "orjson.loads"}, "for what others use it for"),
    "bench/files.py": ({"json.loads"}, "an index that this module wrote; what is none counts as none"),
    "dialects/colossal_source.py": ({"json.loads"}, "one key of a text that the border has read"),
    "packed.py": ({"tarfile.open"}, "an archive of the sandbox: names, number and bytes are limited"),
    "fetched.py": ({"zipfile.ZipFile"}, "wheels of our own table, whose bytes are checked first"),
    "spooled.py": ({"wire.loads"}, "a temporary database, written by this process"),
    "temporary_database.py": ({"sqlite3.connect"}, "a database of this process alone"),
    "redaction.py": ({"wire.loads"}, REPLY),
    "store/document.py": ({"json.loads", "orjson.loads"}, "rows of the store; who asks checks them"),
    "engine/transfer_proof.py": ({"wire.loads"}, "one line that is read again, with all limits, after it"),
    "dialects/bench_rows.py": ({"csv.reader"}, "text that the border has read"),
    "dialects/native_look.py": ({"csv.reader"}, "the first 64 kB of a file"),
    "dialects/colossal_prompts.py": ({"json.loads"}, OURS),
    "reports/colossal_tables.py": ({"csv.reader"}, "text that the border has read"),
    "reports/taskweaver_lines.py": ({"csv.DictReader"}, "text that the border has read"),
    "models/prices.py": ({"wire.loads"}, OURS),
    "models/llama_process.py": ({"json.loads"}, TALK),
    "models/local.py": ({"json.loads"}, TALK),
    "dialogues/verdicts.py": ({"json.loads"}, REPLY),
    "engine/proxy.py": ({"wire.loads"}, REPLY),
    "engine/proxy_calls.py": ({"wire.loads"}, REPLY),
    "candidates/launchers/proctor_driver.py": ({"json.loads"}, TALK),
    "candidates/launchers/proctor_python.py": ({"json.loads"}, TALK),
    "candidates/launchers/proctor_taskweaver.py": ({"json.loads"}, TALK),
    "cli/agent_options.py": ({"json.loads"}, "an option of the person at the keyboard"),
    "executors/local.py": ({"wire.loads"}, TALK),
    "executors/worker.py": ({"wire.loads"}, TALK),
    "sandboxes/processes.py": ({"wire.loads"}, TALK),
    "sandboxes/warm_python.py": ({"wire.loads"}, TALK),
    "scorers/bert_score.py": ({"csv.reader", "json.loads"}, "files that the person named for an encoder"),
    "scorers/eval_code.py": ({"wire.loads"}, SANDBOX),
    "scorers/function_call.py": ({"json.load"}, "inside the sandbox"),
    "scorers/launchers/launch_sql.py": ({"sqlite3.connect"}, "inside the sandbox"),
    "scorers/maths_process.py": ({"json.loads"}, TALK),
    "scorers/npm_folders.py": ({"wire.loads"}, "package.json of what somebody installed"),
    "judge/first_fence.py": ({"json.loads"}, REPLY),
    "scorers/python_check.py": ({"wire.loads"}, SANDBOX),
    "scorers/scoring_point.py": ({"json.loads"}, REPLY),
    "scorers/text_process.py": ({"wire.loads"}, TALK),
    "scorers/unieval.py": ({"wire.loads"}, OURS),
    "testing/__main__.py": ({"wire.loads"}, "a script of the person at the keyboard"),
    "testing/replies.py": ({"wire.loads"}, "what a test asks its own server"),
    "testing/server.py": ({"wire.loads"}, "what a test asks its own server"),
    "web/run.py": ({"json.loads"}, "a parameter of an address, which is short"),
    "web/share/document.py": ({"json.loads"}, OURS),
    "web/wording.py": ({"json.loads"}, OURS),
}  # fmt: skip
READ_WHOLE: dict[str, str] = {
    "dialects/askbench_files.py": "the beginning of a file",
    "dialects/bench.py": "the first line",
    "dialects/bench_folder.py": "the first megabyte",
    "dialects/infibench.py": "the beginning of a file",
    "dialects/native_look.py": "the first 64 kB",
    "dialects/taskweaver.py": "the beginning of a file, and files whose size was looked at",
    "dialects/colossal_prompts.py": OURS,
    "dialects/native_files.py": "files whose size was looked at",
    "dialects/native_spot.py": "pictures whose size was looked at",
    "dialects/native_writer.py": "written, not read",
    "models/prices.py": OURS,
    "models/replay.py": "hashed bit by bit; written",
    "reports/askbench.py": "written, and read back at once",
    "reports/askbench_final.py": "written",
    "reports/infibench.py": "written",
}


def called(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def named(source: str) -> set[str]:
    """Return all that a module names with a dot, under the real names of what it imports."""
    tree = ast.parse(source)
    real: dict[str, str] = {}
    dotted: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            real |= {name.asname: name.name for name in node.names if name.asname}
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = node.module.removeprefix("proctor").removeprefix(".")
            for name in node.names:
                dotted.add(f"{module}.{name.name}".removeprefix("."))
                real[name.asname or name.name] = f"{module}.{name.name}".removeprefix(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            root, dot, rest = ast.unparse(node).partition(".")
            dotted.add(real.get(root, root) + dot + rest)
    return dotted


def decoders_in(source: str) -> set[str]:
    names = named(source)
    return {
        name
        for name in DECODERS
        if any(each == name or each.endswith(f".{name}") for each in names)
    }


@pytest.mark.parametrize(
    "source",
    [
        "import json\njson.loads('1')", "import json as j\nj.loads('1')", "from json import loads",
        "from json import loads as read", "import json\nread = json.loads",
        "from functools import partial\nimport json\nread = partial(json.loads, x=1)",
        "from xml.etree import ElementTree as E\nE.parse('x')", "from proctor import wire as w\nw.loads('1')",
        "from proctor.wire import loads", "import xml.etree.ElementTree\nxml.etree.ElementTree.parse('x')",
    ],
)  # fmt: skip
def test_a_decoder_is_seen_under_any_name(source: str) -> None:
    assert len(decoders_in(source)) == 1


def test_only_those_listed_decode() -> None:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        names = decoders_in(path.read_text(encoding="utf-8"))
        if names:
            found[str(path.relative_to(SOURCES))] = names
    assert found == {name: names for name, (names, _) in ALLOWED.items()}


def test_files_of_others_are_read_at_the_border() -> None:
    found = set()
    for path in sorted(SOURCES.rglob("*.py")):
        name = str(path.relative_to(SOURCES))
        if not name.startswith(OUTSIDE):
            continue
        for call in called(path):
            holder, _, method = call.rpartition(".")
            if method in READERS and (holder or method == "open") and holder != "os":
                found.add(name)
    assert found == set(READ_WHOLE)
