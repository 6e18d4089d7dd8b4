"""The quick layers of a BERT: the library's own numbers, biases and all."""

from pathlib import Path

import pytest

from proctor.scorers.embedding import checkpoints

TINY = str(Path(__file__).resolve().parents[2] / "golden" / "colossal_tinybert")


@pytest.mark.torch
@pytest.mark.parametrize("kind", ["bert", "camembert", "electra", "roberta", "xlm-roberta"])
def test_the_librarys_vectors(kind: str, tmp_path: Path) -> None:
    import torch
    import transformers

    from proctor.scorers.embedding.encoders import Encoder

    torch.manual_seed(2)
    config = transformers.AutoConfig.for_model(
        kind, vocab_size=481, hidden_size=32, num_hidden_layers=3, num_attention_heads=4,
        intermediate_size=64, max_position_embeddings=80, pad_token_id=0, initializer_range=0.3,
        embedding_size=16,
    )  # fmt: skip
    with checkpoints._silence(transformers.logging):
        model = transformers.AutoModel.from_config(config)
        for name, weight in model.named_parameters():
            if name.endswith("bias") or "LayerNorm" in name:
                torch.nn.init.normal_(weight, 0.5, 0.5)
        model.save_pretrained(tmp_path)
        transformers.AutoTokenizer.from_pretrained(TINY).save_pretrained(tmp_path)
    encoder = Encoder(str(tmp_path), 2, "cpu", "float32")
    texts = encoder.laid_out([[5 + (i * n) % 400 for i in range(n)] for n in (1, 2, 9, 9, 30, 41)])
    library = encoder.vectors(texts, 64).table
    encoder.fuse()
    assert encoder.layers is not None
    assert len(encoder.layers.layers) == 2
    fused = encoder.vectors(texts, 64).table
    assert not torch.equal(fused, library), "the library's way was taken"
    assert torch.allclose(fused, library, atol=2e-5)


@pytest.mark.torch
def test_what_differs_from_the_library_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    from proctor.scorers.embedding.bert_layers import BertLayers
    from proctor.scorers.embedding.encoders import Encoder

    encoder = Encoder(TINY, 2, "cpu", "float32")
    plain = BertLayers.__call__
    monkeypatch.setattr(BertLayers, "__call__", lambda *args: plain(*args) * 1.2)
    encoder.fuse()
    assert encoder.layers is None
