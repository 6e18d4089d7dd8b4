"""Tasks in containers: solutions pass, nobody and cheats do not, and nothing is left behind."""

import asyncio
import io
import json
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from agents.test_in_environment import HACKS
from proctor.core.environment import EnvironmentNeeds
from proctor.errors import ModelError
from proctor.sandboxes.container_engine import find_engine
from proctor.sandboxes.container_environment import (
    ContainerEnvironment,
    _trimmed,
    pytest_places,
    task_image,
)

ROOT = Path(__file__).parents[2]
TASKS = ROOT / "tests" / "data" / "harbor"
ALL = sorted(path.name for path in TASKS.iterdir())
PACKAGES = ("coreutils", "bash", "grep", "sed", "tar", "gzip", "findutils", "procps", "util-linux")
IMAGE = "localhost/debian:12"
OTHER = "localhost/python:3.13-slim"


def test_an_image_is_taken_as_it_is_named() -> None:
    assert task_image(EnvironmentNeeds(image="mine:1", dockerfile="FROM x"), "usual") == "mine:1"
    assert task_image(EnvironmentNeeds(), "usual") == "usual"


def test_pytest_consists_of_files_that_any_python_reads() -> None:
    assert {place.name.removesuffix(".py") for place in pytest_places()} >= {"pytest", "_pytest"}


