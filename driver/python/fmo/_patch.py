"""SCF objects of PySCF and GPU4PySCF with J and K of libfmo, and what PySCF's methods then mean.

Three rules hold for a patched object. It uses libfmo only where the class behind takes J and K from the
integrals of the molecule; where they come from elsewhere (mf._eri, density fitting, a method of the
caller's), the class behind computes them. What PySCF derives from a patched object is patched, too. And
integrals that PySCF stores while it does a call of its own are kept beside the object: what is in mf._eri is
always the caller's.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _cupy
from ._errors import UnsupportedError, bad_type
from ._front import Front, from_elsewhere, make_plain, of_gpu4pyscf, plain_copy, put_in_front, who
from ._library import LIBRARY
from ._mole import (FallbackWarning, _cannot, _for_request, _on_device_of, _periodic, _plan_for, _state, _warn_once)
from ._patch_gradients import patched_gradients
from ._plan import CUTOFF, DensityError, GradientTerm, make_options

# Modules whose get_jk, get_j and get_k take J and K from the integrals of the molecule.
_SOURCES = ("pyscf.scf.hf", "pyscf.scf.uhf", "gpu4pyscf.scf.hf")
_DIRECT_SCF_TOL = 1e-13  # PySCF's default, which CUTOFF is the counterpart of
_REPULSION = (None, "int2e", "int2e_sph", "int2e_cart")  # names of the integrals over 1/r in PySCF


def _foreign(method: Any) -> bool:
    """Whether a get_jk, get_j or get_k is none of those that we stand in for."""
    return from_elsewhere(method, _SOURCES)


def _patched_class(cls: Any) -> type:
    """PySCF's class with our get_jk in front."""
    return put_in_front(_PatchedGpuSCF if of_gpu4pyscf(cls) else _PatchedSCF, cls)


def _scf_options(mf: Any) -> dict[str, Any]:
    """The options of an object's builds: on the CPU integrals are kept from cycle to cycle, unless it says
    otherwise, and a tighter direct_scf_tol tightens the cutoff."""
    options = dict(mf.fmo_options)
    mode = options.get("mode") or "auto"
    if mode == "cpu" or mode == "auto" and LIBRARY.fmo_gpu_available(None) != 0:
        options.setdefault("integrals", "auto")
    tolerance = getattr(mf, "direct_scf_tol", _DIRECT_SCF_TOL)
    if options.get("cutoff") is None and tolerance < _DIRECT_SCF_TOL:
        options["cutoff"] = max(0.0, tolerance) * (CUTOFF / _DIRECT_SCF_TOL)
    return options


def _full_range(mol: Any, omega: float | None, lr_factor: float | None, sr_factor: float | None) -> float | None:
    """The factor of the full Coulomb operator in
    lr_factor erf(omega r)/r + sr_factor erfc(omega r)/r (GPU4PySCF's), or None if there is another part."""
    omega = mol.omega if omega is None else omega
    factors = [factor for factor in (lr_factor, sr_factor) if factor is not None] or [1.0]
    if len(set(factors)) > 1 or omega and len(factors) == 1:
        return None
    return factors[0]


# What PySCF has stored for calls of its own: of an object the molecule's state, _eri and _opt.
_stored: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()


if TYPE_CHECKING:
    class _Behind:
        """What the class behind has, PySCF's or GPU4PySCF's."""
        mol: Any
        _eri: Any
        _opt: Any
        _scf: Any
        direct_scf_tol: float
        get_jk: Any
        get_j: Any
        get_k: Any
        get_veff: Any
        make_rdm1: Any
        nuc_grad_method: Any
        Gradients: Any
        init_direct_scf: Any
        _transfer_attrs_: Any
        to_ks: Any
        to_hf: Any
        to_gpu: Any
        to_cpu: Any
        view: Any
else:
    _Behind = object


