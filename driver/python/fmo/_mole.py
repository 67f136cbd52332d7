"""PySCF's side: molecules, plans kept for them, patched SCF objects, and what PySCF does instead."""

from __future__ import annotations

import copy
import sys
import threading
import warnings
import weakref

import numpy as np

from . import _cupy
from ._library import LIBRARY
from ._plan import LARGEST_ANG_MOM, Plan, check_mole, make_options

_ANG_OF = 1      # column of mol._bas
_ENV_START = 20  # of mol._env: before it are options of single calls, such as gauge origins


class FallbackWarning(UserWarning):
    """PySCF computes J and K because libfmo cannot; given once for a molecule or SCF object."""


def _periodic(mol) -> bool:
    return hasattr(mol, "lattice_vectors")


def _cannot(mol, dm, hermi, omega) -> str | None:
    """Why libfmo cannot do this, or None."""
    if _periodic(mol):
        return "the system is periodic"
    if mol.nbas == 0:
        return "there are no basis functions"
    largest = int(mol._bas[:, _ANG_OF].max())
    if largest > LARGEST_ANG_MOM:
        return f"the basis has {'spdfghikl'[min(largest, 8)]} shells, libfmo does s, p and d"
    if hermi != 1:
        return f"hermi = {hermi}, libfmo does symmetric densities"
    if omega if omega is not None else mol.omega:
        return "omega is given, libfmo does the full Coulomb operator"
    if np.iscomplexobj(dm):
        return "the density is complex"
    return None


def _warn_once(seen: set, reason: str, who: str = "PySCF") -> None:
    if reason not in seen:
        seen.add(reason)
        warnings.warn(f"fmo: {reason}; {who} computes J and K", FallbackWarning, stacklevel=5)


class _Kept:
    """What is kept for one molecule as long as it lives."""

    def __init__(self):
        self.lock = threading.Lock()
        self.plans: dict[tuple, tuple] = {}  # options -> what the molecule was, plan
        self.warned: set[str] = set()


_kept: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_kept_lock = threading.Lock()


def _kept_for(mol) -> _Kept:
    with _kept_lock:
        return _kept.setdefault(mol, _Kept())


def _plan_for(mol, options: dict) -> Plan:
    """The plan of a molecule, made again if its geometry or basis has changed since."""
    make_options(**options)  # complains before anything else
    given = {"device": _cupy.current_device(), **{name: value for name, value in options.items() if value is not None}}
    key = tuple(sorted(item for item in given.items() if item[1] is not None))
    now = (mol._atm.tobytes(), mol._bas.tobytes(), mol._env[_ENV_START:].tobytes(), bool(mol.cart))
    kept = _kept_for(mol)
    with kept.lock:
        was, plan = kept.plans.get(key, (None, None))
        if was != now:
            plan = None
            kept.plans.pop(key, None)  # its memory first
            plan = Plan(mol, **options)
            kept.plans[key] = now, plan
    return plan


def _on_device_of(dm, options: dict) -> dict:
    """Options of a density of CuPy: on its GPU unless they say otherwise."""
    given = options.get("device")
    return {**options, "device": dm.device.id if given is None else given}


def get_jk(mol, dm, hermi: int = 1, with_j: bool = True, with_k: bool = True, omega=None,
           **options):
    """J and K of one density or several, as pyscf.scf.hf.get_jk.

    mol: PySCF molecule. dm: [nao, nao], [count, nao, nao] or a list of such, symmetric. Options:
    mode, scatter, commit, reduce, integrals (names as of fmo-driver), threads, cutoff (default
    1e-12), memory (bytes), device (number of a GPU). Densities in GPU memory (arrays of CuPy,
    tensors of PyTorch) give arrays of CuPy on the same GPU. Returns vj, vk in the shape of dm,
    hartree; None for what was not wanted. The plan is kept with the molecule. What libfmo cannot
    do (hermi other than 1, omega, f shells, complex densities, periodic systems) PySCF does, with
    one warning. Raises fmo.Error, ValueError (shape, asymmetry, an unknown name), TypeError (no
    molecule).
    """
    check_mole(mol, "get_jk")
    if _cupy.in_gpu_memory(dm):
        dm = _cupy.as_cupy(dm)
        options = _on_device_of(dm, options)
    reason = _cannot(mol, dm, hermi, omega)
    if reason is None:
        return _plan_for(mol, options).get_jk(dm, with_j, with_k)
    _warn_once(_kept_for(mol).warned, reason)
    if _cupy.in_gpu_memory(dm):
        parts = get_jk(mol, dm.get(), hermi, with_j, with_k, omega)
        return tuple(None if part is None else _cupy.imported().asarray(part) for part in parts)
    if _periodic(mol):
        from pyscf.pbc import scf  # pylint: disable=import-outside-toplevel
        return scf.RHF(mol).get_jk(mol, dm, hermi, with_j=with_j, with_k=with_k, omega=omega)
    from pyscf import scf  # pylint: disable=import-outside-toplevel
    return scf.hf.get_jk(mol, dm, hermi, with_j=with_j, with_k=with_k, omega=omega)


