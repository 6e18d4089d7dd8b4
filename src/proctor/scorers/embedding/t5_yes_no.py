"""Yes or no: how likely a T5 that reads a question answers yes, for many questions at a time."""

from collections.abc import Sequence
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from proctor.errors import MissingResource
from proctor.scorers.embedding import checkpoints

MOST_TOKENS = 1024
"""How much of a question is read; the rest is cut off at the end."""
ON_GPU = "tf32"
"""The precision that ``auto`` means there: half precision moves values in the third digit."""
_KINDS = ("t5", "mt5", "umt5")
_BIASED = "proctor_biased"
_BIASES: ContextVar[dict[tuple[int, int], tuple[Any, Any, Any]]] = ContextVar("biases")
"""What is added to attention in all layers alike, made once for a batch."""


class Answerer:
    """A loaded model that answers questions; only its Yes and No are looked at."""

    def __init__(self, model: str, device: str, precision: str) -> None:
        import torch

        self.device, self.precision = device, precision
        self.tokenizer, self.model = checkpoints.load(
            "AutoModelForSeq2SeqLM", model, device, precision
        )
        if self.model.config.model_type not in _KINDS:
            raise MissingResource(f"{model}: expected a T5, not {self.model.config.model_type}")
        words = [self.tokenizer(word)["input_ids"][0] for word in ("Yes", "No")]
        head = torch.nn.Linear(self.model.config.d_model, len(words), bias=False)
        head.weight = torch.nn.Parameter(
            self.model.lm_head.weight[words].float(), requires_grad=False
        )
        # In half precision the last step would round the difference of the two away.
        head.register_forward_pre_hook(lambda _, inputs: (inputs[0].float(),))
        self.model.lm_head = head
        _teach_bias(self.model)
        self.budget = 2**15 if device.startswith("cuda") else 2**11

    def likely(self, questions: Sequence[str]) -> list[float]:
        """Return for each question the probability of yes, against no, as the first word."""
        import torch

        unique = {question: i for i, question in enumerate(dict.fromkeys(questions))}
        texts = checkpoints.tokens(self.tokenizer, list(unique), MOST_TOKENS)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        margins: list[Any] = []
        done = 0
        with checkpoints.computing(self.precision):
            while done < len(order):
                count = self._fitting([len(texts[i]) for i in order[done:]])
                try:
                    margins.append(self._margins([texts[i] for i in order[done : done + count]]))
                except torch.OutOfMemoryError:
                    if count == 1:
                        raise
                    torch.cuda.empty_cache()
                    self.budget //= 2
                    continue
                done += count
            values = torch.cat(margins).cpu().double().sigmoid().tolist() if margins else []
        by_question = dict(zip(order, values, strict=True))
        return [by_question[unique[question]] for question in questions]

    def _fitting(self, lengths: Sequence[int]) -> int:
        """Count how many of ascending lengths fit, filled up to the longest, but at least one."""
        most = (i for i, length in enumerate(lengths) if i and (i + 1) * length > self.budget)
        return next(most, len(lengths))

    def _margins(self, texts: Sequence[Sequence[int]]) -> Any:
        """Return by how much yes is ahead of no; the odds of the two, as a logarithm."""
        import torch

        longest = checkpoints.filled_to(len(texts[-1]), self.device)
        pad, start = self.model.config.pad_token_id, self.model.config.decoder_start_token_id
        filled = torch.tensor([[*text, *[pad] * (longest - len(text))] for text in texts])
        lengths = torch.tensor([len(text) for text in texts]).unsqueeze(1)
        mask = None
        if len(texts[0]) < longest:
            mask = (torch.arange(longest).unsqueeze(0) < lengths).long()
            mask = checkpoints.sent(mask, self.device)
        token = _BIASES.set({})
        try:
            logits = self.model(
                input_ids=checkpoints.sent(filled, self.device),
                attention_mask=mask,
                decoder_input_ids=torch.full((len(texts), 1), start, device=self.device),
                use_cache=False,
            ).logits[:, 0]
        finally:
            _BIASES.reset(token)
        return logits[:, 0] - logits[:, 1]


@lru_cache(maxsize=2)
def answerer(place: str, device: str, precision: str) -> Answerer:
    """Return who answers, loaded once for all that lie in one place."""
    return Answerer(place, device, precision)


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
