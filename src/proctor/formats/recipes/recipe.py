"""What a recipe says: where the rows are, what its columns mean, and what a case is made of."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from proctor.core.suite import Json
from proctor.io.validation import Strict, validate
from proctor.io.yaml_files import read_yaml


class Hub(Strict):
    """A data set of the Hugging Face hub."""

    dataset: str
    config: str = ""
    split: str = "test"
    revision: str | None = None
    """The commit; none where nobody has pinned it yet."""
    files: tuple[str, ...] = ()
    """Patterns of its files, where they are not named by config and split."""
    gated: bool = False
    """Whether its terms must be accepted on the hub first."""


class Join(Strict):
    """A second file, whose columns are added to the rows with the same value in one column."""

    files: str
    """Pattern of the files with the further columns."""
    by: str


class Recipe(Strict):
    """A public benchmark: its rows, and how each becomes a case."""

    recipe: str
    title: str
    about: str
    licence: str
    citation: str
    sources: tuple[str, ...] = Field(min_length=1)
    """Where columns, prompt and licence were read."""
    unknown: tuple[str, ...] = ()
    """What no source was found for."""
    tried: str = ""
    """Who tried it against the hub, and when; empty until somebody did."""
    answers: Literal["generated"] = "generated"
    extraction: str
    """How the answer is found in a reply, in words."""
    needs: tuple[Literal["judge", "sandbox"], ...] = ()
    language: str = "en"
    hub: Hub | None = None
    url: str = ""
    """Where to download the rows, if they are not on the hub."""
    join: Join | None = None
    columns: dict[str, str] = Field(min_length=1)
    """By name, what a column that must be there holds."""
    values: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """By name, what is made of the columns before the case."""
    tags: dict[str, str] = Field(default_factory=dict)
    """By name of the tag, the column with its value; left out where there is no such column."""
    cluster: str = ""
    measures: tuple[Any, ...] = ()
    case: dict[str, Json]
    """A case of the suite format, with ``{{name}}`` for columns and values."""


def read_recipe(path: Path) -> Recipe:
    """Read a recipe, or raise a SuiteError with every problem."""
    return validate(Recipe, read_yaml(path))
