"""AskBench: its INI files and rows, result folders and command."""

PLUGINS = {
    "dialect": {"askbench": "proctor.origins.askbench.dialect:AskBench"},
    "layout": {"askbench": "proctor.origins.askbench.layout:AskBenchLayout"},
}
_ROWS = (
    r'\A(?!\s*\{\s*(?:"id"\s*:\s*(?:"[^"\\]*"|\d+)\s*,\s*)?"(?:ask|ask_file|messages|suite)"\s*:)'
)
"""Rows of any kind but those that begin, after their id, with what a native suite asks."""
SIGNS = {"askbench": {".ini": "", ".cfg": "", ".conf": "", ".jsonl": _ROWS}}
VARIANTS = {
    "scorer": {
        "judged_correct": "proctor.origins.askbench.scorers:AskBenchJudgedCorrect",
        "rubric": "proctor.origins.askbench.scorers:AskBenchRubricItem",
    },
    "dialogue": {
        "clarify": "proctor.origins.askbench.dialogue:AskBenchClarify",
    },
    "measure": {
        "accuracy": "proctor.origins.askbench.measures:AskBenchAccuracy",
        "ask_rate": "proctor.origins.askbench.measures:AskBenchAskRate",
        "clear_direct_rate": "proctor.origins.askbench.measures:AskBenchClearDirectRate",
        "healthbench": "proctor.origins.askbench.measures:AskBenchHealthBench",
        "pass@1": "proctor.origins.askbench.measures:AskBenchPassAt1",
        "score": "proctor.origins.askbench.measures:AskBenchAskScore",
        "unq_rate": "proctor.origins.askbench.measures:AskBenchUnqRate",
        "vague_ask_rate": "proctor.origins.askbench.measures:AskBenchVagueAskRate",
    },
}
FLAGS = (
    ("--guidance", "guidance", "none|weak|strong|fata", "proctor askbench --guidance"),
    ("--strict/--no-strict", "strict", "flag", "proctor askbench --strict"),
)
COMMANDS = {
    "askbench": (
        "proctor.origins.askbench.command:askbench",
        "Run AskBench's INI files and result folders.",
    ),
}
