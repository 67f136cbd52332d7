"""Arguments of the caller's as C's types."""

from __future__ import annotations

from typing import Any

from ._errors import InputOverflowError, bad_value

INT_MAX = 2**31 - 1


def whole_number(name: str, value: Any, minimum: int, maximum: int) -> int:
    """A whole number that C's type holds: ctypes would cut others, 2**32 threads to 0."""
    try:
        number = int(value)
    except OverflowError as reason:
        raise InputOverflowError("FMO_ERR_ARGUMENT", f"{name} = {value!r}: {reason}") from reason
    except (TypeError, ValueError) as reason:
        raise bad_value(f"{name} = {value!r}: expected a whole number ({reason})") from reason
    if number != value:
        raise bad_value(f"{name} = {value!r}: expected a whole number")
    if number < minimum:
        raise bad_value(f"{name} = {number}: expected {minimum} or more")
    if number > maximum:
        raise InputOverflowError("FMO_ERR_ARGUMENT", f"{name} = {number}: expected at most {maximum}")
    return number


def real_number(name: str, value: Any) -> float:
    """A number, as C's double."""
    try:
        return float(value)
    except (TypeError, ValueError) as reason:
        raise bad_value(f"{name} = {value!r}: expected a number") from reason


def index_of(name: str, value: Any, names: list[str]) -> int:
    """The place of a value in the names of an option's values."""
    if value not in names:
        raise bad_value(f"{name} = {value!r}: expected one of {', '.join(names)}")
    return names.index(value)
