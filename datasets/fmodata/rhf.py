"""RHF with PySCF: geometry in, all reference matrices out, in the AO order of the TREXIO file."""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyscf
from pyscf import gto, scf

from . import DatasetError
from .basis import LIBCINT_PLACE, Basis, libcint_factor

BOHR_IN_ANGSTROM = 0.52917721092  # CODATA 2010, also PySCF's own default
SHORTEST_DISTANCE = 0.2           # angstrom; anything below is a mistake in the file
IN_CORE_NAO = 200                 # up to this size every integral is kept, above it direct SCF


@dataclass(frozen=True)
class Accuracy:
    """Thresholds of a calculation; a cutoff is a density-weighted Schwarz bound."""

    scf_cutoff: float
    scf_energy: float    # hartree
    scf_gradient: float
    jk_cutoff: float     # behind the final J and K


IN_CORE = Accuracy(0.0, 1e-12, 1e-8, 0.0)
DIRECT = Accuracy(1e-14, 1e-8, 1e-5, 1e-16)


@dataclass(frozen=True)
class Geometry:
    """An xyz file: element symbols, coordinates in bohr, and what identifies the file."""

    name: str
    sha256: str
    symbols: list[str]
    coord: np.ndarray


@dataclass(frozen=True)
class Reference:
    """Everything a data set holds besides its basis. Matrices [nao][nao], hartree."""

    overlap: np.ndarray
    kinetic: np.ndarray
    potential: np.ndarray
    mo_coefficient: np.ndarray  # [mo][ao]
    mo_energy: np.ndarray
    mo_occupation: np.ndarray
    density: np.ndarray
    coulomb: np.ndarray
    exchange: np.ndarray
    nuclear_repulsion: float
    nelectron: int
    accuracy: Accuracy

    @property
    def core_hamiltonian(self) -> np.ndarray:
        """T + V."""
        return self.kinetic + self.potential

    @property
    def fock_2e(self) -> np.ndarray:
        """G = J - K/2."""
        return self.coulomb - 0.5 * self.exchange

    @property
    def energy(self) -> float:
        """E = 1/2 tr D (2 Hcore + G) + E_nuc, hartree."""
        one_and_two = 2.0 * self.core_hamiltonian + self.fock_2e
        return 0.5 * float(np.sum(self.density * one_and_two)) + self.nuclear_repulsion

    def in_aos(self, order: np.ndarray, scale: np.ndarray) -> Reference:
        """The same in AOs new_i = scale_i old_order(i)."""
        c = self.mo_coefficient[:, order] / scale
        matrices: dict[str, Any] = {
            name: in_aos(getattr(self, name), order, scale)
            for name in ("overlap", "kinetic", "potential", "coulomb", "exchange")}
        return replace(self, mo_coefficient=c, density=density_of(c, self.mo_occupation),
                       **matrices)


