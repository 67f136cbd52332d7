"""Optimised geometries for the command line, by geomeTRIC or ASE."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import ConvergenceError, Error
from ._molecule import Molecule
from ._optional import is_installed, optional

OPTIMIZERS = {"geometric": "geomeTRIC", "ase": "ASE"}  # names of their modules
_SILENT = """[loggers]
keys=root
[handlers]
keys=none
[formatters]
keys=
[logger_root]
level=CRITICAL
handlers=none
[handler_none]
class=NullHandler
args=()
"""
Step = Callable[[Molecule, float, float], None]  # geometry, hartree, largest force in hartree/bohr


def optimizer(name: str | None) -> str:
    """The requested one, or the first that is installed; Error with the command that installs one."""
    for one in (name,) if name else tuple(OPTIMIZERS):
        if is_installed(one):
            return one
    names = OPTIMIZERS[name] if name else " or ".join(OPTIMIZERS.values())
    raise Error("FMO_ERR_UNSUPPORTED", f"optimize needs {names}, which is not installed: "
                f"pip install {name or 'geometric'}")


def optimize(make: Callable[[Molecule], Any], mol: Molecule, by: str, max_steps: int, step: Step) -> Molecule:
    """The optimised molecule; ConvergenceError after `max_steps` steps.

    make: an RHF or UHF object of a molecule, which gradients are taken of.
    """
    last: list[Any] = []

    def evaluate(now: Molecule) -> tuple[float, NDArray[Any]]:
        mf = make(now)
        mf.with_forces = True
        mf.kernel(last[0].make_rdm1() if last else None)
        if mf.error is not None:
            raise mf.error
        last[:] = [mf]
        gradient = mf.gradient
        step(now, mf.e_tot, float(np.abs(gradient).max()))
        return mf.e_tot, gradient

    if mol.natm == 1:  # geomeTRIC has no coordinates for an atom
        evaluate(mol)
        return mol
    return (_by_geometric if by == "geometric" else _by_ase)(evaluate, mol, max_steps)


def _by_ase(evaluate: Callable[[Molecule], tuple[float, NDArray[Any]]], mol: Molecule, max_steps: int) -> Molecule:
    """BFGS until forces are below 0.02 eV/angstrom."""
    calculator, units = optional("ase.calculators.calculator"), optional("ase.units")
    base: Any = calculator.Calculator

    class Evaluated(base):  # type: ignore[misc]
        """Energy and forces of one evaluation."""

        implemented_properties = ["energy", "forces"]

        def calculate(self, atoms: Any = None, properties: Any = ("energy",), system_changes: Any = calculator.all_changes
                      ) -> None:
            super().calculate(atoms, properties, system_changes)
            energy, gradient = evaluate(mol.with_positions(self.atoms.positions))
            self.results = {"energy": energy * units.Hartree, "forces": -gradient * (units.Hartree / units.Bohr)}

    atoms = mol.to_ase()
    atoms.calc = Evaluated()
    if not optional("ase.optimize").BFGS(atoms, logfile=None).run(fmax=0.02, steps=max_steps):
        raise ConvergenceError("FMO_ERR_CHECK", f"the geometry has not converged in {max_steps} steps; --steps allows "
                               "more")
    return mol.with_positions(atoms.positions)


def _by_geometric(evaluate: Callable[[Molecule], tuple[float, NDArray[Any]]], mol: Molecule, max_steps: int) -> Molecule:
    """With geomeTRIC's own criteria."""
    class Evaluated(optional("geometric.engine").Engine):  # type: ignore[misc]
        """Energy and gradient of one evaluation."""

        def calc_new(self, coords: Any, dirname: Any) -> dict[str, Any]:
            """Called by geomeTRIC with coordinates in bohr."""
            energy, gradient = evaluate(mol.with_positions(coords.reshape(-1, 3), "bohr"))
            return {"energy": energy, "gradient": gradient.ravel()}

    theirs = optional("geometric.molecule").Molecule()
    theirs.elem, theirs.xyzs = list(mol.symbols), [mol.positions]
    with tempfile.TemporaryDirectory(prefix="fmo-") as folder:
        silent = os.path.join(folder, "log.ini")
        with open(silent, "w", encoding="ascii") as file:
            file.write(_SILENT)
        try:
            done = optional("geometric.optimize").run_optimizer(
                customengine=Evaluated(theirs), input=os.path.join(folder, "input"), maxiter=max_steps,
                prefix=os.path.join(folder, "geometry"), logIni=silent, qccnv=False)
        except optional("geometric.errors").GeomOptNotConvergedError as reason:
            raise ConvergenceError("FMO_ERR_CHECK", f"the geometry has not converged in {max_steps} steps; --steps allows "
                                   "more") from reason
    return mol.with_positions(done.xyzs[-1])
