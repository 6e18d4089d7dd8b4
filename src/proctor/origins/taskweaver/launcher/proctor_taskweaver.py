"""Answer messages with a TaskWeaver app; this file runs in the agent's own process."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from typing import Any

from proctor_calling import broke, raised


def serve(
    begin: dict[str, Any], lines: Iterable[bytes], answer: Callable[[dict[str, Any]], None]
) -> None:
    """Open a session of the app, and send it message after message."""
    try:
        from taskweaver.app.app import TaskWeaverApp
    except ImportError as error:
        answer({"missing": f"taskweaver cannot be imported: {error}"})
        return
    if begin.get("check"):
        answer({"ready": True})
        return
    folder, app = os.getcwd(), None
    try:
        try:
            app = TaskWeaverApp(app_dir=begin["app_dir"], config=begin["config"])
            session = app.get_session()
            place = getattr(session, "execution_cwd", "") or os.path.join(session.workspace, "cwd")
            copy(folder, place)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent may raise anything
            answer({"missing": f"it did not start: {broke(error)}", **raised(error)})
            return
        answer({"ready": True})
        for line in lines:
            try:
                result = session.send_message(json.loads(line)["message"]).to_dict()
            except Exception as error:  # noqa: BLE001 - an agent may raise anything
                result = raised(error)
            mirror(place, folder)
            answer(result)
    finally:
        if app is not None:
            stop(app)


def copy(source: str, target: str) -> None:
    """Copy the files of a folder into another one."""
    os.makedirs(target, exist_ok=True)
    shutil.copytree(source, target, dirs_exist_ok=True, symlinks=True)


def mirror(source: str, target: str) -> None:
    """Make a folder hold what another one holds now."""
    os.makedirs(target, exist_ok=True)
    for entry in os.scandir(target):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    if os.path.isdir(source):
        copy(source, target)


def stop(app: Any) -> None:
    """End the app; older ones cannot be told."""
    if hasattr(app, "stop"):
        app.stop()
