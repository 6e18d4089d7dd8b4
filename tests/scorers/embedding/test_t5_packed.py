"""A T5 without padding: the library's own numbers, however texts are cut into chunks."""

from pathlib import Path
from typing import Any

import pytest

from proctor.scorers.embedding import checkpoints
from proctor.scorers.embedding.t5_packed import PackedTexts, _chunks, _groups

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
TINY = str(GOLDEN / "colossal_tinyt5")
TEXTS = [[2 + (i * n) % 50 for i in range(n)] for n in (1, 3, 8, 8, 9, 16, 17, 17, 30, 70)]


def written(folder: Path, kind: str, **settings: Any) -> str:
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.AutoConfig.for_model(
        kind, vocab_size=481, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_decoder_layers=3,
        num_heads=4, decoder_start_token_id=0, pad_token_id=0, initializer_factor=3.0, **settings,
    )  # fmt: skip
    with checkpoints._silence(transformers.logging):
        model = transformers.AutoModelForSeq2SeqLM.from_config(config)
        for name, weight in model.named_parameters():
            if "layer_norm" in name or "relative" in name:
                torch.nn.init.normal_(weight, 1.0, 0.5)
        model.save_pretrained(folder)
        transformers.AutoTokenizer.from_pretrained(TINY).save_pretrained(folder)
    return str(folder)


@pytest.mark.torch
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("t5", {}),
        ("t5", {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
        ("umt5", {"feed_forward_proj": "gated-gelu"}),
    ],
)
@pytest.mark.parametrize("chunk", [1, 40])
def test_the_librarys_logits(
    kind: str, settings: dict[str, Any], chunk: int, tmp_path: Path
) -> None:
    import torch

    from proctor.scorers.embedding.t5_yes_no import Answerer

    ours = Answerer(written(tmp_path, kind, **settings), "cpu", "float32")
    with checkpoints.computing("float32"):
        library = ours._library_logits(TEXTS)
        ours.pack()
        assert ours.packed is not None
        ours.packed.chunk = chunk
        packed = ours.packed.logits(PackedTexts.of(TEXTS, 0, "cpu"))
    assert library.std() > 0.01
    assert torch.allclose(packed, library, atol=2e-5 * float(library.abs().max()))


@pytest.mark.torch
def test_what_differs_from_the_library_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.scorers.embedding.t5_packed import PackedT5
    from proctor.scorers.embedding.t5_yes_no import Answerer

    ours = Answerer(TINY, "cpu", "float32")
    monkeypatch.setattr(
        PackedT5, "logits", lambda self, texts: ours._library_logits([[3]] * len(texts.counts))
    )
    ours.pack()
    assert ours.packed is None
    assert ours.log_odds(["question: Is it?"])


@pytest.mark.parametrize("most", [1, 16, 24, 1000])
def test_chunks_hold_every_text_once(most: int) -> None:
    widths = [8, 8, 16, 24, 24]
    chunks = _chunks(widths, most)
    assert [i for first, last in chunks for i in range(first, last)] == list(range(5))
    for first, last in chunks:
        assert last - first == 1 or sum(widths[first:last]) <= most


def test_groups_have_one_length_and_know_whether_something_is_padded() -> None:
    groups = _groups([3, 8, 8, 16, 16, 17], 1, 6)
    assert [(g.first, g.count, g.width, g.padded) for g in groups] == [
        (1, 2, 8, False), (3, 2, 16, False), (5, 1, 24, True),
    ]  # fmt: skip
    assert _groups([3, 8], 0, 2)[0].padded
