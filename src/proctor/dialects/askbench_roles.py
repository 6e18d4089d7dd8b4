"""Who plays which role in an AskBench task: candidate, judge and simulated user."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from proctor.core.access import Access, Credential
from proctor.core.model import ModelChoice, Sampling
from proctor.core.model_name import write_model
from proctor.dialects.askbench_ini import Values
from proctor.errors import UsageError
from proctor.source import parse_json

CANDIDATE, JUDGE, SIMULATOR = "candidate", "judge", "simulator"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Role:
    """Say where a role is written, and what holds where nothing is."""

    section: str
    sampling: str
    max_tokens: tuple[str, int]
    temperature: float
    top_p: float
    concurrency: int


_ROLES: Mapping[str, _Role] = {
    CANDIDATE: _Role(
        section="model",
        sampling="generateconfig",
        max_tokens=("max_tokens", 4096),
        temperature=0.6,
        top_p=-1.0,
        concurrency=15,
    ),
    JUDGE: _Role(
        section="evaluatorconfig",
        sampling="evaluatorconfig",
        max_tokens=("max_new_tokens", 2048),
        temperature=0.1,
        top_p=1.0,
        concurrency=10,
    ),
    SIMULATOR: _Role(
        section="simulatorconfig",
        sampling="simulatorconfig",
        max_tokens=("max_new_tokens", 1024),
        temperature=0.3,
        top_p=1.0,
        concurrency=10,
    ),
}
_TIMEOUT = 600.0
_NOBODY = frozenset({"", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleReader:
    """Read the roles of one task."""

    values: Values
    compat: str
    several_turns: bool
    simulator_is_judge: bool = False
    """Whether the original asks the judge in this task, whatever [simulatorconfig] says."""

    def roles(self) -> dict[str, ModelChoice]:
        """Return the models that the files name; what they do not name is left out.

        The base INI and a task's INI are two sources: whether a key of the one may go to an
        address of the other is settled where the model is used, so that an option may settle it.
        """
        found = {}
        for name, role in _ROLES.items():
            if name == SIMULATOR and self.compat and self.simulator_is_judge:
                continue
            if (choice := self._choice(name, role)) is not None:
                found[name] = choice
        return found

    def _choice(self, name: str, role: _Role) -> ModelChoice | None:
        values, section = self.values, role.section
        self._check_type(section)
        urls = self._urls(section)
        model = self._name(section)
        if not urls and model != values.text(section, "model_name").strip():
            return None
        if not urls and model.lower() in (*_NOBODY, "default"):
            return None
        try:
            spec = write_model("openai", model or "none", urls)
        except UsageError as error:
            self._wrong_name(section, str(error))
            return None
        dressed = not self.compat or (name == CANDIDATE and not self.several_turns)
        return ModelChoice(
            spec=spec,
            sampling=self._sampling(role),
            access=self._access(section),
            concurrency=values.whole(role.sampling, "max_concurrent", role.concurrency, least=1),
            timeout=values.seconds(section, _TIMEOUT),
            system=values.text(section, "system_prompt") if dressed else "",
            suffix=values.text(section, "extra_prompt") if dressed else "",
        )

    def _check_type(self, section: str) -> None:
        entry = self.values.entry(section, "model_type")
        if entry is not None and entry.text.lower() not in ("", "api"):
            message = f"model_type is {entry.text!r}: only 'api' is known"
            hint = "serve the model by an OpenAI-compatible server, and write its address"
            self.values.problems.append(entry.problem(message, hint=hint))

    def _name(self, section: str) -> str:
        """Return the model's name as the server is told it; ``none`` sends no name."""
        name = self.values.text(section, "model_name").strip()
        if name and name.lower() != "default":
            return name
        return self.values.text(section, "api_type").strip() or name

    def _urls(self, section: str) -> list[str]:
        entry = self.values.entry(section, "api_url")
        if entry is None or entry.text.strip().lower() in _NOBODY:
            return []
        urls = [part.strip() for part in entry.text.split(",") if part.strip()]
        for url in urls:
            if (wrong := _wrong_url(url)) is not None:
                message, hint = wrong
                self.values.problems.append(entry.problem(message, hint=hint))
                return []
        return urls

    def _wrong_name(self, section: str, message: str) -> None:
        entry = self.values.entry(section, "model_name", "api_type")
        assert entry is not None
        hint = "write the address as api_url"
        self.values.problems.append(entry.problem(message, hint=hint))

    def _access(self, section: str) -> Access:
        """Return what is written for the server, each with the file that holds it."""
        values, held = self.values, []
        key, headers = values.entry(section, "sk_token"), values.entry(section, "headers")
        if key is not None and key.text.strip().lower() not in _NOBODY:
            name = f"[{section}] sk_token"
            held.append(Credential(name=name, key=key.text.strip(), source=key.source))
        if headers is not None and (sent := self._headers(section)):
            name = f"[{section}] headers"
            held.append(Credential(name=name, headers=sent, source=headers.source))
        named = values.entry(section, "api_url", "model_name", "api_type")
        credentials = tuple(held)
        if named is None:
            return Access(credentials=credentials)
        return Access(source=named.source, credentials=credentials)

    def _headers(self, section: str) -> dict[str, str]:
        entry = self.values.entry(section, "headers")
        if entry is None or not entry.text:
            return {}
        try:
            made = parse_json(entry.text)
        except ValueError:
            made = None
        if not isinstance(made, dict) or not all(isinstance(v, str) for v in made.values()):
            message = "a JSON object of texts is wanted for 'headers'"
            self.values.problems.append(entry.problem(message))
            return {}
        return made

    def _sampling(self, role: _Role) -> Sampling:
        values, section = self.values, role.sampling
        key, default = role.max_tokens
        top_p = values.number(section, "top_p", role.top_p, least=-1.0)
        top_k = -1 if self.compat and role is not _ROLES[CANDIDATE] else None
        if top_k is None:
            top_k = values.whole(section, "top_k", -1, least=-1)
        return Sampling(
            temperature=values.number(section, "temperature", role.temperature),
            top_p=None if top_p == -1.0 else top_p,
            top_k=None if top_k == -1 else top_k,
            max_tokens=values.whole(section, key, default, least=1),
            extra=self._thinking(role.section),
        )

    def _thinking(self, section: str) -> dict[str, object]:
        """Ask a self-hosted server for no thinking; the original reads the key and forgets it."""
        thinks = self.values.flag(section, "enable_thinking", True)
        if thinks or self.compat or "gpt" in self.values.text(section, "api_type").lower():
            return {}
        return {"chat_template_kwargs": {"enable_thinking": False}}


def _wrong_url(url: str) -> tuple[str, str] | None:
    """Say what keeps an address from being used, never repeating a password in it."""
    try:
        parts = urlsplit(url)
        there = parts.scheme in ("http", "https") and bool(parts.hostname)
        inside = parts.username is not None or parts.password is not None
        there = there and parts.port != 0
    except ValueError:
        there = inside = False
    if inside:
        return "the address carries a user name or a password", "write the key as sk_token"
    if not there or any(char.isspace() for char in url):
        return "this is no address of a server", "write it as http://HOST:PORT/v1"
    return None
