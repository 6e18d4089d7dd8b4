"""Dataclasses with methods made late: they do what the standard library's do."""

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
import typing
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from typing import Any, ClassVar

import pytest

from proctor import records


def members(decorator: Any) -> dict[str, type]:
    """Make the same classes by one of the decorators, or the other."""

    @decorator(frozen=True, slots=True, kw_only=True)
    class Slotted:
        """Frozen, with slots."""

        a: int
        b: str = "b"
        c: list[int] = field(default_factory=list)
        d: int = field(default=4, repr=False, compare=False)
        e: int = field(default=5, init=False)
        kind: ClassVar[str] = "kind"

    @decorator(frozen=True)
    class Frozen:
        """Frozen."""

        a: int
        b: tuple[int, ...] = ()
        c: dict[str, int] = field(default_factory=dict, hash=False)
        d: str = field(default="d", kw_only=True)

        def twice(self) -> int:
            return 2 * self.a

    @decorator
    class Plain:
        """With everything that can be changed."""

        a: int
        b: list["Plain"] = field(default_factory=list)
        c: int = field(init=False)

        def __post_init__(self) -> None:
            self.c = self.a + 1

    @decorator(eq=False)
    class Identity:
        a: int = 1

    @decorator(slots=True)
    class Loose:
        a: int
        b: int = 2

        def __repr__(self) -> str:
            return f"<{self.a}>"

        def __hash__(self) -> int:
            return 7

    @decorator(frozen=True)
    class Empty:
        pass

    return {cls.__name__: cls for cls in (Slotted, Frozen, Plain, Identity, Loose, Empty)}


OURS, THEIRS = members(records.dataclass), members(dataclasses.dataclass)
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "Slotted": [((), {"a": 1}), ((), {"a": 1, "b": "x", "c": [1], "d": 9}), ((1,), {}), ((), {})],
    "Frozen": [((1,), {}), ((1, (2, 3)), {"d": "x"}), ((1, (), {}, "d"), {}), ((), {"b": ()})],
    "Plain": [((1,), {}), ((1, [2]), {}), ((1,), {"c": 3})],
    "Identity": [((), {}), ((2,), {})],
    "Loose": [((1,), {}), ((1, 2, 3), {})],
    "Empty": [((), {}), ((1,), {})],
}
MADE = [(name, *call) for name, calls in CALLS.items() for call in calls]


def result(work: Any) -> Any:
    """Return what something gives, or the kind of its error."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - compared
        return type(error)


@pytest.mark.parametrize(("name", "places", "names"), MADE)
@pytest.mark.parametrize("left", [1, 0])
def test_instances_are_made_and_shown_alike(
    name: str, places: tuple[Any, ...], names: dict[str, Any], left: int
) -> None:
    kind = members(records.dataclass)[name]
    init = vars(kind)["__init__"]
    init._left = left  # field by field, or by a compiled __init__
    ours = result(lambda: kind(*places, **names))
    theirs = result(lambda: THEIRS[name](*places, **names))
    if isinstance(theirs, type):
        assert ours is theirs
        return
    assert [getattr(ours, one.name) for one in fields(ours)] == [
        getattr(theirs, one.name) for one in fields(theirs)
    ]
    if name != "Identity":
        assert repr(ours) == repr(theirs)
    assert repr(replace(ours)) == repr(ours)
    assert (replace(ours) == ours) is (replace(theirs) == theirs)
    assert result(lambda: hash(ours) == hash(replace(ours))) == result(
        lambda: hash(theirs) == hash(replace(theirs))
    )
    assert result(lambda: setattr(ours, "a", 3)) == result(lambda: setattr(theirs, "a", 3))
    if name != "Slotted":  # of which the standard library confuses two classes
        changed = [result(lambda: setattr(ours, "z", 3)), result(lambda: setattr(theirs, "z", 3))]
        assert changed[0] == changed[1]
    assert result(lambda: delattr(ours, "a")) == result(lambda: delattr(theirs, "a"))


@pytest.mark.parametrize("name", OURS)
def test_classes_say_the_same_of_themselves(name: str) -> None:
    ours, theirs = OURS[name], THEIRS[name]
    assert is_dataclass(ours)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert inspect.signature(ours.__init__).parameters.keys() == (
        inspect.signature(theirs.__init__).parameters.keys()
    )
    assert [one.name for one in fields(ours)] == [one.name for one in fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__init__.__qualname__ == theirs.__init__.__qualname__
    assert hasattr(ours, "__slots__") is hasattr(theirs, "__slots__")
    assert (ours.__hash__ is None) is (theirs.__hash__ is None)


def test_types_of_parameters_can_be_asked_for() -> None:
    assert typing.get_type_hints(OURS["Frozen"].__init__) == typing.get_type_hints(
        THEIRS["Frozen"].__init__
    )


@records.dataclass(frozen=True, slots=True)
class Point:
    """At the top of a module, where pickle finds it."""

    x: int
    y: int = 0


@records.dataclass(frozen=True)
class Line:
    start: Point
    end: Point = field(default_factory=lambda: Point(1, 1))


def test_instances_are_copied_and_packed() -> None:
    line = Line(Point(0))
    assert pickle.loads(pickle.dumps(line)) == line
    assert copy.deepcopy(line) == line
    assert copy.copy(line.start) == Point(0, 0)
    assert {line: 1}[Line(Point(0, 0))] == 1


UNPACKED = """
import pickle, sys
sys.path.insert(0, {folder!r})
point = pickle.loads({data!r})
assert point == point and {{point}} and repr(point) == "Point(x=3, y=0)"
from test_records import Point
match point:
    case Point(3, 0): print("matched")
