"""Response models of a case laid out for a page, its texts cut into pieces."""

from typing import Any

from pydantic import Field

from proctor.web.api.response import ResponseModel, ValueState


class TextPiece(ResponseModel):
    """A piece of a text: whether a scorer found it, and how much is left out after it."""

    text: str
    hit: bool
    more: int


Pieces = list[TextPiece]


class LaidImage(ResponseModel):
    """An image; one that the case carries is shown, one with a web address has a link."""

    href: str
    src: str
    text: str


class LaidCall(ResponseModel):
    """A call of a tool, its arguments as text."""

    name: str
    arguments: Pieces


class LaidMessage(ResponseModel):
    """One message."""

    role: str
    text: Pieces
    thinking: Pieces
    images: list[LaidImage]
    calls: list[LaidCall]


class LaidQuestion(ResponseModel):
    """What a case asks."""

    id: str
    messages: list[LaidMessage]
    references: list[Pieces]
    context: list[Pieces]


class LaidRule(ResponseModel):
    """A keyword and where it was found."""

    hit: bool
    points: str
    keyword: str
    places: str


class LaidTest(ResponseModel):
    """A unit test with the program that ran."""

    hit: bool
    result: str
    line: Any
    seconds: str
    output: str
    program: list[tuple[int, str]]


class LaidBlank(ResponseModel):
    """A blank and what filled it."""

    hit: bool
    text: str
    target: str
    line: str


class LaidVerdict(ResponseModel):
    """The verdict of one judge of a panel."""

    points: Any
    reason: str
    replies: list[str]


class LaidScore(ResponseModel):
    """The score of one criterion on an attempt."""

    id: str
    scorer: str
    statement: str
    weight: float
    points: float | None
    out_of: float | None
    status: str
    reason: str
    rules: list[LaidRule]
    tests: list[LaidTest]
    blanks: list[LaidBlank]
    replies: list[Pieces]
    panel: list[LaidVerdict]
    detail: Pieces


class LaidAttachment(ResponseModel):
    """An attachment of a post."""

    kind: str
    text: Pieces


class LaidPost(ResponseModel):
    """A message from one role of an agent to another."""

    sender: str
    receiver: str
    text: Pieces
    attachments: list[LaidAttachment]
    within: list["LaidPost"] = Field(description="what an agent within the agent did for it")


class LaidRound(ResponseModel):
    """What an agent did for one message of the user."""

    number: int
    state: str
    error: str
    posts: list[LaidPost]


class LaidFile(ResponseModel):
    """A file that an agent left."""

    name: str
    key: str
    size: int | None
    href: str


class LaidTurnMark(ResponseModel):
    """The mark of one turn."""

    turn: int
    score: float | None
    normalized: float | None
    status: str


class LaidLedgerTurn(ResponseModel):
    """Whether a point was covered, and asked for, in one turn."""

    covered: Any
    asked: Any


class LaidLedgerRow(ResponseModel):
    """A point and the turns in which it came up."""

    point: str
    turns: list[LaidLedgerTurn]
    first: Any


class LaidLedger(ResponseModel):
    """Which point was asked for and covered in which turn."""

    turns: list[int]
    rows: list[LaidLedgerRow]


class LaidTurnReplies(ResponseModel):
    """Judges' raw replies about one turn."""

    turn: Any
    raw: list[str]


class LaidNotes(ResponseModel):
    """Notes of the dialogue."""

    reason: str
    ledger: LaidLedger | None
    scans: list[str]
    """What scans marked, each with its passage."""
    user_calls: list[str]
    """What the simulated user did by its own tools."""
    changes: list[str]
    """What changed in the state that tools work on."""
    flags: list[str]
    truncated: str
    turns: list[LaidTurnReplies]


class LaidAttempt(ResponseModel):
    """An attempt: its turns, what the agent did, its scores and the formula."""

    index: int
    value: float | None
    status: ValueState
    low: float
    high: float
    error: str
    traceback: str
    seconds: float | None
    context: list[Pieces]
    turns: list[LaidMessage]
    rounds: list[LaidRound]
    files: list[LaidFile]
    marks: list[LaidTurnMark]
    notes: LaidNotes
    scores: list[LaidScore]
    formula: str
