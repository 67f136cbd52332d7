"""libfmo_io through ctypes: molecules from .xyz files, basis sets, the bases that they give, and fragments.

Mirrors <fmo/molecule.h>, <fmo/basis_set.h>, <fmo/dataset.h> and <fmo/fragment_system.h>; see _library.py.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from ctypes import POINTER, c_char, c_char_p, c_double, c_int, c_void_p

from ._library import BasisInput, ErrorStruct, Functions, checked, sibling

BOHR = 0.52917721092  # angstrom; FMO_BOHR_IN_ANGSTROM, and PySCF's


class MoleculeStruct(ctypes.Structure):
    """fmo_molecule"""
    _fields_ = [("nucleus_num", c_int), ("number", POINTER(c_int)), ("coord", POINTER(c_double)),
                ("ghost", POINTER(c_int)), ("title", c_char_p), ("comment", c_char * 256), ("path", c_char_p), ("sha256", c_char * 65), ("frame", c_int),
                ("charge", c_int), ("multiplicity", c_int), ("notice", c_char * 160)]


class FragmentSystem(ctypes.Structure):
    """The beginning of fmo_fragment_system, up to the last field that is used here."""
    _fields_ = [("atom_num", c_int), ("number", POINTER(c_int)), ("coord", POINTER(c_double)),
                ("fragment", POINTER(c_int)), ("fragment_num", c_int), ("charge", POINTER(c_int)), ("bond_num", c_int),
                ("bond", POINTER(c_int)), ("aoc_from", c_double), ("ptc_from", c_double),
                ("es_dimers_from", c_double), ("bohr", c_double), ("reference", c_double), ("name", c_char_p),
                ("fragment_name", POINTER(c_char_p)), ("basis", c_char_p)]


_err = POINTER(ErrorStruct)
_FUNCTIONS: Functions = {
    "fmo_element_symbol": (c_char_p, [c_int]),
    "fmo_xyz_open": (c_int, [c_char_p, POINTER(c_void_p), _err]),
    "fmo_xyz_next": (c_int, [c_void_p, POINTER(POINTER(MoleculeStruct)), _err]),
    "fmo_xyz_close": (None, [c_void_p]),
    "fmo_molecule_destroy": (None, [POINTER(MoleculeStruct)]),
    "fmo_basis_set_read": (c_int, [c_char_p, POINTER(c_void_p), _err]),
    "fmo_basis_set_destroy": (None, [c_void_p]),
    "fmo_basis_set_choose_functions": (None, [c_void_p, c_int]),
    "fmo_fragment_system_read": (c_int, [c_char_p, POINTER(POINTER(FragmentSystem)), _err]),
    "fmo_fragment_system_destroy": (None, [POINTER(FragmentSystem)]),
    "fmo_dataset_create_with": (c_int, [POINTER(MoleculeStruct), c_void_p, c_int, c_int, POINTER(c_void_p), _err]),
    "fmo_dataset_destroy": (None, [c_void_p]),
    "fmo_dataset_basis_input": (POINTER(BasisInput), [c_void_p]),
    "fmo_dataset_electron_num": (c_int, [c_void_p]),
    "fmo_dataset_nuclear_repulsion": (c_double, [c_void_p]),
    "fmo_dataset_formula": (c_char_p, [c_void_p]),
}


def io_library() -> ctypes.CDLL:
    """libfmo_io, from where libfmo came from."""
    return sibling("io", _FUNCTIONS)


@functools.lru_cache(maxsize=None)
def element_numbers() -> dict[str, int]:
    """Atomic numbers by symbol, "cl": 17."""
    return {io_library().fmo_element_symbol(number).decode().lower(): number for number in range(1, 119)}


class BasisSet:
    """An fmo_basis_set; it is read only, so threads may share it."""

    def __init__(self, name: str):
        self.handle = c_void_p()
        checked(io_library().fmo_basis_set_read, os.fsencode(name), ctypes.byref(self.handle))

    def __del__(self) -> None:
        io_library().fmo_basis_set_destroy(self.handle)


_sets: dict[tuple[str, ...], BasisSet] = {}
_sets_lock = threading.Lock()
_SETS_MAX = 16


def basis_set(name: str) -> BasisSet:
    """A basis set by name or path, as fmo_basis_set_read; kept, as long as its file does not change."""
    state = os.environ.get("FMO_BASIS_PATH", "")
    if os.path.isfile(name):
        found = os.stat(name)
        state = f"{os.path.abspath(name)} {found.st_mtime_ns} {found.st_size} {found.st_ino}"
    with _sets_lock:
        if (name, state) not in _sets:
            made = BasisSet(name)
            if len(_sets) >= _SETS_MAX:
                _sets.clear()
            _sets[name, state] = made
        return _sets[name, state]
