"""Query parameters, validated: an invalid one is an error, never guessed."""

from starlette.requests import Request

from proctor.errors import UsageError


def whole_number(request: Request, name: str, default: int) -> int:
    """Return an integer query parameter."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        number = 1 << 63
    if abs(number) >= 1 << 31:
        raise UsageError(f"{name} must be a whole number")
    return number


def one_of(request: Request, name: str, choices: tuple[str, ...]) -> str:
    """Return a query parameter that must be one of some choices; the first is the default."""
    choice = request.query_params.get(name) or choices[0]
    if choice not in choices:
        raise UsageError(f"{name} must be one of: {', '.join(filter(None, choices))}")
    return choice
