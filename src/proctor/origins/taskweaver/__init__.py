"""TaskWeaver: its cases, the agent itself, result files and command."""

PLUGINS = {
    "candidate": {"taskweaver": "proctor.origins.taskweaver.agent:TaskWeaverAgent"},
    "dialect": {"taskweaver": "proctor.origins.taskweaver.dialect:TaskWeaverDialect"},
    "layout": {"taskweaver": "proctor.origins.taskweaver.layout:TaskWeaverLayout"},
}
_CASE = "eval_query|task_description"
SIGNS = {"taskweaver": {".yaml": _CASE, ".yml": _CASE}}
VARIANTS = {
    "scorer": {
        "scoring_point": "proctor.origins.taskweaver.scorers:TaskWeaverScoringPoint",
    },
}
FLAGS = (("--stop-below", "stop_below", "share", "proctor taskweaver --threshold"),)
COMMANDS = {
    "taskweaver": (
        "proctor.origins.taskweaver.command:taskweaver",
        "Examine agents as auto_eval did.",
    ),
}
