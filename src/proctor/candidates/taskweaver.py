"""TaskWeaver itself as an agent, where it is installed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from proctor.candidates.driven import Driven
from proctor.candidates.sources import files_key
from proctor.core.agent import Desk
from proctor.core.suite import Json
from proctor.errors import ModelError

GET_IT = (
    "fix: git clone https://github.com/microsoft/TaskWeaver && pip install -e TaskWeaver, or name"
    " the Python that has it with --agent-option interpreter=PATH"
)


@dataclass(kw_only=True)
class TaskWeaver(Driven):
    """Ask a TaskWeaver project: the one named, or the one that each case names.

    Where cases name it, their project and all its settings are trusted, as if you had named them.
    """

    app_dir: str = ""
    """The project's folder; empty means the ``app_dir`` of each case."""
    config: Mapping[str, Json] | None = None
    """Settings of the app, over those of a case's ``config_var``."""

    @property
    def identity(self) -> Json:
        """Return the project, its settings' hash and what is set besides."""
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
        """Return the name of the agent."""
        return f"taskweaver:{self.app_dir}"

    def problems(self) -> list[str]:
        """Report a missing package, and a project that is not there."""
        found = super().problems()
        if not self.interpreter and find_spec("taskweaver") is None:
            found.append(f"the package taskweaver is not installed ({GET_IT})")
        if self.app_dir and not os.path.isdir(self.app_dir):
            found.append(f"there is no TaskWeaver project {self.app_dir!r}")
        return found

    def begin(self, desk: Desk) -> dict[str, Json]:
        """Return which project the driver opens, and how."""
        setup = desk.case.setup
        app_dir = self.app_dir or setup.get("app_dir", "")
        if desk.case.id and not app_dir:
            raise ModelError(
                f"the case {desk.case.id!r} names no app_dir (fix: write taskweaver:APP_DIR)"
            )
        config = dict(setup.get("config_var") or {})
        closed = sorted(name for name in config if not _open(name))
        if self.app_dir and closed:
            raise ModelError(
                f"the case {desk.case.id!r} sets {closed[0]}, which says where keys are sent (fix:"
                " set it in the project's taskweaver_config.json, or trust the cases with the"
                " agent taskweaver: alone)"
            )
        return {
            "kind": "taskweaver",
            "app_dir": os.path.abspath(app_dir) if app_dir else "",
            "config": {**config, **(self.config or {})},
        }


def _open(name: str) -> bool:
    """Tell whether a setting says nothing about addresses and keys."""
    return not any(
        word in name.lower() for word in ("api_base", "api_key", "endpoint", "token", "secret")
    )
