"""Runs as one file, to be kept or sent to people who have no Proctor."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from proctor.core.run import Run
from proctor.errors import UsageError
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.api.endpoint import Endpoint, Operation, several
from proctor.web.lookup import or_missing
from proctor.web.share.document import MOST_RUNS, ShareSettings, write_page
from proctor.web.store_pool import opened
from proctor.web.wording import language_of

MOST_CASES = 2_000
"""Up to how many cases, of all runs together, are written while a reader waits."""
CHUNK = 256 * 1024
_PATH = "/share.html"


def share_link(store: Store, runs: list[Run]) -> str:
    """Return the address of the file of some runs; empty where it would take long to write."""
    fits = len(runs) <= MOST_RUNS and _cases(store, runs) <= MOST_CASES
    ended = not any(run.status.is_unfinished for run in runs)
    return addresses.with_query(_PATH, [("run", run.id) for run in runs]) if fits and ended else ""


def send_page(request: Request) -> Response:
    """Return runs as one page with all that it shows, as a download."""
    references = list(dict.fromkeys(request.query_params.getlist("run")))
    with opened(request) as store, or_missing():
        runs = [store.runs.get(reference) for reference in references]
        if _cases(store, runs) > MOST_CASES:
            raise UsageError(
                f"more than {MOST_CASES:,} cases take long to write: use `proctor export`"
            )
        # The page may have many megabytes, which are not kept in memory.
        file = TemporaryFile()  # noqa: SIM115 - closed when all of it was sent
        try:
            settings = ShareSettings(language=language_of(request))
            write_page(store, [run.id for run in runs], file, settings)
        except BaseException:
            file.close()
            raise
    name = quote("-".join(run.name for run in runs)[:100] + ".html", safe="")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return StreamingResponse(_sent(file), media_type="text/html; charset=utf-8", headers=headers)


def _sent(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(CHUNK):
            yield chunk


def _cases(store: Store, runs: list[Run]) -> int:
    return sum(store.results.last_position(run.id) + 1 for run in runs)


routes = [
    Endpoint(
        _PATH,
        send_page,
        Operation(
            summary=f"Runs of at most {MOST_CASES:,} cases as one file",
            parameters=[
                several("run", f"the runs, 1 to {MOST_RUNS}", {"type": "string"}, required=True)
            ],
            wrong=(400, 404),
            error=None,
        ),
    )
]
