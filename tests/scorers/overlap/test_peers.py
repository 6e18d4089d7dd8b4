"""Overlap metrics next to the packages that define them, on made-up texts of many kinds."""

import warnings
from functools import cache
from random import Random
from typing import Any

import pytest
from nltk.translate.bleu_score import sentence_bleu
from nltk.translate.chrf_score import sentence_chrf
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF

from proctor import ScoreContext, Spec
from proctor.origins.colossal.overlap import prepared, tokens
from proctor.registry import build
from proctor.scorers.overlap.chinese import cut_exactly
from proctor.scorers.overlap.tokens import words

HAN = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
SENTENCES = """
the a cat dog Model model's answer 42 3.14 isn't no. Yes, (because) of_it state-of-the-art
fox! https://e.org/a?b=c ... ....... ......#a & café ЖУК 50% c++ C# a.b a-b R.R. 東京 é ß
今天天气 公园 散步 新闻报道 人工智能 机器学习 确诊 娱乐 体育 的 很 好 吧 一 二
"""
WORDS = SENTENCES.split()
MARKS = "，。！？；：“”（）《》、…—·?!,.\"' \n\t\u3000\xa0%#&@$|<>()+-*/=[]{}~`^_\\"


def text(random: Random) -> str:
    made = []
    for _ in range(random.choice([0, 1, 2, 3, 8, 25])):
        kind = random.random()
        if kind < 0.15:
            made.append(random.choice(MARKS))
        elif kind < 0.4:
            made.append("".join(random.choices(HAN, k=random.randint(1, 5))))
        else:
            made.append(random.choice(WORDS))
    return random.choice(["", " "]).join(made)


@cache
def pairs() -> list[tuple[str, str]]:
    random = Random(3)
    made = []
    for _ in range(400):
        answer = text(random)
        keep = [sign if random.random() < 0.9 else random.choice(WORDS) for sign in answer]
        made.append((answer, "".join(keep) if random.random() < 0.6 else text(random)))
    return made


def found(**params: Any) -> list[dict[str, float]]:
    scorer = build("scorer", Spec(name="text_metrics", params=params))
    contexts = [ScoreContext.of(answer, references=[reference]) for answer, reference in pairs()]
    return [score.detail["metrics"] for score in scorer.score_batch(contexts)]


def test_chrf_is_sacrebleus() -> None:
    peer = CHRF()
    rows = found(metrics="chrf")
    for (answer, reference), row in zip(pairs(), rows, strict=True):
        wanted = peer.sentence_score(answer, [reference]).score / 100
        assert row["chrf"] == pytest.approx(wanted, abs=1e-9), (answer, reference)
    assert sum(row["chrf"] > 0 for row in rows) > 200


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.sampled(2)
def test_bleu_is_sacrebleus_with_exponential_smoothing(order: int) -> None:
    peer = BLEU(tokenize="none", smooth_method="exp", effective_order=True, max_ngram_order=order)
    for (answer, reference), row in zip(pairs(), found(metrics="bleu", language="zh"), strict=True):
        sides = [" ".join(words(side, "zh")) for side in (answer, reference)]
        wanted = peer.sentence_score(sides[0], [sides[1]]).score / 100 if all(sides) else 0.0
        assert row[f"bleu{order}"] == pytest.approx(wanted, abs=1e-9), (answer, reference)


def test_rouge_of_plain_english_is_rouge_scores() -> None:
    peer = RougeScorer(["rouge1", "rouge2", "rougeL"])
    for (answer, reference), row in zip(pairs(), found(metrics="rouge"), strict=True):
        if answer.isascii() and reference.isascii():
            wanted = {name: made.fmeasure for name, made in peer.score(reference, answer).items()}
            assert row == pytest.approx(wanted, abs=1e-12), (answer, reference)


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.sampled(4)
def test_the_originals_libraries(language: str) -> None:
    """BLEU, chrF and English ROUGE as the original calls nltk and rouge-score."""
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"])
    weights = [tuple([1 / n] * n + [0.0] * (4 - n)) for n in range(1, 5)]
    rows = found(metrics=["bleu", "chrf", "rouge"], language=language, compat="original")
    for (answer, reference), row in zip(pairs(), rows, strict=True):
        ours, theirs = (tokens(prepared(side), language) for side in (answer, reference))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bleu = sentence_bleu([theirs], ours, weights)
        wanted = {f"bleu{n}": value for n, value in enumerate(bleu, 1)}
        wanted["chrf"] = sentence_chrf(theirs, ours)
        if language == "en":
            made = rouge.score(prepared(reference), prepared(answer))
            wanted |= {name: one.fmeasure for name, one in made.items()}
        assert {name: row[name] for name in wanted} == pytest.approx(wanted, abs=1e-9), answer


@pytest.mark.slow
def test_chinese_is_cut_exactly_as_jieba_does() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    plain = jieba.Tokenizer()
    plain.FREQ, plain.total = plain.gen_pfdict(plain.get_dict_file())
    plain.initialized = True
    random = Random(11)
    known = [word for word, often in plain.FREQ.items() if often > 50]
    rare = [chr(random.randrange(0x4E00, 0x9FD6)) for _ in range(200)]
    strange = list("㐀鿿𠀀éñßЖあアก한😀①²½０Ａａ〇々ー\u200b\x1c\x85\ud800") + list(MARKS)
    for _ in range(600):
        parts = [known] * 6 + [rare, strange, WORDS]
        made = "".join(random.choice(random.choice(parts)) for _ in range(random.randint(1, 15)))
        assert cut_exactly(made) == " ".join(plain.cut(made)).split(), made
