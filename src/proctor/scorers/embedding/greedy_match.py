"""BERTScore's greedy matching: each token with its most similar one on the other side."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from proctor.scorers.embedding import checkpoints
from proctor.scorers.embedding.encoders import Encoder, Vectors

Pair = tuple[str, str]
"""What was said, and what is known to be right."""
Prf = tuple[float, float, float]
"""Precision, recall and F."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Limits on what is in memory at a time."""

    characters: int
    """Texts whose vectors are kept until they are matched."""
    tokens: int
    """What the encoder is given at once."""
    cells: int
    """Numbers of the matching."""

    @classmethod
    def of(cls, device: str) -> "Sizes":
        """Return what suits a device."""
        if device.startswith("cuda"):
            return cls(characters=2**20, tokens=2**16, cells=2**26)
        return cls(characters=2**18, tokens=2**11, cells=2**21)

    @property
    def halved(self) -> "Sizes":
        """Return what needs half the memory."""
        return Sizes(self.characters // 2, self.tokens // 2, self.cells // 2)


def match(encoder: Encoder, texts: Sequence[Pair], weights: Any) -> list[Prf]:
    """Return precision, recall and F of pairs; zero where one side has nothing that counts."""
    import torch

    waiting = [i for i, (answer, right) in enumerate(texts) if answer and right]
    # Equal references come to lie together, and so do texts of about one length.
    waiting.sort(key=lambda i: (len(texts[i][1]), texts[i][1], len(texts[i][0])))
    sizes = Sizes.of(encoder.device)
    places: list[int] = []
    results: list[Any] = []
    with checkpoints.computing("float32"):
        while waiting:
            lengths = (len(texts[i][0]) + len(texts[i][1]) for i in waiting)
            group = waiting[: _fitting(lengths, sizes.characters)]
            try:
                rows, values = _matched(encoder, [texts[i] for i in group], weights, sizes)
            except torch.OutOfMemoryError:
                if sizes.tokens < encoder.most:
                    raise
                torch.cuda.empty_cache()
                sizes = sizes.halved
                continue
            places += [group[row] for row in rows]
            results.append(values)
            waiting = waiting[len(group) :]
        scores = torch.zeros(len(texts), 3)
        if results:
            scores[places] = torch.cat(results).cpu()
    return [(p, r, f) for p, r, f in scores.tolist()]


def _matched(
    encoder: Encoder, pairs: Sequence[Pair], weights: Any, sizes: Sizes
) -> tuple[list[int], Any]:
    """Encode each text of a group once, and match its pairs; return their order and scores."""
    import torch

    texts = {text: i for i, text in enumerate(dict.fromkeys(chain.from_iterable(pairs)))}
    vectors = encoder.vectors(encoder.tokens(list(texts)), sizes.tokens)
    sides = [(texts[answer], texts[right]) for answer, right in pairs]
    spans = [(vectors.lengths[answer], vectors.lengths[right]) for answer, right in sides]
    order = sorted(range(len(pairs)), key=lambda i: spans[i])
    parts = []
    for batch in _batches([spans[i] for i in order], vectors.table.shape[1], sizes.cells):
        rows = [sides[order[i]] for i in batch]
        answer = _Side.of(encoder, vectors, [row[0] for row in rows], weights)
        right = _Side.of(encoder, vectors, [row[1] for row in rows], weights)
        parts.append(_greedy(answer, right))
    return order, torch.cat(parts)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of some pairs, padded to one length."""

    vectors: Any
    mask: Any
    weights: Any

    @classmethod
    def of(cls, encoder: Encoder, vectors: Vectors, rows: Sequence[int], weights: Any) -> "_Side":
        import torch

        starts = torch.tensor([vectors.starts[row] for row in rows]).unsqueeze(1)
        lengths = torch.tensor([vectors.lengths[row] for row in rows]).unsqueeze(1)
        place = torch.arange(int(lengths.max())).unsqueeze(0)
        where = encoder.sent((starts + place).clamp_max_(len(vectors.table) - 1))
        mask = encoder.sent(place < lengths)
        normalized = torch.nn.functional.normalize(vectors.table[where].float(), dim=-1)
        return cls(normalized, mask, weights[vectors.ids[where]] * mask)


def _greedy(answer: _Side, right: _Side) -> Any:
    """Match both ways; a token of no weight may be somebody's partner, but has no say itself."""
    import torch

    close = torch.bmm(answer.vectors, right.vectors.transpose(1, 2)).clamp_max_(1.0)
    close.masked_fill_(~(answer.mask.unsqueeze(2) & right.mask.unsqueeze(1)), -1.0)
    totals = answer.weights.sum(1), right.weights.sum(1)
    precision = (close.amax(2) * answer.weights).sum(1) / totals[0]
    recall = (close.amax(1) * right.weights).sum(1) / totals[1]
    both = 2 * precision * recall / (precision + recall)
    nothing = (totals[0] == 0) | (totals[1] == 0)
    scores = torch.stack((precision, recall, both), dim=1)
    return scores.masked_fill(nothing.unsqueeze(1), 0.0).nan_to_num(nan=0.0)


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


def _fitting(lengths: Iterable[int], most: int) -> int:
    """Count how many come to no more than a total, but at least one."""
    total = count = 0
    for length in lengths:
        total += length
        if count and total > most:
            break
        count += 1
    return count
