"""Cases of a run in parts: scores that equal answers share, and keys of attempts."""

from parts_runs import put_run
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import answer_key
from proctor.core.score import Score
from proctor.store.parts import layout
from proctor.store.parts.files import RUN
from proctor.store.parts.layout import ATTEMPTS, RESULTS
from proctor.store.parts.ledger import RunPart
from proctor.store.parts.linked import PartLinks
from proctor.store.rows import LinkedCase, Positions
from proctor.store.store import Store


def test_equal_answers_share_their_equal_scores_and_a_models_attempt_has_its_key(
    store: Store,
) -> None:
    run = put_run(store)
    (_, _, case), *_ = store.suites.iter_cases(run.suite_key)
    score = Score(points=0.5, out_of=1.0, detail={"usage": {"calls": 1}})
    attempts = [
        (Attempt.of(case.id, text, index=index), {"k": score})
        for index, text in enumerate(("same", "same", "other"))
    ]
    folder = store.parts.folder
    assert folder is not None
    place = folder.new_place(RUN, run.id, 0)
    columns = layout.columns_of_attempts([LinkedCase(0, case, attempts)], {(0, 2): "its key"})
    results = layout.columns_of_results(store.results.iter_rows(run.id, limit=1))
    size = folder.write(place, ATTEMPTS, layout.attempt_table(columns))
    size += folder.write(place, RESULTS, layout.result_table(results))
    part = RunPart(number=0, first=0, cases=1, attempts=3, scores=3, place=place, size=size)
    store.parts.commit(run.id, part)
    (linked,) = store.attempts.iter_cases(run.id)
    first, second, third = (scores["k"] for _, scores in linked.attempts)
    assert first is second
    assert first == third
    assert first is not third
    (keys,) = store.attempts.iter_keys(run.id)
    assert keys[0].attempt_key == answer_key(case, attempts[0][0])
    assert keys[2].attempt_key == "its key"
    assert len({one.score_keys["k"] for one in keys}) == 3


def test_a_case_that_is_gone_has_a_notice_in_its_place(store: Store) -> None:
    from proctor.store.parts.moving import move_to_parts

    run = put_run(store)
    move_to_parts(store, run.id)
    home = store.homes.run(run.id)
    assert home is not None
    (linked,) = PartLinks(home, lambda _: {}).cases(Positions(3, 3))
    assert linked.case.id == "case 4"
    assert "not in the store any more" in linked.case.messages[0].content
    assert linked.attempts[0][0].output == "answer 3"
