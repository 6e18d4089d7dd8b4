"""``python -m proctor``: the same as the command ``proctor``."""

from proctor.search_paths import forget_working_directory


def start() -> None:
    """Leave the working directory, which Python puts first, before anything else is imported."""
    forget_working_directory()
    from proctor.cli.main import main

    main()


if __name__ == "__main__":
    start()
