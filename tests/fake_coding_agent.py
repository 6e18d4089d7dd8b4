"""Write a fake command-line agent that stands for the real ones: same words, same calls.

It is started as Claude Code, Codex, Gemini CLI, opencode or an agent of the protocol would be,
asks the model in that one's API, does what the model calls for with a shell, and tells its steps
as the real one does.
"""

import os
import sys
from pathlib import Path

SOURCE = r"""
import json, os, subprocess, sys, urllib.request

PROGRAM = os.path.basename(sys.argv[0])
WHOLE = os.environ.get("FAKE_WHOLE") == "1"
TOOL = {"claude": "Bash", "codex": "exec_command", "gemini": "run_shell_command",
        "opencode": "bash", "acp": "bash"}[PROGRAM]


def post(url, body):
    headers = {"content-type": "application/json", "authorization": "Bearer none"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        text = answer.read().decode()
        if "event-stream" not in answer.headers["content-type"]:
            return [json.loads(text)]
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


def claude(messages):
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages?beta=true"
    tools = [{"name": TOOL, "input_schema": {"type": "object"}}]
    body = {"model": "mine", "max_tokens": 99, "messages": messages, "tools": tools}
    parts = post(url, {**body, "stream": not WHOLE})
    if WHOLE:
        block = parts[0]["content"][0]
        return block.get("text"), block.get("input")
    delta = next(p["delta"] for p in parts if p["type"] == "content_block_delta")
    if "partial_json" in delta:
        return None, json.loads(delta["partial_json"])
    return delta["text"], None


def codex(messages):
    home = os.environ.get("CODEX_HOME") or os.environ["HOME"] + "/.codex"
    config = open(home + "/config.toml").read()
    base = config.split('base_url = "')[1].split('"')[0]
    body = {"model": "mine", "input": messages, "tools": [{"type": "function", "name": TOOL}]}
    parts = post(base + "/responses", {**body, "stream": not WHOLE})
    whole = parts[-1] if WHOLE else parts[-1]["response"]
    item = whole["output"][0]
    if item["type"] == "function_call":
        return None, json.loads(item["arguments"])
    return item["content"][0]["text"], None


def gemini(messages):
    url = os.environ["GOOGLE_GEMINI_BASE_URL"] + "/v1beta/models/mine:"
    url += "generateContent" if WHOLE else "streamGenerateContent?alt=sse"
    tools = [{"functionDeclarations": [{"name": TOOL}]}]
    part = post(url, {"contents": messages, "tools": tools})[0]
    part = part["candidates"][0]["content"]["parts"][0]
    return part.get("text"), part.get("functionCall", {}).get("args")


def chat(messages):
    base = os.environ.get("OPENAI_BASE_URL", "")
    if PROGRAM == "opencode":
        config = json.load(open(os.environ["HOME"] + "/.config/opencode/opencode.json"))
        base = config["provider"]["proctor"]["options"]["baseURL"]
    tools = [{"type": "function", "function": {"name": TOOL}}]
    body = {"model": "mine", "messages": messages, "tools": tools}
    parts = post(base + "/chat/completions", {**body, "stream": not WHOLE})
    choice = parts[0]["choices"][0]
    message = choice["message" if WHOLE else "delta"]
    if message.get("tool_calls"):
        return None, json.loads(message["tool_calls"][0]["function"]["arguments"])
    return message["content"], None


def told(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def work(prompt, on_tool):
    ask = {"claude": claude, "codex": codex, "gemini": gemini}.get(PROGRAM, chat)
    messages = [{"role": "user", "content": prompt}]
    while True:
        text, call = ask(messages)
        if call is None:
            return text
        command = call.get("command") or call.get("cmd")
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True)
        on_tool(call, done.stdout + done.stderr, done.returncode)
        messages.append({"role": "user", "content": done.stdout})


def once():
    prompt = sys.stdin.read()
    if PROGRAM == "claude":
        told("system", subtype="init", session_id="s1")
        def on_tool(call, out, code):
            block = {"type": "tool_use", "id": "t", "name": TOOL, "input": call}
            told("assistant", message={"content": [block]})
            result = {"type": "tool_result", "tool_use_id": "t", "content": out}
            told("user", message={"content": [result]})
        text = work(prompt, on_tool)
        told("assistant", message={"content": [{"type": "text", "text": text}]})
        told("result", subtype="success", is_error=False, result=text, session_id="s1")
    elif PROGRAM == "codex":
        told("thread.started", thread_id="s1")
        def on_tool(call, out, code):
            told("item.completed", item={"type": "command_execution", "command": call["cmd"],
                 "aggregated_output": out, "exit_code": code, "status": "completed"})
        text = work(prompt, on_tool)
        told("item.completed", item={"type": "agent_message", "text": text})
        told("turn.completed", usage={"input_tokens": 1, "output_tokens": 1})
    elif PROGRAM == "gemini":
        told("init", session_id="s1")
        def on_tool(call, out, code):
            told("tool_use", tool_name=TOOL, tool_id="t", parameters=call)
            told("tool_result", tool_id="t", status="success", output=out)
        text = work(prompt, on_tool)
        told("message", role="assistant", content=text)
        told("result", status="success")
    else:
        def on_tool(call, out, code):
            state = {"input": call, "output": out, "status": "completed"}
            told("tool_use", sessionID="s1", part={"tool": TOOL, "state": state})
        text = work(prompt, on_tool)
        told("text", sessionID="s1", part={"text": text})


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(**fields):
    send(method="session/update", params={"sessionId": "s1", "update": fields})


def protocol():
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["method"] == "initialize":
            send(id=asked["id"], result={"protocolVersion": 1})
        elif asked["method"] == "session/new":
            send(id=asked["id"], result={"sessionId": "s1"})
        else:
            options = [{"optionId": "yes", "kind": "allow_once"}]
            send(id=77, method="session/request_permission", params={"options": options})
            answer = json.loads(sys.stdin.readline())
            assert answer["result"]["outcome"]["optionId"] == "yes", answer
            def on_tool(call, out, code):
                update(sessionUpdate="tool_call", toolCallId="t", title=TOOL, rawInput=call)
                update(sessionUpdate="tool_call_update", toolCallId="t", status="completed",
                       rawOutput=out)
            text = work(asked["params"]["prompt"][0]["text"], on_tool)
            content = {"type": "text", "text": text}
            update(sessionUpdate="agent_message_chunk", content=content)
            send(id=asked["id"], result={"stopReason": "end_turn"})


protocol() if PROGRAM == "acp" else once()
"""

TOOLS = {
    "claude-code": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "gemini-cli": ("run_shell_command", "command"),
    "opencode": ("bash", "command"),
    "acp": ("bash", "command"),
}
"""The tool of each agent that runs commands, and the name of its argument."""
PROVIDERS = {
    "claude-code": ("anthropic:m", ""),
    "codex": ("openai:m", "/v1"),
    "gemini-cli": ("gemini:m", ""),
    "opencode": ("openai:m", "/v1"),
    "acp": ("openai:m", "/v1"),
}
"""The model that each agent is given, and where its API begins."""
PROGRAMS = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "acp": "acp",
}


def write_fake(folder: Path, agent: str) -> str:
    """Write the program that stands for an agent, and return where it lies."""
    program = folder / PROGRAMS[agent]
    program.write_text(f"#!{os.path.realpath(sys.executable)} -IS\n{SOURCE}", "utf-8")
    program.chmod(0o755)
    return str(program)
