"""An environment is writable, cut off, limited, and comes back from an archive of its changes."""

import asyncio
import io
import os
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from proctor.contracts.environment import EnvironmentCommand
from proctor.core.environment import MIB, EnvironmentNeeds
from proctor.core.program import Ran, Stopped
from proctor.errors import ModelError
from proctor.sandboxes.own_root import OwnRoot, TaskBubblewrap

pytestmark = pytest.mark.sandbox


def with_root(work: Callable[[OwnRoot], Awaitable[None]], **needs: object) -> None:
    async def held() -> None:
        environment = OwnRoot(needs=EnvironmentNeeds(**needs))  # type: ignore[arg-type]
        try:
            await environment.start()
            await work(environment)
        finally:
            await environment.close()
        assert not environment._home.exists()

    asyncio.run(held())


async def sh(environment: OwnRoot, text: str, **more: object) -> Ran:
    return await environment.run(
        EnvironmentCommand(argv=("/bin/bash", "-c", text), wall=20.0, **more)  # type: ignore[arg-type]
    )


def test_changes_come_back_in_a_fresh_one() -> None:
    async def work(environment: OwnRoot) -> None:
        ran = await sh(
            environment,
            "pwd; echo 1 >a; ln -s a b; mkdir -p /opt/x; echo 2 >/opt/x/y; chmod 755 /opt/x/y;"
            " rm /etc/hosts; echo 3 >/usr/local/new; rm /usr/bin/cmp",
        )
        assert (ran.code, ran.stdout) == (0, "/app\n")
        archive = await environment.changes()
        assert not os.path.exists("/usr/local/new")
        assert os.path.exists("/usr/bin/cmp")

        async def again(other: OwnRoot) -> None:
            await other.restore(archive)
            ran = await sh(
                other,
                "cat b /opt/x/y /usr/local/new; test -x /opt/x/y; test ! -e /etc/hosts"
                " && test ! -e /usr/bin/cmp && echo gone",
            )
            assert ran.stdout == "1\n2\n3\ngone\n"
            assert await other.changes() != b""
            assert (other.folder / "a").read_text() == "1\n"

        fresh = OwnRoot(needs=environment.needs)
        try:
            await fresh.start()
            await again(fresh)
        finally:
            await fresh.close()
        part = OwnRoot(needs=environment.needs)
        try:
            await part.start()
            await part.restore(archive, only=("/opt",), without={"root/opt/x/y"})
            ran = await sh(part, "ls /app /opt/x; ls /etc/hosts")
            assert ran.stdout.split() == ["/app:", "/opt/x:", "/etc/hosts"]
        finally:
            await part.close()

    with_root(work)


def test_there_is_no_network_and_nothing_of_the_host(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")

    async def work(environment: OwnRoot) -> None:
        ran = await sh(
            environment,
            f"ls {tmp_path} 2>&1; ls /root /home; env | sort; cat /etc/shadow 2>&1;"
            " timeout 3 bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' 2>&1 || echo closed",
        )
        assert "secret" not in ran.stdout
        assert ran.stdout.rstrip().endswith("closed")
        assert "/etc/shadow: No such file" in ran.stdout

    with_root(work)


def test_a_door_leads_to_one_port() -> None:
    async def work(environment: OwnRoot) -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"you said " + await reader.readline())
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        text = f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3"
        try:
            assert (await sh(environment, text, doors=(port,))).stdout == "you said hello\n"
            assert (await sh(environment, text)).code != 0
            assert (await sh(environment, "exit 7", doors=(port,))).code == 7
        finally:
            server.close()

    with_root(work)


def test_limits_hold() -> None:
    async def work(environment: OwnRoot) -> None:
        hungry = "python3 -c 'x = bytearray(400 * 2**20); x[::4096] = b\"1\" * len(x[::4096])'"
        assert (await sh(environment, hungry)).stopped is Stopped.MEMORY
        slow = EnvironmentCommand(argv=("/bin/sleep", "60"), wall=0.5)
        assert (await environment.run(slow)).stopped is Stopped.TIME
        left = await sh(environment, "(sleep 30; echo late >late) & echo done")
        assert left.stdout == "done\n"
        await asyncio.sleep(0.1)
        assert await environment.read("/app/late") is None

    with_root(work, memory=128 * MIB)