class _PatchedSCF(Front, _Behind):
    """Put before a class of PySCF by patch()."""

    _keys = {"fmo_options"}
    fmo_options: dict[str, Any]
    _fmo_warned: set[tuple[str, str]]
    _fmo_pair: tuple[Any, Any]

    def _fmo_warn(self, reason: str, what: str = "J and K") -> None:
        """Warn once that the class behind computes something."""
        _warn_once(self._fmo_warned, reason, who(type(self)), what)

    def _fmo_replaced(self) -> str | None:
        """Why this object's J and K are not those of its molecule's integrals, or None."""
        if self._eri is not None:
            return "integrals are in mf._eri (None there, or mf.reset(), lets libfmo compute)"
        integrals = getattr((self._opt or {}).get(None), "_intor", None)
        if integrals not in _REPULSION:
            return f"mf.opt is for {integrals} integrals"
        if getattr(self.init_direct_scf, "__module__", None) not in _SOURCES:
            return "init_direct_scf is not PySCF's"
        return None

    def _fmo_build(self, mol: Any, dm: Any, hermi: int, with_j: bool, with_k: bool,
                   omega: float | None) -> tuple[Any, Any] | None:  # pylint: disable=too-many-arguments
        """J and K by libfmo; None, after a warning, where it cannot compute them."""
        if _cupy.in_gpu_memory(dm):
            dm = _cupy.as_cupy(dm)
        reason, there = self._fmo_replaced() or _cannot(mol, dm), _cupy.in_gpu_memory(dm)
        if reason is None:
            options = _scf_options(self)
            if there:
                options = _on_device_of(dm, options)
            omega, reason = _for_request(mol, hermi, omega, options)
        if reason is None:
            try:
                return _plan_for(mol, options).get_jk(dm, with_j, with_k, hermi, omega)
            except DensityError as refused:
                reason = refused.reason
        self._fmo_warn(reason)
        return None

    def _fmo_given(self, mol: Any, dm: Any) -> tuple[Any, Any]:
        """What was given, or what is this object's."""
        return self.mol if mol is None else mol, self.make_rdm1() if dm is None else dm

    def _fmo_behind(self, method: Any, mol: Any, *arguments: Any) -> Any:
        """A call of the class behind, with what it has stored for such calls, unless the molecule has changed."""
        if self._fmo_replaced() is not None:
            return method(mol, *arguments)
        state = _state(mol), mol.omega, self.direct_scf_tol
        was, eri, optimizers = _stored.get(self, (None, None, None))
        view = self.view(type(self))  # so that another thread does not see it
        view._eri, view._opt = (eri, optimizers) if was == state else (None, {None: None})
        made = method.__func__(view, mol, *arguments)
        _stored[self] = state, view._eri, view._opt
        return made

    def get_jk(self, *arguments: Any, **named: Any) -> Any:
        """As get_jk of the SCF class, by libfmo where that can."""
        behind = super().get_jk
        if _foreign(behind):
            self._fmo_warn(f"{type(self).__name__} has J and K of its own")
            return behind(*arguments, **named)
        return self._fmo_get_jk(behind, *arguments, **named)

    def _fmo_get_jk(self, behind: Any, mol: Any = None, dm: Any = None, hermi: int = 1, with_j: bool = True,
                    with_k: bool = True, omega: float | None = None) -> Any:  # pylint: disable=too-many-arguments
        mol, dm = self._fmo_given(mol, dm)
        made = self._fmo_build(mol, dm, hermi, with_j, with_k, omega)
        if made is not None:
            return made
        return self._fmo_behind(behind, mol, dm, hermi, with_j, with_k, omega)

    def nuc_grad_method(self, *arguments: Any, **named: Any) -> Any:
        """As nuc_grad_method of the SCF class; two-electron parts by libfmo where that can."""
        return patched_gradients(self, super().nuc_grad_method(*arguments, **named))

    def Gradients(self, *arguments: Any, **named: Any) -> Any:  # pylint: disable=invalid-name
        """As nuc_grad_method()."""
        return patched_gradients(self, super().Gradients(*arguments, **named))

    def _fmo_gradient(self, mol: Any, terms: Sequence[GradientTerm]) -> Any:
        """Their gradient by libfmo, [natm, 3], or None where it cannot, which a warning has reported."""
        reason = _cannot(mol, terms[0].density)
        options = _scf_options(self)
        modes = [options.get("mode")]
        if not of_gpu4pyscf(type(self)):
            modes.append("cpu")  # of objects on the CPU whatever the mode of builds
        for mode in modes if reason is None else ():
            try:
                return _plan_for(mol, {**options, "mode": mode}).gradient(terms)
            except UnsupportedError as refused:
                message = refused.message
        self._fmo_warn(reason or message, "two-electron gradients")
        return None

    def _transfer_attrs_(self, dst: Any) -> Any:
        """Of to_ks and to_hf: what they return is patched, too, inside density fitting as well."""
        return super()._transfer_attrs_(patch(dst, **self.fmo_options))

    def to_ks(self, *arguments: Any, **named: Any) -> Any:
        """As to_ks of the SCF class; the result is patched, too."""
        return self._fmo_like_this(super().to_ks(*arguments, **named))

    def to_hf(self, *arguments: Any, **named: Any) -> Any:
        """As to_hf of the SCF class; the result is patched, too."""
        return self._fmo_like_this(super().to_hf(*arguments, **named))

    def _fmo_like_this(self, mf: Any) -> Any:
        return mf if isinstance(mf, _PatchedSCF) else patch(mf, **self.fmo_options)

    def to_gpu(self) -> Any:
        """The object of GPU4PySCF, patched, too."""
        return patch(plain_copy(self).to_gpu(), **self.fmo_options)


