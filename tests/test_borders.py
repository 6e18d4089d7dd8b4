"""Who may decode what others wrote: a list with reasons, read off the sources.

Files from outside are read by ``text_files``, ``row_files`` and ``yaml_files``, which have limits on
bytes, rows, nesting and numbers and say where something is wrong. Other modules decode only what is
listed here.
"""

import ast
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "src" / "proctor"

DECODERS = (
    "json.load", "json.loads", "orjson.loads", "json_bytes.loads", "csv.reader", "csv.DictReader", "tarfile.open",
    "zipfile.ZipFile", "gzip.open", "bz2.open", "lzma.open", "zipfile.Path", "shutil.unpack_archive",
    "configparser.ConfigParser", "tomllib.load", "tomllib.loads", "plistlib.load", "marshal.load", "sqlite3.connect",
    "pyarrow.parquet.ParquetFile", "pyarrow.parquet.read_table", "pyarrow.parquet.read_schema", "pandas.read_csv",
    "pandas.read_parquet", "pandas.read_json", "numpy.load", "ElementTree.parse", "ElementTree.fromstring",
)  # fmt: skip
READERS = ("read_text", "read_bytes", "open")
"""What reads a whole file, as a method of a path, in the folders that read files of others."""
OUTSIDE = ("formats", "origins", "agents/recorded.py", "models", "reports")

NO_FILES = ("os", "Store", "models", "scorer")
"""What has a method ``open`` that opens no file."""

TALK = "what a process of ours, or one that we started, writes to its pipe"
REPLY = (
    "the reply of a server, a judge or an agent; how large it may be is limited where it comes in"
)
OURS = "a file of this package"
SANDBOX = "what a program in the sandbox printed, whose output is limited"

