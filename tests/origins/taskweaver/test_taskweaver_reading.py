"""TaskWeaver's case files of both generations: what they become, and what is wrong with them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from proctor.core.rounds import scored_part
from proctor.core.suite import Case
from proctor.engine.models.access import credentials_for
from proctor.errors import DialectError, SuiteError, UsageError
from proctor.origins.taskweaver.config import read_config
from proctor.origins.taskweaver.dialect import TaskWeaverDialect

OLD = """\
version: 0.1
app_dir: ../project
config_var:
  execution_service.kernel_mode: local
post_index: -1
eval_query:
  - user_query: add 2 and 3
    scoring_points:
      - score_point: The sum is 5
        weight: 1
      - score_point: The answer comes from the agent
        weight: 0.5
        eval_code: |-
          return agent_response["send_from"] == "Planner"
  - user_query: thank you
  - user_query: now double it
    post_index: null
    scoring_points:
      - {score_point: The result is 10, weight: 2}
"""
NEW = """\
app_dir: project
task_description: Let the agent find the mean of the column in data.csv.
dependencies: [numpy]
data_files: [data.csv, more]
pre_command: ["echo ready > note.txt"]
verbose: true
scoring_points:
  - score_point: The mean is 2.5
    weight: 1
  - score_point: The file has four rows
    weight: 3
    eval_code: assert len(open("data.csv").readlines()) == 5
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    folder = tmp_path / "cases"
    (folder / "mean" / "more").mkdir(parents=True)
    (folder / "sum10.yaml").write_text(OLD)
    (folder / "sum9.yaml").write_text(OLD)
    (folder / "notes.txt").write_text("no case")
    (folder / "mean" / "case.yaml").write_text(NEW)
    (folder / "mean" / "data.csv").write_text("x\n1\n2\n3\n4\n")
    (folder / "mean" / "more" / "a.txt").write_text("a")
    return folder


def read(path: Path, **options: str) -> Any:
    return TaskWeaverDialect().read_all(path, options=options)[0]


def by_id(path: Path, **options: str) -> dict[str, Case]:
    return {case.id: case for case in read(path, **options).suite.cases}


def test_a_folder_holds_cases_of_both_generations_in_the_order_of_people(cases: Path) -> None:
    assert TaskWeaverDialect().recognises(cases)
    reading = read(cases)
    assert [case.id for case in reading.suite.cases] == ["mean", "sum9.yaml", "sum10.yaml"]
    assert [measure.name for measure in reading.suite.measures] == [
        "hit_rate",
        "agent_failure_rate",
    ]


def test_fixed_queries(cases: Path) -> None:
    case = by_id(cases / "sum9.yaml")["sum9.yaml"]
    assert case.prompt == "add 2 and 3"
    assert (case.dialogue.name, case.dialogue.params) == (
        "scripted",
        {"then": ["thank you", "now double it"]},
    )
    assert [(c.id, c.turn, c.weight, c.scorer.name) for c in case.criteria] == [
        ("turn1.point1", 0, 1.0, "scoring_point"),
        ("turn1.point2", 0, 0.5, "eval_code"),
        ("turn3.point1", 2, 2.0, "scoring_point"),
    ]
    assert case.criteria[0].scorer.params == {"statement": "The sum is 5", "post_index": -1}
    assert case.criteria[2].scorer.params == {"statement": "The result is 10"}, "null is the round"
    assert case.setup == {
        "app_dir": str(cases.parent / "project"),
        "config_var": {"execution_service.kernel_mode": "local"},
    }


def test_a_task_for_a_virtual_user(cases: Path) -> None:
    for path in (cases / "mean", cases / "mean" / "case.yaml"):
        case = by_id(path)["mean"]
        assert case.messages == ()
        assert case.hidden["task"].startswith("Let the agent find")
        assert case.dialogue.params == {"max_rounds": 5, "verbose": True}
        assert [(c.turn, c.scorer.params.get("history")) for c in case.criteria] == [
            (None, True),
            (None, True),
        ]
        assert [file.name for file in case.files] == ["data.csv", "more/a.txt"]
        assert case.setup["dependencies"] == ["numpy"]
        assert case.setup["pre_command"] == ["echo ready > note.txt"]