def in_aos(matrix: np.ndarray, order: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """A matrix of integrals in AOs new_i = scale_i old_order(i)."""
    return np.outer(scale, scale) * matrix[np.ix_(order, order)]  # symmetric to the last bit


def density_of(mo_coefficient: np.ndarray, occupation: np.ndarray) -> np.ndarray:
    """D = sum_i n_i C_i C_i^T, which for RHF is 2 C_occ C_occ^T."""
    c = mo_coefficient[occupation > 0]
    density = c.T @ (occupation[occupation > 0][:, None] * c)
    return 0.5 * (density + density.T)


def libcint_version() -> str:
    """The libcint release that this PySCF wheel was built with (its own build file says)."""
    text = (Path(pyscf.__file__).parent / "lib" / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"LIBCINT_VERSION\s+v?([0-9.]+)", text)
    return found.group(1) if found else "unknown"


def read_xyz(path: Path) -> Geometry:
    """Read a plain xyz file in angstrom."""
    try:
        raw = path.read_bytes()
        lines = raw.decode("ascii").splitlines()
        natom = int(lines[0])
        fields = [line.split() for line in lines[2:2 + natom]]
        symbols = [f[0] for f in fields]
        coord = np.array([[float(x) for x in f[1:4]] for f in fields]).reshape(natom, 3)
    except (OSError, UnicodeDecodeError, ValueError, IndexError) as error:
        raise DatasetError(f"{path}: not a readable xyz file ({error})") from None
    if natom < 1 or not np.all(np.isfinite(coord)):
        raise DatasetError(f"{path}: needs at least one atom and finite coordinates")
    gaps = np.linalg.norm(coord[:, None] - coord, axis=2) + np.diag(np.full(natom, np.inf))
    i, j = np.unravel_index(np.argmin(gaps), gaps.shape)
    if gaps[i, j] < SHORTEST_DISTANCE:
        raise DatasetError(f"{path}: atoms {i + 1} and {j + 1} are {gaps[i, j]:.3g} angstrom apart")
    return Geometry(path.name, hashlib.sha256(raw).hexdigest(), symbols, coord / BOHR_IN_ANGSTROM)


def make_molecule(geometry: Geometry, basis: str, charge: int,
                  cartesian: bool = True) -> gto.Mole:
    """A PySCF molecule; refuses unknown basis names and odd electron counts."""
    mol = gto.Mole(verbose=0, unit="Bohr", basis=basis, charge=charge, spin=None, cart=cartesian,
                   atom=list(zip(geometry.symbols, geometry.coord.tolist())))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice to install other packages
            mol.build()
    except (RuntimeError, KeyError, ValueError) as error:
        raise DatasetError(f"{geometry.name}, basis {basis}: PySCF says: "
                           f"{str(error).splitlines()[0]}") from None
    if mol.nelectron < 1 or mol.nelectron % 2:
        raise DatasetError(f"{geometry.name}, charge {charge}: {mol.nelectron} electrons, "
                           "a closed shell needs a positive even number")
    return mol


def basis_of(mol: gto.Mole, cartesian: bool) -> tuple[Basis, np.ndarray]:
    """The TREXIO basis of a molecule, and the PySCF AO behind each TREXIO AO.

    General contractions become one shell per contraction, without their zero coefficients.
    PySCF orders p as x y z whatever its `cart` says, and d as m = -2 ... 2 without it; a spherical
    TREXIO file requires z x y and m = 0, +1, -1, +2, -2.
    """
    shells: list[tuple[int, int]] = []
    prims: list[tuple[int, float, float, float]] = []
    ao_shell: list[int] = []
    order: list[int] = []
    first = 0
    for bas in range(mol.nbas):
        l, exponents = mol.bas_angular(bas), mol.bas_exp(bas)
        norms = gto.gto_norm(l, exponents) * libcint_factor(l, cartesian)
        for coefficients in mol.bas_ctr_coeff(bas).T:
            keep = np.flatnonzero(coefficients)
            prims += [(len(shells), exponents[k], coefficients[k], norms[k]) for k in keep]
            order += [first + place for place in LIBCINT_PLACE[cartesian][l]]
            ao_shell += [len(shells)] * len(order[first:])
            shells.append((mol.bas_atom(bas), l))
            first = len(order)
    nucleus_index, ang_mom = np.array(shells).T
    shell_index, exponent, coefficient, prim_factor = np.array(prims).T
    basis = Basis(
        coord=mol.atom_coords(), charge=mol.atom_charges().astype(float),
        nucleus_index=nucleus_index, shell_ang_mom=ang_mom, shell_factor=np.ones(len(shells)),
        shell_index=shell_index.astype(int), exponent=exponent, coefficient=coefficient,
        prim_factor=prim_factor, ao_shell=np.array(ao_shell),
        ao_normalization=np.ones(len(ao_shell)), cartesian=cartesian)
    return basis, np.array(order)


def molecule_of(basis: Basis) -> tuple[gto.Mole, np.ndarray]:
    """The way back: bare libcint tables of a basis read from a file, taken literally.

    Nothing is sorted or normalised on the way. Returns the molecule and, per AO of the file, the
    libcint function behind it: AO i = ao_normalization_i * function order[i].
    """
    env = [np.zeros(gto.PTR_ENV_START), basis.coord.ravel(), np.zeros(1)]
    zeta = gto.PTR_ENV_START + basis.coord.size
    atoms = [(round(z), gto.PTR_ENV_START + 3 * i, gto.NUC_POINT, zeta, 0, 0)
             for i, z in enumerate(basis.charge)]
    shells, used = [], zeta + 1
    for shell, (nucleus, l) in enumerate(zip(basis.nucleus_index, basis.shell_ang_mom)):
        prims = np.flatnonzero(basis.shell_index == shell)
        env += [basis.exponent[prims], basis.radial()[prims] / libcint_factor(l, basis.cartesian)]
        shells.append((nucleus, l, len(prims), 1, 0, used, used + len(prims), 0))
        used += 2 * len(prims)
    mol = gto.Mole(verbose=0, cart=basis.cartesian, spin=0)
    mol._atm, mol._bas = np.array(atoms, dtype=np.int32), np.array(shells, dtype=np.int32)
    mol._env, mol._built = np.concatenate(env), True
    in_libcint = LIBCINT_PLACE[basis.cartesian]
    functions = np.array([len(in_libcint[l]) for l in basis.shell_ang_mom])
    start = np.cumsum(functions) - functions
    place = [in_libcint[basis.shell_ang_mom[shell]][k]
             for shell, k in zip(basis.ao_shell, basis.places())]
    return mol, start[basis.ao_shell] + np.array(place)


def recompute(basis: Basis, mo_coefficient: np.ndarray, occupation: np.ndarray,
              density: np.ndarray) -> Reference:
    """All integrals and the J, K of a density from nothing but the basis in a file."""
    mol, order = molecule_of(basis)
    scale = basis.ao_normalization
    bare = np.empty_like(density)
    bare[np.ix_(order, order)] = scale[:, None] * density * scale
    integrals = (mol.intor_symmetric("int1e_ovlp"), mol.intor_symmetric("int1e_kin"),
                 mol.intor_symmetric("int1e_nuc"), *jk(mol, bare, integrals_in_core(mol)))
    s, t, v, j, k = (in_aos(m, order, scale) for m in integrals)
    return Reference(s, t, v, mo_coefficient, np.zeros_like(occupation), occupation, density,
                     j, k, float(mol.energy_nuc()),
                     round(float(np.sum(density * s))), accuracy_of(mol))


def accuracy_of(mol: gto.Mole) -> Accuracy:
    """Small systems: nothing left out. Large ones: direct SCF with cutoffs."""
    return IN_CORE if mol.nao <= IN_CORE_NAO else DIRECT


def integrals_in_core(mol: gto.Mole) -> np.ndarray | None:
    """All (ij|kl) without any screening, or None where that is too much."""
    return mol.intor("int2e", aosym="s8") if accuracy_of(mol) is IN_CORE else None


def converged(mol: gto.Mole, what: str, eri: np.ndarray | None = None,
              checkpoint: Path | None = None) -> scf.hf.RHF:
    """Tightly converged RHF."""
    mf = scf.RHF(mol)
    accuracy = accuracy_of(mol)
    mf.conv_tol, mf.conv_tol_grad = accuracy.scf_energy, accuracy.scf_gradient
    mf.direct_scf_tol, mf.max_cycle = accuracy.scf_cutoff, 200
    mf.chkfile = None if checkpoint is None else str(checkpoint)
    mf._eri = eri
    mf.kernel()
    if not mf.converged:
        raise DatasetError(f"{what}: RHF did not converge in {mf.max_cycle} cycles")
    return mf


def run_rhf(mol: gto.Mole, what: str) -> Reference:
    """Converged RHF, then J and K of its density. In PySCF's AO order."""
    eri = integrals_in_core(mol)
    mf = converged(mol, what, eri)
    c = _with_fixed_signs(mf.mo_coeff.T)
    density = density_of(c, mf.mo_occ)
    coulomb, exchange = jk(mol, density, eri)
    reference = Reference(
        overlap=mol.intor_symmetric("int1e_ovlp"), kinetic=mol.intor_symmetric("int1e_kin"),
        potential=mol.intor_symmetric("int1e_nuc"), mo_coefficient=c, mo_energy=mf.mo_energy,
        mo_occupation=mf.mo_occ, density=density, coulomb=coulomb, exchange=exchange,
        nuclear_repulsion=float(mol.energy_nuc()), nelectron=mol.nelectron,
        accuracy=accuracy_of(mol))
    if not abs(reference.energy - mf.e_tot) <= 1e-8:
        raise DatasetError(f"{what}: energy of the density {reference.energy:.12f} is not the "
                           f"SCF energy {mf.e_tot:.12f}")
    return reference


def jk(mol: gto.Mole, density: np.ndarray,
       eri: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """J_ij = sum D_kl (ij|kl) and K_ij = sum D_kl (ik|jl), exactly symmetric."""
    if eri is not None:
        pair = scf.hf.dot_eri_dm(eri, density, hermi=1)
    else:
        mf = scf.RHF(mol)
        mf.direct_scf_tol = accuracy_of(mol).jk_cutoff
        pair = scf.hf.SCF.get_jk(mf, mol, density, hermi=1)  # never the in-core shortcut
    coulomb, exchange = (0.5 * (m + m.T) for m in pair)
    return coulomb, exchange


def _with_fixed_signs(mo_coefficient: np.ndarray) -> np.ndarray:
    """Each orbital with its largest coefficient positive, so that regenerating repeats them."""
    largest = np.argmax(np.abs(mo_coefficient) > np.abs(mo_coefficient).max(axis=1)[:, None] - 1e-6,
                        axis=1)
    return mo_coefficient * np.sign(mo_coefficient[np.arange(len(largest)), largest])[:, None]
