"""Compare the checks of instructions with those of lm-evaluation-harness, on the same answers.

    python tests/scorers/instructions/compare_with_lm_eval.py LM_EVAL_PYTHON

LM_EVAL_PYTHON is the Python of an environment of its own, with ``pip install lm-eval langdetect
immutabledict nltk``. Its checks of sentences need NLTK's data ``punkt_tab`` where NLTK looks for
it (``NLTK_DATA``). It is no part of the tests: nothing of that program is installed for them.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
QUESTION = "Write two lines about the river."


def rows() -> list[dict[str, Any]]:
    """Return the table of answers as rows of JSON."""
    sys.path.insert(0, str(HERE))
    from answers import ANSWERS

    return [
        {"kind": kind, "params": params, "answer": answer, "followed": followed}
        for kind, table in ANSWERS.items()
        for params, answer, followed in table
    ]


def rule_as_lm_eval() -> None:
    """Print for each row what lm-eval rules, strictly and loosely, or why it cannot."""
    from lm_eval.tasks.ifeval import utils  # type: ignore[import-not-found]

    ruled: list[Any] = []
    for row in json.load(sys.stdin):
        asked = utils.InputExample(
            key=1, instruction_id_list=[row["kind"]], prompt=QUESTION, kwargs=[row["params"]]
        )
        try:
            ruled.append(
                [
                    check(asked, row["answer"]).follow_all_instructions
                    for check in (
                        utils.test_instruction_following_strict,
                        utils.test_instruction_following_loose,
                    )
                ]
            )
        except Exception as error:  # noqa: BLE001 - whatever it raises is what is told
            ruled.append(f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")
    sys.stdout.write("\n" + json.dumps(ruled))


def rule_as_proctor(row: dict[str, Any]) -> list[bool]:
    from proctor.scorers.instructions.following import Instructions

    one = ({"id": row["kind"], **row["params"]},)
    return [
        Instructions(instructions=one, loose=loose).score_texts(row["answer"], ()).points == 1
        for loose in (False, True)
    ]


def compare(python: str) -> int:
    table = rows()
    done = subprocess.run(
        [python, __file__, "--inside"],
        input=json.dumps(table), capture_output=True, text=True, check=True,
    )  # fmt: skip
    theirs = json.loads(done.stdout.splitlines()[-1])
    failed = [ruling for ruling in theirs if isinstance(ruling, str)]
    print(f"answers: {len(table)}; not ruled by lm-eval: {len(failed)}")
    for message in sorted(set(failed)):
        print(f"  {message}")
    for place, way in enumerate(("strict", "loose")):
        differing = [
            (row, ours[place])
            for row, ruling in zip(table, theirs, strict=True)
            if not isinstance(ruling, str)
            and (ours := rule_as_proctor(row))[place] != ruling[place]
        ]
        print(f"{way}: {len(table) - len(failed) - len(differing)} alike, {len(differing)} not")
        for row, ours_is in differing:
            print(f"  {row['kind']} {row['params']} {row['answer']!r}: ours {ours_is}")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        rule_as_lm_eval()
    else:
        sys.exit(compare(sys.argv[1]))
