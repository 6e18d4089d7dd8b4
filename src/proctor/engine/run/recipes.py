"""Recipes by name: the public benchmarks that come with the package."""

from functools import cache
from importlib import resources
from pathlib import Path

ENDING = ".yaml"


@cache
def recipe_names() -> tuple[str, ...]:
    """Return the names of all recipes."""
    folder = resources.files("proctor.recipes")
    files = [entry.name for entry in folder.iterdir() if entry.name.endswith(ENDING)]
    return tuple(sorted(name.removesuffix(ENDING) for name in files))


def recipe_path(name: str) -> Path | None:
    """Return the file of a recipe; None if there is none of this name."""
    if name not in recipe_names():
        return None
    return Path(str(resources.files("proctor.recipes").joinpath(name + ENDING)))
