"""AskBench: its INI files and rows, result folders and command."""

PLUGINS = {
    "dialect": {"askbench": "proctor.origins.askbench.dialect:AskBench"},
    "layout": {"askbench": "proctor.origins.askbench.layout:AskBenchLayout"},
}
SIGNS = {"askbench": {".ini": "", ".cfg": "", ".conf": "", ".jsonl": ""}}
COMMANDS = {
    "askbench": (
        "proctor.origins.askbench.command:askbench",
        "Run AskBench's INI files and result folders.",
    ),
}