def engine(*words: str) -> "subprocess.CompletedProcess[str]":
    program = find_engine() or "podman"
    return subprocess.run([program, *words], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Make an image of this machine's own programs, under the names that our tasks begin from."""
    listed = subprocess.run(["dpkg", "-L", *PACKAGES], capture_output=True, text=True, check=False)
    programs = sorted({line for line in listed.stdout.splitlines() if "bin/" in line})
    subprocess.run([str(ROOT / ".ci" / "container_image"), IMAGE, *programs], check=True)
    engine("tag", IMAGE, OTHER)
    yield IMAGE
    engine("image", "rm", "--force", IMAGE, OTHER)


@pytest.fixture
def run(tmp_path: Path, proctor: str, image: str) -> Callable[..., Any]:
    def run_tasks(tasks: Path, agent: str, *more: str) -> Any:
        argv = [proctor, "run", str(tasks), "--agent", agent, "--cases", "--json"]
        argv += ["--sandbox", f"docker:{image}", *more]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        return json.loads(done.stdout)

    return run_tasks


@pytest.mark.slow
@pytest.mark.container
def test_solutions_pass_and_doing_nothing_fails(run: Callable[..., Any]) -> None:
    for agent, rate in (("oracle", 1.0), ("nop", 0.0)):
        report = run(TASKS, agent)
        assert {case["id"]: case["value"] for case in report["cases"]} == dict.fromkeys(ALL, rate)
    left = engine("ps", "--all", "--format", "{{.Names}}").stdout.split()
    assert not [name for name in left if name.startswith("proctor-")]


@pytest.mark.slow
@pytest.mark.container
@pytest.mark.parametrize("kind", HACKS)
def test_cheating_fails_and_is_named(run: Callable[..., Any], kind: str) -> None:
    script, words = HACKS[kind]
    agent = "exec:bash -c " + shlex.quote(f"{script}; echo done")
    (case,) = run(TASKS / "greeting", agent)["cases"]
    score = case["attempts"][0]["scores"][0]
    assert score["points"] == 0.0
    assert words in score["reason"]


@pytest.mark.slow
@pytest.mark.container
def test_what_cannot_be_built_is_told(run: Callable[..., Any], tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "broken"
    shutil.copytree(TASKS / "greeting", task)
    (task / "environment").mkdir(exist_ok=True)
    (task / "environment" / "Dockerfile").write_text(f"FROM {IMAGE}\nRUN exit 3\n")
    (case,) = run(task, "oracle")["cases"]
    (attempt,) = case["attempts"]
    assert (attempt["status"], attempt["cause"]) == ("error", "environment")
    assert "the environment cannot be built" in attempt["error"]


def test_an_engine_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.sandboxes import container_environment

    monkeypatch.setattr(container_environment, "find_engine", lambda: "/usr/bin/false")
    with pytest.raises(ModelError, match="cannot be built"):
        task_image(EnvironmentNeeds(dockerfile="FROM x\n# never built"), "usual")


@pytest.mark.slow
@pytest.mark.container
def test_limits_of_a_task_are_given_to_the_engine(image: str) -> None:
    async def limits() -> str:
        needs = EnvironmentNeeds(cpus=0.5, memory=256 * 1024 * 1024)
        environment = ContainerEnvironment(needs=needs, image=image)
        try:
            await environment.start()
            form = "{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}}"
            return engine("inspect", "--format", form, environment.name).stdout.strip()
        finally:
            await environment.close()

    assert asyncio.run(limits()) == "500000000 268435456 512"


@pytest.mark.slow
@pytest.mark.container
def test_an_image_is_built_anew_if_its_base_or_a_file_changes(image: str, tmp_path: Path) -> None:
    base = "localhost/proctor-test-base"

    def made(text: str) -> tuple[str, str]:
        needs = EnvironmentNeeds(
            dockerfile=f"FROM {base}\nCOPY a.txt /a.txt\n", files={"a.txt": text}
        )
        tag = task_image(needs, "usual")
        words = ("run", "--rm", "--network", "none", "--ulimit", "nofile=1024:1024")
        shown = engine(*words, "--ulimit", "nproc=1024:1024", tag, "cat", "/a.txt", "/etc/kind")
        return tag, shown.stdout

    def set_base(kind: str) -> None:
        (tmp_path / "Dockerfile").write_text(f"FROM {image}\nCOPY kind /etc/kind\n")
        (tmp_path / "kind").write_text(kind)
        done = engine("build", "--quiet", "--tag", base, str(tmp_path))
        assert done.returncode == 0, done.stderr

    tags = set()
    try:
        set_base("old\n")
        first = made("one\n")
        tags.add(first[0])
        assert first[1] == "one\nold\n"
        assert made("one\n") == first
        other = made("two\n")
        tags.add(other[0])
        assert (other[0] != first[0], other[1]) == (True, "two\nold\n")
        set_base("new\n")
        anew = made("one\n")
        tags.add(anew[0])
        assert anew[1] == "one\nnew\n"
        assert len(tags) == 3
    finally:
        engine("image", "rm", "--force", *tags, base)


ROOTLESS = "proctor-rootless"
"""An ordinary user; ``.ci/prepare`` makes one of this name."""


def as_user(*words: str, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run words as the ordinary user, with packages of this Python."""
    about = pwd.getpwnam(ROOTLESS)
    runtime = Path("/run/user", str(about.pw_uid))
    if not runtime.exists():
        runtime.mkdir(mode=0o700, parents=True)
        os.chown(runtime, about.pw_uid, about.pw_gid)
    places = [str(ROOT / "src"), *(path for path in sys.path if path.endswith("site-packages"))]
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": about.pw_dir,
           "XDG_RUNTIME_DIR": str(runtime), "PYTHONPATH": os.pathsep.join(places),
           "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip
    if "CONTAINERS_CONF" in os.environ:
        env["CONTAINERS_CONF"] = os.environ["CONTAINERS_CONF"]
    return subprocess.run(
        words, cwd=folder or about.pw_dir, env=env, capture_output=True, text=True, check=False,
        user=about.pw_uid, group=about.pw_gid, extra_groups=[], start_new_session=True,
    )  # fmt: skip


def no_rootless() -> str:
    """Say why containers cannot be tried as an ordinary user here; empty where they can be."""
    if os.geteuid() != 0:
        return "only the superuser may become somebody else"
    try:
        pwd.getpwnam(ROOTLESS)
    except KeyError:
        return f"there is no user {ROOTLESS}"
    tried = as_user("podman", "info")
    return "" if tried.returncode == 0 else f"podman does not work for {ROOTLESS}: {tried.stderr}"


def shared_python() -> str:
    """Return a Python that anybody may start and that takes our packages; empty for none."""
    minor = f"python3.{sys.version_info.minor}"
    for name in (os.path.realpath(sys.executable), f"/usr/bin/{minor}", f"/usr/local/bin/{minor}"):
        # A folder of somebody else may not even be looked into.
        with suppress(OSError):
            if (
                as_user(name, "-c", "import proctor.cli.main, pydantic_core, orjson").returncode
                == 0
            ):
                return name
    return ""


@pytest.mark.slow
@pytest.mark.container
def test_tasks_run_without_a_superuser(image: str, tmp_path: Path) -> None:
    if why := no_rootless():
        pytest.skip(why)
    if not (python := shared_python()):
        pytest.skip("no Python that an ordinary user may start has our packages")
    packed = tmp_path / "image.tar"
    assert engine("save", "--output", str(packed), image).returncode == 0
    home = Path(pwd.getpwnam(ROOTLESS).pw_dir)
    place = home / "image.tar"
    shutil.copy(packed, place)
    place.chmod(0o644)
    folder = home / "tasks"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        shutil.copytree(TASKS / "greeting", folder / "greeting")
        shutil.chown(folder, ROOTLESS)
        loaded = as_user("podman", "load", "--input", str(place))
        assert loaded.returncode == 0, loaded.stderr
        words = ["run", "greeting", "--agent", "oracle", "--sandbox", f"docker:{image}"]
        ran = as_user(python, "-m", "proctor", *words, "--cases", "--json", folder=folder)
        assert ran.stdout, ran.stderr
        (case,) = json.loads(ran.stdout)["cases"]
        assert case["value"] == 1.0, case
        assert as_user("podman", "ps", "--all", "--quiet").stdout.split() == []
    finally:
        as_user("podman", "image", "rm", "--force", image)
        shutil.rmtree(folder, ignore_errors=True)
        place.unlink(missing_ok=True)


def test_an_archive_ends_where_engines_stop_reading() -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        about = tarfile.TarInfo("zeros")
        about.size = 2000
        archive.addfile(about, io.BytesIO(bytes(2000)))
    trimmed = _trimmed(packed.getvalue())
    assert len(trimmed) == 512 + 2048 + 1024
    assert _trimmed(trimmed) == trimmed
    with tarfile.open(fileobj=io.BytesIO(trimmed)) as archive:
        content = archive.extractfile("zeros")
        assert content is not None
        assert content.read() == bytes(2000)
