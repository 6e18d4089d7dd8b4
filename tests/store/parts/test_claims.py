"""Claims on files that no row commits yet: the dead ones' files go, those of the living stay."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

from proctor.store.parts.claims import SHARED, Claim
from proctor.store.parts.files import RUN, PartFolder
from proctor.store.parts.layout import ATTEMPTS, RESULTS
from proctor.store.parts.rows import RunPart
from proctor.store.store import Store
from proctor.store.upkeep import PruneChoice, prune, store_size, to_prune

TABLE = pa.table({"position": pa.array([0, 1, 2], pa.int64())})


def written(store: Store, claim: Claim, number: int, run_id: str = "r1") -> RunPart:
    """Write the files of a part under a claim, and leave what a cut-off writer leaves."""
    folder = store.parts.folder
    assert folder is not None
    place = folder.new_place(RUN, run_id, number, claim.new_name())
    size = sum(folder.write(place, kind, TABLE) for kind in (ATTEMPTS, RESULTS))
    if folder.is_local:
        path = Path(folder.address, folder.path(place, RESULTS))
        path.with_name(f".{path.name}.0123abcd").write_bytes(b"PAR1 cut short")
    return RunPart(
        number=number, first=3 * number, cases=3, attempts=3, scores=0, place=place, size=size,
        document="{}",
    )  # fmt: skip


def names(folder: PartFolder | None) -> list[str]:
    assert folder is not None
    return sorted(path.name for path in Path(folder.address).rglob("*") if path.is_file())


def test_what_a_dead_process_left_goes_and_what_is_committed_stays(store: Store) -> None:
    claim = store.parts.claim()
    kept, lost = written(store, claim, 0), written(store, claim, 1)
    store.parts.commit("r1", kept)
    scratch = claim.scratch()
    Path(scratch.name, "0.jsonl").write_text("{}")
    assert claim.folder is not None
    Path(claim.folder, f".check-{claim.token}-0123456789ab").touch()
    before = names(store.parts.folder)
    assert store.parts.clear() == 0
    assert store.parts.sweep(older=0) == 0
    assert names(store.parts.folder) == before
    claim.release()
    assert store.parts.clear() > 0
    scratch.cleanup()
    stem = kept.place.rpartition("/")[2]
    wanted = [f"{kind}-{stem}.parquet" for kind in (ATTEMPTS, RESULTS)]
    assert [name for name in names(store.parts.folder) if name != SHARED] == wanted
    assert lost.place not in (place for place in store.parts.folder.places())  # type: ignore[union-attr]
    assert store.parts.missing("r1") == []


def test_a_claim_lasts_as_long_as_any_process_that_holds_it(store: Store) -> None:
    claim = store.parts.claim()
    written(store, claim, 0)
    assert claim.file is not None
    program = "import sys; print('on', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        pass_fds=[claim.file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"on\n"
        claim.release()
        assert store.parts.clear() == 0
        worker.kill()
    assert store.parts.clear() > 0
    assert [name for name in names(store.parts.folder) if name != SHARED] == []


def test_stores_that_share_a_folder_clear_their_own_files_alone(tmp_path: Path) -> None:
    shared = str(tmp_path / "shared")
    with (
        Store.open(str(tmp_path / "one.db"), parts=shared) as one,
        Store.open(str(tmp_path / "two.db"), parts=shared) as two,
    ):
        claim = one.parts.claim()
        part = written(one, claim, 0)
        one.parts.commit("r1", part)
        written(one, claim, 1)
        claim.release()
        before = names(one.parts.folder)
        assert (two.parts.clear(), two.parts.sweep(older=0)) == (0, 0)
        assert prune(two, PruneChoice()).part_bytes == 0
        assert names(one.parts.folder) == before
        assert one.parts.clear() > 0
        assert one.parts.missing("r1") == []


def test_the_folder_beside_a_store_may_be_named_by_another(tmp_path: Path) -> None:
    beside = str(tmp_path / "one.db.parts")
    with (
        Store.open(str(tmp_path / "one.db")) as one,
        Store.open(str(tmp_path / "two.db"), parts=beside) as two,
    ):
        claim = two.parts.claim()
        two.parts.commit("r1", written(two, claim, 0))
        claim.release()
        two.parts.clear()
        own = one.parts.claim()
        written(one, own, 0)
        own.release()
        assert one.parts.clear() > 0
        assert one.parts.sweep(older=0) == 0
        assert prune(one, PruneChoice()).part_bytes == 0
        assert two.parts.missing("r1") == []


def test_a_store_whose_own_folder_is_named_keeps_its_parts(tmp_path: Path) -> None:
    place = str(tmp_path / "one.db")
    with Store.open(place) as store:
        claim = store.parts.claim()
        store.parts.commit("r1", written(store, claim, 0))
        claim.release()
    with Store.open(place, parts=f"{place}.parts") as store:
        assert store.parts.clear() > 0
        assert store.parts.sweep(older=0) == 0
        assert store.parts.missing("r1") == []


def test_prune_removes_what_dead_processes_left_and_nothing_else(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "s.db")) as store:
        claim, alive = store.parts.claim(), store.parts.claim()
        written(store, claim, 0)
        living = written(store, alive, 1)
        scratch = claim.scratch()
        Path(scratch.name, "0.jsonl").write_text("{}" * 5_000)
        old = Path(str(claim.folder), ".check-0123456789ab")
        old.touch()
        os.utime(old, (time.time() - 9_999,) * 2)
        claim.release()
        left = to_prune(store, PruneChoice()).part_bytes
        assert left == store_size(store).unused_parts > 10_000
        assert prune(store, PruneChoice()).part_bytes == left
        scratch.cleanup()
        stem = living.place.rpartition("/")[2]
        assert all(
            stem in name or name == f".claim-{alive.token}" for name in names(store.parts.folder)
        )
        alive.release()
        assert prune(store, PruneChoice()).part_bytes > 0
        assert not Path(f"{tmp_path}/s.db.parts").exists()


def test_a_folder_that_cannot_be_written_gives_a_claim_without_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Store.open(str(tmp_path / "s.db"), parts=str(tmp_path / "file" / "x")) as store:
        claim = store.parts.claim()
        assert (claim.folder, claim.file) == (None, None)
        with claim.scratch() as folder:
            assert Path(folder).is_dir()
        claim.release()
        assert store.parts.clear() == 0


@pytest.mark.parametrize("content", ["", "{", '{"store": 1}', "[]"])
def test_a_claim_that_was_cut_short_or_is_strange_does_no_harm(
    tmp_path: Path, content: str
) -> None:
    with Store.open(str(tmp_path / "s.db")) as store:
        claim = store.parts.claim()
        store.parts.commit("r1", written(store, claim, 0))
        claim.release()
        Path(f"{tmp_path}/s.db.parts/.claim-0a0a0a").write_text(content)
        Path(f"{tmp_path}/s.db.parts/.claim-0b0b0b").symlink_to(tmp_path / "s.db")
        store.parts.clear()
        assert store.parts.missing("r1") == []
        assert (tmp_path / "s.db").exists()


def test_a_claim_of_another_machine_lasts_a_day_without_a_lock(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "s.db")) as store:
        claim = store.parts.claim()
        written(store, claim, 0)
        claim.release()
        file = Path(str(claim.folder), f".claim-{claim.token}")
        file.write_text(file.read_text().replace(os.uname().nodename, "another"))
        assert store.parts.clear() == 0
        assert prune(store, PruneChoice()).part_bytes == 0
        os.utime(file, (time.time() - 25 * 3600,) * 2)
        assert store.parts.clear() > 0
        assert not file.exists()
