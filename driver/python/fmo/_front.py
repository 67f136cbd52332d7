"""Classes that have a class of ours in front of one of PySCF or GPU4PySCF."""

from __future__ import annotations

import copy
from typing import Any

_classes: dict[Any, type] = {}  # (ours, PySCF's) -> both; PySCF keeps what it makes of ours as well


def of_gpu4pyscf(cls: type) -> bool:
    """Whether a class is GPU4PySCF's; one that PySCF has put in front, a scanner's, has PySCF's module."""
    return any(one.__module__.split(".")[0] == "gpu4pyscf" for one in cls.__mro__)


def who(cls: type) -> str:
    """The package that computes what libfmo does not."""
    return "GPU4PySCF" if of_gpu4pyscf(cls) else "PySCF"


def from_elsewhere(method: Any, modules: tuple[str, ...]) -> bool:
    """Whether a method is none of those that we stand in for, which are of these modules."""
    return getattr(method, "__module__", None) not in modules


class Front:
    """Base of our classes: what is unpickled or copied has ours in front, too."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By PySCF's class, which has a name."""
        state: Any = super().__reduce_ex__(max(protocol, 2))
        if not is_outermost(type(self)):
            return state  # a class made at run time, which PySCF cannot pickle either
        # The second item would be the class made below, which no module has.
        return (_empty, type(self).__bases__, *state[2:])


def put_in_front(ours: type, cls: Any) -> type:
    """PySCF's class with ours in front."""
    if (ours, cls) not in _classes:
        _classes[ours, cls] = type("Fmo" + cls.__name__, (ours, cls),
                                   {"__module__": cls.__module__, "__name_mixin__": "Fmo" + cls.__name__})
    return _classes[ours, cls]


def _empty(ours: type, cls: Any) -> Any:
    """An empty object, for pickle and copy to fill."""
    return object.__new__(put_in_front(ours, cls))


def is_outermost(cls: Any) -> bool:
    """Whether ours is the last thing that was put in front of a class."""
    return _classes.get(cls.__bases__) is cls


def plain_class(cls: Any) -> Any:
    """PySCF's class again; of a class that PySCF has made of one with ours, such as a scanner's, what it would
    have made of the plain one."""
    if not issubclass(cls, Front):
        return cls
    if is_outermost(cls):
        return cls.__bases__[1]
    rest = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    return type(cls.__name__.replace("Fmo", "", 1), tuple(map(plain_class, cls.__bases__)), rest)


def make_plain(one: Any) -> None:
    """Take ours away from an object, with its attributes."""
    one.__class__ = plain_class(type(one))
    for name in ("fmo_options", "_fmo_warned"):
        vars(one).pop(name, None)


def plain_copy(one: Any) -> Any:
    """A copy of an object, and of those inside it, without ours; the original keeps its own."""
    one = copy.copy(one)
    if isinstance(one, Front):
        make_plain(one)
    for inner in ("_scf", "base"):
        if inner in vars(one):
            setattr(one, inner, plain_copy(getattr(one, inner)))
    return one
