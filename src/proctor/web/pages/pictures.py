"""Small charts for pages, drawn on the server so that no script is needed."""

from collections.abc import Sequence

WIDTH, HEIGHT, FOOT = 320, 90, 16
BAR, INK = "#3b8fd6", "#7a828c"
"""Colours that are visible on light and dark pages."""


def histogram_svg(counts: Sequence[int]) -> str:
    """Draw how many cases reached each share of the full score."""
    most = max(counts, default=0) or 1
    step = WIDTH / max(1, len(counts))
    bars = "".join(
        f'<rect x="{place * step + 0.5:.1f}" y="{HEIGHT - _high(count, most):.1f}"'
        f' width="{step - 1:.1f}" height="{_high(count, most):.1f}" fill="{BAR}">'
        f"<title>{100 * place // len(counts)}–{100 * (place + 1) // len(counts)}%:"
        f" {count}</title></rect>"
        for place, count in enumerate(counts)
        if count
    )
    marks = "".join(
        f'<text x="{x}" y="{HEIGHT + FOOT - 3}" text-anchor="{anchor}">{words}</text>'
        for x, anchor, words in (
            (0, "start", "0%"),
            (WIDTH / 2, "middle", "50%"),
            (WIDTH, "end", "100%"),
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + FOOT}"'
        f' width="{WIDTH}" height="{HEIGHT + FOOT}" fill="{INK}" font-family="sans-serif"'
        f' font-size="11"><line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}"'
        f' stroke="{INK}"/>{bars}{marks}</svg>'
    )


def _high(count: int, most: int) -> float:
    """Return the height of a bar; even one case in a million is visible."""
    return max(1.0, count / most * (HEIGHT - 4))
