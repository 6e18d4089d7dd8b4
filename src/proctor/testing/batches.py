"""Batch jobs of a fake server, as OpenAI and as Anthropic have them."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from proctor.core.suite import Json
from proctor.io import json_bytes

Answering = Callable[[str, Json], tuple[int, Json]]
"""Returns the status and the body of the reply to a request at a path."""

_JOB = re.compile(r"(?P<base>.*?)(?P<kind>/messages/batches|/batches|/files)(?P<rest>/.*)?")


@dataclass(slots=True, kw_only=True, eq=False)
class Job:
    """One batch job."""

    id: str
    path: str
    """Where its requests would have gone by themselves."""
    requests: Mapping[str, Json]
    """The bodies by custom id."""
    created: float
    metadata: Json = None
    results: list[tuple[str, int, Json]] | None = None
    """Custom id, status and body of every reply, once it has ended."""


@dataclass
class FakeBatches:
    """The batch jobs of a server, each answered as a whole some time after it came."""

    answering: Answering
    seconds: float = 0.0
    """How long a job takes."""
    jobs: list[Job] = field(default_factory=list)
    _files: dict[str, bytes] = field(default_factory=dict)

    def serve(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Answer a request about jobs or files."""
        match = _JOB.fullmatch(path)
        assert match is not None
        kind, rest = match["kind"], (match["rest"] or "").strip("/").split("/")
        if kind == "/files":
            return self._file(method, rest, body)
        by_messages = kind == "/messages/batches"
        show = _anthropic if by_messages else self._openai
        if method == "POST":
            order = json_bytes.loads(body)
            job = self._of_messages(order) if by_messages else self._of_file(order)
            self.jobs.append(job)
            return 200, json_bytes.dumps(show(job))
        for job in self.jobs:
            self._advance(job)
        if not rest[0]:
            return 200, json_bytes.dumps({"data": [show(job) for job in reversed(self.jobs)]})
        asked_job = next((job for job in self.jobs if job.id == rest[0]), None)
        if asked_job is None:
            return 404, json_bytes.dumps({"error": {"message": f"there is no batch {rest[0]}"}})
        if rest[1:] == ["results"]:
            return 200, _lines(_anthropic_result(*one) for one in asked_job.results or ())
        return 200, json_bytes.dumps(show(asked_job))

    def _advance(self, job: Job) -> None:
        if job.results is None and time.monotonic() - job.created >= self.seconds:
            job.results = [
                (custom_id, *self.answering(job.path, body))
                for custom_id, body in reversed(list(job.requests.items()))
            ]

    def _file(self, method: str, rest: list[str], body: bytes) -> tuple[int, bytes]:
        if method == "POST":
            name = f"file-{len(self._files) + 1}"
            self._files[name] = _uploaded(body)
            return 200, json_bytes.dumps({"id": name, "object": "file", "purpose": "batch"})
        if rest[0] in self._files:
            return 200, self._files[rest[0]]
        return 404, json_bytes.dumps({"error": {"message": f"there is no file {rest[0]}"}})

    def _of_file(self, order: Json) -> Job:
        lines = [
            json_bytes.loads(line) for line in self._files[order["input_file_id"]].splitlines()
        ]
        return self._job("batch", order["endpoint"], lines, "body", order.get("metadata"))

    def _of_messages(self, order: Json) -> Job:
        return self._job("msgbatch", "/v1/messages", order["requests"], "params", None)

    def _job(self, kind: str, path: str, lines: list[Json], name: str, metadata: Json) -> Job:
        return Job(
            id=f"{kind}_{len(self.jobs) + 1}",
            path=path,
            requests={line["custom_id"]: line[name] for line in lines},
            created=time.monotonic(),
            metadata=metadata,
        )

    def _openai(self, job: Job) -> Json:
        good = [(c, s, b) for c, s, b in job.results or () if s < 400]
        bad = [(c, s, b) for c, s, b in job.results or () if s >= 400]
        shown: Json = {
            "id": job.id,
            "object": "batch",
            "endpoint": job.path,
            "status": "in_progress" if job.results is None else "completed",
            "metadata": job.metadata,
            "created_at": int(time.time() - (time.monotonic() - job.created)),
            "request_counts": {
                "total": len(job.requests),
                "completed": len(good),
                "failed": len(bad),
            },
        }
        for field_name, results in (("output_file_id", good), ("error_file_id", bad)):
            if results:
                name = f"{field_name}-{job.id}"
                self._files[name] = _lines(_openai_result(*one) for one in results)
                shown[field_name] = name
        return shown


def _anthropic(job: Job) -> Json:
    ended = job.results is not None
    created = time.gmtime(time.time() - (time.monotonic() - job.created))
    good = sum(status < 400 for _, status, _ in job.results or ())
    return {
        "id": job.id,
        "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress",
        "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", created),
        "request_counts": {
            "processing": 0 if ended else len(job.requests),
            "succeeded": good,
            "errored": len(job.requests) - good if ended else 0,
            "canceled": 0,
            "expired": 0,
        },
    }


def _openai_result(custom_id: str, status: int, body: Json) -> Json:
    return {"custom_id": custom_id, "response": {"status_code": status, "body": body}}


def _anthropic_result(custom_id: str, status: int, body: Json) -> Json:
    if status < 400:
        return {"custom_id": custom_id, "result": {"type": "succeeded", "message": body}}
    return {"custom_id": custom_id, "result": {"type": "errored", "error": body}}


def _lines(values: Iterable[Json]) -> bytes:
    return b"".join(json_bytes.dumps(value) + b"\n" for value in values)


def _uploaded(body: bytes) -> bytes:
    """Return the file within a form: the part that has a file's name."""
    boundary = body.split(b"\r\n", 1)[0]
    for part in body.split(boundary):
        head, _, content = part.partition(b"\r\n\r\n")
        if b"filename=" in head:
            return content.removesuffix(b"\r\n")
    return b""
