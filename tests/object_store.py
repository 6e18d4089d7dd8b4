"""A local S3 server with an empty bucket, for tests of files of large runs."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from waiting import until

KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIATESTTESTTEST",
    "AWS_SECRET_ACCESS_KEY": "a-secret-that-nobody-may-see",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_DEFAULT_REGION": "us-east-1",
}


@contextmanager
def s3_server() -> Iterator[str]:
    """Start a server, and give the address of a folder in its bucket; keys are in the environment."""
    port, server = _started()
    try:
        with mock.patch.dict(os.environ, KEYS):
            from pyarrow.fs import S3FileSystem

            address = f"http://127.0.0.1:{port}"
            system = S3FileSystem(
                endpoint_override=address, region="us-east-1", allow_bucket_creation=True
            )
            system.create_dir("bucket")
            yield f"s3://bucket/parts?endpoint_override={address}&region=us-east-1"
    finally:
        server.kill()
        server.wait()


def _started() -> "tuple[int, subprocess.Popen[bytes]]":
    """Start a server at a free port; another one where somebody else took it meanwhile."""
    for _ in range(5):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **KEYS},
        )
        until(lambda p=port, s=server: s.poll() is not None or _answers(p))  # type: ignore[misc]
        if server.poll() is None:
            return port, server
    raise AssertionError("no S3 server could be started")


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
