"""ROUGE of many answers at once: tokens are numbered, so that texts compare as arrays."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from proctor.scorers.overlap.ngrams import count_shared
from proctor.scorers.overlap.rouge_texts import RougeValues, cut_lines, union_hits

TextPair = tuple[str, str]
"""An answer and a reference."""
Ids = npt.NDArray[np.uint32]
_AT_ONCE = 1 << 17
"""About how many characters are compared at a time, so that what is sorted stays in the cache."""
_TOKEN_BYTES = bytes(
    code if code >= 128 else ord(chr(code).lower() if chr(code).isalnum() else " ")
    for code in range(256)
)
"""Lower-case letters and digits, and spaces for all other ASCII."""


def rouge_values(pairs: Sequence[TextPair], ascii_only: bool) -> Iterator[RougeValues]:
    """Yield the F-measures of all pairs."""
    start = size = 0
    for place, (answer, reference) in enumerate(pairs, 1):
        size += len(answer) + len(reference)
        if size >= _AT_ONCE or place == len(pairs):
            yield from _of_chunk(pairs[start:place], ascii_only)
            start, size = place, 0


def _of_chunk(pairs: Sequence[TextPair], ascii_only: bool) -> Iterator[RougeValues]:
    ids, lengths, kinds = _numbered([text for pair in pairs for text in pair], ascii_only)
    longest = _longest(ids, lengths)
    union = [
        union_hits(pair, length, ascii_only) for length, pair in zip(longest, pairs, strict=True)
    ]
    one, two = count_shared(ids.astype(np.uint64), lengths, 2, max(1, kinds.bit_length()))
    answers, references = lengths[::2], lengths[1::2]
    columns = (
        _f_measures(one, references, answers),
        _f_measures(two, references - 1, answers - 1),
        _f_measures(np.array(longest), references, answers),
        _f_measures(np.array(union), references, answers),
    )
    return zip(*(column.tolist() for column in columns), strict=True)


def _numbered(texts: Sequence[str], ascii_only: bool) -> tuple[Ids, npt.NDArray[np.int64], int]:
    """Give numbers to the tokens of all texts from 1, with a zero after each text.

    Returned with them are the numbers of tokens in each text, and how many kinds there are.
    """
    import pyarrow
    import pyarrow.compute

    split = pyarrow.compute.ascii_split_whitespace(_spaced(texts, ascii_only))
    numbered = split.values.dictionary_encode()
    # By DLPack, since the first ``to_numpy`` of a process loads pandas, where that is installed.
    ids = np.from_dlpack(numbered.indices).astype(np.uint32)
    ends = np.from_dlpack(split.offsets).astype(np.int64)
    # Where a text begins or ends with a space, an empty token is beside it.
    sizes = np.from_dlpack(pyarrow.compute.binary_length(numbered.dictionary))
    if len(empty := np.flatnonzero(sizes == 0)):
        tokens = ids != empty[0]
        ends = np.concatenate(([0], np.cumsum(tokens)))[ends]
        ids = ids[tokens]
    lengths = np.diff(ends)
    apart = np.zeros(len(ids) + len(texts), dtype=np.uint32)
    apart[np.arange(len(ids)) + np.repeat(np.arange(len(texts)), lengths)] = ids + 1
    return apart, lengths, len(numbered.dictionary)


def _spaced(texts: Sequence[str], ascii_only: bool) -> Any:
    """Return the tokens of each text with spaces between them, as a column of Arrow."""
    import pyarrow

    spaced = [
        text if text.isascii() else " ".join(chain.from_iterable(cut_lines(text, ascii_only)))
        for text in texts
    ]
    whole = "".join(spaced)
    written = whole.encode()
    if len(written) == len(whole):
        sizes = list(map(len, spaced))
    else:
        sizes = [len(text.encode()) for text in spaced]
    ends = np.cumsum([0, *sizes], dtype=np.int32)
    buffers = pyarrow.py_buffer(ends), pyarrow.py_buffer(written.translate(_TOKEN_BYTES))
    return pyarrow.StringArray.from_buffers(len(texts), *buffers)


def _longest(ids: Ids, lengths: npt.NDArray[np.int64]) -> list[int]:
    """Return the lengths of the longest common subsequences, of texts with a character a token."""
    from rapidfuzz.distance import LCSseq

    whole = ids.tobytes().decode("utf-32-le", "surrogatepass")
    ends = (np.cumsum(lengths + 1) - 1).tolist()
    similarity = LCSseq.similarity
    longest, start = [], 0
    for middle, end in zip(ends[::2], ends[1::2], strict=True):
        longest.append(similarity(whole[start:middle], whole[middle + 1 : end]))
        start = end + 1
    return longest


def _f_measures(
    hits: npt.NDArray[Any], reference: npt.NDArray[Any], answer: npt.NDArray[Any]
) -> npt.NDArray[np.float64]:
    """Apply ``formulas.f_measure``, operation by operation."""
    precision, recall = hits / np.maximum(answer, 1), hits / np.maximum(reference, 1)
    some = hits > 0
    values: npt.NDArray[np.float64] = np.zeros(len(hits))
    np.divide(2 * precision * recall, precision + recall, out=values, where=some)
    return values
