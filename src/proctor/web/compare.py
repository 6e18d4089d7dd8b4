"""The page that puts runs side by side: the verdict, what changed, and one case in all of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from proctor.core.expression import Expression, Several
from proctor.core.suite import Json
from proctor.engine.comparable import Side
from proctor.engine.compare import CompareSettings, case_pairs, compare
from proctor.engine.compare_json import compared_object, pair_objects
from proctor.engine.compare_words import Language
from proctor.engine.contrast import KINDS, CasePair
from proctor.engine.evaluate import placed_case, view_of
from proctor.errors import StoreError, UsageError
from proctor.store.pairing import Change
from proctor.store.store import Store
from proctor.web import addresses
from proctor.web.asking import one_of, whole_number
from proctor.web.missing import or_missing
from proctor.web.opened import opened
from proctor.web.pieces import compared as compared_texts
from proctor.web.pieces import pieces
from proctor.web.rendering import page
from proctor.web.wording import language_of

MOST_SIDES = 4
ROWS = 50
"""How many cases one page lists."""
LOOKED_AT = 20_000
"""How many cases a search looks through before it gives a page of what it has."""
_PATH = "/compare"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Hold which cases a page is to list."""

    kind: Change | None
    q: str
    """A text that the id or a tag must hold."""
    where: str
    """An expression over what both runs came to, and over tags."""

    @classmethod
    def of(cls, request: Request) -> "Wanted":
        """Read what the address asks for."""
        asked = request.query_params
        kind = cast("Change", one_of(request, "kind", ("", *KINDS)) or None)
        return cls(kind=kind, q=asked.get("q", "").strip(), where=asked.get("where", "").strip())

    @property
    def parts(self) -> list[tuple[str, object]]:
        """Return the same as parts of an address."""
        return [("kind", self.kind), ("q", self.q), ("where", self.where)]

    def test(self, tags: Iterable[str]) -> Callable[[CasePair], bool]:
        """Return what tells whether a case is wanted."""
        words = self.q.lower()
        expression = Expression(self.where) if self.where else None
        none = {tag: Several() for tag in tags}

        def holds(pair: CasePair) -> bool:
            texts = (pair.id, *(value for values in pair.tags.values() for value in values))
            if not any(words in text.lower() for text in texts):
                return False
            return expression is None or expression.holds({**none, **_names(pair)})

        return holds


def show_compared(request: Request) -> Response:
    """Answer with 2 to 4 runs compared, or with one case of theirs."""
    asked = request.query_params
    runs = asked.getlist("run")
    if not 2 <= len(runs) <= MOST_SIDES:
        raise UsageError(f"choose 2 to {MOST_SIDES} runs to compare, not {len(runs)}")
    wanted = Wanted.of(request)
    with opened(request) as store, or_missing():
        if "case" in asked:
            return page(request, "compare_case", _one_case(store, runs, asked["case"], wanted.kind))
        force = asked.get("force") == "1"
        found = compare(store, runs, CompareSettings(force=force))
        data = compared_object(found, cast("Language", language_of(request)))
        data["listing"] = None
        if any(part for _, part in wanted.parts):
            after = whole_number(request, "after", -1)
            data["listing"] = _listing(store, found.sides, wanted, after)
    state = [*(("run", run) for run in runs), ("force", "1" if force else "")]
    return page(request, "compare", _linked(data, state, wanted))


def _names(pair: CasePair) -> dict[str, Any]:
    """Return what an expression may name."""
    return {
        **{tag: Several(values) for tag, values in pair.tags.items()},
        "id": pair.id,
        "kind": pair.kind,
        "first": pair.first,
        "second": pair.second,
        "full": pair.full,
        "difference": pair.difference,
    }


