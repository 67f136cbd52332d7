"""RHF by libfmo_scf: one molecule, with PySCF's attributes, and many in one call."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _numeric, _properties
from ._errors import Error, Strict, UnsupportedError, bad_type, bad_value, error_of, named
from ._gradients import Gradients, Scanner
from ._molecule import Molecule
from ._optional import optional
from ._plan import arguments_of, check_mole, check_moles, check_options, make_options
from ._progress import progress_bar
from ._scf import CHOICES, SETTINGS, Prepared, ScfJob, charge_arrays, log, make_scf_options, refused, run

_RESULTS = ("e_tot", "converged", "cycles", "mo_energy", "mo_coeff", "mo_occ", "field_energy", "projector_energy",
            "hessian_lowest", "error", "notice", "gradient", "charge_gradient")
_MATRICES = ("field", "projector", "charges", "charge_coords")  # settings of one molecule


def _copy(pointer: Any, *shape: int) -> NDArray[Any]:
    return np.ctypeslib.as_array(pointer, shape).copy()


@named
class RHF(Strict):
    """Closed-shell SCF by libfmo_scf, with PySCF's names: RHF(mol).kernel().

    mol: an fmo.Molecule, or a molecule of PySCF with s, p, d, f and g shells and no unpaired electrons. Options as of get_jk; integrals
    is "auto" unless given. An attribute that does not exist is refused: UnknownAttributeError.

    Set before kernel(), None meaning the library's default:
    conv_tol: hartree, 1e-9, and conv_tol_grad: hartree, 3e-5; max_cycle: 100; level_shift: hartree;
    diis_space: number of Fock matrices; init_guess: "sad", "core"; solver: "auto", "diagonalise",
    "purify", "newton"; stability: "none", "check", "follow"; with_forces: True computes the gradient
    too, of a tighter SCF; field, projector: [nao, nao], hartree, symmetric, added to the core Hamiltonian;
    charges, charge_coords: [n], e, and [n, 3], bohr: point charges in whose field the molecule is.

    After it:
    e_tot: hartree; converged; cycles; mo_energy: [nmo], hartree; mo_coeff: [nao, nmo]; mo_occ: [nmo];
    field_energy, projector_energy: hartree, tr D U and tr D P, part of e_tot; hessian_lowest: hartree, NaN
    unless the stability was checked; gradient: None, or with with_forces the derivative of e_tot by the positions of
    the nuclei, [natm, 3], hartree/bohr, which nuc_grad_method().kernel() and forces() compute at any time; charge_gradient: with it, that by the places of the
    point charges, [n, 3]; error: None, or the fmo.Error that says why there is no result or no convergence;
    notice: None, or that the cutoff is too loose for conv_tol, and by how much e_tot may be off (a
    CutoffWarning says it, too).

    Raises InputTypeError for what is no molecule or an unknown option, InputError for values of options,
    UnsupportedError for h shells, unpaired electrons and periodic systems.
    """

    _name = "RHF"
    _open_shells = False

    mol: Any = None
    options: dict[str, Any] = {}
    conv_tol: float | None = None
    conv_tol_grad: float | None = None
    max_cycle: int | None = None
    level_shift: float | None = None
    diis_space: int | None = None
    init_guess: str | None = None
    solver: str | None = None
    stability: str | None = None
    with_forces: bool = False
    field: Any = None
    projector: Any = None
    charges: Any = None
    charge_coords: Any = None
    verbose: int = 0  # PySCF's optimisers ask for it; nothing is printed here

    e_tot: float = float("nan")
    converged: bool = False
    cycles: int = 0
    mo_energy: NDArray[Any] | None = None
    mo_coeff: NDArray[Any] | None = None
    mo_occ: NDArray[Any] | None = None
    field_energy: float = 0.0
    projector_energy: float = 0.0
    hessian_lowest: float = float("nan")
    error: Error | None = None
    notice: str | None = None
    gradient: NDArray[Any] | None = None
    charge_gradient: NDArray[Any] | None = None

    def __init__(self, mol: Any, **options: Any):
        check_mole(mol, self._name)
        for name in options:
            if name in self._settings() or name in _MATRICES:
                raise bad_type(f"fmo.{self._name}: {name} is an attribute, set before kernel(): mf.{name} = ...")
        check_options(options, (*self._settings(), *_MATRICES), f"fmo.{self._name}")
        make_options(**options)
        self.options = options
        self.reset(mol)

    def reset(self, mol: Any = None) -> RHF:
        """Take the results away, and go on with another molecule if one is given; returns the object. Errors as of the class."""
        mol = self.mol if mol is None else mol
        check_mole(mol, self._name)
        reason = refused(mol, self._open_shells)
        if reason is not None:
            raise UnsupportedError("FMO_ERR_UNSUPPORTED", f"fmo.{self._name}: {reason}")
        self.mol = mol
        self._clear()
        return self

    def _clear(self) -> None:
        """No results: those of the class."""
        for name in _RESULTS:
            setattr(self, name, getattr(type(self), name))
        self._matrices: dict[str, NDArray[Any]] = {}

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*SETTINGS, *CHOICES, "with_forces")}

    def _take(self, job: ScfJob) -> None:
        """The results of a job that has ended, copied out of it."""
        self._clear()
        if job.status != 0:
            self.error = error_of(job.status, job.err.message)
        if not job.result:
            return
        r = job.result.contents
        self.e_tot, self.converged, self.cycles = r.energy, bool(r.converged), r.cycles
        self.field_energy, self.projector_energy = r.field_energy, r.projector_energy
        self.hessian_lowest = r.hessian_lowest
        self.notice = r.notice.decode(errors="replace") or None
        self.gradient = _copy(r.nuclear_gradient, r.nucleus_num, 3) if r.nucleus_num else None
        self.charge_gradient = _copy(r.charge_gradient, r.charge_num, 3) if r.charge_num else None
        self._take_orbitals(r)

    def _take_orbitals(self, r: Any) -> None:
        """Orbitals and matrices of a result."""
        self.mo_energy = _copy(r.orbital_energy, r.mo_num)
        self.mo_occ = _copy(r.occupation, r.mo_num)
        self.mo_coeff = np.ascontiguousarray(_copy(r.coefficient, r.mo_num, r.nao).T)
        self._matrices = {name: _copy(getattr(r, name), r.nao, r.nao)
                          for name in ("density", "fock", "overlap", "core_hamiltonian")}

    def __repr__(self) -> str:
        if self.mo_energy is not None:
            state = (f"E = {self.e_tot:.10f} hartree, {'converged' if self.converged else 'not converged'} in "
                     f"{self.cycles} cycles")
        else:
            state = "no result yet" if self.error is None else f"failed: {self.error.message}"
        return f"<fmo.{self._name} of {_described(self.mol)}: {state}>"

    def _spins_of(self, dm0: Any) -> tuple[Any, Any]:
        """A density of the caller's: the sum of both spins, and their difference or None."""
        return dm0, None

    def kernel(self, dm0: Any = None) -> float:
        """Run the SCF, from the density dm0 ([nao, nao], of numpy or in GPU memory) if given; returns e_tot, hartree.

        As in PySCF, no exception is raised if the SCF does not converge: see converged and error. Raises fmo.Error
        if there is no result at all, and InputError for wrong settings. Ctrl-C raises KeyboardInterrupt at once and
        leaves the object without a result; the library stops after the current cycle.
        """
        settings = self._settings()
        if dm0 is not None:
            settings["init_guess"] = "read"
        self._clear()
        options = make_scf_options(settings, self.options)
        log.info("%s of %s begins", self._name, _described(self.mol))
        run([self], [Prepared(self, dm0)], options, None)
        log.info("%r", self)
        if self.error is not None and self.mo_coeff is None:
            raise self.error
        return self.e_tot

    scf = kernel

    def run(self, **settings: Any) -> RHF:
        """Set these attributes, run the SCF and return the object, as PySCF's run(); errors as of kernel()."""
        for name, value in settings.items():
            setattr(self, name, value)
        self.kernel()
        return self

    def _matrix(self, name: str) -> NDArray[Any]:
        if name not in self._matrices:
            raise bad_value(f"fmo.{self._name}: no result yet: call kernel() first")
        return self._matrices[name].copy()

    def make_rdm1(self) -> NDArray[Any]:
        """The density matrix that e_tot belongs to, [nao, nao]; InputError before kernel()."""
        return self._matrix("density")

    def total_density(self) -> NDArray[Any]:
        """The density matrix of all electrons, [nao, nao]; InputError before kernel()."""
        return self._matrix("density")

    def get_fock(self) -> NDArray[Any]:
        """The Fock matrix of that density, [nao, nao], hartree; field and projector are in it."""
        return self._matrix("fock")

    def get_hcore(self) -> NDArray[Any]:
        """The core Hamiltonian, [nao, nao], hartree; field and projector are in it."""
        return self._matrix("core_hamiltonian")

    def get_ovlp(self) -> NDArray[Any]:
        """The overlap matrix, [nao, nao]."""
        return self._matrix("overlap")

    def energy_nuc(self) -> float:
        """Repulsion of the nuclei, hartree, of the molecule as it is now."""
        return float(self.mol.energy_nuc())

    def dip_moment(self, unit: str = "Debye", origin: Any = None) -> NDArray[Any]:
        """Dipole moment, [3], in Debye, or in e bohr with unit="AU"; it points from minus to plus, as PySCF's.

        origin: [3], bohr, which matters for ions alone; None: that of the coordinates. InputError before
        kernel() and for other units.
        """
        factor = _properties.dipole_unit(unit)
        return _properties.dipole(self.mol, self._matrix("density"), origin) * factor

    def mulliken_charges(self) -> NDArray[Any]:
        """Mulliken charges of the atoms, [natm], e; InputError before kernel()."""
        return _properties.charges(self.mol, self._populations(_properties.mulliken))

    def loewdin_charges(self) -> NDArray[Any]:
        """Loewdin charges of the atoms, Z - sum_i in A (S^1/2 D S^1/2)_ii, [natm], e; InputError before kernel().

        Of the functions as they are normalised in PySCF, whose charges they are; with Cartesian d functions
        they depend on the orientation of the molecule.
        """
        return _properties.charges(self.mol, self._populations(_properties.loewdin))

    def _populations(self, kind: Callable[..., NDArray[Any]], of: str = "density") -> NDArray[Any]:
        return kind(self.mol, self._matrix(of), self._matrix("overlap"))

    def nuc_grad_method(self) -> Gradients:
        """PySCF's name: an object whose kernel() gives the derivative of e_tot by the positions of the nuclei."""
        return Gradients(self)

    Gradients = nuc_grad_method

    def as_scanner(self) -> Scanner:
        """A function of molecules that returns their energies; each SCF starts from the density of the last."""
        return Scanner(self)

    def forces(self) -> NDArray[Any]:
        """Forces on the nuclei, [natm, 3], hartree/bohr: the negative of nuc_grad_method().kernel()."""
        return -self.nuc_grad_method().kernel()

    def numerical_gradient(self, step: float = _numeric.STEP, progress: bool | None = None) -> NDArray[Any]:
        """Derivatives of the energy by the positions of the nuclei, [natm, 3], hartree/bohr.

        By central differences: 6 natm SCFs in one batch, from this object's density, with conv_tol of 1e-10
        or tighter; nuc_grad_method() is faster and more accurate. step: bohr. progress: as of rhf_batch. Runs
        kernel() if there is no result. Raises ConvergenceError where an SCF does not converge, InputError for
        step and for objects with field or projector, which depend on the geometry.
        """
        step = _numeric.check_step(step)
        if self.field is not None or self.projector is not None:
            raise bad_value(f"fmo.{self._name}.numerical_gradient: field and projector depend on the geometry: take "
                            "differences of energies with the matrices of each geometry")
        if self.mo_coeff is None:
            self.kernel()
        if self.error is not None:
            raise self.error
        settings = {**self._settings(), "init_guess": "read", "with_forces": False}
        settings["conv_tol"] = min(settings["conv_tol"] or 1.0, 1e-10)
        settings["conv_tol_grad"] = min(settings["conv_tol_grad"] or 1.0, 1e-6)
        mols = _numeric.displaced(self.mol, step)
        log.info("numerical gradient by %d SCFs, step %g bohr", len(mols), step)
        done = _batch(f"fmo.{self._name}.numerical_gradient", mols, settings, self.options,
                      _Extras(densities=[self.make_rdm1()] * len(mols), progress=progress,
                              charges=(self.charges, self.charge_coords)),
                      [type(self)] * len(mols))
        for one in done:
            if one.error is not None:
                raise one.error
        return _numeric.gradient([one.e_tot for one in done], step)

    def to_pyscf(self) -> Any:
        """An object of pyscf.scf, RHF, UHF or ROHF, with this result, for what PySCF does next.

        Its core Hamiltonian is that of PySCF, with field and projector, if any, added; point charges are those of
        pyscf.qmmm.
        """
        mf = getattr(optional("pyscf.scf"), self._name)(self.mol.to_pyscf() if isinstance(self.mol, Molecule) else self.mol)
        if self.field is not None or self.projector is not None:
            core = mf.get_hcore()
            for extra in (self.field, self.projector):
                core = core if extra is None else core + np.asarray(extra)
            mf.get_hcore = lambda *_: core
        charge, coord = charge_arrays(self)
        if len(charge):
            mf = optional("pyscf.qmmm").mm_charge(mf, coord, charge, unit="Bohr")
        for ours, value in (("conv_tol", self.conv_tol), ("conv_tol_grad", self.conv_tol_grad),
                            ("max_cycle", self.max_cycle)):
            if value is not None:
                setattr(mf, ours, value)
        for name in ("e_tot", "converged", "mo_energy", "mo_coeff", "mo_occ"):
            setattr(mf, name, getattr(self, name))
        return mf


