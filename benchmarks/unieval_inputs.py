"""UniEval: questions a second, next to the way the original asks them, in one run.

The model has the shape of T5-large, weights drawn at random, and the tokenizer of the tests' tiny
T5. What its Yes and No look at is turned and scaled so that the answers to the questions spread
over probabilities from 0.05 to 0.95. Questions are of mixed length, such as two dimensions of two
tasks make of answers. The other side asks as the original does: in the order of the file, eight at
a time, in single precision, with probabilities of the whole vocabulary. Each precision is compared
with single precision by log-odds. Without a GPU the shape is T5-small's and the questions are
fewer, unless said otherwise. Needs torch and transformers; without them it says so and measures
nothing.
"""

import argparse
import math
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from measured import Row, more, offer_json, reporting

from proctor.scorers.embedding import checkpoints
from proctor.scorers.embedding.t5_yes_no import MOST_TOKENS, ON_GPU, Answerer

TINY = Path(__file__).resolve().parents[1] / "tests" / "golden" / "colossal_tinyt5"
SHAPES = {
    "t5-large": {"d_model": 1024, "d_ff": 4096, "num_layers": 24, "num_heads": 16},
    "t5-small": {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, help="2,000 on a GPU, else 200")
    parser.add_argument("--shape", choices=SHAPES, help="t5-large on a GPU, else t5-small")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--precision", nargs="+", default=["auto", "float16"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain", type=int, default=400, help="questions for the other side")
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.extend(compare(options))


