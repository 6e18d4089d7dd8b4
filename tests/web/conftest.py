"""Stored runs for tests of pages: what each case came to is written down, nobody is asked."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from browsing import chromium, new_page, served
from needs import unmet
from proctor.core.attempt import Attempt
from proctor.core.fingerprint import case_key, suite_key
from proctor.core.rounds import FILES, ROUNDS, Attachment, Post, Round
from proctor.core.run import Run, RunStatus
from proctor.core.score import Score
from proctor.core.suite import Case, Criterion, Message, Spec, Suite, ToolCall
from proctor.engine.models.proxy_call import ProxyCall
from proctor.engine.run.aggregate import case_result, fold_of, sort_keys
from proctor.engine.run.candidate_calls import candidate_calls
from proctor.engine.run.totals import RunTotals
from proctor.store.rows import CallRow, ResultRow, RunAttempt
from proctor.store.store import Store

HOSTILE = [
    "<script>alert(1)</script>",
    "</pre><script>alert(1)</script>",
    "</textarea><script src=//evil.example/x.js></script>",
    "<img src=x onerror=alert(1)>",
    "<IMG SRC=\"x\" ONERROR='alert(1)'/>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<math><mtext><style><img src=x onerror=alert(1)></style>",
    "[click](javascript:alert(1))",
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=evil.swf></object><embed src=evil.swf>",
    "<form action=//evil.example><button>go</button></form>",
    "<base href=//evil.example/>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>*{display:none}</style>",
    "\" onmouseover=\"alert(1)\" x=\"",
    "' onfocus='alert(1)' autofocus='",
    "{{ 7 * 7 }}{% for x in ().__class__ %}{% endfor %}",
    "<!-- --><script>alert(1)</script><!--",
    "<![CDATA[<script>alert(1)</script>]]>",
    "\u202egnp.exe\u202c and \u2066isolated\u2069",
    "nul \x00 escape \x1b[31m bell \x07 delete \x7f",
    "half a pair \ud800 and \udfff",
    "zero\u200bwidth \ufeffmark \u2028line",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
    "1 MB " + "x" * 1_000_000,
    "**a** [x](javascript:alert(1)) ![y](javascript:alert(1)) <javascript:alert(1)>",
    "*a* ![p](//evil.example/pixel.png \"t\" onerror=alert(1)) ![q](http://evil.example/q.svg)",
    "*a* [d](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "```html\n<script>alert(1)</script>\n```\n\n~~~\"><img src=x onerror=alert(1)>\ncode\n~~~",
    r"$\href{javascript:alert(1)}{x}$ and $\text{<img src=x onerror=alert(1)>}$",
    r"$$\class{x\" onclick=\"alert(1)}{y} \style{position:fixed}{z} <svg onload=alert(1)>$$",
    "| <b>a</b> | [l](vbscript:alert(1)) |\n|---|---|\n| <img src=x onerror=alert(1)> | b |",
    '{"<img src=x onerror=alert(1)>": ["</pre><script>alert(1)</script>", "\\u003cscript>"]}',
    "..\\../etc/passwd\"><script>alert(1)</script>.html",
    "[c][r] &lt;script&gt; &#60;img src=x onerror=alert(1)&#62; \ue0000\ue001\n\n[r]: javascript:alert(1) 'x'",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Examined:
    """Hold a case, the attempts at it, and their scores."""

    case: Case
    attempts: tuple[Attempt, ...]
    scores: tuple[dict[str, Score], ...]

    @classmethod
    def plain(cls, name: str, output: str, points: float, **more: Any) -> "Examined":
        """Make a case with one criterion that a judge decided."""
        criterion = Criterion(id="fits", scorer=Spec(name="judged", params={"question": "Is it?"}))
        made = Case(
            id=name,
            messages=(Message(role="user", content=more.pop("ask", f"{name}?")),),
            criteria=(criterion,),
            tags={"kind": ("odd",)},
        )
        detail = more.pop("detail", {"raw": ["a raw reply"], "rung": "schema", "tries": 1})
        score = Score(points=points, out_of=1.0, reason="because", detail=detail)
        return cls(
            case=replace(made, **more),
            attempts=(Attempt.of(name, output),),
            scores=({"fits": score},),
        )

    @classmethod
    def hostile(cls, number: int, text: str) -> "Examined":
        """Make a case in which everything that can be a text is that text."""
        name, some = f"case {number}", text[:3000]
        known = Message(role="user", content=text, thinking=some, images=(text[:200],))
        linked = "https://pictures.example/a.png"
        answer = Message(
            role="assistant",
            content=text,
            thinking=some,
            images=(linked, some),
            tool_calls=(ToolCall(name=text[:200], arguments={text: [some]}),),
        )
        detail = {
            "raw": [some],
            "rules": [{"keyword": some, "status": "match", "points": 1, "spans": [[0, 5], [3, 9]]}],
            "tests": [{"passed": False, "result": some, "line": 1, "seconds": 0.5, "stdout": some,
                       "stderr": some, "program": some}],
            "blanks": [{"text": some, "target": some, "points": 0, "line": some, "span": [0, 1]}],
            "panel": [{"points": 0, "reason": some, "raw": [some]}],
            some: some,
        }  # fmt: skip
        ledger = {"points": [some], "covered": [[True]], "asked": [[True]], "first": [1]}
        notes = {"reason": some, "ledger": ledger, "flags": [{"turn": 1, "kind": some}],
                 "turns": [{"turn": 1, "raw": [some]}], "context": [some],
                 FILES: [{some[:200]: None}]}  # fmt: skip
        if number % 2:
            steps = (Attachment(type="code", content=some), Attachment(type=some, content=some))
            step = Post(message=some, send_from=some[:50], send_to=some[:50], attachments=steps,
                        id=some[:50])  # fmt: skip
            inner = Post(message=some, send_from="Planner", send_to=some[:50], parent=some[:50])
            called = ProxyCall(
                path=some, model=some, request_messages=[{"role": some, "content": some}],
                reply_text=text[:2999], settings={some: some},
                tools=({"name": some, "arguments": some},),
            )  # fmt: skip
            notes[ROUNDS] = [Round.failed(some, some, [called.post, step, inner]).to_json()]
        made = cls.plain(name, text, 0.0)
        criterion = replace(
            made.case.criteria[0], scorer=Spec(name="judged", params={"question": some})
        )
        return cls(
            case=replace(
                made.case, messages=(known,), references=(some,), context=(some,),
                hidden={some: some}, tags={"odd": (some,)}, criteria=(criterion,),
            ),
            attempts=(Attempt(case_id=name, messages=(known, answer), notes=notes),),
            scores=({"fits": Score(points=0.0, out_of=1.0, reason=some, detail=detail)},),
        )  # fmt: skip


def store_run(
    store: Store,
    name: str,
    examined: Sequence[Examined],
    candidate: Spec | None = None,
    suite_name: str = "quiz",
) -> Run:
    """Store a finished run, summed up as the engine does it."""
    cases = tuple(one.case for one in examined)
    suite = Suite(name=suite_name, cases=cases)
    key = suite_key(suite, [case_key(case) for case in cases])
    store.suites.put(suite, key, [(case_key(case), case) for case in cases])
    candidate = candidate or Spec(name="recorded", params={"name": name})
    run = Run(id=name, name=name, suite=suite_name, suite_key=key, candidate=candidate)
    run = replace(run, status=RunStatus.COMPLETE)
    store.runs.save(run)
    summer = RunTotals(interval="t")
    rows = []
    for place, one in enumerate(examined):
        _put(store, run.id, place, one)
        pairs = list(zip(one.attempts, one.scores, strict=True))
        result = case_result(fold_of(suite), one.case, pairs)
        summer.add(result)
        folded = result.folded
        rows.append(
            ResultRow(
                position=place, case_id=one.case.id, status=folded.status, value=folded.value,
                full=one.case.full_score, weight=one.case.weight, low=folded.low, high=folded.high,
                spread=folded.spread, tags=one.case.tags, sort_keys=sort_keys(result),
            )
        )  # fmt: skip
    store.results.put(run.id, rows)
    store.summaries.save(run.id, summer.summary().to_json())
    return run


def _put(store: Store, run_id: str, place: int, one: Examined) -> None:
    links = []
    for attempt, scores in zip(one.attempts, one.scores, strict=True):
        at = f"{run_id}-{place}-{attempt.index}"
        store.attempts.put([(at, attempt)])
        keys = {name: f"{at}-{name}" for name in scores}
        store.scores.put((keys[name], "judged", score) for name, score in scores.items())
        links.append(
            RunAttempt(position=place, index=attempt.index, attempt_key=at, score_keys=keys)
        )
    store.attempts.link(run_id, links)


@dataclass
class KeyNotes:
    """A store that notes which calls are looked up in it."""

    keys: list[str]

    @property
    def calls(self) -> "KeyNotes":
        """Give what calls are looked up in."""
        return self

    def get_many(self, keys: Sequence[str]) -> dict[str, Any]:
        """Note the keys, and find nothing."""
        self.keys += keys
        return {}


def store_calls(store: Store, run: Run, case: Case, attempt: Attempt, *texts: str) -> None:
    """Store the calls that gave the replies of an attempt, with texts of one's own in them."""
    noted = KeyNotes([])
    candidate_calls(noted, run, case, attempt)  # type: ignore[arg-type]
    store.calls.put(
        CallRow(
            key=key, model=text, request={"messages": [{"role": text, "content": text}], text: text},
            response={"text": text, text: [text]}, usage={}, cost=0.5, seconds=1.5, created=1.0,
        )
        for key, text in zip(noted.keys, texts, strict=True)
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _time_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every page search to its end, however busy the machine is."""
    monkeypatch.setattr("proctor.web.store_pool.SEARCH_SECONDS", 60.0)
    monkeypatch.setattr("proctor.store.pairs.SECONDS", 60.0)
    monkeypatch.setattr("proctor.store.grids.SECONDS", 60.0)


@pytest.fixture(scope="session")
def put_calls() -> Callable[..., None]:
    """Give the function that stores the calls of a candidate."""
    return store_calls


@pytest.fixture(scope="session")
def put_run() -> Callable[..., Run]:
    """Give the function that stores a finished run."""
    return store_run


@pytest.fixture(scope="session")
def examined() -> type[Examined]:
    """Give what makes cases with attempts and scores."""
    return Examined


@pytest.fixture(scope="session")
def hostile() -> list[str]:
    """Give forty texts that would like to do something on a page."""
    assert len(HOSTILE) == 40
    return HOSTILE


@pytest.fixture(scope="module")
def address(place: str) -> Iterator[str]:
    """Serve the pages of a module's store on loopback."""
    from proctor.web.app import make_app

    with served(make_app(place)) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Open the chromium of this machine."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """Give a page that fails the test for any script, error or request of a stranger's."""
    wrong: list[str] = []
    with new_page(browser, base_url=address) as opened:
        opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        opened.on("pageerror", lambda error: wrong.append(str(error)))
        opened.on("dialog", lambda dialog: wrong.append(f"a dialog: {dialog.message}"))
        opened.on(
            "request",
            lambda asked: None if asked.url.startswith(address) else wrong.append(asked.url),
        )
        yield opened
    assert wrong == []


@pytest.fixture(scope="session")
def axe() -> str:
    """Give the source of axe-core, which finds what keeps people from using a page."""
    folders = [Path(one) for one in os.environ.get("NODE_PATH", "").split(os.pathsep) if one]
    folders.append(Path(sys.prefix) / "npm" / "node_modules")
    sources = [folder / "axe-core" / "axe.min.js" for folder in folders]
    source = next((one for one in sources if one.is_file()), None)
    if source is None:
        unmet("browser", "axe-core is not installed (npm install --prefix .venv/npm axe-core@4)")
    return source.read_text(encoding="utf-8")
