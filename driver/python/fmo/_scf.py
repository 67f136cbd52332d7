"""RHF by libfmo_scf: one molecule, with PySCF's attributes, and many in one call."""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import Any

import numpy as np

from . import _cupy, _library
from ._errors import Error, Strict, UnsupportedError, bad_type, bad_value, error_of
from ._library import LIBRARY, ErrorStruct, Options, names_of
from ._mole import _cannot
from ._plan import (_basis_create, basis_arrays, check_mole, index_of, make_options, real_number, whole_number)
from ._worker import interruptible


class CutoffWarning(UserWarning):
    """The cutoff of an SCF is too loose for its convergence."""


class ScfInput(ctypes.Structure):
    """fmo_scf_input"""
    _fields_ = [("basis", c_void_p), ("electron_num", c_int), ("core_hamiltonian", c_void_p),
                ("nuclear_repulsion", c_double), ("density", c_void_p), ("field", c_void_p),
                ("projector", c_void_p)]


class ScfOptions(ctypes.Structure):
    """fmo_scf_options"""
    _fields_ = [("fock", Options), ("guess", c_int), ("guess_is_fixed", c_int), ("max_cycles", c_int),
                ("energy_convergence", c_double), ("gradient_convergence", c_double),
                ("gradient_aim", c_double), ("level_shift", c_double), ("diis_size", c_int), ("rebuild_cycles", c_int),
                ("linear_dependence", c_double), ("solver", c_int), ("stability", c_int),
                ("orbitals", c_int), ("auto_in_fused", c_int), ("loose_fock", c_int),
                ("callback", c_void_p), ("user", c_void_p), ("finished", c_void_p),
                ("deal", c_void_p), ("begun", c_void_p), ("stop", POINTER(c_int))]


class ScfResult(ctypes.Structure):
    """The beginning of fmo_scf_result, up to the last field that is read here."""
    _fields_ = [("nao", c_int), ("mo_num", c_int), ("occupied_num", c_int), ("dropped", c_int),
                ("overlap_smallest", c_double), ("converged", c_int), ("cycles", c_int),
                ("full_builds", c_int), ("energy", c_double), ("field_energy", c_double),
                ("projector_energy", c_double), ("two_electron_energy", c_double),
                ("energy_change", c_double), ("gradient", c_double),
                ("energy_error", c_double), ("homo", c_double), ("lumo", c_double), ("coefficient", POINTER(c_double)),
                ("orbital_energy", POINTER(c_double)), ("occupation", POINTER(c_double)),
                ("density", POINTER(c_double)), ("fock", POINTER(c_double)),
                ("overlap", POINTER(c_double)), ("core_hamiltonian", POINTER(c_double)),
                ("hessian_lowest", c_double), ("notice", c_char * 240)]


class ScfJob(ctypes.Structure):
    """fmo_scf_job"""
    _fields_ = [("input", ScfInput), ("result", POINTER(ScfResult)), ("status", c_int),
                ("err", ErrorStruct)]


_Finished = CFUNCTYPE(None, c_size_t, POINTER(ScfJob), c_void_p)

_FUNCTIONS = {
    "fmo_scf_options_init": (None, [POINTER(ScfOptions)]),
    "fmo_scf_run_batch": (c_int, [POINTER(ScfJob), c_size_t, POINTER(ScfOptions),
                                  POINTER(ErrorStruct)]),
    "fmo_scf_result_destroy": (None, [POINTER(ScfResult)]),
    "fmo_scf_guess_name": (c_char_p, [c_int]),
    "fmo_scf_solver_name": (c_char_p, [c_int]),
    "fmo_scf_stability_name": (c_char_p, [c_int]),
}
_loaded: list[ctypes.CDLL] = []
_load_lock = threading.Lock()


def _scf_library() -> ctypes.CDLL:
    """libfmo_scf, from where libfmo came from."""
    with _load_lock:
        if not _loaded:
            folder, name = os.path.split(_library.library_path())
            path = os.path.join(folder, name.replace("libfmo", "libfmo_scf", 1))
            try:
                library = ctypes.CDLL(path)
                for function, (result, arguments) in _FUNCTIONS.items():
                    entry = getattr(library, function)
                    entry.restype, entry.argtypes = result, arguments
            except (OSError, AttributeError) as reason:
                raise ImportError(f"libfmo_scf, which does SCFs, was not found beside libfmo: "
                                  f"{reason}") from reason
            _loaded.append(library)
        return _loaded[0]


# Ours -> fmo_scf_options. None: the library's default.
_SETTINGS = {"max_cycle": "max_cycles", "conv_tol": "energy_convergence",
             "conv_tol_grad": "gradient_convergence", "level_shift": "level_shift",
             "diis_space": "diis_size"}
