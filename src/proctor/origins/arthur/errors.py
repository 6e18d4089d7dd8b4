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
    """Base of all errors of the notebook API."""


class UserError(BenchError):
    """A wrong argument."""


class UserValueError(UserError, ValueError):
    """An argument with a wrong value."""


class MissingFileError(UserValueError, FileNotFoundError):
    """A file that does not exist."""


class UserTypeError(UserError, TypeError):
    """An argument of the wrong type."""


class MissingParameterError(UserError):
    """A required argument that was not passed."""


class NotFoundError(UserError):
    """A suite or run that does not exist."""


class InternalError(BenchError):
    """A run that could not be made."""
