"""Parameters of plugins that are of the declared types already, so that pydantic is not needed.

What is not plain, or wrong, is left to pydantic, which converts it or says what is wrong.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from proctor.core.suite import Json

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler
    from pydantic_core import CoreSchema

Check = Callable[[Any], Any]
"""Returns a parameter as it is to be, or raises `_NotExact`."""
_CONFIG = "__pydantic_config__"
EXACT_WHOLE = 2**53
"""Up to which whole numbers are floats without loss."""


class Before:
    """A conversion of a parameter before its type is checked, as pydantic's BeforeValidator."""

    def __init__(self, convert: Check) -> None:
        self.convert = convert

    def __get_pydantic_core_schema__(
        self, source: Any, handler: "GetCoreSchemaHandler"
    ) -> "CoreSchema":
        """Tell pydantic of it."""
        from pydantic_core import core_schema

        return core_schema.no_info_before_validator_function(self.convert, handler(source))


def plainly_built(cls: Any, params: Mapping[str, Json]) -> Any | None:
    """Make a plugin of plain parameters; None for those that pydantic may read otherwise."""
    checks = _checks(cls)
    if checks is None:
        return None
    if not _required(cls) <= params.keys() <= checks.keys():
        return None
    try:
        return cls(**{name: checks[name](value) for name, value in params.items()})
    except (_NotExact, ValueError, AssertionError):
        # A class that refuses its parameters has pydantic say so.
        return None


class _NotExact(Exception):
    """A parameter that is left to pydantic."""


@cache
def _checks(cls: Any) -> Mapping[str, Check] | None:
    """Return what checks each parameter; None for a class that pydantic has to build."""
    bases: tuple[type[Any], ...] = cls.__mro__
    if not is_dataclass(cls) or any(_CONFIG in vars(one) for one in bases):
        return None
    return {one.name: _check_of(one.type) for one in fields(cls) if one.init}


@cache
def _required(cls: Any) -> frozenset[str]:
    without = (one for one in fields(cls) if one.init and one.default is MISSING)
    return frozenset(one.name for one in without if one.default_factory is MISSING)


def _check_of(kind: Any) -> Check:
    origin, args = get_origin(kind), get_args(kind)
    if kind in (str, int, bool, types.NoneType, None):
        exact = types.NoneType if kind is None else kind
        return lambda value: _exactly(exact, value)
    if kind is float:
        return _number
    if origin is Literal:
        return lambda value: _one_of(args, value)
    if origin in (Union, types.UnionType):
        return lambda value: _member(args, value)
    if origin is Annotated and len(args) == 2 and isinstance(args[1], Before):
        inner, before = _check_of(args[0]), args[1]
        return lambda value: inner(before.convert(value))
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        inner = _check_of(args[0])
        return lambda value: _listed(inner, value)
    return _refused


def _exactly(kind: Any, value: Any) -> Any:
    if type(value) is not kind:
        raise _NotExact
    return value


def _number(value: Any) -> float:
    if type(value) is int and abs(value) <= EXACT_WHOLE:
        return float(value)
    if type(value) is not float or not isfinite(value):
        raise _NotExact
    return value


def _one_of(choices: tuple[Any, ...], value: Any) -> Any:
    if not any(type(value) is type(choice) and value == choice for choice in choices):
        raise _NotExact
    return value


def _member(kinds: tuple[Any, ...], value: Any) -> Any:
    """Return a value that is exactly of one of some types."""
    for kind in kinds:
        if kind is float and type(value) is not float:
            continue
        try:
            converted = _check_of(kind)(value)
        except _NotExact:
            continue
        if converted is value:
            return value
    raise _NotExact


def _listed(inner: Check, value: Any) -> tuple[Any, ...]:
    if type(value) not in (list, tuple):
        raise _NotExact
    return tuple(inner(one) for one in value)


def _refused(value: Any) -> Any:
    raise _NotExact
