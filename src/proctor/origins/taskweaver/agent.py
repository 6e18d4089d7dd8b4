"""TaskWeaver itself as an agent, where it is installed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from proctor.agents.python_process import Driven
from proctor.agents.source_hash import files_key
from proctor.contracts.agent import Workspace
from proctor.core.suite import Case, Json
from proctor.errors import ModelError, Problem, SuiteError
from proctor.io.redaction import credential_variables
from proctor.io.text_files import read_json

LAUNCHER = Path(__file__).parent / "launcher" / "proctor_taskweaver.py"
GET_IT = (
    "fix: git clone https://github.com/microsoft/TaskWeaver && pip install -e TaskWeaver, or name"
    " the Python that has it with --agent-option interpreter=PATH"
)


@dataclass(kw_only=True)
class TaskWeaverAgent(Driven):
    """A TaskWeaver project: the one named, or the one that each case names.

    Where cases name it, their project and all its settings are trusted, as if you had named them.
    """

    app_dir: str = ""
    """The project's folder; empty means the ``app_dir`` of each case."""
    config: Mapping[str, Json] | None = None
    """Settings of the app, over those of a case's ``config_var``."""

    @property
    def identity(self) -> Json:
        place = Path(self.app_dir) / "taskweaver_config.json"
        return {
            "kind": "taskweaver",
            "version": self.version,
            "app_dir": self.app_dir and os.path.basename(os.path.abspath(self.app_dir)),
            "settings": files_key([place]) if self.app_dir and place.exists() else "",
            "config": {name: value for name, value in (self.config or {}).items() if _open(name)},
        }

    @property
    def label(self) -> str:
        return f"taskweaver:{self.app_dir}"

    def problems(self) -> list[str]:
        problems = super().problems()
        if not self.interpreter and find_spec("taskweaver") is None:
            problems.append(f"the package taskweaver is not installed ({GET_IT})")
        if self.app_dir and not os.path.isdir(self.app_dir):
            problems.append(f"there is no TaskWeaver project {self.app_dir!r}")
        return problems

    def placed(self, case: Case) -> Case:
        """Return a case with the project that it names: from its own folder, or from here.

        TaskWeaver's own cases name it from the folder in which the evaluator is started.
        """
        named = case.setup.get("app_dir", "")
        if self.app_dir or not named or os.path.isdir(named):
            return case
        elsewhere = _from_here(named, case.source)
        if elsewhere and os.path.isdir(elsewhere):
            return replace(case, setup={**case.setup, "app_dir": elsewhere})
        tried = f"{named}, and there is no {elsewhere}" if elsewhere else named
        message = f"the case {case.id!r} names an app_dir that is not there: there is no {tried}"
        hint = "fix: start from the folder that app_dir counts from, or name the project yourself,"
        raise SuiteError([
            Problem(
                message=message,
                file=case.source or None,
                field="app_dir",
                hint=f"{hint} --agent taskweaver:APP_DIR",
            )
        ])  # fmt: skip

    def begin(self, workspace: Workspace) -> dict[str, Json]:
        setup = workspace.case.setup
        app_dir = self.app_dir or setup.get("app_dir", "")
        if workspace.case.id and not app_dir:
            raise ModelError(
                f"the case {workspace.case.id!r} names no app_dir (fix: write taskweaver:APP_DIR)"
            )
        config = dict(setup.get("config_var") or {})
        closed = sorted(name for name in config if not _open(name))
        if self.app_dir and closed:
            raise ModelError(
                f"the case {workspace.case.id!r} sets {closed[0]}, which says where keys are sent"
                " (fix: set it in the project's taskweaver_config.json, or trust the cases with the"
                " agent taskweaver: alone)"
            )
        self._refuse_mixed(workspace)
        return {
            "launcher": str(LAUNCHER),
            "app_dir": os.path.abspath(app_dir) if app_dir else "",
            "config": {**config, **(self.config or {})},
        }

    def environ(self, workspace: Workspace) -> dict[str, str]:
        """Return the environment, without its keys where a case says where they would go."""
        environment = super().environ(workspace)
        if not self._strangers(workspace):
            return environment
        own = {**self.env, **workspace.env}
        return {
            name: value
            for name, value in environment.items()
            if name in own or name not in credential_variables(environment)
        }

    def _strangers(self, workspace: Workspace) -> list[tuple[str, Mapping[str, Json]]]:
        """Return the places of a case that name an address for models, with all that they set.

        What the person set goes before, so that an address of theirs is the one that counts.
        """
        case, app_dir = workspace.case, workspace.case.setup.get("app_dir", "")
        if self.app_dir or any(_address(name) for name in self.config or {}):
            return []
        sources = [(f"the config_var of the case {case.id!r}", case.setup.get("config_var") or {})]
        if app_dir and not any(_address(_dotted(name)) for name in os.environ):
            file = Path(app_dir) / "taskweaver_config.json"
            sources.append((str(file), _settings(file)))
        return [(place, settings) for place, settings in sources if any(map(_address, settings))]

    def _refuse_mixed(self, workspace: Workspace) -> None:
        """Raise where a case names the address, and its key would be the person's."""
        variables = [_dotted(name) for name in credential_variables(os.environ)]
        for place, settings in self._strangers(workspace):
            if any(_key(name) for name in self.config or {}):
                holder = "the agent's config holds"
            elif not any(_key(name) for name in settings) and any(map(_model_key, variables)):
                holder = "the environment holds"
            else:
                continue
            name = next(name for name in settings if _address(name))
            raise ModelError(
                f"{place} names the address ({name}), and {holder} the key: a key goes only to an"
                " address that the same source names (fix: name the project yourself, --agent"
                " taskweaver:APP_DIR)"
            )


def _from_here(folder: str, source: str) -> str:
    """Return a folder as its case named it, from the working directory; empty where that is none.

    A name that shares nothing with the place of the case was written from the root.
    """
    beside = os.path.dirname(os.path.realpath(source)) if source else ""
    if not beside or os.path.commonpath([folder, beside]) == os.sep:
        return ""
    path = os.path.abspath(os.path.relpath(folder, beside))
    return "" if path == folder else path


def _settings(file: Path) -> Mapping[str, Json]:
    """Read the settings of a project, as far as they can be read."""
    try:
        data = read_json(file).data
    except SuiteError:
        return {}
    return data if isinstance(data, Mapping) else {}


def _dotted(variable: str) -> str:
    """Return the setting that an environment variable stands for, as TaskWeaver reads it."""
    return variable.lower().replace("_", ".", 1)


def _address(name: str) -> bool:
    return name.lower().startswith("llm.") and any(
        word in name.lower() for word in ("api_base", "endpoint", "base_url", "api_url")
    )


def _model_key(name: str) -> bool:
    return name.startswith(("llm.", "openai.", "azure."))


def _key(name: str) -> bool:
    return any(word in name.lower() for word in ("api_key", "token", "secret"))


def _open(name: str) -> bool:
    """Tell whether a setting says nothing about addresses and keys."""
    return not any(
        word in name.lower() for word in ("api_base", "api_key", "endpoint", "token", "secret")
    )