_CHOICES = {"init_guess": "guess", "solver": "solver", "stability": "stability"}
_RESULTS = ("e_tot", "converged", "cycles", "mo_energy", "mo_coeff", "mo_occ", "field_energy", "projector_energy",
            "hessian_lowest", "error", "notice")


def _make_options(settings: dict[str, Any], options: dict[str, Any]) -> ScfOptions:
    """fmo_scf_options from an object's settings and the options of its builds."""
    made = ScfOptions()
    _scf_library().fmo_scf_options_init(ctypes.byref(made))
    if options.get("integrals") is None:  # kept from cycle to cycle where there is memory
        options = {**options, "integrals": "auto"}
    made.fock = make_options(**options)
    for name, value in settings.items():
        if value is None:
            continue
        if name in _CHOICES:
            names = names_of(f"scf_{_CHOICES[name]}", _scf_library())
            setattr(made, _CHOICES[name], index_of(name, value, names))
        elif isinstance(getattr(made, _SETTINGS[name]), int):
            setattr(made, _SETTINGS[name], whole_number(name, value, -2**31, 2**31 - 1))
        else:
            setattr(made, _SETTINGS[name], real_number(name, value))
    return made


def _matrix(name: str, value: Any, nao: int) -> np.ndarray | None:
    """A symmetric matrix of the caller's as the library wants it, or None."""
    if value is None:
        return None
    array = _cupy.as_cupy(value).get() if _cupy.in_gpu_memory(value) else np.asarray(value)
    if np.iscomplexobj(array) or array.shape != (nao, nao):
        raise bad_value(f"{name}: expected a real matrix [{nao}, {nao}], not {array.dtype} {list(array.shape)}")
    return np.ascontiguousarray(array, dtype=np.float64)


def _refused(mol: Any) -> str | None:
    """Why libfmo cannot do RHF of a molecule, or None."""
    reason = _cannot(mol, None)
    if reason is None and getattr(mol, "omega", None):
        reason = f"mol.omega = {mol.omega:g}, RHF is over 1/r"
    if reason is None and mol.spin != 0:
        reason = f"the molecule has {mol.spin} unpaired electrons, RHF has none"
    return reason


class _Prepared:
    """A molecule's basis and arrays, alive while C looks at them."""

    def __init__(self, rhf: RHF, dm0: Any):
        mol = rhf.mol
        arrays = basis_arrays(mol)
        nao = self.nao = len(arrays["ao_shell"])
        core = None
        from pyscf import gto, scf  # pylint: disable=import-outside-toplevel
        point = (mol._atm[:, gto.NUC_MOD_OF] == gto.NUC_POINT).all()  # pylint: disable=protected-access
        if mol.has_ecp() or not point:  # that part of H is PySCF's
            core = scf.hf.get_hcore(mol)
        self.arrays = {"core_hamiltonian": _matrix("core_hamiltonian", core, nao),
                       "density": _matrix("dm0", dm0, nao),
                       "field": _matrix("field", rhf.field, nao),
                       "projector": _matrix("projector", rhf.projector, nao)}
        self.repulsion = float(mol.energy_nuc())
        self.electrons = int(mol.nelectron)
        self.basis = _basis_create(arrays, mol.cart)

    def input(self) -> ScfInput:
        """fmo_scf_input"""
        return ScfInput(basis=self.basis, electron_num=self.electrons,
                        nuclear_repulsion=self.repulsion,
                        **{name: None if array is None else array.ctypes.data
                           for name, array in self.arrays.items()})

    def __del__(self) -> None:
        if getattr(self, "basis", None) is not None:
            LIBRARY.fmo_basis_destroy(self.basis)


def _copy(pointer: Any, *shape: int) -> np.ndarray:
    return np.ctypeslib.as_array(pointer, shape).copy()


# The sum of functions^3 from which on SCFs may take so long that they are made interruptible.
_LONG = 100 ** 3