def _patched_class(cls):
    """That of PySCF with our get_jk in front."""
    ours = _PatchedGpuSCF if _of_gpu4pyscf(cls) else _PatchedSCF
    return type("Fmo" + cls.__name__, (ours, cls), {"__module__": cls.__module__})


def _plain_class(cls):
    """That of PySCF again; of a class that PySCF has made of a patched one, a scanner's, what it would have
    made of the plain one."""
    if not issubclass(cls, _PatchedSCF):
        return cls
    if cls.__bases__[0] in (_PatchedSCF, _PatchedGpuSCF):
        return cls.__bases__[1]
    rest = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    return type(cls.__name__.replace("Fmo", "", 1), tuple(map(_plain_class, cls.__bases__)), rest)


def _make_plain(mf) -> None:
    mf.__class__ = _plain_class(type(mf))
    del mf.fmo_options, mf._fmo_warned


def _plain_copy(mf):
    """A copy without patches, inside neither; what is patched stays so."""
    one = copy.copy(mf)
    if isinstance(one, _PatchedSCF):
        _make_plain(one)
    if hasattr(one, "_scf"):
        one._scf = _plain_copy(one._scf)
    return one


def _patched_again(cls):
    """An empty object of the patched class, for pickle and copy to fill."""
    return object.__new__(_patched_class(cls))


def _scf_options(options: dict) -> dict:
    """Those of an SCF: integrals are kept from cycle to cycle on the CPU, unless they say otherwise."""
    mode = options.get("mode") or "auto"
    on_cpu = mode == "cpu" or mode == "auto" and LIBRARY.fmo_gpu_available(None) != 0
    return {"integrals": "auto", **options} if on_cpu else options


def _of_gpu4pyscf(cls) -> bool:
    # a class that PySCF has put in front, a scanner's, has PySCF's module
    return any(one.__module__.split(".")[0] == "gpu4pyscf" for one in cls.__mro__)


def _full_range(mol, omega, lr_factor, sr_factor):
    """The factor of the full Coulomb operator in
    lr_factor erf(omega r)/r + sr_factor erfc(omega r)/r (GPU4PySCF's), and the omega to ask for."""
    omega = mol.omega if omega is None else omega
    given = [factor for factor in (lr_factor, sr_factor) if factor is not None]
    if not omega or len(given) == 2 and lr_factor == sr_factor:
        return given[0] if given else 1.0, 0.0
    return None, omega


def _factors(cls, lr_factor, sr_factor) -> dict:
    """Those of GPU4PySCF that were given; PySCF has none."""
    given = {"lr_factor": lr_factor, "sr_factor": sr_factor} if _of_gpu4pyscf(cls) else {}
    return {name: factor for name, factor in given.items() if factor is not None}


