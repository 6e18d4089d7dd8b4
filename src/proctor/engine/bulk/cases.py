"""The cases of a suite whose home is parts, read as they are wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, overload

from proctor.core.encoding import case_from
from proctor.core.suite import Case
from proctor.io import json_bytes
from proctor.store.parts.files import PartFolder
from proctor.store.parts.layout import CASES

_AT_ONCE = 1_000


@dataclass(frozen=True)
class PartCases(Sequence[Case]):
    """Cases in files; none of them is held."""

    folder: PartFolder
    places: tuple[tuple[str, int], ...]
    """Each part with its number of cases."""

    def __len__(self) -> int:
        return sum(cases for _, cases in self.places)

    def __iter__(self) -> Iterator[Case]:
        for place, cases in self.places:
            yield from self._of_part(place, cases)

    @overload
    def __getitem__(self, place: int) -> Case: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Case]: ...

    def __getitem__(self, place: int | slice) -> Case | Sequence[Case]:
        if isinstance(place, slice):
            wanted = range(*place.indices(len(self)))
            if wanted == range(len(self)):
                return self
            return [case for number, case in enumerate(self) if number in wanted]
        number = place + len(self) if place < 0 else place
        for part, cases in self.places:
            if 0 <= number < cases:
                return next(islice(self._of_part(part, cases), number, None))
            number -= cases
        raise IndexError(place)

    def _of_part(self, place: str, cases: int) -> Iterator[Case]:
        file: Any = self.folder.open(place, CASES)
        left = cases
        for batch in file.iter_batches(batch_size=_AT_ONCE, use_threads=False):
            rows = zip(
                batch.column("source").to_pylist(),
                batch.column("document").to_pylist(),
                strict=True,
            )
            for source, document in rows:
                if not left:
                    return
                left -= 1
                yield case_from({**json_bytes.loads(document), "source": source})
