"""Coding agents under a scripted model: marks, steps, tokens, cost, a budget, and no way out.

A fake program stands for each of them in all four APIs; the real ones, from npm, are driven where
they are installed.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fake_coding_agent import PROVIDERS, TOOLS, write_fake
from proctor import registry
from proctor.agents.acp import AcpAgent
from proctor.agents.claude_code import ClaudeCode
from proctor.agents.codex import Codex
from proctor.agents.coding import CodingAgent
from proctor.agents.coding_turn import Proxied, events_of
from proctor.agents.gemini_cli import GeminiCli
from proctor.agents.opencode import OpenCode
from proctor.core.suite import Spec
from scripted_model import ScriptedModel

pytestmark = pytest.mark.sandbox

SUITE = """\
name: fix
cases:
  - id: bug
    ask: The function add in calc.py is wrong. Mend it.
    files: [calc.py]
    criteria:
      - contains: mended
"""
MEND = "sed -i 's/a - b/a + b/' calc.py && cat calc.py; env; tr '\\0' ' ' < /proc/1/environ; ls {here} 2>&1"
PEEK = "; (exec 3<>/dev/tcp/{host}/{port}) 2>&1"
KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY")
SECRET = "the-real-key"


def run(
    proctor: str, here: Path, agent: str, program: str, model: ScriptedModel, *more: str
) -> tuple[int, dict[str, Any], str]:
    """Examine an agent on the suite, and return the run with all that is known of its attempt."""
    (here / "fix.yaml").write_text(SUITE)
    (here / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (here / "test_calc.py").write_text("from calc import add\nassert add(2, 3) == 5\n")
    spec, path = PROVIDERS[agent]
    name = f"acp:{program}" if agent == "acp" else agent
    options = [] if agent == "acp" else ["--agent-option", f"program={program}"]
    env = {**os.environ, **dict.fromkeys(KEYS, SECRET), "PROCTOR_STORE": str(here / "runs.db")}
    command = [proctor, "run", "fix.yaml", "--agent", name, *options]
    command += ["--proxy", f"{spec}@{model.url}{path}", "--price", f"{spec}=1/10"]
    ran = subprocess.run(
        [*command, "--json", *more], cwd=here, env=env, capture_output=True, text=True, check=False
    )
    shown = subprocess.run(
        [proctor, "show", "@last", "bug", "--json"],
        cwd=here, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.stdout, ran.stderr
    return ran.returncode, json.loads(ran.stdout), shown.stdout


def steps(agent: str, here: Path, url: str) -> list[dict[str, Any]]:
    tool, word = TOOLS[agent]
    command = MEND.format(here=here)
    return [
        {"tool": tool, "input": {word: command, "description": "mend"}},
        {"text": "It is mended."},
    ]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("agent", TOOLS)
def test_a_fake_agent_in_each_api(proctor: str, tmp_path: Path, agent: str, whole: bool) -> None:
    program = write_fake(tmp_path, agent)
    with ScriptedModel(()) as model:
        model.steps = steps(agent, tmp_path, model.url)
        option = f'env={{"FAKE_WHOLE": "{int(whole)}"}}'
        code, summary, shown = run(
            proctor, tmp_path, agent, program, model, "--agent-option", option
        )
    assert code == 0, summary
    check_mended(summary, shown, agent, tmp_path)
    assert not model.refused
    assert {path.partition("?")[0].rpartition("/")[2] for path, _ in model.requests} == {
        {
            "claude-code": "messages",
            "codex": "responses",
            "gemini-cli": "m:generateContent" if whole else "m:streamGenerateContent",
        }.get(agent, "completions")
    }
    assert {body.get("model", "m") for _, body in model.requests} == {"m"}


def check_mended(summary: dict[str, Any], shown: str, agent: str, here: Path) -> None:
    assert summary["groups"]["metric"]["contains"]["score"] == 1
    used = (
        summary["usage"]["candidate"]
        if "candidate" in summary.get("usage", {})
        else summary["usage"]
    )
    assert (used["calls"], used["prompt_tokens"], used["completion_tokens"]) == (2, 2000, 20)
    cached = 0.1 if agent == "claude-code" else 1.0
    assert used["cost"] == pytest.approx(2 * (600 + 400 * cached + 10 * 10) / 1e6)
    assert SECRET not in shown
    assert "return a + b" in shown
    assert f"{here / 'fix.yaml'}" not in shown
    assert "fix.yaml" not in shown, "the agent sees nothing of the folder with the suite"


def test_calls_on_a_cassette_are_played_back_without_a_model(proctor: str, tmp_path: Path) -> None:
    program = write_fake(tmp_path, "claude-code")
    with ScriptedModel(()) as model:
        model.steps = steps("claude-code", tmp_path, model.url)
        recorded = ("--record", "calls.jsonl")
        code, _, _ = run(proctor, tmp_path, "claude-code", program, model, *recorded)
        asked = len(model.requests)
        command = [proctor, "run", "fix.yaml", "--agent", "claude-code"]
        command += ["--agent-option", f"program={program}", "--proxy", "replay:calls.jsonl"]
        again = subprocess.run(
            [*command, "--store", str(tmp_path / "other.db")],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert (code, again.returncode) == (0, 0), again.stderr
    assert "100.00%" in again.stdout
    assert len(model.requests) == asked
    assert SECRET not in (tmp_path / "calls.jsonl").read_text()


@pytest.mark.parametrize(
    ("agent", "proxy", "words"),
    [
        ("claude-code", (), "needs a model for its calls"),
        ("claude-code", ("--proxy", "gemini:m@http://127.0.0.1:9"), "asks by Messages, and"),
    ],
)
def test_a_model_that_it_cannot_ask_is_refused(
    proctor: str, tmp_path: Path, agent: str, proxy: tuple[str, ...], words: str
) -> None:
    (tmp_path / "fix.yaml").write_text(SUITE.replace("    files: [calc.py]\n", ""))
    program = write_fake(tmp_path, agent)
    command = [proctor, "run", "fix.yaml", "--agent", agent, "--agent-option", f"program={program}"]
    env = {**os.environ, "GEMINI_API_KEY": "k", "PROCTOR_STORE": str(tmp_path / "runs.db")}
    ran = subprocess.run(
        [*command, *proxy], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert words in ran.stderr


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_a_provider_s_fault_is_no_score_and_is_mended_by_the_next_run(
    proctor: str, tmp_path: Path, agent: str, status: int
) -> None:
    program = write_fake(tmp_path, agent)
    with ScriptedModel((), status=status) as model:
        model.steps = steps(agent, tmp_path, model.url)
        code, _, _ = run(proctor, tmp_path, agent, program, model)
        failed = attempt_of(proctor, tmp_path)
        model.status = None
        again, summary, _ = run(proctor, tmp_path, agent, program, model)
    assert (code, again) == (3, 0)
    assert (failed["cause"], failed["status"]) == ("provider", "error")
    assert f"status {status}" in failed["error"]
    assert summary["groups"]["metric"]["contains"]["score"] == 1


@pytest.mark.parametrize(
    ("body", "cause", "status"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "environment", "error"),
        ("raise SystemExit('broken')", "candidate", "error"),
        ("import time; time.sleep(60)", "limit", "unanswered"),
    ],
)
def test_other_faults(proctor: str, tmp_path: Path, body: str, cause: str, status: str) -> None:
    program = tmp_path / "claude"
    program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{body}\n", "utf-8")
    program.chmod(0o755)
    with ScriptedModel(()) as model:
        run(proctor, tmp_path, "claude-code", str(program), model, "--agent-option", "timeout=8")
    failed = attempt_of(proctor, tmp_path)
    assert (failed["cause"], failed["status"]) == (cause, status)


def attempt_of(proctor: str, here: Path) -> dict[str, Any]:
    """Return the attempt of the last run, as its report in JSON has it."""
    command = [proctor, "report", "@last", "--json", "--cases", "--store", str(here / "runs.db")]
    ran = subprocess.run(command, cwd=here, capture_output=True, text=True, check=False)
    (attempt,) = json.loads(ran.stdout)["cases"][0]["attempts"]
    return dict(attempt)


EVENTS: list[tuple[type[CodingAgent], list[dict[str, Any]], dict[str, Any]]] = [
    (
        ClaudeCode,
        [
            {"type": "result", "is_error": True, "result": "API Error: 429", "session_id": "s"},
        ],
        {"error": "API Error: 429", "session": "s", "reply": None},
    ),
    (
        Codex,
        [
            {"type": "error", "message": "Reconnecting... 1/5"},
            {"type": "turn.failed", "error": {"message": "exceeded retry limit"}},
        ],
        {"error": "exceeded retry limit", "reply": None},
    ),
    (
        Codex,
        [
            {"type": "item.completed", "item": {"type": "file_change", "status": "completed",
                                                "changes": [{"path": "a", "kind": "add"}]}},
            {"type": "item.completed", "item": {"type": "mcp_tool_call", "server": "db",
                                                "tool": "ask", "arguments": {"q": 1}, "result": "2"}},
            {"type": "item.completed", "item": {"type": "agent_message", "text": "a"}},
            {"type": "item.completed", "item": {"type": "agent_message", "text": "b"}},
        ],
        {
            "steps": [
                {"tool": "apply_patch", "input": [{"path": "a", "kind": "add"}], "output": "completed"},
                {"tool": "db.ask", "input": {"q": 1}, "output": "2"},
                "a",
            ],
            "reply": "b",
        },
    ),
    (
        GeminiCli,
        [{"type": "result", "status": "error", "error": {"message": "quota"}}],
        {"error": "quota"},
    ),
    (
        OpenCode,
        [{"type": "error", "sessionID": "s", "error": {"data": {"message": "no"}}}],
        {"error": "no", "session": "s"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "events", "expected"), EVENTS)
def test_what_a_transcript_tells(
    kind: type[CodingAgent], events: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    told = kind().read(events)
    assert {name: getattr(told, name) for name in expected} == expected


def test_lines_that_are_no_json_are_passed_over() -> None:
    assert events_of(b'warning\n{"a": 1}\n[2]\n\xff\n') == [{"a": 1}]


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini-cli", "opencode"])
def test_one_that_is_missing_is_told_with_how_to_install_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    agent: CodingAgent = registry.build("candidate", Spec(name=name))
    (problem,) = [one for one in agent.problems() if "program" in one]
    assert f"npm install --global {agent.package}" in problem


PROXIED = Proxied(url="http://127.0.0.1:1/s", model="m")
MCP = {"db": {"command": "serve", "args": ["-x"], "env": {"A": "b"}}}


def test_a_variant_reaches_each_program_in_its_own_way() -> None:
    claude = ClaudeCode(mcp=MCP, tools=("Bash", "Read")).argv("s1", PROXIED)
    assert claude[claude.index("--tools") + 1] == "Bash,Read"
    assert json.loads(claude[claude.index("--mcp-config") + 1]) == {"mcpServers": MCP}
    assert claude[claude.index("--resume") + 1] == "s1"
    codex = Codex(mcp=MCP).settings(PROXIED)[".codex/config.toml"]
    assert '[mcp_servers."db"]\ncommand = "serve"\nargs = ["-x"]\nenv."A" = "b"' in codex
    assert Codex().argv("s1", PROXIED)[-3:] == ["resume", "s1", "-"]
    gemini = json.loads(GeminiCli(mcp=MCP, tools=("a",)).settings(PROXIED)[".gemini/settings.json"])
    assert (gemini["mcpServers"], gemini["tools"]) == (MCP, {"core": ["a"]})
    opencode = json.loads(
        OpenCode(mcp=MCP, tools=("bash",)).settings(PROXIED)[".config/opencode/opencode.json"]
    )
    assert opencode["mcp"]["db"]["command"] == ["serve", "-x"]
    assert opencode["tools"] == {"*": False, "bash": True}
    assert any("no list of tools" in p for p in Codex(tools=("a",)).problems())
    assert any(
        "no folder of skills" in p for p in AcpAgent(acp_command="sh", skills="/").problems()
    )


def test_the_identity_follows_what_a_variant_holds(tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    (tmp_path / "skill" / "SKILL.md").write_text("one")
    plain, skilled = ClaudeCode(), ClaudeCode(skills=str(tmp_path))
    before = skilled.identity
    assert plain.identity != before
    (tmp_path / "skill" / "SKILL.md").write_text("two")
    assert skilled.identity != before


VARIED = """\
name: fix
cases:
  - id: bug
    ask: The function add in calc.py is wrong. Mend it.
    files: [calc.py, test_calc.py]
    criteria:
      - files_changed: {files: calc.py, only: calc.py}
      - command_ran: sed -i
      - tool_used: {tool: WebSearch, at_most: 0}
      - skill_used: mending
      - no_new_failures: python3 test_calc.py
