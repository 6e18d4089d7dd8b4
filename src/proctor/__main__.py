"""``python -m proctor``: the same as the command ``proctor``."""

import sys


def start() -> None:
    """Leave the working directory, which Python puts first, before anything else is imported."""
    if not sys.flags.safe_path:
        del sys.path[0]
    from proctor.cli.main import main

    main()


if __name__ == "__main__":
    start()
