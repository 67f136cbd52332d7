"""Check a data set against itself: everything recomputed from the basis in the file.

The way here differs from the way there: files are made through a PySCF molecule built from a basis
name; checks go through bare libcint tables built from the file (rhf.molecule_of) and, for the
overlap, through closed formulas (basis.overlap).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

import h5py
import numpy as np

from . import DatasetError
from .basis import check_supported, overlap
from .files import FMO_MATRICES, read_basis, reference_sha256
from .rhf import Reference, density_of, recompute

MATRIX_TOLERANCE = 1e-11   # hartree, or 1 for overlap and density
ENERGY_TOLERANCE = 1e-10   # hartree
ONE_ELECTRON = {"overlap": "overlap", "kinetic": "kinetic", "potential_n_e": "potential",
                "core_hamiltonian": "core_hamiltonian"}


@dataclass(frozen=True)
class Check:
    """One comparison."""

    name: str
    error: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """False for NaN too."""
        return self.error <= self.tolerance


def check_file(path: Path) -> list[Check]:
    """All checks that the contents of a file (and a JSON of its name beside it) allow."""
    try:
        with h5py.File(path, "r") as file:
            return list(_checks(file, path.with_suffix(".json")))
    except (OSError, KeyError, ValueError) as error:
        raise DatasetError(f"{path}: {error}") from None


def _checks(file: h5py.File, sidecar: Path) -> Iterator[Check]:
    """Compare the matrices and energies of a data set with values computed anew from its basis and orbitals."""
    basis = read_basis(file)
    check_supported(basis.shell_ang_mom, file.filename)
    c, occupation = file["mo/mo_coefficient"][...], file["mo/mo_occupation"][...]
    density = density_of(c, occupation)
    own = recompute(basis, c, occupation, density)

    yield _matrix("closed formulas, overlap", overlap(basis), own.overlap)
    yield _matrix("C S C^T", c @ own.overlap @ c.T, np.eye(len(c)))
    yield _scalar("tr DS, electrons", own.nelectron, file["electron"].attrs["electron_up_num"]
                  + file["electron"].attrs["electron_dn_num"], 0)
    yield _stationary(own, c)
    for name, field in ONE_ELECTRON.items():
        if f"ao_1e_int_{name}" in file["ao_1e_int"]:
            yield _matrix(name, file[f"ao_1e_int/ao_1e_int_{name}"][...], getattr(own, field))
    if "nucleus_repulsion" in file["nucleus"].attrs:
        yield _scalar("nucleus_repulsion", file["nucleus"].attrs["nucleus_repulsion"],
                      own.nuclear_repulsion, ENERGY_TOLERANCE)
    if "fmo" in file:
        yield from _fmo_checks(file["fmo"], own)
    if sidecar.exists():
        yield from _sidecar_checks(json.loads(sidecar.read_text(encoding="ascii")), own)


def _fmo_checks(group: h5py.Group, own: Reference) -> Iterator[Check]:
    matrices = {name: group[name][...] for name in FMO_MATRICES}
    for name, matrix in matrices.items():
        yield _matrix(f"fmo/{name}", matrix, getattr(own, name))
    yield _scalar("fmo/energy", group["energy"][()], own.energy, ENERGY_TOLERANCE)
    same = reference_sha256(matrices.values()) == group.attrs["reference_sha256"].decode()
    yield Check("fmo/reference_sha256", 0 if same else np.inf, 0)


def _sidecar_checks(expected: dict, own: Reference) -> Iterator[Check]:
    for name in FMO_MATRICES:
        yield _matrix(f"json {name}", np.array(expected[name]), getattr(own, name))
    yield _scalar("json energy", expected["energy"], own.energy, ENERGY_TOLERANCE)


def _stationary(own: Reference, c: np.ndarray) -> Check:
    """Off-diagonal Fock elements between occupied and empty orbitals, which SCF makes vanish."""
    fock = c @ (own.core_hamiltonian + own.fock_2e) @ c.T
    occupied = own.mo_occupation > 0
    block = fock[np.ix_(occupied, ~occupied)]
    return Check("Fock, occupied-empty", float(np.abs(block).max(initial=0.0)),
                 10 * own.accuracy.scf_gradient)


def _matrix(name: str, a: np.ndarray, b: np.ndarray) -> Check:
    error = float(np.abs(a - b).max()) if a.shape == b.shape else np.inf
    return Check(name, error, MATRIX_TOLERANCE)


def _scalar(name: str, a: float, b: float, tolerance: float) -> Check:
    return Check(name, abs(float(a) - float(b)), tolerance)
