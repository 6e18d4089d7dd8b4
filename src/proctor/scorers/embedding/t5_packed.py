"""A T5 on a GPU: texts encoded with next to no padding, and one step of the decoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from proctor.scorers.embedding import checkpoints, device_stream

STEP = 8
"""Texts are padded to a multiple of this, which the attention kernels want."""
CHUNK = 2**16
"""Tokens that the encoder is given at once."""
_HALF = {"bfloat16", "float16"}


@dataclass(frozen=True, slots=True)
class PackedTexts:
    """Texts one after the other, shortest first, each padded to a multiple of some tokens."""

    ids: Any
    lengths: Any
    counts: tuple[int, ...]
    """The length of each text."""

    @classmethod
    def of(cls, texts: Sequence[Sequence[int]], pad: int, device: str) -> "PackedTexts":
        """Lay out texts of ascending lengths, ready to be sent to a device."""
        import numpy as np
        import torch

        counts = tuple(map(len, texts))
        widths = [_filled(count) for count in counts]
        ids = np.full(sum(widths), pad, dtype=np.int64)
        for start, text in zip(accumulate(widths, initial=0), texts, strict=False):
            ids[start : start + len(text)] = text
        flat, lengths = torch.from_numpy(ids), torch.tensor(counts)
        return cls(
            device_stream.pinned(flat, device), device_stream.pinned(lengths, device), counts
        )


class PackedT5:
    """The weights of a T5, and what is computed with them: two rows of its first word's logits.

    The products of the encoder are computed as is wanted; its sums over layers, its norms, and all
    of the decoder in single precision, since there nothing evens out over a text's tokens. Keys and
    values of the encoder's tokens are never made for the decoder: with one query a text it is
    cheaper to carry the query over to the encoder's side.
    """

    def __init__(self, model: Any, head: Any, precision: str) -> None:
        import torch

        self.dtype = getattr(torch, precision) if precision in _HALF else torch.float32
        # Attention rounds as TF32 does in this type, whose kernels are quicker.
        self.attention_dtype = torch.float16 if precision == "tf32" else self.dtype
        config = model.config
        self.heads, self.width = config.num_heads, config.d_kv
        self.epsilon = config.layer_norm_epsilon
        self.start = config.decoder_start_token_id
        self.embeddings = model.get_input_embeddings().weight
        self.encoder = [_EncoderLayer.of(block, self.dtype) for block in model.encoder.block]
        self.decoder = [_DecoderLayer.of(block, self) for block in model.decoder.block]
        self.last_norms = [
            part.final_layer_norm.weight.float() for part in (model.encoder, model.decoder)
        ]
        scaled = getattr(config, "scale_decoder_outputs", config.tie_word_embeddings)
        self.head = head.float() * (config.d_model**-0.5 if scaled else 1.0)
        self.chunk = CHUNK
        self._biases: dict[int, Any] = {}

    def release(self) -> None:
        """Let go of the library's copies of what was put together anew."""
        for layer in self.encoder:
            for name in "qkvo" if layer.positions is not None else "":
                setattr(layer.positions, name, None)

    def logits(self, texts: PackedTexts) -> Any:
        """Return the logits of the two words, a row for each text."""
        import torch

        device = self.embeddings.device
        ids = texts.ids.to(device, non_blocking=True)
        lengths = texts.lengths.to(device, non_blocking=True)
        widths = [_filled(count) for count in texts.counts]
        starts = list(accumulate(widths, initial=0))
        parts = []
        for first, last in _chunks(widths, self.chunk):
            groups = _groups(texts.counts, first, last)
            chunk = ids[starts[first] : starts[last]]
            parts.append(self._encoded(chunk, lengths, groups))
        encoded = parts[0] if len(parts) == 1 else torch.cat(parts)
        return self._decoded(encoded, lengths, widths)

    def _encoded(self, ids: Any, lengths: Any, groups: "Sequence[_Group]") -> Any:
        """Return what the encoder makes of some texts, a row for each token."""
        import torch

        total = torch.nn.functional.embedding(ids, self.embeddings).float()
        biases: dict[int, list[Any]] = {}
        for number, layer in enumerate(self.encoder):
            if layer.positions is not None:
                biases[0] = self._group_biases(number, lengths, groups)
            layer.attend(self, total, groups, biases[0])
            layer.feed(self, total)
        return self.normed(total, self.last_norms[0]).to(self.dtype)

    def _group_biases(self, number: int, lengths: Any, groups: "Sequence[_Group]") -> list[Any]:
        """Return what is added to attention in each group: for positions, and for padding."""
        import torch

        biases = []
        for group in groups:
            bias = self._bias(number, group.width)[:, :, : group.width, : group.width]
            if group.padded:
                own = lengths[group.first : group.first + group.count]
                places = torch.arange(group.width, device=own.device)
                absent = (places >= own.unsqueeze(1))[:, None, None]
                bias = bias.masked_fill(absent, torch.finfo(bias.dtype).min)
            biases.append(bias.expand(group.count, -1, -1, -1))
        return biases

    def _bias(self, number: int, width: int) -> Any:
        """Return a layer's bias of relative positions, for texts of at least some length."""
        bias_table = self._biases.get(number)
        if bias_table is None or bias_table.shape[-1] < width:
            rounded = 1 << (width - 1).bit_length()
            bias = self.encoder[number].positions.compute_bias(rounded, rounded)
            bias_table = self._biases[number] = bias.to(self.attention_dtype).contiguous()
        return bias_table

    def _decoded(self, encoded: Any, lengths: Any, widths: Sequence[int]) -> Any:
        """Take the decoder's first step over encoded texts."""
        with checkpoints.computing("float32"):
            return self._decoded_exactly(encoded, lengths, widths)

    def _decoded_exactly(self, encoded: Any, lengths: Any, widths: Sequence[int]) -> Any:
        import torch

        device, most = encoded.device, max(widths)
        starts = torch.tensor(list(accumulate(widths, initial=0))[:-1])
        starts = device_stream.sent(starts, str(device)).unsqueeze(1)
        places = torch.arange(most, device=device)
        table = encoded[(starts + places).clamp_max_(len(encoded) - 1)].float()
        absent = (places >= lengths.unsqueeze(1)).unsqueeze(1)
        total = self.embeddings[self.start].float().repeat(len(widths), 1)
        for layer in self.decoder:
            layer.attend_to_itself(self, total)
            layer.attend_to_text(self, total, table, absent)
            layer.feed(self, total)
        return self.normed(total, self.last_norms[1]) @ self.head.t()

    def normed(self, total: Any, weight: Any) -> Any:
        """Return rows normed."""
        import torch

        return torch.nn.functional.rms_norm(total, total.shape[-1:], weight, self.epsilon)