@dataclasses.dataclass
class _Extras:
    """What a batch has for each molecule, and how it is followed."""

    fields: Sequence[Any] | None = None
    projectors: Sequence[Any] | None = None
    densities: Sequence[Any] | None = None
    callback: Callable[[int, RHF], Any] | None = None
    progress: bool | None = None
    restricted: bool = False  # open shells: ROHF
    charges: tuple[Any, Any] = (None, None)  # and their places, of all molecules


def rhf_batch(mols: Iterable[Any], callback: Callable[[int, RHF], Any] | None = None, *,
              conv_tol: float | None = None, conv_tol_grad: float | None = None,
              max_cycle: int | None = None, level_shift: float | None = None,
              diis_space: int | None = None, init_guess: str | None = None, solver: str | None = None,
              stability: str | None = None, fields: Sequence[Any] | None = None,
              projectors: Sequence[Any] | None = None, progress: bool | None = None, forces: bool = False,
              **options: Any) -> list[RHF]:
    """RHF of many molecules in one call of libfmo_scf; returns their RHF objects, in order.

    mols: each an fmo.Molecule or a molecule of PySCF. On the CPU small molecules run side by side, one a
    thread. Settings and options as of RHF, the same for all; fields and projectors: a list with a matrix or
    None for each molecule; forces: True gives each object its gradient. A molecule that fails leaves the others alone: its object has error and an e_tot
    of nan. callback(k, rhf) is called as molecules end, in any order, from other threads, one at a time; an
    exception of it is raised after the last molecule. progress: a bar of tqdm; None: on a terminal where
    tqdm is installed, after a second. Ctrl-C raises KeyboardInterrupt at once; the library ends with the
    cycles that run. Raises InputError and InputTypeError for settings and options, and InputTypeError for
    what is no molecule.
    """
    settings = {"conv_tol": conv_tol, "conv_tol_grad": conv_tol_grad, "max_cycle": max_cycle,
                "level_shift": level_shift, "diis_space": diis_space, "init_guess": init_guess,
                "solver": solver, "stability": stability, "with_forces": forces}
    check_options(options, arguments_of(rhf_batch), "fmo.rhf_batch")
    return _batch("fmo.rhf_batch", check_moles(mols, "rhf_batch"), settings, options,
                  _Extras(fields, projectors, None, callback, progress))


