"""Batch jobs at OpenAI and Anthropic: handed in once, found again, polled and collected."""

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from proctor.contracts.batch_model import BatchModel, BatchState, WrittenCall
from proctor.core.exchange import Reply, Request
from proctor.core.suite import Json
from proctor.errors import ModelError
from proctor.io import json_bytes
from proctor.models.endpoints import HttpAnswer, ModelEndpoint
from proctor.models.http_model import Served
from proctor.models.refused_fields import adjusted, nested
from proctor.models.retrying import TryFailed

UPLOAD_LIMIT = 600.0
"""Seconds that handing in a job may take, and fetching its results."""
LARGEST_RESULTS = 1024 * 2**20
CLOCKS_APART = 600.0
"""Seconds by which the clocks of a provider and of this machine may differ."""
LISTED = 100
POLL = 30.0
_OPENAI_ENDED = ("completed", "failed", "expired", "cancelled")
_NAME = "proctor"
"""What our name of a job is kept under at OpenAI."""


@dataclass(eq=False)
class BatchServed(Served, BatchModel):
    """What the clients of providers with batch jobs share."""

    @property
    def batch_share(self) -> float:
        return 0.5 if self.rates is None else self.rates.batch

    def written(self, request: Request) -> WrittenCall:
        lessons = self._home.lessons
        body = adjusted(self._body(request, lessons.learned), lessons.learned)
        refused = self._note_refused(request, body, lessons) if lessons.learned else {}
        path = self._call(request, lessons.learned)
        rung = self._rung(request, body)
        return WrittenCall(path=path, body=nested(body), rung=rung, refused=refused)

    @property
    def _home(self) -> ModelEndpoint:
        """Return the server that has the jobs: the first, where there are several."""
        return self._servers().endpoints[0]

    async def _fetch(self, path: str) -> HttpAnswer:
        """Return what lies at a path, with retries, or raise a ModelError."""

        async def once(limit: float) -> HttpAnswer:
            answer = await self._home.get(path, UPLOAD_LIMIT, largest=LARGEST_RESULTS)
            return self._accepted(answer)

        return await self._retrying.run(once, who=self.label)

    async def _hand_in(self, path: str, data: bytes, kind: str = "application/json") -> Json:
        """Send a body once, and return what the server makes of it, or raise a ModelError."""
        try:
            answer = await self._home.post(path, data, UPLOAD_LIMIT, kind=kind)
            return json_bytes.loads_foreign(self._accepted(answer).data)
        except TryFailed as failed:
            raise failed.error(self.label) from None
        except ValueError as error:
            message = f"{self.label}: {self._home.base} sent no JSON: {error}"
            raise ModelError(message, passing=True) from None

    def _accepted(self, answer: HttpAnswer) -> HttpAnswer:
        if not 200 <= answer.status < 300:
            raise self._refusal(self._home.base, answer, answer.status)
        return answer

    async def _json_at(self, path: str) -> Json:
        data = (await self._fetch(path)).data
        try:
            return json_bytes.loads_foreign(data)
        except ValueError as error:
            raise ModelError(f"{self.label}: no JSON at {path}: {error}", passing=True) from None

    async def _lines_at(self, path: str) -> list[Json]:
        data = (await self._fetch(path)).data
        try:
            return [json_bytes.loads_foreign(line) for line in data.splitlines() if line.strip()]
        except ValueError as error:
            raise ModelError(f"{self.label}: no JSON at {path}: {error}", passing=True) from None

    def _reply_in_job(self, status: int, body: Json, rung: str) -> Reply | ModelError:
        """Read one reply of a job, at the price that is paid there."""
        answer = HttpAnswer(status, {}, json_bytes.dumps(body), 0.0)
        try:
            reply = self._understood(self._home.base, answer, rung)
        except TryFailed as failed:
            return failed.error(self.label)
        cost = reply.usage.cost
        usage = reply.usage if cost is None else replace(reply.usage, cost=cost * self.batch_share)
        return replace(reply, usage=usage, seconds=None)

    def _missing(self, names: Iterable[str], why: str) -> dict[str, Reply | ModelError]:
        return {name: ModelError(f"{self.label}: {why}", passing=True) for name in names}


