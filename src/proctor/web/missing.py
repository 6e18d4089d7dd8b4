"""What the store does not have, told as a page that is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.exceptions import HTTPException

from proctor.errors import StoreError, StoreGone


@contextmanager
def or_missing() -> Iterator[None]:
    """Answer 404 where the store has no such run or case."""
    try:
        yield
    except StoreGone:
        raise
    except StoreError as error:
        raise HTTPException(404, str(error)) from None
