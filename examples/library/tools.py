"""The tools of a library's loans desk: each refuses what the rules forbid."""

from datetime import date, timedelta

LOAN_DAYS = 21
MOST_RENEWALS = 2
MOST_LOANS = 5
BLOCKED_ABOVE = 10.0
MOST_WAIVED = 5.0


def find_member(state: dict, name: str, postcode: str) -> dict:
    """Find a member by full name and postcode."""
    for number, member in state["members"].items():
        if member["name"].casefold() == name.casefold() and member["postcode"] == postcode:
            return {"member_id": number, **member}
    raise ValueError("no member has this name and postcode")


def get_member(state: dict, member_id: str) -> dict:
    """Return a member's name, address, fines and how many loans they have."""
    member = _member(state, member_id)
    loans = [loan for loan in state["loans"].values() if loan["member_id"] == member_id]
    return {"member_id": member_id, **member, "loans": len(loans)}


def search_catalogue(state: dict, words: str) -> list:
    """Find books whose title or author contains all of the words."""
    wanted = words.casefold().split()
    return [
        {"book_id": number, **book}
        for number, book in state["books"].items()
        if all(word in f"{book['title']} {book['author']}".casefold() for word in wanted)
    ]


def list_loans(state: dict, member_id: str) -> list:
    """List the loans of a member, with titles and due dates."""
    _member(state, member_id)
    return [
        {"loan_id": number, "title": state["books"][loan["book_id"]]["title"], **loan}
        for number, loan in state["loans"].items()
        if loan["member_id"] == member_id
    ]


def list_holds(state: dict, book_id: str) -> list:
    """List who waits for a book, the first one first."""
    _book(state, book_id)
    return [
        {"hold_id": n, **hold} for n, hold in state["holds"].items() if hold["book_id"] == book_id
    ]


def renew_loan(state: dict, loan_id: str) -> dict:
    """Renew a loan for 21 days from today."""
    loan = _loan(state, loan_id)
    if loan["renewals"] >= MOST_RENEWALS:
        raise ValueError(f"a loan can be renewed {MOST_RENEWALS} times")
    if any(hold["book_id"] == loan["book_id"] for hold in state["holds"].values()):
        raise ValueError("somebody waits for this book")
    if sum(_member(state, loan["member_id"])["fines"].values()) > BLOCKED_ABOVE:
        raise ValueError(f"the member owes more than {BLOCKED_ABOVE:.2f}")
    loan["renewals"] += 1
    loan["due"] = str(date.fromisoformat(state["today"]) + timedelta(days=LOAN_DAYS))
    return {"loan_id": loan_id, **loan}


def check_out(state: dict, member_id: str, book_id: str) -> dict:
    """Lend a copy of a book to a member."""
    member, book = _member(state, member_id), _book(state, book_id)
    if sum(member["fines"].values()) > BLOCKED_ABOVE:
        raise ValueError(f"the member owes more than {BLOCKED_ABOVE:.2f}")
    if sum(loan["member_id"] == member_id for loan in state["loans"].values()) >= MOST_LOANS:
        raise ValueError(f"a member has at most {MOST_LOANS} loans")
    if book["copies"] < 1:
        raise ValueError("no copy is in the library")
    book["copies"] -= 1
    number = _next(state, "L")
    due = str(date.fromisoformat(state["today"]) + timedelta(days=LOAN_DAYS))
    state["loans"][number] = {"member_id": member_id, "book_id": book_id, "due": due, "renewals": 0}
    return {"loan_id": number, **state["loans"][number]}


def take_back(state: dict, loan_id: str) -> dict:
    """Book a loan as returned, with a fine of 0.20 for each day that it is late."""
    loan = _loan(state, loan_id)
    late = (date.fromisoformat(state["today"]) - date.fromisoformat(loan["due"])).days
    fine = round(0.2 * max(0, late), 2)
    if fine:
        _member(state, loan["member_id"])["fines"][f"late {loan_id}"] = fine
    state["books"][loan["book_id"]]["copies"] += 1
    del state["loans"][loan_id]
    return {"returned": loan_id, "fine": fine}


