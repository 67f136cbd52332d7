"""The Python module (driver/python) against PySCF.

    FMO_LIBRARY=.../libfmo.so python3 module.py [CLASS]...

ctest runs one class at a time (CMakeLists.txt). Runs itself with a Python that has PySCF: the one
named by FMO_PYSCF_PYTHON, else the environment that the scripts of datasets/ make, else this one.
Without one the test is skipped, exit code 77; with FMO_REQUIRE_PYSCF=1 it fails.
"""

import concurrent.futures
import copy
import gc
import glob
import os
import pickle
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import weakref

# first: it may start another Python
from helpers import EXACT, H_SHELL, MODULE, MOLECULES, SOURCE, Case, densities, molecule, recorded

import numpy as np
from pyscf import scf

import fmo
from fmo import _library, _mole, _plan


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
        """get_jk takes densities of every form and returns matrices of the same shape."""
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

    def test_only_what_was_requested(self):
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
        """Differences of densities late in an SCF, which rounding makes as asymmetric as they are large."""
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        noise = 1e-15 * np.random.default_rng(3).standard_normal(dm.shape)
        vj, _ = fmo.get_jk(mol, 1e-13 * dm + noise, cutoff=0)
        self.assert_close(vj, 1e-13 * fmo.get_jk(mol, dm, cutoff=0)[0], 1e-13)

    def test_default_cutoff(self):
        mol = molecule("cluster")
        dm = scf.hf.init_guess_by_minao(mol)
        reference = scf.hf.get_jk(mol, dm)
        for got, expected in zip(fmo.get_jk(mol, dm), reference):
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
        """Wrong options and densities raise errors that name them."""
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
        """Each plan of a molecule that is no longer used is destroyed once."""
        destroyed = []
        destroy = _library.LIBRARY.fmo_fock_plan_destroy

        class Library:
            """LIBRARY, with the calls of fmo_fock_plan_destroy recorded."""
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
        for got, reference in zip(plan.get_jk(dm), scf.hf.get_jk(mol, dm)):
            self.assert_close(got, reference, EXACT)
        with self.assertRaisesRegex(ValueError, "complex"):
            plan.get_jk(dm + 0j)

    def test_copies(self):
        """A copy works without the original, and nothing is freed twice."""
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        reference = scf.hf.get_jk(mol, dm)
        for copied in (copy.copy, copy.deepcopy, lambda plan: copy.deepcopy({"of": [plan]})["of"][0]):
            plan = fmo.Plan(mol, cutoff=0, mode="cpu")
            other = copied(plan)
            gone = weakref.ref(plan)
            del plan
            gc.collect()
            for _ in range(3):  # memory that was freed would be written over
                fmo.Plan(molecule("cluster"), mode="cpu").get_jk(np.eye(molecule("cluster").nao))
                for got, expected in zip(other.get_jk(dm), reference):
                    self.assert_close(got, expected, EXACT)
            del other
            gc.collect()
            self.assertIsNone(gone())
        with self.assertRaisesRegex(TypeError, "cannot be pickled"):
            pickle.dumps(fmo.Plan(mol))

    def test_threads(self):
        """Many threads on one plan, on several, and making them."""
        mols = [molecule(name) for name in ("water", "hydrogen", "third row", "water")]
        reference = [scf.hf.get_jk(mol, densities(mol.nao, 2, k)) for k, mol in enumerate(mols)]

        def work(turn):
            k = turn % len(mols)
            return k, fmo.get_jk(mols[k], densities(mols[k].nao, 2, k), threads=1 + turn % 2)

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for k, (vj, vk) in pool.map(work, range(64)):
                self.assert_close(vj, reference[k][0], 1e-9)
                self.assert_close(vk, reference[k][1], 1e-9)


class Requests(Case):
    """Densities of every symmetry, and operators."""

    @staticmethod
    def reference(mol, dm, hermi, omega):
        """J and K by PySCF; its erfc is exact to 1e-10 only, the difference to the full range is better."""
        whole = scf.hf.get_jk(mol, dm, hermi=hermi, omega=abs(omega))
        if omega >= 0:
            return whole
        return [full - part for full, part in zip(scf.hf.get_jk(mol, dm, hermi=hermi, omega=0), whole)]

    def test_against_pyscf(self):
        """get_jk agrees with PySCF for all symmetries and ranges of the Coulomb operator."""
        random = np.random.default_rng(7).standard_normal
        for basis, cart in (("6-31g", False), ("cc-pvdz", False), ("6-31g*", True)):
            mol = molecule("water", cart, basis=basis, atom="O 0 0 0; H 0.9 0.2 0; H -0.3 0.9 0.1; He 9 1 1")
            for count, (hermi, omega) in enumerate((h, w) for h in (0, 1, 2)
                                                   for w in (0, 0.1, 0.3, 1, 10, -0.1, -0.3, -1, -10)):
                dm = random((1 + count % 8, mol.nao, mol.nao))
                if hermi:
                    dm = dm + (3 - 2 * hermi) * dm.transpose(0, 2, 1)
                reference = self.reference(mol, dm, hermi, omega)
                for cutoff, close in ((0.0, 1e-10), (1e-10, 1e-8)):
                    with self.subTest(basis=basis, hermi=hermi, omega=omega, cutoff=cutoff):
                        with recorded() as warned:
                            got = fmo.get_jk(mol, dm, hermi=hermi, omega=omega, cutoff=cutoff)
                        self.assertEqual(warned, [])
                        self.assert_close(got[0], reference[0], close)
                        self.assert_close(got[1], reference[1], close)

    def test_refused(self):
        mol = molecule("water")
        plan = fmo.Plan(mol, mode="cpu")
        dm = np.random.default_rng(8).standard_normal((mol.nao, mol.nao))
        for arguments, text in ((dict(hermi=3), "hermi"), (dict(omega=np.inf), "omega"), (dict(omega="x"), "omega"),
                                (dict(hermi=1), "not symmetric"), (dict(hermi=2), "not antisymmetric")):
            with self.assertRaisesRegex(fmo.InputError, text):
                plan.get_jk(dm, **arguments)