def _prepared(call: str, rhf: RHF, density: Any) -> Prepared | None:
    """None, and the object's error, for a molecule that cannot be computed."""
    reason = refused(rhf.mol, rhf._open_shells)  # pylint: disable=protected-access
    if reason is not None:
        rhf.error = UnsupportedError("FMO_ERR_UNSUPPORTED", f"{call}: {reason}")
        return None
    try:
        return Prepared(rhf, density)
    except Error as found:
        rhf.error = found
        return None


def _batch(call: str, mols: Sequence[Any], settings: dict[str, Any], options: dict[str, Any],
           extras: _Extras, classes: Sequence[type[RHF]] | None = None) -> list[RHF]:
    """rhf_batch, with a density to start from and a class for each molecule, both optional."""
    for name, given in (("fields", extras.fields), ("projectors", extras.projectors)):
        if given is not None and len(given) != len(mols):
            raise bad_value(f"{name}: {len(given)} for {len(mols)} molecules: expected one each")
    made = make_scf_options({"restricted": extras.restricted, **settings}, options)
    rhfs = []
    for k, mol in enumerate(mols):
        rhf = object.__new__(RHF if classes is None else classes[k])
        rhf.mol, rhf.options = mol, options
        rhf.field = None if extras.fields is None else extras.fields[k]
        rhf.charges, rhf.charge_coords = extras.charges
        rhf.projector = None if extras.projectors is None else extras.projectors[k]
        for name, value in settings.items():
            setattr(rhf, name, value)
        rhf._clear()  # pylint: disable=protected-access
        rhfs.append(rhf)
    densities = extras.densities or [None] * len(mols)
    prepared = [_prepared(call, rhf, density) for rhf, density in zip(rhfs, densities)]
    with progress_bar(len(mols), "molecule", extras.progress) as show:
        ended = itertools.count(1)

        def finished(k: int, rhf: RHF) -> None:
            done = next(ended)
            if show is not None:
                show(done)
            if extras.callback is not None:
                extras.callback(k, rhf)

        for k, rhf in enumerate(rhfs):
            if prepared[k] is None:
                finished(k, rhf)
        run(rhfs, prepared, made, finished)
    log.info("%s: %d molecules, %d converged", call, len(rhfs), sum(rhf.converged for rhf in rhfs))
    return rhfs


def _described(mol: Any) -> str:
    """"H2O, 6-31g*", or of a molecule of PySCF what there is."""
    if isinstance(mol, Molecule):
        return f"{mol.formula}, {os.path.basename(mol.basis)}"
    named = f", {mol.basis}" if isinstance(mol.basis, str) else ""
    return f"{mol.natm} atom{'s' * (mol.natm != 1)}{named}"