def test_options(cases: Path) -> None:
    case = by_id(cases, stop_below="0.9", max_turns="7")
    assert case["sum9.yaml"].dialogue.params["stop_below"] == 0.9
    assert case["mean"].dialogue.params["max_rounds"] == 7
    with pytest.raises(UsageError, match="did you mean 'stop_below'"):
        read(cases, stop_bellow="1")
    with pytest.raises(UsageError, match="a share from 0 to 1, not 2"):
        read(cases, stop_below="2")


def test_compat_keeps_the_old_way_to_read_verdicts(cases: Path) -> None:
    suite = TaskWeaverDialect().read(cases / "sum9.yaml", compat="original").suite
    assert suite.compat == "original"
    kinds = {c.scorer.name: c.scorer.params.get("compat") for c in suite.cases[0].criteria}
    assert kinds == {"scoring_point": "original", "eval_code": None}


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("weight: 1\n", "weight: 0\n", 10, "expected more than 0"),
        ("weight: 1\n", "weight: -1\n", 10, "expected more than 0"),
        ("weight: 1\n", "weight: true\n", 10, "expected a number"),
        ("weight: 1\n", "weigth: 1\n", 10, "unknown key 'weigth'"),
        ("post_index: -1\n", "post_index: true\n", 5, "valid integer|whole number"),
        ("post_index: -1\n", "post_index: last\n", 5, "valid integer|whole number"),
        ("    post_index: null\n", "    post_index: 1.5\n", 17, "valid integer|whole number"),
        ("user_query: thank you", "user_query: ''", 15, "the text is empty"),
        ("user_query: thank you", "scoring_points: []", 15, "the list is empty"),
        ("score_point: The sum is 5", "score_point: 5", 9, "expected a string"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(
    cases: Path, old: str, new: str, line: int, message: str
) -> None:
    path = cases / "sum9.yaml"
    assert OLD.count(old) == 1
    path.write_text(OLD.replace(old, new))
    with pytest.raises(SuiteError, match=message) as caught:
        read(path)
    problem = next(p for p in caught.value.problems if re.search(message, p.message))
    assert (problem.file, problem.line) == (str(path), line)


def test_a_broken_case_is_told_and_the_others_go_on(cases: Path) -> None:
    (cases / "sum9.yaml").write_text(OLD.replace("weight: 1\n", "weight: 0\n"))
    (cases / "two").mkdir()
    for name in ("a.yaml", "b.yaml"):
        (cases / "two" / name).write_text(NEW)
    with pytest.raises(SuiteError) as caught:
        read(cases)
    assert len(caught.value.problems) == 2
    reading = read(cases, broken="skip")
    assert [case.id for case in reading.suite.cases] == ["mean", "sum10.yaml"]
    assert sorted(Path(str(p.file)).name for p in reading.warnings) == ["sum9.yaml", "two"]
    assert {p.severity for p in reading.warnings} == {"error"}


def test_unknown_first_keys_are_only_warned_of(cases: Path) -> None:
    path = cases / "sum9.yaml"
    path.write_text(OLD + "config_vars: {}\n")
    assert [str(w.hint) for w in read(path).warnings] == ["did you mean 'config_var'?"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../sum9.yaml", "lies outside"),
        ("none.csv", "there is no file"),
        ("/etc/passwd", "outside"),
    ],
)
def test_data_files_stay_in_the_folder_of_the_case(cases: Path, name: str, message: str) -> None:
    (cases / "mean" / "case.yaml").write_text(NEW.replace("data.csv, more", name))
    with pytest.raises(SuiteError, match=message):
        read(cases / "mean")


def test_links_out_of_a_data_folder_are_passed_over(cases: Path) -> None:
    (cases / "mean" / "more" / "out").symlink_to("/etc/hostname")
    assert [file.name for file in by_id(cases / "mean")["mean"].files] == ["data.csv", "more/a.txt"]


def test_neither_or_both_generations(cases: Path) -> None:
    path = cases / "sum9.yaml"
    path.write_text("app_dir: x\neval_query: [{user_query: a}]\ntask_description: b\n")
    with pytest.raises(SuiteError, match="either 'eval_query' or 'task_description'"):
        read(path)


ROUNDS = json.loads(
    (Path(__file__).parents[2] / "golden" / "taskweaver" / "rounds.json").read_text()
)


