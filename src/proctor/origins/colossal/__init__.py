"""ColossalAI's evaluation: its configuration, records, result folders and command."""

PLUGINS = {
    "dialect": {"colossal": "proctor.origins.colossal.dialect:Colossal"},
    "layout": {"colossal": "proctor.origins.colossal.layout:ColossalLayout"},
}
SIGNS = {"colossal": {".json": "category"}}
VARIANTS = {
    "scorer": {
        "rating_metric": "proctor.origins.colossal.scorers:ColossalRatingMetric",
        "text_metrics": "proctor.origins.colossal.scorers:ColossalTextMetrics",
        "unieval": "proctor.origins.colossal.scorers:ColossalUniEval",
    },
}
FLAGS = (
    ("--targets", "target_file", "file", "proctor colossal --target_file"),
    ("--prompts", "prompt_file", "file", "proctor colossal --gpt_evaluation_prompt_file"),
    (
        "--with-reference/--without-reference",
        "with_reference",
        "flag",
        "proctor colossal --gpt_with_reference",
    ),
)
COMMANDS = {
    "colossal": (
        "proctor.origins.colossal.command:colossal",
        "Evaluate as ColossalAI's eval.py did.",
    ),
}
BATTLE_FILES = "proctor.origins.colossal.battle_files:write_battle"
