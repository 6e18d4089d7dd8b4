"""BERTScore: the original's values, the bert-score package's, and what is done when things fail."""

import contextlib
import io
import json
import random
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from needs import unmet
from proctor import registry
from proctor.contracts.scorer import ScoreContext
from proctor.contracts.scoring import run_scorer_batch
from proctor.core.attempt import Attempt
from proctor.core.score import ScoreStatus
from proctor.core.suite import Case, Message, Spec
from proctor.errors import ModelError
from proctor.scorers.embedding import checkpoints

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
TINY = str(GOLDEN / "colossal_tinybert")
WORDS = ["The", "cat", "sat", "on", "mat", "天气", "很好", "romance", "2007", "—", "?", "naïve"]


def scorer(**params: Any) -> Any:
    return registry.build("scorer", Spec(name="bert_score", params={"model": TINY, **params}))


def context(output: str, *references: str) -> ScoreContext:
    case = Case(
        id="1",
        messages=(Message(role="user", content="?"),),
        criteria=(),
        references=references,
    )
    return ScoreContext(case=case, attempt=Attempt.of("1", output))


def golden() -> list[Any]:
    found = json.loads((GOLDEN / "colossal.json").read_text(encoding="utf-8"))["BERTScore"]
    return [*found["cn"], *found["en"]]


def made_up(count: int, seed: int = 1) -> list[tuple[str, str]]:
    draw = random.Random(seed)
    return [
        (" ".join(draw.choices(WORDS, k=draw.randint(1, 60))),
         " ".join(draw.choices(WORDS, k=draw.randint(1, 60))))
        for _ in range(count)
    ]  # fmt: skip


