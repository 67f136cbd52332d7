"""Molecules, those of PySCF too: plans kept for them, and what PySCF does instead."""

from __future__ import annotations

import threading
import warnings
import weakref
from typing import Any

import numpy as np

from . import _cupy
from ._errors import UnsupportedError
from ._molecule import Molecule
from ._optional import optional
from ._plan import LARGEST_ANG_MOM, Plan, Request, arguments_of, as_array, check_mole, check_options, make_options

_ANG_OF = 1      # column of mol._bas
_State = tuple[Any, ...]
_ENV_START = 20  # of mol._env: before it are options of single calls, such as gauge origins


class FallbackWarning(UserWarning):
    """PySCF computes J and K, or gradients, because libfmo cannot; given once for a molecule or SCF object."""


def _periodic(mol: Any) -> bool:
    return hasattr(type(mol), "lattice_vectors")  # asking mol itself makes PySCF import all of PySCF


def _cannot(mol: Any, dm: Any) -> str | None:
    """Why libfmo cannot do this in any mode, or None."""
    if _periodic(mol):
        return "the system is periodic"
    if mol.nbas == 0:
        return "there are no basis functions"
    largest = 0 if isinstance(mol, Molecule) else int(mol._bas[:, _ANG_OF].max())
    if largest > LARGEST_ANG_MOM:
        return f"the basis has {'spdfghikl'[min(largest, 8)]} shells, libfmo does s, p, d, f and g"
    if np.iscomplexobj(dm):
        return "the density is complex"
    return None


def _warn_once(seen: set[tuple[str, str]], reason: str, who: str = "PySCF", what: str = "J and K") -> None:
    if (reason, what) not in seen:
        seen.add((reason, what))
        warnings.warn(f"fmo: {reason}; {who} computes {what}", FallbackWarning, stacklevel=5)


class _Kept:
    """What is cached for one molecule while it exists."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.plans: dict[_State, tuple[_State | None, Plan | None]] = {}  # options -> what the molecule was, plan
        self.warned: set[tuple[str, str]] = set()


_kept: weakref.WeakKeyDictionary[Any, _Kept] = weakref.WeakKeyDictionary()
_kept_lock = threading.Lock()


def _kept_for(mol: Any) -> _Kept:
    with _kept_lock:
        return _kept.setdefault(mol, _Kept())


def _state(mol: Any) -> _State:
    """What integrals over 1/r depend on: two molecules are equal in it, or one before and after a change."""
    if isinstance(mol, Molecule):
        return ()  # it does not change
    return mol._atm.tobytes(), mol._bas.tobytes(), mol._env[_ENV_START:].tobytes(), bool(mol.cart)


def _plan_for(mol: Any, options: dict[str, Any]) -> Plan:
    """The plan of a molecule, made again if its geometry or basis has changed since."""
    make_options(**options)  # complains before anything else
    given = {"device": _cupy.current_device(), **{name: value for name, value in options.items() if value is not None}}
    key = tuple(sorted(item for item in given.items() if item[1] is not None))
    now = _state(mol)
    kept = _kept_for(mol)
    with kept.lock:
        was, plan = kept.plans.get(key, (None, None))
        if plan is None or was != now:
            plan = None
            kept.plans.pop(key, None)  # its memory first
            plan = Plan(mol, **options)
            kept.plans[key] = now, plan
        return plan


def _for_request(mol: Any, hermi: int, omega: float | None, options: dict[str, Any]
                 ) -> tuple[float | None, str | None]:
    """omega, that of the molecule where none is given; and why the mode of the options cannot do that, or None."""
    omega = omega if omega is not None else getattr(mol, "omega", None)
    if options.get("mode") != "split" or Request(hermi, omega).plain:
        return omega, None
    return omega, f"{'omega is given' if omega else f'hermi = {hermi}'}, which mode split does not have"


def _on_device_of(dm: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a density of CuPy: on its GPU unless they say otherwise."""
    given = options.get("device")
    return {**options, "device": dm.device.id if given is None else given}


def get_jk(mol: Any, dm: Any, hermi: int = 1, with_j: bool = True, with_k: bool = True,
           omega: float | None = None, **options: Any) -> tuple[Any, Any]:
    """J and K of one density or several, as pyscf.scf.hf.get_jk.

    mol: an fmo.Molecule or a molecule of PySCF. dm: [nao, nao], [..., nao, nao] or a list of such, real, in
    mol's order of functions. hermi: 1 for symmetric densities, 2 for antisymmetric ones, 0 for any. omega
    (1/bohr): above 0 for erf(omega r)/r, below 0 for erfc(|omega| r)/r, None for that of mol, or 1/r. Options:
    mode, scatter, commit, reduce, integrals, coulomb (names as of fmo-driver),
    threads, cutoff (default 1e-12), memory (bytes), device (number of a GPU). Densities in GPU memory (arrays
    of CuPy, tensors of PyTorch) give arrays of CuPy on the same GPU.

    Returns vj, vk in the shape of dm, hartree; None for what was not requested. The plan is kept with the
    molecule. What libfmo cannot do (h shells, complex densities, periodic systems) PySCF does, with one
    FallbackWarning for a molecule of PySCF.

    Raises InputTypeError (a TypeError) for what is no molecule or an unknown option; InputError (a
    ValueError) for values of options, a shape, a density that is not symmetric or not finite;
    UnsupportedError for what PySCF would have to do for an fmo.Molecule; and NoDeviceError, DeviceError and
    OutOfMemoryError.
    """
    check_mole(mol, "get_jk")
    check_options(options, arguments_of(get_jk), "fmo.get_jk")
    if _cupy.in_gpu_memory(dm):
        dm = _cupy.as_cupy(dm)
        options = _on_device_of(dm, options)
    else:
        dm = as_array(dm)
    reason = _cannot(mol, dm)
    if reason is None:
        omega, reason = _for_request(mol, hermi, omega, options)
    if reason is None:
        return _plan_for(mol, options).get_jk(dm, with_j, with_k, hermi, omega)
    if isinstance(mol, Molecule):
        raise UnsupportedError("FMO_ERR_UNSUPPORTED", f"fmo.get_jk: {reason}; a molecule of PySCF, as mol.to_pyscf(), "
                               "goes to PySCF then")
    _warn_once(_kept_for(mol).warned, reason)
    if _cupy.in_gpu_memory(dm):
        parts = get_jk(mol, dm.get(), hermi, with_j, with_k, omega)
        vj, vk = (None if part is None else _cupy.imported().asarray(part) for part in parts)
        return vj, vk
    if _periodic(mol):
        made = optional("pyscf.pbc.scf").RHF(mol).get_jk(mol, dm, hermi, with_j=with_j, with_k=with_k, omega=omega)
        return made[0], made[1]
    made = optional("pyscf.scf").hf.get_jk(mol, dm, hermi, with_j=with_j, with_k=with_k, omega=omega)
    return made[0], made[1]
