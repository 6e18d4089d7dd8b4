"""Encoders: texts to one vector a token, many texts at a time, without padding where possible."""

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import accumulate, chain, groupby
from typing import Any

from proctor.errors import MissingResource
from proctor.scorers.embedding import checkpoints, device_stream
from proctor.scorers.embedding.bert_layers import BertLayers

LAYERS = {
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "distilbert-base-uncased": 5,
    "microsoft/deberta-large-mnli": 18,
    "microsoft/deberta-xlarge-mnli": 40,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
"""The layer that agrees best with people, as the authors of BERTScore found; elsewhere the last."""
_PACKED = "proctor_packed"
_HALF = ("bfloat16", "float16")
_PACKABLE = {"bert", "camembert", "electra", "roberta", "xlm-roberta"}
"""Kinds of model whose positions may be told, and whose attention may be replaced."""
_POSITIONS_AFTER_PAD = {"camembert", "roberta", "xlm-roberta"}


@dataclass(frozen=True, slots=True)
class _Packing:
    """Positions of texts that lie one after the other in a model's input."""

    runs: Sequence[tuple[int, int]]
    """How many texts of which length, in order."""
    longest: int
    ends: Any
    """Where texts end, on a GPU."""


_PACKING: ContextVar[_Packing] = ContextVar("packing")


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of all tokens of some texts in one long table."""

    table: Any
    ids: Any
    starts: Sequence[int]
    """Where each text begins in the table."""
    lengths: Sequence[int]


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The tokens of texts, one after the other by length, ready for a device."""

    order: Sequence[int]
    """The texts by ascending length."""
    starts: Sequence[int]
    """Where each text begins, in the order in which texts were given."""
    lengths: Sequence[int]
    columns: Any
    """Tokens and their positions within texts, as the rows of one tensor."""


class Encoder:
    """A loaded encoder, cut off above the layer that is used."""

    def __init__(self, model: str, layer: int, device: str, precision: str) -> None:
        self.device, self.precision = device, precision
        self.tokenizer, loaded = checkpoints.load("AutoModel", model, device, precision)
        if hasattr(loaded, "decoder") and hasattr(loaded, "encoder"):
            loaded = loaded.encoder
        self.layer = _cut(loaded, layer or LAYERS.get(model, 0), model)
        if getattr(loaded, "pooler", None) is not None:
            loaded.pooler = None
        self.model = loaded
        self.packs = _can_pack(loaded, device, precision)
        if self.packs:
            _teach_packing(loaded)
        self.first = _first_position(loaded.config)
        self.most = _most_tokens(self.tokenizer, loaded.config, self.first)
        self.layers: BertLayers | None = None
        if self.packs and device.startswith("cuda"):
            self.fuse()

    @property
    def special(self) -> set[int]:
        """Return the tokens that stand for no word: they are matched, but not counted."""
        special_ids = {self.tokenizer.cls_token_id, self.tokenizer.sep_token_id}
        return {token for token in special_ids if token is not None}

    @property
    def vocabulary(self) -> int:
        """Return how many different tokens there are."""
        return max(len(self.tokenizer), int(self.model.config.vocab_size))

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Cut texts into tokens, as many as the model can take."""
        return checkpoints.tokens(self.tokenizer, texts, self.most)

    def fuse(self) -> None:
        """Take the quick way from now on, where it computes what the library's own way does."""
        lengths = [3, 5, 5, 11]
        numbers = iter(range(5, 5 + sum(lengths)))
        tried = self.laid_out(
            [[next(numbers) % self.vocabulary for _ in range(n)] for n in lengths]
        )
        with checkpoints.computing(self.precision):
            ids, places = self.sent(tried.columns)
            library = self._packed(ids, places, lengths).float()
            self.layers = _fused(self.model)
            if self.layers is not None:
                apart = (self._packed(ids, places, lengths).float() - library).abs().max()
                # Rounding comes to some hundredths of the largest number in half precision.
                if not apart <= 0.05 * library.abs().max():
                    self.layers = None

    def laid_out(self, texts: Sequence[Sequence[int]]) -> TokenTable:
        """Lay out texts that are cut into tokens; it needs no device, and any thread may do it."""
        import numpy as np
        import torch

        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        lengths = [len(text) for text in texts]
        sorted_lengths = [lengths[i] for i in order]
        ends = np.cumsum(sorted_lengths, dtype=np.int64)
        begins = ends - sorted_lengths
        starts = np.empty(len(texts), dtype=np.int64)
        starts[order] = begins
        total = int(ends[-1]) if len(texts) else 0
        tokens = chain.from_iterable(texts[i] for i in order)
        # Torch's own threads would wait for those of the tokenizer here.
        ids = np.fromiter(tokens, np.int64, total)
        places = np.arange(total) - np.repeat(begins, sorted_lengths) + self.first
        columns = device_stream.pinned(torch.from_numpy(np.stack([ids, places])), self.device)
        return TokenTable(order, starts.tolist(), lengths, columns)

    def vectors(self, texts: TokenTable, budget: int) -> Vectors:
        """Return the vectors of texts, computed so many tokens at a time."""
        import torch

        lengths = [texts.lengths[i] for i in texts.order]
        columns = self.sent(texts.columns)
        parts, start = [], 0
        with checkpoints.computing(self.precision):
            for batch in _batches(lengths, budget, padded=not self.packs):
                chosen = lengths[batch.start : batch.stop]
                end = start + sum(chosen)
                ids, places = columns[:, start:end]
                if self.packs:
                    parts.append(self._packed(ids, places, chosen))
                else:
                    parts.append(self._padded(ids, chosen))
                start = end
            table = parts[0] if len(parts) == 1 else torch.cat(parts)
            return Vectors(table, columns[0], texts.starts, texts.lengths)

    def _packed(self, flat: Any, places: Any, lengths: Sequence[int]) -> Any:
        """Encode texts laid one after the other, each attending to itself alone."""
        import torch

        runs = [(len(list(same)), length) for length, same in groupby(lengths)]
        ends = None
        if self.device.startswith("cuda"):
            ends = self.sent(torch.tensor([0, *accumulate(lengths)], dtype=torch.int32))
        token = _PACKING.set(_Packing(runs, max(lengths), ends))
        try:
            if self.layers is not None:
                return self.layers(flat, places, _attend_packed)
            out = self.model(input_ids=flat.unsqueeze(0), position_ids=places.unsqueeze(0))
        finally:
            _PACKING.reset(token)
        return out[0][0]

    def _padded(self, flat: Any, lengths: Sequence[int]) -> Any:
        """Encode texts that are filled up to one length, and drop the filling."""
        import torch

        counts = torch.tensor(lengths)
        longest = min(checkpoints.filled_to(max(lengths), self.device), self.most)
        mask = torch.arange(longest).unsqueeze(0) < counts.unsqueeze(1)
        places = self.sent(mask.flatten().nonzero().squeeze(1))
        shown = self.sent(mask.long())
        filled = torch.full_like(shown, self.tokenizer.pad_token_id or 0).flatten()
        filled[places] = flat
        out = self.model(input_ids=filled.view_as(shown), attention_mask=shown)[0]
        return out.flatten(0, 1).index_select(0, places)

    def sent(self, tensor: Any) -> Any:
        """Move something small to the device without waiting for it."""
        return device_stream.sent(tensor, self.device)


@lru_cache(maxsize=2)
def encoder(model: str, layer: int, device: str, precision: str) -> Encoder:
    """Return an encoder, loaded once."""
    return Encoder(model, layer, device, precision)


def _batches(lengths: Sequence[int], budget: int, *, padded: bool) -> Iterator[range]:
    """Cut ascending lengths into ranges of at most so many tokens, filling included."""
    start = total = 0
    for i, length in enumerate(lengths):
        grown = length * (i - start + 1) if padded else total + length
        if i > start and grown > budget:
            yield range(start, i)
            start, grown = i, length
        total = grown
    yield range(start, len(lengths))


def _cut(model: Any, layer: int, name: str) -> int:
    """Drop the layers above the one that is wanted, none for the last; return which that is."""
    holders = (getattr(model, at, None) for at in ("encoder", "transformer"))
    holder = next((part for part in holders if part is not None), model)
    shared = hasattr(holder, "albert_layer_groups")
    at = next((at for at in ("layer", "block", "layers") if hasattr(holder, at)), "")
    if not shared and not at:
        raise MissingResource(f"{name}: a model of this kind cannot be cut at a layer")
    count = holder.config.num_hidden_layers if shared else len(getattr(holder, at))
    if layer > count:
        raise MissingResource(f"{name} has {count} layers, so there is no layer {layer}")
    if shared:
        holder.config.num_hidden_layers = layer or count
    elif layer:
        setattr(holder, at, getattr(holder, at)[:layer])
    return layer or int(count)


def _first_position(config: Any) -> int:
    return config.pad_token_id + 1 if config.model_type in _POSITIONS_AFTER_PAD else 0


def _most_tokens(tokenizer: Any, config: Any, first: int) -> int:
    places = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    return int(min(tokenizer.model_max_length, places - first))


def _can_pack(model: Any, device: str, precision: str) -> bool:
    """Tell whether texts need no filling: on a GPU that takes a kernel for half precision."""
    if model.config.model_type not in _PACKABLE:
        return False
    if not device.startswith("cuda"):
        return True
    return precision in _HALF and find_spec("torch.nn.attention.varlen") is not None


def _fused(model: Any) -> BertLayers | None:
    """Return a model's layers for the quick way, or none where they are built in another way."""
    try:
        return BertLayers(model)
    except AttributeError:
        return None


def _teach_packing(model: Any) -> None:
    """Let a model attend within each of the texts that lie one after the other."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(_PACKED, _attend)
    AttentionMaskInterface.register(_PACKED, _no_mask)
    model.set_attn_implementation(_PACKED)


def _attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
) -> tuple[Any, None]:
    """Attend within texts. Tensors are (1, heads, tokens, width)."""
    query, key, value = (part[0].transpose(0, 1) for part in (query, key, value))
    return _attend_packed(query, key, value, scale=options["scaling"]).unsqueeze(0), None


def _attend_packed(query: Any, key: Any, value: Any, scale: float | None = None) -> Any:
    """Attend within texts. Tensors are (tokens, heads, width)."""
    packed = _PACKING.get()
    if packed.ends is not None:
        from torch.nn.attention.varlen import varlen_attn

        ends = (packed.ends, packed.ends, packed.longest, packed.longest)
        return varlen_attn(query, key, value, *ends)
    import torch

    outputs, start = [], 0
    for count, length in packed.runs:
        end = start + count * length
        parts = [
            part[start:end].unflatten(0, (count, length)).transpose(1, 2)
            for part in (query, key, value)
        ]
        out = torch.nn.functional.scaled_dot_product_attention(*parts, scale=scale)
        outputs.append(out.transpose(1, 2).flatten(0, 1))
        start = end
    return torch.cat(outputs)


def _no_mask(*args: Any, **options: Any) -> None:
    """Return that nothing is masked: texts are kept apart by how they are attended to."""
