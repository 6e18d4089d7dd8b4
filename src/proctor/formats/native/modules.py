"""The Python modules that criteria of a native suite name, carried along in their parameters."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from proctor.core.suite import Json, Spec
from proctor.errors import SuiteError
from proctor.formats.native.spot import Spot
from proctor.formats.suite_modules import SuiteModules, file_of

# Where a scorer names a function: among its own parameters, or in a mapping under this one.
_FUNCTIONS: Mapping[str, str | None] = {
    "python_check": None,
    "keywords": "post_handler",
    "blanks": "post_handler",
}


def with_modules(spec: Spec, written: Spot) -> Spec | None:
    """Fill in the text of the module that a criterion names, or note why it cannot be."""
    if spec.name not in _FUNCTIONS:
        return spec
    key = _FUNCTIONS[spec.name]
    function = spec.params if key is None else spec.params.get(key)
    if function is None or "source" in function:
        return spec
    carried = _carried(function["module"], written if key is None else written.at(key))
    if carried is None:
        return None
    files = {**carried.get("files", {}), **function.get("files", {})}
    whole = {**function, **carried, **({"files": files} if files else {})}
    return replace(spec, params=whole if key is None else {**spec.params, key: whole})


def _carried(module: str, function: Spot) -> dict[str, Json] | None:
    """Read a module beside the file that names it, or else beside the suite."""
    place = function.at("module")
    folders = dict.fromkeys((function.document.path.parent, function.modules.home))
    for folder in folders:
        modules = replace(function.modules, home=folder)
        if (path := modules.find(module)) is not None:
            return _read(modules, module, path, place)
    tried = [folder / file_of(module) for folder in folders]
    if any(os.path.isfile(path) for path in tried):
        hint = "keep the files of a suite in its folder"
        place.error(f"the module {module!r} leads out of the suite's folder", hint=hint)
    else:
        hint = f"looked for {' and '.join(map(str, tried))}"
        place.error(f"there is no module {module!r}", hint=hint)
    return None


def _read(modules: SuiteModules, module: str, path: Path, place: Spot) -> dict[str, Json] | None:
    try:
        return modules.params(module, path, place.warn)
    except SuiteError as error:
        place.findings.add(*error.problems)
        return None
