"""fmo.patch with everything in PySCF that changes the meaning of J and K: tables of attributes, conversions
and methods; each row is a calculation with and without patch. Started like module.py.

A row also names who computes: "fmo" (libfmo alone), "pyscf" (PySCF alone, with a warning), "both".
"""

import concurrent.futures
import contextlib
import copy
import io
import pickle
import subprocess
import sys
import unittest

# first: it may start another Python
from helpers import H_SHELL, Case, recorded

import numpy as np
from pyscf import ao2mo, dft, gto, lib, mcscf, qmmm, scf, solvent
from pyscf.scf import _vhf

import fmo
from fmo import _patch, _plan

CLOSE = 1e-8
WATER = "O 0 0 0.117; H 0 0.757 -0.469; H 0 -0.757 -0.469"
BENT = "O 0 0 0; H 0 0.9 0.6; H 0.1 -0.7 0.6"


def water(**changes):
    return gto.M(**{**dict(atom=WATER, basis="sto-3g", verbose=0), **changes})


def radical(**changes):
    return water(charge=1, spin=1, **changes)


def quick(mf):
    """Sets tight convergence and a coarse grid."""
    if isinstance(mf, scf.hf.SCF):
        mf.conv_tol = 1e-11
        if hasattr(mf, "grids"):
            mf.grids.level = 0
    return mf


def density(mf, symmetric=True):
    """A density of the kind that the object takes."""
    nao = mf.mol.nao * (2 if mf.istype("GHF") else 1)
    shape = (2, nao, nao) if mf.istype("UHF") or mf.istype("ROHF") else (nao, nao)
    d = np.random.default_rng(5).standard_normal(shape)
    return 0.5 * (d + d.swapaxes(-1, -2)) if symmetric else d


def matrices(mf):
    """J, K and the potential by every method that has them."""
    dm = density(mf)
    return [*mf.get_jk(mf.mol, dm), mf.get_j(mf.mol, dm), mf.get_k(mf.mol, dm),
            np.asarray(mf.get_veff(mf.mol, dm)), *mf.get_jk(mf.mol, density(mf, False), hermi=0)]


def energy(mf):
    mf.kernel()
    return [mf.e_tot, *mf.get_jk()]


@contextlib.contextmanager
def counted():
    """Counts the builds of J and K by libfmo in this context."""
    builds, get_jk = [], _plan.Plan.get_jk

    def counting(self, *arguments):
        made = get_jk(self, *arguments)
        builds.append(1)
        return made
    _plan.Plan.get_jk = counting
    try:
        yield builds
    finally:
        _plan.Plan.get_jk = get_jk


class Table(Case):
    def run_rows(self, rows):
        """Patched objects give the results of PySCF, and the expected library computes them."""
        for name, (start, work, who) in rows.items():
            with self.subTest(name), contextlib.redirect_stderr(io.StringIO()):
                reference = work(quick(start()))
                mf = quick(start())
                with counted() as builds, recorded() as warned:
                    got = work(fmo.patch(mf))
                self.assertEqual(len(got), len(reference))
                for one, expected in zip(got, reference):
                    if isinstance(expected, scf.hf.SCF):
                        self.assertIsInstance(one, _patch._PatchedSCF)
                        self.assertIsInstance(fmo.unpatch(one), type(expected).__mro__[0] if
                                              not hasattr(type(expected), "__name_mixin__") else scf.hf.SCF)
                        self.assertFalse(any("Fmo" in cls.__name__ for cls in type(one).__mro__))
                    else:
                        self.assert_close(one, expected, CLOSE, name)
                self.assertEqual({(True, False): "fmo", (False, True): "pyscf", (True, True): "both"}.get(
                    (bool(builds), bool(warned))), who, warned)


def then(change, *works):
    """Work that changes the object first; what change returns goes on, or the object itself."""
    def work(mf):
        other = change(mf)
        other = mf if other is None else quick(other)
        return [one for each in (works or (matrices, energy)) for one in each(other)]
    return work


