"""Recipes as suites: each row of a public benchmark becomes a case."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from proctor.contracts.dialect import Reading
from proctor.contracts.recipe import RecipeDialect
from proctor.core.attempt import Attempt
from proctor.core.prompt_template import TemplateError, read_template
from proctor.core.suite import Json, Suite
from proctor.errors import DialectError, Problem, SuiteError
from proctor.formats.native.case import Defaults
from proctor.formats.native.reader import CaseLoader
from proctor.formats.recipes.recipe import Recipe, read_recipe
from proctor.formats.recipes.row_values import UnusableRow, row_values
from proctor.formats.recipes.rows import RowFiles, hub_files, local_files, recipe_rows
from proctor.formats.tables import ANSWER_COLUMNS, ColumnMap
from proctor.io.text_files import Document, read_head

_WHOLE = re.compile(r"\A\{\{\s*([A-Za-z_]\w*)\s*\}\}\Z")
_FIRST = re.compile(rb"^recipe\s*:", re.M)


@dataclass(frozen=True)
class Recipes(RecipeDialect):
    """Public benchmarks by name, with rows from a hub or a local copy."""

    name = "recipe"
    option_names = ("columns", "data", "revision")

    def recognises(self, path: Path) -> bool:
        if path.suffix.lower() not in (".yaml", ".yml") or not path.is_file():
            return False
        return _FIRST.search(read_head(path)) is not None

    def read_with(self, path: Path, root: Path | None, options: Mapping[str, str]) -> Reading:
        return _read(path, options)

    def answers(self, path: Path, suite: Suite) -> Iterator[Attempt]:
        raise DialectError(
            [Problem(message="recipes have no answers of their own", file=str(path))]
        )

    def describe(self, path: Path) -> Mapping[str, Json]:
        recipe = read_recipe(path)
        hub = recipe.hub
        return {
            "name": recipe.recipe,
            "title": recipe.title,
            "rows": recipe.url if hub is None else hub.dataset,
            "revision": "" if hub is None else hub.revision or "not pinned",
            "licence": recipe.licence,
            "needs": ", ".join(recipe.needs),
            "tried": recipe.tried or "not tried against the hub",
        }

    def check(self, path: Path, options: Mapping[str, str]) -> Mapping[str, Json]:
        recipe = read_recipe(path)
        files = _files(recipe, options)
        columns = _columns(recipe, options)
        first = next(iter(recipe_rows(recipe, files, columns)), None)
        if first is None:
            missing = [*recipe.columns]
        else:
            missing = [name for name in recipe.columns if name not in first.data]
        if missing:
            there = ", ".join(first.data) if first is not None else "no rows"
            message = f"the columns {', '.join(missing)} are missing (there are: {there})"
            hint = _hint(recipe, missing)
            raise SuiteError([Problem(message=message, file=str(files.paths[0]), hint=hint)])
        reading = _suite(recipe, path, files, columns)
        return {
            "name": recipe.recipe,
            "rows": len(reading.suite.cases),
            "revision": files.revision,
            "columns": "as described",
        }


def _files(recipe: Recipe, options: Mapping[str, str]) -> RowFiles:
    if data := options.get("data"):
        return local_files(recipe, Path(data))
    return hub_files(recipe, options.get("revision", ""))


def _read(path: Path, options: Mapping[str, str]) -> Reading:
    recipe = read_recipe(path)
    return _suite(recipe, path, _files(recipe, options), _columns(recipe, options))


def _columns(recipe: Recipe, options: Mapping[str, str]) -> ColumnMap:
    """Read --columns: what the recipe's columns are called in the rows."""
    own = {*recipe.columns, *recipe.tags.values()}
    columns = ColumnMap.parse(options.get("columns", ""), {*own, *ANSWER_COLUMNS})
    return columns.only(own)


def _suite(recipe: Recipe, path: Path, files: RowFiles, columns: ColumnMap) -> Reading:
    loader = CaseLoader(files.root, files.root)
    header: dict[str, Json] = {
        "name": recipe.recipe,
        "version": files.revision[:12],
        "description": recipe.title,
        "language": recipe.language,
        **({"cluster": recipe.cluster} if recipe.cluster else {}),
        **({"measures": list(recipe.measures)} if recipe.measures else {}),
    }
    defaults = loader.row_header(Document(path=path, data={"suite": header}), Defaults())
    for number, document in enumerate(recipe_rows(recipe, files, columns), 1):
        _take(loader, recipe, document, number, defaults)
    if not loader.cases and not loader.findings.total:
        loader.findings.add(
            Document(path=files.paths[0], data=None).problem((), "no rows are here")
        )
    loader.check_clusters()
    loader.findings.check()
    warnings = list(loader.findings.warnings)
    if recipe.hub is not None and files.revision and recipe.hub.revision is None:
        message = f"the recipe pins no revision; these rows are of {files.revision}"
        hint = f"to have the same rows again, add --dialect-option revision={files.revision}"
        warnings.append(
            Problem(message=message, file=recipe.hub.dataset, hint=hint, severity="warning")
        )
    return Reading(suite=loader.suite(recipe.recipe), warnings=tuple(warnings))


def _hint(recipe: Recipe, missing: Sequence[str]) -> str:
    pairs = ",".join(f"{name}=COLUMN" for name in missing)
    return f"--columns {pairs}, or see `proctor recipe show {recipe.recipe}`"


def _take(
    loader: CaseLoader, recipe: Recipe, document: Document, number: int, defaults: Defaults
) -> None:
    """Make the case of a row, noting every problem."""
    if missing := [name for name in recipe.columns if name not in document.data]:
        message = f"the row has no column {', '.join(map(repr, missing))}"
        loader.findings.add(document.problem((), message, hint=_hint(recipe, missing)))
        return
    try:
        values = row_values(recipe.values, document.data)
        case: dict[str, Json] = _filled(recipe.case, values)
    except UnusableRow as error:
        loader.findings.add(document.problem((), str(error)))
        return
    except TemplateError as error:
        loader.findings.add(document.problem((), error.message, hint=error.hint))
        return
    tags = {tag: values[name] for tag, name in recipe.tags.items() if values.get(name) is not None}
    if tags:
        case["tags"] = {tag: str(value) for tag, value in tags.items()}
    loader.case(loader.spot(replace(document, data=case)), defaults, f"{recipe.recipe}-{number}")


def _filled(part: Any, values: Mapping[str, Json]) -> Any:
    """Fill templates; one that is but a name stands for the value itself."""
    if isinstance(part, dict):
        return {key: _filled(value, values) for key, value in part.items()}
    if isinstance(part, list):
        return [_filled(value, values) for value in part]
    if not isinstance(part, str):
        return part
    if (whole := _WHOLE.match(part)) and whole[1] in values:
        return values[whole[1]]
    return read_template(part).fill(values)