def look_into_return_box(state: dict) -> list:
    """List the books that lie in the return box."""
    return [{"book_id": number, **state["books"][number]} for number in state["return_box"]]


def empty_return_box(state: dict) -> str:
    """Empty the return box, once its books are booked as returned."""
    state["return_box"] = []
    return "the box is empty"


def place_hold(state: dict, member_id: str, book_id: str) -> dict:
    """Put a member on the list of those who wait for a book."""
    _member(state, member_id)
    if _book(state, book_id)["copies"] > 0:
        raise ValueError("a copy is in the library: it can be lent at once")
    holds = state["holds"]
    if any(h["member_id"] == member_id and h["book_id"] == book_id for h in holds.values()):
        raise ValueError("the member waits for this book already")
    number = _next(state, "H")
    holds[number] = {"member_id": member_id, "book_id": book_id, "placed": state["today"]}
    return {"hold_id": number, **holds[number]}


def cancel_hold(state: dict, hold_id: str) -> str:
    """Take a member off the list of those who wait for a book."""
    if hold_id not in state["holds"]:
        raise ValueError(f"there is no hold {hold_id}")
    del state["holds"][hold_id]
    return f"{hold_id} is cancelled"


def pay_fine(state: dict, member_id: str, fine: str, amount: float) -> dict:
    """Take a payment towards a fine."""
    fines = _member(state, member_id)["fines"]
    if fine not in fines or not 0 < amount <= fines[fine]:
        raise ValueError("there is no such fine, or the amount is not from 0 to what is owed")
    fines[fine] = round(fines[fine] - amount, 2)
    if not fines[fine]:
        del fines[fine]
    return {"still_owed": round(sum(fines.values()), 2)}


def waive_fine(state: dict, member_id: str, fine: str, reason: str) -> dict:
    """Waive a fine of up to 5.00 that came about through the library's own fault."""
    fines = _member(state, member_id)["fines"]
    if fine not in fines:
        raise ValueError("there is no such fine")
    if fines[fine] > MOST_WAIVED:
        raise ValueError(f"the desk waives up to {MOST_WAIVED:.2f}")
    state["waivers"].append(
        {"member_id": member_id, "fine": fine, "amount": fines.pop(fine), "reason": reason}
    )
    return {"still_owed": round(sum(fines.values()), 2)}


def set_email(state: dict, member_id: str, email: str) -> str:
    """Change the address that reminders go to."""
    if "@" not in email:
        raise ValueError("this is no address")
    _member(state, member_id)["email"] = email
    return f"reminders go to {email}"


def hand_over(state: dict, member_id: str, reason: str) -> str:
    """Hand a member over to a librarian."""
    state["handed_over"].append({"member_id": member_id, "reason": reason})
    return "a librarian will call"


def read_card(state: dict) -> dict:
    """Read what is printed on your library card."""
    return state["card"]


def drop_into_return_box(state: dict, title: str) -> str:
    """Drop a book that you have with you into the return box."""
    for number in state["bag"]:
        if state["books"][number]["title"].casefold() == title.casefold():
            state["bag"].remove(number)
            state["return_box"].append(number)
            return f"{title} is in the box"
    raise ValueError(f"{title} is not in your bag")


def _next(state: dict, letter: str) -> str:
    """Return the next number of a kind: the order of other deeds does not change it."""
    state["last"][letter] += 1
    return f"{letter}-{state['last'][letter]}"


def _member(state: dict, member_id: str) -> dict:
    if member_id not in state["members"]:
        raise ValueError(f"there is no member {member_id}")
    return state["members"][member_id]


def _book(state: dict, book_id: str) -> dict:
    if book_id not in state["books"]:
        raise ValueError(f"there is no book {book_id}")
    return state["books"][book_id]


def _loan(state: dict, loan_id: str) -> dict:
    if loan_id not in state["loans"]:
        raise ValueError(f"there is no loan {loan_id}")
    return state["loans"][loan_id]