class _PatchedGpuSCF(_PatchedSCF):
    """Put before a class of GPU4PySCF, which has J and K apart, and never looks at _eri."""

    def _fmo_replaced(self) -> None:
        return None

    def _fmo_behind(self, method: Any, mol: Any, *arguments: Any) -> Any:
        return method(mol, *arguments)

    def get_veff(self, *arguments: Any, **named: Any) -> Any:
        """As get_veff of the SCF class: GPU4PySCF's RHF asks for J and then for K, which cost less together."""
        own = super().get_veff
        if own.__func__ is sys.modules["gpu4pyscf.scf.hf"].get_veff:
            self._fmo_pair = None, None
        try:
            return own(*arguments, **named)
        finally:
            vars(self).pop("_fmo_pair", None)

    def get_j(self, mol: Any = None, dm: Any = None, hermi: int = 1, omega: float | None = None) -> Any:
        """As get_j of the SCF class, by libfmo where that can."""
        mol, dm = self._fmo_given(mol, dm)
        behind, pair = super().get_j, "_fmo_pair" in vars(self)
        made = None if _foreign(behind) else self._fmo_build(mol, dm, hermi, True, pair, omega)
        if pair:
            self._fmo_pair = dm, None if made is None else made[1]
        return behind(mol, dm, hermi, omega) if made is None else made[0]

    def get_k(self, mol: Any = None, dm: Any = None, hermi: int = 1, omega: float | None = None,
              lr_factor: float | None = None,
              sr_factor: float | None = None) -> Any:  # pylint: disable=too-many-arguments
        """As get_k of the SCF class, by libfmo where that can."""
        mol, dm = self._fmo_given(mol, dm)
        behind = super().get_k
        factor = _full_range(mol, omega, lr_factor, sr_factor)
        of, kept = vars(self).pop("_fmo_pair", (None, None))
        if of is dm and kept is not None and factor == 1.0:
            return kept
        made = None
        if factor is None:
            self._fmo_warn("omega is given, libfmo does the full Coulomb operator")
        elif not _foreign(behind):
            made = self._fmo_build(mol, dm, hermi, False, True, 0.0)
        if made is not None:
            return made[1] if factor == 1.0 else factor * made[1]
        factors = {"lr_factor": lr_factor, "sr_factor": sr_factor}
        return behind(mol, dm, hermi, omega, **{name: one for name, one in factors.items() if one is not None})

    def to_gpu(self) -> Any:
        """This object."""
        return self

    def to_cpu(self) -> Any:
        """The object of PySCF, patched, too."""
        return patch(plain_copy(self).to_cpu(), **self.fmo_options)