@dataclass(eq=False)
class OpenAIBatches(BatchServed):
    """Jobs at OpenAI: a file of requests, and a job that names it."""

    async def submit(self, job: str, path: str, bodies: Mapping[str, Mapping[str, Json]]) -> str:
        url = f"/v1{path}"
        rows = b"".join(
            json_bytes.dumps({"custom_id": name, "method": "POST", "url": url, "body": body})
            + b"\n"
            for name, body in bodies.items()
        )
        form, kind = _form(f"{job}.jsonl", rows)
        file = await self._hand_in("/files", form, kind)
        order = {
            "input_file_id": file["id"],
            "endpoint": url,
            "completion_window": "24h",
            "metadata": {_NAME: job},
        }
        return str((await self._hand_in("/batches", json_bytes.dumps(order)))["id"])

    async def find_job(self, job: str, created: float, size: int) -> str:
        listed = await self._json_at(f"/batches?limit={LISTED}")
        for one in listed.get("data") or ():
            if (one.get("metadata") or {}).get(_NAME) == job:
                return str(one["id"])
        return ""

    async def job_state(self, remote: str) -> BatchState:
        job = await self._json_at(f"/batches/{remote}")
        counts = job.get("request_counts") or {}
        done = (counts.get("completed") or 0) + (counts.get("failed") or 0)
        ended = job.get("status") in _OPENAI_ENDED
        return BatchState(ended=ended, done=done, total=counts.get("total") or 0)

    async def job_replies(
        self, remote: str, rungs: Mapping[str, str]
    ) -> dict[str, Reply | ModelError]:
        job = await self._json_at(f"/batches/{remote}")
        errors = [str(e.get("message")) for e in (job.get("errors") or {}).get("data") or ()]
        why = "; ".join([f"batch job {remote} is {job.get('status')}", *errors[:3]])
        replies = self._missing(rungs, f"{why}, without a reply to this")
        for field in ("output_file_id", "error_file_id"):
            if not job.get(field):
                continue
            for line in await self._lines_at(f"/files/{job[field]}/content"):
                name, response = line.get("custom_id"), line.get("response") or {}
                if name in rungs:
                    status = response.get("status_code") or 500
                    body = response.get("body") or {"error": line.get("error")}
                    replies[name] = self._reply_in_job(status, body, rungs[name])
        return replies


@dataclass(eq=False)
class AnthropicBatches(BatchServed):
    """Jobs at Anthropic: a list of requests."""

    async def submit(self, job: str, path: str, bodies: Mapping[str, Mapping[str, Json]]) -> str:
        requests = [{"custom_id": name, "params": body} for name, body in bodies.items()]
        order = json_bytes.dumps({"requests": requests})
        return str((await self._hand_in("/messages/batches", order))["id"])

    async def find_job(self, job: str, created: float, size: int) -> str:
        """Look into each job that may be it: the provider keeps no name of ours for it."""
        listed = await self._json_at(f"/messages/batches?limit={LISTED}")
        for one in listed.get("data") or ():
            young = _seconds(one.get("created_at")) >= created - CLOCKS_APART
            if not young or sum((one.get("request_counts") or {}).values()) != size:
                continue
            remote = str(one["id"])
            while not (await self.job_state(remote)).ended:  # noqa: ASYNC110 - at the provider
                await asyncio.sleep(POLL)
            lines = await self._lines_at(f"/messages/batches/{remote}/results")
            if any(str(line.get("custom_id")).startswith(f"{job}-") for line in lines):
                return remote
        return ""

    async def job_state(self, remote: str) -> BatchState:
        job = await self._json_at(f"/messages/batches/{remote}")
        counts = job.get("request_counts") or {}
        total = sum(counts.values())
        ended = job.get("processing_status") == "ended"
        return BatchState(ended=ended, done=total - (counts.get("processing") or 0), total=total)

    async def job_replies(
        self, remote: str, rungs: Mapping[str, str]
    ) -> dict[str, Reply | ModelError]:
        replies = self._missing(rungs, f"batch job {remote} has no reply to this")
        for line in await self._lines_at(f"/messages/batches/{remote}/results"):
            name, result = line.get("custom_id"), line.get("result") or {}
            if name not in rungs:
                continue
            if result.get("type") == "succeeded":
                replies[name] = self._reply_in_job(200, result.get("message"), rungs[name])
            elif result.get("type") == "errored":
                error = result.get("error") or {}
                invalid = "invalid_request" in str(error)
                replies[name] = self._reply_in_job(400 if invalid else 500, error, rungs[name])
            else:
                replies |= self._missing([name], f"batch job {remote}: {result.get('type')}")
        return replies


def _form(name: str, content: bytes) -> tuple[bytes, str]:
    """Write a form with a file for a batch job, and say what kind of body that is."""
    boundary = secrets.token_hex(16)
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    whole = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
    return whole, f"multipart/form-data; boundary={boundary}"


def _seconds(created: Json) -> float:
    """Read a time as the provider writes it; what cannot be read is now."""
    try:
        return datetime.fromisoformat(str(created).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return float("inf")
