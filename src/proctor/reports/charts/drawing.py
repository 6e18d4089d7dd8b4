"""Charts as SVG and PNG images, with fonts for every language."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from proctor.errors import MissingResource, ModelError
from proctor.io import downloads, json_bytes
from proctor.reports.charts.parts import Chart

FONTS = "PROCTOR_FONTS"
"""The environment variable that names folders with more fonts."""
NOTO = downloads.Packed(
    "Noto Sans SC, a font with Chinese characters",
    "zhplot==1.0.0",
    {
        "zhplot/fonts/NotoSansSC-Regular.ttf":
            "5cf8b2a0576d5680284ab03a7a8219499d59bbe981a79bb3dc0031f251c39736",
    },
    megabytes=6,
)  # fmt: skip
FORMS = ("svg", "png")
"""Formats written by default; ``json``, the spec itself, is also possible."""
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_UNSAFE = re.compile(r"[^\w.-]+")
_PROBE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><text x="2" y="30"'
    ' font-size="28" font-family="Noto Sans SC, sans-serif">{}</text></svg>'
)


def missing() -> str:
    """Return how to install what drawing needs; empty if it is installed."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        return "charts need vl-convert-python (fix: pip install 'proctor[charts]')"
    return ""


def svg(chart: Chart) -> str:
    """Draw a chart as SVG; the viewer supplies the fonts."""
    drawing: str = _library().vegalite_to_svg(dict(chart.spec), allowed_base_urls=[])
    return drawing


def png(
    chart: Chart, *, scale: float = 2.0, notice: Callable[[str], None] = downloads.log
) -> bytes:
    """Draw a chart as PNG; a font with Chinese characters is downloaded once if none is found."""
    if _WIDE.search(json_bytes.dumps(dict(chart.spec)).decode()):
        _chinese(notice)
    picture: bytes = _library().vegalite_to_png(dict(chart.spec), scale=scale, allowed_base_urls=[])
    return picture


def write_charts(
    charts: Iterable[Chart],
    folder: Path,
    *,
    forms: Sequence[str] = FORMS,
    notice: Callable[[str], None] = downloads.log,
) -> list[Path]:
    """Write each chart into a folder in each format, and return the files."""
    written = []
    for chart in charts:
        for form in forms:
            path = folder / f"{file_name(chart.name)}.{form}"
            drawn = _drawn(chart, form, notice)
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(drawn)
            written.append(path)
    return written


def _drawn(chart: Chart, form: str, notice: Callable[[str], None]) -> bytes:
    if form == "png":
        return png(chart, notice=notice)
    return svg(chart).encode() if form == "svg" else json_bytes.dumps(dict(chart.spec))


def file_name(name: str) -> str:
    """Return a file name for a chart: letters of any language, digits, hyphens."""
    return _UNSAFE.sub("-", name).strip("-.")[:100] or "chart"


def shows_chinese() -> bool:
    """Tell whether a font has Chinese characters: without one they all render the same."""
    draw = _library().svg_to_png
    return bool(draw(_PROBE.format("中")) != draw(_PROBE.format("国")))


@cache
def _library() -> Any:
    """Return the library, with the user's fonts registered."""
    if lacking := missing():
        raise MissingResource(lacking)
    import vl_convert

    for folder in os.environ.get(FONTS, "").split(os.pathsep):
        if folder.strip():
            if not Path(folder).is_dir():
                raise MissingResource(f"{FONTS} names {folder}, which is not a folder")
            vl_convert.register_font_directory(folder)
    return vl_convert


def _chinese(notice: Callable[[str], None]) -> None:
    """Make sure that Chinese characters can be drawn, or say why they will be boxes."""
    if (trouble := _find_chinese(notice)) and trouble not in _NOTICED:
        _NOTICED.add(trouble)
        notice(trouble)


_NOTICED: set[str] = set()


@cache
def _find_chinese(notice: Callable[[str], None]) -> str:
    if shows_chinese():
        return ""
    folder = downloads.cache().parent / "fonts"
    try:
        downloads.fetch(NOTO, folder, notice)
    except ModelError as error:
        return (
            f"Chinese characters in PNG files will be boxes, in SVG files not: {error}, or name a"
            f" folder with such a font in {FONTS}"
        )
    _library().register_font_directory(str(folder))
    return "" if shows_chinese() else "Chinese characters in PNG files will be boxes"
