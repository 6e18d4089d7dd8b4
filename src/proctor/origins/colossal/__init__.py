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
COMMANDS = {
    "colossal": (
        "proctor.origins.colossal.command:colossal",
        "Evaluate as ColossalAI's eval.py did.",
    ),
}
