"""What may go wrong in a notebook, by the kinds that Arthur Bench has.

BenchError
├── UserError                 something that was given is wrong
│   ├── UserValueError        a value; also a ValueError
│   │   └── MissingFileError  there is no such file; also a FileNotFoundError
│   ├── UserTypeError         a type; also a TypeError
│   ├── MissingParameterError something that is needed was not given
│   └── NotFoundError         there is no such suite or run
└── InternalError             a run could not be made; what happened is its cause
"""

from proctor.errors import ProctorError


class BenchError(ProctorError):
    """Be the base of all errors of the notebook API."""


class UserError(BenchError):
    """Say that something that was given is wrong."""


class UserValueError(UserError, ValueError):
    """Say that a value is wrong."""


class MissingFileError(UserValueError, FileNotFoundError):
    """Say that there is no such file."""


class UserTypeError(UserError, TypeError):
    """Say that something is of the wrong type."""


class MissingParameterError(UserError):
    """Say that something is needed which was not given."""


class NotFoundError(UserError):
    """Say that there is no such suite or run."""


class InternalError(BenchError):
    """Say that a run could not be made."""
