"""ASE's calculator: from fmo.ase import FMO.

    from ase.build import molecule
    from ase.optimize import BFGS
    from fmo.ase import FMO
    atoms = molecule("CH3CH2OH")
    atoms.calc = FMO(basis="3-21g")
    BFGS(atoms).run(fmax=0.05)

Forces of method hf are analytic; those of fmo2 are central differences of the energy, 6 calculations an atom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _numeric
from ._errors import ConvergenceError, UnsupportedError, bad_type, bad_value
from ._fragments import FMO2
from ._molecule import BASIS, Molecule
from ._optional import optional
from ._plan import ENUMS, NUMBERS, check_options, make_options
from ._rhf import RHF
from ._uhf import hf
from ._scf import CHOICES, SETTINGS, log

Calculator: Any = optional("ase.calculators.calculator").Calculator
SCFError: Any = optional("ase.calculators.calculator").SCFError
all_changes: Any = optional("ase.calculators.calculator").all_changes
_units = optional("ase.units")

METHODS = ("hf", "fmo2")


class NotConvergedError(ConvergenceError, SCFError):  # type: ignore[misc]
    """An SCF did not converge: an fmo.ConvergenceError and ASE's SCFError."""


class FMO(Calculator):  # type: ignore[misc]
    """Energies, forces, dipole moments and charges of molecules, for ASE.

    method: "hf" (UHF of open shells), or "fmo2", the fragment molecular orbital method, which gives no dipole moment. basis,
    functions: as of fmo.Molecule. charge: e; None: the sum of the atoms' initial charges. multiplicity:
    2S + 1; None: of the initial magnetic moments. fragments: for fmo2, lists of atoms counted from 0; None: each
    molecule, by the distances of its atoms, is one. fragment_charges: e. step: of the central differences that
    forces of fmo2 are, bohr. scf: attributes of fmo.RHF or fmo.FMO2, as {"max_cycle": 200}. Options of builds as of
    fmo.get_jk, as mode="cpu", threads=2. label: as of ASE.

    results: energy and free_energy (eV, the same), forces [natm, 3] (eV/angstrom), dipole [3] (e angstrom),
    charges [natm] (e, Mulliken). Each SCF begins with the density of the last where the atoms are the same.

    Raises InputError, InputTypeError and UnsupportedError as fmo.Molecule and fmo.RHF do, also for periodic atoms;
    NotConvergedError, which is ASE's SCFError.
    """

    implemented_properties = ["energy", "free_energy", "forces", "dipole", "charges"]
    default_parameters: dict[str, Any] = {
        "method": "hf", "basis": BASIS, "charge": None, "multiplicity": None, "fragments": None,
        "fragment_charges": None, "functions": "set", "step": _numeric.STEP, "scf": {}}

    def __init__(self, method: str = "hf", basis: str = BASIS, charge: int | None = None,
                 multiplicity: int | None = None, fragments: Sequence[Sequence[int]] | None = None, **others: Any):
        self._options: dict[str, Any] = {}
        self._last: RHF | None = None
        super().__init__(method=method, basis=basis, charge=charge, multiplicity=multiplicity, fragments=fragments,
                         **others)

    def set(self, **changes: Any) -> dict[str, Any]:
        """Change parameters; InputTypeError for a name that is none, InputError for a method that is none."""
        builds = {name: value for name, value in changes.items() if name in (*ENUMS, *NUMBERS)}
        make_options(**builds)
        for name in changes:
            if name in (*SETTINGS, *CHOICES):
                raise bad_type(f"fmo.ase.FMO: {name} is an attribute of fmo.RHF: scf={{'{name}': ...}}")
        check_options(changes, self.default_parameters, "fmo.ase.FMO")
        method = changes.get("method", "hf")
        if method not in METHODS:
            raise bad_value(f"method = {method!r}: expected one of {', '.join(METHODS)}")
        if not isinstance(changes.get("scf", {}), Mapping):
            raise bad_type(f"scf: expected a dict, as {{'max_cycle': 200}}, not {type(changes['scf']).__name__}")
        if "step" in changes:
            _numeric.check_step(changes["step"])
        self._options.update(builds)
        changed: dict[str, Any] = super().set(**changes)
        if changed:
            self.reset()
            self._last = None
        return changed

    def calculate(self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = all_changes
                  ) -> None:
        """Called by ASE to compute the requested properties."""
        super().calculate(atoms, properties, system_changes)
        mol = Molecule.from_ase(self.atoms, self.parameters.charge, self.parameters.multiplicity,
                                self.parameters.basis, self.parameters.functions)
        try:
            (self._calculate_fmo2 if self.parameters.method == "fmo2" else self._calculate_hf)(mol, properties)
        except ConvergenceError as reason:
            raise NotConvergedError(reason.status, reason.message) from reason

    def _settings(self, one: Any) -> Any:
        for name, value in self.parameters.scf.items():
            setattr(one, name, value)
        return one

    def _calculate_hf(self, mol: Molecule, properties: Any) -> None:
        mf = self._settings(hf(mol, **self._options))
        mf.with_forces = "forces" in properties
        last = self._last
        same = last is not None and np.array_equal(last.mol.numbers, mol.numbers) and \
            (last.mol.charge, last.mol.spin) == (mol.charge, mol.spin)
        mf.kernel(last.make_rdm1() if last is not None and same else None)
        if mf.error is not None:
            raise mf.error
        self._last = mf
        self._energy(mf.e_tot)
        self.results["dipole"] = mf.dip_moment("AU") * _units.Bohr
        self.results["charges"] = mf.mulliken_charges()
        if mf.gradient is not None:
            self._forces(mf.gradient)

    def _calculate_fmo2(self, mol: Molecule, properties: Any) -> None:
        if "dipole" in properties:
            raise UnsupportedError("FMO_ERR_UNSUPPORTED", "fmo.ase.FMO: method fmo2 gives no dipole moment")
        fragments = self.parameters.fragments
        if fragments is None:
            fragments = molecules_of(self.atoms)
        mf = self._settings(FMO2(mol, fragments=fragments, fragment_charges=self.parameters.fragment_charges,
                                 **self._options))
        mf.kernel()
        self._energy(mf.e_tot)
        self.results["charges"] = mf.charges
        if "forces" in properties:
            log.info("fmo.ase.FMO: forces are central differences of the energy, step %g bohr", self.parameters.step)
            self._forces(mf.numerical_gradient(self.parameters.step))

    def _energy(self, hartree: float) -> None:
        self.results["energy"] = self.results["free_energy"] = hartree * _units.Hartree

    def _forces(self, gradient: Any) -> None:
        self.results["forces"] = -gradient * (_units.Hartree / _units.Bohr)


def molecules_of(atoms: Any) -> list[list[int]]:
    """The molecules of an Atoms object as lists of atoms: atoms are bonded where ASE's neighbour list has them
    within 1.2 times the sum of their covalent radii."""
    lists = optional("ase.neighborlist")
    first, second = lists.neighbor_list("ij", atoms, lists.natural_cutoffs(atoms, mult=1.2))
    found = list(range(len(atoms)))  # the lowest atom that each is connected with, once settled
    changed = True
    while changed:
        changed = False
        for i, j in zip(first, second):
            if found[i] != found[j]:
                found[i] = found[j] = min(found[i], found[j])
                changed = True
    return [[k for k, one in enumerate(found) if one == root] for root in sorted(set(found))]
