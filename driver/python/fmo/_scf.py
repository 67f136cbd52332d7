"""SCFs by libfmo_scf: its structs, options, and one call that runs many molecules."""

from __future__ import annotations

import ctypes
import logging
import warnings
from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _cupy
from ._errors import bad_value, error_of
from ._library import LIBRARY, ErrorStruct, Functions, Options, names_of, sibling
from ._mole import _cannot
from ._molecule import Molecule
from ._optional import optional
from ._plan import basis_arrays, basis_create, make_options
from ._values import INT_MAX, index_of, real_number, whole_number
from ._worker import interruptible

if TYPE_CHECKING:
    from ._rhf import RHF

log = logging.getLogger("fmo")


class CutoffWarning(UserWarning):
    """The cutoff of an SCF is too loose for its convergence."""


class ScfInput(ctypes.Structure):
    """fmo_scf_input"""
    _fields_ = [("basis", c_void_p), ("electron_num", c_int), ("core_hamiltonian", c_void_p),
                ("nuclear_repulsion", c_double), ("density", c_void_p), ("field", c_void_p),
                ("projector", c_void_p), ("multiplicity", c_int), ("spin_density", c_void_p),
                ("charge_num", c_size_t), ("charge", c_void_p), ("charge_coord", c_void_p)]


class ScfOptions(ctypes.Structure):
    """fmo_scf_options"""
    _fields_ = [("fock", Options), ("guess", c_int), ("unrestricted", c_int), ("restricted", c_int), ("guess_mix", c_int),
                ("guess_is_fixed", c_int), ("max_cycles", c_int),
                ("energy_convergence", c_double), ("gradient_convergence", c_double),
                ("gradient_aim", c_double), ("level_shift", c_double), ("diis_size", c_int), ("rebuild_cycles", c_int),
                ("linear_dependence", c_double), ("solver", c_int), ("stability", c_int),
                ("orbitals", c_int), ("auto_in_fused", c_int), ("loose_fock", c_int), ("forces", c_int),
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
                ("unrestricted", c_int), ("restricted", c_int), ("multiplicity", c_int), ("occupied_beta_num", c_int),
                ("spin_square", c_double),
                ("coefficient_beta", POINTER(c_double)), ("orbital_energy_beta", POINTER(c_double)),
                ("occupation_beta", POINTER(c_double)), ("spin_density", POINTER(c_double)),
                ("fock_beta", POINTER(c_double)), ("nucleus_num", c_int), ("nuclear_gradient", POINTER(c_double)),
                ("charge_num", c_size_t), ("charge_gradient", POINTER(c_double)),
                ("hessian_lowest", c_double), ("notice", c_char * 240)]


class ScfJob(ctypes.Structure):
    """fmo_scf_job"""
    _fields_ = [("input", ScfInput), ("result", POINTER(ScfResult)), ("status", c_int),
                ("err", ErrorStruct)]


class ScfCycle(ctypes.Structure):
    """The beginning of fmo_scf_cycle."""
    _fields_ = [("job", c_size_t), ("cycle", c_int), ("energy", c_double), ("energy_change", c_double),
                ("gradient", c_double)]


_Finished = CFUNCTYPE(None, c_size_t, POINTER(ScfJob), c_void_p)
_Cycle = CFUNCTYPE(None, POINTER(ScfCycle), c_void_p)

_FUNCTIONS: Functions = {
    "fmo_scf_options_init": (None, [POINTER(ScfOptions)]),
    "fmo_scf_run_batch": (c_int, [POINTER(ScfJob), c_size_t, POINTER(ScfOptions),
                                  POINTER(ErrorStruct)]),
    "fmo_scf_result_destroy": (None, [POINTER(ScfResult)]),
    "fmo_scf_gradient": (c_int, [POINTER(ScfInput), POINTER(ScfOptions), POINTER(ScfResult), c_void_p,
                                 c_void_p, POINTER(ErrorStruct)]),
    "fmo_scf_guess_name": (c_char_p, [c_int]),
    "fmo_scf_solver_name": (c_char_p, [c_int]),
    "fmo_scf_stability_name": (c_char_p, [c_int]),
}


def scf_library() -> ctypes.CDLL:
    """libfmo_scf, from where libfmo came from."""
    return sibling("scf", _FUNCTIONS)