"""
RUN_FILE = """\
suite: fix.yaml
agent: claude-code
agent_option: {program: ./claude}
proxy: anthropic:m@{url}
variants:
  plain:
  skilled:
    skills: skills
    files: overlay
    env: {MODE: careful}
    instructions: {file: told.md}
"""
SKILLED = "if [ -f ~/.claude/skills/mending/SKILL.md ]; then sed -i 's/a - b/a + b/' calc.py; fi; cat CLAUDE.md; env"


def test_variants_compare_case_by_case(proctor: str, tmp_path: Path) -> None:
    """Make a run with and one without a skill; only what the agent itself did counts."""
    write_fake(tmp_path, "claude-code")
    (tmp_path / "skills" / "mending").mkdir(parents=True)
    (tmp_path / "skills" / "mending" / "SKILL.md").write_text("Mend what is broken.\n")
    (tmp_path / "overlay" / "conf").mkdir(parents=True)
    (tmp_path / "overlay" / "conf" / "style.toml").write_text("width = 100\n")
    (tmp_path / "told.md").write_text("Use the skill.\n")
    (tmp_path / "fix.yaml").write_text(VARIED)
    (tmp_path / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (tmp_path / "test_calc.py").write_text("from calc import add\nassert add(0, 0) == 0\n")
    env = {**os.environ, "ANTHROPIC_API_KEY": SECRET, "PROCTOR_STORE": str(tmp_path / "runs.db")}

    def called(*words: str) -> Any:
        ran = subprocess.run(
            [proctor, *words, "--json"], cwd=tmp_path, env=env, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    with ScriptedModel(()) as model:
        call = {"tool": "Bash", "input": {"command": SKILLED}}
        model.steps = [call, {"text": "Done."}] * 2
        (tmp_path / "exam.yaml").write_text(RUN_FILE.replace("{url}", model.url))
        plain, skilled = called("run", "exam.yaml", "--cases")["runs"]
        asked = len(model.requests)
        called("run", "exam.yaml")
        assert len(model.requests) == asked, "nothing is asked twice"
    assert plain["run"]["candidate"].endswith("+plain")
    assert skilled["run"]["candidate"].endswith("+skilled")
    points = [
        {score["criterion"]: score["points"] for score in run["cases"][0]["attempts"][0]["scores"]}
        for run in (plain, skilled)
    ]
    used = {"command_ran": 1, "tool_used": 1, "skill_used": 1, "no_new_failures": 1}
    assert points == [{**used, "files_changed": 0}, {**used, "files_changed": 1}]
    shown = json.dumps(called("show", skilled["run"]["id"], "bug"))
    assert "Use the skill." in shown
    assert "MODE=careful" in shown
    compared = called("compare", plain["run"]["id"], skilled["run"]["id"])
    (pair,) = compared["pairs"]
    assert pair["rates"] == [0.8, 1.0]
    assert [flip["id"] for flip in pair["flips"]["better"]] == ["bug"]


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        ("variants: [a]", "'variants' are mappings by name"),
        ("variants: {a b: {}}", "a variant's name has letters"),
        ("variants: {a: {skills: nowhere}}", "there is no folder 'nowhere'"),
        ("variants: {a: {instructions: {file: nowhere}}}", "the file of instructions cannot"),
        ("variants: {a: 3}", "a variant is a mapping"),
        ("variants: {a: {colour: red}}", "colour"),
    ],
)
def test_mistakes_in_variants_are_told(
    proctor: str, tmp_path: Path, variants: str, words: str
) -> None:
    (tmp_path / "fix.yaml").write_text(
        "name: s\ncases:\n- {id: a, ask: b, criteria: {contains: c}}\n"
    )
    (tmp_path / "exam.yaml").write_text(
        f"suite: fix.yaml\nagent: codex\nproxy: openai:m@http://127.0.0.1:9/v1\n{variants}\n"
    )
    ran = subprocess.run(
        [proctor, "run", "exam.yaml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert words in ran.stderr


CHOICE = """\
suite: words.yaml
agent: exec:cat
variants:
  plain:
  told: {env: {MODE: told}}
  both: {env: {MODE: both}}