@pytest.mark.torch
def test_the_originals_values() -> None:
    rows = golden()
    found = scorer(layer=2).score_batch([context(r["prediction"], r["reference"]) for r in rows])
    for row, score in zip(rows, found, strict=True):
        assert score.detail["metrics"]["bert_score"] == pytest.approx(
            row["value"]["bert_score"], abs=1e-6
        )
        assert score.points == score.detail["metrics"]["bert_score"]
        assert score.out_of is None


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that asks the bert-score package, quietly."""
    if find_spec("bert_score") is None:
        pytest.skip("the bert-score package is missing")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bert_score = __import__("bert_score")

    def run(pairs: list[Any], **more: Any) -> list[tuple[float, ...]]:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            found = bert_score.score(
                [said for said, _ in pairs], [right for _, right in pairs],
                model_type=TINY, device="cpu", nthreads=0, **{"num_layers": 2, **more},
            )  # fmt: skip
        return list(zip(*(values.tolist() for values in found), strict=True))

    return run


def close(found: Any, wanted: Any) -> None:
    assert len(found) == len(wanted)
    for row, expected in zip(found, wanted, strict=True):
        assert row == pytest.approx(expected, abs=2e-6)


@pytest.mark.torch
@pytest.mark.parametrize("layer", [1, 2, 3])
def test_the_packages_values(package: Any, layer: int) -> None:
    pairs = made_up(40)
    close(scorer(layer=layer).prf(pairs), package(pairs, num_layers=layer))


@pytest.mark.torch
@pytest.mark.parametrize("name", ["texts.txt", "texts.json"])
def test_rare_tokens_count_more(package: Any, tmp_path: Path, name: str) -> None:
    pairs = made_up(20)
    texts = [right for _, right in pairs]
    path = tmp_path / name
    path.write_text(json.dumps(texts) if name.endswith("json") else "\n".join(texts), "utf-8")
    found = scorer(layer=2, idf=str(path)).prf(pairs)
    close(found, package(pairs, idf=True))
    plain = scorer(layer=2).prf(pairs)
    assert max(abs(a[2] - b[2]) for a, b in zip(found, plain, strict=True)) > 1e-4


@pytest.mark.torch
def test_rescaled(package: Any, tmp_path: Path) -> None:
    path = tmp_path / "baseline.tsv"
    path.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.2,0.2\n2,0.31,0.32,0.33\n")
    pairs = made_up(5)
    wanted = package(pairs, rescale_with_baseline=True, lang="en", baseline_path=str(path))
    close(scorer(layer=2, baseline=str(path)).prf(pairs), wanted)
    assert "no row for layer 3" in scorer(baseline=str(path)).score(context("a", "b")).reason


@pytest.mark.torch
def test_the_best_of_several_references_counts(package: Any) -> None:
    pairs = [("The cat sat", ["romance 2007", "The cat sat on mat", "天气"])]
    score = scorer(layer=2).score(context(pairs[0][0], *pairs[0][1]))
    close([(score.detail["metrics"]["bert_score_precision"],
            score.detail["metrics"]["bert_score_recall"], score.points)], package(pairs))  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize(
    ("said", "right", "wanted"),
    [
        ("", "The cat", 0.0), ("The cat", " \n", 0.0), ("", "", 0.0),
        ("\u200b\x00", "The cat", 0.0), ("[SEP]", "The cat", 0.0),
        ("  The cat\n", "The cat", 1.0), ("The cat", "The cat", 1.0),
    ],
)  # fmt: skip
def test_texts_that_say_nothing(said: str, right: str, wanted: float) -> None:
    alone, among = scorer().prf([(said, right)]), scorer().prf([*made_up(3), (said, right)])
    assert alone[0] == pytest.approx(among[3], abs=1e-6)
    assert alone[0] == pytest.approx((wanted,) * 3, abs=1e-6)
    assert max(alone[0]) <= 1.0


@pytest.mark.torch
def test_neighbours_make_no_difference() -> None:
    pairs = [*made_up(30), ("x " * 3000, "The cat " * 2000), *made_up(30, seed=2)]
    alone = [scorer().prf([pair])[0] for pair in pairs]
    close(scorer().prf(pairs), alone)


@pytest.mark.torch
def test_a_text_too_long_is_cut() -> None:
    long, longer = "cat " * 600, "cat " * 600 + "romance " * 50
    assert scorer().prf([(long, longer)])[0] == pytest.approx((1.0, 1.0, 1.0), abs=1e-6)


@pytest.mark.torch
def test_equal_references_are_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.scorers.embedding.encoders import Encoder

    seen: list[int] = []
    plain = Encoder.vectors

    def counted(self: Any, texts: Any, budget: int) -> Any:
        seen.append(len(texts.lengths))
        return plain(self, texts, budget)

    monkeypatch.setattr(Encoder, "vectors", counted)
    scorer().prf([("cat", "mat"), ("sat", "mat"), ("cat", "mat"), ("mat", "cat")])
    assert sum(seen) == 3


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["bert", "camembert", "electra", "roberta", "xlm-roberta"])
def test_no_filling_and_filling_agree(kind: str, tmp_path: Path) -> None:
    import torch
    import transformers

    from proctor.scorers.embedding.encoders import Encoder

    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(
        kind, vocab_size=481, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=80, pad_token_id=0, initializer_range=0.5,
        embedding_size=32,
    )  # fmt: skip
    with checkpoints._silence(transformers.logging):
        transformers.AutoModel.from_config(config).save_pretrained(tmp_path)
        transformers.AutoTokenizer.from_pretrained(TINY).save_pretrained(tmp_path)
    encoder = Encoder(str(tmp_path), 2, "cpu", "float32")
    assert encoder.packs
    texts = encoder.tokens([text for pair in made_up(10) for text in pair])
    assert max(map(len, texts)) <= 80
    table = encoder.laid_out(texts)
    packed = encoder.vectors(table, 256)
    encoder.packs = False
    encoder.model.set_attn_implementation("sdpa")
    padded = encoder.vectors(table, 256)
    whole = encoder.vectors(table, 10**6)
    for i, length in enumerate(packed.lengths):
        rows = [v.table[v.starts[i] : v.starts[i] + length] for v in (packed, padded, whole)]
        assert torch.allclose(rows[0], rows[1], atol=2e-5)
        assert torch.allclose(rows[1], rows[2], atol=2e-5)


@pytest.mark.torch
def test_less_is_held_where_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from proctor.scorers.embedding.encoders import Encoder

    plain, budgets = Encoder.vectors, []

    def short(self: Any, texts: Any, budget: int) -> Any:
        budgets.append(budget)
        if len(budgets) < 3:
            raise torch.OutOfMemoryError("there is no more")
        return plain(self, texts, budget)

    pairs = made_up(10)
    wanted = scorer().prf(pairs)
    monkeypatch.setattr(Encoder, "vectors", short)
    close(scorer().prf(pairs), wanted)
    assert budgets[:3] == [2048, 1024, 512]


@pytest.mark.torch
@pytest.mark.parametrize("quick", [False, True])
def test_pairs_in_many_groups_keep_their_values_and_order(
    monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    from proctor.scorers.embedding import encoders, greedy_match

    pairs = [*made_up(40), *[(said, "The cat sat") for said, _ in made_up(20, seed=3)], ("", "a")]
    wanted = scorer().prf(pairs)
    loaded = encoders.Encoder(TINY, 0, "cpu", "float32")
    if quick:
        loaded.fuse()
        assert loaded.layers is not None
    monkeypatch.setattr(encoders, "encoder", lambda *given: loaded)
    few = greedy_match.Sizes(characters=500, tokens=200, cells=20_000, first=100)
    monkeypatch.setattr(greedy_match.Sizes, "of", lambda device: few)
    close(scorer().prf(pairs), wanted)


@pytest.mark.torch
def test_a_pair_that_fits_nowhere_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from proctor.scorers.embedding.encoders import Encoder

    plain = Encoder.vectors

    def short(self: Any, texts: Any, budget: int) -> Any:
        if max(texts.lengths) > 300:
            raise torch.OutOfMemoryError("there is no more")
        return plain(self, texts, budget)

    monkeypatch.setattr(Encoder, "vectors", short)
    contexts = [context("The cat", "The cat"), context("cat " * 600, "The cat"), context("a", "b")]
    found = scorer().score_batch(contexts)
    assert [score.status for score in found] == [
        ScoreStatus.SCORED, ScoreStatus.FAILED, ScoreStatus.SCORED,
    ]  # fmt: skip
    assert "memory" in found[1].reason
    assert found[0].points == pytest.approx(1.0)


@pytest.mark.torch
def test_a_text_that_cannot_be_cut_into_tokens_fails_alone() -> None:
    contexts = [context("The cat", "The cat"), context("\ud800", "The cat"), context("a", "b")]
    found = run_scorer_batch(scorer(), contexts)
    assert [score.status for score in found] == [
        ScoreStatus.SCORED, ScoreStatus.FAILED, ScoreStatus.SCORED,
    ]  # fmt: skip


@pytest.mark.torch
def test_what_a_score_depends_on(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("one")
    plain, rare = scorer().toolchain(), scorer(idf=str(path)).toolchain()
    assert plain.startswith("colossal_tinybert@")
    assert "torch" in plain
    assert plain.endswith("float32")
    path.write_text("two")
    assert len({plain, rare, scorer(idf=str(path)).toolchain()}) == 3


@pytest.mark.torch
@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"layer": 4}, "has 3 layers, so there is no layer 4"),
        ({"model": "./nowhere"}, "there is no folder ./nowhere"),
        ({"idf": "nowhere.txt"}, "there is no file nowhere.txt"),
        ({"model": str(GOLDEN)}, "cannot be loaded"),
    ],
)
def test_what_cannot_be_loaded_costs_the_criterion_alone(
    params: dict[str, Any], reason: str
) -> None:
    found = scorer(**params).score_batch([context("a", "b"), context("c", "d")])
    assert [score.status for score in found] == [ScoreStatus.FAILED] * 2
    assert reason in found[0].reason


@pytest.mark.torch
def test_no_reference() -> None:
    found = scorer().score_batch([context("a"), context("cat", "cat")])
    assert found[0].status is ScoreStatus.FAILED
    assert "no reference" in found[0].reason
    assert found[1].points == pytest.approx(1.0)


@pytest.mark.torch
def test_the_encoder_that_needs_no_hub() -> None:
    try:
        checkpoints.located(checkpoints.MINILM)
    except ModelError as error:
        unmet("weights", str(error))
    made = registry.build("scorer", Spec(name="bert_score"))
    right = "The committee approved the new budget on Friday."
    same, near, far = (
        row[2]
        for row in made.prf(
            [(right, right), ("On Friday the budget was passed by the committee.", right),
             ("My cat likes to sleep in the sun.", right)]
        )
    )  # fmt: skip
    assert same == pytest.approx(1.0, abs=1e-5)
    assert far < near < same
    assert made.toolchain().startswith("all-MiniLM-L6-v2@53aa51172d14 ")


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "find_spec", lambda name: None)
    assert list(scorer().missing()) == [
        "BERTScore needs torch and transformers (fix: pip install 'proctor[semantic]')"
    ]
    assert "pip install 'proctor[semantic]'" in scorer().score(context("a", "b")).reason
    assert list(scorer(model="some/name").missing()) != []
    assert scorer().toolchain()


@pytest.mark.parametrize(
    ("model", "path"),
    [
        ("roberta-large", False), ("microsoft/deberta-large-mnli", False), ("./here", True),
        ("/models/bert", True), ("~/bert", True), ("a/b/c", True), ("folder/", True),
        (TINY, True), (checkpoints.MINILM, False),
    ],
)  # fmt: skip
def test_folders_and_names_of_the_hub(model: str, path: bool) -> None:
    assert checkpoints.is_path(model) is path


def test_parameters() -> None:
    assert list(scorer(layer=-1).problems()) == ["layer -1: layers are counted from 1"]
    assert list(scorer().problems()) == []
    assert scorer().batches