# Ours -> fmo_scf_options. None: the library's default.
SETTINGS = {"max_cycle": "max_cycles", "conv_tol": "energy_convergence",
             "conv_tol_grad": "gradient_convergence", "level_shift": "level_shift",
             "diis_space": "diis_size"}
FLAGS = {"guess_mix": "guess_mix", "unrestricted": "unrestricted", "restricted": "restricted", "with_forces": "forces"}
CHOICES = {"init_guess": "guess", "solver": "solver", "stability": "stability"}


def make_scf_options(settings: dict[str, Any], options: dict[str, Any]) -> ScfOptions:
    """fmo_scf_options from an object's settings and the options of its builds."""
    made = ScfOptions()
    scf_library().fmo_scf_options_init(ctypes.byref(made))
    if options.get("integrals") is None:  # kept from cycle to cycle where there is memory
        options = {**options, "integrals": "auto"}
    made.fock = make_options(**options)
    for name, value in settings.items():
        if value is None:
            continue
        if name in FLAGS:
            setattr(made, FLAGS[name], int(bool(value)))
        elif name in CHOICES:
            names = names_of(f"scf_{CHOICES[name]}", scf_library())
            setattr(made, CHOICES[name], index_of(name, value, names))
        elif isinstance(getattr(made, SETTINGS[name]), int):
            setattr(made, SETTINGS[name], whole_number(name, value, -INT_MAX, INT_MAX))
        else:
            setattr(made, SETTINGS[name], real_number(name, value))
    return made


def _matrix(name: str, value: Any, nao: int) -> NDArray[Any] | None:
    """A symmetric matrix of the caller's in the library's form, or None."""
    if value is None:
        return None
    array = _cupy.as_cupy(value).get() if _cupy.in_gpu_memory(value) else np.asarray(value)
    if np.iscomplexobj(array) or array.shape != (nao, nao):
        raise bad_value(f"{name}: expected a real matrix [{nao}, {nao}], not {array.dtype} {list(array.shape)}")
    return np.ascontiguousarray(array, dtype=np.float64)


def charge_arrays(rhf: RHF) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values and places of an object's point charges; InputError for what is not [n] and [n, 3]."""
    given = (() if rhf.charges is None else rhf.charges), (() if rhf.charge_coords is None else rhf.charge_coords)
    charge, coord = (np.ascontiguousarray(one, dtype=np.float64) for one in given)
    if not coord.size and not charge.size:
        return np.zeros(0), np.zeros((0, 3))
    if charge.ndim != 1 or coord.shape != (len(charge), 3):
        raise bad_value(f"charges, charge_coords: expected [n] and [n, 3], not {list(charge.shape)} and "
                        f"{list(coord.shape)}")
    return charge, coord


def refused(mol: Any, open_shells: bool = False) -> str | None:
    """Why libfmo cannot do RHF or, with open shells, UHF or ROHF of a molecule, or None."""
    reason = _cannot(mol, None)
    if reason is None and getattr(mol, "omega", None):
        reason = f"mol.omega = {mol.omega:g}, SCFs are over 1/r"
    if reason is None and mol.spin != 0 and not open_shells:
        reason = (f"the molecule has {mol.spin} unpaired electron{'s' * (mol.spin != 1)}, RHF has none; "
                  "fmo.UHF and fmo.ROHF have them")
    return reason


def _core_of_pyscf(mol: Any) -> Any:
    """The core Hamiltonian where it has a part that libfmo does not know, else None."""
    gto, scf = optional("pyscf.gto"), optional("pyscf.scf")
    point = (mol._atm[:, gto.NUC_MOD_OF] == gto.NUC_POINT).all()  # pylint: disable=protected-access
    return scf.hf.get_hcore(mol) if mol.has_ecp() or not point else None