"""


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        ((), ["plain", "told", "both"]),
        (("--variant", "told"), ["told"]),
        (("--variant", "both", "--variant", "plain"), ["plain", "both"]),
    ],
)
def test_some_variants_are_run(
    proctor: str, tmp_path: Path, words: tuple[str, ...], labels: list[str]
) -> None:
    (tmp_path / "words.yaml").write_text(
        "name: s\ncases: [{id: a, ask: b, criteria: {contains: b}}]\n"
    )
    (tmp_path / "exam.yaml").write_text(CHOICE)
    ran = subprocess.run(
        [proctor, "run", "exam.yaml", *words, "--json"], cwd=tmp_path, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    runs = report.get("runs", [report])
    assert [run["run"]["candidate"].rpartition("+")[2] for run in runs] == labels


@pytest.mark.parametrize(
    ("file", "words", "told"),
    [
        (
            CHOICE,
            ("--variant", "tolt"),
            "there is no variant 'tolt' (there are: plain, told, both)",
        ),
        ("suite: words.yaml\nagent: exec:cat\n", ("--variant", "a"), "there are none"),
        (CHOICE, ("--variant", "told", "--agent", "exec:true"), "there are none"),
        (f"{CHOICE}variant: told\n", (), "a run file cannot set 'variant'"),
    ],
)
def test_variants_that_cannot_be_chosen(
    proctor: str, tmp_path: Path, file: str, words: tuple[str, ...], told: str
) -> None:
    (tmp_path / "words.yaml").write_text(
        "name: s\ncases: [{id: a, ask: b, criteria: {contains: b}}]\n"
    )
    (tmp_path / "exam.yaml").write_text(file)
    for command in ("run", "plan"):
        ran = subprocess.run(
            [proctor, command, "exam.yaml", *words], cwd=tmp_path, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert ran.returncode == 2, ran.stdout
        assert told in ran.stderr


REAL = {"claude-code": "claude", "codex": "codex"}


@pytest.mark.slow
@pytest.mark.coding_agents
@pytest.mark.parametrize("agent", REAL)
def test_the_real_program_mends_a_bug(proctor: str, tmp_path: Path, agent: str) -> None:
    with ScriptedModel(()) as model:
        model.steps = steps(agent, tmp_path, model.url)
        port = model.url.rpartition(":")[2]
        (_, word), call = TOOLS[agent], model.steps[0]["input"]
        call[word] += PEEK.format(host="127.0.0.1", port=port)
        code, summary, shown = run(proctor, tmp_path, agent, REAL[agent], model)
    assert code == 0, summary
    check_mended(summary, shown, agent, tmp_path)
    assert "Connection refused" in shown, "the model itself is out of reach, past the proxy"


@pytest.mark.slow
@pytest.mark.coding_agents
@pytest.mark.parametrize("agent", REAL)
def test_a_budget_stops_the_real_program(proctor: str, tmp_path: Path, agent: str) -> None:
    tool, word = TOOLS[agent]
    endless = [{"tool": tool, "input": {word: "true", "description": "nothing"}}]
    with ScriptedModel(endless) as model:
        code, _, _ = run(proctor, tmp_path, agent, REAL[agent], model, "--max-cost", "0.03")
    assert code == 3
    spent = len(model.requests) * (1000 if agent == "codex" else 640) + len(model.requests) * 100
    assert len(model.requests) > 2
    assert spent / 1e6 < 0.03 + 0.003


def test_what_an_agent_within_claude_does_belongs_to_the_call_that_began_it() -> None:
    def told(kind: str, within: str | None, **block: Any) -> dict[str, Any]:
        return {"type": kind, "parent_tool_use_id": within, "message": {"content": [block]}}

    turn = ClaudeCode().read([
        told("assistant", None, type="tool_use", id="t1", name="Task", input={"prompt": "look"}),
        told("assistant", "t1", type="text", text="I look."),
        told("assistant", "t1", type="tool_use", id="t2", name="Read", input={"path": "a"}),
        told("user", "t1", type="tool_result", tool_use_id="t2", content="1"),
        told("user", None, type="tool_result", tool_use_id="t1", content="found"),
        told("assistant", None, type="text", text="It is 1."),
        {"type": "result", "result": "It is 1."},
    ])  # fmt: skip
    inner = ["I look.", {"tool": "Read", "input": {"path": "a"}, "output": "1"}]
    task = {"tool": "Task", "input": {"prompt": "look"}, "output": "found", "steps": inner}
    assert (turn.steps, turn.reply) == ([task], "It is 1.")
