"""TaskWeaver: its cases, the agent itself, result files and command."""

PLUGINS = {
    "candidate": {"taskweaver": "proctor.origins.taskweaver.agent:TaskWeaverAgent"},
    "dialect": {"taskweaver": "proctor.origins.taskweaver.dialect:TaskWeaverDialect"},
    "layout": {"taskweaver": "proctor.origins.taskweaver.layout:TaskWeaverLayout"},
}
COMMANDS = {
    "taskweaver": (
        "proctor.origins.taskweaver.command:taskweaver",
        "Examine agents as auto_eval did.",
    ),
}
