"""Gradients of energies by central differences: of fragments, and to compare with analytic ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import bad_value
from ._molecule import Molecule

STEP = 0.001  # bohr: errors of 1e-7 hartree/bohr for water, 6e-7 with 0.002


def check_step(step: Any) -> float:
    """A step in bohr that differences can be taken with; InputError for others."""
    try:
        number = float(step)
    except (TypeError, ValueError) as reason:
        raise bad_value(f"step = {step!r}: expected a length in bohr") from reason
    if not 1e-4 <= number <= 0.1:
        raise bad_value(f"step = {number:g}: expected 0.0001 to 0.1 bohr")
    return number


def displaced(mol: Any, step: float) -> list[Any]:
    """The molecule with each coordinate a step larger and smaller, [natm][x, y, z][+, -], as one list."""
    coords, made = np.asarray(mol.atom_coords()), []
    for atom in range(len(coords)):
        for axis in range(3):
            for sign in (1.0, -1.0):
                at = coords.copy()
                at[atom, axis] += sign * step
                made.append(mol.with_positions(at, "bohr") if isinstance(mol, Molecule)
                            else mol.set_geom_(at, unit="bohr", inplace=False))
    return made


def gradient(energies: Sequence[float], step: float) -> NDArray[Any]:
    """[natm, 3], hartree/bohr, from the energies of displaced()."""
    pairs = np.asarray(energies, dtype=np.float64).reshape(-1, 3, 2)
    return np.asarray((pairs[..., 0] - pairs[..., 1]) / (2.0 * step))
