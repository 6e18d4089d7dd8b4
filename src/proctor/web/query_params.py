"""What an address asks for, read with care: a wrong part is said, not guessed at."""

from starlette.requests import Request

from proctor.errors import UsageError


def whole_number(request: Request, name: str, default: int) -> int:
    """Return a whole number of the query."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    try:
        found = int(text)
    except ValueError:
        found = 1 << 63
    if abs(found) >= 1 << 31:
        raise UsageError(f"{name} must be a whole number")
    return found


def one_of(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """Return a word of the query that must be one of some; the first is the usual one."""
    found = request.query_params.get(name) or choices[0]
    if found not in choices:
        raise UsageError(f"{name} must be one of: {', '.join(filter(None, choices))}")
    return found
