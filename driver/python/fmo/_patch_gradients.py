"""Gradients of patched SCF objects of PySCF and GPU4PySCF with two-electron parts of libfmo.

PySCF contracts matrices [3, nao, nao] of derivatives with the density, of which its get_jk computes every
element; libfmo computes what comes out of it, [natm, 3]. So PySCF's grad_elec runs with zeros for J and K, which
leaves one-electron and grid parts, and libfmo's gradient is added. GPU4PySCF has a method for just that sum.
Outside grad_elec, and where a class has one of these methods of its own (density fitting, for example), everything
is PySCF's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._front import Front, from_elsewhere, of_gpu4pyscf, plain_copy, put_in_front
from ._plan import GradientTerm, Request

# Methods that have to be those of these modules if libfmo is to compute two-electron parts.
_JK, _KOHN_SHAM = ("pyscf.grad.rhf",), ("pyscf.grad.rks", "pyscf.grad.uks")
_OWN = {"get_jk": _JK, "get_j": _JK, "get_k": _JK, "grad_elec": ("pyscf.grad.rhf", "pyscf.grad.uhf"),
        "get_veff": ("pyscf.grad.rhf", "pyscf.grad.uhf", *_KOHN_SHAM),
        "extra_force": ("pyscf.grad.rhf", "pyscf.grad.rks", "pyscf.grad.uks")}
_OWN_GPU = {"jk_energy_per_atom": ("gpu4pyscf.grad.rhf",)}
_Operator = tuple[float, float, float]

if TYPE_CHECKING:
    class _Behind:
        """What the class behind has, PySCF's or GPU4PySCF's."""
        base: Any
        mol: Any
        grad_elec: Any
        get_jk: Any
        get_j: Any
        get_k: Any
        get_veff: Any
        to_gpu: Any
        view: Any
        jk_energy_per_atom: Any
else:
    _Behind = object


def _operator(omega: float | None) -> _Operator:
    of = Request(1, omega).operator
    return of.full, of.long_range, of.omega


def _terms(dm: Any, coulomb: float, exchange: float, coulomb_operator: _Operator,
           exchange_operator: _Operator) -> list[GradientTerm]:
    """The terms of a density of both spins, or of those of each spin."""
    operators = {"coulomb_operator": coulomb_operator, "exchange_operator": exchange_operator}
    dm = 0.5 * (dm + dm.swapaxes(-1, -2))
    if dm.ndim == 2:
        return [GradientTerm(dm, coulomb, exchange, **operators)]
    return [GradientTerm(dm[0] + dm[1], coulomb, 0.0, **operators),
            *(GradientTerm(one, 0.0, 2.0 * exchange, **operators) for one in dm if exchange)]


class _PatchedGradients(Front, _Behind):
    """Put before a class of gradients of PySCF."""

    _fmo_without_jk = False

    def _fmo_replaced(self) -> str | None:
        """Why J and K of this object are not libfmo's to compute, or None: what is in front of ours, behind it, or in
        the object itself."""
        cls = type(self)
        for name, modules in _OWN.items():
            in_front = getattr(cls, name)
            ours = in_front is vars(_PatchedGradients).get(name)
            known = not from_elsewhere(getattr(super(), name), modules) and (ours or name == "grad_elec" or (
                name not in vars(_PatchedGradients) and not from_elsewhere(in_front, modules)))
            if name in vars(self) or not known:
                return f"{cls.__name__} has {name} of its own"
        return None

    def _fmo_exchange(self) -> tuple[float, _Operator] | None:
        """Weight and operator of exchange, or None if libfmo has none such."""
        base, mol = self.base, self.mol
        if super().get_veff.__module__ not in _KOHN_SHAM:
            return 1.0, _operator(mol.omega)
        numint = base._numint
        if not numint.libxc.is_hybrid_xc(base.xc):
            return 0.0, _operator(mol.omega)
        omega, alpha, hyb = numint.rsh_and_hybrid_coeff(base.xc, spin=mol.spin)
        if not omega or alpha == hyb:
            return hyb, _operator(mol.omega)
        return None if mol.omega else (1.0, (hyb, alpha - hyb, omega))

    def _fmo_two_electron(self, dm: Any) -> Any:
        """The derivative of J and K, [natm, 3], or None where PySCF computes it, which a warning has reported."""
        base, mol = self.base, self.mol
        if not hasattr(base, "_fmo_gradient"):
            return None  # its patch has been taken back
        reason = self._fmo_replaced()
        exchange = None if reason else self._fmo_exchange()
        if exchange is None:
            base._fmo_warn(reason or "mol.omega is set, and the functional has a range of its own",
                          "two-electron gradients")
            return None
        return base._fmo_gradient(mol, _terms(np.asarray(dm), 1.0, exchange[0], _operator(mol.omega), exchange[1]))

    def grad_elec(self, mo_energy: Any = None, mo_coeff: Any = None, mo_occ: Any = None, atmlst: Any = None) -> Any:
        """As grad_elec of the class behind."""
        own, base = super().grad_elec, self.base
        dm = base.make_rdm1(base.mo_coeff if mo_coeff is None else mo_coeff, base.mo_occ if mo_occ is None else mo_occ)
        made = self._fmo_two_electron(dm)
        if made is None:
            return own(mo_energy, mo_coeff, mo_occ, atmlst)
        view = self.view(type(self))  # so that another thread does not see it
        view._fmo_without_jk = True
        rest = own.__func__(view, mo_energy, mo_coeff, mo_occ, atmlst)
        return rest + (made if atmlst is None else made[np.asarray(atmlst, dtype=int)])

    def get_jk(self, mol: Any = None, dm: Any = None, hermi: int = 0, omega: float | None = None) -> Any:
        """As get_jk of the class behind."""
        if self._fmo_without_jk:
            return _zeros(dm), _zeros(dm)
        return super().get_jk(mol, dm, hermi, omega)

    def get_j(self, mol: Any = None, dm: Any = None, hermi: int = 0, omega: float | None = None) -> Any:
        """As get_j of the class behind."""
        return _zeros(dm) if self._fmo_without_jk else super().get_j(mol, dm, hermi, omega)

    def get_k(self, mol: Any = None, dm: Any = None, hermi: int = 0, omega: float | None = None) -> Any:
        """As get_k of the class behind."""
        return _zeros(dm) if self._fmo_without_jk else super().get_k(mol, dm, hermi, omega)

    def to_gpu(self) -> Any:
        """The object of GPU4PySCF, patched, too."""
        made = plain_copy(self).to_gpu()
        made.base = self.base.to_gpu()
        return patched_gradients(made.base, made)


def _zeros(dm: Any) -> Any:
    """A derivative of J or K of densities [..., nao, nao] for PySCF."""
    shape = np.shape(dm)
    return np.zeros((*shape[:-2], 3, *shape[-2:]))


class _PatchedGpuGradients(Front, _Behind):
    """Put before a class of gradients of GPU4PySCF."""

    def jk_energy_per_atom(self, dm: Any = None, j_factor: float = 1.0, k_factor: float = 1.0,
                           omega: float | None = None, lr_factor: float | None = None,
                           sr_factor: float | None = None, hermi: int = 0, verbose: Any = None
                           ) -> Any:  # pylint: disable=too-many-arguments
        """As jk_energy_per_atom of the class behind."""
        base = self.base
        if dm is None:
            dm = base.make_rdm1()
        behind = super().jk_energy_per_atom
        made = None
        if lr_factor is None and sr_factor is None and hasattr(base, "_fmo_gradient"):
            of = _operator(omega or base.mol.omega)
            host = dm.get() if hasattr(dm, "get") else np.asarray(dm)
            made = base._fmo_gradient(base.mol, _terms(host, j_factor, k_factor, of, of))
        if made is None:
            factors = {"lr_factor": lr_factor, "sr_factor": sr_factor}
            return behind(dm, j_factor, k_factor, omega, hermi=hermi, verbose=verbose,
                          **{name: one for name, one in factors.items() if one is not None})
        return made


def patched_gradients(mf: Any, gradients: Any) -> Any:
    """An object for gradients of a patched SCF object mf, in place; as it is, with a warning, if its J and K are its own."""
    if isinstance(gradients, Front):
        return gradients
    on_gpu = of_gpu4pyscf(type(gradients))
    for name, modules in (_OWN_GPU if on_gpu else _OWN).items():
        if from_elsewhere(getattr(type(gradients), name, None), modules):
            mf._fmo_warn(f"{type(gradients).__name__} has {name} of its own", "two-electron gradients")
            return gradients
    gradients.__class__ = put_in_front(_PatchedGpuGradients if on_gpu else _PatchedGradients, type(gradients))
    return gradients
