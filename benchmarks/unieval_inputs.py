"""UniEval: questions a second, next to the way the original asks them, in one run.

The model has the shape of T5-large, weights drawn at random, and the tokenizer of the tests' tiny
T5. Questions are of mixed length, such as two dimensions of two tasks make of answers. The other
side asks as the original does: in the order of the file, eight at a time, in single precision, with
probabilities of the whole vocabulary. Without a GPU the shape is T5-small's and the questions are
fewer, unless said otherwise. Needs torch and transformers; without them it says so and measures
nothing.
"""

import argparse
import random
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

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
    parser.add_argument("--precision", default="auto")
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
    precision = checkpoints.precision_of(options.precision, device, ON_GPU)
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder), shape)
        ours = Answerer(folder, device, precision)
        full = ours if precision == "float32" else Answerer(folder, device, "float32")
        ours.likely(questions[:64])
        started = time.perf_counter()
        found = ours.likely(questions)
        rate = len(questions) / (time.perf_counter() - started)
        few = questions[: options.plain]
        plain_rate, plain = as_the_original(folder, device, few)
        exact = full.likely(questions)
    print(checkpoints.computed_by(options.device, options.precision, ON_GPU), f"on {device}")
    off = max(abs(a - b) for a, b in zip(found, exact, strict=True))
    mean = sum(abs(a - b) for a, b in zip(found, exact, strict=True)) / len(found)
    agree = max(abs(a - b) for a, b in zip(plain, exact[: len(plain)], strict=True))
    print(f"Proctor      {rate:10,.1f} questions/s   within {off:.2e} (mean {mean:.2e})")
    print(f"one by eight {plain_rate:10,.1f} questions/s   within {agree:.2e}")
    print(f"ratio        {rate / plain_rate:10.1f}x")
    what, way = f"UniEval, shape of {shape}", "the original's way, by eight"
    return [more(what, rate, plain_rate, "questions/s", way, f"on {device}")]


def as_the_original(folder: str, device: str, questions: list[str]) -> tuple[float, list[float]]:
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
        likely = logits.softmax(-1)[:, [yes, no]].cpu()
        if start < 0:
            started = time.perf_counter()
        else:
            made += (likely[:, 0] / likely.sum(1)).tolist()
    return len(questions) / (time.perf_counter() - started), made


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


def build(folder: Path, shape: str) -> None:
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(TINY / name, folder / name)
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=32128, d_kv=64, decoder_start_token_id=0, pad_token_id=0, **SHAPES[shape]
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)


if __name__ == "__main__":
    main()
