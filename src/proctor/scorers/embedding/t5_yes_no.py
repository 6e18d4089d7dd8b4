"""Yes or no: how likely a T5 that reads a question answers yes, for many questions at a time."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite, nan
from typing import Any

from proctor.errors import MissingResource
from proctor.io.concurrency import check_cancelled
from proctor.scorers.embedding import checkpoints, device_stream
from proctor.scorers.embedding.t5_packed import PackedT5, PackedTexts

MOST_TOKENS = 1024
"""How much of a question is read; the rest is cut off at the end."""
ON_GPU = "float16"
"""The precision that ``auto`` means there: as exact as ``tf32`` and quicker, where ``bfloat16``
moves log-odds in the second digit. What is too large for it is computed in single precision."""
UNIT = 2**18
"""Characters of the questions that are made ready for a GPU at a time."""
_ROUNDING = {"bfloat16": 0.5, "float16": 0.1}
"""How far two ways may be apart that round differently, by the largest logit."""
_KINDS = ("t5", "mt5", "umt5")
_BIASED = "proctor_biased"
_BIASES: ContextVar[dict[tuple[int, int], tuple[Any, Any, Any]]] = ContextVar("biases")
"""What is added to attention in all layers alike, made once for a batch."""


@dataclass(frozen=True, slots=True)
class QuestionBatch:
    """Questions that are asked at once, shortest first."""

    places: tuple[int, ...]
    """Which questions they are."""
    texts: tuple[Sequence[int], ...]
    packed: PackedTexts | None = None

    @property
    def filled(self) -> int:
        """Return how many tokens they are when padded to the longest."""
        return len(self.texts) * len(self.texts[-1])


class Answerer:
    """A loaded model that answers questions; only its Yes and No are looked at."""

    def __init__(self, model: str, device: str, precision: str) -> None:
        import torch

        self.place, self.device, self.precision = model, device, precision
        self.tokenizer, self.model = _loaded(model, device, precision)
        self.config = self.model.config
        if self.config.model_type not in _KINDS:
            raise MissingResource(f"{model}: expected a T5, not {self.config.model_type}")
        words = [self.tokenizer(word)["input_ids"][0] for word in ("Yes", "No")]
        head = torch.nn.Linear(self.config.d_model, len(words), bias=False)
        head.weight = torch.nn.Parameter(
            self.model.lm_head.weight[words].float(), requires_grad=False
        )
        # In half precision the last step would round the difference of the two away.
        head.register_forward_pre_hook(lambda _, inputs: (inputs[0].float(),))
        self.model.lm_head = head
        _teach_bias(self.model)
        on_gpu = device.startswith("cuda")
        self.budget = 2**16 if on_gpu else 2**11
        self.unit = UNIT if on_gpu else None
        self.packed: PackedT5 | None = None
        if on_gpu and precision != "float32":
            self.pack()
            if self.packed is None:
                # All digits were loaded to be packed, which is not to be.
                self.model.to(getattr(torch, checkpoints.stored_as(precision)))
                self.model.lm_head.float()

    def pack(self) -> None:
        """Take the quick way from now on, where it computes what the library's own way does."""
        with checkpoints.computing(self.precision):
            packed = _as_packed(self.model, self.precision)
            sample = [[2 + i % 29 for i in range(length)] for length in (5, 5, 13, 24)]
            if packed is None or not _agree(
                self._library_logits(sample),
                packed.logits(PackedTexts.of(sample, 0, self.device)),
                tolerance=_ROUNDING.get(self.precision, 0.05),
            ):
                return
        # What is still needed of its weights, the other has.
        packed.release()
        self.packed, self.model = packed, None

    def likely(self, questions: Sequence[str]) -> list[float]:
        """Return for each question the probability of yes, against no, as the first word.

        It is no number for a question that needs more memory than there is.
        """
        import torch

        margins = torch.tensor(self.log_odds(questions), dtype=torch.float64)
        return margins.sigmoid().tolist()  # type: ignore[no-any-return]

    def log_odds(self, questions: Sequence[str]) -> list[float]:
        """Return for each question by how much yes is ahead of no, in logits."""
        unique = list(dict.fromkeys(questions))
        margins = dict.fromkeys(unique, nan)

        def prepare(unit: Sequence[str]) -> tuple[Sequence[str], list[QuestionBatch]]:
            return unit, self._batches(unit)

        with (
            device_stream.prepared(self._units(unique), prepare) as units,
            checkpoints.computing(self.precision),
        ):
            for batch, values in device_stream.fetched(self._queued(units)):
                margins.update(zip(batch, values, strict=True))
        lost = [question for question in unique if not isfinite(margins[question])]
        if lost and self.packed is not None:
            # Some number on the way was too large for the type of the products.
            margins.update(
                zip(
                    lost,
                    answerer(self.place, self.device, "float32").log_odds(lost),
                    strict=True,
                )
            )
        return [margins[question] for question in questions]

    def _units(self, questions: Sequence[str]) -> Iterator[Sequence[str]]:
        """Cut questions into what is made ready at a time, of about one length each."""
        if self.unit is None or not questions:
            if questions:
                yield questions
            return
        unit: list[str] = []
        characters = 0
        for question in sorted(questions, key=len):
            if unit and characters + len(question) > self.unit:
                yield unit
                unit, characters = [], 0
            unit.append(question)
            characters += len(question)
        yield unit

    def _batches(self, questions: Sequence[str]) -> list[QuestionBatch]:
        """Cut questions into tokens, and these into what is asked at once."""
        texts = checkpoints.tokens(self.tokenizer, questions, MOST_TOKENS)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        batches, done = [], 0
        while done < len(order):
            count = self._fitting([len(texts[i]) for i in order[done:]])
            chosen = order[done : done + count]
            batches.append(self._batch(chosen, [texts[i] for i in chosen]))
            done += count
        return batches

    def _batch(self, places: Sequence[int], texts: Sequence[Sequence[int]]) -> QuestionBatch:
        packed = None
        if self.packed is not None:
            pad = self.config.pad_token_id
            packed = PackedTexts.of([text or [pad] for text in texts], pad, self.device)
        return QuestionBatch(tuple(places), tuple(texts), packed)

    def _fitting(self, lengths: Sequence[int]) -> int:
        """Count how many of ascending lengths fit, filled up to the longest, but at least one."""
        most = (i for i, length in enumerate(lengths) if i and (i + 1) * length > self.budget)
        return next(most, len(lengths))

    def _queued(
        self, units: Iterable[tuple[Sequence[str], list[QuestionBatch]]]
    ) -> Iterator[tuple[list[str], Any]]:
        """Ask batch by batch; where memory runs out, less at once from then on."""
        for questions, batches in units:
            waiting = deque(batches)
            while waiting:
                check_cancelled()
                batch = waiting.popleft()
                margins = self._margins_or_none(batch)
                if margins is not None:
                    yield [questions[place] for place in batch.places], margins
                elif len(batch.texts) > 1:
                    self.budget = min(self.budget, batch.filled // 2)
                    waiting.extendleft(reversed(self._halves(batch)))

    def _margins_or_none(self, batch: QuestionBatch) -> Any:
        """Return the margins of a batch, or none where there is not memory enough."""
        import torch

        try:
            return self._margins(batch)
        except torch.OutOfMemoryError:
            pass
        # Only now is what the error held on to free.
        torch.cuda.empty_cache()
        return None

    def _halves(self, batch: QuestionBatch) -> list[QuestionBatch]:
        middle = len(batch.texts) // 2
        return [
            self._batch(batch.places[part], batch.texts[part])
            for part in (slice(middle), slice(middle, None))
        ]

    def _margins(self, batch: QuestionBatch) -> Any:
        """Return by how much yes is ahead of no; the odds of the two, as a logarithm."""
        if self.packed is not None and batch.packed is not None:
            logits = self.packed.logits(batch.packed)
        else:
            logits = self._library_logits(batch.texts)
        return logits[:, 0] - logits[:, 1]

    def _library_logits(self, texts: Sequence[Sequence[int]]) -> Any:
        """Return the two logits of each text, as the library computes them."""
        import torch

        longest = checkpoints.filled_to(len(texts[-1]), self.device)
        pad, start = self.config.pad_token_id, self.config.decoder_start_token_id
        filled = torch.tensor([[*text, *[pad] * (longest - len(text))] for text in texts])
        lengths = torch.tensor([len(text) for text in texts]).unsqueeze(1)
        mask = None
        if len(texts[0]) < longest:
            mask = (torch.arange(longest).unsqueeze(0) < lengths).long()
            mask = device_stream.sent(mask, self.device)
        token = _BIASES.set({})
        try:
            logits = self.model(
                input_ids=device_stream.sent(filled, self.device),
                attention_mask=mask,
                decoder_input_ids=torch.full((len(texts), 1), start, device=self.device),
                use_cache=False,
            ).logits[:, 0]
        finally:
            _BIASES.reset(token)
        return logits


@lru_cache(maxsize=2)
def answerer(place: str, device: str, precision: str) -> Answerer:
    """Return who answers, loaded once for all that lie in one place."""
    return Answerer(place, device, precision)


def _loaded(model: str, device: str, precision: str) -> tuple[Any, Any]:
    """Load a tokenizer and a model; on a GPU with all digits, some of which are kept, if it can."""
    if device.startswith("cuda"):
        with suppress(MissingResource):
            return checkpoints.load("AutoModelForSeq2SeqLM", model, device, "float32")
    return checkpoints.load("AutoModelForSeq2SeqLM", model, device, precision)


def _as_packed(model: Any, precision: str) -> PackedT5 | None:
    """Return a model for the quick way, or none where it is not built as that wants it."""
    try:
        return PackedT5(model, model.lm_head.weight, precision)
    except AttributeError:
        return None


def _agree(library: Any, packed: Any, *, tolerance: float) -> bool:
    """Tell whether two ways give the same numbers, as far as their rounding lets them."""
    return bool((library - packed).abs().max() <= tolerance * library.abs().max())


def _teach_bias(model: Any) -> None:
    """Let a model put mask and relative positions together once, not in every layer."""
    from transformers import AttentionInterface, AttentionMaskInterface

    if getattr(model, "_supports_sdpa", False):
        AttentionInterface.register(_BIASED, _attend)
        AttentionMaskInterface.register(_BIASED, AttentionMaskInterface()["sdpa"])
        for part in (model, model.encoder, model.decoder):
            part.set_attn_implementation(_BIASED)


def _attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
) -> tuple[Any, None]:
    """Attend with a bias. Tensors are (texts, heads, tokens, width)."""
    import torch

    bias = _bias(options.get("position_bias"), attention_mask, query.dtype)
    out = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=bias, scale=options["scaling"]
    )
    return out.transpose(1, 2), None


def _bias(places: Any, mask: Any, dtype: Any) -> Any:
    """Return what is added for relative positions and for what is masked."""
    if places is None:
        return mask
    cache = _BIASES.get()
    at = id(places), id(mask)
    if at not in cache:
        import torch

        bias = places.to(dtype)
        if mask is not None and mask.dtype == torch.bool:
            bias = torch.where(mask, bias, torch.finfo(dtype).min)
        elif mask is not None:
            bias = bias + mask
        # The quick kernels want the last dimension in one piece.
        cache[at] = bias.contiguous(), places, mask
    return cache[at][0]