@dataclass(frozen=True, slots=True)
class _Group:
    """Texts that lie side by side and are padded to one length."""

    first: int
    """The number of its first text."""
    count: int
    width: int
    padded: bool


@dataclass(frozen=True, slots=True)
class _Feed:
    """The second half of a layer, which looks at each token by itself."""

    norm: Any
    inner: Any
    gate: Any
    outer: Any
    act: Any
    """None for ReLU, which the product before it takes along."""

    @classmethod
    def of(cls, part: Any, dtype: Any) -> "_Feed":
        dense = part.DenseReluDense
        gated = hasattr(dense, "wi_0")
        plain = not gated and type(dense.act).__name__ in ("ReLU", "ReLUActivation")
        return cls(
            part.layer_norm.weight.float(),
            (dense.wi_0 if gated else dense.wi).weight.to(dtype).t(),
            dense.wi_1.weight.to(dtype).t() if gated else None,
            dense.wo.weight.to(dtype).t(),
            None if plain else dense.act,
        )

    def add(self, model: PackedT5, total: Any) -> None:
        rows = model.normed(total, self.norm).to(self.inner.dtype)
        if self.act is None:
            inner = _relu_of_product(rows, self.inner)
        else:
            inner = self.act(rows @ self.inner)
        if self.gate is not None:
            inner = inner * (rows @ self.gate)
        add_product(total, inner, self.outer)


@dataclass(frozen=True, slots=True)
class _EncoderLayer:
    """A layer of the encoder."""

    norm: Any
    inputs: Any
    """Queries, keys and values in one product."""
    output: Any
    feeding: _Feed
    positions: Any
    """What knows the bias of relative positions; none where the layer before's is used again."""

    @classmethod
    def of(cls, block: Any, dtype: Any) -> "_EncoderLayer":
        import torch

        part = block.layer[0]
        own = part.SelfAttention
        inputs = torch.cat([own.q.weight, own.k.weight, own.v.weight]).to(dtype)
        return cls(
            part.layer_norm.weight.float(),
            inputs.t(),
            own.o.weight.to(dtype).t(),
            _Feed.of(block.layer[-1], dtype),
            own if own.has_relative_attention_bias else None,
        )

    def attend(
        self, model: PackedT5, total: Any, groups: Sequence[_Group], biases: Sequence[Any]
    ) -> None:
        import torch

        rows = model.normed(total, self.norm).to(model.dtype)
        products = (rows @ self.inputs).to(model.attention_dtype)
        outputs, start = [], 0
        for group, bias in zip(groups, biases, strict=True):
            end = start + group.count * group.width
            shape = (group.count, group.width, 3, model.heads, model.width)
            query, key, value = products[start:end].view(shape).permute(2, 0, 3, 1, 4)
            out = torch.nn.functional.scaled_dot_product_attention(
                query, key, value, attn_mask=bias, scale=1.0
            )
            outputs.append(out.transpose(1, 2).reshape(end - start, -1))
            start = end
        attended = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
        add_product(total, attended.to(model.dtype), self.output)

    def feed(self, model: PackedT5, total: Any) -> None:
        self.feeding.add(model, total)


