"""Options that say which agent is examined."""

from pathlib import Path
from typing import Any

import click

from proctor.core.agent_name import parse_agent
from proctor.core.suite import Spec

agent_options = [
    click.option(
        "--agent",
        metavar="A",
        help="An agent to examine: python:module:attr, http://…, exec:COMMAND, recorded:PATH,"
        " taskweaver:APP_DIR, a model whose history is kept, or a YAML file that describes one.",
    ),
    click.option(
        "--agent-option",
        "agent_options",
        multiple=True,
        metavar="NAME=VALUE",
        help="A parameter of the agent, as JSON or plain text.",
    ),
    click.option(
        "--proxy",
        metavar="M",
        help="Pass the agent's own calls on to this model: they become steps with tokens and cost.",
    ),
]


def agent_settings(options: dict[str, Any]) -> tuple[Spec | None, tuple[str, ...]]:
    """Take out the agent that is examined; one that is a model is returned as such."""
    text, more = options.pop("agent", None), options.pop("agent_options", ())
    if text is None:
        if more:
            raise click.UsageError("--agent-option says more about an --agent, and there is none")
        return None, ()
    given: dict[str, Any] = {}
    if text.endswith((".yaml", ".yml")):
        text, given = _described(Path(text))
    given |= {name: _value(value) for name, value in (_pair(item) for item in more)}
    spec = parse_agent(text)
    if spec is not None:
        return Spec(name=spec.name, params={**spec.params, **given}), ()
    if given:
        raise click.UsageError(f"{text!r} is a model: it has no option {', '.join(given)}")
    return None, (text,)


def _described(path: Path) -> tuple[str, dict[str, Any]]:
    """Read a YAML file with an agent's name under ``agent`` and its parameters beside it."""
    from proctor.io.yaml_files import read_yaml

    made = read_yaml(path).data
    if not isinstance(made, dict) or not isinstance(made.get("agent"), str):
        raise click.UsageError(f"{path} describes no agent: it wants a line such as agent: exec:…")
    return made.pop("agent"), made


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name.strip():
        raise click.UsageError("--agent-option wants NAME=VALUE, as in timeout=120")
    return name.strip(), value


def _value(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text
