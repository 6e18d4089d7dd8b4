"""The layers of a BERT on a GPU, with fewer passes over memory than the library's own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_GELU = {"GELU", "GELUActivation"}
Attend = Callable[[Any, Any, Any], Any]
"""Attention within texts, of queries, keys and values that are (tokens, heads, width)."""


@dataclass(frozen=True, slots=True)
class _Norm:
    """A norm over rows, with what comes after it added."""

    weight: Any
    bias: Any
    epsilon: float

    def __call__(self, rows: Any) -> Any:
        import torch

        return torch.nn.functional.layer_norm(
            rows, rows.shape[-1:], self.weight, self.bias, self.epsilon
        )


@dataclass(frozen=True, slots=True)
class _Layer:
    """A layer whose two sums are made by the products themselves.

    Rows come in with the bias of the first sum already added, which the norm before did, and for
    which the biases of queries, keys and values make up. So it is with the second sum.
    """

    inputs: Any
    inputs_bias: Any
    output: Any
    middle_norm: _Norm
    inner: Any
    inner_bias: Any
    act: Any
    outer: Any
    norm: _Norm


class BertLayers:
    """The layers of a BERT, RoBERTa or ELECTRA for texts that lie one after the other."""

    def __init__(self, model: Any) -> None:
        layers = list(model.encoder.layer)
        self.heads = model.config.num_attention_heads
        self.embeddings = model.embeddings
        self.projection = getattr(model, "embeddings_project", None)
        biases = [layer.attention.output.dense.bias for layer in layers]
        self.first_bias = biases[0]
        self.layers = [
            _fused(layer, following)
            for layer, following in zip(layers, [*biases[1:], None], strict=True)
        ]

    def __call__(self, ids: Any, places: Any, attend: Attend) -> Any:
        """Return a vector for each token."""
        import torch

        rows = self.embeddings(input_ids=ids.unsqueeze(0), position_ids=places.unsqueeze(0))[0]
        if self.projection is not None:
            rows = self.projection(rows)
        rows = rows + self.first_bias
        for layer in self.layers:
            products = torch.addmm(layer.inputs_bias, rows, layer.inputs)
            query, key, value = products.view(len(rows), 3, self.heads, -1).unbind(1)
            attended = attend(query, key, value).reshape(len(rows), -1)
            rows = layer.middle_norm(rows.addmm_(attended, layer.output))
            inner = _activated(layer, rows)
            rows = layer.norm(rows.addmm_(inner, layer.outer))
        return rows


def _activated(layer: _Layer, rows: Any) -> Any:
    """Return the inner product of a layer after its activation."""
    import torch

    if rows.is_cuda and rows.element_size() == 2 and type(layer.act).__name__ in _GELU:
        # In one pass, by the formula with tanh: it is off by less than half precision rounds.
        return torch._addmm_activation(layer.inner_bias, rows, layer.inner, use_gelu=True)
    return layer.act(torch.addmm(layer.inner_bias, rows, layer.inner))


def _fused(layer: Any, following: Any) -> _Layer:
    import torch

    own = layer.attention.self
    parts = (own.query, own.key, own.value)
    inputs = torch.cat([part.weight for part in parts])
    inputs_bias = torch.cat([part.bias for part in parts])
    output, outer = layer.attention.output, layer.output
    inner = layer.intermediate.dense
    return _Layer(
        inputs.t(),
        _made_up_for(inputs, inputs_bias, output.dense.bias),
        output.dense.weight.t(),
        _norm(output.LayerNorm, outer.dense.bias),
        inner.weight.t(),
        _made_up_for(inner.weight, inner.bias, outer.dense.bias),
        layer.intermediate.intermediate_act_fn,
        outer.dense.weight.t(),
        _norm(outer.LayerNorm, following),
    )


def _norm(norm: Any, following: Any) -> _Norm:
    bias = norm.bias
    if following is not None:
        bias = (bias.double() + following.double()).to(bias.dtype)
    return _Norm(norm.weight, bias, norm.eps)


def _made_up_for(weight: Any, bias: Any, added: Any) -> Any:
    """Return the bias of a product whose rows have something added that it must not see."""
    return (bias.double() - weight.double() @ added.double()).to(bias.dtype)
