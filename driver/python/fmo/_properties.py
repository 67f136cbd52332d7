"""What follows from a density: dipole moment and populations."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import bad_value
from ._library import LIBRARY, checked
from ._plan import basis_arrays, basis_create

DEBYE = 2.541746473  # of 1 e bohr, CODATA 2018
_UNITS = {"debye": DEBYE, "au": 1.0, "a.u.": 1.0}


def dipole_unit(unit: Any) -> float:
    """1 e bohr in this unit; InputError for unknown ones."""
    if not isinstance(unit, str) or unit.lower() not in _UNITS:
        raise bad_value(f"unit = {unit!r}: expected 'Debye' or 'AU'")
    return _UNITS[unit.lower()]


def dipole(mol: Any, density: NDArray[Any], origin: Any = None) -> NDArray[Any]:
    """Dipole moment of nuclei and electrons about a point ([3], bohr; None: that of the coordinates), [3], e bohr."""
    arrays = basis_arrays(mol)
    about = np.zeros(3) if origin is None else np.asarray(origin, dtype=np.float64)
    if about.shape != (3,):
        raise bad_value(f"origin: expected 3 coordinates in bohr, not {about.shape}")
    nao = len(arrays["ao_shell"])
    matrices = np.empty((3, nao, nao))
    basis = basis_create(arrays, bool(mol.cart))
    try:
        checked(LIBRARY.fmo_dipole, basis, (ctypes.c_double * 3)(*about), matrices.ctypes.data)
    finally:
        LIBRARY.fmo_basis_destroy(basis)
    nuclei = arrays["nucleus_charge"] @ (arrays["nucleus_coord"] - about)
    return np.asarray(nuclei - np.einsum("xij,ij->x", matrices, density))


def mulliken(mol: Any, density: NDArray[Any], overlap: NDArray[Any]) -> NDArray[Any]:
    """Mulliken populations of a density by atom, sum_i in A (D S)_ii, [natm]."""
    return _by_atom(mol, np.einsum("ij,ij->i", density, overlap))


def loewdin(mol: Any, density: NDArray[Any], overlap: NDArray[Any]) -> NDArray[Any]:
    """Loewdin populations of a density by atom, sum_i in A (S^1/2 D S^1/2)_ii, [natm]; J. Chem. Phys. 18, 365 (1950)."""
    values, vectors = np.linalg.eigh(overlap)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # rounding may make an eigenvalue negative
    return _by_atom(mol, np.einsum("ij,ij->i", root @ density, root))


def _by_atom(mol: Any, of_functions: NDArray[Any]) -> NDArray[Any]:
    arrays = basis_arrays(mol)
    return np.bincount(arrays["shell_nucleus"][arrays["ao_shell"]], weights=of_functions,
                       minlength=len(arrays["nucleus_charge"]))


def charges(mol: Any, populations: NDArray[Any]) -> NDArray[Any]:
    """Charges of the atoms with these populations, [natm], e."""
    return np.asarray(basis_arrays(mol)["nucleus_charge"] - populations)