class Prepared:
    """A molecule's basis and arrays, kept as long as C uses them."""

    def __init__(self, rhf: RHF, dm0: Any):
        mol = rhf.mol
        arrays = basis_arrays(mol)
        nao = self.nao = len(arrays["ao_shell"])
        core = None if isinstance(mol, Molecule) else _core_of_pyscf(mol)
        spins = (None, None) if dm0 is None else rhf._spins_of(dm0)  # pylint: disable=protected-access
        self.arrays = {"core_hamiltonian": _matrix("core_hamiltonian", core, nao),
                       "density": _matrix("dm0", spins[0], nao), "spin_density": _matrix("dm0", spins[1], nao),
                       "field": _matrix("field", rhf.field, nao),
                       "projector": _matrix("projector", rhf.projector, nao)}
        self.charges, self.charge_coords = charge_arrays(rhf)
        self.repulsion = float(mol.energy_nuc())
        self.electrons, self.multiplicity = int(mol.nelectron), int(mol.spin) + 1
        self.basis = basis_create(arrays, mol.cart)

    def input(self) -> ScfInput:
        """fmo_scf_input"""
        return ScfInput(basis=self.basis, electron_num=self.electrons, multiplicity=self.multiplicity,
                        nuclear_repulsion=self.repulsion, charge_num=len(self.charges),
                        charge=self.charges.ctypes.data, charge_coord=self.charge_coords.ctypes.data,
                        **{name: None if array is None else array.ctypes.data
                           for name, array in self.arrays.items()})

    def __del__(self) -> None:
        if getattr(self, "basis", None) is not None:
            LIBRARY.fmo_basis_destroy(self.basis)


# The sum of functions^3 from which on SCFs may take a tenth of a second, and are made interruptible.
_LONG = 40 ** 3


def gradient(rhf: RHF, matrices: dict[str, NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The derivatives of the energy of a converged object with respect to nuclei and point charges, hartree/bohr."""
    prepared = Prepared(rhf, None)
    options = make_scf_options({}, rhf.options)
    made, of_charges = np.zeros((rhf.mol.natm, 3)), np.zeros((len(prepared.charges), 3))
    arrays = {name: matrices[name].ctypes.data_as(POINTER(c_double))
              for name in ("density", "fock", "spin_density", "fock_beta") if name in matrices}
    dropped = 0 if rhf.mo_coeff is None else prepared.nao - rhf.mo_coeff.shape[-1]
    result = ScfResult(nao=prepared.nao, dropped=dropped, converged=1, unrestricted=int("spin_density" in matrices),
                       **arrays)
    why, status = ErrorStruct(), []

    def call() -> None:
        status.append(scf_library().fmo_scf_gradient(ctypes.byref(prepared.input()), ctypes.byref(options),
                                                     ctypes.byref(result), made.ctypes.data, of_charges.ctypes.data,
                                                     ctypes.byref(why)))

    if prepared.nao ** 3 > _LONG:
        interruptible(call, lambda: None)
    else:
        call()
    if status[0] != 0:
        raise error_of(status[0], why.message)
    return made, of_charges


def _log_cycle(cycle: Any, _user: Any) -> None:
    one = cycle.contents
    log.debug("molecule %d, cycle %d: E = %.10f hartree, change %.1e, gradient %.1e", one.job, one.cycle, one.energy,
              one.energy_change, one.gradient)


def run(rhfs: Sequence[RHF], prepared: Sequence[Prepared | None], options: ScfOptions,
        callback: Callable[[int, RHF], Any] | None) -> None:
    """All prepared molecules (None: left out) in one call; results go to their objects."""
    library = scf_library()
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

    on_finished, on_cycle = _Finished(finished), _Cycle(_log_cycle)
    chosen = _cupy.chosen_device()

    def call(_alive: Any = (prepared, on_finished, on_cycle)) -> None:  # kept while C uses them
        _cupy.choose_device(chosen)
        library.fmo_scf_run_batch(jobs, len(members), ctypes.byref(options), None)

    def stop() -> None:
        stopped.value = 1

    options.finished = ctypes.cast(on_finished, c_void_p)
    options.stop = ctypes.pointer(stopped)
    if log.isEnabledFor(logging.DEBUG):
        options.callback = ctypes.cast(on_cycle, c_void_p)
    if sum(one.nao ** 3 for _, one in given) > _LONG:
        interruptible(call, stop)
    else:
        call()
    if raised:
        raise raised[0]
    noticed = [rhfs[k].notice for k in members if rhfs[k].notice is not None]
    if noticed:
        others = f" (and the same for {len(noticed) - 1} more)" if len(noticed) > 1 else ""
        warnings.warn(f"fmo: {noticed[0]}{others}", CutoffWarning, stacklevel=4)