def set_to(**values):
    return lambda mf: [setattr(mf, name, value) for name, value in values.items()] and None


def scaled_integrals(form):
    """Integrals of a model: those of the molecule, with a factor."""
    def change(mf):
        mf._eri = ao2mo.restore(form, 0.9 * mf.mol.intor("int2e"), mf.mol.nao)
    return change


def hubbard(cls):
    """A ring of six sites, without any basis."""
    def start():
        mol = gto.M(verbose=0)
        mol.nelectron, mol.incore_anyway = 6, True
        mf = cls(mol)
        hopping = -np.eye(6, k=1) - np.eye(6, k=-1) - np.eye(6, k=5) - np.eye(6, k=-5)
        mf.get_hcore, mf.get_ovlp = lambda *_: hopping, lambda *_: np.eye(6)
        eri = np.zeros((6,) * 4)
        for k in range(6):
            eri[k, k, k, k] = 2.0
        mf._eri = ao2mo.restore(8, eri, 6)
        return mf
    return start


def optimizer(mf):
    """An optimizer of direct SCF for integrals other than those over 1/r: (p i p j|p k p l)."""
    return _vhf._VHFOpt(mf.mol, "int2e_pp1pp2", "CVHFnrs8_prescreen", "CVHFnr_int2e_q_cond", "CVHFnr_dm_cond", 1e-13)


def other_integrals(mf):
    mf.max_memory = 0
    mf.opt = optimizer(mf)


def other_optimizer(mf):
    mf.max_memory = 0
    mf.init_direct_scf = lambda mol=None: optimizer(mf)


def halved(mf, name):
    """The caller's own method on top of the object's."""
    own = getattr(mf, name)
    if name == "get_jk":
        setattr(mf, name, lambda *a, **k: tuple(None if one is None else 0.5 * one for one in own(*a, **k)))
    else:
        setattr(mf, name, lambda *a, **k: 0.5 * own(*a, **k))


def moved(how):
    """Another molecule after a calculation, whose _eri, _opt and plan are those of the first."""
    def work(mf):
        """Matrices and energy before and after the molecule is changed in the given way."""
        first = matrices(mf)
        other = water(atom=BENT)
        if how == "mol":
            mf.mol = other
            mf._eri, mf._opt = None, {None: None}  # PySCF itself does not see the change
        elif how == "reset":
            mf.reset(other)
        elif how == "geometry":
            mf.mol.set_geom_(BENT)
            mf.reset()
        elif how == "cartesian":
            mf.mol.cart = True
            mf.reset()
        elif how == "basis":
            mf.mol.basis = "3-21g"
            mf.mol.build()
            mf.reset()
        mf.mo_coeff = None
        return first + matrices(mf) + energy(mf)
    return work


def ranged(mf):
    """Matrices within and outside a range of the Coulomb operator."""
    dm, other = density(mf), density(mf, False)
    made = [*mf.get_jk(mf.mol, dm), *mf.get_jk(mf.mol, dm, omega=0.4), *mf.get_jk(mf.mol, dm, omega=-0.3),
            mf.get_k(mf.mol, dm, omega=0.3)]
    with mf.mol.with_range_coulomb(0.4):
        mf._eri, mf._opt = None, {None: None}  # PySCF keeps those of another range
        made += [*mf.get_jk(mf.mol, dm), *mf.get_jk(mf.mol, other, hermi=0)]
    mf._eri, mf._opt = None, {None: None}
    return made + [*mf.get_jk(mf.mol, dm), *mf.get_jk(mf.mol, other, hermi=0)]


def rhf(**changes):
    return lambda: scf.RHF(water(**changes))


def uhf(**changes):
    return lambda: scf.UHF(radical(**changes))


def rohf(**changes):
    return lambda: scf.ROHF(radical(**changes))


def rks(xc="b3lyp", **changes):
    return lambda: dft.RKS(water(**changes), xc=xc)


def uks(xc="b3lyp", **changes):
    return lambda: dft.UKS(radical(**changes), xc=xc)


