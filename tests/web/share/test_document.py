"""The shared page: what is in the file, and what it refuses."""

import base64
import hashlib
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from proctor.cli.main import cli
from proctor.store.store import Store
from proctor.web.share import data, document


@pytest.fixture(scope="module")
def store_path(tmp_path_factory: pytest.TempPathFactory, put_run: Any, examined: Any) -> str:
    path = str(tmp_path_factory.mktemp("share") / "p.db")
    with Store.open(path) as store:
        for name, right in (("old", 4), ("new", 8)):
            put_run(
                store, name, [examined.plain(f"c{n:02}", name, float(n < right)) for n in range(12)]
            )
    return path


def export(store_path: str, *args: str) -> Any:
    return CliRunner().invoke(cli, ["export", *args, "--store", store_path])


def block(text: str, name: str) -> Any:
    found = re.search(rf'<script type="application/octet-stream" id="{name}">(.*?)</script>', text)
    assert found is not None
    return json.loads(zlib.decompress(base64.b64decode(found[1])))


def test_one_run(store_path: str, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "report.html"
    made = export(store_path, "old", "--out", str(out), "--json")
    assert made.exit_code == 0, made.output
    said = json.loads(made.stdout)
    assert said["runs"] == ["old"]
    assert (said["rows"], said["bytes"]) == (12, out.stat().st_size)
    head = block(out.read_text("utf-8"), "head")
    assert "compared" not in head
    assert [row[0] for row in head["runs"][0]["rows"]] == [f"c{n:02}" for n in range(12)]
    assert head["runs"][0]["totals"]["rate"] == pytest.approx(4 / 12)


def test_two_runs_are_compared_and_share_their_questions(store_path: str, tmp_path: Path) -> None:
    out = tmp_path / "both.html"
    assert export(store_path, "old", "new", "--out", str(out)).exit_code == 0
    text = out.read_text("utf-8")
    head = block(text, "head")
    assert head["compared"]["en"].keys() == {"0-1", "1-0"}
    assert "+33.3" in json.dumps(head["compared"]["en"]["0-1"])
    assert "−33.3" in json.dumps(head["compared"]["zh"]["1-0"], ensure_ascii=False)
    assert len(block(text, "asked-0")) == 12
    assert [row[-1] for row in head["runs"][1]["rows"]] == list(range(12))
    assert 'id="asked-1"' not in text


def test_only_our_own_script_and_style_may_run(store_path: str, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    export(store_path, "old", "--out", str(out))
    text = out.read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for tag, count in (("script", 2), ("style", 1)):
        inline = re.findall(rf"<{tag}(?: type=\"module\")?>(.*?)</{tag}>", text, re.S)
        assert len(inline) == count
        allowed = re.search(rf"{tag}-src ([^;]*)", html.unescape(policy[1]))
        assert allowed is not None
        for one in inline:
            digest = base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in allowed[1].split()
    assert "default-src &#x27;none&#x27;" in policy[1]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", text)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["old", "old", "new", "new", "old"], "1 to 4 runs"),
        (["old", "old"], "twice"),
        (["old", "--lang", "fr"], "en or zh"),
        (["nobody"], "nobody"),
    ],
)
def test_what_cannot_be_shared(
    store_path: str, tmp_path: Path, args: list[str], words: str
) -> None:
    out = tmp_path / "r.html"
    made = export(store_path, *args, "--out", str(out))
    assert made.exit_code != 0
    assert words in f"{made.output} {made.exception}"
    assert not list(tmp_path.iterdir())


def test_options_of_pages_are_for_pages(store_path: str, tmp_path: Path) -> None:
    made = export(store_path, "old", "--limit", "2", "--out", str(tmp_path / "r.jsonl"))
    assert "--limit is for pages" in f"{made.output} {made.exception}"


def test_a_limit_keeps_the_numbers_of_all(store_path: str, tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    assert export(store_path, "old", "--limit", "5", "--out", str(out)).exit_code == 0
    run = block(out.read_text("utf-8"), "head")["runs"][0]
    assert (len(run["rows"]), run["totals"]["cases"]) == (5, 12)


def test_too_large_a_page_says_what_to_do(
    store_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document, "MOST_BYTES", 40_000)
    out = tmp_path / "r.html"
    made = export(store_path, "old", "new", "--out", str(out))
    assert "--limit N" in f"{made.output} {made.exception}"
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(document, "MOST_BYTES", 10**9)
    monkeypatch.setattr(document, "MANY_BYTES", 1000)
    assert "opens slowly" in export(store_path, "old", "--out", str(out)).output


def test_both_languages_have_all_words() -> None:
    words = json.loads(Path(data.__file__).with_name("words.json").read_text("utf-8"))
    assert words["en"].keys() == words["zh"].keys()
    known = {f"share.{key}" for key in words["en"]} | document._web_words("en").keys()
    script = document._script()
    used = set(re.findall(r'\bt\("([\w.]+)"', script))
    assert used - known == set()
    unused = {key for key in words["en"] if f"share.{key}" not in script}
    assert unused == {"no_script", "old_browser"}


def test_all_our_scripts_are_small() -> None:
    web = Path(data.__file__).parent.parent
    scripts = [*web.glob("static/*.js"), *web.glob("share/*.js")]
    assert sum(script.stat().st_size for script in scripts) <= 60_000


def test_a_page_is_much_smaller_than_its_texts(tmp_path: Path, put_run: Any, examined: Any) -> None:
    text = " ".join(f"the word {number} of a long answer" for number in range(2000))
    with Store.open(str(tmp_path / "p.db")) as store:
        put_run(store, "long", [examined.plain(f"c{n}", f"{n} {text}", 1.0) for n in range(20)])
    out = tmp_path / "long.html"
    assert export(str(tmp_path / "p.db"), "long", "--out", str(out)).exit_code == 0
    assert out.stat().st_size < 20 * len(text) / 3
    came = block(out.read_text("utf-8"), "came-0-0")
    assert len(came[0]["attempts"][0]["turns"][0]["text"][0]) > len(text)
