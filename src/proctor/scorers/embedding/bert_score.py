"""BERTScore: how close the answer's tokens come to the reference's, in a model's eyes."""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import isnan, log
from pathlib import Path
from typing import Any, ClassVar, Literal

from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.core.score import Score
from proctor.core.suite import Case
from proctor.errors import MissingResource, ProctorError
from proctor.io.downloads import sha256_of
from proctor.scorers.embedding import checkpoints
from proctor.scorers.embedding.greedy_match import NO_ROOM, Prf

ON_GPU = "bfloat16"
"""The precision that ``auto`` means there: F comes within a thousandth of single precision."""


@dataclass(frozen=True)
class BertScore(Scorer):
    """Match the answer's tokens with those of the reference by the vectors an encoder gives them.

    Precision, recall and F are those of the bert-score package for the same model and layer; with
    several references the best counts. Empty text scores 0. It is shown, never added.
    """

    version: ClassVar[str] = "1"
    out_of: ClassVar[float | None] = None
    batches: ClassVar[bool] = True

    model: str = checkpoints.MINILM
    """A folder, a name of the model hub, or the default, which is fetched once."""
    layer: int = 0
    """The layer whose vectors are compared; 0 means the one known to be good, else the last."""
    idf: str = ""
    """A file of texts, a line each or a JSON list; tokens rare in them count more."""
    baseline: str = ""
    """A file of the bert-score package's kind, by whose row for the layer scores are rescaled."""
    leading_space: bool = False
    """Whether texts begin with a space, as bert-score did for RoBERTa before transformers 5."""
    device: str = "auto"
    """``cpu``, ``cuda``, ``cuda:1``, …; ``auto`` takes a GPU where there is one."""
    precision: Literal["auto", "float32", "tf32", "bfloat16", "float16"] = "auto"
    """``auto`` is half precision (``bfloat16``) on a GPU, full elsewhere."""

    @property
    def points_range(self) -> tuple[float | None, float | None]:
        """Return the ends of a cosine, of which a baseline moves the lower one."""
        return None if self.baseline else -1.0, 1.0

    def score(self, ctx: ScoreContext) -> Score:
        return self.score_batch([ctx])[0]

    def score_batch(self, contexts: Sequence[ScoreContext]) -> list[Score]:
        pairs = [(ctx.output, right) for ctx in contexts for right in ctx.references]
        try:
            values = iter(self.prf(pairs) if pairs else [])
        # What torch raises is of no one case's making, and would come again with each.
        except (ProctorError, RuntimeError) as error:
            return [Score.failed(str(error)) for _ in contexts]
        return [
            self._noted(_score([next(values) for _ in ctx.references]), ctx) for ctx in contexts
        ]

    def open(self) -> None:
        self._encoder()

    def prf(self, pairs: Sequence[tuple[str, str]]) -> list[Prf]:
        """Return precision, recall and F of (answer, reference) pairs."""
        from proctor.scorers.embedding.greedy_match import match

        loaded = self._encoder()
        prepared = [(self._prepared(answer), self._prepared(right)) for answer, right in pairs]
        rows = match(loaded, prepared, self._weights)
        if not self.baseline:
            return rows
        low = _baseline(Path(self.baseline), loaded.layer)
        return [_rescaled(row, low) for row in rows]

    def missing(self) -> Iterable[str]:
        yield from checkpoints.missing("BERTScore", [self.model])
        for path in (self.idf, self.baseline):
            if path and not Path(path).is_file():
                yield f"BERTScore: there is no file {path}"

    def doubts(self, case: Case) -> Iterable[str]:
        return checkpoints.unsuited("BERTScore", self.model, case.references)

    def toolchain(self) -> str:
        return self._toolchain

    def problems(self) -> Iterable[str]:
        if self.layer < 0:
            yield f"layer {self.layer}: layers are counted from 1"

    @cached_property
    def _toolchain(self) -> str:
        files = [sha256_of(Path(p))[:12] for p in (self.idf, self.baseline) if Path(p).is_file()]
        parts = [checkpoints.identity(self.model), *files]
        return " ".join([*parts, checkpoints.computed_by(self.device, self.precision, ON_GPU)])

    def _encoder(self) -> Any:
        """Return the encoder, loaded once."""
        if lacking := next(iter(self.missing()), None):
            raise MissingResource(lacking)
        from proctor.scorers.embedding.encoders import encoder

        device = checkpoints.device_of(self.device)
        precision = checkpoints.precision_of(self.precision, device, ON_GPU)
        return encoder(self.model, self.layer, device, precision)

    def _noted(self, score: Score, ctx: ScoreContext) -> Score:
        """Say in the reason that the number says little, where that is so."""
        if self.model not in checkpoints.ENGLISH:
            return score
        if not any(checkpoints.is_east_asian(text) for text in (ctx.output, *ctx.references)):
            return score
        return replace(score, reason=f"{score.reason}; {self.model} knows English alone")

    def _prepared(self, text: str) -> str:
        text = text.strip()
        return f" {text}" if text and self.leading_space else text

    @cached_property
    def _weights(self) -> Any:
        """What each token of the vocabulary counts, on the device."""
        import torch

        loaded = self._encoder()
        weights = torch.ones(loaded.vocabulary)
        if self.idf:
            texts = [self._prepared(text) for text in _texts(Path(self.idf))]
            seen = Counter(chain.from_iterable(map(set, loaded.tokens(texts))))
            weights *= log(len(texts) + 1)
            for token, count in seen.items():
                weights[token] = log((len(texts) + 1) / (count + 1))
        else:
            weights[list(loaded.special)] = 0.0
        return weights.to(loaded.device)


def _score(rows: Sequence[Prf]) -> Score:
    """Make a score of the best of several references."""
    if not rows:
        return Score.failed("there is no reference to compare with")
    if any(isnan(value) for row in rows for value in row):
        return Score.failed(NO_ROOM)
    precision, recall, f = (max(values) for values in zip(*rows, strict=True))
    metrics = {"bert_score": f, "bert_score_precision": precision, "bert_score_recall": recall}
    reason = f"BERTScore F {f:.4f} (precision {precision:.4f}, recall {recall:.4f})"
    return Score(points=f, reason=reason, detail={"metrics": metrics})


def _texts(path: Path) -> list[str]:
    """Read texts, a line each or a JSON list."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".json":
        return text.splitlines()
    try:
        texts = json.loads(text)
    except ValueError as error:
        raise MissingResource(f"{path} is not JSON: {error}") from None
    if not isinstance(texts, list) or not all(isinstance(item, str) for item in texts):
        raise MissingResource(f"{path}: expected a list of strings")
    return texts


def _baseline(path: Path, layer: int) -> Prf:
    """Read the row of a layer: its number, and what unrelated texts score."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            try:
                number, precision, recall, f = (float(cell) for cell in row)
            except ValueError:
                continue
            if number == layer:
                return precision, recall, f
    raise MissingResource(f"{path} has no row for layer {layer}")


def _rescaled(row: Prf, low: Prf) -> Prf:
    precision, recall, f = ((x - b) / (1 - b) for x, b in zip(row, low, strict=True))
    return precision, recall, f