class PatchAttributes(Table):
    """Attributes of the object and of its molecule."""

    def test_rows(self):
        """Patched objects with changed settings, integrals, molecules and methods."""
        same = lambda mf: None
        self.run_rows({
            "nothing": (rhf(), then(same), "fmo"),
            "nothing, UHF": (uhf(), then(same), "fmo"),
            "nothing, ROHF": (rohf(), then(same), "fmo"),
            "nothing, RKS": (rks(), then(same), "fmo"),
            "nothing, UKS": (uks(), then(same), "fmo"),
            "SCF, the base class": (lambda: scf.hf.SCF(water()), then(same, matrices), "fmo"),
            "symmetry": (rhf(symmetry=True), then(same, energy), "fmo"),
            "_eri, packed": (rhf(), then(scaled_integrals(8)), "pyscf"),
            "_eri, packed in pairs": (rhf(), then(scaled_integrals(4)), "pyscf"),
            "_eri, whole": (uhf(), then(scaled_integrals(1)), "pyscf"),
            "_eri of a model without a basis": (hubbard(scf.RHF), then(same, energy), "pyscf"),
            "_eri of a model, UHF": (hubbard(scf.UHF), then(same, energy), "pyscf"),
            "_eri taken away": (rhf(), then(lambda mf: [scaled_integrals(8)(mf), mf.reset()] and None, energy), "fmo"),
            "opt of other integrals": (rhf(), then(other_integrals, matrices), "pyscf"),
            "init_direct_scf of the caller's": (rhf(), then(other_optimizer, matrices), "pyscf"),
            "direct_scf": (rhf(), then(set_to(direct_scf=False)), "fmo"),
            "direct_scf_tol": (rhf(), then(set_to(direct_scf_tol=0.0)), "fmo"),
            "max_memory, so that PySCF is direct": (rhf(), then(set_to(max_memory=0)), "fmo"),
            "with_df on an object without": (rhf(), then(set_to(with_df=None), energy), "fmo"),
            "incore_anyway": (rhf(), then(lambda mf: setattr(mf.mol, "incore_anyway", True), energy), "fmo"),
            "nucmod": (rhf(nucmod="G"), then(same, energy), "fmo"),
            "cart": (rhf(basis="6-31g*", cart=True), then(same, energy), "fmo"),
            "omega of the molecule": (rhf(), then(lambda mf: mf.mol.set_range_coulomb(0.4) and None), "fmo"),
            "omega here and there": (rhf(), ranged, "fmo"),
            "omega, direct": (rhf(), then(set_to(max_memory=0), ranged), "fmo"),
            "omega of a functional": (rks("camb3lyp"), then(same, energy), "fmo"),
            "another omega of a functional": (rks("camb3lyp"), then(set_to(omega=0.2), energy), "fmo"),
            "no exchange": (rks("pbe"), then(same, energy), "fmo"),
            "f shells": (rhf(basis={"O": "cc-pvtz", "H": "sto-3g"}), then(same, energy), "fmo"),
            "g shells": (rhf(basis={"O": "cc-pvqz", "H": "sto-3g"}), then(same, energy), "fmo"),
            "h shells": (rhf(basis=H_SHELL), then(same, energy), "pyscf"),
            "mol": (rhf(), moved("mol"), "fmo"),
            "reset with another molecule": (rhf(), moved("reset"), "fmo"),
            "geometry": (rhf(), moved("geometry"), "fmo"),
            "cart changed": (rhf(basis="6-31g*"), moved("cartesian"), "fmo"),
            "basis changed": (rhf(), moved("basis"), "fmo"),
            "level_shift, damp": (rhf(), then(set_to(level_shift=0.1, damp=0.1), energy), "fmo"),
            "get_hcore": (rhf(), then(lambda mf: halved(mf, "get_hcore"), matrices), "fmo"),
            "get_veff": (rhf(), then(lambda mf: halved(mf, "get_veff"), matrices), "fmo"),
            "get_jk": (rhf(), then(lambda mf: halved(mf, "get_jk"), matrices), "fmo"),
            "get_j": (rhf(), then(lambda mf: halved(mf, "get_j"), matrices), "fmo"),
            "get_k": (rks("camb3lyp"), then(lambda mf: halved(mf, "get_k"), matrices), "fmo"),
        })

    def test_densities(self):
        """Of every kind: not symmetric though hermi says so, complex, lists, tagged, none."""
        asymmetric = lambda mf: [*mf.get_jk(mf.mol, density(mf, False))]
        anti = lambda mf: [*mf.get_jk(mf.mol, (lambda d: d - d.T)(density(mf, False)), hermi=2)]
        lists = lambda mf: [*mf.get_jk(mf.mol, [density(mf), 2 * density(mf)]), *mf.get_jk(dm=density(mf)[None, None])]
        self.run_rows({
            "not symmetric": (rhf(), asymmetric, "pyscf"),
            "antisymmetric": (rhf(), anti, "fmo"),
            "complex": (rhf(), lambda mf: [*mf.get_jk(mf.mol, density(mf) * (1 + 0.5j))], "pyscf"),
            "lists": (rhf(), lists, "fmo"),
            "one for UHF": (uhf(), lambda mf: [*mf.get_jk(mf.mol, density(mf)[0])], "fmo"),
            "tagged": (rhf(), lambda mf: [*mf.get_jk(mf.mol, lib.tag_array(density(mf), mo_occ=None))], "fmo"),
            "J alone, K alone": (rhf(), lambda mf: [mf.get_jk(mf.mol, density(mf), with_k=False)[0],
                                                     mf.get_jk(mf.mol, density(mf), with_j=False)[1]], "fmo"),
        })

    def test_stale_integrals_of_fallbacks(self):
        """What PySCF stores for a call of its own is not used after the molecule has changed, and is none of the
        caller's: it is put aside, and used again as long as nothing changes."""
        for memory in (4000, 0):
            mf = fmo.patch(scf.RHF(water()))
            mf.max_memory = memory
            dm = density(mf) * (1 + 0.5j)  # PySCF's
            with recorded():
                mf.get_jk(mf.mol, dm, hermi=0)
                self.assertIsNone(mf._eri)
                stored = _patch._stored[mf]
                mf.get_jk(mf.mol, dm, hermi=0)
                for one, again in zip(stored[1:], _patch._stored[mf][1:]):
                    self.assertIs(one, again)
                mf.mol = water(atom=BENT)
                got = mf.get_jk(mf.mol, dm, hermi=0)
            for one, reference in zip(got, scf.hf.get_jk(mf.mol, dm, hermi=0)):
                self.assert_close(one, reference, CLOSE)
            with counted() as builds:
                mf.get_jk(mf.mol, density(mf))
            self.assertTrue(builds)

    def test_fallbacks_in_threads(self):
        """Calls of PySCF's own do not disturb each other, nor those of libfmo."""
        mf = fmo.patch(scf.RHF(water()))
        dm, other = density(mf), density(mf) * (1 + 0.5j)
        reference = scf.hf.get_jk(mf.mol, dm), scf.hf.get_jk(mf.mol, other, hermi=0)
        with recorded() as warned, concurrent.futures.ThreadPoolExecutor(4) as pool:
            made = list(pool.map(lambda k: mf.get_jk(mf.mol, (dm, other)[k % 2], hermi=1 - k % 2), range(200)))
        for k, (vj, vk) in enumerate(made):
            self.assert_close(vj, reference[k % 2][0], CLOSE)
            self.assert_close(vk, reference[k % 2][1], CLOSE)
        self.assertFalse([one for one in warned if "complex" not in one])

    def test_tighter_than_pyscf(self):
        """direct_scf_tol below PySCF's default tightens the cutoff, unless a cutoff was given."""
        for options, tolerance, cutoff in (({}, 1e-13, None), ({}, 1e-15, 1e-14), ({}, 0.0, 0.0), ({}, 1e-9, None),
                                           ({"cutoff": 1e-10}, 1e-15, 1e-10)):
            mf = fmo.patch(scf.RHF(water()), **options)
            mf.direct_scf_tol = tolerance
            got = _patch._scf_options(mf).get("cutoff")
            if cutoff is None:
                self.assertIsNone(got)
            else:
                self.assertAlmostEqual(got, cutoff, delta=1e-6 * cutoff)