ALLOWED: dict[str, tuple[set[str], str]] = {
    "io/text_files.py": ({"csv.reader", "json.loads", "orjson.loads"}, "the border"),
    "io/parquet_files.py": ({"json.loads"}, TALK),
    "io/parquet_process.py": (
        {"json.loads", "pyarrow.parquet.ParquetFile", "pyarrow.parquet.read_schema"},
        "the border, in a process whose memory is limited",
    ),
    "io/json_bytes.py": ({"json.loads", "orjson.loads"}, "for what others use it for"),
    "io/row_shares.py": ({"orjson.loads"}, "the border for shares of a large file, in a process whose memory is limited"),
    "formats/native/shares.py": ({"orjson.loads"}, "cells of such a share, in the same process"),
    "web/score_server.py": ({"json_bytes.loads"}, "the body of a request, whose bytes are limited"),
    "engine/bulk/check.py": ({"json_bytes.loads"}, "rows of such a share that were written again, in the same process"),
    "engine/bulk/cases.py": ({"json_bytes.loads"}, "cases of a part, written by a worker of this run"),
    "engine/bulk/score_part.py": ({"json_bytes.loads"}, "cases of a part, written by a worker of this run"),
    "engine/bulk/driver.py": ({"json_bytes.loads"}, "sums of a part, written by a worker of this run"),
    "engine/bulk/worker_process.py": ({"json_bytes.loads"}, TALK),
    "engine/run/program_worker.py": ({"json_bytes.loads"}, TALK),
    "engine/run/program_workers.py": ({"json_bytes.loads"}, TALK),
    "store/sqlite_connection.py": ({"sqlite3.connect"}, "the person's own store"),
    "web/pages/trace_tree.py": ({"json.loads"}, "arguments of a tool as the store has them; what is no JSON is compared as text"),
    "engine/bulk/workers.py": ({"json_bytes.loads"}, TALK),
    "contracts/score_columns.py": ({"json_bytes.loads"}, "details that a scorer wrote in this process"),
    "core/passages.py": ({"json.loads"}, "one cell of a row that the border has read; what is nested too deep is a text"),
    "testing/scripted.py": ({"json_bytes.loads"}, "sums that this process wrote"),
    "store/backup.py": ({"sqlite3.connect"}, "the person's own store, and the copy of it"),
    "origins/arthur/files.py": ({"json.loads"}, "an index that this module wrote; what is none counts as none"),
    "origins/colossal/source.py": ({"json.loads"}, "one key of a text that the border has read"),
    "core/dockerfile.py": ({"json.loads"}, "the words of one line of a text that the border has read"),
    "formats/harbor/reader.py": ({"tomllib.loads"}, "a text that the border has read"),
    "sandboxes/own_root.py": (
        {"json_bytes.loads", "tarfile.open"},
        "an archive of an environment: names, number and bytes are limited",
    ),
    "sandboxes/container_environment.py": (
        {"json.loads", "tarfile.open"},
        "the same archives in a container; what the engine gives is cut at a number of bytes",
    ),
    "scorers/programs/task_tests.py": (
        {"json_bytes.loads", "tarfile.open"},
        "names of an archive of an environment, and a reward of at most 1 MiB",
    ),
    "io/folder_archive.py": ({"tarfile.open"}, "an archive of the sandbox: names, number and bytes are limited"),
    "io/downloads.py": ({"zipfile.ZipFile"}, "wheels of our own table, whose bytes are checked first"),
    "io/zip_members.py": ({"zipfile.ZipFile"}, "the border itself: bytes of each member and of all are limited"),
    "web/compiled_templates.py": ({"marshal.load"}, "templates of ours, as Python's own compiled modules"),
    "store/parts/claims.py": ({"json.loads"}, "64 kB of a file of the store"),
    "contracts/case_spool.py": ({"json_bytes.loads"}, "a temporary database, written by this process"),
    "engine/run/aggregate.py": ({"json_bytes.loads"}, "a temporary database, written by this process"),
    "io/temporary_database.py": ({"sqlite3.connect"}, "a database of this process alone"),
    "io/redaction.py": ({"json_bytes.loads"}, REPLY),
    "store/rows.py": ({"json.loads", "orjson.loads"}, "rows of the store; who asks checks them"),
    "store/parts/files.py": ({"pyarrow.parquet.ParquetFile"}, "files of the store; who asks checks them"),
    "engine/transfer/trajectories.py": ({"json.loads"}, "the text of a stored post; what is no JSON stays a text"),
    "sandboxes/container_engine.py": ({"json.loads"}, "what the container engine of this machine says of itself"),
    "engine/transfer/proof.py": ({"json_bytes.loads"}, "one line that is read again, with all limits, after it"),
    "origins/arthur/rows.py": ({"csv.reader"}, "text that the border has read"),
    "formats/native/dialect.py": ({"csv.reader"}, "the first 64 kB of a file"),
    "origins/colossal/prompts.py": ({"json.loads"}, OURS),
    "origins/colossal/tables.py": ({"csv.reader"}, "text that the border has read"),
    "origins/taskweaver/lines.py": ({"csv.DictReader"}, "text that the border has read"),
    "models/prices.py": ({"json_bytes.loads"}, OURS),
    "models/llama_process.py": ({"json.loads"}, TALK),
    "models/local.py": ({"json.loads"}, TALK),
    "origins/askbench/dialogue.py": ({"json.loads"}, REPLY),
    "engine/models/proxy.py": ({"json_bytes.loads"}, REPLY),
    "engine/models/proxied_replies.py": ({"json_bytes.loads"}, "replies of models: what cannot be read is passed over"),
    "agents/launchers/proctor_acp_turn.py": ({"json.load", "json.loads"}, TALK),
    "agents/launchers/proctor_driver.py": ({"json.loads"}, TALK),
    "agents/launchers/proctor_python.py": ({"json.loads"}, TALK),
    "origins/taskweaver/launcher/proctor_taskweaver.py": ({"json.loads"}, TALK),
    "io/excel_files.py": ({"zipfile.ZipFile"}, "the size of a workbook, before it is read"),
    "api/run_file.py": ({"json.loads"}, "a value of the options of a run file, which the person wrote"),
    "cli/options.py": ({"json.loads"}, "an option of the person at the keyboard"),
    "executors/local.py": ({"json_bytes.loads"}, TALK),
    "executors/worker.py": ({"json_bytes.loads"}, TALK),
    "sandboxes/supervisor_job.py": ({"json_bytes.loads"}, TALK),
    "sandboxes/warm_python.py": ({"json_bytes.loads"}, TALK),
    "core/tool_calls.py": ({"json.loads"}, REPLY),
    "dialogues/launchers/mcp_client.py": ({"json.load", "json.loads"}, "inside the sandbox"),
    "dialogues/mcp_server.py": ({"json.loads"}, SANDBOX),
    "contracts/launchers/tool_calls.py": ({"json.load", "json.loads"}, "inside the sandbox"),
    "contracts/tool_session.py": ({"json.loads"}, SANDBOX),
    "scorers/structured/json_answers.py": ({"json.loads"}, REPLY),
    "scorers/structured/json_paths.py": ({"json.loads"}, "one key of a text that the border has read"),
    "scorers/structured/launchers/query_sql.py": ({"json.load", "sqlite3.connect"}, "inside the sandbox"),
    "scorers/structured/sql_equal.py": ({"json.loads"}, SANDBOX),
    "scorers/structured/state_equal.py": ({"json.loads"}, SANDBOX),
    "scorers/structured/xml.py": ({"ElementTree.fromstring"}, REPLY),
    "scorers/structured/json_schemas.py": ({"json_bytes.loads"}, "a schema that this process wrote"),
    "pytest_plugin/suite_runs.py": ({"json.loads"}, "a file that another worker of the session wrote"),
    "scorers/embedding/bert_score.py": ({"csv.reader", "json.loads"}, "files that the person named for an encoder"),
    "scorers/programs/eval_code.py": ({"json_bytes.loads"}, SANDBOX),
    "scorers/programs/function_call.py": ({"json.load"}, "inside the sandbox"),
    "scorers/programs/launchers/launch_sql.py": ({"sqlite3.connect"}, "inside the sandbox"),
    "scorers/programs/npm_folders.py": ({"json_bytes.loads"}, "package.json of what somebody installed"),
    "origins/askbench/first_fence.py": ({"json.loads"}, REPLY),
    "scorers/programs/python_check.py": ({"json_bytes.loads"}, SANDBOX),
    "origins/taskweaver/scorers.py": ({"json.loads"}, REPLY),
    "scorers/overlap/process.py": ({"json_bytes.loads"}, TALK),
    "scorers/embedding/unieval.py": ({"json_bytes.loads"}, OURS),
    "testing/__main__.py": ({"json_bytes.loads"}, "a script of the person at the keyboard"),
    "testing/batches.py": ({"json_bytes.loads"}, "what a test asks its own server"),
    "testing/replies.py": ({"json_bytes.loads"}, "what a test asks its own server"),
    "testing/server.py": ({"json_bytes.loads"}, "what a test asks its own server"),
    "web/pages/case_list.py": ({"json.loads"}, "a parameter of an address, which is short"),
    "web/share/document.py": ({"json.loads"}, OURS),
    "web/pages/trace.py": ({"json.loads"}, "the attachment of a stored post: what a step took"),
    "web/wording.py": ({"json.loads"}, OURS),
    "web/sentences.py": ({"json.loads"}, OURS),
}  # fmt: skip
READ_WHOLE: dict[str, str] = {
    "origins/askbench/files.py": "the beginning of a file",
    "origins/arthur/dialect.py": "the first line",
    "origins/arthur/folder.py": "the first megabyte",
    "origins/infibench/dialect.py": "the beginning of a file",
    "formats/native/dialect.py": "the first 64 kB",
    "formats/tau/reader.py": "the first 64 kB",
    "origins/taskweaver/dialect.py": "the beginning of a file, and files whose size was looked at",
    "origins/colossal/prompts.py": OURS,
    "formats/native/case_files.py": "files whose size was looked at",
    "formats/native/spot.py": "pictures whose size was looked at",
    "formats/native/writer.py": "written, not read",
    "models/prices.py": OURS,
    "models/replay.py": "hashed bit by bit; written",
    "origins/arthur/files.py": "an index that this module wrote, and a lock",
    "origins/arthur/methods.py": "a prompt that the person named in a notebook",
    "origins/askbench/command.py": "written",
    "origins/askbench/layout.py": "written, and read back at once",
    "origins/askbench/task_summary.py": "written",
    "origins/infibench/layout.py": "written",
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
        "from xml.etree import ElementTree as E\nE.parse('x')", "from proctor.io import json_bytes as w\nw.loads('1')",
        "from proctor.io.json_bytes import loads", "import xml.etree.ElementTree\nxml.etree.ElementTree.parse('x')",
    ],
)  # fmt: skip
def test_a_decoder_is_seen_under_any_name(source: str) -> None:
    assert len(decoders_in(source)) == 1


@pytest.mark.slow
def test_only_those_listed_decode() -> None:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        # What `proctor init` writes for users, and the agent of the tour.
        if {"templates", "tour"} & {*path.parts} and "starter" in path.parts:
            continue
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
            if method in READERS and (holder or method == "open") and holder not in NO_FILES:
                found.add(name)
    assert found == set(READ_WHOLE)
