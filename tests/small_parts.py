"""The command ``proctor`` with large runs in parts of a thousand cases, so that few rows have many."""

from proctor.cli.main import main
from proctor.engine.bulk import inputs

if __name__ == "__main__":
    inputs.PART = 1_000
    main()
