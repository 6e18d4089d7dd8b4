"""The signature of a run: parts that are shown as a line, and read from the lines of old stores."""

import pickle
from pathlib import Path

from proctor.core.run import Run, Signature
from proctor.core.suite import Spec
from proctor.store.store import Store

LINE = "suite:a|b: c@1|scorers:x-1,y-2+1.0-rc|judge:openai:gpt|n:3|version:0.1.0"
PARTS = {
    "suite": "a|b: c@1",
    "scorers": {"x": "1", "y": "2+1.0-rc"},
    "judge": "openai:gpt",
    "n": "3",
    "version": "0.1.0",
}


def test_parts_are_rendered_as_a_line() -> None:
    made = Signature.of({**PARTS, "n": 3, "compat": "", "unscored": ""})
    assert made == LINE
    assert made.parts == PARTS
    assert pickle.loads(pickle.dumps(made)).parts == PARTS


def test_the_line_of_an_old_store_is_read() -> None:
    assert Signature.read(LINE).parts == PARTS
    assert Signature.read("").parts == {}
    assert Signature.read("no signature at all").scorers == {}
    assert Signature.of({"scorers": 5}).scorers == {}


def test_what_no_line_could_tell_apart_comes_back_from_a_store(tmp_path: Path) -> None:
    """A name with separators in it, which a reader of the line would split."""
    signed = Signature.of({"suite": "s|n:7", "scorers": {"a-b,c": "1-2"}, "n": 3})
    assert Signature.read(str(signed)).parts != signed.parts
    with Store.open(str(tmp_path / "proctor.db")) as store:
        run = Run(
            id="r", name="r", suite="s", suite_key="", candidate=Spec(name="m"), signature=signed
        )
        store.runs.save(run)
        back = store.runs.get("r")
    assert (back.signature, back.signed.parts) == (signed, signed.parts)
