"""Texts of all kinds, and the check that a column holds the scores that its rows have."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from proctor.contracts.columns import ScoreRows, run_scorer_column, takes_columns
from proctor.contracts.scorer import ScoreContext, Scorer
from proctor.contracts.scoring import run_scorer
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import plain
from proctor.io import json_bytes

_WORDS = (
    "the a an cat Cat CAT dog dog. Paris paris, (Paris) 42 -42 1,000 1000 3.0 3 1e9 1e400 ½ ß SS ss İ"
    " ſ K don't state-of-the-art c++ C# naïve cafe\u0301 ＡＢＣ ３ 東京 今天天气 很好 。 ！ かな 한국 ไทย"
    " 😀 👩\u200d🚀 \ud800 \udc00x \u200b « » ** ` \n \n\n \t \u3000 … _ a_b .5 x"
)
WORDS = _WORDS.split(" ")
PIECES = st.sampled_from([*WORDS, "9" * 400, "1," * 50, "\0", "\x1c", "\r\n"])
TEXTS = st.one_of(
    st.just(""),
    st.lists(PIECES, max_size=12).map(" ".join),
    st.lists(PIECES, max_size=4).map("".join),
    st.lists(st.sampled_from("abc"), max_size=30).map(" ".join),
    st.text(st.characters(codec=None), max_size=20),
)
REFERENCES = st.lists(TEXTS, max_size=3).map(tuple)


def context(output: str, references: Sequence[str] = (), prompt: str = "?") -> ScoreContext:
    return ScoreContext.of(output, references=references, prompt=prompt)


def silent_context(references: Sequence[str] = ()) -> ScoreContext:
    case = ScoreContext.of("", references=references).case
    return ScoreContext(case=case, attempt=Attempt.of("try", None))


CONTEXTS = st.one_of(
    st.builds(context, TEXTS, REFERENCES, st.sampled_from(["?", "", "北京在哪里", "where"])),
    TEXTS.map(lambda text: context(text, [text])),
    st.builds(silent_context, REFERENCES),
)
COLUMNS = st.lists(CONTEXTS, min_size=1, max_size=6)


def assert_same(scorers: Sequence[Scorer], contexts: Sequence[ScoreContext]) -> None:
    """Check that a column and its rows agree in every bit, before and after it is written."""
    for scorer in scorers:
        assert takes_columns(scorer)
    column = run_scorer_column(scorers, ScoreRows.of(contexts))
    assert len(column) == len(contexts)
    written = column.written_details()
    for row, (scorer, ctx) in enumerate(zip(scorers, contexts, strict=True)):
        wanted, score = run_scorer(scorer, ctx), column.score(row)
        assert _bits(score) == _bits(wanted)
        detail = written[row]
        assert _bits(None if detail is None else json_bytes.loads(detail)) == _bits(wanted.detail)


def _bits(thing: Any) -> str:
    """Write a value so that equal texts mean equal values, of equal types and in equal order."""
    return repr(plain(thing))
