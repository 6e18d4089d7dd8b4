"""Dataclasses that are ready soon: their methods are not compiled while a module is loaded.

``dataclasses.dataclass`` writes the text of six methods for each class and compiles them one by
one, which takes 0.3 ms a class; a command that only reads a file loads a hundred classes. The
decorator here makes the same classes, with the fields from the standard library, in a twelfth of
that: ``__init__`` is compiled when it is first called, and the other methods are the same few
functions for all classes. Where a class needs more than that, it is handed on.

What reads and checks types sees the standard library's decorator, whose rules hold.
"""

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

__all__ = ["dataclass", "maker"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, eq=True):
        """Make a class a dataclass, as ``dataclasses.dataclass`` does."""

        def finished(cls):
            if any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:]):
                how = dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)
                return how(cls)
            return _with_quick_methods(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)

        return finished if cls is None else finished(cls)


def _with_quick_methods(cls: type, *, frozen: bool, slots: bool, kw_only: bool, eq: bool) -> Any:
    hash_given = _gives_hash(cls)
    if cls.__doc__ is None:  # for which the standard library would look at the signature
        cls.__doc__ = cls.__name__
    plain: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    names = [field.name for field in fields(plain)]
    _check(plain, names, frozen=frozen)
    init = _Init(frozen=frozen)
    methods: dict[str, Any] = {"__init__": init, "__repr__": _shown}
    if eq:
        methods["__eq__"] = _is_equal
    if frozen:
        methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            methods |= {"__getstate__": _state, "__setstate__": _take_state}
    own = vars(plain)
    added = {name: method for name, method in methods.items() if name not in own}
    if eq and not hash_given:
        added["__hash__"] = _hashed if frozen else None
    if slots:
        finished = _with_slots(plain, names, added)
    else:
        finished = plain
        for name, method in added.items():
            setattr(finished, name, method)
    how = finished.__dataclass_params__
    how.frozen = frozen
    if hasattr(how, "slots"):
        how.slots = slots
    init.cls = finished
    return finished


