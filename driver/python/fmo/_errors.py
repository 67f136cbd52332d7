"""What this module raises: fmo.Error and its kinds.

Every kind is also the built-in exception that says the same, so that both `except fmo.Error` and
`except ValueError` catch it.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

STATUS = ("FMO_OK", "FMO_ERR_CHECK", "FMO_ERR_ARGUMENT", "FMO_ERR_UNSUPPORTED", "FMO_ERR_INPUT",
          "FMO_ERR_OUTPUT", "FMO_ERR_NO_DEVICE", "FMO_ERR_DEVICE", "FMO_ERR_MEMORY")


class Error(RuntimeError):
    """A call failed.

    status: the name of libfmo's status code, as "FMO_ERR_MEMORY". message: what is wrong, one line. str() of
    the error is both.
    """

    status: str
    message: str

    def __init__(self, status: str, message: str):
        super().__init__(f"{message} ({status})")
        self.status = status
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.message)


class InputError(Error, ValueError):
    """A value, a matrix or a molecule that cannot be used: FMO_ERR_ARGUMENT and FMO_ERR_INPUT."""


class InputTypeError(Error, TypeError):
    """An argument of the wrong kind, or an option that does not exist."""


class InputOverflowError(InputError, OverflowError):
    """A number that C's type does not hold."""


class UnknownAttributeError(Error, AttributeError):
    """An attribute is set that the object does not have; the message names the nearest that it has."""


class UnsupportedError(Error, NotImplementedError):
    """libfmo does not do this: FMO_ERR_UNSUPPORTED."""


class OutOfMemoryError(Error, MemoryError):
    """More memory is needed than there is, or than the option memory allows: FMO_ERR_MEMORY."""


class NoDeviceError(Error):
    """There is no usable GPU: FMO_ERR_NO_DEVICE."""


class DeviceError(Error):
    """A GPU failed: FMO_ERR_DEVICE."""


class ConvergenceError(Error):
    """An SCF did not converge: FMO_ERR_CHECK. Of RHF it is in the attribute error; FMO2 and what needs the
    result (gradients, fmo.ase, fmo.qcschema) raise it."""


_KINDS = {"FMO_ERR_CHECK": ConvergenceError, "FMO_ERR_ARGUMENT": InputError, "FMO_ERR_INPUT": InputError,
          "FMO_ERR_UNSUPPORTED": UnsupportedError, "FMO_ERR_NO_DEVICE": NoDeviceError,
          "FMO_ERR_DEVICE": DeviceError, "FMO_ERR_MEMORY": OutOfMemoryError}


def error_of(status: int, message: bytes) -> Error:
    """The error of a call of libfmo, from its status code and the message of its fmo_error."""
    name = STATUS[status] if 0 <= status < len(STATUS) else f"status {status}"
    return _KINDS.get(name, Error)(name, message.decode(errors="replace"))


def bad_value(message: str) -> InputError:
    """Of a value that this module refuses before libfmo sees it."""
    return InputError("FMO_ERR_ARGUMENT", message)


def bad_type(message: str) -> InputTypeError:
    """Of an argument of the wrong kind."""
    return InputTypeError("FMO_ERR_ARGUMENT", message)


def nearest(name: str, names: Iterable[str]) -> str:
    """"; did you mean NAME?", or nothing where no name is near."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]}?" if close else ""


_Named = TypeVar("_Named", bound=Callable[..., Any])


def named(one: _Named) -> _Named:
    """Decorator of a function, or of a class and its public methods: InputTypeError for keywords that they do not take."""
    path = f"{one.__module__.partition('._')[0]}.{one.__name__}"  # without modules that are not public
    if not isinstance(one, type):
        return cast(_Named, _checked(one, path))
    for name, method in list(vars(one).items()):
        if name.startswith("_") and name != "__init__":
            continue
        call = path if name == "__init__" else f"{path}.{name}"
        if isinstance(method, classmethod):
            setattr(one, name, classmethod(_checked(method.__func__, call)))
        elif inspect.isfunction(method):
            setattr(one, name, _checked(method, call))
    return one


def _checked(function: Any, call: str) -> Any:
    """A function that checks the names of its keywords; one that takes any name checks them itself."""
    parameters = inspect.signature(function).parameters
    known = [name for name in parameters if name not in ("self", "cls")]
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters.values()):
        return function

    @functools.wraps(function)
    def checked(*arguments: Any, **keywords: Any) -> Any:
        for name in keywords:
            if name not in known:
                cure = nearest(name, known) or f": expected one of {', '.join(known)}" * bool(known)
                raise bad_type(f"{call}: unknown argument '{name}'{cure}")
        return function(*arguments, **keywords)
    return checked


class Strict:
    """Refuses to set attributes that the class does not have: a slip would be ignored in silence."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            names = [one for one in dir(type(self)) if not one.startswith("_")]
            raise UnknownAttributeError("FMO_ERR_ARGUMENT", f"fmo.{type(self).__name__} has no attribute "
                                        f"'{name}'{nearest(name, names)}")
        super().__setattr__(name, value)