def _run(rhfs: list[RHF], prepared: list[_Prepared | None], options: ScfOptions,
         callback: Callable[[int, RHF], Any] | None) -> None:
    """All prepared molecules (None: left out) in one call; results go to their objects."""
    library = _scf_library()
    given = [(k, one) for k, one in enumerate(prepared) if one is not None]
    members = [k for k, _ in given]
    jobs = (ScfJob * max(1, len(members)))(*(ScfJob(input=one.input()) for _, one in given))
    raised: list[BaseException] = []
    stopped = c_int(0)

    def finished(index: int, job: Any, _user: Any) -> None:
        try:
            rhf = rhfs[members[index]]
            if not stopped.value:
                rhf._take(job.contents)  # pylint: disable=protected-access
            library.fmo_scf_result_destroy(job.contents.result)
            job.contents.result = None
            if callback is not None and not raised and not stopped.value:
                callback(members[index], rhf)
        except BaseException as reason:  # pylint: disable=broad-exception-caught
            raised.append(reason)  # C would lose it

    hear = _Finished(finished)

    chosen = _cupy.chosen_device()

    def run(_alive: Any = (prepared, hear)) -> None:  # as long as C looks at them
        _cupy.choose_device(chosen)
        library.fmo_scf_run_batch(jobs, len(members), ctypes.byref(options), None)

    def stop() -> None:
        stopped.value = 1

    options.finished = ctypes.cast(hear, c_void_p)
    options.stop = ctypes.pointer(stopped)
    if sum(one.nao ** 3 for _, one in given) > _LONG:
        interruptible(run, stop)
    else:
        run()
    if raised:
        raise raised[0]
    noticed = [rhfs[k].notice for k in members if rhfs[k].notice is not None]
    if noticed:
        others = f" (and {len(noticed) - 1} more molecules alike)" if len(noticed) > 1 else ""
        warnings.warn(f"fmo: {noticed[0]}{others}", CutoffWarning, stacklevel=3)


class RHF(Strict):
    """Closed-shell SCF by libfmo_scf, with PySCF's names: RHF(mol).kernel().

    mol: a PySCF molecule with s, p and d shells and no unpaired electrons. Options as of get_jk; integrals
    is "auto" unless given. An attribute that does not exist is refused: UnknownAttributeError.

    Set before kernel(), None meaning the library's default:
    conv_tol: hartree, 1e-9, and conv_tol_grad: hartree, 3e-5; max_cycle: 100; level_shift: hartree;
    diis_space: number of Fock matrices; init_guess: "sad", "core"; solver; stability: "none", "check",
    "follow"; field, projector: [nao, nao], hartree, symmetric, added to the core Hamiltonian.

    After it:
    e_tot: hartree; converged; cycles; mo_energy: [nmo], hartree; mo_coeff: [nao, nmo]; mo_occ: [nmo];
    field_energy, projector_energy: hartree, tr D U and tr D P, part of e_tot; hessian_lowest: hartree, NaN
    unless the stability was checked; error: None, or the fmo.Error that says why there is no result or no convergence;
    notice: None, or that the cutoff is too loose for conv_tol, and by how much e_tot may be off (a
    CutoffWarning says it, too).

    Raises InputTypeError for what is no molecule or an unknown option, InputError for values of options,
    UnsupportedError for f shells, unpaired electrons and periodic systems.
    """

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
    field: Any = None
    projector: Any = None

    e_tot: float = float("nan")
    converged: bool = False
    cycles: int = 0
    mo_energy: np.ndarray | None = None
    mo_coeff: np.ndarray | None = None
    mo_occ: np.ndarray | None = None
    field_energy: float = 0.0
    projector_energy: float = 0.0
    hessian_lowest: float = float("nan")
    error: Error | None = None
    notice: str | None = None

    def __init__(self, mol: Any, **options: Any):
        check_mole(mol, "RHF")
        for name in options:
            if name in _SETTINGS or name in _CHOICES or name in ("field", "projector"):
                raise bad_type(f"fmo.RHF: {name} is an attribute, set before kernel(): mf.{name} = ...")
        make_options(**options)
        reason = _refused(mol)
        if reason is not None:
            raise UnsupportedError("FMO_ERR_UNSUPPORTED", f"fmo.RHF: {reason}")
        self.mol = mol
        self.options = options
        self._clear()

    def _clear(self) -> None:
        """No results: those of the class."""
        for name in _RESULTS:
            setattr(self, name, getattr(RHF, name))
        self._matrices: dict[str, np.ndarray] = {}

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*_SETTINGS, *_CHOICES)}

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
        self.mo_energy = _copy(r.orbital_energy, r.mo_num)
        self.mo_occ = _copy(r.occupation, r.mo_num)
        self.mo_coeff = np.ascontiguousarray(_copy(r.coefficient, r.mo_num, r.nao).T)
        self._matrices = {name: _copy(getattr(r, name), r.nao, r.nao)
                          for name in ("density", "fock", "overlap", "core_hamiltonian")}

    def kernel(self, dm0: Any = None) -> float:
        """Run the SCF, from a density dm0 ([nao, nao], of numpy or in GPU memory) if given; returns e_tot, hartree.

        Not converging is no exception, as in PySCF: see converged and error. Raises fmo.Error where
        there is no result at all, and InputError for settings. Ctrl-C raises KeyboardInterrupt at once and
        leaves the object without a result; the library ends with the cycle that runs.
        """
        settings = self._settings()
        if dm0 is not None:
            settings["init_guess"] = "read"
        self._clear()
        options = _make_options(settings, self.options)
        _run([self], [_Prepared(self, dm0)], options, None)
        if self.error is not None and self.mo_coeff is None:
            raise self.error
        return self.e_tot

    scf = kernel

    def _matrix(self, name: str) -> np.ndarray:
        if name not in self._matrices:
            raise bad_value("fmo.RHF: no result yet: call kernel() first")
        return self._matrices[name].copy()

    def make_rdm1(self) -> np.ndarray:
        """The density matrix that e_tot belongs to, [nao, nao]; InputError before kernel()."""
        return self._matrix("density")

    def get_fock(self) -> np.ndarray:
        """The Fock matrix of that density, [nao, nao], hartree; field and projector are in it."""
        return self._matrix("fock")

    def get_hcore(self) -> np.ndarray:
        """The core Hamiltonian, [nao, nao], hartree; field and projector are in it."""
        return self._matrix("core_hamiltonian")

    def get_ovlp(self) -> np.ndarray:
        """The overlap matrix, [nao, nao]."""
        return self._matrix("overlap")

    def energy_nuc(self) -> float:
        """Repulsion of the nuclei, hartree, of the molecule as it is now."""
        return float(self.mol.energy_nuc())

    def to_pyscf(self) -> Any:
        """A pyscf.scf.RHF object with this result, for what PySCF does next.

        Its core Hamiltonian is that of PySCF, with field and projector, if any, added.
        """
        from pyscf import scf  # pylint: disable=import-outside-toplevel
        mf = scf.RHF(self.mol)
        if self.field is not None or self.projector is not None:
            core = mf.get_hcore()
            for extra in (self.field, self.projector):
                core = core if extra is None else core + np.asarray(extra)
            mf.get_hcore = lambda *_: core
        for ours, value in (("conv_tol", self.conv_tol), ("conv_tol_grad", self.conv_tol_grad),
                            ("max_cycle", self.max_cycle)):
            if value is not None:
                setattr(mf, ours, value)
        for name in ("e_tot", "converged", "mo_energy", "mo_coeff", "mo_occ"):
            setattr(mf, name, getattr(self, name))
        return mf


