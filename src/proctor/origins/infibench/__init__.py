"""InfiBench: its suites, answers, result files and command."""

PLUGINS = {
    "dialect": {"infibench": "proctor.origins.infibench.dialect:InfiBench"},
    "layout": {"infibench": "proctor.origins.infibench.layout:InfiBenchLayout"},
}
_SUITE = r"grading|prompt_path|\.ya?ml|attempt_reduce_mode|(?:full|null)_score_per_question"
SIGNS = {"infibench": {".yaml": _SUITE, ".yml": _SUITE}}
VARIANTS = {
    "scorer": {
        "blanks": "proctor.origins.infibench.scorers:InfiBenchBlanks",
        "keywords": "proctor.origins.infibench.scorers:InfiBenchKeywords",
        "rouge": "proctor.origins.infibench.scorers:InfiBenchRouge",
        "unit_tests": "proctor.origins.infibench.scorers:InfiBenchUnitTests",
    },
}
COMMANDS = {
    "infibench": (
        "proctor.origins.infibench.command:infibench",
        "Grade as InfiBench's grader_main.py did.",
    ),
}
