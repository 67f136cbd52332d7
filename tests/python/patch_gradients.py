"""Gradients of patched SCF objects against PySCF's own, at the same density. Started as module.py is.
"""

import contextlib
import copy
import logging
import pickle

# first: it may start another Python
from helpers import H_SHELL, Case, main, needs, recorded

import numpy as np
from pyscf import dft, gto, qmmm, scf

import fmo
from fmo import _patch_gradients, _plan

WATER = "O 0 0 0.117; H 0 0.757 -0.469; H 0.1 -0.8 -0.469"
CLOSE = 1e-8  # hartree/bohr


def water(**changes):
    return gto.M(**{**dict(atom=WATER, basis="sto-3g", verbose=0), **changes})


F_SHELL, G_SHELL = ({"O": [*gto.basis.load("sto-3g", "O"), [l, [0.8, 1.0]]], "H": "sto-3g"} for l in (3, 4))


def radical(**changes):
    return water(charge=1, spin=1, **changes)


def functional(kind, xc, **changes):
    """A Kohn-Sham object with a coarse grid."""
    mf = getattr(dft, kind)(radical(**changes) if kind in ("UKS", "ROKS") else water(**changes), xc=xc)
    mf.grids.level = mf.nlcgrids.level = 0
    return mf


@contextlib.contextmanager
def counted():
    """Counts the gradients by libfmo in this context."""
    made, gradient = [], _plan.Plan.gradient

    def counting(self, terms):
        made.append(len(terms))
        return gradient(self, terms)
    _plan.Plan.gradient = counting
    try:
        yield made
    finally:
        _plan.Plan.gradient = gradient


