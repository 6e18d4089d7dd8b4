"""Stand-ins for what test scripts fetch first: an installer of uv, uv itself, packages."""

from collections.abc import Mapping

TOOLBOX = "/toolbox"
_SH = "#!/bin/sh\n"
_NEXT = """find_next() {
  rest=$(printf '%s' "$PATH" | sed 's#/toolbox/bin:##')
  PATH=$rest command -v "$1"
}
"""

TOOLS: Mapping[str, str] = {
    # What pipes an installer into a shell gets one that makes the file it expects, and no more.
    "curl": _SH
    + _NEXT
    + """case "$*" in
  *astral.sh/uv*)
    echo 'mkdir -p "$HOME/.local/bin"; cp /toolbox/env "$HOME/.local/bin/env"'
    exit 0 ;;
esac
real=$(find_next curl) && exec "$real" "$@"
echo "curl: there is no network here" >&2
exit 6
""",
    "wget": _SH
    + _NEXT
    + """case "$*" in
  *astral.sh/uv*) exec /toolbox/bin/curl "$@" ;;
esac
real=$(find_next wget) && exec "$real" "$@"
echo "wget: there is no network here" >&2
exit 4
""",
    "uvx": _SH
    + """while [ $# -gt 0 ]; do
  case "$1" in
    -p|--python|-w|--with|--from|--index-url|--with-requirements) shift 2 ;;
    --*=*|-q|--quiet|--isolated|--no-cache|--offline|--no-project) shift ;;
    *) break ;;
  esac
done
tool=${1%%[@=<>]*}
shift
case "$tool" in
  python|python3) exec "${PROCTOR_PYTHON:-python3}" -P "$@" ;;
  pytest|py.test) exec /toolbox/bin/pytest "$@" ;;
esac
exec "${PROCTOR_PYTHON:-python3}" -P -m "$(printf '%s' "$tool" | tr - _)" "$@"
""",
    "uv": _SH
    + """case "$1" in
  run|tool)
    [ "$1" = tool ] && shift
    shift
    exec /toolbox/bin/uvx "$@" ;;
  init|venv|add|sync|lock|python|pip|cache|self|--version|version) exit 0 ;;
esac
echo "uv: the stand-in does not know $1" >&2
exit 2
""",
    "apt-get": _SH + "exit 0\n",
    "apt": _SH + "exit 0\n",
    "pip": _SH
    + """[ "$1" = install ] && exit 0
exec "${PROCTOR_PYTHON:-python3}" -m pip "$@"
""",
}
"""Programs by name. Installing does nothing: what is there is used, and what is not is missed."""


def toolbox_files() -> dict[str, object]:
    """Return the toolbox as files of an environment."""
    texts = {"env": "PATH=/toolbox/bin:$PATH; export PATH\n", "lib/ctrf_option.py": _CTRF}
    return texts | {
        f"bin/{name}": {"text": text, "executable": True}
        for name, text in {**TOOLS, "pip3": TOOLS["pip"], "pytest": _SH + _PYTEST}.items()
    }


_PYTEST = """export PYTHONPATH="/toolbox/lib${PYTHONPATH:+:$PYTHONPATH}"
[ -n "$PROCTOR_PYTHON" ] || export PYTHONPATH="$PYTHONPATH:/proctor/wheels"
exec "${PROCTOR_PYTHON:-python3}" -P -m pytest -p no:proctor.pytest_plugin -p ctrf_option "$@"
"""
"""Of what is installed beside pytest, Proctor's own plugin is of no use inside."""
_CTRF = '''"""The option --ctrf, which most test scripts ask for: a report of each test, as JSON."""

import json

RESULTS = {}


def pytest_addoption(parser):
    parser.addoption("--ctrf", default=None, help="write a report to this file")


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        about = {"name": report.nodeid, "status": report.outcome, "duration": report.duration}
        RESULTS[report.nodeid] = about


def pytest_sessionfinish(session):
    place = session.config.getoption("--ctrf")
    if not place:
        return
    tests = list(RESULTS.values())
    summary = {"tests": len(tests), "pending": 0, "other": 0}
    for word in ("passed", "failed", "skipped"):
        summary[word] = sum(one["status"] == word for one in tests)
    results = {"tool": {"name": "pytest"}, "summary": summary, "tests": tests}
    with open(place, "w", encoding="utf-8") as file:
        json.dump({"results": results}, file)
'''
