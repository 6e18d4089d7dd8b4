"""InfiBench: its suites, answers, result files and command."""

PLUGINS = {
    "dialect": {"infibench": "proctor.origins.infibench.dialect:InfiBench"},
    "layout": {"infibench": "proctor.origins.infibench.layout:InfiBenchLayout"},
}
_SUITE = r"grading|prompt_path|\.ya?ml|attempt_reduce_mode|(?:full|null)_score_per_question"
SIGNS = {"infibench": {".yaml": _SUITE, ".yml": _SUITE}}
COMMANDS = {
    "infibench": (
        "proctor.origins.infibench.command:infibench",
        "Grade as InfiBench's grader_main.py did.",
    ),
}