@pytest.mark.sandbox
@pytest.mark.parametrize(("cpus", "seen"), [(1.0, 1), (0.5, 1), (2.0, 2), (64.0, 64)])
def test_a_task_sees_the_processors_that_it_is_allowed(cpus: float, seen: int) -> None:
    async def work(environment: OwnRoot) -> None:
        ran = await sh(environment, "nproc")
        assert int(ran.stdout) == min(seen, len(os.sched_getaffinity(0)))

    with_root(work, cpus=cpus)


def test_users_have_their_names() -> None:
    async def work(environment: OwnRoot) -> None:
        assert (await sh(environment, "id -un; echo $HOME")).stdout == "ann\n/home/ann\n"
        assert (await sh(environment, "id -un", user="root")).stdout == "root\n"

    with_root(work, user="ann")


def test_a_dockerfile_is_followed_once() -> None:
    dockerfile = (
        "FROM x\nARG V=1\nENV W=$V-2\nWORKDIR /srv\nCOPY a.txt sub /data/\nCOPY . ./all/\n"
        "RUN echo $W >made && date +%s%N >stamp\n"
    )
    files = {"a.txt": "a", "sub/b.txt": "b"}
    needs = EnvironmentNeeds(dockerfile=dockerfile, files=files, workdir="/srv")

    async def stamps() -> list[str]:
        sandbox = TaskBubblewrap()
        found = []
        for _ in range(2):
            environment = sandbox.environment(needs)
            try:
                await environment.start()
                ran = await environment.run(
                    EnvironmentCommand(
                        argv=("/bin/sh", "-c", "cat made /data/a.txt /data/b.txt; ls all; echo $W"),
                        wall=10.0,
                    )
                )
                assert ran.stdout == "1-2\nab" + "a.txt\nsub\n1-2\n"
                found.append(str(await environment.read("/srv/stamp")))
            finally:
                await environment.close()
        await sandbox.close()
        return found

    first, second = asyncio.run(stamps())
    assert first == second != "None"


@pytest.mark.parametrize(
    ("dockerfile", "words"),
    [
        ("FROM x\nRUN echo no >&2; exit 3", "line 2 of the Dockerfile ended with 3: no"),
        ("FROM x\nCOPY gone.txt /x", "copies 'gone.txt'"),
        ("FROM x\nFROM y", "line 2 of the Dockerfile has a second FROM"),
    ],
)
def test_what_cannot_be_built_is_told(dockerfile: str, words: str) -> None:
    async def nothing(_: OwnRoot) -> None:
        raise AssertionError

    with pytest.raises(ModelError, match=words):
        with_root(nothing, dockerfile=dockerfile)


def hostile(*members: tuple[str, str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, link in members:
            info = tarfile.TarInfo(name)
            if link:
                info.type, info.linkname = tarfile.SYMTYPE, link
            tar.addfile(info, io.BytesIO())
    return packed.getvalue()


@pytest.mark.parametrize(
    "archive",
    [
        hostile(("../../etc/x", "")),
        hostile(("/etc/x", "")),
        hostile(("root/app/l", "/tmp"), ("root/app/l/x", "")),
        hostile(("elsewhere/x", "")),
        b"no archive",
    ],
    ids=["upwards", "absolute", "through a link", "elsewhere", "no archive"],
)
def test_archives_stay_inside(archive: bytes) -> None:
    async def work(environment: OwnRoot) -> None:
        with pytest.raises(ModelError, match="cannot be read"):
            await environment.restore(archive)

    with_root(work)


def test_files_are_not_read_through_links() -> None:
    async def work(environment: OwnRoot) -> None:
        await sh(
            environment, "ln -s /etc/passwd r; rmdir /logs/verifier; ln -s /etc /logs/verifier"
        )
        assert await environment.read("/app/r") is None
        with pytest.raises(ModelError, match="through a link"):
            await environment.read("/logs/verifier/passwd")
        await environment.place({"a": "b"}, "/logs/verifier")
        assert await environment.read("/logs/verifier/a") == b"b"

    with_root(work)
