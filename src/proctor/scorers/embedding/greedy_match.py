"""BERTScore's greedy matching: each token with its most similar one on the other side."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import nan
from typing import Any

from proctor.io.concurrency import check_cancelled
from proctor.scorers.embedding import checkpoints, device_stream
from proctor.scorers.embedding.encoders import Encoder, TokenTable, Vectors

Pair = tuple[str, str]
"""What was said, and what is known to be right."""
Prf = tuple[float, float, float]
"""Precision, recall and F."""
UNCOMPUTED: Prf = (nan, nan, nan)
NO_ROOM = "there is not memory enough to compute this, even alone"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Limits on what is in memory at a time."""

    characters: int
    """Texts whose vectors are kept until they are matched."""
    tokens: int
    """What the encoder is given at once."""
    cells: int
    """Numbers of the matching."""
    first: int
    """Characters of the first texts: a device that computes begins with few of them."""

    @classmethod
    def of(cls, device: str) -> "Sizes":
        """Return what suits a device."""
        if device.startswith("cuda"):
            return cls(characters=2**19, tokens=2**15, cells=2**25, first=2**16)
        return cls(characters=2**18, tokens=2**11, cells=2**21, first=2**18)

    @property
    def halved(self) -> "Sizes":
        """Return what needs half the memory."""
        return Sizes(self.characters // 2, self.tokens // 2, self.cells // 2, self.first // 2)


@dataclass(frozen=True, slots=True)
class PairGroup:
    """Pairs that are matched together, with each of their texts cut into tokens once.

    Pairs are ordered by the numbers of their tokens.
    """

    places: tuple[int, ...]
    """Which pairs they are."""
    sides: tuple[tuple[int, int], ...]
    """The texts of each pair."""
    tokens: Sequence[Sequence[int]]
    table: TokenTable
    """The tokens, ready for a device."""

    @classmethod
    def of(cls, encoder: Encoder, places: Sequence[int], pairs: Sequence[Pair]) -> "PairGroup":
        """Cut the texts of pairs into tokens."""
        texts = {text: i for i, text in enumerate(dict.fromkeys(chain.from_iterable(pairs)))}
        sides = [(texts[answer], texts[right]) for answer, right in pairs]
        return cls._ordered(encoder, places, sides, encoder.tokens(list(texts)))

    def halves(self, encoder: Encoder) -> "list[PairGroup]":
        """Return two groups with half of the pairs each, or one of a single pair."""
        middle = len(self.places) // 2
        cuts = (slice(middle), slice(middle, None))
        return [
            self._part(encoder, self.places[cut], self.sides[cut])
            for cut in cuts
            if self.places[cut]
        ]

    def _part(
        self, encoder: Encoder, places: Sequence[int], sides: Sequence[tuple[int, int]]
    ) -> "PairGroup":
        used = {text: i for i, text in enumerate(dict.fromkeys(chain.from_iterable(sides)))}
        own = [(used[answer], used[right]) for answer, right in sides]
        return self._ordered(encoder, places, own, [self.tokens[text] for text in used])

    @classmethod
    def _ordered(
        cls,
        encoder: Encoder,
        places: Sequence[int],
        sides: Sequence[tuple[int, int]],
        tokens: Sequence[Sequence[int]],
    ) -> "PairGroup":
        spans = [(len(tokens[answer]), len(tokens[right])) for answer, right in sides]
        order = sorted(range(len(spans)), key=spans.__getitem__)
        ordered = tuple(places[i] for i in order), tuple(sides[i] for i in order)
        return cls(*ordered, tokens, encoder.laid_out(tokens))


def match(encoder: Encoder, texts: Sequence[Pair], weights: Any) -> list[Prf]:
    """Return precision, recall and F of pairs; zero where one side has nothing that counts.

    They are no numbers for a pair that needs more memory than there is.
    """
    waiting = [i for i, (answer, right) in enumerate(texts) if answer and right]
    # Equal references come to lie together, and so do texts of about one length.
    waiting.sort(key=lambda i: (len(texts[i][1]), texts[i][1], len(texts[i][0])))
    sizes = Sizes.of(encoder.device)
    scores: list[Prf] = [(0.0, 0.0, 0.0)] * len(texts)
    for place in waiting:
        scores[place] = UNCOMPUTED

    def prepare(places: Sequence[int]) -> PairGroup:
        return PairGroup.of(encoder, places, [texts[i] for i in places])

    groups = _groups(waiting, texts, sizes.characters, sizes.first)
    with (
        device_stream.prepared(groups, prepare) as ready,
        checkpoints.computing("float32"),
    ):
        queued = _queued(encoder, ready, weights, sizes)
        for places, rows in device_stream.fetched(queued):
            for place, (precision, recall, f) in zip(places, rows, strict=True):
                scores[place] = precision, recall, f
    return scores


def _queued(
    encoder: Encoder, groups: Iterable[PairGroup], weights: Any, sizes: Sizes
) -> Iterator[tuple[Sequence[int], Any]]:
    """Match group by group; where memory runs out, less at once from then on."""
    for group in groups:
        waiting = deque([group])
        while waiting:
            check_cancelled()
            part = waiting.popleft()
            matched = _tried(encoder, part, weights, sizes)
            if matched is not None:
                yield part.places, matched
            elif len(part.places) > 1 or sizes.tokens >= encoder.most:
                sizes = sizes.halved if sizes.tokens >= encoder.most else sizes
                waiting.extendleft(reversed(part.halves(encoder)))


def _tried(encoder: Encoder, group: PairGroup, weights: Any, sizes: Sizes) -> Any | None:
    """Match a group, or return none where there is not memory enough."""
    import torch

    try:
        return _matched(encoder, group, weights, sizes)
    except torch.OutOfMemoryError:
        pass
    # Only now is what the error held on to free.
    torch.cuda.empty_cache()
    return None


def _matched(encoder: Encoder, group: PairGroup, weights: Any, sizes: Sizes) -> Any:
    """Encode each text of a group once, and match its pairs; return their scores in order."""
    import torch

    vectors = encoder.vectors(group.table, sizes.tokens)
    spans = [(vectors.lengths[answer], vectors.lengths[right]) for answer, right in group.sides]
    parts = []
    for batch in _batches(spans, vectors.table.shape[1], sizes.cells):
        rows = group.sides[batch.start : batch.stop]
        answer = _Side.of(encoder, vectors, [row[0] for row in rows], weights)
        right = _Side.of(encoder, vectors, [row[1] for row in rows], weights)
        parts.append(_greedy(answer, right))
    return torch.cat(parts)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of some pairs, padded to one length."""

    vectors: Any
    scale: Any
    """What makes vectors of half precision one long, once multiplied; others are that already."""
    mask: Any
    weights: Any

    @classmethod
    def of(cls, encoder: Encoder, vectors: Vectors, rows: Sequence[int], weights: Any) -> "_Side":
        import numpy as np
        import torch

        spans = np.array([(vectors.starts[row], vectors.lengths[row]) for row in rows])
        starts, lengths = encoder.sent(torch.from_numpy(spans)).unsqueeze(2).unbind(1)
        place = torch.arange(int(spans[:, 1].max()), device=vectors.table.device).unsqueeze(0)
        where = (starts + place).clamp_max_(len(vectors.table) - 1)
        mask = place < lengths
        chosen, own = vectors.table[where], weights[vectors.ids[where]] * mask
        if chosen.is_cuda and chosen.element_size() == 2:
            norms = torch.linalg.vector_norm(chosen, dim=-1, dtype=torch.float32)
            return cls(chosen, norms.clamp_min_(1e-12).reciprocal_(), mask, own)
        return cls(torch.nn.functional.normalize(chosen.float(), dim=-1), None, mask, own)


def _greedy(answer: _Side, right: _Side) -> Any:
    """Match both ways; a token of no weight may be somebody's partner, but has no say itself."""
    import torch

    close = _cosines(answer, right).clamp_max_(1.0)
    close.masked_fill_(~(answer.mask.unsqueeze(2) & right.mask.unsqueeze(1)), -1.0)
    totals = answer.weights.sum(1), right.weights.sum(1)
    precision = (close.amax(2) * answer.weights).sum(1) / totals[0]
    recall = (close.amax(1) * right.weights).sum(1) / totals[1]
    both = 2 * precision * recall / (precision + recall)
    nothing = (totals[0] == 0) | (totals[1] == 0)
    scores = torch.stack((precision, recall, both), dim=1)
    return scores.masked_fill(nothing.unsqueeze(1), 0.0).nan_to_num(nan=0.0)


def _cosines(answer: _Side, right: _Side) -> Any:
    import torch

    turned = right.vectors.transpose(1, 2)
    if answer.scale is None:
        return torch.bmm(answer.vectors, turned)
    products = torch.bmm(answer.vectors, turned, out_dtype=torch.float32)
    return products.mul_(answer.scale.unsqueeze(2)).mul_(right.scale.unsqueeze(1))


def _batches(spans: Sequence[tuple[int, int]], width: int, cells: int) -> Iterator[range]:
    """Cut pairs into ranges whose matching takes at most so many numbers."""
    start = left = right = 0
    for i, span in enumerate(spans):
        grown = max(left, span[0]), max(right, span[1])
        needed = (i - start + 1) * (grown[0] * grown[1] + (grown[0] + grown[1]) * width)
        if i > start and needed > cells:
            yield range(start, i)
            start, grown = i, span
        left, right = grown
    yield range(start, len(spans))


def _groups(
    places: Sequence[int], texts: Sequence[Pair], characters: int, least: int
) -> Iterator[Sequence[int]]:
    """Cut pairs into groups of at most so many characters, but at least one pair.

    The first groups are small, each twice as large as the one before.
    """
    first = total = 0
    most = min(least, characters)
    for number, place in enumerate(places):
        length = len(texts[place][0]) + len(texts[place][1])
        if number > first and total + length > most:
            yield places[first:number]
            first, total = number, 0
            most = min(2 * most, characters)
        total += length
    if places:
        yield places[first:]
