"""libfmo through ctypes: where it is, its structs, functions and errors.

Mirrors the public headers (<fmo/status.h>, <fmo/basis.h>, <fmo/fock.h>, <fmo/gradient.h>); tests/python/layout.c
prints what a C compiler makes of those and the tests compare.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

from ._errors import error_of

VERSION = "0.2.0"
SOVERSION = ".".join(VERSION.split(".")[:2] if VERSION.startswith("0.") else VERSION.split(".")[:1])


class ErrorStruct(ctypes.Structure):
    """fmo_error"""
    _fields_ = [("status", c_int), ("message", c_char * 512)]


class BasisInput(ctypes.Structure):
    """fmo_basis_input"""
    _fields_ = [
        ("nucleus_num", c_int), ("nucleus_charge", c_void_p), ("nucleus_coord", c_void_p),
        ("shell_num", c_int), ("shell_nucleus", c_void_p), ("shell_ang_mom", c_void_p),
        ("prim_num", c_int), ("prim_shell", c_void_p), ("prim_exponent", c_void_p),
        ("prim_coefficient", c_void_p),
        ("ao_num", c_int), ("ao_shell", c_void_p), ("ao_component", c_void_p),
        ("ao_factor", c_void_p), ("cartesian", c_int)]


class Options(ctypes.Structure):
    """fmo_fock_options"""
    _fields_ = [
        ("mode", c_int), ("reduce", c_int), ("threads", c_int), ("cutoff", c_double),
        ("memory", c_size_t), ("integrals", c_int), ("coulomb", c_int), ("scatter", c_int),
        ("commit", c_int),
        ("no_overlap", c_int), ("measure_classes", c_int), ("measure_accumulation", c_int),
        ("device", c_int), ("stream", c_void_p), ("device_num", c_int), ("devices", c_int * 16),
        ("progress", c_void_p), ("progress_user", c_void_p),
        ("ranks", c_void_p)]


class Operator(ctypes.Structure):
    """fmo_operator"""
    _fields_ = [("full", c_double), ("long_range", c_double), ("omega", c_double)]


class Job(ctypes.Structure):
    """fmo_fock_job"""
    _fields_ = [("plan", c_void_p), ("density", c_void_p), ("coulomb", c_void_p),
                ("exchange", c_void_p), ("status", c_int), ("err", POINTER(ErrorStruct)),
                ("source", c_void_p), ("symmetry", c_int), ("coulomb_operator", Operator),
                ("exchange_operator", Operator)]


class GradientTermStruct(ctypes.Structure):
    """fmo_gradient_term"""
    _fields_ = [("density", c_void_p), ("coulomb_weight", c_double), ("exchange_weight", c_double),
                ("coulomb_operator", Operator), ("exchange_operator", Operator)]


Functions = Mapping[str, "tuple[Any, list[Any]]"]  # name -> type of the result, of the arguments

_FUNCTIONS: Functions = {
    "fmo_version": (c_char_p, []),
    "fmo_status_exit_code": (c_int, [c_int]),
    "fmo_basis_create": (c_int, [POINTER(BasisInput), POINTER(c_void_p), POINTER(ErrorStruct)]),
    "fmo_basis_destroy": (None, [c_void_p]),
    "fmo_fock_options_init": (None, [POINTER(Options)]),
    "fmo_fock_plan_create": (c_int, [c_void_p, POINTER(Options), POINTER(c_void_p),
                                     POINTER(ErrorStruct)]),
    "fmo_fock_plan_destroy": (None, [c_void_p]),
    "fmo_fock_choose_mode": (c_int, [c_void_p, POINTER(Options), POINTER(c_int), c_char_p,
                                     POINTER(ErrorStruct)]),
    "fmo_fock_build_batch": (c_int, [POINTER(Job), c_size_t, POINTER(ErrorStruct)]),
    "fmo_fock_gradient": (c_int, [c_void_p, POINTER(GradientTermStruct), c_int, c_void_p, POINTER(ErrorStruct)]),
    "fmo_basis_ao_norm": (POINTER(c_double), [c_void_p]),
    "fmo_overlap": (c_int, [c_void_p, c_void_p, POINTER(ErrorStruct)]),
    "fmo_dipole": (c_int, [c_void_p, c_double * 3, c_void_p, POINTER(ErrorStruct)]),
    "fmo_fock_plan_expect": (c_int, [c_void_p, c_double, POINTER(ErrorStruct)]),
    "fmo_fock_build_batch_device": (c_int, [POINTER(Job), c_size_t, POINTER(ErrorStruct)]),
    "fmo_gpu_available": (c_int, [POINTER(ErrorStruct)]),
    "fmo_mode_name": (c_char_p, [c_int]),
    "fmo_reduce_name": (c_char_p, [c_int]),
    "fmo_integrals_name": (c_char_p, [c_int]),
    "fmo_coulomb_name": (c_char_p, [c_int]),
    "fmo_scatter_name": (c_char_p, [c_int]),
    "fmo_commit_name": (c_char_p, [c_int]),
}


def _candidates() -> Iterator[tuple[str | Path, str]]:
    """Where libfmo may be: (file or name for the loader, what that place is)."""
    package = Path(__file__).resolve().parent
    named = os.environ.get("FMO_LIBRARY")
    if named:
        yield named, "FMO_LIBRARY"
        return
    yield package / "lib" / f"libfmo.so.{SOVERSION}", "in this package"
    yield package / "libfmo.so", "beside this module"
    source = (package / "../../..").resolve()
    if (source / "accumulate" / "fock.h").is_file():
        yield source / "build" / "lib" / "libfmo.so", "build tree"
    # This package is lib/python3.11/site-packages/fmo of an installation, wherever that is.
    triplet = sysconfig.get_config_var("MULTIARCH") or ""
    for folder in (source, source / triplet, (source / "../lib64").resolve()):
        yield folder / f"libfmo.so.{SOVERSION}", "installed with this module"
    for name in ("lib", "lib64"):
        yield Path(sys.prefix) / name / f"libfmo.so.{SOVERSION}", "this Python's prefix"
    yield f"libfmo.so.{SOVERSION}", "the loader's search path"
    found = ctypes.util.find_library("fmo")
    if found:
        yield found, "system"


def _open(path: str, functions: Functions) -> ctypes.CDLL:
    """A library whose functions have their types; OSError or AttributeError."""
    library = ctypes.CDLL(path)
    for name, (result, arguments) in functions.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def _load() -> tuple[ctypes.CDLL, str]:
    """The library and its path; ImportError that says what was tried and what helps."""
    tried = []
    for candidate, place in _candidates():
        if isinstance(candidate, Path) and not candidate.is_file():
            tried.append(f"{candidate} ({place}): not there")
            continue
        try:
            library = _open(str(candidate), _FUNCTIONS)
        except (OSError, AttributeError) as reason:
            tried.append(f"{candidate} ({place}): {reason}")
            continue
        version = library.fmo_version().decode()
        if version != SOVERSION and not version.startswith(SOVERSION + "."):
            tried.append(f"{candidate} ({place}): version {version}, this module needs {SOVERSION}")
            continue
        return library, str(candidate)
    raise ImportError(
        "libfmo was not found. Install it with the module (pip install fmo, or in fmo's sources pip install .), "
        "build it (./quickstart run), install it "
        "(cmake --install build --prefix PREFIX; with PREFIX/lib in LD_LIBRARY_PATH or ldconfig's "
        "folders), or name it: FMO_LIBRARY=/path/to/libfmo.so. Tried: " + "; ".join(tried))


LIBRARY, _PATH = _load()


def library_path() -> str:
    """The file, or the loader's name, of the libfmo in use."""
    return str(_PATH)