@dataclass(frozen=True, slots=True)
class _DecoderLayer:
    """A layer of the decoder, for its first token alone."""

    norms: tuple[Any, Any]
    value: Any
    output: Any
    query: Any
    keys: Any
    """(heads, width, model): how a query is carried over to the encoder's side."""
    values: Any
    """(heads, model, width)."""
    cross_output: Any
    feeding: _Feed

    @classmethod
    def of(cls, block: Any, model: PackedT5) -> "_DecoderLayer":
        own, cross = block.layer[0], block.layer[1]
        shape = (model.heads, model.width, -1)
        weights = {name: getattr(cross.EncDecAttention, name).weight for name in "qkvo"}
        weights = {name: weight.float() for name, weight in weights.items()}
        return cls(
            (own.layer_norm.weight.float(), cross.layer_norm.weight.float()),
            own.SelfAttention.v.weight.float().t(),
            own.SelfAttention.o.weight.float().t(),
            weights["q"].t(),
            weights["k"].view(shape),
            weights["v"].view(shape).transpose(1, 2),
            weights["o"].t(),
            _Feed.of(block.layer[-1], weights["q"].dtype),
        )

    def attend_to_itself(self, model: PackedT5, total: Any) -> None:
        """Attend to the only token there is."""
        rows = model.normed(total, self.norms[0])
        add_product(total, rows @ self.value, self.output)

    def attend_to_text(self, model: PackedT5, total: Any, table: Any, absent: Any) -> None:
        """Attend to the encoder's tokens, of which ``table`` has a row of texts each."""
        import torch

        query = model.normed(total, self.norms[1]) @ self.query
        query = query.view(len(total), model.heads, model.width).transpose(0, 1)
        carried = (query @ self.keys).transpose(0, 1).contiguous()
        close = torch.bmm(carried, table.transpose(1, 2)).masked_fill_(absent, float("-inf"))
        seen = torch.bmm(close.softmax(-1), table)
        rows = (seen.transpose(0, 1).contiguous() @ self.values).transpose(0, 1)
        add_product(total, rows.reshape(len(total), -1), self.cross_output)

    def feed(self, model: PackedT5, total: Any) -> None:
        self.feeding.add(model, total)


def add_product(total: Any, left: Any, right: Any) -> None:
    """Add a product to sums in single precision, without rounding it first where that can be."""
    import torch

    if left.dtype == total.dtype:
        total.addmm_(left, right)
    elif total.is_cuda:
        torch.addmm(total, left, right, out_dtype=total.dtype, out=total)
    else:
        total += left @ right


def _relu_of_product(left: Any, right: Any) -> Any:
    import torch

    if left.is_cuda:
        return torch._addmm_activation(left.new_zeros(right.shape[1]), left, right)
    return (left @ right).relu_()


def _filled(count: int) -> int:
    return -(-count // STEP) * STEP


def _chunks(widths: Sequence[int], most: int) -> list[tuple[int, int]]:
    """Cut texts into ranges of at most so many tokens, but at least one text."""
    chunks, first, total = [], 0, 0
    for number, width in enumerate(widths):
        if number > first and total + width > most:
            chunks.append((first, number))
            first, total = number, 0
        total += width
    return [*chunks, (first, len(widths))]


def _groups(counts: Sequence[int], first: int, last: int) -> list[_Group]:
    """Group texts of ascending lengths by what they are padded to."""
    groups: list[_Group] = []
    start = first
    for number in range(first, last + 1):
        if number == last or _filled(counts[number]) != _filled(counts[start]):
            width = _filled(counts[start])
            padded = any(count < width for count in counts[start:number])
            groups.append(_Group(start, number - start, width, padded))
            start = number
    return groups