try: point.x = 1
except AttributeError: print("refused")
"""


def test_an_unpacked_instance_needs_no_other_before_it() -> None:
    folder = __file__.rpartition("/")[0]
    old = Point.__module__
    Point.__module__ = "test_records"
    sys.modules.setdefault("test_records", sys.modules[__name__])
    try:
        data = pickle.dumps(Point(3))
    finally:
        Point.__module__ = old
    code = UNPACKED.format(folder=folder, data=data)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["matched", "refused"]


def test_a_class_inherits_from_either_sort() -> None:
    @dataclasses.dataclass(frozen=True)
    class Far(Point):
        z: int = 1

    @records.dataclass(frozen=True)
    class Farther(Far):
        w: int = 2

    assert Farther(1) == Farther(1, 0, 1, 2)
    assert repr(Far(1)).endswith("Far(x=1, y=0, z=1)")
    with pytest.raises(FrozenInstanceError):
        Farther(1).w = 3  # type: ignore[misc]
    with pytest.raises(TypeError, match="cannot inherit"):

        @dataclasses.dataclass
        class Changed(Point):  # type: ignore[misc]
            z: int = 1


def test_a_subclass_without_fields_of_its_own_may_have_more_attributes() -> None:
    class Labelled(Line):
        pass

    labelled = Labelled(Point(0))
    object.__setattr__(labelled, "label", "x")
    with pytest.raises(FrozenInstanceError):
        labelled.start = Point(1)  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del labelled.start


def test_an_instance_that_holds_itself_is_shown() -> None:
    plain: Any = OURS["Plain"](1)
    plain.b.append(plain)
    assert "..." in repr(plain)


def test_what_such_classes_cannot_do_is_refused() -> None:
    with pytest.raises(TypeError, match="a parameter alone"):

        @records.dataclass
        class Passing:
            a: dataclasses.InitVar[int]

    with pytest.raises(TypeError, match="cannot say how"):

        @records.dataclass(frozen=True)
        class Own:
            a: int

            def __setattr__(self, name: str, value: object) -> None: ...


def test_nothing_is_compiled_before_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    made = records._init_of
    monkeypatch.setattr(
        records, "_init_of", lambda cls, **how: compiled.append(cls.__name__) or made(cls, **how)
    )

    @records.dataclass(frozen=True)
    class Late:
        a: int

    few = [Late(n) for n in range(records.FEW)]
    assert compiled == []
    assert [*few, Late(records.FEW)] == [Late(n) for n in range(records.FEW + 1)]
    assert compiled == ["Late"]


def test_who_looks_at_an_init_sees_it_before_any_instance_is_made() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Seen:
        a: int
        b: int = 2

    assert str(inspect.signature(Seen.__init__)) == "(self, a: int, b: int = 2) -> None"
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        Seen(1, c=3)  # type: ignore[call-arg]
    assert Seen(1) == Seen(a=1, b=2)


@pytest.mark.parametrize(
    ("places", "names", "words"),
    [
        ((), {}, "missing 1 required positional argument: 'x'"),
        ((1, 2, 3), {}, "takes from 2 to 3 positional arguments but 4 were given"),
        ((1,), {"x": 1}, "got multiple values for argument 'x'"),
        ((1,), {"z": 1}, "got an unexpected keyword argument 'z'"),
    ],
)
def test_a_wrong_call_is_told_alike_by_the_first_instance(
    places: tuple[int, ...], names: dict[str, int], words: str
) -> None:
    @records.dataclass(frozen=True)
    class First:
        x: int
        y: int = 0

    with pytest.raises(TypeError, match=words):
        First(*places, **names)


def test_a_maker_makes_what_the_class_does() -> None:
    @records.dataclass(frozen=True, slots=True, kw_only=True)
    class Place:
        name: str
        row: int = 0
        tags: dict[str, int] = field(default_factory=dict)
        note: str = field(default="", compare=False)
        size: int = field(default=7, init=False)

    @records.dataclass(frozen=True, slots=True)
    class Pair:
        one: int
        two: int = 2

    places, pairs = records.maker(Place), records.maker(Pair)
    for _ in range(2 * records.FEW):
        made = places.make(name="a", note="n")
        assert type(made) is Place
        assert made == Place(name="a")
        assert (made.note, made.size, made.tags) == ("n", 7, {})
        assert made.tags is not places.make(name="a").tags
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.name = "b"  # type: ignore[misc]
        with pytest.raises(TypeError, match="unexpected keyword argument 'nobody'"):
            places.make(name="a", nobody=1)  # type: ignore[call-arg]
        assert pairs.make(1) == Pair(1, 2)
    assert hash(places.make(name="a", tags=())) == hash(Place(name="a", tags=()))
