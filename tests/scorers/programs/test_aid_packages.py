"""The aid of npm packages: what it holds, and that a program gets the same from it."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from proctor.scorers.programs.unit_tests import LAUNCHERS

NODE = shutil.which("node")
PASSES_ON = """import made from './index.js';

export default made;

export { made as 'module.exports' };
"""
DOES_MORE = """import made from './index.js';
globalThis.more = (globalThis.more ?? 0) + 1;
export default made;
export { made as 'module.exports' };
"""
PACKAGES = {
    "whole/package.json": '{"name": "whole", "main": "index.js"}',
    "whole/index.js": (
        "module.exports = [require('./part.cjs'), require('passing')(), require('doing')(),"
        " globalThis.more];"
    ),
    "whole/part.cjs": "exports.name = 'café'; exports.more = typeof require.resolve;",
    "passing/index.js": "module.exports = () => 'passed on';",
    "passing/require.mjs": PASSES_ON,
    "doing/index.js": "module.exports = () => 'done';",
    "doing/require.mjs": DOES_MORE,
}
EXPORTS = {".": [{"module-sync": "./require.mjs", "default": "./index.js"}, "./index.js"]}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder of packages as npm lays them out."""
    folder = tmp_path / "node_modules"
    described = {
        f"{name}/package.json": json.dumps({"name": name, "exports": EXPORTS})
        for name in ("passing", "doing")
    }
    for name, text in {**PACKAGES, **described}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def node(cwd: Path, packages: Path, *argv: str) -> str:
    """Run node, and return what it prints."""
    assert NODE is not None
    env = {"PATH": str(Path(NODE).parent), "NODE_PATH": str(packages), "NODE_NO_WARNINGS": "1"}
    done = subprocess.run(
        [NODE, *argv], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(NODE is None, reason="needs node")
def test_packages_come_from_the_aid_with_all_they_do(tmp_path: Path, packages: Path) -> None:
    aid = tmp_path / "aid"
    aid.mkdir()
    for name in ("packages.js", "aid_packages.js"):
        shutil.copy(LAUNCHERS / name, aid)
    node(aid, packages, "aid_packages.js", "whole")

    index = json.loads((aid / "packages.json").read_text(encoding="utf-8"))
    held = {str(Path(file).relative_to(packages)) for file in index["files"]}
    assert {"whole/index.js", "whole/part.cjs", "passing/index.js"} <= held
    assert "passing/require.mjs" not in held

    show = "console.log(JSON.stringify(require('whole')))"
    plain = node(tmp_path, packages, "-e", show)
    assert node(tmp_path, packages, "-r", "./aid/packages.js", "-e", show) == plain
    assert "passed on" in plain

    # Texts come from the aid, all but those of the new kind that do something by themselves.
    (packages / "whole" / "part.cjs").write_text("throw new Error('read again')", encoding="utf-8")
    (packages / "passing" / "index.js").write_text("throw new Error('too')", encoding="utf-8")
    assert node(tmp_path, packages, "-r", "./aid/packages.js", "-e", show) == plain
