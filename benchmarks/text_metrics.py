"""Overlap metrics: pairs per second, next to the libraries that ColossalAI's evaluation calls.

Both sides start from raw texts in one run: preparation and cutting into words are included, and so
are the Score objects on ours. Dictionaries and libraries are loaded before. Both sides work in one
process; the best of four times counts, and it is the processor's. The last lines show what a
second core brings for a large input.
"""

import argparse
import gc
import logging
import re
import string
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any

from measured import Row, less, more, offer_json, reporting

from proctor import ScoreContext, Spec
from proctor.io.concurrency import available_cores
from proctor.registry import build
from proctor.scorers.overlap import process as overlap_process

warnings.simplefilter("ignore")
WANTED = {"rouge": 15, "prf": 40, "bleu": 3, "chrf": 4, "distinct": {"zh": 5, "en": 1}}
CALLED = {
    "rouge": {"zh": "rouge-chinese", "en": "rouge-score"},
    "prf": "scikit-learn",
    "bleu": "nltk",
    "chrf": "nltk",
    "distinct": "a plain loop",
}
KEPT = "!@#$%&()<>?|,.\"'"
CHINESE_MARKS = "，。！？；：（）《》、“”"
Pairs = list[tuple[str, str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--large", type=int, default=8000)
    offer_json(parser)
    options = parser.parse_args()
    with reporting(options.json) as rows:
        rows.extend(compare(options.pairs, options.words))
        for language in ("en", "zh"):
            rows.append(spread(made_up(language, options.large, options.words), language))


def compare(count: int, words: int) -> list[Row]:
    """Time every metric on both sides, in both languages."""
    peer = Original()
    rows = []
    print(f"{count} pairs of {words} words, seconds, preparation included")
    print(
        f"{'':14}{'original':>10}{'Proctor':>10}{'ratio':>8}{'wanted':>8}{'compat':>10}{'ratio':>8}"
    )
    for language in ("en", "zh"):
        pairs = made_up(language, count, words)
        for metric, wanted in WANTED.items():
            goal = wanted[language] if isinstance(wanted, dict) else wanted
            peer.compute(metric, pairs[:2], language)
            theirs = timed(partial(peer.compute, metric, pairs, language))
            with one_core():
                ours = timed(ours_of(metric, pairs, language, ""))
                same = timed(ours_of(metric, pairs, language, "original"))
            print(
                f"{metric + ' ' + language:14}{theirs:10.3f}{ours:10.3f}{theirs / ours:7.1f}x"
                f"{goal:7d}x{same:10.3f}{theirs / same:7.1f}x"
            )
            library = CALLED[metric]
            name = library[language] if isinstance(library, dict) else library
            note = f"bug for bug as the original: {theirs / same:.1f}×"
            took = [1000 * seconds / count for seconds in (ours, theirs)]
            rows.append(less(f"{metric}, {language}", *took, "ms a pair", name, note))
    return rows


def spread(pairs: Pairs, language: str) -> Row:
    """Show all metrics of a large input on one core and on all of them."""
    metrics = ["bleu", "rouge", "distinct", "chrf", "prf"]
    everything = ours_of(metrics, pairs, language, "")
    with one_core():
        one = timed(everything, time.perf_counter)
    everything()
    many = timed(everything, time.perf_counter)
    print(
        f"all metrics of {len(pairs)} pairs, {language}: {len(pairs) / one:,.0f} pairs/s on one"
        f" core, {len(pairs) / many:,.0f} on {available_cores()} ({one / many:.2f}x)"
    )
    what = f"all metrics, {language}, {available_cores()} cores"
    return more(what, len(pairs) / many, len(pairs) / one, "pairs/s", "Proctor on one core")


@contextmanager
def one_core() -> Iterator[None]:
    """Let no input be large enough for processes of its own."""
    worth, overlap_process.WORTH = overlap_process.WORTH, 1 << 60
    try:
        yield
    finally:
        overlap_process.WORTH = worth


def timed(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time, times: int = 4
) -> float:
    """Return the best of some times, of the processor where nothing else is said.

    Garbage of the libraries that are loaded here is not looked for meanwhile: it takes longer than
    what is measured, and comes at a moment of its own.
    """
    gc.collect()
    gc.freeze()
    took = []
    for _ in range(times):
        started = clock()
        work()
        took.append(clock() - started)
    return min(took)


def ours_of(metrics: Any, pairs: Pairs, language: str, compat: str) -> Callable[[], Any]:
    params = {"metrics": metrics, "language": language, "compat": compat}
    scorer = build("scorer", Spec(name="text_metrics", params=params))
    contexts = [ScoreContext.of(answer, references=[reference]) for answer, reference in pairs]
    scorer.score_batch(contexts[:2])
    return lambda: scorer.score_batch(contexts)


def made_up(language: str, count: int, words: int) -> Pairs:
    """Make texts of words as frequent as real ones; an answer keeps most of its reference."""
    random = Random(5)
    if language == "zh":
        import jieba

        jieba.initialize()
        known = [word for word, often in jieba.dt.FREQ.items() if often]
        weights = [jieba.dt.FREQ[word] for word in known]
    else:
        letters = "etaoinshrdlucmfwypvbgkjqxz"
        known = ["".join(random.choices(letters, range(26, 0, -1), k=random.randint(2, 9)))
                 for _ in range(8000)]  # fmt: skip
        weights = [1 / rank for rank in range(1, len(known) + 1)]
    drawn = random.choices(known, weights, k=3 * count * words)
    pairs = []
    for at in range(0, len(drawn), 3 * words):
        reference, other = drawn[at : at + words], drawn[at + words : at + 2 * words]
        answer = [old if random.random() < 0.6 else new
                  for old, new in zip(reference, other, strict=True)]  # fmt: skip
        pairs.append((written(answer, language, random), written(reference, language, random)))
    return pairs


def written(words: list[str], language: str, random: Random) -> str:
    marks = CHINESE_MARKS if language == "zh" else ",.;:"
    with_marks = [word + random.choice(marks) if random.random() < 0.12 else word for word in words]
    return ("" if language == "zh" else " ").join(with_marks)


class Original:
    """Call the libraries as the original does: every metric prepares every text for itself."""

    def __init__(self) -> None:
        import jieba

        jieba.setLogLevel(logging.ERROR)
        jieba.initialize()
        self.cut = jieba.cut
        chinese = "".join(
            map(chr, (*range(0xFF01, 0xFF10), *range(0xFF1A, 0xFF21), *range(0x3000, 0x3020)))
        )
        deleted = set(string.punctuation) - set(KEPT) | set(chinese) | set(CHINESE_MARKS)
        self.deleted = re.compile("[" + re.escape("".join(sorted(deleted))) + "]")

    def prepared(self, text: str) -> str:
        return re.sub(r"\s+", " ", self.deleted.sub("", text.lower())).strip()

    def tokens(self, text: str, language: str) -> list[str]:
        text = self.prepared(text)
        return " ".join(self.cut(text)).split() if language == "zh" else text.split()

    def compute(self, metric: str, pairs: Pairs, language: str) -> None:
        getattr(self, metric)(pairs, language)

    def bleu(self, pairs: Pairs, language: str) -> None:
        from nltk.translate.bleu_score import sentence_bleu

        weights = [tuple([1 / n] * n + [0.0] * (4 - n)) for n in range(1, 5)]
        for answer, reference in pairs:
            sentence_bleu(
                [self.tokens(reference, language)], self.tokens(answer, language), weights
            )

    def chrf(self, pairs: Pairs, language: str) -> None:
        from nltk.translate.chrf_score import sentence_chrf

        for answer, reference in pairs:
            sentence_chrf(self.tokens(reference, language), self.tokens(answer, language))

    def rouge(self, pairs: Pairs, language: str) -> None:
        if language == "zh":
            from rouge_chinese import Rouge

            sides = [
                [" ".join(self.tokens(pair[side], language)) for pair in pairs] for side in (0, 1)
            ]
            Rouge().get_scores(*sides, avg=True)
            return
        from rouge_score.rouge_scorer import RougeScorer

        scorer = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
        for answer, reference in pairs:
            scorer.score(self.prepared(answer), self.prepared(reference))

    def distinct(self, pairs: Pairs, language: str) -> None:
        for answer, _ in pairs:
            if language == "zh":
                words = " ".join(self.cut(answer)).split()
                _ = len(set(words)) / (len(words) + 1e-6)
                continue
            words = self.prepared(answer).split()
            for n in range(3):
                seen = set()
                for at in range(len(words) - n):
                    seen.add(" ".join(words[at : at + n + 1]))

    def prf(self, pairs: Pairs, language: str) -> None:
        from sklearn.metrics import f1_score, precision_score, recall_score

        for answer, reference in pairs:
            ours, theirs = self.tokens(answer, language), self.tokens(reference, language)
            same = [int(a == b) for a, b in zip(ours, theirs, strict=False)]
            for score in (precision_score, recall_score, f1_score):
                score([1] * len(same), same, zero_division=0)


if __name__ == "__main__":
    main()
