"""The Python module (driver/python) against PySCF.

    FMO_LIBRARY=.../libfmo.so python3 python_module.py [CLASS]...

ctest runs one class at a time (python.cmake). Runs itself with a Python that has PySCF: the one
named by FMO_PYSCF_PYTHON, else datasets/.venv, which datasets/make_dataset.py makes, else this one.
Without one the test is skipped, exit code 77; with FMO_REQUIRE_PYSCF=1 it fails.
"""

import os
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODULE = os.path.join(SOURCE, "driver", "python")


def run_where_pyscf_is():
    """Return in an interpreter that has PySCF; start it in this one's place if need be."""
    if os.environ.get("FMO_TEST_INSIDE"):
        return
    pythons = [os.environ.get("FMO_PYSCF_PYTHON"),
               os.path.join(SOURCE, "datasets", ".venv", "bin", "python"), sys.executable]
    for python in pythons:
        if python and os.path.exists(python) and subprocess.run(
                [python, "-c", "import pyscf"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            env = dict(os.environ, FMO_TEST_INSIDE="1")
            env["PYTHONPATH"] = os.pathsep.join(filter(None, [MODULE, env.get("PYTHONPATH")]))
            env.setdefault("OMP_NUM_THREADS", "2")
            env.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # two OpenMP run times on few cores
            os.execve(python, [python, *sys.argv], env)
    print("skipped: no Python with PySCF (datasets/make_dataset.py makes one in datasets/.venv; "
          "or FMO_PYSCF_PYTHON=...)")
    sys.exit(1 if os.environ.get("FMO_REQUIRE_PYSCF", "0") not in ("", "0") else 77)


run_where_pyscf_is()

# pylint: disable=wrong-import-position
import concurrent.futures
import contextlib
import copy
import ctypes
import gc
import glob
import pickle
import re
import shutil
import sysconfig
import tempfile
import unittest
import warnings
import weakref

import numpy as np
from pyscf import dft, gto, scf

import fmo
from fmo import _library, _mole, _plan, _scf

EXACT = 1e-11  # hartree, for densities of order one and no cutoff

WATER = "O 0 0 0.117; H 0 0.757 -0.469; H 0 -0.757 -0.469"
CLUSTER = WATER + "; O 2.9 0.1 0.2; H 3.4 0.8 -0.2; H 3.3 -0.7 0; O -2.8 0.3 1; H -3.2 1 0.6; H -1.9 0.3 0.7"
MOLECULES = {
    "hydrogen": dict(atom="H 0 0 0; H 0 0 0.74", basis="sto-3g"),
    "helium atom": dict(atom="He 0 0 0", basis="6-31g"),
    "water": dict(atom=WATER, basis="6-31g"),
    "water far from the origin": dict(atom="O 90 -70 40; H 90.5 -70.6 40; H 89.2 -70.3 40", basis="6-31g"),
    "water in bohr, stretched": dict(atom="O 0 0 0; H 0 5.5 0.4; H 0 -1.4 1.1", unit="bohr", basis="3-21g"),
    "third row": dict(atom="S 0 0 0; H 0 0.96 0.93; H 0 -0.96 0.93; Cl 3.6 0.2 0", basis="6-31g", spin=1),
    "ion": dict(atom="Li 0 0 0; F 0 0 1.6", basis="6-31++g", charge=1, spin=1),
    "cluster": dict(atom=CLUSTER, basis="3-21g"),
    # several contractions in one shell of PySCF, primitives with the coefficient 0
    "general contraction": dict(atom="O 0 0 0; H 0 0.7 0.6; H 0 -0.7 0.6",
                                basis={"O": "ano@4s3p", "H": "ano@2s1p"}),
    "p on hydrogen": dict(atom="H 0 0 0; H 0.3 0 0.9; He 0 2 0", basis="cc-pvdz"),
    "uncontracted": dict(atom="C 0 0 0; O 0 0 1.13", basis="unc-sto-3g"),
    "ghost atom": dict(atom="O 0 0 0; H 0 0.7 0.6; H 0 -0.7 0.6; ghost-O 0 0 3", basis="6-31g"),
    "effective core": dict(atom="Cl 0 0 0; Na 0 0 2.36", basis="lanl2dz", ecp="lanl2dz"),
    "d functions": dict(atom=WATER, basis="6-31g*"),
    "general contraction with d": dict(atom="O 0 0 0; H 0 0.7 0.6; H 0 -0.7 0.6",
                                       basis={"O": "ano@4s3p2d", "H": "ano@2s1p"}),
    "fourth row": dict(atom="H 0.1 0.2 -0.1; Br 0.5 1.2 0.6", basis="def2-svp"),
    "correlation consistent": dict(atom="S 0 0 0; H 0.3 0.96 0.93; Cl 1.2 -1 0.3", basis="cc-pvdz"),
    "d before s": dict(atom="N 0 0 0; N 0.2 0.1 1.1",
                       basis={"N": [[2, [0.8, 1.0]], [0, [5.0, 0.4], [0.6, 0.7]], [2, [2.1, 0.4], [0.7, 0.5]],
                                    [1, [0.9, 0.3], [3.1, 0.7]]]}),
    "p before s": dict(atom="N 0 0 0; N 0.2 0.1 1.1",
                       basis={"N": [[1, [0.9, 0.3], [3.1, 0.7]], [0, [5.0, 0.4], [0.6, 0.7]], [1, [0.2, 1.0]]]}),
}


def molecule(name, cart=False, **changes):
    return gto.M(**{**MOLECULES[name], "cart": cart, "verbose": 0, **changes})


def densities(nao, count, seed=1):
    d = np.random.default_rng(seed).standard_normal((count, nao, nao))
    return 0.5 * (d + d.swapaxes(1, 2))


@contextlib.contextmanager
def recorded():
    """The fallback warnings given meanwhile, repeated ones too."""
    with warnings.catch_warnings(record=True) as all_of_them:
        warnings.simplefilter("always")
        mine = []
        yield mine
    mine.extend(str(w.message) for w in all_of_them if issubclass(w.category, fmo.FallbackWarning))


class Case(unittest.TestCase):
    def assert_close(self, got, want, tolerance, what=""):
        self.assertEqual(np.shape(got), np.shape(want), what)
        error = np.abs(np.asarray(got) - want).max()
        self.assertLessEqual(error, tolerance, what)

    def assert_jk(self, mol, dm, what="", **options):
        vj, vk = fmo.get_jk(mol, dm, cutoff=0, **options)
        # PySCF's own threshold away, so that it leaves nothing out
        opt = scf.hf.SCF(mol).init_direct_scf(mol)
        opt.direct_scf_tol = 0
        want_j, want_k = scf.hf.get_jk(mol, dm, vhfopt=opt)
        self.assert_close(vj, want_j, EXACT, f"J of {what}")
        self.assert_close(vk, want_k, EXACT, f"K of {what}")


class Matrices(Case):
    def test_every_molecule_spherical_and_cartesian(self):
        for name in MOLECULES:
            for cart in (False, True):
                with self.subTest(molecule=name, cart=cart):
                    mol = molecule(name, cart)
                    self.assert_jk(mol, densities(mol.nao, 2), name)

    def test_general_contraction_is_one(self):
        mol = molecule("general contraction")
        self.assertGreater(max(mol.bas_nctr(bas) for bas in range(mol.nbas)), 1)

    def test_cartesian_and_spherical_are_the_same_functions(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        for one, other in zip(fmo.get_jk(mol, dm), fmo.get_jk(molecule("water", True), dm)):
            self.assert_close(one, other, EXACT)

    def test_shapes(self):
        mol = molecule("water")
        dms = densities(mol.nao, 6)
        vj, vk = fmo.get_jk(mol, dms)
        for k in range(6):
            one_j, one_k = fmo.get_jk(mol, dms[k])
            self.assert_close(one_j, vj[k], 1e-12)
            self.assert_close(one_k, vk[k], 1e-12)
        for form in (list(dms), tuple(dms), dms.reshape(2, 3, mol.nao, mol.nao), dms[:1], dms[:0],
                     np.asfortranarray(dms), dms[::-1][::-1], dms.astype(np.float32)):
            tolerance = 1e-4 if np.asarray(form).dtype == np.float32 else 1e-12
            got = fmo.get_jk(mol, form)
            self.assertEqual(got[0].shape, np.shape(form))
            if got[0].size:
                self.assert_close(got[0].reshape(-1, mol.nao, mol.nao), vj[:np.shape(form)[0] if np.ndim(form) == 3 else 6],
                                  tolerance)
                self.assert_close(got[1].reshape(-1, mol.nao, mol.nao), vk[:np.shape(form)[0] if np.ndim(form) == 3 else 6],
                                  tolerance)

    def test_input_is_left_alone(self):
        mol = molecule("water")
        dm = densities(mol.nao, 2)
        before = dm.copy()
        fmo.get_jk(mol, dm)
        self.assertTrue(np.array_equal(dm, before))

    def test_only_what_was_wanted(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        vj, vk = fmo.get_jk(mol, dm)
        only_j, no_k = fmo.get_jk(mol, dm, with_k=False)
        no_j, only_k = fmo.get_jk(mol, dm, with_j=False)
        self.assertIsNone(no_j)
        self.assertIsNone(no_k)
        self.assert_close(only_j, vj, 1e-12)
        self.assert_close(only_k, vk, 1e-12)
        self.assertEqual(fmo.get_jk(mol, dm, with_j=False, with_k=False), (None, None))

    def test_small_differences_of_densities(self):
        """Late in an SCF: rounding makes them as asymmetric as they are large."""
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        noise = 1e-15 * np.random.default_rng(3).standard_normal(dm.shape)
        vj, _ = fmo.get_jk(mol, 1e-13 * dm + noise, cutoff=0)
        self.assert_close(vj, 1e-13 * fmo.get_jk(mol, dm, cutoff=0)[0], 1e-13)

    def test_default_cutoff(self):
        mol = molecule("cluster")
        dm = scf.hf.init_guess_by_minao(mol)
        want = scf.hf.get_jk(mol, dm)
        for got, expected in zip(fmo.get_jk(mol, dm), want):
            self.assert_close(got, expected, 1e-10)


class Options(Case):
    def test_modes_threads_and_the_rest(self):
        mol = molecule("water")
        dm = densities(mol.nao, 2)
        for options in (dict(mode="cpu"), dict(mode="reference"), dict(mode="cpu", threads=1),
                        dict(mode="cpu", threads=3, reduce="atomic"), dict(mode="cpu", integrals="direct"),
                        dict(mode="cpu", threads=65536), dict(mode="cpu", threads=2.0, memory=1e9),
                        dict(mode="cpu", threads=np.int64(2)), dict(mode="cpu", threads=4, memory=400000),
                        dict(mode="auto", memory=1 << 30), dict(mode=None, threads=None)):
            with self.subTest(options=options):
                self.assert_jk(mol, dm, str(options), **options)

    def test_fixed_point_repeats_exactly(self):
        mol = molecule("cluster")
        dm = densities(mol.nao, 1)[0]
        first = fmo.get_jk(mol, dm, mode="cpu", scatter="fixed", threads=1)
        for threads in (2, 3):
            again = fmo.get_jk(mol, dm, mode="cpu", scatter="fixed", threads=threads)
            self.assertTrue(np.array_equal(first, again), threads)

    def test_cutoff_reaches_the_library(self):
        mol = molecule("cluster")
        dm = densities(mol.nao, 1)[0]
        exact = fmo.get_jk(mol, dm, cutoff=0)[0]
        errors = [np.abs(fmo.get_jk(mol, dm, cutoff=c)[0] - exact).max() for c in (1e-3, 1e-6, 1e-9)]
        self.assertGreater(errors[0], 1e-6)
        self.assertTrue(errors[0] > errors[1] > errors[2], errors)

    def test_mistakes(self):
        mol = molecule("hydrogen")
        dm = densities(mol.nao, 1)[0]
        for options, error, text in (
                (dict(mode="gpu"), ValueError, "mode = 'gpu': expected one of auto, cpu, reference"),
                (dict(scatter="atomic"), ValueError, "scatter = 'atomic'"),
                (dict(integrals="some"), ValueError, "integrals = 'some'"),
                (dict(treads=2), TypeError, "unknown option 'treads'"),
                (dict(threads=-1), ValueError, "threads = -1"),
                (dict(threads=2**31), OverflowError, "threads = 2147483648: expected at most 2147483647"),
                (dict(threads=2**32), OverflowError, "threads = 4294967296"),
                (dict(threads=10**30), OverflowError, "threads = 1000"),
                (dict(threads=1.5), ValueError, "threads = 1.5: expected a whole number"),
                (dict(threads=float("inf")), OverflowError, "infinity"),
                (dict(threads=float("nan")), ValueError, "NaN"),
                (dict(memory=2**64), OverflowError, "memory = 18446744073709551616"),
                (dict(memory=0.5), ValueError, "memory = 0.5"),
                (dict(memory=-1), ValueError, "memory = -1")):
            with self.subTest(options=options), self.assertRaisesRegex(error, text):
                fmo.get_jk(mol, dm, **options)
            with self.subTest(options=options), self.assertRaisesRegex(error, text):
                fmo.patch(scf.RHF(mol), **options)
        for wrong, text in ((dm[:1], "shape"), (dm[0], "shape"), (np.zeros((3, 3)), "shape"),
                            (np.array([[1.0, 2.0], [3.0, 4.0]]), "not symmetric")):
            with self.assertRaisesRegex(ValueError, text):
                fmo.get_jk(mol, wrong)

    def test_errors_of_the_library(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        for options, density, status, text in (
                (dict(cutoff=2.0), dm, "FMO_ERR_ARGUMENT", "cutoff"),
                (dict(mode="reference", memory=1000), dm, "FMO_ERR_MEMORY", "use mode cpu"),
                (dict(mode="cpu", memory=1000), dm, "FMO_ERR_MEMORY", "mode cpu needs"),
                (dict(threads=65537), dm, "FMO_ERR_ARGUMENT", "threads = 65537"),
                (dict(reduce="serial", mode="cpu"), dm, "FMO_ERR_ARGUMENT", "serial"),
                (dict(), np.full_like(dm, np.nan), "FMO_ERR_INPUT", "not finite")):
            with self.subTest(options=options), self.assertRaisesRegex(fmo.Error, text) as caught:
                fmo.get_jk(mol, density, **options)
            self.assertEqual(caught.exception.status, status)
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((again.status, str(again)), (status, str(caught.exception)))
        self.assert_jk(mol, dm, "after errors")

    def test_no_gpu_is_said(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        try:
            self.assert_jk(mol, dm, "fused", mode="fused")
        except fmo.Error as error:
            self.assertEqual(error.status, "FMO_ERR_NO_DEVICE")


class Plans(Case):
    def plans(self, mol):
        return [plan for _, plan in _mole._kept_for(mol).plans.values()]

    def test_kept_while_the_molecule_lives(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        fmo.get_jk(mol, dm)
        first = self.plans(mol)
        fmo.get_jk(mol, dm)
        self.assertIs(self.plans(mol)[0], first[0])
        fmo.get_jk(mol, dm, cutoff=0)
        self.assertEqual(len(self.plans(mol)), 2)
        gone = [weakref.ref(plan) for plan in self.plans(mol)]
        del first, mol
        gc.collect()
        self.assertEqual([plan() for plan in gone], [None, None])

    def test_made_again_when_the_molecule_changes(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        self.assert_jk(mol, dm, "before")
        mol.set_geom_("O 0 0 0; H 0 0.9 0.6; H 0.1 -0.7 0.6")
        self.assert_jk(mol, dm, "after")
        self.assertEqual(len(self.plans(mol)), 1)
        mol.basis = "sto-3g"
        mol.build()
        self.assert_jk(mol, dm[:7, :7], "another basis")

    def test_memory_is_given_back(self):
        destroyed = []
        destroy = _library.LIBRARY.fmo_fock_plan_destroy

        class Library:
            """LIBRARY, counting."""
            def __getattr__(self, name):
                return getattr(_library.LIBRARY, name)

            @staticmethod
            def fmo_fock_plan_destroy(plan):
                destroyed.append(plan)
                destroy(plan)

        library, _plan.LIBRARY = _plan.LIBRARY, Library()
        try:
            for _ in range(5):
                mol = molecule("hydrogen")
                fmo.get_jk(mol, np.eye(2))
            del mol
            gc.collect()
        finally:
            _plan.LIBRARY = library
        self.assertEqual(len(destroyed), 5)
        self.assertEqual(len(set(map(bool, destroyed))), 1)

    def test_without_the_cache(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        plan = fmo.Plan(mol, cutoff=0, mode="cpu")
        for got, want in zip(plan.get_jk(dm), scf.hf.get_jk(mol, dm)):
            self.assert_close(got, want, EXACT)
        with self.assertRaisesRegex(ValueError, "complex"):
            plan.get_jk(dm + 0j)

    def test_copies(self):
        """A copy lives on without the original, and nothing is freed twice."""
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        want = scf.hf.get_jk(mol, dm)
        for copied in (copy.copy, copy.deepcopy, lambda plan: copy.deepcopy({"of": [plan]})["of"][0]):
            plan = fmo.Plan(mol, cutoff=0, mode="cpu")
            other = copied(plan)
            gone = weakref.ref(plan)
            del plan
            gc.collect()
            for _ in range(3):  # memory that was freed would be written over
                fmo.Plan(molecule("cluster"), mode="cpu").get_jk(np.eye(molecule("cluster").nao))
                for got, expected in zip(other.get_jk(dm), want):
                    self.assert_close(got, expected, EXACT)
            del other
            gc.collect()
            self.assertIsNone(gone())
        with self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(fmo.Plan(mol))

    def test_threads(self):
        """Many threads on one plan, on several, and making them."""
        mols = [molecule(name) for name in ("water", "hydrogen", "third row", "water")]
        want = [scf.hf.get_jk(mol, densities(mol.nao, 2, k)) for k, mol in enumerate(mols)]

        def work(turn):
            k = turn % len(mols)
            return k, fmo.get_jk(mols[k], densities(mols[k].nao, 2, k), threads=1 + turn % 2)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for k, (vj, vk) in pool.map(work, range(64)):
                self.assert_close(vj, want[k][0], 1e-9)
                self.assert_close(vk, want[k][1], 1e-9)


class Fallback(Case):
    def test_what_pyscf_does_instead(self):
        """The same result as PySCF alone, and one warning each."""
        water = dict(mol="water")
        random = np.random.default_rng(7).standard_normal
        cases = {
            "hermi = 0": (water, dict(hermi=0), lambda n: random((n, n))),
            "hermi = 2": (water, dict(hermi=2), lambda n: (lambda d: d - d.T)(random((n, n)))),
            "omega": (water, dict(omega=0.3), lambda n: densities(n, 2)),
            "f shells": (dict(mol="water", basis="cc-pvtz"), {}, lambda n: densities(n, 2)),
            "complex": (water, {}, lambda n: densities(n, 1)[0] + 1j * 0),
        }
        for reason, (system, arguments, density) in cases.items():
            for cart in (False, True):
                with self.subTest(reason=reason, cart=cart):
                    changes = {k: v for k, v in system.items() if k != "mol"}
                    mol = molecule(system["mol"], cart, **changes)
                    dm = density(mol.nao)
                    with recorded() as given:
                        vj, vk = fmo.get_jk(mol, dm, **arguments)
                        fmo.get_jk(mol, dm, **arguments)
                    self.assertEqual(len(given), 1, given)
                    self.assertIn(reason, given[0])
                    want = scf.hf.get_jk(mol, dm, **arguments)
                    self.assert_close(vj, want[0], EXACT)
                    self.assert_close(vk, want[1], EXACT)

    def test_omega_of_the_molecule(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        full = fmo.get_jk(mol, dm)[0]
        with mol.with_range_coulomb(0.4), recorded() as given:
            ranged = fmo.get_jk(mol, dm)[0]
            self.assert_close(ranged, scf.hf.get_jk(mol, dm)[0], EXACT)
        self.assertEqual(len(given), 1)
        self.assertGreater(np.abs(full - ranged).max(), 1e-3)
        with recorded() as given:
            self.assert_close(fmo.get_jk(mol, dm, omega=0)[0], full, 1e-12)
        self.assertEqual(given, [])

    def test_periodic(self):
        from pyscf.pbc import gto as pbc, scf as pbcscf
        cell = pbc.M(atom="He 0 0 0", basis="sto-3g", a=np.eye(3) * 3.0, verbose=0)
        dm = np.eye(cell.nao)
        with recorded() as given:
            vj, _ = fmo.get_jk(cell, dm)
            fmo.get_jk(cell, dm)
        self.assertEqual(len(given), 1)
        self.assertIn("periodic", given[0])
        self.assert_close(vj, pbcscf.RHF(cell).get_jk(cell, dm)[0], EXACT)

    def test_nothing_to_warn_of(self):
        with recorded() as given:
            for name in ("water", "ghost atom", "effective core", "general contraction"):
                mol = molecule(name)
                fmo.get_jk(mol, np.eye(mol.nao))
                fmo.patch(scf.RHF(mol)).get_veff(mol, np.eye(mol.nao))
        self.assertEqual(given, [])


class Patch(Case):
    ENERGY = 1e-9

    def energies(self, make, **options):
        """Energy of PySCF's and of the patched object, made alike; the warnings of the latter."""
        plain = make()
        plain.kernel()
        patched = fmo.patch(make(), **options)
        with recorded() as given:
            patched.kernel()
        self.assertTrue(plain.converged and patched.converged)
        self.assertAlmostEqual(plain.e_tot, patched.e_tot, delta=self.ENERGY)
        self.assertIsNone(patched._eri if not given else None)
        return given

    def converging(self, cls, mol, **settings):
        mf = cls(mol)
        mf.conv_tol = 1e-11
        for name, value in settings.items():
            setattr(mf, name, value)
        if hasattr(mf, "grids"):
            mf.grids.level = 0
        return mf

    def test_what_is_no_scf(self):
        for nothing in (None, 3, "mf", molecule("water"), np.eye(2)):
            with self.assertRaisesRegex(TypeError, "expected an SCF object of PySCF"):
                fmo.patch(nothing)
            with self.assertRaisesRegex(TypeError, "fmo.unpatch: expected an SCF object of PySCF"):
                fmo.unpatch(nothing)
        mf = molecule("water").RHF()
        self.assertIs(fmo.unpatch(mf), mf)

    def test_what_is_no_molecule(self):
        for nothing in (None, 3, "mol", molecule("water").RHF(), np.eye(2)):
            for call, name in ((fmo.RHF, "RHF"), (fmo.Plan, "Plan"),
                               (lambda x: fmo.rhf_batch([molecule("water"), x]), "rhf_batch"),
                               (lambda x: fmo.get_jk(x, np.eye(2)), "get_jk")):
                with self.assertRaisesRegex(TypeError, f"fmo.{name}: expected a molecule of PySCF"):
                    call(nothing)

    def test_pickled_and_copied(self):
        """As PySCF's own object is, and patched with the same options."""
        for make in (lambda mol: mol.RHF(), lambda mol: mol.UHF(), lambda mol: dft.RKS(mol, xc="b3lyp"),
                     lambda mol: mol.RHF().newton()):
            for copied in (lambda mf: pickle.loads(pickle.dumps(mf)), copy.copy, copy.deepcopy,
                           lambda mf: mf.copy()):
                plain = make(molecule("water"))
                try:
                    copied(plain)
                except Exception:  # pylint: disable=broad-except
                    continue  # PySCF cannot, so we need not
                mf = fmo.patch(plain, mode="cpu", cutoff=1e-11)
                with self.subTest(what=type(mf).__name__):
                    other = copied(mf)
                    self.assertIsInstance(other, _mole._PatchedSCF)
                    self.assertIsInstance(other, type(mf).__mro__[2])
                    self.assertEqual(other.fmo_options, dict(mode="cpu", cutoff=1e-11))
                    with recorded() as given:
                        self.assertAlmostEqual(other.kernel(), mf.kernel(), 8)
                    self.assertEqual(given, [])
                    fmo.unpatch(other)
                    self.assertNotIsInstance(other, _mole._PatchedSCF)
                    self.assertIsInstance(mf, _mole._PatchedSCF)

    def test_pickled_somewhere(self):
        """At least an RHF object can be, else the test above says nothing."""
        mf = fmo.patch(molecule("water").RHF(), mode="cpu")
        mf.kernel()
        other = pickle.loads(pickle.dumps(mf))
        self.assertAlmostEqual(other.e_tot, mf.e_tot, 12)
        self.assert_close(other.get_jk()[0], mf.get_jk()[0], 1e-9)

    def test_rhf(self):
        for name in ("hydrogen", "water", "water in bohr, stretched", "cluster", "general contraction",
                     "p on hydrogen", "ghost atom", "effective core"):
            for cart in (False, True):
                with self.subTest(molecule=name, cart=cart):
                    charge = {"p on hydrogen": 0}.get(name, 0)
                    mol = molecule(name, cart, charge=charge)
                    self.assertEqual(self.energies(lambda: self.converging(scf.RHF, mol)), [])

    def test_other_methods(self):
        water, radical = molecule("water"), molecule("water", charge=1, spin=1)
        for what, make in {
                "UHF": lambda: self.converging(scf.UHF, radical),
                "ROHF": lambda: self.converging(scf.ROHF, radical),
                "hybrid": lambda: self.converging(dft.RKS, water, xc="b3lyp"),
                "without incremental builds": lambda: self.converging(scf.RHF, water, direct_scf=False),
                "second order, patched": lambda: self.converging(scf.RHF, water).newton(),
                "level shift": lambda: self.converging(scf.RHF, water, level_shift=0.2)}.items():
            with self.subTest(what):
                self.assertEqual(self.energies(make), [])

    def test_our_matrices_are_used(self):
        mol = molecule("water")
        mf = fmo.patch(scf.RHF(mol), mode="cpu")
        mf.kernel()
        self.assertEqual(len(_mole._kept_for(mol).plans), 1)
        self.assertEqual(list(_mole._kept_for(mol).plans), [(("integrals", "auto"), ("mode", "cpu"))])
        dm = mf.make_rdm1()
        for got, want in zip(mf.get_jk(), scf.hf.get_jk(mol, dm)):
            self.assert_close(got, want, 1e-9)
        self.assert_close(mf.get_j(), scf.hf.get_jk(mol, dm)[0], 1e-9)
        self.assert_close(mf.get_k(), scf.hf.get_jk(mol, dm)[1], 1e-9)

    def test_integrals_are_kept_unless_told_otherwise(self):
        mol = molecule("water")
        fmo.patch(scf.RHF(mol), mode="cpu", integrals="direct").kernel()
        self.assertEqual(list(_mole._kept_for(mol).plans), [(("integrals", "direct"), ("mode", "cpu"))])

    def test_f_shells_are_pyscfs(self):
        mol = molecule("water", basis="cc-pvtz")
        given = self.energies(lambda: self.converging(scf.RHF, mol))
        self.assertEqual(len(given), 1, given)
        self.assertIn("f shells", given[0])

    def test_range_separated(self):
        mol = molecule("water")
        given = self.energies(lambda: self.converging(dft.RKS, mol, xc="camb3lyp"))
        self.assertEqual(len(given), 1, given)
        self.assertIn("omega", given[0])

    def test_response(self):
        """TDHF asks for hermi = 0: PySCF does that, the SCF is ours."""
        mol = molecule("water")
        mf = fmo.patch(self.converging(scf.RHF, mol))
        mf.kernel()
        with recorded() as given:
            got = mf.TDHF().run(nstates=2).e
        self.assertEqual(len(given), 1, given)
        want = self.converging(scf.RHF, mol).run().TDHF().run(nstates=2).e
        self.assert_close(got, want, 1e-6)

    def test_scanner_and_gradient(self):
        mol = molecule("water")
        other = molecule("water", atom="O 0 0 0; H 0 0.9 0.6; H 0.1 -0.7 0.6")
        scan = fmo.patch(self.converging(scf.RHF, mol)).as_scanner()
        plain = self.converging(scf.RHF, mol).as_scanner()
        for system in (mol, other, mol):
            self.assertAlmostEqual(scan(system), plain(system), delta=self.ENERGY)
        mf = fmo.patch(self.converging(scf.RHF, other)).run()
        self.assert_close(mf.nuc_grad_method().kernel(),
                          self.converging(scf.RHF, other).run().nuc_grad_method().kernel(), 1e-6)

    def test_copies_and_taking_back(self):
        mol = molecule("water")
        mf = fmo.patch(scf.RHF(mol))
        self.assertIs(fmo.patch(mf, mode="cpu"), mf)
        self.assertEqual(mf.fmo_options, dict(mode="cpu"))
        self.assertIsInstance(mf.copy(), _mole._PatchedSCF)
        self.assertIs(fmo.unpatch(mf), mf)
        self.assertIs(type(mf), scf.hf.RHF)
        self.assertFalse(hasattr(mf, "fmo_options"))
        self.assertIs(fmo.unpatch(mf), mf)
        mf.kernel()
        self.assertIsNotNone(mf._eri)

    def test_what_cannot_be_patched(self):
        from pyscf.pbc import gto as pbc, scf as pbcscf
        mol = molecule("water")
        cell = pbc.M(atom="He 0 0 0", basis="sto-3g", a=np.eye(3) * 3.0, verbose=0)
        for mf, reason in ((scf.RHF(mol).density_fit(), "density fitting"), (scf.GHF(mol), "GHF"),
                           (pbcscf.RHF(cell), "periodic")):
            cls = type(mf)
            with recorded() as given:
                self.assertIs(fmo.patch(mf), mf)
            self.assertEqual(len(given), 1)
            self.assertIn(reason, given[0])
            self.assertIs(type(mf), cls)


class Scf(Case):
    """fmo.RHF and fmo.rhf_batch against PySCF's RHF."""

    CLOSED = ("hydrogen", "helium atom", "water", "cluster", "effective core", "general contraction", "ghost atom")

    def pyscfs(self, mol):
        mf = scf.RHF(mol)
        mf.conv_tol, mf.conv_tol_grad, mf.verbose = 1e-11, 1e-7, 0
        mf.kernel()
        return mf

    def test_energies_and_orbitals(self):
        for name in self.CLOSED:
            for cart in (False, True):
                with self.subTest(name, cart=cart):
                    mol = gto.M(**MOLECULES[name], cart=cart, verbose=0)
                    want, mf = self.pyscfs(mol), fmo.RHF(mol)
                    mf.conv_tol, mf.conv_tol_grad = 1e-11, 1e-7
                    self.assertAlmostEqual(mf.kernel(), want.e_tot, delta=1e-8)
                    self.assertTrue(mf.converged)
                    self.assertIsNone(mf.error)
                    self.assertEqual(mf.mo_coeff.shape, want.mo_coeff.shape)
                    self.assert_close(mf.mo_energy, want.mo_energy, 1e-6)
                    self.assert_close(mf.mo_occ, want.mo_occ, 0)
                    self.assert_close(mf.make_rdm1(), want.make_rdm1(), 1e-6)
                    self.assert_close(mf.get_ovlp(), want.get_ovlp(), 1e-10)
                    self.assert_close(mf.get_hcore(), want.get_hcore(), 1e-8)
                    C = mf.mo_coeff
                    self.assert_close(C.T @ mf.get_ovlp() @ C, np.eye(C.shape[1]), 1e-8)
                    self.assert_close(C.T @ mf.get_fock() @ C, np.diag(mf.mo_energy), 1e-6)

    def test_to_pyscf(self):
        mf = fmo.RHF(gto.M(**MOLECULES["water"], verbose=0))
        self.assertRaisesRegex(RuntimeError, "call kernel", mf.make_rdm1)
        mf.kernel()
        theirs = mf.to_pyscf()
        self.assertEqual((theirs.e_tot, theirs.converged), (mf.e_tot, True))
        self.assertAlmostEqual(theirs.energy_tot(), mf.e_tot, delta=1e-8)
        self.assert_close(theirs.make_rdm1(), mf.make_rdm1(), 1e-5)
        self.assertLess(theirs.MP2().kernel()[0], -0.1)

    def test_settings(self):
        mf = fmo.RHF(gto.M(**MOLECULES["water"], verbose=0), threads=1, mode="cpu")
        energy = mf.kernel()
        mf.max_cycle = 2
        self.assertAlmostEqual(mf.kernel(), energy, delta=0.1)
        self.assertFalse(mf.converged)
        self.assertEqual((mf.cycles, mf.error.status), (2, "FMO_ERR_CHECK"))
        mf.max_cycle, mf.conv_tol = None, 1e-8
        density = self.pyscfs(mf.mol).make_rdm1()
        mf.kernel(dm0=density)
        self.assertTrue(mf.converged and mf.cycles <= 3, mf.cycles)
        mf.init_guess, mf.stability = "core", "check"
        self.assertAlmostEqual(mf.kernel(), energy, delta=1e-8)
        self.assertGreater(mf.hessian_lowest, 0.1)

    def test_loose_cutoff(self):
        water = gto.M(**MOLECULES["water"], verbose=0)
        mf = fmo.RHF(water, cutoff=1e-6)
        with self.assertWarnsRegex(fmo.CutoffWarning, "cutoff 1e-06: the energy may be off by [67]e-07"):
            mf.kernel()
        self.assertRegex(mf.notice, "cutoff 1e-06.*choose a cutoff of at most 1e-09")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mf = fmo.RHF(water)
            mf.kernel()
            self.assertIsNone(mf.notice)
        with self.assertWarnsRegex(fmo.CutoffWarning, "and 1 more molecules alike"):
            fmo.rhf_batch([water, water], cutoff=1e-6)

    def test_mistakes(self):
        water = gto.M(**MOLECULES["water"], verbose=0)
        mf = fmo.RHF(water)
        self.assertRaisesRegex(ValueError, "dm0: expected a real matrix", mf.kernel, np.eye(3))
        mf.init_guess = "minao"
        self.assertRaisesRegex(ValueError, "init_guess = 'minao': expected one of sad", mf.kernel)
        mf.init_guess, mf.max_cycle = None, 1.5
        self.assertRaisesRegex(ValueError, "max_cycle = 1.5", mf.kernel)
        mf.max_cycle, mf.field = None, np.triu(np.ones((13, 13)))
        self.assertRaisesRegex(fmo.Error, "field.*symmetric", mf.kernel)
        self.assertRaisesRegex(TypeError, "unknown option", fmo.RHF, water, thread=1)
        for kind, reason in (("third row", "unpaired"), ("f shells", "f shells")):
            mol = gto.M(**MOLECULES["third row"], verbose=0) if kind == "third row" else \
                gto.M(atom=WATER, basis="cc-pvtz", verbose=0)
            self.assertRaisesRegex(fmo.Error, reason, fmo.RHF, mol)
        self.assertRaisesRegex(ValueError, "fields: 1 for 2 molecules", fmo.rhf_batch, [water, water],
                               fields=[None])

    def test_field(self):
        """A charge beside the molecule, as PySCF's own integrals have it."""
        mol = gto.M(**MOLECULES["water"], verbose=0)
        with mol.with_rinv_origin((0.5, 3.0, 2.0)):
            field = -0.6 * mol.intor("int1e_rinv")
        want = scf.RHF(mol)
        core = want.get_hcore() + field
        want.get_hcore = lambda *_: core
        want.conv_tol, want.verbose = 1e-11, 0
        want.kernel()
        mf = fmo.RHF(mol)
        mf.field = field
        self.assertAlmostEqual(mf.kernel(), want.e_tot, delta=1e-8)
        self.assertAlmostEqual(mf.field_energy, np.sum(field * mf.make_rdm1()), delta=1e-10)
        self.assertAlmostEqual(mf.to_pyscf().energy_tot(), mf.e_tot, delta=1e-8)

    def test_batch(self):
        mols = [gto.M(**MOLECULES[name], verbose=0) for name in (*self.CLOSED, "third row", *self.CLOSED)]
        mols.insert(3, gto.M(atom=WATER, basis="cc-pvtz", verbose=0))
        heard = []
        for threads in (1, 2):
            heard.clear()
            got = fmo.rhf_batch(mols, threads=threads, mode="cpu", callback=lambda k, mf: heard.append((k, mf.e_tot)))
            self.assertEqual(sorted(k for k, _ in heard), list(range(len(mols))))
            for k, (mol, mf) in enumerate(zip(mols, got)):
                self.assertIs(mf.mol, mol)
                if k in (3, len(self.CLOSED) + 1):
                    self.assertTrue(np.isnan(mf.e_tot) and not mf.converged)
                    self.assertRegex(str(mf.error), "f shells|unpaired")
                    continue
                self.assertIsNone(mf.error)
                self.assertIn((k, mf.e_tot), heard)
                self.assertAlmostEqual(mf.e_tot, fmo.RHF(mol, mode="cpu").kernel(), delta=1e-9)
        self.assertEqual(fmo.rhf_batch([]), [])

    def test_batch_callback_raises(self):
        water = gto.M(**MOLECULES["water"], verbose=0)

        def complain(k, mf):
            raise KeyError("mine")
        self.assertRaisesRegex(KeyError, "mine", fmo.rhf_batch, [water, water], callback=complain)


class Finding(Case):
    """libfmo is found, or the ImportError says what helps."""

    def imported(self, library, python=sys.executable, module=MODULE, cwd=None):
        env = {k: v for k, v in os.environ.items()
               if k not in ("FMO_LIBRARY", "PYTHONPATH", "LD_LIBRARY_PATH", "FMO_TEST_INSIDE")}
        if library:
            env["FMO_LIBRARY"] = library
        if module:
            env["PYTHONPATH"] = module
        return subprocess.run([python, "-c", "import fmo; print(fmo.library_path())"], text=True,
                              env=env, cwd=cwd, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_by_name(self):
        done = self.imported(os.environ["FMO_LIBRARY"])
        self.assertEqual((done.returncode, done.stdout.strip()), (0, os.environ["FMO_LIBRARY"]), done.stderr)

    def test_a_wrong_name_is_said(self):
        libc = glob.glob(f"/lib/{sysconfig.get_config_var('MULTIARCH')}/libz.so.1")
        for library in ["/nowhere/libfmo.so", SOURCE + "/README.md", *libc]:
            done = self.imported(library)
            self.assertEqual(done.returncode, 1)
            last = done.stderr.strip().splitlines()[-1]
            self.assertTrue(last.startswith("ImportError: libfmo was not found"), last)
            self.assertIn(f"{library} (FMO_LIBRARY)", last)
            self.assertIn("cmake --install", last)

    def test_beside_the_module(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(MODULE, "fmo"), os.path.join(folder, "fmo"))
            library = os.path.join(folder, "fmo", "libfmo.so")
            os.symlink(os.environ["FMO_LIBRARY"], library)
            done = self.imported(None, module=folder, cwd=folder)
            self.assertEqual((done.returncode, done.stdout.strip()), (0, library), done.stderr)

    def test_pip_install_beside_the_library(self):
        """A fresh environment with `cmake --install` and `pip install`, nothing in the environment's
        variables; offline, so numpy, PySCF and setuptools are borrowed from this one."""
        with tempfile.TemporaryDirectory() as folder:
            venv = os.path.join(folder, "venv")
            python = os.path.join(venv, "bin", "python")
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
            purelib = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                                     text=True, check=True, stdout=subprocess.PIPE).stdout.strip()
            with open(os.path.join(purelib, "borrowed.pth"), "w", encoding="utf-8") as file:
                file.write(sysconfig.get_path("purelib") + "\n")
            # pip writes into the folder it installs from
            shutil.copytree(MODULE, os.path.join(folder, "python"))
            done = subprocess.run(
                [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                 "--no-build-isolation", os.path.join(folder, "python")],
                text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
            without = self.imported(None, python, module=None, cwd=folder)
            if without.returncode == 0:  # one that is installed in the system
                self.assertNotIn(venv, without.stdout)
            else:
                self.assertIn("ImportError: libfmo was not found", without.stderr)
            subprocess.run([os.environ["FMO_CMAKE"], "--install", os.environ["FMO_BUILD"], "--prefix", venv],
                           check=True, stdout=subprocess.DEVNULL)
            done = self.imported(None, python, module=None, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(venv), done.stdout)
            used = ("import fmo, pyscf; mol = pyscf.M(atom='H 0 0 0; H 0 0 0.74', verbose=0);"
                    "print(fmo.__file__, fmo.patch(mol.RHF()).kernel())")
            env = {k: v for k, v in os.environ.items() if k not in ("FMO_LIBRARY", "PYTHONPATH")}
            done = subprocess.run([python, "-c", used], text=True, check=True, env=env, cwd=folder,
                                  stdout=subprocess.PIPE)
            file, energy = done.stdout.split()
            self.assertTrue(file.startswith(venv), file)
            self.assertAlmostEqual(float(energy), -1.1167593074, delta=1e-3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