class Fallback(Case):
    def test_what_pyscf_does_instead(self):
        """The result is that of PySCF alone, with one warning for each case."""
        water = dict(mol="water")
        cases = {
            "h shells": (dict(mol="water", basis=H_SHELL), {}, lambda n: densities(n, 2)),
            "complex": (water, {}, lambda n: densities(n, 1)[0] + 1j * 0),
        }
        for reason, (system, arguments, density) in cases.items():
            for cart in (False, True):
                with self.subTest(reason=reason, cart=cart):
                    changes = {k: v for k, v in system.items() if k != "mol"}
                    mol = molecule(system["mol"], cart, **changes)
                    dm = density(mol.nao)
                    with recorded() as warned:
                        vj, vk = fmo.get_jk(mol, dm, **arguments)
                        fmo.get_jk(mol, dm, **arguments)
                    self.assertEqual(len(warned), 1, warned)
                    self.assertIn(reason, warned[0])
                    reference = scf.hf.get_jk(mol, dm, **arguments)
                    self.assert_close(vj, reference[0], EXACT)
                    self.assert_close(vk, reference[1], EXACT)

    def test_omega_of_the_molecule(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        full = fmo.get_jk(mol, dm)[0]
        with mol.with_range_coulomb(0.4), recorded() as warned:
            ranged = fmo.get_jk(mol, dm)[0]
            self.assert_close(ranged, scf.hf.get_jk(mol, dm)[0], 1e-9)
        self.assertEqual(warned, [])
        self.assertGreater(np.abs(full - ranged).max(), 1e-3)
        with recorded() as warned:
            self.assert_close(fmo.get_jk(mol, dm, omega=0)[0], full, 1e-12)
        self.assertEqual(warned, [])

    def test_periodic(self):
        from pyscf.pbc import gto as pbc, scf as pbcscf
        cell = pbc.M(atom="He 0 0 0", basis="sto-3g", a=np.eye(3) * 3.0, verbose=0)
        dm = np.eye(cell.nao)
        with recorded() as warned:
            vj, _ = fmo.get_jk(cell, dm)
            fmo.get_jk(cell, dm)
        self.assertEqual(len(warned), 1)
        self.assertIn("periodic", warned[0])
        self.assert_close(vj, pbcscf.RHF(cell).get_jk(cell, dm)[0], EXACT)

    def test_nothing_to_warn_of(self):
        with recorded() as warned:
            for name in ("water", "ghost atom", "effective core", "general contraction"):
                mol = molecule(name)
                fmo.get_jk(mol, np.eye(mol.nao))
                fmo.patch(scf.RHF(mol)).get_veff(mol, np.eye(mol.nao))
        self.assertEqual(warned, [])


class Finding(Case):
    """libfmo is found, or the ImportError names a remedy."""

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

    def test_a_moved_installation(self):
        """`cmake --install` of all components; then the prefix is moved."""
        with tempfile.TemporaryDirectory() as folder:
            first, second = os.path.join(folder, "first"), os.path.join(os.path.realpath(folder), "second")
            subprocess.run([os.environ["FMO_CMAKE"], "--install", os.environ["FMO_BUILD"], "--prefix", first],
                           check=True, stdout=subprocess.DEVNULL)
            os.rename(first, second)
            package, = glob.glob(os.path.join(second, "lib*", "**", "site-packages", "fmo"), recursive=True)
            done = self.imported(None, module=os.path.dirname(package), cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout.startswith(second), done.stdout)

    def test_in_an_environment(self):
        """A fresh environment with the component `wheel`, which is what pip installs; nothing in the
        environment's variables; numpy and PySCF are borrowed from this one."""
        with tempfile.TemporaryDirectory() as folder:
            venv = os.path.join(folder, "venv")
            python = os.path.join(venv, "bin", "python")
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
            purelib = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
                                     text=True, check=True, stdout=subprocess.PIPE).stdout.strip()
            with open(os.path.join(purelib, "borrowed.pth"), "w", encoding="utf-8") as file:
                file.write(sysconfig.get_path("purelib") + "\n")
            without = self.imported(None, python, module=None, cwd=folder)
            if without.returncode == 0:  # one that is installed in the system
                self.assertNotIn(venv, without.stdout)
            subprocess.run([os.environ["FMO_CMAKE"], "--install", os.environ["FMO_BUILD"], "--component", "wheel",
                            "--prefix", purelib], check=True, stdout=subprocess.DEVNULL)
            done = self.imported(None, python, module=None, cwd=folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(os.path.dirname(done.stdout.strip()), os.path.join(purelib, "fmo", "lib"))
            self.assertTrue(os.path.exists(os.path.join(purelib, "fmo", "py.typed")))
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
