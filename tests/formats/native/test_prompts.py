"""Prompts and vars as people write them, and every mistake with its place."""

import json
from pathlib import Path

import pytest

from proctor.core.prompt import put
from proctor.core.suite import CandidatePrompt, Message, Suite
from proctor.errors import SuiteError
from proctor.formats.native.dialect import Native
from proctor.formats.native.prompts import literal, prompts_in
from proctor.formats.native.writer import write_native

CASES = """\
cases:
  - {id: a, vars: {question: "Why?", n: 1.10}, context: [One., Two.], reference: x}
"""


def suite(folder: Path, text: str, **files: str) -> Suite:
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content, encoding="utf-8")
    path = folder / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    assert Native().recognises(path)
    return Native().read(path).suite


def problems(folder: Path, text: str, **files: str) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        suite(folder, text, **files)
    return [str(problem).replace(f"{folder}/", "") for problem in caught.value.problems]


def test_three_ways_to_write_a_prompt(tmp_path: Path) -> None:
    text = """\
prompts:
  plain: "{{question}}"
  strict: {file: strict.txt}
  grounded:
    - {role: system, content: "From the passages alone."}
    - {role: user, content: "{{context}}\\n\\n{{question}} {{n}}"}
"""
    read = suite(tmp_path, text + CASES, strict="Be strict.\n{{question}}\n")
    assert [prompt.name for prompt in read.prompts] == ["plain", "strict", "grounded"]
    (case,) = read.cases
    assert case.messages == (Message(role="user", content="Why?"),)
    assert case.vars == {"question": "Why?", "n": "1.10"}
    shown = [put(case, prompt).messages for prompt in read.prompts]
    assert shown[0][0].content == "Why?"
    assert shown[1][0].content == "Be strict.\nWhy?"
    assert [m.content for m in shown[2]] == [
        "From the passages alone.",
        "One.\n\nTwo.\n\nWhy? 1.10",
    ]


def test_prompts_in_a_list_are_named_by_file_or_number(tmp_path: Path) -> None:
    read = suite(tmp_path, 'prompts: ["{{question}}", {file: b.txt}]\n' + CASES, b="{{question}}!")
    assert [(p.name, p.text) for p in read.prompts] == [
        ("prompt-1", "{{question}}"),
        ("b", "{{question}}!"),
    ]


