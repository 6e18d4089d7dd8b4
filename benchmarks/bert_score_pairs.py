"""BERTScore next to the bert-score package: pairs a second, with the same weights, in one run.

The encoder has the shape of roberta-large (or of MiniLM) and weights drawn at random; its
tokenizer is made of the texts. Both sides are given the same pairs of mixed length, after a few to
warm up. The package computes in single precision; ours does so on a CPU, and in half precision on
a GPU, where the values are also compared with single precision. Without a GPU the shape is
MiniLM's and the pairs are fewer, unless said otherwise. Needs torch, transformers and bert-score;
without them it says so and measures nothing.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from measured import Row, more, offer_json, reporting

from proctor.scorers.embedding import checkpoints
from proctor.scorers.embedding.bert_score import BertScore

Pairs = list[tuple[str, str]]
SHAPES = {
    "roberta-large": {"hidden": 1024, "layers": 24, "heads": 16, "layer": 17},
    "minilm": {"hidden": 384, "layers": 6, "heads": 12, "layer": 6},
    "tiny": {"hidden": 64, "layers": 3, "heads": 4, "layer": 2},
}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, help="4,000 on a GPU, else 300")
    parser.add_argument("--shape", choices=SHAPES, help="roberta-large on a GPU, else minilm")
    parser.add_argument("--words", type=int, default=75, help="in a text, on average")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--exact", type=int, default=4000, help="pairs for single precision")
    parser.add_argument("--no-package", action="store_true")
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.extend(compare(options))


def compare(options: argparse.Namespace) -> list[Row]:
    wanted = ["torch", "transformers", *([] if options.no_package else ["bert_score"])]
    if absent := [name for name in wanted if find_spec(name) is None]:
        print(f"BERTScore was not measured: no {' and no '.join(absent)} here")
        return []
    warnings.simplefilter("ignore")
    on_gpu = checkpoints.device_of(options.device).startswith("cuda")
    shape = options.shape or ("roberta-large" if on_gpu else "minilm")
    pairs = made_up(options.pairs or (4000 if on_gpu else 300), options.words)
    print(f"BERTScore, the shape of {shape}, {len(pairs):,} pairs of mixed length")
    with tempfile.TemporaryDirectory() as folder:
        model, layer = build(Path(folder), shape, pairs)
        ours = BertScore(model=model, layer=layer, device=options.device)
        full = BertScore(model=model, layer=layer, device=options.device, precision="float32")
        print(ours.toolchain())
        rates: dict[str, list[float]] = {}
        found: dict[str, list[float]] = {}
        sides: dict[str, Callable[[Pairs], list[float]]] = {
            "Proctor": lambda given: [f for _, _, f in ours.prf(given)]
        }
        if not options.no_package:
            sides["bert-score"] = package(model, layer, options.device)
        for side in sides.values():
            side(pairs[:: max(1, len(pairs) // 64)])
        for _ in range(options.rounds):
            for name, side in sides.items():
                started = time.perf_counter()
                found[name] = side(pairs)
                rates.setdefault(name, []).append(len(pairs) / (time.perf_counter() - started))
        best = show(rates, found, [f for _, _, f in full.prf(pairs[: options.exact])])
    if "bert-score" not in best:
        return []
    what, rate = f"BERTScore, shape of {shape}", (best["Proctor"], best["bert-score"])
    return [more(what, *rate, "pairs/s", "bert-score", "on a GPU" if on_gpu else "on the CPU")]


def show(
    rates: dict[str, list[float]], found: dict[str, list[float]], exact: Sequence[float]
) -> dict[str, float]:
    """Print rates, their ratio, and how far the values are from single precision."""
    best = {name: statistics.median(values) for name, values in rates.items()}
    for name, rate in best.items():
        off = max(abs(a - b) for a, b in zip(found[name], exact, strict=False))
        print(f"{name:12} {rate:10,.1f} pairs/s   F within {off:.2e} of single precision")
    if "bert-score" in best:
        print(f"{'ratio':12} {best['Proctor'] / best['bert-score']:10.1f}x")
    return best


def package(model: str, layer: int, device: str) -> Callable[[Pairs], list[float]]:
    from bert_score import BERTScorer

    chosen = None if device == "auto" else device
    scorer = BERTScorer(model_type=model, num_layers=layer, device=chosen)

    def run(given: Pairs) -> list[float]:
        return scorer.score([a for a, _ in given], [b for _, b in given])[2].tolist()

    return run


def made_up(count: int, words: int) -> Pairs:
    """Make pairs whose texts share some words, and whose lengths differ as answers' do."""
    draw = random.Random(1)
    syllables = [c + v for c in "bcdfghklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an", "er")]
    lexicon = ["".join(draw.choices(syllables, k=draw.randint(1, 4))) for _ in range(8000)]
    likely = [1 / (rank + 3) for rank in range(len(lexicon))]

    def text() -> list[str]:
        length = min(max(int(draw.lognormvariate(0, 0.7) * words * 0.78), 3), 4 * words)
        return draw.choices(lexicon, likely, k=length)

    pairs = []
    for _ in range(count):
        right, said = text(), text()
        kept = min(len(right), len(said)) // 2
        said[:kept] = right[:kept]
        pairs.append((f"{' '.join(said)}.", f"{' '.join(right)}."))
    return pairs


def build(folder: Path, shape: str, pairs: Pairs) -> tuple[str, int]:
    """Write a RoBERTa of a shape with weights drawn at random, and a tokenizer for the texts."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    learnt = Tokenizer(models.BPE())
    learnt.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=6000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    learnt.train_from_iterator([text for pair in pairs[:1000] for text in pair], trainer)
    learnt.model.save(str(folder))
    merges = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()[1:]
    tokenizer = RobertaTokenizer(
        vocab=json.loads((folder / "vocab.json").read_text(encoding="utf-8")),
        merges=[tuple(line.split()) for line in merges],
        model_max_length=512,
    )
    tokenizer.save_pretrained(folder)
    size = SHAPES[shape]
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=50265,
        hidden_size=size["hidden"],
        num_hidden_layers=size["layers"],
        num_attention_heads=size["heads"],
        intermediate_size=4 * size["hidden"],
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
    )
    RobertaModel(config, add_pooling_layer=False).save_pretrained(folder)
    return str(folder), size["layer"]


if __name__ == "__main__":
    main()
