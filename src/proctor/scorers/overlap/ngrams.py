"""How many n-grams two texts share, for all orders at once and many pairs at a time.

The longest n-gram at each place of a text is packed into one number, its first element on top. Once
these numbers are sorted, equal n-grams of every lower order lie side by side as well.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Pair: TypeAlias = tuple[Sequence[Hashable], Sequence[Hashable]]
Numbers: TypeAlias = npt.NDArray[np.uint64]

_AT_ONCE = 1 << 15
"""How many elements are sorted together: few enough to stay in the processor's cache."""
_BITS = 64


def shared(pairs: Sequence[Pair], order: int) -> list[list[int]]:
    """Count for each pair the n-grams in common, with multiplicity, for n from 1 to the order.

    The two sides of a pair are both strings, compared by character, or both lists of tokens.
    """
    counts: list[list[int]] = []
    for chunk in _chunks(pairs):
        counts += _of_chunk(chunk, order)
    return counts


def _chunks(pairs: Sequence[Pair]) -> Iterator[Sequence[Pair]]:
    start = size = 0
    for place, (left, right) in enumerate(pairs):
        size += len(left) + len(right)
        if size >= _AT_ONCE:
            yield pairs[start : place + 1]
            start, size = place + 1, 0
    if start < len(pairs):
        yield pairs[start:]


def _of_chunk(pairs: Sequence[Pair], order: int) -> list[list[int]]:
    texts = [text for pair in pairs for text in pair]
    as_text = all(isinstance(text, str) for text in texts)
    ids, kinds = _characters(texts, order) if as_text else _tokens(texts, order)
    width = max(1, kinds.bit_length())
    if width * order + 1 + (len(pairs) - 1).bit_length() <= _BITS:
        lengths = np.array([len(text) for text in texts])
        return np.stack(count_shared(ids, lengths, order, width), axis=1).tolist()  # type: ignore[no-any-return]
    if len(pairs) == 1:
        return [_one_by_one(*pairs[0], order)]
    half = len(pairs) // 2
    return _of_chunk(pairs[:half], order) + _of_chunk(pairs[half:], order)


def _tokens(texts: Sequence[Any], order: int) -> tuple[Numbers, int]:
    """Give numbers to the tokens of all texts from 1, with zeros after each text."""
    index: defaultdict[Hashable, int] = defaultdict()
    index.default_factory = count(1).__next__
    number, gap = index.__getitem__, (0,) * (order - 1)
    ids: list[int] = []
    for text in texts:
        ids.extend(map(number, text))
        ids += gap
    return np.frombuffer(array("Q", ids), dtype=np.uint64), len(index)


def _characters(texts: Sequence[Any], order: int) -> tuple[Numbers, int]:
    """Give numbers to the characters of all texts from 1, with zeros after each text."""
    gap = "\0" * (order - 1)
    whole = gap.join(texts) + gap
    codes = np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    if not len(codes):
        return codes.astype(np.uint64), 0
    seen = np.zeros(int(codes.max()) + 1, dtype=bool)
    seen[codes] = True
    kinds = int(seen.sum())
    ids = np.cumsum(seen, dtype=np.uint64)[codes]
    if order > 1:
        ends = np.cumsum([len(text) + order - 1 for text in texts])
        for back in range(1, order):
            ids[ends - back] = 0
    return ids, kinds


def count_shared(
    ids: Numbers, lengths: npt.NDArray[Any], order: int, width: int
) -> list[npt.NDArray[np.int64]]:
    """Count for each order the n-grams that two texts next to each other have in common.

    Elements are numbers from 1, of so many bits, with ``order - 1`` zeros after each text.
    """
    packed = ids << np.uint64(width * (order - 1))
    for place in range(1, order):
        packed[:-place] |= ids[place:] << np.uint64(width * (order - 1 - place))
    side = np.repeat(np.arange(len(lengths), dtype=np.uint64), lengths)
    one = np.uint64(1)
    codes = (side >> one) << np.uint64(width * order + 1)
    codes |= packed[ids != 0] << one
    codes |= side & one
    codes.sort()
    pairs = len(lengths) // 2
    if not len(codes):
        return [np.zeros(pairs, dtype=np.int64)] * order
    changes = codes[1:] ^ codes[:-1]
    rights = np.concatenate(([0], np.cumsum((codes & one).view(np.int64))))
    return [_order(codes, changes, rights, (order - n) * width + 1, (n, width, pairs))
            for n in range(1, order + 1)]  # fmt: skip


def _order(
    codes: Numbers,
    changes: Numbers,
    rights: npt.NDArray[np.int64],
    shift: int,
    shape: tuple[int, int, int],
) -> npt.NDArray[np.int64]:
    n, width, pairs = shape
    cuts = np.flatnonzero(changes >= np.uint64(1 << shift)) + 1
    bounds = np.concatenate(([0], cuts, [len(codes)]))
    right = np.diff(rights[bounds])
    common = np.minimum(right, np.diff(bounds) - right)
    mixed = np.flatnonzero(common)
    heads = codes[bounds[mixed]] >> np.uint64(shift)
    common = common[mixed]
    # An n-gram that ends in a zero reaches beyond the end of its text.
    common[(heads & np.uint64((1 << width) - 1)) == 0] = 0
    owner = (heads >> np.uint64(width * n)).astype(np.int64)
    return np.bincount(owner, weights=common, minlength=pairs).astype(np.int64)


def _one_by_one(left: Sequence[Hashable], right: Sequence[Hashable], order: int) -> list[int]:
    """Count a pair with so many kinds of elements that n-grams do not fit into one number."""
    counts = []
    for n in range(1, order + 1):
        grams = [
            Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (left, right)
        ]
        counts.append((grams[0] & grams[1]).total())
    return counts
