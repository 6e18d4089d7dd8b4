"""Make the pictures of README and pages from the tour: ``make pictures``, with a browser."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAIR = "run=tour-small-plain&run=tour-large-plain"
GRID = "&".join(
    f"run=tour-{model}-{how}" for model in ("small", "large") for how in ("plain", "strict")
)
PICTURES = {
    "home": ("/", 760),
    "run": ("/runs/tour-small-plain", 700),
    "live": ("/runs/tour-live-1", 560),
    "case": ("/runs/tour-small-plain/cases/list-alias", 760),
    "agent": ("/runs/tour-agent/cases/chart", 700),
    "compare": (f"/compare?{PAIR}", 860),
    "grid": (f"/grid?{GRID}", 760),
    "battle": (f"/battles?{PAIR}", 560),
    "label": ("/runs/tour-small-plain/label?criterion=right&author=me", 640),
}
"""Address and height of each picture; the width is the same."""
WIDTH = 1200


@contextmanager
def tour() -> Iterator[str]:
    """Fill a store of its own, serve it, and return the address."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "proctor.cli.main", "demo", "--tour", "--port", "0"]
        environment = {**os.environ, "PROCTOR_STORE": str(Path(folder) / "tour.db")}
        served = subprocess.Popen(  # noqa: S603 - this very program
            command, stdout=subprocess.PIPE, text=True, env=environment, cwd=folder
        )
        assert served.stdout is not None
        try:
            for line in served.stdout:
                if line.startswith("http://"):
                    yield line.strip().rstrip("/")
                    break
            else:
                sys.exit("the tour could not be served")
        finally:
            served.send_signal(signal.SIGINT)
            served.wait()


def write(address: str, folder: Path) -> None:
    """Write all pictures into a folder."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(locale="en-GB", timezone_id="UTC", color_scheme="light")
        for name, (path, height) in PICTURES.items():
            page.set_viewport_size({"width": WIDTH, "height": height})
            page.goto(f"{address}{path}")
            _settle(page, name)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()


def _settle(page: Any, name: str) -> None:
    page.wait_for_load_state("networkidle" if name != "live" else "load")
    if name == "live":
        page.locator(".latest li").nth(8).wait_for(timeout=60_000)


def main() -> int:
    """Write the pictures below docs/images, or into the folder that is named."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "images"
    folder.mkdir(parents=True, exist_ok=True)
    with tour() as address:
        write(address, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
