"""What a dialect of recipes must be able to do besides reading them."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from proctor.contracts.dialect import PlainDialect
from proctor.core.suite import Json


class RecipeDialect(PlainDialect):
    """A format of recipes: files that say how rows from elsewhere become cases."""

    @abstractmethod
    def describe(self, path: Path) -> Mapping[str, Json]:
        """Return what a recipe says about itself."""

    @abstractmethod
    def check(self, path: Path, options: Mapping[str, str]) -> Mapping[str, Json]:
        """Try a recipe: reach its rows, look for its columns, and make all cases."""