def _listing(store: Store, sides: Sequence[Side], wanted: Wanted, after: int) -> dict[str, Any]:
    """Make a page of the first two runs' cases that are wanted."""
    holds = wanted.test(sides[0].tags)
    kept: list[CasePair] = []
    last: int | None = None
    seen = 0
    looked = case_pairs(store, sides[0], sides[1], wanted.kind, after=after)
    for pair in islice(looked, LOOKED_AT):
        seen += 1
        last = pair.position
        if holds(pair):
            kept.append(pair)
        if len(kept) == ROWS:
            break
    whole = len(kept) < ROWS and seen < LOOKED_AT
    return {"cases": pair_objects(kept), "next": None if whole else last}


def _linked(
    data: dict[str, Any], state: Sequence[tuple[str, str]], wanted: Wanted
) -> dict[str, Any]:
    """Add the addresses that the page leads to."""

    def address(*more: tuple[str, object]) -> str:
        return addresses.with_query(_PATH, [*state, *more])

    listing = data["listing"]
    going_on = listing["next"] if listing else None
    for row in listing["cases"] if listing else ():
        row["link"] = address(("kind", wanted.kind), ("case", row["id"]))
    for name, rows in data["pairs"][0]["flips"].items():
        for row in rows:
            row["link"] = address(("kind", name), ("case", row["id"]))
    kept = [("q", wanted.q), ("where", wanted.where)]
    return {
        **data,
        "asked": {
            "state": [pair for pair in state if pair[1]],
            **{name: part or "" for name, part in wanted.parts},
        },
        "kinds": {name: address(("kind", name), *kept) for name in KINDS},
        "overview": address(),
        "next": None if going_on is None else address(*wanted.parts, ("after", going_on)),
    }


def _one_case(
    store: Store, runs: Sequence[str], case_id: str, kind: Change | None
) -> dict[str, Any]:
    """Put what each run said to one case side by side, each against the first."""
    views = [view_of(store, reference) for reference in runs]
    found = []
    place = 0
    for number, view in enumerate(views):
        try:
            at, result = placed_case(store, view, case_id)
        except StoreError:
            result = None
        else:
            place = at if number == 0 else place
        found.append(result)
    if found[0] is None:
        raise HTTPException(404, f"the run {views[0].run.name!r} has no case {case_id!r}")
    first, second = views[0].run, views[1].run
    around = store.paired_neighbours(first, second, place, kind)
    outputs = [result.attempts[0].attempt.output if result else "" for result in found]
    sides: list[dict[str, Json]] = []
    for view, result, output in zip(views, found, outputs, strict=True):
        sides.append(
            {
                "run": {"id": view.run.id, "name": view.run.name},
                "link": addresses.case_link(view.run.id, case_id),
                "there": result is not None,
                "value": result.folded.value if result else None,
                "full": result.case.full_score if result else None,
                "output": output,
                "shown": _against(outputs[0], output, is_first=len(sides) == 0, other=outputs[1]),
                "reasons": _reasons(result),
            }
        )
    base = [*(("run", run) for run in runs), ("kind", kind)]
    before, after = (
        None if near is None else addresses.with_query(_PATH, [*base, ("case", near)])
        for near in around
    )
    return {
        "case": {"id": case_id, "prompt": pieces(found[0].case.prompt)},
        "references": list(found[0].case.references),
        "sides": sides,
        "before": before,
        "after": after,
        "overview": addresses.with_query(_PATH, base),
    }


def _against(first: str, output: str, *, is_first: bool, other: str) -> list[dict[str, Any]]:
    """Cut an output by what the first one has not; the first by what the second has not."""
    return compared_texts(first, other)[0] if is_first else compared_texts(first, output)[1]


def _reasons(result: Any) -> list[dict[str, Json]]:
    if result is None:
        return []
    item = result.attempts[0]
    return [
        {"id": criterion.id, "points": score.points, "out_of": score.out_of, "why": score.reason}
        for criterion in result.case.criteria
        if (score := item.scores.get(criterion.id)) is not None
    ]


routes = [Route(_PATH, show_compared), Route(f"{_PATH}.json", show_compared)]
