"""InfiBench: its suites, answers, result files and command."""

PLUGINS = {
    "dialect": {"infibench": "proctor.origins.infibench.dialect:InfiBench"},
    "layout": {"infibench": "proctor.origins.infibench.layout:InfiBenchLayout"},
}
COMMANDS = {
    "infibench": (
        "proctor.origins.infibench.command:infibench",
        "Grade as InfiBench's grader_main.py did.",
    ),
}