def _cannot_patch(mf: Any) -> str | None:
    """Why J and K of an object are not libfmo's to compute, or None."""
    cls = type(mf)
    if _periodic(getattr(mf, "mol", None)):
        return "the system is periodic"
    if vars(mf).get("with_df") is not None:
        return "density fitting has J and K of its own"
    if any(one.__module__.endswith("_lowmem") for one in cls.__mro__):
        return f"{cls.__name__} of low memory has no J and K apart"
    if "get_jk" in vars(mf):
        return "the object has a get_jk of the caller's"
    names = ("get_jk", "get_j", "get_k") if of_gpu4pyscf(cls) else ("get_jk",)
    if any(_foreign(getattr(cls, name, None)) for name in names):
        return f"{cls.__name__} has J and K of its own"
    return None


def _check_scf(mf: Any, call: str) -> None:
    if not hasattr(mf, "mol"):
        raise bad_type(f"fmo.{call}: expected an SCF object of PySCF, as mol.RHF(), not {type(mf).__name__}")


def patch(mf: Any, **options: Any) -> Any:
    """Make an SCF object of PySCF or GPU4PySCF use J and K of libfmo; returns mf.

    mf: RHF, UHF, ROHF or Kohn-Sham object; it changes in place. Options as of get_jk; on the CPU integrals
    is "auto" unless given, and a direct_scf_tol below PySCF's 1e-13 tightens the cutoff alike. Arrays of
    GPU4PySCF stay on their GPU. Gradients, as of nuc_grad_method().kernel(), have two-electron parts of libfmo; what
    is on a grid stays PySCF's.

    Where J and K are not those of the molecule's integrals, or libfmo cannot compute them, PySCF does, with
    one FallbackWarning for each reason: integrals in mf._eri, densities that are complex or not as symmetric
    as hermi says, h shells; for gradients methods of an object's own. Objects with J and
    K of their own (density fitting, generalised, periodic, a get_jk of the caller's) are returned as they are, with that warning. What PySCF makes of a
    patched object is patched, too: copies, pickles, scanners, newton(), to_uhf(), to_rks(), to_gpu() and
    the like. unpatch(mf) takes everything back.

    Raises InputTypeError (a TypeError) for what is no such object or an unknown option, and InputError (a
    ValueError) for values of options.
    """
    _check_scf(mf, "patch")
    make_options(**options)
    patched = isinstance(mf, _PatchedSCF)
    reason = None if patched else _cannot_patch(mf)
    if reason is not None:
        warnings.warn(f"fmo: {reason}; {who(type(mf))} computes J and K", FallbackWarning, stacklevel=2)
        return mf
    if "_scf" in vars(mf):  # the first-order object inside a second-order one
        patch(mf._scf, **options)
    mf.fmo_options = options
    mf._fmo_warned = set()
    if not patched:
        mf.__class__ = _patched_class(type(mf))
    return mf


def unpatch(mf: Any) -> Any:
    """Give a patched object PySCF's own J and K back; returns mf, changed in place.

    Objects that are not patched are left alone. Raises InputTypeError (a TypeError) for what is no SCF
    object.
    """
    _check_scf(mf, "unpatch")
    if isinstance(mf, _PatchedSCF):
        make_plain(mf)
        if "_scf" in vars(mf):
            unpatch(mf._scf)
    return mf
