"""A local S3 server with an empty bucket, for tests of files of large runs."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST",
    "AWS_SECRET_ACCESS_KEY": "a-secret-that-nobody-may-see",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextmanager
def s3_server() -> Iterator[str]:
    """Start a server, and give the address of a folder in its bucket; keys are in the environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **KEYS}
    )
    try:
        _wait(port, server)
        with mock.patch.dict(os.environ, KEYS):
            from pyarrow.fs import S3FileSystem

            address = f"http://127.0.0.1:{port}"
            system = S3FileSystem(
                endpoint_override=address, region="us-east-1", allow_bucket_creation=True
            )
            system.create_dir("bucket")
            yield f"s3://bucket/parts?endpoint_override={address}&region=us-east-1"
    finally:
        server.terminate()
        server.wait(20)


def _wait(port: int, server: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert server.poll() is None, "the S3 server ended"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError("the S3 server does not answer")
