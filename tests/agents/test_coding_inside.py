"""Coding agents inside the environments of tasks: in a root of their own, and in containers."""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from atif import AtifTrajectory
from fake_coding_agent import PROGRAMS, PROVIDERS, TOOLS, write_fake
from proctor.agents.coding_inside import installed, look_around
from proctor.agents.coding_turn import AgentTurn
from proctor.contracts.environment import Environment
from proctor.core.environment import EnvironmentNeeds
from proctor.errors import ModelError
from proctor.sandboxes.own_root import OwnRoot
from scripted_model import ScriptedModel

TASKS = Path(__file__).parents[1] / "data" / "harbor"
REAL = {"claude-code": "claude", "codex": "codex"}
SECRET = "the-real-key"
WORK = (
    "pwd; echo hello >hello.txt; env; ls /tests 2>&1;"
    " bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>&1; true"
)
SECONDS = 300


class Examined:
    """A run of a coding agent on a task, with all that is known of its attempt."""

    def __init__(
        self, proctor: str, here: Path, agent: str, program: str, *more: str, task: str = "greeting",
        image: str = "", script: tuple[dict[str, Any], ...] = (),
    ) -> None:  # fmt: skip
        self.proctor, self.here = proctor, here
        self.task = here / "tasks" / task
        shutil.copytree(TASKS / task, self.task)
        settings = self.task / "task.toml"
        # An agent needs more memory than these tasks do, and shares what there is.
        text = settings.read_text().replace("memory_mb = 256", "memory_mb = 2048")
        settings.write_text(text.replace("timeout_sec = 20", f"timeout_sec = {SECONDS}"))
        if image:
            (self.task / "environment" / "Dockerfile").write_text(f"FROM {image}\nWORKDIR /app\n")
        spec, path = PROVIDERS[agent]
        name = f"acp:{program}" if agent == "acp" else agent
        options = [] if agent == "acp" else ["--agent-option", f"program={program}"]
        keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), SECRET)
        self.env = {**os.environ, **keys, "PROCTOR_STORE": str(here / "runs.db")}
        with ScriptedModel(()) as model:
            tool, word = TOOLS[agent]
            command = WORK.format(port=model.url.rpartition(":")[2])
            model.steps = script or (
                {"tool": tool, "input": {word: command, "description": "work"}},
                {"text": "It is done."},
            )
            self.ran = subprocess.run(
                [proctor, "run", "tasks", "--agent", name, *options, "--cases", "--json",
                 "--proxy", f"{spec}@{model.url}{path}", "--price", f"{spec}=1/10", *more],
                cwd=here, env=self.env, capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.requests = list(model.requests)
        assert self.ran.stdout, self.ran.stderr
        self.report = json.loads(self.ran.stdout)
        (self.case,) = self.report["cases"]
        (self.attempt,) = self.case["attempts"]

    def told(self, *words: str) -> str:
        """Return what a command says of the run."""
        command = [self.proctor, *words]
        done = subprocess.run(
            command, cwd=self.here, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def check_worked(examined: Examined, agent: str) -> None:
    """Check that the agent did the task inside, by the proxy alone, and that all of it is kept."""
    assert examined.ran.returncode == 0, examined.ran.stderr
    assert examined.case["value"] == 1.0, examined.case
    used = examined.report["usage"]
    used = used.get("candidate", used)
    assert (used["calls"], used["prompt_tokens"], used["completion_tokens"]) == (2, 2000, 20)
    cached = 0.1 if agent == "claude-code" else 1.0
    assert used["cost"] == pytest.approx(2 * (600 + 400 * cached + 10 * 10) / 1e6)
    shown = examined.told("show", "@last", "greeting", "--json")
    assert SECRET not in shown
    assert "HOME=/root" in shown, "a task's own home is that of its tools"
    assert "\\n/app\\n" in shown or '"/app\\n' in shown, "it works in the task's folder"
    assert "Connection refused" in shown, "the model itself is out of reach, past the proxy"
    assert str(examined.here) not in shown.replace(str(examined.here / "runs.db"), "")
    examined.told("export", "@last", "--as", "harbor", "--out", "job")
    (trial,) = (examined.here / "job").iterdir()
    trajectory = AtifTrajectory.model_validate_json(
        (trial / "agent" / "trajectory.json").read_text()
    )
    user, worked, ended = trajectory.steps
    assert (user.source, ended.message) == ("user", "It is done.")
    assert worked.metrics is not None
    assert worked.metrics.prompt_tokens == 1000
    assert worked.observation is not None
    assert "HOME=/root" in worked.observation.results[0].content


@pytest.mark.sandbox
@pytest.mark.parametrize("agent", PROGRAMS)
def test_a_fake_agent_does_a_task(proctor: str, tmp_path: Path, agent: str) -> None:
    examined = Examined(proctor, tmp_path, agent, write_fake(tmp_path, agent))
    check_worked(examined, agent)


@pytest.mark.sandbox
@pytest.mark.parametrize("agent", ["claude-code", "opencode"])
def test_steps_are_turns_of_one_session_and_other_users_work_too(
    proctor: str, tmp_path: Path, agent: str
) -> None:
    tool, word = TOOLS[agent]
    script = (
        {"tool": tool, "input": {word: "echo 1 >count.txt"}},
        {"text": "One."},
        {"tool": tool, "input": {word: "echo 2 >count.txt"}},
        {"text": "Two."},
    )
    program = write_fake(tmp_path, agent)
    examined = Examined(proctor, tmp_path, agent, program, task="steps", script=script)
    assert examined.case["value"] == 1.0, examined.ran.stdout
    assert len(examined.requests) == 4


@pytest.mark.sandbox
def test_a_variant_s_files_lie_inside(proctor: str, tmp_path: Path) -> None:
    (tmp_path / "skills" / "greeting").mkdir(parents=True)
    (tmp_path / "skills" / "greeting" / "SKILL.md").write_text("Greet.\n")
    (tmp_path / "overlay" / "conf").mkdir(parents=True)
    (tmp_path / "overlay" / "conf" / "style.toml").write_text("width = 100\n")
    (tmp_path / "overlay" / "CLAUDE.md").write_text("Be brief.\n")
    command = "cat CLAUDE.md conf/style.toml $CLAUDE_CONFIG_DIR/skills/greeting/SKILL.md; id -un; echo hello >hello.txt; echo $MODE"
    script = ({"tool": "Bash", "input": {"command": command}}, {"text": "Done."})
    more = [
        "skills=skills",
        "files=overlay",
        "instructions=Use the skill.",
        'env={"MODE": "careful"}',
    ]
    options = [word for option in more for word in ("--agent-option", option)]
    program = write_fake(tmp_path, "claude-code")
    examined = Examined(proctor, tmp_path, "claude-code", program, *options, script=script)
    assert examined.case["value"] == 1.0, examined.ran.stdout
    shown = examined.told("show", "@last", "greeting", "--json")
    for words in ("Be brief.\\n\\n\\nUse the skill.\\n", "width = 100", "Greet.", "careful"):
        assert words in shown


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("body", "cause", "words"),
    [
        ("raise SystemExit('broken')", "candidate", "broken"),
        ("print('{}')", "candidate", "it ended without a reply"),
    ],
)
def test_one_that_breaks_is_told(
    proctor: str, tmp_path: Path, body: str, cause: str, words: str
) -> None:
    program = Path(write_fake(tmp_path, "claude-code"))
    first = program.read_text().partition("\n")[0]
    program.write_text(f"{first}\n{body}\n")
    examined = Examined(proctor, tmp_path, "claude-code", str(program))
    assert examined.attempt["cause"] == cause
    assert words in examined.told("show", "@last", "greeting")


@pytest.mark.sandbox
def test_a_limit_ends_it_and_what_it_did_counts(proctor: str, tmp_path: Path) -> None:
    script = (
        {"tool": "Bash", "input": {"command": "echo hello >hello.txt; sleep 600"}},
        {"text": "Never."},
    )
    program = write_fake(tmp_path, "claude-code")
    limit = ("--agent-option", "timeout=5")
    examined = Examined(proctor, tmp_path, "claude-code", program, *limit, script=script)
    assert examined.case["value"] == 1.0, examined.ran.stdout
    assert "it passed the limit on" in examined.told("show", "@last", "greeting")


@pytest.mark.sandbox
def test_what_is_missing_inside_is_named(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/opt/never/there\n")
    how = installed(str(program))

    async def looked() -> None:
        environment: Environment = OwnRoot(needs=EnvironmentNeeds())
        environment.mounts = how.mounts
        try:
            await environment.start()
            await look_around(environment, "agent", how)
        finally:
            await environment.close()

    with pytest.raises(ModelError, match="there is no /opt/never/there in it") as raised:
        asyncio.run(looked())
    assert raised.value.cause == "environment"


def test_how_programs_are_brought_inside(tmp_path: Path) -> None:
    modules = tmp_path / "node_modules"
    (modules / "pkg").mkdir(parents=True)
    (modules / ".bin").mkdir()
    script = modules / "pkg" / "cli.js"
    script.write_text("#!/usr/bin/env other\n")
    (modules / ".bin" / "cli").symlink_to(script)
    how = installed(str(modules / ".bin" / "cli"))
    assert how.argv == ("/proctor/agent/node_modules/pkg/cli.js",)
    assert how.mounts == {"/proctor/agent/node_modules": str(modules)}
    assert how.requires == ("other",)
    system = installed("/usr/bin/env", from_system=True)
    assert (system.argv, system.mounts, system.requires) == (("env",), {}, ("env",))
    whole = installed("/usr/bin/env")
    assert whole.mounts == {"/proctor/agent/program/env": os.path.realpath("/usr/bin/env")}
    assert whole.loader
    assert whole.requires == (whole.loader,)
    with pytest.raises(ModelError, match="cannot be read"):
        installed(str(tmp_path / "nowhere"))


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here")
def test_a_script_of_node_brings_node_with_its_libraries(tmp_path: Path) -> None:
    script = tmp_path / "cli.js"
    script.write_text("#!/usr/bin/env node\n")
    how = installed(str(script))
    assert not how.requires
    assert how.argv[-1] == "/proctor/agent/program/cli.js"
    names = {Path(place).name for place in how.mounts}
    assert {"node", "loader", "libc.so.6", "cli.js"} <= names
    assert all(Path(place).is_file() for place in how.mounts.values())


def test_a_turn_is_read_into_a_round() -> None:
    assert AgentTurn(reply="a").to_json() == {"steps": [], "usage": None, "reply": "a"}
    assert AgentTurn(error="b").to_json() == {"steps": [], "usage": None, "error": "b"}


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.coding_agents
@pytest.mark.parametrize("agent", REAL)
def test_the_real_program_does_a_task(proctor: str, tmp_path: Path, agent: str) -> None:
    check_worked(Examined(proctor, tmp_path, agent, REAL[agent]), agent)


@pytest.fixture(scope="module")
def image() -> Any:
    """Make an image of this machine's own programs, with what any system's C library has."""
    root = Path(__file__).parents[2]
    packages = ("coreutils", "bash", "grep", "sed", "tar", "gzip", "findutils", "procps")
    listed = subprocess.run(["dpkg", "-L", *packages], capture_output=True, text=True, check=False)
    files = sorted({line for line in listed.stdout.splitlines() if "bin/" in line})
    libraries = subprocess.run(["dpkg", "-L", "libc6"], capture_output=True, text=True, check=False)
    wanted = ("libc.so.6", "librt.so.1", "libpthread.so.0", "libdl.so.2", "libm.so.6")
    files += [line for line in libraries.stdout.splitlines() if Path(line).name in wanted]
    name = "localhost/proctor-coding"
    subprocess.run([str(root / ".ci" / "container_image"), name, *files], check=True)
    yield name
    engine = shutil.which("podman") or "docker"
    subprocess.run([engine, "image", "rm", "--force", name], capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.container
@pytest.mark.parametrize("agent", ["gemini-cli", "acp"])
def test_a_fake_agent_does_a_task_in_a_container(
    proctor: str, tmp_path: Path, agent: str, image: str
) -> None:
    program = write_fake(tmp_path, agent)
    sandbox = ("--sandbox", f"docker:{image}")
    check_worked(Examined(proctor, tmp_path, agent, program, *sandbox, image=image), agent)


@pytest.mark.slow
@pytest.mark.container
@pytest.mark.coding_agents
@pytest.mark.parametrize("agent", REAL)
def test_the_real_program_does_a_task_in_a_container(
    proctor: str, tmp_path: Path, agent: str, image: str
) -> None:
    sandbox = ("--sandbox", f"docker:{image}")
    check_worked(Examined(proctor, tmp_path, agent, REAL[agent], *sandbox, image=image), agent)


@pytest.mark.slow
@pytest.mark.container
@pytest.mark.coding_agents
def test_an_image_without_its_libraries_is_told(proctor: str, tmp_path: Path, image: str) -> None:
    bare = f"{image}\nRUN rm -f /lib/*/librt.so.1 /usr/lib/*/librt.so.1"
    sandbox = ("--sandbox", f"docker:{image}")
    examined = Examined(proctor, tmp_path, "claude-code", "claude", *sandbox, image=bare)
    assert examined.attempt["cause"] == "environment"
    words = "cannot work in this environment: there is no librt.so.1 in it"
    assert words in examined.attempt["error"]
