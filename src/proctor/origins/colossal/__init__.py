"""ColossalAI's evaluation: its configuration, records, result folders and command."""

PLUGINS = {
    "dialect": {"colossal": "proctor.origins.colossal.dialect:Colossal"},
    "layout": {"colossal": "proctor.origins.colossal.layout:ColossalLayout"},
}
SIGNS = {"colossal": {".json": "category"}}
COMMANDS = {
    "colossal": (
        "proctor.origins.colossal.command:colossal",
        "Evaluate as ColossalAI's eval.py did.",
    ),
}
