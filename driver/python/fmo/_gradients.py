"""Gradients with PySCF's names, and scanners: functions of a geometry, as geometry optimisers take them."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _scf
from ._errors import Strict, bad_value, named
from ._molecule import Molecule
from ._optional import is_installed, optional

if TYPE_CHECKING:
    from ._rhf import RHF


@named
class Gradients(Strict):
    """The derivative of an energy by the positions of the nuclei, with PySCF's names: Gradients(mf).kernel().

    base: the fmo.RHF or fmo.UHF object; mol: its molecule; de: [natm, 3], hartree/bohr, after kernel(). The derivative
    by the places of point charges is base.charge_gradient.
    """

    base: Any = None
    mol: Any = None
    de: NDArray[Any] | None = None

    def __init__(self, base: RHF):
        self.base, self.mol = base, base.mol

    def kernel(self, atmlst: Sequence[int] | None = None) -> NDArray[Any]:
        """The gradient, [natm, 3], hartree/bohr, or of the atoms atmlst; its error is proportional to the orbital gradient.

        Runs base.kernel() if there is no result. Raises ConvergenceError where the SCF has not converged, and
        UnsupportedError with field, projector, ECPs or nuclei of finite size.
        """
        base = self.base
        if base.mo_coeff is None:
            base.kernel()
        if base.error is not None:
            raise base.error
        if base.gradient is None:
            base.gradient, of_charges = _scf.gradient(base, base._matrices)  # pylint: disable=protected-access
            base.charge_gradient = of_charges if len(of_charges) else None
        self.de = base.gradient.copy() if atmlst is None else base.gradient[list(atmlst)]
        return self.de

    grad = kernel

    def run(self) -> Gradients:
        """kernel(), and the object, as PySCF's run()."""
        self.kernel()
        return self

    def as_scanner(self) -> GradScanner:
        """A function of molecules that returns energies and gradients, as PySCF's geometry optimisers use it."""
        return GradScanner(self.base)

    def nuc_grad_method(self) -> Gradients:
        """This object: PySCF's optimisers take it as well as mf."""
        return self

    def optimizer(self, solver: str = "geometric") -> Any:
        """PySCF's GeometryOptimizer for this method, "geometric" or "berny"; its kernel() returns the molecule."""
        if solver.lower() not in ("geometric", "berny"):
            raise bad_value(f"solver = {solver!r}: expected 'geometric' or 'berny'")
        return optional(f"pyscf.geomopt.{solver.lower()}_solver").GeometryOptimizer(self.as_scanner())


class Scanner(Strict):
    """mf.as_scanner(): scanner(mol) returns e_tot, scanner([...]) that of the same atoms elsewhere.

    A geometry is positions [natm, 3] in angstrom, or for a molecule of PySCF what its set_geom_ takes. Each SCF starts
    from the density of the last if it has as many functions and electrons. base: the SCF object of the last call, a
    copy of mf; e_tot, converged: its results. Raises InputError for an mf with field or projector, which depend on the
    geometry, and errors as kernel() of mf.
    """

    base: Any = None
    verbose: int = 0
    stdout: Any = sys.stdout

    def __init__(self, base: RHF):
        if base.field is not None or base.projector is not None:
            raise bad_value(f"fmo.{base._name}.as_scanner: field and projector depend on the geometry")
        self.base = copy.copy(base)

    @property
    def e_tot(self) -> float:
        """Energy of the last molecule, hartree."""
        return float(self.base.e_tot)

    @property
    def converged(self) -> bool:
        """Whether the SCF of the last molecule converged."""
        return bool(self.base.converged)

    @property
    def mol(self) -> Any:
        """The molecule of the last call; of an fmo.Molecule that of PySCF, where it is installed, which optimisers move."""
        mol = self.base.mol
        return mol.to_pyscf() if isinstance(mol, Molecule) and is_installed("pyscf") else mol

    @mol.setter
    def mol(self, mol: Any) -> None:
        self.base.reset(mol)

    def _move(self, given: Any) -> None:
        """Run the SCF of a molecule or geometry."""
        base = self.base
        if hasattr(given, "nelectron"):
            mol = given
        elif isinstance(base.mol, Molecule):
            mol = base.mol.with_positions(given)
        else:
            mol = base.mol.set_geom_(given, inplace=False)
        density = None if base.mo_coeff is None else base.make_rdm1()
        electrons = base.mol.nelectron, base.mol.spin
        base.reset(mol)
        same = density is not None and density.shape[-1] == mol.nao and electrons == (mol.nelectron, mol.spin)
        base.kernel(density if same else None)

    def __call__(self, mol_or_geometry: Any) -> Any:
        """The energy, hartree."""
        self._move(mol_or_geometry)
        return self.e_tot


class GradScanner(Scanner):
    """mf.nuc_grad_method().as_scanner(): as Scanner, but returns e_tot and the gradient, [natm, 3], hartree/bohr.

    de: the last gradient; atmlst: atoms whose rows are returned, None for all. Raises ConvergenceError, too.
    """

    de: NDArray[Any] | None = None
    atmlst: Sequence[int] | None = None

    def __init__(self, base: RHF):
        super().__init__(base)
        self.base.with_forces = True

    def __call__(self, mol_or_geometry: Any) -> Any:
        """The energy, hartree, and its gradient."""
        self._move(mol_or_geometry)
        if self.base.error is not None:
            raise self.base.error
        self.de = np.array(self.base.gradient)
        return self.e_tot, self.de if self.atmlst is None else self.de[list(self.atmlst)]

    def as_scanner(self) -> GradScanner:
        """This object."""
        return self

    def nuc_grad_method(self) -> GradScanner:
        """This object: PySCF's optimisers take it as well as mf."""
        return self