@pytest.mark.parametrize("generation", ["new_HEAD_d44ddef2", "seed_era_e9a0658a"])
def test_real_rounds_on_file(tmp_path: Path, generation: str) -> None:
    case = tmp_path / "c.yaml"
    case.write_text(
        "eval_query:\n"
        + "".join(
            f"  - user_query: q{n}\n    scoring_points: [{{score_point: s, weight: 1}}]\n"
            for n in range(3)
        )
    )
    suite = read(case).suite
    recorded = tmp_path / "rounds.json"
    recorded.write_text(json.dumps({"rounds": ROUNDS[generation]["rounds"]}))
    (attempt,) = TaskWeaverDialect().answers(recorded, suite)
    assert [m.role for m in attempt.messages] == ["assistant", "user", "assistant", "user"]
    assert attempt.notes["rounds"][1] == ROUNDS[generation]["rounds"][1], "kept as they are"
    parts = [scored_part(c, attempt) for c in suite.cases[0].criteria]
    assert parts[1].output == "The sum is 55."
    assert parts[2].error == "the agent failed: the round is failed"


def test_rounds_of_many_cases(cases: Path, tmp_path: Path) -> None:
    suite = read(cases).suite
    one = {"user_query": "q", "state": "finished", "post_list": []}
    rows = [{"case": "sum9", "rounds": [one]}, {"case": "mean", "rounds": []}]
    path = tmp_path / "rounds.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[0]]))
    found = [(a.case_id, a.index, a.status.value) for a in TaskWeaverDialect().answers(path, suite)]
    assert found == [("sum9.yaml", 0, "answered"), ("mean", 0, "unanswered"),
                     ("sum9.yaml", 1, "answered")]  # fmt: skip
    path.write_text('{"case": "mean", "rounds": [{"post_list": 5}]}\n')
    with pytest.raises(DialectError, match="an object with a post_list"):
        list(TaskWeaverDialect().answers(path, suite))
    single = tmp_path / "rounds.json"
    single.write_text("[]")
    with pytest.raises(DialectError, match="rounds of one case, and there are 3"):
        list(TaskWeaverDialect().answers(single, suite))


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ({"llm.api_type": "openai", "llm.model": "m", "llm.api_base": "http://h:1/v1"},
         "openai:m@http://h:1/v1"),
        ({"llm.model": "m"}, "openai:m"),
        ({"llm.api_type": "azure", "llm.model": "d", "llm.api_base": "https://x.azure.com/",
          "llm.api_version": "2024-02-01"}, "azure:d@https://x.azure.com?api-version=2024-02-01"),
        ({"llm.api_type": "google_ai", "llm.model": "g"},
         "openai:g@https://generativelanguage.googleapis.com/v1beta/openai"),
        ({"llm.api_type": "azure_ml", "llm.api_base": "https://e/v1"}, "openai:none@https://e/v1"),
    ],
)  # fmt: skip
def test_the_evaluators_own_settings(tmp_path: Path, given: dict[str, str], spec: str) -> None:
    path = tmp_path / "evaluator_config.json"
    path.write_text(json.dumps({"llm.api_key": "secret", "virtual_user.max_rounds": 9, **given}))
    found = read_config(path, {})
    assert {name: choice.spec for name, choice in found.roles.items()} == {
        "judge": spec,
        "simulator": spec,
    }
    assert credentials_for(found.roles["judge"], "judge").key == "secret"
    assert "secret" not in repr(found)
    assert found.max_rounds == 9


def test_an_environment_variable_of_the_same_name_wins(tmp_path: Path) -> None:
    path = tmp_path / "evaluator_config.json"
    path.write_text('{"llm.model": "file", "llm.api_base": ""}')
    found = read_config(path, {"llm.model": "mine", "llm.api_key": "k"})
    judge = found.roles["judge"]
    assert (judge.spec, credentials_for(judge, "judge").key) == ("openai:mine", "k")


@pytest.mark.parametrize("kind", ["openai", "azure", "azure_ml", "google_ai"])
@pytest.mark.parametrize("key_in", ["file", "environment"])
def test_a_key_does_not_go_to_an_address_of_another_source(
    tmp_path: Path, kind: str, key_in: str
) -> None:
    path = tmp_path / "evaluator_config.json"
    shared = {"llm.api_type": kind, "llm.model": "m", "llm.api_version": "1"}
    key, address = {"llm.api_key": "the-key"}, {"llm.api_base": "https://elsewhere.example/v1"}
    written, given = (key, address) if key_in == "file" else (address, key)
    path.write_text(json.dumps({**shared, **written}))
    judge = read_config(path, given).roles["judge"]
    with pytest.raises(UsageError) as caught:
        credentials_for(judge, "judge")
    for word in (str(path), f"the environment variable {next(iter(given))}", "--judge"):
        assert word in str(caught.value)
    assert "the-key" not in str(caught.value)
    path.write_text(json.dumps(shared))
    both = read_config(path, {**key, **address}).roles["judge"]
    assert credentials_for(both, "judge").key == "the-key"


