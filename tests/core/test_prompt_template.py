"""Templates of prompts: what they come to, and where mistakes are."""

import pytest

from proctor.core.prompt_template import LONGEST, TemplateError, as_text, read_template

VALUES = {
    "question": "Why?",
    "context": ["First.", "Second."],
    "row": {"a": 1, "b": ["ü"]},
    "number": 4.5,
    "truth": True,
    "nothing": None,
    "empty": [],
    "code": "{{question}}",
}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("", ""),
        ("plain { text } with 100 % of it", "plain { text } with 100 % of it"),
        ("{{question}}", "Why?"),
        ("{{ question }}!", "Why?!"),
        ("{{question}}{{question}}", "Why?Why?"),
        ("{{context}}", "First.\n\nSecond."),
        ("{{context | join}}", "First., Second."),
        ('{{context | join(" / ")}}', "First. / Second."),
        ("{{context | join('\\n')}}", "First.\nSecond."),
        ("{{context|json}}", '["First.", "Second."]'),
        ("{{row | json}}", '{"a": 1, "b": ["ü"]}'),
        ("{{row}}", '{"a": 1, "b": ["ü"]}'),
        ("{{number}} {{truth}} {{nothing}}.", "4.5 true ."),
        ("{{number | json}} {{nothing | json}}", "4.5 null"),
        ("{{empty}}-{{empty | json}}", "-[]"),
        ("{% for p in context %}[{{index}}] {{p}}\n{% endfor %}", "[1] First.\n[2] Second.\n"),
        ("{% for p in empty %}{{p}}{% endfor %}.", "."),
        ("{% for p in context %}{{question}}{% endfor %}", "Why?Why?"),
        ('{{"{{"}}name}} {{"{%"}} {{"\\"\\t"}}', '{{name}} {% "\t'),
        ("{{code}}", "{{question}}"),
        ('{"a": {"b": 1}}', '{"a": {"b": 1}}'),
    ],
)
def test_what_a_template_comes_to(template: str, expected: str) -> None:
    assert read_template(template).fill(VALUES) == expected


@pytest.mark.parametrize(
    ("template", "message", "place"),
    [
        ("{{question.upper}}", "expected }} instead of '.upper}}'", (1, 11)),
        ("{{question()}}", "expected }} instead of '()}}'", (1, 11)),
        ("{{1 + 1}}", "nothing that is computed", (1, 1)),
        ("{{question + 1}}", "expected }} instead of", (1, 12)),
        ("{{context[0]}}", "expected }} instead of '[0]}}'", (1, 10)),
        ("a\n  {{question", "}} is missing", (2, 3)),
        ("{{}}", "stands a name", (1, 1)),
        ("{{question | upper}}", "there is no filter 'upper'", (1, 14)),
        ('{{question | json("x")}}', "'json' takes no text", (1, 19)),
        ('{{"\\x"}}', "there is no escape", (1, 3)),
        ("{% if question %}", "'for NAME in LIST'", (1, 1)),
        ("{% include 'x' %}", "'for NAME in LIST'", (1, 1)),
        ("{% for p in context %}", "no {% endfor %}", (1, 1)),
        ("x{% endfor %}", "without a loop", (1, 2)),
        ("{% for a in context %}{% for b in context %}", "inside another", (1, 23)),
        ("{% for a in context", "%} is missing", (1, 1)),
        ("x" * (LONGEST + 1), "more than 1,000,000", (1, 1)),
    ],
)
def test_mistakes_have_their_place(template: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(template)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == place


@pytest.mark.parametrize(
    ("template", "message", "hint"),
    [
        ("{{qestion}}", "no value named 'qestion'", "did you mean 'question'?"),
        ("{% for p in contxt %}{% endfor %}", "no value named 'contxt'", "'context'"),
        ("{% for p in context %}{{q}}{% endfor %}", "no value named 'q'", "known are: code"),
        ("{% for p in question %}{% endfor %}", "'question' is no list", ""),
        ("{{question | join}}", "'question' is no list", ""),
        ("{{index}}", "no value named 'index'", "known are"),
    ],
)
def test_values_that_are_missing(template: str, message: str, hint: str) -> None:
    with pytest.raises(TemplateError) as caught:
        read_template(template).fill(VALUES)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_names_are_known_before_anything_is_filled_in() -> None:
    template = read_template("{{a}}{% for x in b %}{{x}}{{index}}{{c}}{% endfor %}{{a}}")
    assert template.names == ("a", "b", "c")
    template.check(["a", "b", "c"])
    with pytest.raises(TemplateError, match="'c'"):
        template.check(["a", "b"])


def test_a_prompt_has_an_end() -> None:
    template = read_template("{% for x in many %}{{text}}{% endfor %}")
    values = {"many": [0] * 1000, "text": "x" * 1000}
    assert len(template.fill(values)) == LONGEST
    with pytest.raises(TemplateError, match="more than 1,000,000"):
        template.fill({**values, "text": "x" * 1001})


def test_nested_lists_are_joined() -> None:
    assert as_text(["a", ["b", 1]], "-") == "a-b-1"
