"""Opening without SQLAlchemy: what is opened so, what is left to it, and two at the same time."""

import gzip
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from proctor.errors import StoreError
from proctor.store.opening import open_database
from proctor.store.places import check_file, new_secret
from proctor.store.schema import VERSION_TABLE, VERSIONS
from proctor.store.store import Store

UPGRADE = Path(__file__).resolve().parents[1] / "upgrade"
LOADED = """
import sys
from proctor.store.store import Store
with Store.open(sys.argv[1]) as store:
    assert store.runs.named("nobody") == []
    assert len(store.secret.derive_key("purpose")) == 32
sys.exit("sqlalchemy" in sys.modules or "alembic" in sys.modules)
"""


def test_a_new_file_and_a_current_one_are_opened_without_sqlalchemy(tmp_path: Path) -> None:
    command = [sys.executable, "-c", LOADED, str(tmp_path / "x.db")]
    assert [subprocess.run(command, check=False).returncode for _ in range(2)] == [0, 0]


def version_of(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute(f"SELECT version_num FROM {VERSION_TABLE}").fetchone()
    return str(found[0])


def test_a_file_of_an_earlier_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(gzip.decompress((UPGRADE / "v0_1_0" / "store.db.gz").read_bytes()))
    assert version_of(path) < VERSIONS[-1]
    with Store.open(str(path)) as store:
        assert store.runs.newest()
    assert version_of(path) == VERSIONS[-1]


def test_nothing_is_made_where_nothing_may_be_created(tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    for path in (empty, tmp_path / "none.db"):
        with pytest.raises(StoreError, match="there is no store at"):
            open_database(str(path), create=False)


OPENS = """
import sys
from proctor.core.score import Score
from proctor.store.store import Store
with Store.open(sys.argv[1]) as store:
    store.scores.put([(sys.argv[2], "contains", Score(points=1.0))])
    print(store.secret.derive_key("purpose").hex())
"""


def test_several_processes_make_one_store(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPENS, str(tmp_path / "x.db")]
    processes = [
        subprocess.Popen([*command, f"k{number}"], stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    secrets = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 4
    assert len(secrets) == 1, "all of them have the secret of the one who made it"
    with Store.open(str(tmp_path / "x.db")) as store:
        assert len(store.scores.stored_keys(f"k{number}" for number in range(4))) == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_only_be_read_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "read"
    folder.mkdir()
    folder.chmod(0o500)
    with pytest.raises(StoreError, match=r"cannot be opened \(fix"):
        Store.open(str(folder / "x.db"))


def test_a_path_holds_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("x.db") as store:
        (tmp_path / "sub").mkdir()
        monkeypatch.chdir(tmp_path / "sub")
        assert store.runs.newest() == [], "by SQLAlchemy, which opens it again"
    assert not (tmp_path / "sub" / "x.db").exists()


def test_a_folder_is_made_for_a_new_file_and_for_nothing_else(tmp_path: Path) -> None:
    check_file(tmp_path / "a" / "b" / "x.db", create=True)
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(StoreError, match="there is no store"):
        check_file(tmp_path / "c" / "x.db", create=False)
    assert not (tmp_path / "c").exists()
    with pytest.raises(StoreError, match="is a folder"):
        check_file(tmp_path, create=True)


def test_no_two_stores_have_one_secret() -> None:
    assert new_secret()["value"] != new_secret()["value"]
