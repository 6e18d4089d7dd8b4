"""A model behind four APIs that answers by a script: tool calls, then a last word."""

import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKENS = (1000, 400, 10)
"""Tokens of every prompt, those of them that are cached, and tokens of every reply."""
Step = Mapping[str, Any]
"""``{"tool", "input"}``, or ``{"text"}``."""


class ScriptedModel:
    """A server on loopback; the n-th call with tools gets the n-th step, later ones the last."""

    def __init__(
        self, steps: Sequence[Step], key: str = "the-real-key", status: int | None = None
    ) -> None:
        self.steps, self.key, self.status = steps, key, status
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.refused: list[str] = []
        self._lock = threading.Lock()
        self._place = 0

    def __enter__(self) -> "ScriptedModel":
        model = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                pass

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers.get("content-length", 0)))
                model.serve(self, json.loads(data or b"{}"))

            def do_GET(self) -> None:
                self.send_error(404)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def serve(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        headers = handler.headers
        keys = f"{headers.get('authorization')} {headers.get('x-api-key')} {headers.get('x-goog-api-key')}"
        if self.key not in keys:
            self.refused.append(handler.path)
            handler.send_error(401)
            return
        if self.status is not None:
            handler.send_response(self.status)
            handler.send_header("content-length", "0")
            handler.end_headers()
            return
        with self._lock:
            self.requests.append((handler.path, body))
            step = self.steps[min(self._place, len(self.steps) - 1)]
            if body.get("tools"):
                self._place += 1
            else:
                step = {"text": "a title"}
        streamed = bool(body.get("stream")) or "stream" in handler.path
        parts = self.written(handler.path, step, streamed)
        if streamed:
            text = "".join(
                (f"event: {part['type']}\n" if "type" in part else "")
                + f"data: {json.dumps(part)}\n\n"
                for part in parts
            )
        else:
            text = json.dumps(parts[-1])
        data = text.encode()
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream" if streamed else "application/json")
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def written(self, path: str, step: Step, streamed: bool) -> list[dict[str, Any]]:
        """Write a step in the API of a path: the events of a stream, or one whole reply."""
        if "/messages" in path:
            return _messages(step, streamed)
        if "/responses" in path:
            return _responses(step, streamed)
        if "enerateContent" in path:
            return _gemini(step)
        return _chat(step, streamed)


def _messages(step: Step, streamed: bool) -> list[dict[str, Any]]:
    prompt, cached, out = TOKENS
    usage = {"input_tokens": prompt - cached, "cache_read_input_tokens": cached,
             "cache_creation_input_tokens": 0, "output_tokens": out}  # fmt: skip
    tool = "tool" in step
    block: dict[str, Any] = {"type": "text", "text": step.get("text", "")}
    if tool:
        block = {"type": "tool_use", "id": "toolu_1", "name": step["tool"], "input": step["input"]}
    stop = "tool_use" if tool else "end_turn"
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
               "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}  # fmt: skip
    if not streamed:
        return [message]
    delta = {"type": "text_delta", "text": step.get("text", "")}
    if tool:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step["input"])}
    empty = {**block, **({"input": {}} if tool else {"text": ""})}
    start = {**message, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    return [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
         "usage": {"output_tokens": out}},
        {"type": "message_stop"},
    ]  # fmt: skip


def _responses(step: Step, streamed: bool) -> list[dict[str, Any]]:
    prompt, cached, out = TOKENS
    if "tool" in step:
        item: dict[str, Any] = {"type": "function_call", "id": "fc_1", "call_id": "call_1",
                                "name": step["tool"], "arguments": json.dumps(step["input"]),
                                "status": "completed"}  # fmt: skip
    else:
        part = {"type": "output_text", "text": step["text"], "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [part]}  # fmt: skip
    usage = {"input_tokens": prompt, "input_tokens_details": {"cached_tokens": cached},
             "output_tokens": out, "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": prompt + out}  # fmt: skip
    whole = {"id": "resp_1", "object": "response", "status": "completed", "model": "m",
             "output": [item], "usage": usage}  # fmt: skip
    if not streamed:
        return [whole]
    return [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": [],
                                                  "usage": None}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]  # fmt: skip


def _gemini(step: Step) -> list[dict[str, Any]]:
    prompt, cached, out = TOKENS
    part: dict[str, Any] = {"text": step.get("text", "")}
    if "tool" in step:
        part = {"functionCall": {"name": step["tool"], "args": step["input"]}}
    usage = {"promptTokenCount": prompt, "cachedContentTokenCount": cached,
             "candidatesTokenCount": out, "totalTokenCount": prompt + out}  # fmt: skip
    content = {"role": "model", "parts": [part]}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"}]


def _chat(step: Step, streamed: bool) -> list[dict[str, Any]]:
    prompt, cached, out = TOKENS
    usage = {"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out,
             "prompt_tokens_details": {"cached_tokens": cached}}  # fmt: skip
    message: dict[str, Any] = {"role": "assistant", "content": step.get("text")}
    if "tool" in step:
        function = {"name": step["tool"], "arguments": json.dumps(step["input"])}
        call = {"id": "call_1", "type": "function", "index": 0, "function": function}
        message["tool_calls"] = [call]
    finish = "tool_calls" if "tool" in step else "stop"
    common = {"id": "c", "created": 1, "model": "m"}
    if not streamed:
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return [{**common, "object": "chat.completion", "choices": [choice], "usage": usage}]
    chunk = {**common, "object": "chat.completion.chunk"}
    return [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {**chunk, "choices": [], "usage": usage},
    ]