class _PatchedSCF:
    """Put before a class of PySCF or GPU4PySCF by patch()."""

    _keys = {"fmo_options"}

    def __reduce_ex__(self, protocol):
        """By PySCF's class, which has a name: what is unpickled or copied is patched, too."""
        # The second item would be the class made above, which no module has.
        return (_patched_again, (_plain_class(type(self)),), *super().__reduce_ex__(max(protocol, 2))[2:])

    def _fmo_jk(self, mol, dm, hermi, with_j, with_k, omega):
        """J and K, or None: not libfmo's, which has been said."""
        if _cupy.in_gpu_memory(dm):
            dm = _cupy.as_cupy(dm)
        reason = _cannot(mol, dm, hermi, omega)
        if reason is not None:
            who = "GPU4PySCF" if _of_gpu4pyscf(type(self)) else "PySCF"
            _warn_once(self._fmo_warned, reason, who)
            return None
        options = _scf_options(self.fmo_options)
        if _cupy.in_gpu_memory(dm):
            options = _on_device_of(dm, options)
        return _plan_for(mol, options).get_jk(dm, with_j, with_k)

    def _fmo_given(self, mol, dm):
        """What was given, or what is this object's."""
        return self.mol if mol is None else mol, self.make_rdm1() if dm is None else dm

    def get_jk(self, mol=None, dm=None, hermi=1, with_j=True, with_k=True, omega=None, lr_factor=None,
               sr_factor=None):  # pylint: disable=too-many-arguments
        """As get_jk of the SCF class, by libfmo where that can."""
        mol, dm = self._fmo_given(mol, dm)
        factors = _factors(type(self), lr_factor, sr_factor)
        if not factors:
            made = self._fmo_jk(mol, dm, hermi, with_j, with_k, omega)
            if made is not None:
                return made
        return super().get_jk(mol, dm, hermi, with_j, with_k, omega, **factors)

    def get_veff(self, *arguments, **named):
        """As get_veff of the SCF class: GPU4PySCF's RHF asks for J and then for K, which cost less together."""
        own = super().get_veff
        if _of_gpu4pyscf(type(self)) and own.__func__ is sys.modules["gpu4pyscf.scf.hf"].get_veff:
            self._fmo_pair = None, None
        try:
            return own(*arguments, **named)
        finally:
            self.__dict__.pop("_fmo_pair", None)

    def get_j(self, mol=None, dm=None, hermi=1, omega=None):
        """As get_j of the SCF class, by libfmo where that can."""
        mol, dm = self._fmo_given(mol, dm)
        pair = "_fmo_pair" in self.__dict__
        made = self._fmo_jk(mol, dm, hermi, True, pair, omega)
        if pair:
            self._fmo_pair = dm, None if made is None else made[1]
        return super().get_j(mol, dm, hermi, omega) if made is None else made[0]

    def get_k(self, mol=None, dm=None, hermi=1, omega=None, lr_factor=None, sr_factor=None):
        """As get_k of the SCF class, by libfmo where that can."""
        mol, dm = self._fmo_given(mol, dm)
        factor, asked = _full_range(mol, omega, lr_factor, sr_factor)
        of, kept = self.__dict__.get("_fmo_pair", (None, None))
        if of is dm and kept is not None and factor == 1.0:
            return kept
        made = self._fmo_jk(mol, dm, hermi, False, True, asked)
        if made is not None:
            return made[1] if factor == 1.0 else factor * made[1]
        return super().get_k(mol, dm, hermi, omega, **_factors(type(self), lr_factor, sr_factor))

    def to_gpu(self):
        """The object of GPU4PySCF, patched, too."""
        return patch(_plain_copy(self).to_gpu(), **self.fmo_options)


class _PatchedGpuSCF(_PatchedSCF):
    """The same of GPU4PySCF."""

    def to_gpu(self):
        """This object."""
        return self

    def to_cpu(self):
        """The object of PySCF, patched, too."""
        return patch(_plain_copy(self).to_cpu(), **self.fmo_options)


def _cannot_patch(mf) -> str | None:
    from pyscf.scf import hf, uhf  # pylint: disable=import-outside-toplevel
    if _periodic(getattr(mf, "mol", None)):
        return "the system is periodic"
    families = [hf.RHF, uhf.UHF]
    if _of_gpu4pyscf(type(mf)):
        scf = sys.modules["gpu4pyscf.scf"]
        families = [scf.hf.RHF, scf.uhf.UHF]
        if any(cls.__module__.endswith("_lowmem") for cls in type(mf).__mro__):
            return f"{type(mf).__name__} of low memory has no J and K apart"
    if not isinstance(mf, tuple(families)):
        return f"{type(mf).__name__} is not a restricted or unrestricted SCF"
    if getattr(mf, "with_df", None) is not None:
        return "density fitting has J and K of its own"
    return None


def _check_scf(mf, call: str) -> None:
    if not hasattr(mf, "mol"):
        raise TypeError(f"fmo.{call}: expected an SCF object of PySCF, as mol.RHF(), not "
                        f"{type(mf).__name__}")


def patch(mf, **options):
    """Make an SCF object of PySCF or GPU4PySCF (RHF, UHF, ROHF or Kohn-Sham) use libfmo's J and K; returns mf.

    GPU4PySCF's arrays stay on their GPU.

    Options as of get_jk; on the CPU integrals is "auto" unless given. The object changes in place:
    its class gets a get_jk in front. What libfmo cannot do goes to PySCF, with one warning;
    unpatch(mf) takes everything back. Copies and pickles of the object are patched, too. Raises
    TypeError for what is no such object, and as get_jk for options.
    """
    _check_scf(mf, "patch")
    make_options(**options)
    reason = _cannot_patch(mf)
    if reason is not None:
        who = "GPU4PySCF" if _of_gpu4pyscf(type(mf)) else "PySCF"
        warnings.warn(f"fmo: {reason}; {who} computes J and K", FallbackWarning, stacklevel=2)
        return mf
    unpatch(mf)
    if hasattr(mf, "_scf"):  # the first-order object inside a second-order one
        patch(mf._scf, **options)
    mf.fmo_options = options
    mf._fmo_warned = set()
    cls = type(mf)
    mf.__class__ = _patched_class(cls)
    return mf


def unpatch(mf):
    """Give a patched object PySCF's own J and K back; returns mf. Objects that are not patched are
    left alone. Raises TypeError for what is no SCF object."""
    _check_scf(mf, "unpatch")
    if isinstance(mf, _PatchedSCF):
        _make_plain(mf)
        if hasattr(mf, "_scf"):
            unpatch(mf._scf)
    return mf
