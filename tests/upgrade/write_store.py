"""Write a store with one run of every kind, to be opened by later versions.

Started with the interpreter of the version that writes it:
``python tests/upgrade/write_store.py v0_1_0``. What it wrote is never written again.
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FILES = HERE / "files"
PORT = 18461
SERVER = f"http://127.0.0.1:{PORT}"
JUDGE = ("--judge", f"openai:ruler@{SERVER}/judge/v1")


def asked(model: str, *more: str) -> tuple[str, ...]:
    """Return the options that examine a model of the server."""
    return ("--model", f"openai:{model}@{SERVER}/{model}/v1", *more)


RUNS: dict[str, tuple[str, ...]] = {
    "answers": ("quiz.yaml", "--answers", "answers.jsonl"),
    "alpha": ("judged.yaml", *asked("alpha", *JUDGE, "--attempts", "2", "--temperature", "0.5")),
    "beta": ("judged.yaml", *asked("beta", *JUDGE)),
    "panel": ("judged.yaml", *asked("beta", *JUDGE, "--judge", f"openai:second@{SERVER}/judge/v1")),
    "unreadable": ("judged.yaml", *asked("beta", "--judge", f"openai:mumbler@{SERVER}/mumbler/v1")),
    "asking": (
        "asking.yaml",
        *asked("asker", *JUDGE, "--simulator", f"openai:user@{SERVER}/user/v1"),
    ),
    "programs": ("programs.yaml", "--answers", "programs.jsonl"),
    "agent": ("tasks.yaml", "--agent", "python:calculator:answer", *JUDGE),
}
BATTLE = ("battle", "alpha", "beta", *JUDGE)
IMPORTED = "imported"


def judge(messages: list[Any], body: Any) -> str:
    """Rule in the shape that the prompt asks for."""
    text = "\n".join(str(message["content"]) for message in messages)
    if "is_final_answer" in text:
        final = "The sum is 7" in text
        verdict: dict[str, Any] = {
            "is_final_answer": final,
            "is_correct": True if final else None,
            "all_required_points_resolved": final,
            "missing_required_points": [] if final else ["the value of a", "the value of b"],
            "notes": "as scripted",
        }
    elif "score_1" in text:
        verdict = {"reason": "as scripted", "score_1": 7, "score_2": 4}
    elif "is_hit" in text:
        verdict = {"reason": "as scripted", "is_hit": "yes"}
    elif '"rating"' in text:
        verdict = {"reason": "as scripted", "rating": 4}
    elif "criteria_met" in text:
        verdict = {"explanation": "as scripted", "criteria_met": "cure" not in text}
    elif "incorrect" in text:
        verdict = {"reason": "as scripted", "result": "correct"}
    else:
        verdict = {"reason": "as scripted", "result": "yes"}
    return json.dumps(verdict)


def asker(messages: list[Any], body: Any) -> str:
    """Ask once, then answer."""
    return "The sum is 7." if len(messages) > 2 else "How large are a and b?"


def write(store: str, folder: Path) -> dict[str, Any]:
    """Make all runs in a store; return what this version reports of each."""
    from proctor.testing import FakeServer

    roles = {
        "alpha": "Good morning! The Nile. Drink water.",
        "beta": "Hello.",
        "asker": asker,
        "user": "a is 3 and b is 4.",
        "judge": judge,
        "mumbler": "Well, it depends.",
    }
    with FakeServer(roles=roles, port=PORT):
        for name, options in RUNS.items():
            proctor(folder, "run", *options, "--name", name, "--store", store)
        proctor(folder, *BATTLE, "--store", store)
        elsewhere = str(folder / "elsewhere.db")
        quiz = ("run", *RUNS["answers"], "--name", IMPORTED, "--limit", "3")
        proctor(folder, *quiz, "--store", elsewhere)
        proctor(folder, "export", IMPORTED, "--out", "imported.jsonl", "--store", elsewhere)
        proctor(folder, "import", "imported.jsonl", "--store", store)
    write_label(store)
    write_bench(store)
    names = (*RUNS, IMPORTED)
    report = ("--format", "json", "--cases", "--store", store)
    return {name: json.loads(proctor(folder, "report", name, *report)) for name in names}


def proctor(folder: Path, *args: str) -> str:
    """Call the command of this version."""
    command = [sys.executable, "-m", "proctor.cli.main", *args]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def write_label(store: str) -> None:
    """Mark one attempt by hand."""
    from proctor.store.rows import Label
    from proctor.store.store import Store

    with Store.open(store) as opened:
        run = opened.runs.get("alpha")
        opened.labels.add(
            Label(
                run_id=run.id, case_id="greeting", index=0, criterion="judged", points=0.0,
                note="too short", author="a person", created=1.7e9,
            )
        )  # fmt: skip


def write_bench(store: str) -> None:
    """Keep a suite and a run of Arthur Bench's Python API."""
    from proctor.bench import TestSuite

    suite = TestSuite(
        "bench_quiz", "exact_match", input_text_list=["up?"], reference_output_list=["down"],
        store=store,
    )  # fmt: skip
    suite.run("bench_run", candidate_output_list=["down"])


def main(version: str) -> None:
    """Write the store of a version: as an SQLite file, and as SQL for PostgreSQL."""
    target = HERE / version
    target.mkdir()
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name) / "files"
        shutil.copytree(FILES, folder)
        reports = write(str(folder / "proctor.db"), folder)
        compact(folder / "proctor.db")
        (target / "store.db.gz").write_bytes(gzip.compress((folder / "proctor.db").read_bytes()))
        text = json.dumps(reports, indent=1, ensure_ascii=False)
        (target / "reports.json").write_text(text + "\n", encoding="utf-8")
        (target / "store.sql.gz").write_bytes(gzip.compress(on_postgresql(Path(name), folder)))


def compact(path: Path) -> None:
    """Leave one file, without its log."""
    import sqlite3

    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("VACUUM")
    connection.close()


def on_postgresql(place: Path, folder: Path) -> bytes:
    """Make the same runs in a PostgreSQL store, and return it as SQL."""
    import pgserver

    running = pgserver.get_server(place / "data", cleanup_mode="stop")
    try:
        write(running.get_uri(), folder)
        dump = Path(pgserver.__file__).parent / "pginstall" / "bin" / "pg_dump"
        options = ["--no-owner", "--no-privileges", "--inserts"]
        command = [str(dump), *options, running.get_uri()]
        return subprocess.run(command, check=True, capture_output=True).stdout
    finally:
        running.cleanup()


if __name__ == "__main__":
    main(sys.argv[1])