def _with_slots(cls: Any, names: list[str], added: dict[str, Any]) -> Any:
    """Make a class anew with slots for its fields, as the standard library does, and methods.

    What a class has from its beginning is entered sooner than what is set later.
    """
    if "__slots__" in vars(cls):
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    there = {slot for base in cls.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    left_out = {"__dict__", "__weakref__", *names}
    content = {name: value for name, value in vars(cls).items() if name not in left_out}
    content["__slots__"] = tuple(name for name in names if name not in there)
    content["__qualname__"] = cls.__qualname__
    return type(cls)(cls.__name__, cls.__bases__, {**content, **added})


def _gives_hash(cls: type) -> bool:
    """Tell whether a class says itself how it is hashed; with ``__eq__``, None is no word of it."""
    own = vars(cls)
    return "__hash__" in own and (own["__hash__"] is not None or "__eq__" not in own)


def _check(cls: Any, names: list[str], *, frozen: bool) -> None:
    """Refuse what such classes cannot do."""
    for name, field in cls.__dataclass_fields__.items():
        if name not in names and "InitVar" in str(field.type):
            raise TypeError(f"{name} of {cls.__name__} is a parameter alone: use dataclasses")
    if frozen and not vars(cls).keys().isdisjoint(("__setattr__", "__delattr__")):
        raise TypeError(f"{cls.__name__} is frozen and cannot say how its attributes are set")


def _is_hashed(field: "Field[Any]") -> bool:
    return field.compare if field.hash is None else field.hash


_Values = Callable[[Any], tuple[Any, ...]]
_COMPARED: dict[type, _Values] = {}
_HASHED: dict[type, _Values] = {}
"""What takes the values that are compared or hashed from an instance, by its class."""


def _values(names: list[str]) -> _Values:
    """Return what takes the values of fields from an instance."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _is_equal(self: Any, other: object) -> Any:
    kind = self.__class__
    if other.__class__ is not kind:
        return NotImplemented
    if (values := _COMPARED.get(kind)) is None:
        compared = [field.name for field in fields(self) if field.compare]
        values = _COMPARED[kind] = _values(compared)
    return values(self) == values(other)


def _hashed(self: Any) -> int:
    if (values := _HASHED.get(kind := self.__class__)) is None:
        hashed = [field.name for field in fields(self) if _is_hashed(field)]
        values = _HASHED[kind] = _values(hashed)
    return hash(values(self))


@recursive_repr("...")
def _shown(self: Any) -> str:
    names = [field.name for field in fields(self) if field.repr]
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if (refusing := _refusing(self, name)) is None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    super(refusing, self).__setattr__(name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if (refusing := _refusing(self, name)) is None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    super(refusing, self).__delattr__(name)


def _refusing(self: Any, name: str) -> Any:
    """Return the class that refuses changes, above which an attribute is looked for.

    None if it refuses this one: a field, or anything of an instance of the very class.
    """
    kinds = type(self).__mro__
    refusing: Any = next(one for one in kinds if vars(one).get("__setattr__") is _refuse_to_set)
    named = any(field.name == name for field in fields(refusing))
    return None if named or type(self) is refusing else refusing


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _take_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


for _method, _name in (
    *((_is_equal, "__eq__"), (_hashed, "__hash__"), (_shown, "__repr__")),
    *((_refuse_to_set, "__setattr__"), (_refuse_to_delete, "__delattr__")),
    *((_state, "__getstate__"), (_take_state, "__setstate__")),
):
    _method.__name__ = _method.__qualname__ = _name


class _Factory:
    """Stands, as the default of a parameter, for what a function makes."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


FEW = 8
"""Instances of a class that are made without an ``__init__`` of its own: to compile one takes as
long as to make dozens of instances field by field, and most classes of a command have a few."""


class _Init:
    """The ``__init__`` of a class until it is worth to be compiled, or somebody looks at it."""

    def __init__(self, *, frozen: bool) -> None:
        self.cls: Any = None
        self._frozen = frozen
        self._left = FEW
        self._plan: list[tuple[Field[Any], bool]] = []

    def __get__(self, instance: object, owner: type) -> Any:
        # What is no instance asks for the signature (Python 3.13 binds it to the class).
        if self._left > 0 and isinstance(instance, self.cls):
            self._left -= 1
            return partial(self._fill, instance)
        finished = self._compiled()
        return finished if instance is None else finished.__get__(instance, owner)

    def _compiled(self) -> Any:
        finished = _init_of(self.cls, frozen=self._frozen)
        if vars(self.cls).get("__init__") is self:
            self.cls.__init__ = finished
        return finished

    def _fill(self, instance: Any, /, *values: Any, **named: Any) -> None:
        """Do what the compiled ``__init__`` would do, which also says what is wrong with a call."""
        if (wanted := self._wanted(values, named)) is None:
            self._compiled()(instance, *values, **named)
            return
        put = object.__setattr__ if self._frozen else setattr
        for name, value in wanted:
            put(instance, name, value)
        if hasattr(self.cls, "__post_init__"):
            instance.__post_init__()

    def _wanted(
        self, values: tuple[Any, ...], named: dict[str, Any]
    ) -> list[tuple[str, Any]] | None:
        """Return what each field is to be; none if something is wrong with the call."""
        if not self._plan:
            has_slots = "__slots__" in vars(self.cls)
            self._plan = [
                (field, field.init or has_slots or field.default is MISSING)
                for field in fields(self.cls)
            ]
        places = [field.name for field, _ in self._plan if field.init and not field.kw_only]
        passed = dict(zip(places, values, strict=False))
        if len(values) > len(places) or not passed.keys().isdisjoint(named):
            return None
        passed |= named
        wanted = []
        for field, is_set in self._plan:
            if field.init and field.name in passed:
                wanted.append((field.name, passed.pop(field.name)))
            elif field.default is not MISSING:
                wanted += [(field.name, field.default)] if is_set else []
            elif field.default_factory is not MISSING:
                wanted.append((field.name, field.default_factory()))
            elif field.init:
                return None
        return None if passed else wanted


def _init_of(cls: Any, *, frozen: bool) -> Any:
    """Compile the ``__init__`` of a class."""
    scope: dict[str, Any] = {"_factory_": _FACTORY}
    before, is_set, after = _way_to_set(cls, scope) if frozen else ([], _PLAINLY, [])
    head, lines, annotations = _parts_of_init(cls, is_set, scope)
    if hasattr(cls, "__post_init__"):
        after = [*after, "self.__post_init__()"]
    init = _compiled(cls, ",".join(["self", *head]), [*before, *lines, *after], scope)
    init.__annotations__ = {**annotations, "return": None}
    return init


def _parts_of_init(
    cls: Any, is_set: str, scope: dict[str, Any]
) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return the parameters, the lines that set fields, and the types of an ``__init__``."""
    places: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    has_slots = "__slots__" in vars(cls)
    annotations: dict[str, Any] = {}
    for field in fields(cls):
        name, value = field.name, field.name
        passed, default = f"_default_{name}_", ""
        if field.default is not MISSING:
            scope[passed], default = field.default, f"={passed}"
            value = name if field.init else passed
        elif field.default_factory is not MISSING:
            scope[passed], default = field.default_factory, "=_factory_"
            value = (
                f"{passed}() if {name} is _factory_ else {name}" if field.init else f"{passed}()"
            )
        elif not field.init:
            continue
        if field.init:
            annotations[name] = field.type
            (by_name if field.kw_only else places).append(name + default)
        elif field.default is not MISSING and not has_slots:
            continue
        lines.append(is_set.format(name=name, value=value))
    return [*places, *(["*", *by_name] if by_name else [])], lines, annotations


class Maker:
    """What makes instances of a frozen class with slots as calling the class does, sooner.

    Where thousands are made one after the other, more than half of the time goes to handing over
    names and values to ``__init__``: ``make`` is a function of the same parameters without that.
    """

    def __init__(self, cls: Any) -> None:
        self._cls = cls
        self._left = FEW
        self.make: Any = self._few

    def _few(self, *values: Any, **named: Any) -> Any:
        self._left -= 1
        if not self._left:
            scope: dict[str, Any] = {"_factory_": _FACTORY, "_new_": object.__new__}
            _, is_set, after = _way_to_set(self._cls, scope)
            if is_set == _PLAINLY and not hasattr(self._cls, "__post_init__"):
                head, lines, _ = _parts_of_init(self._cls, is_set, scope)
                lines = ["self=_new_(_draft_)", *lines, *after, "return self"]
                self.make = _compiled(self._cls, ",".join(head), lines, scope)
            else:
                self.make = self._cls
        return self._cls(*values, **named)


if TYPE_CHECKING:
    Made_co = TypeVar("Made_co", covariant=True)

    class _Maker(Protocol[Made_co]):
        @property
        def make(self) -> type[Made_co]: ...

    def maker(cls: type[Made_co]) -> _Maker[Made_co]:
        """Return what makes instances of a class sooner."""

else:
    maker = Maker


_PLAINLY = "self.{name}={value}"
_CLASS: Any = vars(object)["__class__"]
WORTH_A_DRAFT = 4
"""Fields from which on an instance is filled while it is of a class that takes changes."""


def _way_to_set(cls: Any, scope: dict[str, Any]) -> tuple[list[str], str, list[str]]:
    """Return code that sets a field of what refuses changes, and what goes before and after it.

    It is passed by on the shortest way, which is three times as fast. To set a slot nevertheless
    takes a call, as long as a dozen plain assignments: so many slots are filled while the instance
    is of a class of the same slots that takes changes.
    """
    own = vars(cls)
    if "__slots__" not in own:
        return ["_own_ = self.__dict__"], "_own_['{name}']={value}", []
    if cls.__bases__ != (object,) or len(own["__slots__"]) < WORTH_A_DRAFT:
        scope |= {f"_set_{name}_": own[name].__set__ for name in own["__slots__"]}
        return [], "_set_{name}_(self,{value})", []
    draft = type(cls.__name__, (object,), {"__slots__": own["__slots__"]})
    scope |= {"_become_": _CLASS.__set__, "_draft_": draft, "_finished_": cls}
    return ["_become_(self,_draft_)"], _PLAINLY, ["self.__class__=_finished_"]


def _compiled(cls: Any, head: str, lines: list[str], scope: dict[str, Any]) -> Any:
    """Compile an ``__init__`` that sees the module of its class."""
    body = "\n  ".join(lines or ["pass"])
    text = f"def make({','.join(scope)}):\n def __init__({head}):\n  {body}\n return __init__"
    module = sys.modules.get(cls.__module__)
    finished: dict[str, Any] = {}
    exec(text, {} if module is None else vars(module), finished)  # noqa: S102  # nosec B102
    init = finished["make"](**scope)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init
