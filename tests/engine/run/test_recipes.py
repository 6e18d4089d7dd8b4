"""Recipes by name."""

from proctor.engine.run.recipes import recipe_names, recipe_path


def test_names_and_paths() -> None:
    names = recipe_names()
    assert len(names) >= 15
    assert "gsm8k" in names
    assert list(names) == sorted(names)
    for name in names:
        path = recipe_path(name)
        assert path is not None
        assert path.is_file()


def test_no_other_file_is_a_recipe() -> None:
    for name in ("", "gsm9k", "../recipes/gsm8k", "gsm8k.yaml", "__init__"):
        assert recipe_path(name) is None