def rhf_batch(mols: Iterable[Any], callback: Callable[[int, RHF], Any] | None = None, *,
              conv_tol: float | None = None, conv_tol_grad: float | None = None,
              max_cycle: int | None = None, level_shift: float | None = None,
              diis_space: int | None = None, init_guess: str | None = None, solver: str | None = None,
              stability: str | None = None, fields: Sequence[Any] | None = None,
              projectors: Sequence[Any] | None = None, **options: Any) -> list[RHF]:
    """RHF of many molecules in one call of libfmo_scf; returns their RHF objects, in order.

    On the CPU small molecules run side by side, one a thread. Settings and options as of RHF, the
    same for all; fields and projectors: a list with a matrix or None for each molecule. A molecule
    that fails leaves the others alone: its object has error and an e_tot of nan. callback(k, rhf) is
    called as molecules end, in any order, from other threads, one at a time; an exception of it is
    raised after the last molecule. Ctrl-C raises KeyboardInterrupt at once; the library ends with the
    cycles that run. Raises InputError and InputTypeError for settings and options, and InputTypeError for
    what is no molecule.
    """
    settings = {"conv_tol": conv_tol, "conv_tol_grad": conv_tol_grad, "max_cycle": max_cycle,
                "level_shift": level_shift, "diis_space": diis_space, "init_guess": init_guess,
                "solver": solver, "stability": stability}
    mols = list(mols)
    for name, given in (("fields", fields), ("projectors", projectors)):
        if given is not None and len(given) != len(mols):
            raise bad_value(f"{name}: {len(given)} for {len(mols)} molecules: expected one each")
    for mol in mols:
        check_mole(mol, "rhf_batch")
    made = _make_options(settings, options)
    rhfs, prepared = [], []
    for k, mol in enumerate(mols):
        rhf = object.__new__(RHF)
        rhf.mol, rhf.options = mol, options
        rhf.field = None if fields is None else fields[k]
        rhf.projector = None if projectors is None else projectors[k]
        for name, value in settings.items():
            setattr(rhf, name, value)
        rhf._clear()  # pylint: disable=protected-access
        one, reason = None, _refused(mol)
        if reason is not None:
            rhf.error = UnsupportedError("FMO_ERR_UNSUPPORTED", f"fmo.rhf_batch: {reason}")
        else:
            try:
                one = _Prepared(rhf, None)
            except Error as refused:
                rhf.error = refused
        rhfs.append(rhf)
        prepared.append(one)
    if callback is not None:
        for k, rhf in enumerate(rhfs):
            if prepared[k] is None:
                callback(k, rhf)
    _run(rhfs, prepared, made, callback)
    return rhfs
