"""Fuzz the parsers with atheris, which follows the code: one parser a process, for some minutes.

    python benchmarks/fuzz_parsers.py suite -max_total_time=300

Needs `pip install atheris` beside Proctor; the parsers are those of tests/fuzzing.py. What is found
is written to a file `crash-…`, which is given as the last argument to see it once more.
"""

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

with atheris.instrument_imports(include=["proctor", "ruamel", "json", "csv", "configparser"]):
    import fuzz_seeds
    import fuzzing
    import proctor

    # Those that are loaded when they are needed, too: only what is loaded here is followed.
    home = Path(str(proctor.__file__)).parent
    for found in ("formats", "origins", "dialogues", "judging", "scorers"):
        for module in sorted((home / found).rglob("*.py")):
            name = module.relative_to(home).with_suffix("").parts
            if not {"checkpoints", "encoders", "launcher", "launchers"} & {*name}:
                importlib.import_module(".".join(("proctor", *name)).removesuffix(".__init__"))
    for name in ("io.text_files", "io.validation", "io.yaml_files", "agents.recorded_rounds"):
        importlib.import_module(f"proctor.{name}")


def suite(data: bytes) -> None:
    """Take the first byte for the suite, and the rest for its file, or for changes of it."""
    chosen, rest = (data[0], data[1:]) if data else (0, b"")
    dialect, name, files = fuzz_seeds.SEEDS[chosen % len(fuzz_seeds.SEEDS)]
    if chosen < 128:
        rest = fuzz_seeds.mutated(files[name], changes(rest))
    with fuzzing.within():
        fuzzing.read_suite(dialect, name, {**files, name: rest}, named=chosen % 2 == 0)


def changes(data: bytes) -> list[tuple[int, int, int, int]]:
    """Take five bytes each for a mutation."""
    cut = [data[at : at + 5] for at in range(0, min(len(data) - 4, 60), 5)]
    return [(one[0], one[1] << 8 | one[2], one[3], one[4]) for one in cut]


def answers(data: bytes) -> None:
    ending = (".jsonl", ".csv", ".json", "")[data[0] % 4] if data else ""
    with fuzzing.within():
        fuzzing.read_answers(data[1:], ending)


def rounds(data: bytes) -> None:
    with fuzzing.within():
        fuzzing.read_rounds(data[1:], ".json" if data[:1] < b"\x80" else ".jsonl")


def reply(data: bytes) -> None:
    with fuzzing.within():
        fuzzing.read_reply(data.decode("utf-8", "surrogateescape"))


def expression(data: bytes) -> None:
    with fuzzing.within():
        fuzzing.compute(data.decode("utf-8", "replace"))


PARSERS: dict[str, Callable[[bytes], None]] = {
    "suite": suite,
    "answers": answers,
    "rounds": rounds,
    "reply": reply,
    "expression": expression,
}


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in PARSERS:
        sys.exit(f"usage: fuzz_parsers.py {'|'.join(PARSERS)} [libFuzzer's options]")
    parser = PARSERS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, parser)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
