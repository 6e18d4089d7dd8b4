"""How a reader wants texts: rendered, or as they were written."""

from starlette.requests import Request

COOKIE = "proctor_text"
CHOICES = ("rendered", "raw")


def raw_wanted(request: Request) -> bool:
    """Tell whether texts are shown as they were written: by the address, else as remembered."""
    chosen = request.query_params.get("text")
    if chosen not in CHOICES:
        chosen = request.cookies.get(COOKIE)
    return chosen == "raw"