class PatchRefused(Table):
    def test_rows(self):
        """Objects with J and K of their own stay as they are, with a warning."""
        class Own(scf.hf.RHF):
            """A class of the caller."""
            def get_jk(self, *arguments, **named):
                return tuple(0.9 * one for one in super().get_jk(*arguments, **named))

        def with_get_jk():
            mf = scf.RHF(water())
            halved(mf, "get_jk")
            return mf
        for name, start, reason in (
                ("density fitting", lambda: rhf()().density_fit(), "density fitting"),
                ("J alone fitted", lambda: rhf()().density_fit(only_dfj=True), "density fitting"),
                ("fitted, second order", lambda: rhf()().density_fit().newton(), "density fitting"),
                ("GHF", lambda: scf.GHF(water()), "GHF has J and K of its own"),
                ("GKS", lambda: dft.GKS(water()), "GKS has J and K of its own"),
                ("DHF", lambda: scf.DHF(water()), "has J and K of its own"),
                ("a class of the caller's", lambda: Own(water()), "Own has J and K of its own"),
                ("get_jk of the caller's", with_get_jk, "get_jk of the caller's"),
                ("MP2", lambda: scf.RHF(water()).MP2(), "has J and K of its own")):
            with self.subTest(name):
                mf = start()
                cls = type(mf)
                with recorded() as warned:
                    self.assertIs(fmo.patch(mf), mf)
                self.assertEqual(len(warned), 1)
                self.assertIn(reason, warned[0])
                self.assertIs(type(mf), cls)
                self.assertFalse(hasattr(mf, "fmo_options"))


