"""TaskWeaver's evaluator_config.json: which model judges and plays the user, and for how long."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Credential, Source
from proctor.core.exchange import Sampling
from proctor.core.names import write_model
from proctor.errors import SuiteError, UsageError
from proctor.io.text_files import Document, read_json
from proctor.io.validation import validate
from proctor.origins.taskweaver.format import EvaluatorConfig

GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
_KEYS = {
    field.alias: name for name, field in EvaluatorConfig.model_fields.items() if field.alias
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluator:
    """The judge that the file names, if any, and the length of a simulated user's dialogue."""

    roles: Mapping[str, ModelChoice]
    max_rounds: int | None


def read_config(path: Path, environ: Mapping[str, str] = os.environ) -> Evaluator:
    """Read the file; an environment variable of the same dotted name wins, as it used to."""
    document = read_json(path)
    if not isinstance(document.data, dict):
        raise SuiteError([document.problem((), "a JSON object with keys such as llm.model")])
    overrides = {name: environ[name] for name in _KEYS if environ.get(name)}
    data = {
        name: value
        for name, value in {**document.data, **overrides}.items()
        if value not in ("", None) or name not in _KEYS
    }
    config = validate(EvaluatorConfig, document, data)
    choice = _choice(config, document, overrides)
    roles = {} if choice is None else {"judge": choice, "simulator": choice}
    return Evaluator(roles=roles, max_rounds=config.max_rounds)


def _choice(
    config: EvaluatorConfig, document: Document, overrides: Mapping[str, str]
) -> ModelChoice | None:
    """Return the model; none where the file leaves that open, for --judge to say."""
    kind = config.api_type or "openai"
    needed = {
        "openai": ("model",),
        "azure": ("model", "api_base", "api_version"),
        "azure_ml": ("api_base",),
        "google_ai": ("model",),
    }[kind]
    missing = [name for name in needed if getattr(config, name) is None]
    if config.api_type is None and missing:
        return None
    if missing:
        keys = ", ".join(f"llm.{name}" for name in missing)
        message = f"llm.api_type is {kind!r}, which also needs {keys}"
        raise SuiteError([document.problem((), message)])
    return ModelChoice(
        spec=_spec(kind, config, document),
        access=_access(config, document, overrides),
        sampling=Sampling(temperature=0.0),
    )


def _access(config: EvaluatorConfig, document: Document, overrides: Mapping[str, str]) -> Access:
    """Return who named the address, and the key with who named that: file or environment."""

    def source(name: str) -> Source:
        if name in overrides:
            return Source(kind="environment", place=f"the environment variable {name}")
        place = document.place((name,))
        line = f":{place.line}" if place is not None else ""
        return Source(
            kind="file", place=f"{document.path}{line}", file=str(document.path.resolve())
        )

    named = "llm.api_base" if (config.api_base or "").strip() else "llm.model"
    if not config.api_key:
        return Access(source=source(named))
    key = source("llm.api_key")
    credential = Credential(name="llm.api_key", key=config.api_key, source=key)
    # Google's own address is no more of the file's choosing than OpenAI's.
    address = key if config.api_type == "google_ai" and named == "llm.model" else source(named)
    return Access(source=address, credentials=(credential,))


def _spec(kind: str, config: EvaluatorConfig, document: Document) -> str:
    base = (config.api_base or "").strip().rstrip("/")
    if base:
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            message = "llm.api_base is no address of a server"
            hint = "write it as http://HOST:PORT/v1, without a password"
            raise SuiteError([document.problem(("llm.api_base",), message, hint=hint)])
    if kind == "azure":
        base = f"{base}?api-version={quote(config.api_version or '')}"
    elif kind == "google_ai":
        base = base or GOOGLE
    provider = "azure" if kind == "azure" else "openai"
    try:
        return write_model(provider, (config.model or "none").strip(), (base,) if base else ())
    except UsageError as error:
        hint = "write the address as llm.api_base"
        raise SuiteError([document.problem(("llm.model",), str(error), hint=hint)]) from None
