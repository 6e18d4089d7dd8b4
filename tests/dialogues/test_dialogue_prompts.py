"""The prompts of dialogues: the same in both languages, and keys where a server looks for them."""

import re
from importlib.resources import files

import pytest

from proctor.judging.prompts import LANGUAGES, load

KEYS = ("is_final_answer", "is_correct", "all_required_points_resolved", "missing_required_points")
NAMES = sorted(
    path.name.removesuffix(".txt")
    for path in files("proctor.judging.prompts").joinpath("en").iterdir()
    if re.match(r"(ask|fata|in3|point|virtual)_.*\.txt$", path.name)
)
USERS = [name for name in NAMES if "_user" in name]


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_places(name: str) -> None:
    english, chinese = (load(name, language) for language in LANGUAGES)
    assert english.places == chinese.places
    official = name in ("fata_guidance", "fata_request")
    assert (english.text == chinese.text) == official
    assert bool(re.search(r"[\u4e00-\u9fff]", chinese.text)) != official
    assert not re.search(r"[\u4e00-\u9fff]", english.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_keys_of_the_contract(language: str) -> None:
    contract = load("ask_contract", language).text
    assert all(key in contract for key in KEYS)
    for name in NAMES:
        text = load(name, language).text
        assert "criteria_met" not in text
        assert '"result"' not in text
    assert len(USERS) >= 5
    assert all("is_final_answer" not in load(name, language).text for name in USERS)
    assert all("reference" not in load(name, language).places for name in USERS)