_siblings: dict[str, ctypes.CDLL] = {}
_siblings_lock = threading.Lock()


def sibling(part: str, functions: Functions) -> ctypes.CDLL:
    """libfmo_PART, from where libfmo came from; ImportError that says what is missing."""
    with _siblings_lock:
        if part not in _siblings:
            folder, name = os.path.split(library_path())
            try:
                _siblings[part] = _open(os.path.join(folder, name.replace("libfmo", f"libfmo_{part}", 1)), functions)
            except (OSError, AttributeError) as reason:
                raise ImportError(f"libfmo_{part} was not found beside libfmo: {reason}") from reason
        return _siblings[part]


def zeroed(kind: type[ctypes.Structure]) -> Any:
    """A struct of zeros, with zeros behind it for fields that later versions of libfmo may have."""
    return kind.from_buffer(bytearray(ctypes.sizeof(kind) + 1024))


def checked(function: Any, *arguments: Any) -> None:
    """Call with an fmo_error behind the arguments; a bad status becomes the Error of its kind."""
    err = ErrorStruct()
    status = function(*arguments, ctypes.byref(err))
    if status != 0:
        raise error_of(status, err.message)


def names_of(what: str, library: ctypes.CDLL | None = None) -> list[str]:
    """The values of an option by name, in the order of its enum; of libfmo's unless told."""
    look_up = getattr(library or LIBRARY, f"fmo_{what}_name")
    names: list[str] = []
    while (name := look_up(len(names))) is not None:
        names.append(name.decode())
    return names
