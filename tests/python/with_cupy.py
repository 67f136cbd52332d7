"""The Python module and densities in GPU memory: arrays of CuPy, SCF objects of GPU4PySCF. Started as
module.py is; skipped, exit code 77, without CuPy or a GPU (with FMO_REQUIRE_GPU=1 it fails).
"""

import concurrent.futures
import os
import sys
import unittest

# first: it may start another Python
from helpers import EXACT, MOLECULES, Case, densities, molecule, recorded

import numpy as np

import fmo
from fmo import _cupy, _plan


def skip(reason):
    print("skipped:", reason)
    sys.exit(1 if os.environ.get("FMO_REQUIRE_GPU", "0") not in ("", "0") else 77)


try:
    import cupy
    from pyscf import gto
except ImportError as missing:
    skip(f"no CuPy ({missing})")
if fmo._library.LIBRARY.fmo_gpu_available(None) != 0:
    skip("libfmo finds no GPU")
try:
    from gpu4pyscf import scf as gpu_scf
except ImportError as missing:
    print("no GPU4PySCF:", missing)
    gpu_scf = None


class Arrays(Case):
    def assert_same(self, got, reference, tolerance, what=""):
        self.assertIsInstance(got, cupy.ndarray, what)
        self.assert_close(got.get(), reference, tolerance, what)

    def test_every_molecule(self):
        for name in MOLECULES:
            with self.subTest(molecule=name):
                mol = molecule(name)
                dms = densities(mol.nao, 2)
                got = fmo.get_jk(mol, cupy.asarray(dms), cutoff=0)
                for one, reference in zip(got, fmo.get_jk(mol, dms, cutoff=0, mode="cpu")):
                    self.assert_same(one, reference, EXACT, name)

    def test_shapes_and_kinds(self):
        """get_jk takes CuPy densities of every form and leaves them unchanged."""
        mol = molecule("water")
        dms = densities(mol.nao, 6)
        reference = fmo.get_jk(mol, dms, mode="cpu")
        there = cupy.asarray(dms)
        for form in (there, list(there), tuple(there), there.reshape(2, 3, mol.nao, mol.nao),
                     cupy.asfortranarray(there), there[::-1][::-1], there.astype(np.float32)):
            tolerance = 1e-4 if getattr(form, "dtype", None) == np.float32 else 1e-11
            before = form.copy() if isinstance(form, cupy.ndarray) else None
            for one, expected in zip(fmo.get_jk(mol, form), reference):
                shape = form.shape if before is not None else there.shape
                self.assert_same(one, expected.reshape(shape), tolerance)
            if before is not None:
                self.assertTrue((form == before).all())
        for one in fmo.get_jk(mol, there[:0]):
            self.assertEqual(one.shape, (0, mol.nao, mol.nao))
        for one, expected in zip(fmo.get_jk(mol, there[3]), reference):
            self.assert_same(one, expected[3], 1e-11)

    def test_only_what_was_requested(self):
        mol = molecule("cluster")
        dm = densities(mol.nao, 1)[0]
        vj, vk = fmo.get_jk(mol, dm, mode="cpu")
        only_j, no_k = fmo.get_jk(mol, cupy.asarray(dm), with_k=False)
        no_j, only_k = fmo.get_jk(mol, cupy.asarray(dm), with_j=False)
        self.assertIsNone(no_j)
        self.assertIsNone(no_k)
        self.assert_same(only_j, vj, 1e-9)
        self.assert_same(only_k, vk, 1e-9)

    def test_tensors(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no PyTorch")
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        reference = fmo.get_jk(mol, dm, mode="cpu")
        for one, expected in zip(fmo.get_jk(mol, torch.as_tensor(dm, device="cuda")), reference):
            self.assert_same(one, expected, 1e-11)
        for one, expected in zip(fmo.get_jk(mol, torch.as_tensor(dm)), reference):
            self.assert_close(one, expected, 1e-11)

    def test_nothing_goes_through_the_host(self):
        mol = molecule("cluster")
        dm = cupy.asarray(densities(mol.nao, 1)[0])
        fmo.get_jk(mol, dm)
        of_host = _plan.Plan._of_host
        try:
            _plan.Plan._of_host = None
            fmo.get_jk(mol, dm)
        finally:
            _plan.Plan._of_host = of_host

    def test_elements_above_eight(self):
        mol = molecule("cluster")
        dm = 100.0 * densities(mol.nao, 1)[0]
        for one, reference in zip(fmo.get_jk(mol, cupy.asarray(dm)), fmo.get_jk(mol, dm, mode="cpu")):
            self.assert_same(one, reference, 1e-8)

    def test_modes_without_gpu_memory(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        reference = fmo.get_jk(mol, dm, mode="cpu")
        for mode in ("cpu", "split", "reference"):
            for one, expected in zip(fmo.get_jk(mol, cupy.asarray(dm), mode=mode), reference):
                self.assert_same(one, expected, 1e-11, mode)

    def test_refused(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        for bad, error, text in ((np.triu(dm), ValueError, "not symmetric"), (dm[1:], ValueError, "shape"),
                                 (dm * np.nan, fmo.Error, "finite")):
            with self.assertRaisesRegex(error, text):
                fmo.get_jk(mol, cupy.asarray(bad))
        with self.assertRaisesRegex(ValueError, "is complex"):
            fmo.Plan(mol).get_jk(cupy.asarray(dm + 0j))
        with self.assertRaises(fmo.Error) as caught:
            fmo.get_jk(mol, dm, device=99)
        self.assertEqual(caught.exception.status, "FMO_ERR_NO_DEVICE")

    def test_operators(self):
        """J and K of erf and erfc on the GPU, from the host and from its memory, as on the CPU."""
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        for omega in (0.3, -0.3):
            reference = fmo.get_jk(mol, dm, omega=omega, mode="cpu")
            with recorded() as warned:
                for there in (dm, cupy.asarray(dm)):
                    for one, expected in zip(fmo.get_jk(mol, there, omega=omega, mode="fused"), reference):
                        self.assert_same(one, expected, 1e-10)
            self.assertEqual(warned, [])

    def test_streams_of_all_kinds(self):
        """The density is made late on a stream, and J is read at once."""
        mol = molecule("cluster")
        dm = densities(mol.nao, 1)[0]
        reference = [3.0 * one for one in fmo.get_jk(mol, dm, mode="cpu")]
        there = cupy.asarray(dm)
        busy = cupy.random.default_rng(1).standard_normal((3000, 3000))
        fmo.get_jk(mol, there)
        cupy.cuda.Device().synchronize()
        for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream.ptds, cupy.cuda.Stream(),
                       cupy.cuda.Stream(non_blocking=True)):
            with stream:
                late = there * 0.0
                for _ in range(5):
                    busy = busy @ busy
                    busy /= abs(busy).max()
                late += there + 0.0 * busy[0, 0]
                got = [3.0 * one for one in fmo.get_jk(mol, late)]
                del late
                cupy.full_like(there, 1e3)  # into memory that is free again
                for one, expected in zip(got, reference):
                    self.assert_same(one, expected, 1e-9)

    def test_large_and_scaled(self):
        """Densities of any size and functions of any norm give results as accurate as those of order 1."""
        for scale in (1.0, 1e-3, 1e3):
            mol = molecule("water").copy()
            mol._env = mol._env.copy()
            places = {(mol._bas[bas, gto.PTR_COEFF], mol.bas_nprim(bas) * mol.bas_nctr(bas))
                      for bas in range(mol.nbas)}  # those of one element share them
            for first, count in places:
                mol._env[first:first + count] *= scale
            plan = fmo.Plan(mol)
            for size in (1.0, 300.0):
                dm = size * densities(mol.nao, 1)[0] / scale ** 2
                reference = fmo.get_jk(molecule("water"), dm * scale ** 2, mode="cpu")
                for one, expected in zip(plan.get_jk(cupy.asarray(dm)), reference):
                    self.assert_close(one.get() / scale ** 2, expected, 1e-9 * size)

    def test_threads(self):
        mol = molecule("cluster")
        dms = densities(mol.nao, 8)
        reference = fmo.get_jk(mol, dms, mode="cpu")[0]

        def one(k):
            with cupy.cuda.Stream(non_blocking=True):
                return fmo.get_jk(mol, cupy.asarray(dms[k]))[0].get()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for k, got in enumerate(pool.map(one, range(8))):
                self.assert_close(got, reference[k], 1e-9)

    def test_plan_from_before_cupy(self):
        mol = molecule("water")
        dm = densities(mol.nao, 1)[0]
        imported = _cupy.imported
        try:
            _cupy.imported = lambda: None
            plan = fmo.Plan(mol)
        finally:
            _cupy.imported = imported
        reference = plan.get_jk(dm)
        for one, expected in zip(plan.get_jk(cupy.asarray(dm)), reference):
            self.assert_same(one, expected, 1e-12)
        for one, expected in zip(plan.get_jk(dm), reference):
            self.assert_close(one, expected, 1e-12)

    def test_start_density(self):
        mf = fmo.RHF(molecule("water"))
        mf.kernel()
        again = fmo.RHF(mf.mol)
        self.assertAlmostEqual(again.kernel(dm0=cupy.asarray(mf.make_rdm1())), mf.e_tot, delta=1e-9)


@unittest.skipUnless(gpu_scf, "no GPU4PySCF")
class Patched(Case):
    def converging(self, cls, mol):
        mf = cls(mol)
        mf.conv_tol = 1e-11
        return mf

    def test_energies(self):
        for cls, mol in ((gpu_scf.hf.RHF, molecule("cluster")), (gpu_scf.hf.RHF, molecule("d functions")),
                         (gpu_scf.uhf.UHF, molecule("third row")), (gpu_scf.rohf.ROHF, molecule("water", charge=1, spin=1))):
            with self.subTest(cls=cls.__name__):
                of_host = _plan.Plan._of_host
                try:
                    _plan.Plan._of_host = None  # nothing goes through the host
                    patched, warned = self.assert_same_energy(lambda: self.converging(cls, mol), 1e-9)
                finally:
                    _plan.Plan._of_host = of_host
                self.assertEqual(warned, [])
                self.assertIsInstance(patched.mo_coeff, cupy.ndarray)
                self.assertEqual((patched._opt_gpu, patched._opt_jengine), ({None: None}, {None: None}))

    def test_matrices(self):
        mol = molecule("cluster")
        plain = gpu_scf.hf.RHF(mol)
        patched = fmo.patch(gpu_scf.hf.RHF(mol))
        dm = cupy.asarray(densities(mol.nao, 1)[0])
        for one, reference in zip(patched.get_jk(mol, dm), plain.get_jk(mol, dm)):
            self.assert_close(one.get(), reference.get(), 1e-9)
        self.assert_close(patched.get_j(mol, dm).get(), plain.get_j(mol, dm).get(), 1e-9)
        for factors in ((None, None), (0.2, 0.2), (0.3, None), (None, 0.3)):
            self.assert_close(patched.get_k(mol, dm, 1, 0, *factors).get(), plain.get_k(mol, dm, 1, 0, *factors).get(),
                              1e-9)
        self.assertIsInstance(patched.get_j(mol, dm.get()), np.ndarray)

    def test_gpu4pyscf_does_the_rest(self):
        """What FMO does not compute is computed by GPU4PySCF, with a warning."""
        mol = molecule("cluster")
        plain = gpu_scf.hf.RHF(mol)
        patched = fmo.patch(gpu_scf.hf.RHF(mol))
        dm = cupy.asarray(densities(mol.nao, 1)[0])
        with recorded() as warned:
            got = patched.get_k(mol, dm, 1, 0.3, 0.5, 0.2)
        self.assert_close(got.get(), plain.get_k(mol, dm, 1, 0.3, 0.5, 0.2).get(), 1e-12)
        self.assertEqual(len(warned), 1)
        self.assertIn("GPU4PySCF computes", warned[0])
        scanner = fmo.patch(gpu_scf.hf.RHF(mol)).as_scanner()  # whose class has PySCF's module
        with recorded():
            self.assert_close(scanner.get_k(mol, dm, 1, 0.3, 0.5, 0.2).get(), got.get(), 1e-12)
        for mf in (gpu_scf.LRHF(mol), gpu_scf.hf.RHF(mol).density_fit()):
            with recorded() as warned:
                self.assertIs(fmo.patch(mf), mf)
            self.assertEqual(len(warned), 1)
            self.assertFalse(type(mf).__name__.startswith("Fmo"))

    def test_gradients(self):
        """Gradients of closed and open shells and of hybrids, by whichever library computes two-electron parts."""
        from gpu4pyscf import dft
        for cls, mol, settings in ((gpu_scf.hf.RHF, molecule("cluster"), {}),
                                   (gpu_scf.uhf.UHF, molecule("water", charge=1, spin=1), {}),
                                   (dft.rks.RKS, molecule("water"), {"xc": "b3lyp"}),
                                   (dft.rks.RKS, molecule("water"), {"xc": "wb97x"})):
            with self.subTest(cls=cls.__name__, **settings):
                mf = cls(mol)
                for name, value in settings.items():
                    setattr(mf, name, value)
                mf.kernel()
                reference = mf.nuc_grad_method().kernel()
                with recorded():
                    method = fmo.patch(mf).nuc_grad_method()
                    self.assertTrue(type(method).__name__.startswith("Fmo"))
                    self.assert_close(method.kernel(), reference, 1e-7)

    def test_there_and_back(self):
        mf = fmo.patch(self.converging(molecule("cluster").RHF().__class__, molecule("cluster")))
        there = mf.to_gpu()
        self.assertTrue(type(there).__name__.startswith("Fmo") and type(there).__module__.startswith("gpu4pyscf"))
        energy = there.kernel()
        back = there.to_cpu()
        self.assertTrue(type(back).__name__.startswith("Fmo") and type(back).__module__.startswith("pyscf"))
        self.assertAlmostEqual(float(energy), float(back.kernel()), delta=1e-9)
        self.assertFalse(type(fmo.unpatch(there)).__name__.startswith("Fmo"))


if __name__ == "__main__":
    unittest.main()
