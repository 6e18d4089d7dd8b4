"""Where the cases of runs and suites are: in rows, as long as nothing says otherwise."""

from pathlib import Path

from proctor.store.homes import Homes
from proctor.store.store import Store


def test_runs_and_suites_without_parts_are_in_rows(tmp_path: Path) -> None:
    with Store.open(str(tmp_path / "x.db")) as store:
        homes = store.homes
        assert isinstance(homes, Homes)
        assert homes.run("r") is None
        assert homes.suite("s") is None
        assert homes.suite_of("r") is None
        homes.leave_parts("r")
        homes.leave_suite_parts("s")
        homes.delete_files([])
