"""Who plays which role in an AskBench task: candidate, judge and simulated user."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from proctor.contracts.dialect import UnusableRole
from proctor.contracts.model import ModelChoice
from proctor.core.access import Access, Credential
from proctor.core.exchange import Sampling
from proctor.core.names import write_model
from proctor.errors import Problem, UsageError
from proctor.io.findings import Findings
from proctor.io.text_files import parse_json
from proctor.origins.askbench.ini import IniEntry, IniValues, Sections, merged

CANDIDATE, JUDGE, SIMULATOR = "candidate", "judge", "simulator"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Role:
    """The sections that name a role, and its defaults."""

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
_FLAGS = {
    "model": "--model openai:NAME@URL",
    "evaluatorconfig": "--judge openai:NAME@URL",
    "simulatorconfig": "--simulator openai:NAME@URL",
}
CONNECTION = ("api_url", "api_type", "model_name", "sk_token", "headers")
"""What says which server is asked, and for which model."""
_PLACEHOLDER = re.compile(r"\w+://<?host>?:<?port>?(/.*)?", re.IGNORECASE)
_TIMEOUT = 600.0
_NOBODY = frozenset({"", "none"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleReader:
    """Reader of the roles of one task."""

    values: IniValues
    compat: str
    several_turns: bool
    simulator_is_judge: bool = False
    """Whether the original asks the judge in this task, whatever [simulatorconfig] says."""
    unusable: dict[str, UnusableRole] = field(default_factory=dict)
    """The roles that are given to a model that cannot be asked; another may be, named by hand."""

    def roles(self) -> dict[str, ModelChoice]:
        """Return the models that the files name; what they do not name is left out.

        The base INI and a task's INI are two sources: whether a key of the one may go to an
        address of the other is settled where the model is used, so that an option may settle it.
        """
        choices = {}
        for name, role in _ROLES.items():
            if name == SIMULATOR and self.compat and self.simulator_is_judge:
                continue
            wrong = Findings()
            choice = self._choice(name, role, wrong)
            if choice is not None and wrong.errors:
                self.unusable[name] = UnusableRole(choice=choice, problems=tuple(wrong.shown))
            elif choice is not None:
                choices[name] = choice
        return choices

    def _choice(self, name: str, role: _Role, wrong: Findings) -> ModelChoice | None:
        values, section = self.values, role.section
        self._check_type(section, wrong)
        urls = self._urls(section, wrong)
        model = self._name(section)
        if not urls and not wrong.errors and not self._is_named(section, model):
            return None
        try:
            spec = write_model("openai", model or "none", urls)
        except UsageError as error:
            wrong.add(self._name_problem(section, str(error)))
            spec = write_model("openai", "none", urls)
        dressed = not self.compat or (name == CANDIDATE and not self.several_turns)
        return ModelChoice(
            spec=spec,
            sampling=self._sampling(role),
            access=self._access(section, wrong),
            concurrency=values.whole(role.sampling, "max_concurrent", role.concurrency, least=1),
            timeout=values.seconds(section, _TIMEOUT),
            system=values.text(section, "system_prompt") if dressed else "",
            suffix=values.text(section, "extra_prompt") if dressed else "",
        )

    def _is_named(self, section: str, model: str) -> bool:
        """Tell whether a section without an address names a model at its maker's own address."""
        written = model == self.values.text(section, "model_name").strip()
        return written and model.lower() not in (*_NOBODY, "default")

    def _check_type(self, section: str, wrong: Findings) -> None:
        entry = self.values.entry(section, "model_type")
        if entry is None or entry.text.lower() in ("", "api"):
            return
        message = f"model_type is {entry.text!r}: only 'api' is known"
        hint = "serve the model by an OpenAI-compatible server, and write its address"
        wrong.add(entry.problem(message, hint=hint))

    def _name(self, section: str) -> str:
        """Return the model's name as the server is told it; ``none`` sends no name."""
        name = self.values.text(section, "model_name").strip()
        if name and name.lower() != "default":
            return name
        return self.values.text(section, "api_type").strip() or name

    def _urls(self, section: str, wrong: Findings) -> list[str]:
        """Return the addresses of a section; none of them where one cannot be used."""
        entry = self.values.entry(section, "api_url")
        if entry is None or entry.text.strip().lower() in _NOBODY:
            return []
        urls = [part.strip() for part in entry.text.split(",") if part.strip()]
        for url in urls:
            if (unusable := _wrong_url(url)) is not None:
                message, hint = unusable
                hint = f"{hint}, or name the model with {_FLAGS[section]}"
                wrong.add(entry.problem(message, hint=hint))
                return []
        return urls

    def _name_problem(self, section: str, message: str) -> Problem:
        entry = self.values.entry(section, "model_name", "api_type")
        assert entry is not None
        return entry.problem(message, hint="write the address as api_url")

    def _access(self, section: str, wrong: Findings) -> Access:
        """Return what is written for the server, each with the file that holds it."""
        values, listed = self.values, []
        key, headers = values.entry(section, "sk_token"), values.entry(section, "headers")
        if key is not None and key.text.strip().lower() not in _NOBODY:
            name = f"[{section}] sk_token"
            listed.append(Credential(name=name, key=key.text.strip(), source=key.source))
        if headers is not None and (sent := self._headers(section, wrong)):
            name = f"[{section}] headers"
            listed.append(Credential(name=name, headers=sent, source=headers.source))
        named = values.entry(section, "api_url", "model_name", "api_type")
        credentials = tuple(listed)
        if named is None:
            return Access(credentials=credentials)
        place = f"{named.source.place} ([{section}] {named.key})"
        return Access(source=replace(named.source, place=place), credentials=credentials)

    def _headers(self, section: str, wrong: Findings) -> dict[str, str]:
        entry = self.values.entry(section, "headers")
        if entry is None or not entry.text:
            return {}
        try:
            headers = parse_json(entry.text)
        except ValueError:
            headers = None
        if not isinstance(headers, dict) or not all(isinstance(v, str) for v in headers.values()):
            message = "expected a JSON object of strings for 'headers'"
            wrong.add(entry.problem(message))
            return {}
        return headers

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


def connected(below: Sections, above: Sections) -> dict[str, dict[str, IniEntry]]:
    """Put one file over another; an address that nobody has filled in goes over none that is."""
    sections = merged(below, above)
    for role in _ROLES.values():
        first, second = below.get(role.section, {}), above.get(role.section, {})
        if _is_placeholder(second.get("api_url")) and not _is_placeholder(first.get("api_url")):
            connection = {key: entry for key, entry in first.items() if key in CONNECTION}
            if "api_url" in connection:
                others = {k: v for k, v in sections[role.section].items() if k not in CONNECTION}
                sections[role.section] = {**others, **connection}
    return sections


def overruled(sections: Sections, below: Sections) -> dict[str, str]:
    """Say by role which address goes before the one of another file that names a server, too."""
    notes = {}
    for name, role in _ROLES.items():
        used = sections.get(role.section, {}).get("api_url")
        other = below.get(role.section, {}).get("api_url")
        if used is None or other is None or other.path == used.path or other.text == used.text:
            continue
        if not _is_placeholder(other):
            notes[name] = (
                f"it goes before api_url of {other.path}:{other.line}, as a task's INI does"
                " (--compat original lets the base INI go first)"
            )
    return notes


def _is_placeholder(entry: IniEntry | None) -> bool:
    return entry is not None and _PLACEHOLDER.fullmatch(entry.text.strip()) is not None


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
