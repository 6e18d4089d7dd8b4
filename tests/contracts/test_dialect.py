"""What every dialect does with options that a person sets beside the file."""

from pathlib import Path

import pytest

from proctor import registry
from proctor.errors import UsageError

DIALECTS = {name: registry.find("dialect", name) for name in registry.names("dialect")}
OPTIONS = [(name, option) for name, cls in DIALECTS.items() for option in cls.option_names]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_a_misspelt_option_is_refused_with_the_one_that_was_meant(name: str, option: str) -> None:
    misspelt = option[:2] + option[3:]
    words = f"the dialect '{name}' has no option '{misspelt}' .did you mean '{option}'"
    with pytest.raises(UsageError, match=words):
        DIALECTS[name]().read_all(Path("nowhere"), options={misspelt: "1"})


@pytest.mark.parametrize("name", DIALECTS)
def test_every_unknown_option_is_reported_at_once(name: str) -> None:
    with pytest.raises(UsageError, match=r"no option 'zzz'.*, 'qqq'"):
        DIALECTS[name]().read_all(Path("nowhere"), options={"zzz": "1", "qqq": "2"})