def test_parts_of_messages_are_texts_pictures_and_documents(tmp_path: Path) -> None:
    (tmp_path / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    text = """\
prompts:
  look:
    - role: user
      content:
        - {text: "{{question}}"}
        - {image: dot.png}
        - {image: "{{photo}}"}
        - {document: notes.txt}
cases:
  - id: a
    vars: {question: {file: q.txt}, photo: {image: dot.png}}
    reference: x
"""
    read = suite(tmp_path, text, notes="Keep {{this}}.", q="What is it?")
    (message,) = put(read.cases[0], read.prompts[0]).messages
    assert message.content == "What is it?\n\nnotes.txt:\nKeep {{this}}."
    assert len(message.images) == 2
    assert message.images[0] == message.images[1]
    assert message.images[0].startswith("data:image/png;base64,")


def test_pdf_documents_are_sent_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "terms.pdf").write_bytes(b"%PDF-1.7\n%%EOF\n")
    text = """\
prompts:
  read:
    - role: user
      content:
        - "{{question}}"
        - {document: terms.pdf}
        - {document: "{{contract}}"}
        - {document: "https://example.com/a.pdf"}
cases:
  - id: a
    vars: {question: "Which terms?", contract: {document: terms.pdf}, note: {document: note.txt}}
    reference: x
"""
    read = suite(tmp_path, text, note="Hello.")
    (message,) = put(read.cases[0], read.prompts[0]).messages
    assert message.content == "Which terms?"
    assert message.images[0] == message.images[1]
    assert message.images[0].startswith("data:application/pdf;base64,JVBERi0x")
    assert message.images[2] == "https://example.com/a.pdf"
    assert read.cases[0].vars["note"] == "Hello."


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pdf", b"Hello.", "'a.pdf' is no PDF"),
        ("b.pdf", b"%PDF-1.7", "there is no file 'a.pdf'"),
    ],
)
def test_what_is_no_pdf_is_an_error(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    text = "prompts: {p: [{role: user, content: [{document: a.pdf}]}]}\n" + CASES
    with pytest.raises(SuiteError, match=words):
        suite(tmp_path, text)


def test_vars_of_a_file_hold_for_all_of_its_cases(tmp_path: Path) -> None:
    text = """\
vars: {language: French, tone: kind}
prompts: {p: "{{language}} {{tone}} {{word}}"}
criteria: x
cases:
  - {id: a, vars: {word: sea}}
  - {id: b, vars: {word: sun, tone: rude}}
"""
    read = suite(tmp_path, text)
    shown = [put(case, read.prompts[0]).prompt for case in read.cases]
    assert shown == ["French kind sea", "French rude sun"]


def test_vars_are_columns_of_tables(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('id,vars.question,vars.rows,reference\na,Why?,"[1, 2]",x\n')
    read = suite(tmp_path, 'prompts: {p: "{{question}} {{rows | json}}"}\ncases: rows.csv\n')
    assert put(read.cases[0], read.prompts[0]).prompt == "Why? [1, 2]"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (
            '{p: "{{question.x}}"}',
            "suite.yaml:1:11: error: expected }} instead of '.x}}' (column 11",
        ),
        ("{p: {file: strict.txt}}", "strict.txt:2:7: error: expected }} instead of '(1)}}'"),
        ("{p: {file: gone.txt}}", "there is no file 'gone.txt'"),
        ("{p: {file: ../out.txt}}", "leads out of the suite's folder"),
        ("{p: 3.5, q: [{role: usr, content: x}]}", "there is no role 'usr'"),
        ("{p: [{role: user}]}", "the message has no content"),
        ("{p: [{role: user, content: x, name: y}]}", "unknown key 'name'"),
        ("{p: [{role: user, content: [{video: x}]}]}", "a part is {text: …}, {image: FILE}"),
        ("{p: [x]}", "a message is a mapping with role and content"),
        ("{p: []}", "the prompt has no messages"),
        ("{p: {text: x}}", "a prompt is a text, {file: PATH}, or a list of messages"),
        ("{}", "there are no prompts here"),
        ("7", "prompts are written by name"),
    ],
)
def test_mistakes_in_prompts(tmp_path: Path, written: str, expected: str) -> None:
    found = problems(tmp_path, f"prompts: {written}\n{CASES}", strict="First line.\n{{open(1)}}\n")
    assert any(expected in problem for problem in found), found


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[a]", "vars are written by name"),
        ("{a-b: 1}", "'a-b' is no name"),
        ("{a: {file: gone.txt}}", "there is no file 'gone.txt'"),
    ],
)
def test_mistakes_in_vars(tmp_path: Path, written: str, expected: str) -> None:
    found = problems(tmp_path, f"cases:\n  - {{vars: {written}, reference: x}}\n")
    assert any(expected in problem for problem in found), found


def test_a_suite_with_prompts_is_written_and_read_again(tmp_path: Path) -> None:
    read = suite(
        tmp_path, 'prompts:\n  p: "{{question}}"\n  q: [{role: user, content: "{{n}}"}]\n' + CASES
    )
    again = Native().read(write_native(read, tmp_path / "copy")).suite
    assert again.prompts == read.prompts
    assert again.cases[0].vars == read.cases[0].vars
    assert again.cases[0].messages == read.cases[0].messages


def test_a_file_is_one_prompt_or_several(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("{{question}}\n")
    (tmp_path / "b.yaml").write_text('- {role: user, content: "{{question}}"}\n')
    (tmp_path / "c.json").write_text(json.dumps({"one": "{{a}}", "two": "{{b}}"}))
    assert prompts_in(tmp_path / "a.txt") == (CandidatePrompt(name="a", text="{{question}}"),)
    message = Message(role="user", content="{{question}}")
    assert prompts_in(tmp_path / "b.yaml") == (CandidatePrompt(name="b", messages=(message,)),)
    assert [prompt.name for prompt in prompts_in(tmp_path / "c.json")] == ["one", "two"]
    with pytest.raises(SuiteError, match="there is no such file"):
        prompts_in(tmp_path / "gone.txt")


def test_a_text_can_be_made_literal() -> None:
    assert literal("a {{b}} {% c") == 'a {{"{{"}}b}} {{"{%"}} c'