def compare(options: argparse.Namespace) -> list[Row]:
    if absent := [name for name in ("torch", "transformers") if find_spec(name) is None]:
        print(f"UniEval was not measured: no {' and no '.join(absent)} here")
        return []
    device = checkpoints.device_of(options.device)
    on_gpu = device.startswith("cuda")
    shape = options.shape or ("t5-large" if on_gpu else "t5-small")
    questions = made_up(options.questions or (2000 if on_gpu else 200))
    print(f"UniEval, the shape of {shape}, {len(questions):,} questions of mixed length")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), shape, device, questions[:: max(1, len(questions) // 200)])
        full = Answerer(folder, device, "float32")
        exact = full.log_odds(questions)
        show_spread(exact)
        plain_rate = as_the_original(folder, device, questions[: options.plain], exact)
        for precision in precisions(options.precision, device):
            ours = full if precision == "float32" else Answerer(folder, device, precision)
            rate = asked(ours, questions, options.rounds, exact)
            print(f"{'ratio':14} {rate / plain_rate:10.1f}x", flush=True)
            what, way = f"UniEval, shape of {shape}", "the original's way, by eight"
            note = f"{precision} on {device}"
            rows.append(more(what, rate, plain_rate, "questions/s", way, note))
    print(checkpoints.computed_by(options.device, options.precision[0], ON_GPU), f"on {device}")
    return rows


def precisions(wanted: Sequence[str], device: str) -> list[str]:
    """Return what is measured: half precision on a GPU alone."""
    known = dict.fromkeys(checkpoints.precision_of(one, device, ON_GPU) for one in wanted)
    return [one for one in known if device.startswith("cuda") or one == "float32"]


def show_spread(log_odds: list[float]) -> None:
    likely = sorted(1 / (1 + math.exp(-value)) for value in log_odds)
    ends = likely[len(likely) // 100], likely[-1 - len(likely) // 100]
    print(f"probabilities: 98 % of them from {ends[0]:.3f} to {ends[1]:.3f}")


def asked(ours: Answerer, questions: list[str], rounds: int, exact: list[float]) -> float:
    """Return questions a second, the median of some rounds, and print it with what is lost."""
    ours.log_odds(questions[:: max(1, len(questions) // 64)])
    rates = []
    for _ in range(rounds):
        started = time.perf_counter()
        log_odds = ours.log_odds(questions)
        rates.append(len(questions) / (time.perf_counter() - started))
    rate = statistics.median(rates)
    way = "packed" if ours.packed is not None else "padded"
    print(f"{ours.precision:14} {rate:10,.1f} questions/s, {way}   {distance(log_odds, exact)}")
    return rate


def distance(log_odds: list[float], exact: list[float]) -> str:
    apart = [abs(a - b) for a, b in zip(log_odds, exact, strict=True)]
    return f"log-odds within {max(apart):.2e} (mean {statistics.mean(apart):.2e})"


def as_the_original(folder: str, device: str, questions: list[str], exact: list[float]) -> float:
    import torch

    tokenizer, model = checkpoints.load("AutoModelForSeq2SeqLM", folder, device, "float32")
    yes, no = (tokenizer(word)["input_ids"][0] for word in ("Yes", "No"))
    made: list[float] = []
    started = 0.0
    for start in range(-8, len(questions), 8):
        # The first eight are asked twice, once to warm up.
        batch = questions[max(start, 0) : max(start, 0) + 8]
        given = tokenizer(
            batch, max_length=MOST_TOKENS, truncation=True, padding=True, return_tensors="pt"
        ).to(device)
        first = torch.zeros(len(batch), 1, dtype=torch.long, device=device)
        with torch.no_grad():
            logits = model(**given, decoder_input_ids=first).logits[:, 0]
        likely = logits.softmax(-1)[:, [yes, no]].log().cpu()
        if start < 0:
            started = time.perf_counter()
        else:
            made += (likely[:, 0] - likely[:, 1]).tolist()
    rate = len(questions) / (time.perf_counter() - started)
    print(f"{'one by eight':14} {rate:10,.1f} questions/s   {distance(made, exact[: len(made)])}")
    return rate


def made_up(count: int) -> list[str]:
    """Make questions about texts of mixed length."""
    draw = random.Random(2)
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "dog", "is", "it", "author", "one"]

    def text(most: int) -> str:
        return " ".join(draw.choices(words, k=max(2, int(draw.betavariate(1.2, 3) * most))))

    asked = [
        lambda: f"question: Is this a fluent paragraph? </s> paragraph: {text(60)}",
        lambda: f"question: Is this a fluent utterance? </s> utterance: {text(150)}",
        lambda: (
            "question: Is this a coherent response given the dialogue history? </s> response:"
            f" {text(150)} </s> dialogue history: {text(300)}"
        ),
    ]
    return [asked[i % 3]() for i in range(count)]


def build(folder: Path, shape: str, device: str = "cpu", questions: Sequence[str] = ()) -> None:
    """Write a T5 with weights drawn at random, whose answers to questions spread, if there are."""
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(TINY / name, folder / name)
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=32128, d_kv=64, decoder_start_token_id=0, pad_token_id=0, **SHAPES[shape]
    )
    with torch.device(device):
        model = T5ForConditionalGeneration(config)
    if questions:
        spread(model.eval(), folder, questions)
    model.save_pretrained(folder)


def spread(model: Any, folder: Path, questions: Sequence[str]) -> None:
    """Turn and scale the row of Yes so that 98 % of the answers are from 0.05 to 0.95."""
    import torch
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    yes, no = (tokenizer(word)["input_ids"][0] for word in ("Yes", "No"))
    seen: list[torch.Tensor] = []
    hook = model.lm_head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0][:, 0]))
    with torch.no_grad():
        for question in questions:
            given = tokenizer(question, return_tensors="pt").to(model.device)
            first = torch.zeros(1, 1, dtype=torch.long, device=model.device)
            model(**given, decoder_input_ids=first)
        hook.remove()
        rows = torch.cat(seen).double()
        weight = model.lm_head.weight
        centre = rows.mean(0)
        ahead = (weight[yes] - weight[no]).double()
        ahead -= (ahead @ centre) / (centre @ centre) * centre
        ahead *= math.log(0.95 / 0.05) / (rows @ ahead).abs().quantile(0.98)
        weight[yes] = weight[no] + ahead.float()


if __name__ == "__main__":
    main()