class PatchConversions(Table):
    """Objects that PySCF makes of a patched one."""

    def test_kinds(self):
        """Patched objects that are converted to another kind."""
        self.run_rows({
            "to_rhf": (rhf(), then(lambda mf: mf.to_rhf()), "fmo"),
            "to_rhf of UHF": (lambda: scf.UHF(water()), then(lambda mf: mf.to_rhf()), "fmo"),
            "to_rhf of an open shell": (uhf(), then(lambda mf: mf.to_rhf()), "fmo"),
            "to_uhf": (rhf(), then(lambda mf: mf.to_uhf()), "fmo"),
            "to_uhf of ROHF": (rohf(), then(lambda mf: mf.to_uhf()), "fmo"),
            "to_uhf, converged": (rhf(), then(lambda mf: mf.run().to_uhf()), "fmo"),
            "to_ghf": (rhf(), then(lambda mf: mf.run().to_ghf()), "both"),
            "to_rks": (rhf(), then(lambda mf: mf.to_rks("pbe0")), "fmo"),
            "to_rks of ROHF": (rohf(), then(lambda mf: mf.to_rks("pbe0")), "fmo"),
            "to_uks": (rhf(), then(lambda mf: mf.to_uks("pbe0")), "fmo"),
            "to_uks of UHF": (uhf(), then(lambda mf: mf.to_uks("pbe0")), "fmo"),
            "to_ks": (rhf(), then(lambda mf: mf.to_ks("b3lyp")), "fmo"),
            "to_ks, symmetry": (rhf(symmetry=True), then(lambda mf: mf.to_ks("b3lyp"), energy), "fmo"),
            "to_hf": (rks(), then(lambda mf: mf.to_hf()), "fmo"),
            "to_hf of UKS": (uks(), then(lambda mf: mf.to_hf()), "fmo"),
            "to_hf of ROKS": (lambda: dft.ROKS(radical()), then(lambda mf: mf.to_hf()), "fmo"),
            "to_rhf of RKS": (rks(), then(lambda mf: mf.to_rhf()), "fmo"),
            "to_uhf of RKS": (rks(), then(lambda mf: mf.to_uhf()), "fmo"),
            "to_uks of RKS": (rks(), then(lambda mf: mf.to_uks()), "fmo"),
            "to_rks of UKS": (lambda: dft.UKS(water()), then(lambda mf: mf.to_rks("pbe0")), "fmo"),
            "convert_to_uhf": (rhf(), then(lambda mf: scf.addons.convert_to_uhf(mf)), "fmo"),
            "convert_from_": (uhf(), then(lambda mf: mf.convert_from_(scf.ROHF(radical()).run())), "pyscf"),
            "_eri goes along": (rhf(), then(lambda mf: scaled_integrals(8)(mf) or mf.to_uks("pbe0"), energy), "pyscf"),
        })

    def test_what_is_put_in_front(self):
        """Patched objects with extensions of PySCF on top, and with these undone."""
        fitted = lambda **k: then(lambda mf: mf.density_fit(**k))
        charges = ([[0.0, 0.0, 4.0]], [-0.7])
        solvated = lambda make: (rhf(), then(make, energy), "fmo")
        self.run_rows({
            "newton": (rhf(), then(lambda mf: mf.newton()), "fmo"),
            "newton of UHF": (uhf(), then(lambda mf: mf.newton()), "fmo"),
            "newton, undone": (rhf(), then(lambda mf: mf.newton().undo_soscf()), "fmo"),
            "newton, remove_soscf": (rhf(), then(lambda mf: mf.newton().remove_soscf()), "fmo"),
            "newton before patch, undone": (lambda: scf.RHF(water()).newton(), then(lambda mf: mf.undo_soscf()),
                                            "fmo"),
            "newton, to_uhf": (rhf(), then(lambda mf: mf.newton().to_uhf()), "fmo"),
            "newton, to_ks": (rhf(), then(lambda mf: mf.newton().to_ks("pbe0")), "fmo"),
            "newton with a fitted Hessian": (rhf(), then(lambda mf: mf.newton().density_fit(), energy), "fmo"),
            "density_fit": (rhf(), lambda mf: fitted()(mf), None),
            "density_fit, J alone": (rhf(), fitted(only_dfj=True), "fmo"),
            "density_fit, undone": (rhf(), then(lambda mf: mf.density_fit().undo_df()), "fmo"),
            "density_fit, switched off": (rhf(), then(lambda mf: mf.density_fit().set(with_df=None)), "fmo"),
            "density_fit, J alone, to_rks": (rhf(), then(lambda mf: mf.density_fit(only_dfj=True).to_rks("pbe0")),
                                             "fmo"),
            "x2c": (rhf(), then(lambda mf: mf.x2c()), "fmo"),
            "sfx2c1e": (uhf(), then(lambda mf: mf.sfx2c1e()), "fmo"),
            "x2c, to_uks": (rhf(), then(lambda mf: mf.x2c().to_uks("pbe0"), energy), "fmo"),
            "x2c, undone": (rhf(), then(lambda mf: mf.x2c().undo_x2c()), "fmo"),
            "smearing": (rhf(), then(lambda mf: mf.smearing(0.01, "fermi"), energy), "fmo"),
            "smearing, undone": (rhf(), then(lambda mf: mf.smearing(0.01, "fermi").undo_smearing(), energy), "fmo"),
            "frac_occ": (rhf(), then(lambda mf: scf.addons.frac_occ(mf), energy), "fmo"),
            "dynamic_level_shift_": (rhf(), then(lambda mf: scf.addons.dynamic_level_shift_(mf) and None, energy),
                                     "fmo"),
            "remove_linear_dep_": (rhf(), then(lambda mf: scf.addons.remove_linear_dep_(mf), energy), "fmo"),
            "fast_newton": (rhf(), then(lambda mf: scf.addons.fast_newton(mf), energy), "fmo"),
            "mm_charge": (rhf(), then(lambda mf: qmmm.mm_charge(mf, *charges), energy), "fmo"),
            "mm_charge, undone": (rhf(), then(lambda mf: qmmm.mm_charge(mf, *charges).undo_qmmm(), energy), "fmo"),
            "mm_charge before patch": (lambda: qmmm.mm_charge(scf.RHF(water()), *charges), then(lambda mf: None,
                                                                                                 energy), "fmo"),
            "ddCOSMO": solvated(lambda mf: mf.ddCOSMO()),
            "PCM": solvated(lambda mf: mf.PCM()),
            "PCM, undone": solvated(lambda mf: mf.PCM().undo_solvent()),
            "PCM before patch": (lambda: scf.RHF(water()).PCM(), then(lambda mf: None, energy), "fmo"),
            "as_scanner": (rhf(), lambda mf: (lambda scan: [scan(water()), scan(water(atom=BENT)), scan(BENT)])(
                mf.as_scanner()), "fmo"),
            "scanner, undone": (rhf(), then(lambda mf: mf.as_scanner().undo_scanner(), energy), "fmo"),
        })

    def run_rows(self, rows):
        super().run_rows({name: row for name, row in rows.items() if row[2] is not None})
        for name, (start, work, who) in rows.items():
            if who is None:  # neither libfmo nor a warning: PySCF fits both
                with self.subTest(name), recorded() as warned, counted() as builds:
                    for one, reference in zip(work(fmo.patch(quick(start()))), work(quick(start()))):
                        self.assert_close(one, reference, CLOSE, name)
                self.assertEqual((warned, builds), ([], []))

    def test_still_patched(self):
        """The object that comes back is patched, with the same options, and PySCF's after unpatch."""
        for name, start, convert, cls in (
                ("to_rks", rhf(), lambda mf: mf.to_rks("pbe"), dft.rks.RKS),
                ("to_uks", rhf(), lambda mf: mf.to_uks("pbe"), dft.uks.UKS),
                ("to_ks", rohf(), lambda mf: mf.to_ks("pbe"), dft.roks.ROKS),
                ("to_uhf", rhf(), lambda mf: mf.to_uhf(), scf.uhf.UHF),
                ("to_rhf", lambda: scf.UHF(water()), lambda mf: mf.to_rhf(), scf.hf.RHF),
                ("to_hf", rks(), lambda mf: mf.to_hf(), scf.hf.RHF),
                ("newton, to_rks", rhf(), lambda mf: mf.newton().to_rks("pbe"), dft.rks.RKS),
                ("x2c, to_ks", rhf(), lambda mf: mf.x2c().to_ks("pbe"), dft.rks.RKS),
                ("undo_soscf", rhf(), lambda mf: mf.newton().undo_soscf(), scf.hf.RHF),
                ("undo_df", rhf(), lambda mf: mf.density_fit().undo_df(), scf.hf.RHF),
                ("undo_solvent", rhf(), lambda mf: mf.PCM().undo_solvent(), scf.hf.RHF),
                ("copy", rhf(), copy.copy, scf.hf.RHF),
                ("deepcopy", rhf(), copy.deepcopy, scf.hf.RHF),
                ("pickle", rhf(), lambda mf: pickle.loads(pickle.dumps(mf)), scf.hf.RHF),
                ("mf.copy", rks(), lambda mf: mf.copy(), dft.rks.RKS),
                ("newton, copied", rhf(), lambda mf: copy.copy(mf.newton()), scf.hf.RHF)):
            with self.subTest(name):
                one = convert(fmo.patch(start(), mode="cpu", cutoff=1e-11))
                self.assertIsInstance(one, _patch._PatchedSCF)
                self.assertEqual(one.fmo_options, dict(mode="cpu", cutoff=1e-11))
                self.assertIsInstance(fmo.unpatch(one), cls)
                self.assertFalse(any("Fmo" in base.__name__ for base in type(one).__mro__))

    def test_options_of_an_inner_patch(self):
        """patch of what PySCF has made of a patched object sets its options."""
        for make in (lambda mf: mf.density_fit(only_dfj=True), lambda mf: mf.newton(), lambda mf: mf.as_scanner()):
            mf = make(fmo.patch(scf.RHF(water())))
            with recorded() as warned:
                self.assertIs(fmo.patch(mf, mode="cpu"), mf)
            self.assertEqual((mf.fmo_options, warned), (dict(mode="cpu"), []))

    def test_imports_little(self):
        """A question to a molecule or an SCF object for what it has not makes PySCF import all of itself."""
        code = ("import sys, fmo; from pyscf import gto, scf; mol = gto.M(atom='He 0 0 0', verbose=0);"
                "mf = fmo.patch(scf.RHF(mol)); fmo.get_jk(mol, mf.get_ovlp()); mf.get_jk(mol, mf.get_ovlp());"
                "fmo.unpatch(mf); print('pyscf.tdscf' in sys.modules)")
        done = subprocess.run([sys.executable, "-c", code], text=True, check=True, stdout=subprocess.PIPE)
        self.assertEqual(done.stdout.strip(), "False")

    def test_classes_are_made_once(self):
        """A repeated patch does not make PySCF's table of classes grow."""
        self.assertIs(type(fmo.patch(scf.RHF(water()))), type(fmo.patch(scf.RHF(water()))))


