"""How an agent is named on the command line: ``python:module:attr``, ``http://…``, ``exec:…``."""

from proctor.core.suite import Spec
from proctor.core.user_info import holds_user_info, without_user_info
from proctor.errors import UsageError

_MAIN = {
    "python": "target",
    "exec": "command",
    "recorded": "path",
    "taskweaver": "app_dir",
}
"""The parameter that stands after the colon."""
LONGEST = 60


def parse_agent(text: str) -> Spec | None:
    """Read the name of an agent; none where it is a model that is meant."""
    text = text.strip()
    if text.lower().startswith(("http:", "https:")) and holds_user_info(text):
        raise UsageError(
            "the address of the agent holds '@': a user name or a password in it would be stored"
            " and shown (fix: a header that names an environment variable, --agent-option"
            ' \'headers={"Authorization": "Bearer $NAME"}\'; an @ in a path is written %40)'
        )
    if text.startswith(("http://", "https://")):
        return Spec(name="http", params={"url": text})
    kind, colon, rest = text.partition(":")
    if not colon or not (rest.strip() or kind == "taskweaver"):
        raise UsageError(
            f"{text!r} does not say what kind of agent it is (fix: write python:module:attr,"
            " exec:COMMAND, http://…, recorded:PATH, taskweaver:APP_DIR, a model such as"
            " openai:NAME, or a YAML file that describes the agent)"
        )
    if kind not in _MAIN:
        return None
    return Spec(name=kind, params={_MAIN[kind]: rest.strip()} if rest.strip() else {})


def agent_label(spec: Spec) -> str:
    """Return the name of an agent as people know it, without its options."""
    if spec.name == "http":
        return _cut(str(spec.params.get("url", "http")).partition("?")[0])
    main = without_user_info(str(spec.params.get(_MAIN.get(spec.name, ""), "")))
    return _cut(f"{spec.name}:{main}" if main else spec.name)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
