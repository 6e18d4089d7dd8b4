"""Missing runs and cases as 404 responses."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException

from proctor.errors import StoreError, StoreGone


@contextmanager
def or_missing() -> Iterator[None]:
    """Turn the store's error about a missing run or case into a 404 error."""
    try:
        yield
    except StoreGone:
        raise
    except StoreError as error:
        raise HTTPException(404, str(error)) from None
