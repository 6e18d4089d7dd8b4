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
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, eq=True):
        """Make a class a dataclass, as ``dataclasses.dataclass`` does."""

        def made(cls):
            if any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:]):
                how = dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)
                return how(cls)
            return _made(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)

        return made if cls is None else made(cls)


def _made(cls: type, *, frozen: bool, slots: bool, kw_only: bool, eq: bool) -> Any:
    hash_given = _gives_hash(cls)
    if cls.__doc__ is None:  # for which the standard library would look at the signature
        cls.__doc__ = cls.__name__
    how = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
    made: Any = how(cls)
    names = [field.name for field in fields(made)]
    _check(made, names, frozen=frozen)
    methods: dict[str, Any] = {"__init__": _Init(made, frozen=frozen), "__repr__": _repr_of(made)}
    if eq:
        methods["__eq__"] = _equal_by(_values(made, lambda field: field.compare))
        if not hash_given:
            made.__hash__ = _hash_by(_values(made, _is_hashed)) if frozen else None
    if frozen:
        made.__dataclass_params__.frozen = True
        methods["__setattr__"], methods["__delattr__"] = _frozen(made, frozenset(names))
        if slots:
            methods["__getstate__"], methods["__setstate__"] = _state_of(names)
    own = vars(made)
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made


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


def _values(cls: Any, wanted: "Callable[[Field[Any]], bool]") -> Callable[[Any], tuple[Any, ...]]:
    """Return what takes the values of fields from an instance."""
    names = [field.name for field in fields(cls) if wanted(field)]
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _equal_by(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _hash_by(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:
        return hash(values(self))

    return __hash__


def _repr_of(cls: Any) -> Callable[[Any], str]:
    names = [field.name for field in fields(cls) if field.repr]

    @recursive_repr("...")
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return __repr__


def _frozen(cls: Any, names: frozenset[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return methods that refuse to change fields, or anything of the very class."""

    def __setattr__(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __setattr__, __delattr__


def _state_of(names: list[str]) -> tuple[Callable[..., Any], Callable[..., None]]:
    """Return methods that pack and unpack an instance whose attributes cannot be set."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return __getstate__, __setstate__


class _Factory:
    """Stands, as the default of a parameter, for what a function makes."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


class _Init:
    """The ``__init__`` of a class until it is first wanted."""

    def __init__(self, cls: Any, *, frozen: bool) -> None:
        self._cls = cls
        self._frozen = frozen

    def __get__(self, instance: object, owner: type) -> Any:
        made = _init_of(self._cls, frozen=self._frozen)
        if vars(self._cls).get("__init__") is self:
            self._cls.__init__ = made
        return made if instance is None else made.__get__(instance, owner)


def _init_of(cls: Any, *, frozen: bool) -> Any:
    """Compile the ``__init__`` of a class."""
    known: dict[str, Any] = {"_factory_": _FACTORY}
    places: list[str] = []
    by_name: list[str] = []
    has_slots = "__slots__" in vars(cls)
    # What refuses changes is passed by on the shortest way, which is three times as fast.
    lines = ["_own_ = self.__dict__"] if frozen and not has_slots else []
    annotations: dict[str, Any] = {}
    for field in fields(cls):
        name, value = field.name, field.name
        given, default = f"_default_{name}_", ""
        if field.default is not MISSING:
            known[given], default = field.default, f"={given}"
            value = name if field.init else given
        elif field.default_factory is not MISSING:
            known[given], default = field.default_factory, "=_factory_"
            value = f"{given}() if {name} is _factory_ else {name}" if field.init else f"{given}()"
        elif not field.init:
            continue
        if field.init:
            annotations[name] = field.type
            (by_name if field.kw_only else places).append(name + default)
        elif field.default is not MISSING and not has_slots:
            continue
        if not frozen:
            lines.append(f"self.{name}={value}")
        elif has_slots:
            known[f"_set_{name}_"] = vars(cls)[name].__set__
            lines.append(f"_set_{name}_(self,{value})")
        else:
            lines.append(f"_own_[{name!r}]={value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    star = ["*", *by_name] if by_name else []
    init = _compiled(cls, ",".join(["self", *places, *star]), lines, known)
    init.__annotations__ = {**annotations, "return": None}
    return init


def _compiled(cls: Any, head: str, lines: list[str], known: dict[str, Any]) -> Any:
    """Compile an ``__init__`` that sees the module of its class."""
    body = "\n  ".join(lines or ["pass"])
    text = f"def make({','.join(known)}):\n def __init__({head}):\n  {body}\n return __init__"
    module = sys.modules.get(cls.__module__)
    made: dict[str, Any] = {}
    exec(text, {} if module is None else vars(module), made)  # noqa: S102  # nosec B102
    init = made["make"](**known)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init
