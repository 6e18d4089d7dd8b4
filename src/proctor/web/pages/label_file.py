"""Labels as files, to download and to upload, as `proctor labels` writes and reads them."""

import hmac
import re
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from proctor.core.run import Run
from proctor.engine.labels.label_files import (
    ENDINGS,
    LONGEST_AUTHOR,
    ReadLabels,
    export_labels,
    export_sample,
    import_labels,
)
from proctor.errors import ProctorError, UsageError
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.addresses import whole_number
from proctor.web.api.endpoint import RUN, Endpoint, FormEndpoint, Operation, text, whole
from proctor.web.lookup import or_missing, the_run
from proctor.web.pages.label import token_for
from proctor.web.store_pool import opened

LARGEST_FILE = 4 * 2**20
"""Bytes of a form with a file of labels."""
MOST_SAMPLE = 10_000
_MEDIA = {".csv": "text/csv; charset=utf-8", ".jsonl": "application/x-ndjson"}
_NO_FORM = "expected a form with a file of labels, its author and the token of the page"


def csv_file(request: Request) -> Response:
    """Return the labels of a run as CSV, or cases to be labelled."""
    return _download(request, ".csv")


def jsonl_file(request: Request) -> Response:
    """Return the labels of a run as JSON lines, or cases to be labelled."""
    return _download(request, ".jsonl")


def _download(request: Request, ending: str) -> Response:
    size = whole_number(request, "sample", 0)
    if not 0 <= size <= MOST_SAMPLE:
        raise UsageError(f"sample must be between 0 and {MOST_SAMPLE}")
    criterion = request.query_params.get("criterion", "")
    with opened(request) as store, or_missing():
        run = the_run(store, request)

        def write(path: Path) -> None:
            if size:
                export_sample(store, run, path, size, criterion=criterion)
            else:
                export_labels(store, run, path, criterion=criterion)

        content = _written(ending, write)
    name = f"{run.id}-{'to-label' if size else 'labels'}{ending}"
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}"}
    return Response(content, media_type=_MEDIA[ending], headers=headers)


def _written(ending: str, write: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"labels{ending}")
        write(path)
        return path.read_bytes()


async def put_labels(request: Request) -> Response:
    """Store the labels of a file, all or none of them, and return to the label page."""
    length = request.headers.get("content-length", "")
    if re.fullmatch("[0-9]{1,9}", length) is None or int(length) > LARGEST_FILE:
        raise HTTPException(
            413,
            f"expected a file of at most {LARGEST_FILE // 2**20} MiB (fix: split it, or use"
            " `proctor labels import`)",
        )
    async with request.form(max_files=1, max_fields=4) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise HTTPException(400, _NO_FORM)
        content = await file.read()
        return await run_in_threadpool(_stored, request, form, file.filename, content)


def _stored(request: Request, form: FormData, filename: str, content: bytes) -> Response:
    with opened(request) as store, or_missing():
        run = the_run(store, request)
        token, author = (_field(form, name) for name in ("csrf", "author"))
        if not hmac.compare_digest(token.encode("utf-8", "replace"), token_for(run.id).encode()):
            raise HTTPException(
                403, "this form is from before the last restart of the server: reload the page"
            )
        read = _imported(store, run, filename, content, author.strip()[:LONGEST_AUTHOR])
    counts = [("added", read.added), ("unchanged", read.unchanged), ("empty", read.empty)]
    pairs = [*counts, ("author", author.strip()[:LONGEST_AUTHOR])]
    return RedirectResponse(
        addresses.with_query(f"{addresses.run_link(run.id)}/label", pairs) + "#files", 303
    )


def _field(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _imported(store: Store, run: Run, filename: str, content: bytes, author: str) -> ReadLabels:
    """Read a file that somebody sent; nothing of its name but the ending is used."""
    ending = PurePosixPath(filename).suffix.lower()
    if ending not in ENDINGS:
        raise HTTPException(400, f"labels are kept in {', '.join(ENDINGS)} files")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"labels{ending}")
        path.write_bytes(content)
        try:
            return import_labels(store, run, path, author=author)
        except ProctorError as error:
            # What is wrong is said with the line in the file that was sent, not in its copy.
            raise HTTPException(400, str(error).replace(f"{folder}/", "")) from None


_FILE = "/runs/{run}/labels"
_PARAMETERS = [
    RUN,
    text("criterion", "only labels by this criterion, or cases to be labelled by it"),
    whole("sample", "instead of labels, so many cases to be labelled", 0, MOST_SAMPLE),
]
_FORM = {
    "type": "object",
    "required": ["csrf", "file"],
    "properties": {
        "csrf": {"type": "string", "description": "the token of the page's form"},
        "file": {"type": "string", "format": "binary", "description": "CSV, TSV or JSON lines"},
        "author": {"type": "string", "description": "who gave the labels that name nobody"},
    },
}

routes = [
    Endpoint(
        f"{_FILE}.csv",
        csv_file,
        Operation(
            summary="The labels of a run as CSV",
            parameters=_PARAMETERS,
            error=None,
            media="text/csv",
        ),
    ),
    Endpoint(
        f"{_FILE}.jsonl",
        jsonl_file,
        Operation(
            summary="The labels of a run as JSON lines",
            parameters=_PARAMETERS,
            error=None,
            media="application/x-ndjson",
        ),
    ),
    FormEndpoint(
        _FILE,
        put_labels,
        Operation(
            summary="Store a file of labels; accepted only from the page's own form",
            parameters=[RUN],
            wrong=(400, 403, 404, 413),
            error=None,
            form=_FORM,
            form_media="multipart/form-data",
        ),
    ),
]
