"""How models are named on the command line."""

import pytest

from proctor.core.names import parse_model
from proctor.errors import UsageError


@pytest.mark.parametrize(
    ("text", "provider", "params"),
    [
        ("openai:gpt-4o", "openai", {"model": "gpt-4o"}),
        ("anthropic:claude-x", "anthropic", {"model": "claude-x"}),
        ("local:smollm2", "local", {"model": "smollm2"}),
        ("local:/path/model.gguf", "local", {"model": "/path/model.gguf"}),
        ("replay:deep/file.jsonl", "replay", {"model": "deep/file.jsonl"}),
        ("openai:org/llama:8b@q4", "openai", {"model": "org/llama:8b@q4"}),
        ("openai:m@http://h:1/v1", "openai", {"model": "m", "urls": ["http://h:1/v1"]}),
        (
            "openai:m@q4@http://h:1,https://i/v1",
            "openai",
            {"model": "m@q4", "urls": ["http://h:1", "https://i/v1"]},
        ),
        ("openai:@http://h:1", "openai", {"model": "", "urls": ["http://h:1"]}),
        ("mine:x", "mine", {"model": "x"}),
    ],
)
def test_names(text: str, provider: str, params: dict[str, object]) -> None:
    spec = parse_model(text)
    assert (spec.name, dict(spec.params)) == (provider, params)


@pytest.mark.parametrize("text", ["gpt-4o", "org/model:8b", ":x", "openai:", ""])
def test_a_name_without_its_provider(text: str) -> None:
    with pytest.raises(UsageError, match="openai:"):
        parse_model(text)
