"""Arthur Bench: its files and folders, notebook API, endpoints and command."""

PLUGINS = {
    "archive": {"bench": "proctor.origins.arthur.folder:BenchFolder"},
    "dialect": {"bench": "proctor.origins.arthur.dialect:Bench"},
}
SIGNS = {"bench": {".csv": "reference_output", ".json": ""}}
COMMANDS = {
    "bench": (
        "proctor.origins.arthur.command:bench",
        "Take in a folder of Arthur Bench, and list it.",
    ),
}
ENDPOINTS = "proctor.origins.arthur.endpoints"