class PatchMethods(Table):
    """What PySCF computes from a converged, patched object."""

    def test_rows(self):
        """Methods of PySCF that start from a patched object."""
        run = lambda work: lambda mf: [np.asarray(one) for one in work(mf.run())]
        def response(mf):
            dm = density(mf)
            return [mf.gen_response(hermi=1)(dm), mf.gen_response(hermi=0)(dm), mf.gen_response(hermi=2)(dm - dm.T)]
        def stable(mf):
            return [np.abs(one) for one in mf.stability(external=True)]
        self.run_rows({
            "gen_response": (rhf(), run(response), "fmo"),
            "gen_response of a functional": (rks(), run(response), "fmo"),
            "gen_response of UHF": (uhf(), run(lambda mf: [mf.gen_response(hermi=1)(density(mf))]), "fmo"),
            "stability": (rhf(), run(stable), "fmo"),
            "gradient": (rhf(), run(lambda mf: [mf.nuc_grad_method().kernel()]), "fmo"),
            "gradient of a functional": (uks(), run(lambda mf: [mf.nuc_grad_method().kernel()]), "fmo"),
            "gradient's scanner": (rhf(), lambda mf: [*mf.nuc_grad_method().as_scanner()(water(atom=BENT))], "fmo"),
            "Hessian": (rhf(), run(lambda mf: [mf.Hessian().kernel()]), "fmo"),
            "TDHF": (rhf(), run(lambda mf: [mf.TDHF().run(nstates=2, conv_tol=1e-10).e]), "fmo"),
            "TDA of a functional": (rks(), run(lambda mf: [mf.TDA().run(nstates=2, conv_tol=1e-10).e]), "fmo"),
            "MP2": (rhf(), run(lambda mf: [mf.MP2().run().e_tot]), "fmo"),
            "CCSD": (rhf(), run(lambda mf: [mf.CCSD().run(conv_tol=1e-10).e_tot]), "fmo"),
            "CASSCF": (rhf(atom=BENT), run(lambda mf: [mcscf.CASSCF(mf, 2, 2).run(conv_tol=1e-11).e_tot]), "fmo"),
            "CASCI of UHF": (uhf(), run(lambda mf: [mcscf.CASCI(mf, 4, 5).run().e_tot]), "fmo"),
            "get_fock": (rhf(), run(lambda mf: [mf.get_fock(), mf.get_grad(mf.mo_coeff, mf.mo_occ)]), "fmo"),
            "dipole moment": (rks(), run(lambda mf: [mf.dip_moment(verbose=0)]), "fmo"),
        })


if __name__ == "__main__":
    unittest.main(verbosity=2)
