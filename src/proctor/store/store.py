"""The store: one repository per kind of data, all on one database."""

from contextlib import AbstractContextManager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from proctor.store.attempts import Attempts, Files
from proctor.store.database import Database
from proctor.store.homes import Homes
from proctor.store.locks import RunLocks
from proctor.store.opening import Secret, open_database
from proctor.store.results import Results, Summaries
from proctor.store.runs import Liveness, Runs
from proctor.store.scores import Scores
from proctor.store.suites import Suites

if TYPE_CHECKING:
    from proctor.store.baselines import Baselines
    from proctor.store.batches import Batches
    from proctor.store.calls import Calls
    from proctor.store.comparisons import Comparisons
    from proctor.store.criterion_points import CriterionPoints
    from proctor.store.criterion_shares import CriterionShares
    from proctor.store.grids import GridListing
    from proctor.store.labels import Audits, Labels, Scans
    from proctor.store.listing import Listing
    from proctor.store.pairs import PairedListing, Pairs
    from proctor.store.parts.folders import PartFolders
    from proctor.store.parts.ledger import Parts
    from proctor.store.searched_places import SearchedPlaces
    from proctor.store.searching import Search


class Store:
    """One open store, for one thread at a time.

    Each put is a transaction of its own, committed before it returns; inside ``batch()`` the puts
    of all repositories are one. Rows may be a stream, but the transaction stays open until the
    stream ends: other processes can read meanwhile, but not write.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        # Suites and runs.
        self.homes = Homes(database, lambda: self.parts)
        self.suites = Suites(database, self.homes)
        self.runs = Runs(database, self.homes)
        self.liveness = Liveness(database, self.runs)
        self.locks = RunLocks(database)
        # Content of runs.
        self.scores = Scores(database, self.homes)
        self.attempts = Attempts(database, self.runs, self.suites, self.liveness, self.scores)
        self.results = Results(database, self.homes)
        self.summaries = Summaries(database)
        self.secret = Secret(database)
        self.files = Files(database)

    # Loaded lazily, because few commands need them.

    @cached_property
    def part_folders(self) -> "PartFolders":
        """Where parts are written, which is known without reading the database."""
        from proctor.store.parts.folders import PartFolders

        return PartFolders(self.database)

    @cached_property
    def parts(self) -> "Parts":
        """Parts of large runs, which are files."""
        from proctor.store.parts.ledger import Parts

        return Parts(self.database, self.runs, self.liveness)

    @cached_property
    def calls(self) -> "Calls":
        """Calls of models, by the key of the request."""
        from proctor.store.calls import Calls

        return Calls(self.database)

    @cached_property
    def search(self) -> "Search":
        """Search in what was asked and answered."""
        from proctor.store.searching import Search

        return Search(self.database, self.homes)

    @cached_property
    def labels(self) -> "Labels":
        """Labels that people gave."""
        from proctor.store.labels import Labels

        return Labels(self.database)

    @cached_property
    def audits(self) -> "Audits":
        """What audits of judges found out."""
        from proctor.store.labels import Audits

        return Audits(self.database)

    @cached_property
    def scans(self) -> "Scans":
        """What judges marked in transcripts."""
        from proctor.store.labels import Scans

        return Scans(self.database)

    @cached_property
    def batches(self) -> "Batches":
        """Batch jobs whose replies are not stored yet."""
        from proctor.store.batches import Batches

        return Batches(self.database)

    @cached_property
    def baselines(self) -> "Baselines":
        """Runs that later ones of their suites are compared with."""
        from proctor.store.baselines import Baselines

        return Baselines(self.database)

    @cached_property
    def comparisons(self) -> "Comparisons":
        """Comparisons by judges."""
        from proctor.store.comparisons import Comparisons

        return Comparisons(self.database)

    @cached_property
    def listing(self) -> "Listing":
        """The cases of a run, filtered and sorted."""
        from proctor.store.listing import Listing

        return Listing(self.database, self.search, self.homes, self.criterion_shares)

    @cached_property
    def pairs(self) -> "Pairs":
        """The cases of two runs side by side."""
        from proctor.store.pairs import Pairs

        return Pairs(self.database, self.homes, self.suites)

    @cached_property
    def paired_listing(self) -> "PairedListing":
        """The cases of two runs, filtered and sorted."""
        from proctor.store.pairs import PairedListing

        return PairedListing(self.database, self.searched_places, self.listing, self.pairs)

    @cached_property
    def searched_places(self) -> "SearchedPlaces":
        """Where the texts of several runs of a suite contain some words."""
        from proctor.store.searched_places import SearchedPlaces

        return SearchedPlaces(self.database, self.search)

    @cached_property
    def grid_listing(self) -> "GridListing":
        """The cases of several runs, filtered by what the runs made of them."""
        from proctor.store.grids import GridListing

        return GridListing(self.database, self.searched_places, self.pairs, self.results)

    @cached_property
    def criterion_shares(self) -> "CriterionShares":
        """What each criterion gave the cases of a run, as columns."""
        from proctor.store.criterion_shares import CriterionShares

        return CriterionShares(self.database, self.homes)

    @cached_property
    def criterion_points(self) -> "CriterionPoints":
        """Points by criterion over many attempts."""
        from proctor.store.criterion_points import CriterionPoints

        return CriterionPoints(self.database, self.homes)

    @classmethod
    def open(cls, url: str | None = None, *, create: bool = True, parts: str = "") -> Self:
        """Open the store at a path or URL, by default ``PROCTOR_STORE`` or ``.proctor/proctor.db``.

        With ``create``, a missing store is created. ``parts`` is the address of the files of large
        runs, by default ``PROCTOR_PARTS`` or a folder beside the store.
        """
        return cls(open_database(url, create=create, parts=parts))

    @property
    def place(self) -> str:
        """Return the file or address, for messages."""
        return self.database.place

    def is_there(self) -> bool:
        """Tell whether the store's file is still the one that was opened; True for a server."""
        return self.database.is_there()

    def batch(self) -> AbstractContextManager[None]:
        """Write everything inside the block in one transaction, or nothing of it."""
        return self.database.batch()

    def reading(self) -> AbstractContextManager[None]:
        """Answer the queries inside the block by one connection, for a page that has many."""
        return self.database.reading()

    def close(self) -> None:
        """End the work on runs, and close the database."""
        self.liveness.close()
        self.locks.close()
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
