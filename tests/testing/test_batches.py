"""Batch jobs of a fake server, in both providers' forms."""

import json
from typing import Any

from proctor.testing.batches import FakeBatches


def upper(path: str, body: Any) -> tuple[int, Any]:
    return (400, {"error": "no"}) if body["q"] == "bad" else (200, {"said": body["q"].upper()})


def lines(data: bytes) -> list[Any]:
    return [json.loads(line) for line in data.splitlines()]


def test_openai() -> None:
    fake = FakeBatches(upper)
    rows = [{"custom_id": q, "url": "/v1/chat/completions", "body": {"q": q}} for q in ("a", "bad")]
    file = b"\n".join(json.dumps(row).encode() for row in rows)
    form = (
        b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
        + file
        + b"\r\n--b--\r\n"
    )
    _, made = fake.serve("POST", "/v1/files", form)
    order = {"input_file_id": json.loads(made)["id"], "endpoint": "/v1/chat/completions",
             "metadata": {"proctor": "1"}}  # fmt: skip
    _, made = fake.serve("POST", "/v1/batches", json.dumps(order).encode())
    job = json.loads(made)
    assert (job["status"], job["metadata"]) == ("in_progress", {"proctor": "1"})
    done = json.loads(fake.serve("GET", f"/v1/batches/{job['id']}", b"")[1])
    assert done["status"] == "completed"
    assert done["request_counts"] == {"total": 2, "completed": 1, "failed": 1}
    good = lines(fake.serve("GET", f"/v1/files/{done['output_file_id']}/content", b"")[1])
    assert good == [{"custom_id": "a", "response": {"status_code": 200, "body": {"said": "A"}}}]
    bad = lines(fake.serve("GET", f"/v1/files/{done['error_file_id']}/content", b"")[1])
    assert [one["custom_id"] for one in bad] == ["bad"]
    assert [one["id"] for one in json.loads(fake.serve("GET", "/v1/batches", b"")[1])["data"]] == [
        job["id"]
    ]
    assert fake.serve("GET", "/v1/batches/other", b"")[0] == 404
    assert fake.serve("GET", "/v1/files/other/content", b"")[0] == 404


def test_anthropic() -> None:
    fake = FakeBatches(upper, seconds=3600)
    order = {"requests": [{"custom_id": q, "params": {"q": q}} for q in ("a", "bad")]}
    job = json.loads(fake.serve("POST", "/v1/messages/batches", json.dumps(order).encode())[1])
    path = f"/v1/messages/batches/{job['id']}"
    assert json.loads(fake.serve("GET", path, b"")[1])["processing_status"] == "in_progress"
    fake.seconds = 0
    done = json.loads(fake.serve("GET", path, b"")[1])
    assert (done["processing_status"], done["request_counts"]["errored"]) == ("ended", 1)
    results = lines(fake.serve("GET", f"{path}/results", b"")[1])
    assert results == [
        {"custom_id": "bad", "result": {"type": "errored", "error": {"error": "no"}}},
        {"custom_id": "a", "result": {"type": "succeeded", "message": {"said": "A"}}},
    ]
