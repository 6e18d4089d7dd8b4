"""Yes or no: how likely a T5 that reads a question answers yes, for many questions at a time."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from proctor.errors import MissingResource
from proctor.scorers import checkpoints

MOST_TOKENS = 1024
"""How much of a question is read; the rest is cut off at the end."""
_KINDS = ("t5", "mt5", "umt5")


class Answerer:
    """Hold a loaded model that is asked questions, of whose words only Yes and No are looked at."""

    def __init__(self, model: str, device: str, precision: str) -> None:
        import torch

        self.device = device
        self.tokenizer, self.model = checkpoints.load(
            "AutoModelForSeq2SeqLM", model, device, precision
        )
        if self.model.config.model_type not in _KINDS:
            raise MissingResource(f"{model}: a T5 is wanted, not {self.model.config.model_type}")
        words = [self.tokenizer(word)["input_ids"][0] for word in ("Yes", "No")]
        head = torch.nn.Linear(self.model.config.d_model, len(words), bias=False)
        head.weight = torch.nn.Parameter(
            self.model.lm_head.weight[words].float(), requires_grad=False
        )
        # In half precision the last step would round the difference of the two away.
        head.register_forward_pre_hook(lambda _, given: (given[0].float(),))
        self.model.lm_head = head
        self.budget = 2**15 if device.startswith("cuda") else 2**11

    def likely(self, questions: Sequence[str]) -> list[float]:
        """Return for each question the probability of yes, against no, as the first word."""
        import torch

        unique = {question: i for i, question in enumerate(dict.fromkeys(questions))}
        texts = checkpoints.tokens(self.tokenizer, list(unique), MOST_TOKENS)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        made: list[Any] = []
        done = 0
        with torch.inference_mode(), checkpoints.steady_attention():
            while done < len(order):
                count = self._fitting([len(texts[i]) for i in order[done:]])
                try:
                    made.append(self._asked([texts[i] for i in order[done : done + count]]))
                except torch.OutOfMemoryError:
                    if count == 1:
                        raise
                    torch.cuda.empty_cache()
                    self.budget //= 2
                    continue
                done += count
            values = torch.cat(made).tolist() if made else []
        found = dict(zip(order, values, strict=True))
        return [found[unique[question]] for question in questions]

    def _fitting(self, lengths: Sequence[int]) -> int:
        """Count how many of ascending lengths fit, filled up to the longest, but at least one."""
        most = (i for i, length in enumerate(lengths) if i and (i + 1) * length > self.budget)
        return next(most, len(lengths))

    def _asked(self, texts: Sequence[Sequence[int]]) -> Any:
        import torch

        longest = len(texts[-1])
        pad, start = self.model.config.pad_token_id, self.model.config.decoder_start_token_id
        filled = torch.tensor([[*text, *[pad] * (longest - len(text))] for text in texts])
        lengths = torch.tensor([len(text) for text in texts]).unsqueeze(1)
        mask = None
        if len(texts[0]) < longest:
            mask = (torch.arange(longest).unsqueeze(0) < lengths).long()
            mask = checkpoints.sent(mask, self.device)
        logits = self.model(
            input_ids=checkpoints.sent(filled, self.device),
            attention_mask=mask,
            decoder_input_ids=torch.full((len(texts), 1), start, device=self.device),
            use_cache=False,
        ).logits[:, 0]
        return torch.sigmoid((logits[:, 0] - logits[:, 1]).double())


@lru_cache(maxsize=2)
def answerer(place: str, device: str, precision: str) -> Answerer:
    """Return who answers, loaded once for all that lie in one place."""
    return Answerer(place, device, precision)
