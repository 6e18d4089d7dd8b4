"""The colours of the pages: readable in both themes, and told apart without seeing red or green."""

import re
from importlib.resources import files

import pytest

SHEET = files("proctor.web").joinpath("static", "style.css").read_text(encoding="utf-8")
LIGHT, DARK = SHEET.split("prefers-color-scheme: dark", 1)
BLOCK = r":root[^{]*\{((?:\s*--[\w-]+: [^;]+;)+)"
MEANINGS = ("good", "bad", "warn", "none")
Colour = tuple[float, float, float]


def colours(theme: str) -> dict[str, Colour]:
    source = LIGHT if theme == "light" else DARK
    found: dict[str, Colour] = {}
    for name, digits in re.findall(r"--([\w-]+): #([0-9a-f]{3}(?:[0-9a-f]{3})?);", source):
        whole = digits if len(digits) == 6 else "".join(2 * digit for digit in digits)
        red, green, blue = (int(whole[at : at + 2], 16) / 255 for at in (0, 2, 4))
        found.setdefault(name, (red, green, blue))
    return found


def linear(colour: Colour) -> Colour:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour
    )
    return red, green, blue


def luminance(colour: Colour) -> float:
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def without_green(colour: Colour) -> Colour:
    """Return a colour as somebody with deuteranopia sees it (Viénot, Brettel and Mollon 1999)."""
    red, green, blue = linear(colour)
    one = 0.29275 * red + 0.70725 * green
    return one, one, -0.02234 * red + 0.02234 * green + blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_is_readable_on_every_ground(theme: str) -> None:
    shown = colours(theme)
    pairs = [
        (text, ground)
        for text in ("ink", "faint", "accent", *MEANINGS)
        for ground in ("paper", "raised", "sunken")
    ] + [(name, f"{name}-soft") for name in MEANINGS]
    pairs += [("ink", ground) for ground in ("mark", "add", "drop")]
    low = {pair: contrast(shown[pair[0]], shown[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_right_and_wrong_differ_without_red_and_green(theme: str) -> None:
    shown = colours(theme)
    good, bad = (without_green(shown[name]) for name in ("good", "bad"))
    assert sum((one - other) ** 2 for one, other in zip(good, bad, strict=True)) ** 0.5 > 0.05


def test_dark_is_the_same_by_the_system_and_by_choice() -> None:
    by_system, by_choice = re.findall(BLOCK, DARK)
    assert by_system.strip() == by_choice.strip()


def test_both_themes_define_the_same_colours() -> None:
    assert colours("light").keys() == colours("dark").keys()
