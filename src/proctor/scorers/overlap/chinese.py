"""Chinese words: jieba's cut, by jieba itself or by rjieba where both cut alike."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib.util import find_spec
from threading import Lock
from typing import Any

from proctor.errors import MissingResource
from proctor.io.search_paths import installed_version

HOW_TO = "install it with: pip install 'proctor[chinese]'"

# jieba looks up whole blocks of these and takes every other sign by itself.
_BLOCK = re.compile(r"[\u4E00-\u9FD5a-zA-Z0-9+#&._%\-]+|\S")
# Within a block rjieba joins letters and digits over these, and jieba does not.
_JOINT = re.compile(r"[+#&._%\-]")
_lock = Lock()


def cut_run(run: str) -> list[str]:
    """Cut a run of common Chinese signs into words; sign by sign where nothing is installed."""
    cut = _quick() or _exact()
    return list(run) if cut is None else cut(run)


def cut_exactly(text: str) -> list[str]:
    """Cut any text exactly as jieba 0.42.1 does, white space left out.

    Needs jieba; rjieba only takes over what it is known to cut alike.
    """
    exact, quick = _exact(), _quick()
    if exact is None:
        raise MissingResource(f"jieba, which cuts Chinese into words, is not installed ({HOW_TO})")
    tokens: list[str] = []
    for block in _BLOCK.findall(text):
        if len(block) == 1:
            tokens.append(block)
        elif quick is None or _JOINT.search(block):
            tokens += exact(block)
        else:
            tokens += quick(block)
    return tokens


def missing_jieba() -> Iterable[str]:
    """Report jieba where it is not installed."""
    if find_spec("jieba") is None:
        yield f"jieba, which cuts Chinese into words, is not installed ({HOW_TO})"


@cache
def cut_by() -> str:
    """Name what Chinese is cut by; jieba and rjieba cut runs of Chinese alike."""
    installed = find_spec("rjieba") is not None or find_spec("jieba") is not None
    return "jieba" if installed else "signs"


@cache
def cutter() -> str:
    """Return what Chinese is cut by, with its version: another dictionary cuts otherwise."""
    if cut_by() == "signs":
        return "signs"
    name = "rjieba" if find_spec("rjieba") is not None else "jieba"
    return f"{name} {installed_version(name)}"


@cache
def exact_cutter() -> str:
    """Return what cuts Chinese as jieba does: jieba, and rjieba where that takes over."""
    quick = f" rjieba {installed_version('rjieba')}" if find_spec("rjieba") is not None else ""
    return f"jieba {installed_version('jieba')}{quick}"


@cache
def _quick() -> Callable[[str], list[str]] | None:
    """Return rjieba's cut, with a dictionary that nobody else adds words to."""
    if find_spec("rjieba") is None:
        return None
    from rjieba import Jieba

    cut: Callable[[str], list[str]] = Jieba().cut
    return cut


def _exact() -> Callable[[str], list[str]] | None:
    """Return jieba's own cut."""
    with _lock:
        return _jieba()


@cache
def _jieba() -> Callable[[str], list[str]] | None:
    if find_spec("jieba") is None:
        return None
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import jieba
    tokenizer: Any = jieba.Tokenizer()
    # Its own way would be to read and write a file in a folder that everybody may write to.
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    cut: Callable[[str], list[str]] = tokenizer.lcut
    return cut
