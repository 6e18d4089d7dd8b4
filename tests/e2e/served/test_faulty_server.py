"""A server that is busy, breaks, hangs and stutters: the run is complete, the numbers the same."""

from collections import Counter
from typing import Any

import pytest

from proctor.testing import Fault, Rule

RULES = [
    Rule(fault=Fault("rate_limit", retry_after=0.05), rate=0.20),
    Rule(fault=Fault("error", status=500), rate=0.05),
    Rule(fault=Fault("hang"), rate=0.02),
    Rule(fault=Fault("broken_json"), rate=0.02),
]
MORE = [
    Rule(fault=Fault(kind, seconds=0.1), rate=0.03)
    for kind in ("cut_off", "wrong_type", "drip", "reset", "no_choices", "late")
]


@pytest.mark.parametrize(
    ("examination", "rules"),
    [(80, RULES), (40, MORE)],
    indirect=["examination"],
    ids=["busy", "broken"],
)
@pytest.mark.slow
def test_the_numbers_are_those_of_a_server_without_faults(examination: Any, rules: Any) -> None:
    with examination.server() as calm:
        wanted = examination.numbers(examination.run(examination.args(calm, "calm.db")))
    with examination.server(rules=rules, seed=3) as server:
        made = examination.run(examination.args(server, "faulty.db", "--timeout", "2"))
    assert made["run"]["status"] == "complete"
    assert examination.numbers(made) == wanted
    met = Counter(call.fault for call in server.calls)
    assert set(met) == {"", *(rule.fault.kind for rule in rules)}
    assert examination.bought_again(server.calls) == []
    assert server.finished_twice() == []
