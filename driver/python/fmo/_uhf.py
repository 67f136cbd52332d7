"""UHF and ROHF by libfmo_scf, with PySCF's attributes, and many molecules of any spin in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _properties
from ._errors import bad_value
from ._plan import arguments_of, check_moles, check_options
from ._rhf import RHF, _Extras, _batch, _copy
from ._scf import CHOICES, SETTINGS
from ._values import index_of


class UHF(RHF):
    """Spin-unrestricted SCF by libfmo_scf: UHF(mol).kernel(); settings and errors as of RHF.

    mol: an fmo.Molecule with its multiplicity, or a molecule of PySCF with its spin. With multiplicity 1
    guess_mix breaks the symmetry of the spins: the highest occupied and the lowest virtual orbital of the
    first density are mixed in opposite directions. Runs in modes cpu, split and reference; auto is cpu.

    After kernel(): mo_energy and mo_occ: [2, nmo]; mo_coeff: [2, nao, nmo], alpha first; make_rdm1() and
    get_fock(): [2, nao, nao]; spin_square(). hessian_lowest is that of rotations of both spins.
    """

    _name = "UHF"
    _open_shells = True

    guess_mix: bool = False
    unrestricted: bool = True

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "guess_mix": self.guess_mix, "unrestricted": self.unrestricted}

    def _spins_of(self, dm0: Any) -> tuple[Any, Any]:
        array = np.asarray(dm0)
        if array.ndim == 2:
            return array, None
        if array.ndim != 3 or len(array) != 2:
            raise bad_value(f"dm0: expected [2, nao, nao] or [nao, nao], not {list(array.shape)}")
        return array[0] + array[1], array[0] - array[1]

    def _take_orbitals(self, r: Any) -> None:
        self.mo_energy = np.array([_copy(one, r.mo_num) for one in (r.orbital_energy, r.orbital_energy_beta)])
        self.mo_occ = np.array([_copy(one, r.mo_num) for one in (r.occupation, r.occupation_beta)])
        self.mo_coeff = np.array([_copy(one, r.mo_num, r.nao).T for one in (r.coefficient, r.coefficient_beta)])
        self._matrices = {name: _copy(getattr(r, name), r.nao, r.nao)
                          for name in ("density", "spin_density", "fock", "fock_beta", "overlap", "core_hamiltonian")}
        self._spin_square = float(r.spin_square)

    _spin_square: float = float("nan")

    def make_rdm1(self) -> NDArray[Any]:
        """The density matrices that e_tot belongs to, alpha and beta, [2, nao, nao]; InputError before kernel()."""
        total, spin = self._matrix("density"), self._matrix("spin_density")
        return np.array([0.5 * (total + spin), 0.5 * (total - spin)])

    def get_fock(self) -> NDArray[Any]:
        """The Fock matrices of alpha and beta electrons, [2, nao, nao], hartree."""
        return np.array([self._matrix("fock"), self._matrix("fock_beta")])

    def spin_square(self) -> tuple[float, float]:
        """<S^2>, and the multiplicity 2S + 1 that it would belong to; InputError before kernel()."""
        self._matrix("density")
        return self._spin_square, 2.0 * math.sqrt(self._spin_square + 0.25)

    def mulliken_spins(self) -> NDArray[Any]:
        """Mulliken populations of the spin density by atom, [natm]; their sum is the number of unpaired electrons."""
        return self._populations(_properties.mulliken, "spin_density")

    def loewdin_spins(self) -> NDArray[Any]:
        """Loewdin populations of the spin density by atom, [natm], as of loewdin_charges(); sum as of mulliken_spins()."""
        return self._populations(_properties.loewdin, "spin_density")


class ROHF(UHF):
    """Restricted open-shell SCF by libfmo_scf: ROHF(mol).kernel(); settings and errors as of RHF; a closed shell is RHF.

    mol: as of UHF. Both spins have the same orbitals, of which as many are singly occupied as there are
    unpaired electrons; <S^2> is exact.

    After kernel(), as PySCF's: mo_energy: [nmo], eigenvalues of Roothaan's effective Fock matrix; mo_occ:
    [nmo] of 2, 1 and 0; mo_coeff: [nao, nmo]; make_rdm1(): [2, nao, nao]; get_fock(): the effective Fock
    matrix, [nao, nao]; get_spin_focks(): those of both spins; spin_square().
    """

    _name = "ROHF"
    unrestricted: bool = False
    restricted: bool = True

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "restricted": self.restricted}

    def _take_orbitals(self, r: Any) -> None:
        RHF._take_orbitals(self, r)
        shape = (r.nao, r.nao)
        self._matrices["spin_density"] = _copy(r.spin_density, *shape) if r.restricted else np.zeros(shape)
        self._matrices["fock_beta"] = _copy(r.fock_beta, *shape) if r.restricted else self._matrices["fock"]
        self._spin_square = float(r.spin_square)

    def get_spin_focks(self) -> NDArray[Any]:
        """The Fock matrices of alpha and beta electrons, [2, nao, nao], hartree."""
        return super().get_fock()

    def get_fock(self) -> NDArray[Any]:
        """Roothaan's effective Fock matrix, whose eigenvalues are mo_energy, [nao, nao], hartree; as PySCF's.

        (F_a + F_b)/2, but F_b between closed and open orbitals, and F_a between open and virtual ones.
        """
        alpha, beta = self.get_spin_focks()
        overlap = self._matrix("overlap")
        couple = 0.5 * overlap @ self._matrix("spin_density") @ (alpha - beta)
        couple -= couple @ self._matrix("density") @ overlap
        return np.asarray(0.5 * (alpha + beta) + couple + couple.T)


METHODS = ["uhf", "rohf"]


def _class_of(mol: Any, method: str = "uhf") -> type[RHF]:
    """RHF for a closed shell, UHF or ROHF for an open one."""
    if not getattr(mol, "spin", 0):
        return RHF
    return (UHF, ROHF)[index_of("method", method, METHODS)]


def hf(mol: Any, **options: Any) -> RHF:
    """An RHF object of a closed shell, a UHF object of an open one."""
    return _class_of(mol)(mol, **options)


def scf_batch(mols: Iterable[Any], callback: Callable[[int, RHF], Any] | None = None, *,
              method: str = "uhf", progress: bool | None = None, forces: bool = False, **settings: Any) -> list[RHF]:
    """SCFs of many molecules of any spin in one call: RHF of closed shells; of open ones UHF or, with method="rohf", ROHF.

    Settings, options, callback, forces and errors as of rhf_batch.
    """
    restricted = METHODS[index_of("method", method, METHODS)] == "rohf"
    own = {name: settings.pop(name, None) for name in (*SETTINGS, *CHOICES)}
    check_options(settings, (*arguments_of(scf_batch), *own), "fmo.scf_batch")
    own["with_forces"] = forces
    molecules = check_moles(mols, "scf_batch")
    return _batch("fmo.scf_batch", molecules, own, settings, _Extras(None, None, None, callback, progress, restricted),
                  [_class_of(mol, method) for mol in molecules])