class PatchGradients(Case):
    def compare(self, mf, terms, make=lambda mf: mf.nuc_grad_method(), **arguments):
        """PySCF's gradient, and that of the same object patched: `terms` is their number, 0 where PySCF computes it."""
        mf.conv_tol = 1e-8
        mf.kernel()
        expected = make(mf).kernel(**arguments)
        with recorded(), counted() as made:
            method = make(fmo.patch(mf))
            self.assert_close(method.kernel(**arguments), expected, CLOSE)
        self.assertEqual(made, [terms] if terms else [])
        return method

    def test_methods(self):
        """All kinds of SCFs, with global and range-separated hybrids; the grid's part is PySCF's."""
        for name, mf, terms in (
                ("f shells", scf.RHF(water(basis=F_SHELL)), 1), ("g shells", scf.RHF(water(basis=G_SHELL)), 1),
                ("RHF", scf.RHF(water(basis="6-31g*")), 1), ("UHF", scf.UHF(radical(basis="6-31g*")), 3),
                ("ROHF", scf.ROHF(radical()), 3), ("Cartesian", scf.RHF(water(basis="6-31g*", cart=True)), 1),
                *((f"RKS {xc}", functional("RKS", xc), 1) for xc in ("pbe", "b3lyp", "wb97x", "hse06", "lc_wpbe")),
                ("UKS PBE", functional("UKS", "pbe"), 1), ("UKS B3LYP", functional("UKS", "b3lyp"), 3),
                ("UKS CAM-B3LYP", functional("UKS", "camb3lyp"), 3), ("ROKS", functional("ROKS", "b3lyp"), 3),
                ("non-local", functional("RKS", "wb97m_v"), 1)):
            with self.subTest(name):
                self.assertIsInstance(self.compare(mf, terms), _patch_gradients._PatchedGradients)

    def test_what_is_put_in_front(self):
        """Extensions of PySCF that leave two-electron parts alone, before the patch; ghost atoms; some atoms only."""
        charges = [[0.0, 0.0, 4.0]], [-0.7]
        for name, mf in (("newton", scf.RHF(water()).newton()), ("x2c", scf.RHF(water()).sfx2c1e()),
                         ("symmetry", scf.RHF(gto.M(atom="O 0 0 0; H 0 1 0; H 0 0 1", symmetry=True, verbose=0))),
                         ("PCM", scf.RHF(water()).PCM()),
                         ("mm_charge", qmmm.mm_charge(scf.RHF(water()), *charges)),
                         ("ghost", scf.RHF(water(atom=WATER + "; ghost-O 0 0 3"))),
                         ("range of the molecule", scf.RHF(water()))):
            with self.subTest(name):
                if name.startswith("range"):
                    mf.mol.omega = 0.4
                self.compare(mf, 1)
        self.compare(scf.RHF(water()), 1, atmlst=[2, 0])
        mf = fmo.patch(scf.RHF(water()))
        for other in (mf.newton(), qmmm.mm_charge(mf, *charges), mf.PCM(), mf.sfx2c1e(), mf.to_uhf(), mf.to_rks("pbe0")):
            self.assertIsInstance(other.nuc_grad_method(), _patch_gradients._PatchedGradients)

    def test_grid_response(self):
        def with_response(mf):
            method = mf.nuc_grad_method()
            method.grid_response = True
            return method
        self.compare(functional("RKS", "b3lyp"), 1, with_response)

    def test_pyscfs(self):
        """What libfmo does not cover: h shells, density fitting, methods of the caller's, two ranges, a patch taken
        back. PySCF computes it, with a warning unless there was one."""
        class Own(scf.hf.RHF):
            """An SCF whose gradient has a part of its own."""
            def nuc_grad_method(self):
                method = super().nuc_grad_method()
                method.__class__ = type("OwnGradients", (type(method),), {
                    "get_jk": lambda one, *arguments, **named: tuple(0.9 * part for part in super(
                        type(one), one).get_jk(*arguments, **named)), "__module__": "own"})
                return method

        def changed(name):
            def make(mf):
                method = mf.nuc_grad_method()
                own = getattr(method, name)
                setattr(method, name, lambda *arguments, **named: 0.5 * np.asarray(own(*arguments, **named)))
                return method
            return make
        ranged = functional("RKS", "camb3lyp")
        ranged.mol.omega = 0.2
        self.compare(scf.RHF(water(basis=H_SHELL)), 0)
        self.compare(scf.RHF(water()).density_fit(), 0)
        self.compare(Own(water()), 0)
        self.compare(ranged, 0)
        for name in ("get_jk", "get_veff"):
            self.compare(scf.RHF(water()), 0, changed(name))
        mf = fmo.patch(scf.RHF(water()).run())
        self.assertNotIsInstance(mf.density_fit().nuc_grad_method(), _patch_gradients._PatchedGradients)
        method = mf.nuc_grad_method()
        expected = method.kernel()
        fmo.unpatch(mf)
        with counted() as made:
            self.assert_close(method.kernel(), expected, CLOSE)
        self.assertEqual(made, [])

    def test_one_warning(self):
        """Each reason is given once for an object."""
        mf = scf.RHF(water(basis=H_SHELL)).run()
        with recorded() as warned:
            method = fmo.patch(mf).nuc_grad_method()
            method.kernel()
            method.kernel()
        self.assertEqual(len(warned), 1, warned)
        self.assertRegex(warned[0], "h shells.*PySCF computes two-electron gradients")

    def test_matrices(self):
        """Outside kernel() get_jk, get_j, get_k and get_veff are PySCF's, as methods after SCF need them."""
        mf = scf.UHF(radical()).run()
        names = ("get_jk", "get_j", "get_k", "get_veff")
        expected = [np.asarray(getattr(mf.nuc_grad_method(), name)()) for name in names]
        method = fmo.patch(mf).nuc_grad_method()
        method.kernel()
        for name, one in zip(names, expected):
            self.assert_close(getattr(method, name)(), one, 1e-12, name)
        mf = scf.RHF(water()).run(conv_tol=1e-12)
        expected = mf.MP2().run().nuc_grad_method().kernel()
        self.assert_close(fmo.patch(mf).MP2().run().nuc_grad_method().kernel(), expected, 1e-7)

    def test_copies(self):
        """Copies and pickles are patched, scanners move, and the SCF object's options are those of the gradient."""
        mf = fmo.patch(scf.RHF(water()), threads=1).run(conv_tol=1e-11)
        method = mf.nuc_grad_method()
        expected = method.kernel()
        for one in (copy.copy(method), copy.deepcopy(method), pickle.loads(pickle.dumps(method)), method.copy()):
            with counted() as made:
                self.assert_close(one.kernel(), expected, CLOSE)
            self.assertEqual(made, [1])
        scanner = mf.nuc_grad_method().as_scanner()
        moved = water(atom="O 0 0 0; H 0 0.9 0.6; H 0.1 -0.7 0.6")
        with counted() as made:
            energy, gradient = scanner(moved)
            self.assert_close(scanner(water())[1], expected, 1e-6)
        self.assertEqual(made, [1, 1])
        plain = scf.RHF(moved).run(conv_tol=1e-11)
        self.assertAlmostEqual(energy, plain.e_tot, delta=1e-9)
        self.assert_close(gradient, plain.nuc_grad_method().kernel(), 1e-6)

    @needs("geometric", "ase")
    def test_optimised(self):
        """An optimisation with B3LYP by geomeTRIC, and forces in ASE, with and without patch."""
        from ase.optimize import BFGS
        from pyscf.pbc.tools.pyscf_ase import PySCF
        from pyscf.geomopt import geometric_solver
        logging.disable()  # geomeTRIC's
        self.addCleanup(logging.disable, logging.NOTSET)
        ends = []
        for patched in (False, True):
            mf = functional("RKS", "b3lyp")
            mf.grids.level = 1
            with counted() as made:
                done = geometric_solver.optimize(fmo.patch(mf) if patched else mf, maxsteps=20)
            self.assertEqual(bool(made), patched)
            ends.append(gto.inter_distance(done))
        self.assert_close(ends[1], ends[0], 1e-5)
        mol = fmo.Molecule.from_xyz("3\n\n" + WATER.replace("; ", "\n") + "\n", basis="sto-3g")
        atoms = mol.to_ase()
        atoms.calc = PySCF(method=fmo.patch(scf.RHF(mol.to_pyscf())))
        with counted() as made:
            self.assertTrue(BFGS(atoms, logfile=None).run(fmax=1e-2, steps=30))
        self.assertTrue(made)
        plain = fmo.RHF(mol.with_positions(atoms.positions)).run(conv_tol=1e-11, conv_tol_grad=1e-8)
        self.assertLess(np.abs(plain.forces()).max(), 5e-4)


if __name__ == "__main__":
    main()
