"""Lines about what an attempt did to its state, and what its user did."""

from proctor.reports.state_changes import state_changes, state_object, user_calls

NOTES = {
    "actions": [
        {"by": "assistant", "name": "pay", "arguments": {"n": 1}},
        {"by": "user", "name": "read_card", "arguments": {}, "result": "M-1"},
    ],
    "state": {
        "key": "k",
        "changes": [
            {"path": ["a", "b"], "before": 1, "after": 2},
            {"path": ["log", 0], "after": {"x": "é"}},
            {"path": ["c"], "before": "x" * 300},
        ],
    },
    "flags": [{"turn": 0, "kind": "EndedEarly"}],
}


def test_lines() -> None:
    assert user_calls(NOTES) == ["read_card() → M-1"]
    changed, new, gone = state_changes(NOTES)
    assert (changed, new) == ("a.b: 1 → 2", 'log[0]: new, {"x": "é"}')
    assert gone.startswith('c: "xxx')
    assert gone.endswith("… is gone")


def test_an_object_has_what_there_is() -> None:
    assert set(state_object(NOTES)) == {"actions", "state_changes", "simulator_flags"}
    assert state_object({}) == {}
    assert state_changes({"state": "odd"}) == []
    assert user_calls({"actions": "odd"}) == []