def test_google_s_own_address_is_nobody_s_choice(tmp_path: Path) -> None:
    path = tmp_path / "evaluator_config.json"
    path.write_text('{"llm.api_type": "google_ai", "llm.model": "g"}')
    judge = read_config(path, {"llm.api_key": "k"}).roles["judge"]
    assert credentials_for(judge, "judge").key == "k"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"llm.api_type": "bard"}', "one of 'openai'"),
        ('{"llm.modle": "x"}', "unknown key 'llm.modle'"),
        ('{"llm.api_type": "azure", "llm.model": "d"}', "needs llm.api_base, llm.api_version"),
        ('{"llm.model": "m", "llm.api_base": "ftp://x"}', "no address of a server"),
        ('{"llm.model": "m@https://elsewhere.example/v1"}', "holds an address"),
        ('{"llm.model": "m", "llm.api_base": "https://u:pw@x"}', "no address of a server"),
        ("[]", "a JSON object"),
        ('{"virtual_user.max_rounds": 0}', "expected 1 or more"),
    ],
)
def test_wrong_settings_are_told(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "evaluator_config.json"
    path.write_text(text)
    with pytest.raises(SuiteError, match=message) as caught:
        read_config(path, {})
    assert "pw" not in str(caught.value)


BROKEN_CODE = """\
eval_query:
  - user_query: hello
    scoring_points:
      - score_point: The agent greets
        weight: 1
        eval_code: |-
          # looks at the words
          if "hello" in agent_response["message"]
            return True
          return False
      - {score_point: It is short, weight: none}
  - user_query: bye
    scoring_points:
      - {score_point: The agent parts, weight: 1, eval_code: "return ("}
"""


def test_code_that_is_not_python_is_told_with_its_line_beside_all_else_that_is_wrong(
    tmp_path: Path,
) -> None:
    (tmp_path / "greets.yaml").write_text(BROKEN_CODE)
    with pytest.raises(SuiteError) as caught:
        read(tmp_path / "greets.yaml")
    places = [(problem.line, problem.field) for problem in caught.value.problems]
    assert places == [
        (11, "eval_query[0].scoring_points[1].weight"),
        (8, "eval_query[0].scoring_points[0].eval_code"),
        (14, "eval_query[1].scoring_points[0].eval_code"),
    ]
    message = caught.value.problems[1].message
    assert message == "the code is not Python: expected ':'"
    assert 'if "hello" in agent_response' in caught.value.problems[1].excerpt
    assert "never closed (line 1)" in caught.value.problems[2].message


@pytest.mark.parametrize(
    ("code", "line", "told"),
    [
        ("|-\n      x = 1\n      retrun (\n", 7, "never closed"),
        ("|\n\n      x = = 1\n", 7, "invalid syntax"),
        (">-\n      x = 1\n      y = 2 +\n", 5, "invalid syntax"),
        ("'x = ='\n", 5, "invalid syntax"),
        ("|-\n      break\n", 6, "outside loop"),
        ("|-\n      # nothing\n", 5, "the code is empty"),
        ('"x = 1\\0"\n', 5, "not Python"),
    ],
)
def test_the_line_of_code_in_every_way_to_write_it(
    tmp_path: Path, code: str, line: int, told: str
) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    points = f"scoring_points:\n  - score_point: it is so\n    weight: 1\n    eval_code: {code}"
    (folder / "case.yaml").write_text(f"task_description: do it\n{points}")
    with pytest.raises(SuiteError) as caught:
        read(folder)
    (problem,) = caught.value.problems
    assert (problem.line, told in problem.message) == (line, True), str(problem)


def test_a_batch_leaves_out_the_case_whose_code_is_not_python(cases: Path) -> None:
    (cases / "greets.yaml").write_text(BROKEN_CODE)
    reading = read(cases, broken="skip")
    assert [case.id for case in reading.suite.cases] == ["mean", "sum9.yaml", "sum10.yaml"]
    assert [problem.line for problem in reading.warnings] == [11, 8, 14]
