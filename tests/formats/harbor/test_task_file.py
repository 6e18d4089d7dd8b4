"""Both schemas of task.toml say the same things in other words."""

import pytest
from pydantic import ValidationError

from proctor.formats.harbor.task_file import TaskEnvironment, TaskFile, unsupported


@pytest.mark.parametrize(
    ("fields", "memory"),
    [({}, 2048), ({"memory_mb": 512}, 512), ({"memory": "2G"}, 2048), ({"memory": "1.5 GiB"}, 1536),
     ({"memory": "512m"}, 512), ({"memory": "100"}, 100), ({"memory": "2048k"}, 2)],
)  # fmt: skip
def test_sizes(fields: dict[str, object], memory: int) -> None:
    assert TaskEnvironment.model_validate(fields).size("memory", 2048) == memory


@pytest.mark.parametrize(
    ("fields", "network"),
    [({}, "public"), ({"allow_internet": False}, "no-network"), ({"allow_internet": True}, "public"),
     ({"network_mode": "allowlist", "allow_internet": False}, "allowlist")],
)  # fmt: skip
def test_networks(fields: dict[str, object], network: str) -> None:
    assert TaskEnvironment.model_validate(fields).network == network


@pytest.mark.parametrize("fields", [{"memory": "much"}, {"workdir": "app"}, {"gpu": 1}])
def test_wrong_values_are_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TaskEnvironment.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"environment": {"gpus": 1}}, "GPUs"),
        ({"environment": {"os": "windows"}}, "windows"),
        ({"environment": {"mcp_servers": [{}]}}, "MCP"),
        ({"environment": {"skills_dir": "x"}}, "skills"),
        ({"environment": {"healthcheck": {"command": "x"}}}, "health"),
        ({"verifier": {"environment": {"gpus": 1}}}, "GPUs"),
        ({"verifier": {"collect": [{"command": "x", "service": "db"}]}}, "compose"),
        ({"steps": [{"name": "a", "verifier": {"environment": {}}}]}, "one step"),
        ({"schema_version": "2.0"}, "schema 2.0"),
    ],
)
def test_what_is_not_supported_is_named(fields: dict[str, object], words: str) -> None:
    (found,) = unsupported(TaskFile.model_validate(fields))
    assert words in found[1]
