"""What fmo.patch makes of objects of GPU4PySCF, without a GPU: a stand-in for its module, with its methods' names,
arguments and order of calls (GPU4PySCF 1.8), J and K of PySCF. Started as module.py is.
"""

import sys
import types
import unittest

# first: it may start another Python
from helpers import Case, densities, molecule, recorded

import numpy as np
from pyscf import scf

import fmo
from fmo import _patch

STAND_IN = '''
import numpy as np
from pyscf import lib, scf

def get_veff(mf, mol=None, dm=None, dm_last=None, vhf_last=None, hermi=1):
    vj = mf.get_j(mol, dm, hermi)
    vhf = mf.get_k(mol, dm, hermi)
    vhf *= -.5
    vhf += vj
    return vhf

class SCF(scf.hf.SCF):
    def get_jk(self, mol, dm=None, hermi=1, with_j=True, with_k=True, omega=None):
        return scf.hf.get_jk(mol, dm, hermi, None, with_j, with_k, omega)

    def get_j(self, mol, dm, hermi=1, omega=None):
        return scf.hf.get_jk(mol, dm, hermi, None, True, False, omega)[0]

    def get_k(self, mol, dm, hermi=1, omega=None, lr_factor=None, sr_factor=None):
        omega = mol.omega if omega is None else omega
        full = lambda w: scf.hf.get_jk(mol, dm, hermi, None, False, True, w)[1]
        if lr_factor is None and sr_factor is None:
            return full(omega)
        if omega == 0:
            assert lr_factor is None or sr_factor is None or lr_factor == sr_factor
            return (sr_factor if lr_factor is None else lr_factor) * full(0)
        long, short = lr_factor or 0, sr_factor or 0
        return short * full(0) + (long - short) * full(abs(omega))

class RHF(SCF, scf.hf.RHF):
    get_jk, get_j, get_k, get_veff = SCF.get_jk, SCF.get_j, SCF.get_k, get_veff
    def to_gpu(self):
        return self
    def to_cpu(self):
        return scf.hf.RHF(self.mol)

class _DFHF:
    """Density fitting, which is in front of the object's class."""
    def get_j(self, mol=None, dm=None, hermi=1, omega=None):
        return self.get_jk(mol, dm, hermi, with_j=True, with_k=False, omega=omega)[0]
    def get_k(self, mol=None, dm=None, hermi=1, omega=None, lr_factor=None, sr_factor=None):
        return self.get_jk(mol, dm, hermi, False, True, omega=omega)[1]
    def get_jk(self, mol=None, dm=None, hermi=1, with_j=True, with_k=True, omega=None):
        return dm if with_j else None, 2 * dm if with_k else None

def density_fit(mf):
    one = mf.copy()
    one.with_df = object()
    return lib.set_class(one, (_DFHF, type(mf)))
'''


def stand_in():
    """The module, under GPU4PySCF's name."""
    package = types.ModuleType("gpu4pyscf")
    package.scf = types.ModuleType("gpu4pyscf.scf")
    package.scf.hf = types.ModuleType("gpu4pyscf.scf.hf")
    sys.modules.update({"gpu4pyscf": package, "gpu4pyscf.scf": package.scf, "gpu4pyscf.scf.hf": package.scf.hf})
    exec(STAND_IN, vars(package.scf.hf))  # pylint: disable=exec-used
    return package.scf.hf


@unittest.skipIf("gpu4pyscf" in sys.modules, "GPU4PySCF itself is there: with_cupy.py")
class PatchGpuRules(Case):
    @classmethod
    def setUpClass(cls):
        cls.hf = stand_in()

    @classmethod
    def tearDownClass(cls):
        for name in ("gpu4pyscf", "gpu4pyscf.scf", "gpu4pyscf.scf.hf"):
            sys.modules.pop(name)

    def setUp(self):
        self.mol = molecule("water")
        self.dm = densities(self.mol.nao, 1)[0]
        self.plain, self.patched = self.hf.RHF(self.mol), fmo.patch(self.hf.RHF(self.mol))
        self.assertIsInstance(self.patched, _patch._PatchedGpuSCF)

    def test_matrices(self):
        """J, K, the potential from one build, and every factor of K."""
        with recorded() as given:
            for one, want in zip(self.patched.get_jk(self.mol, self.dm), self.plain.get_jk(self.mol, self.dm)):
                self.assert_close(one, want, 1e-9)
            self.assert_close(self.patched.get_j(self.mol, self.dm), self.plain.get_j(self.mol, self.dm), 1e-9)
            for _ in range(2):
                self.assert_close(self.patched.get_veff(self.mol, self.dm), self.plain.get_veff(self.mol, self.dm),
                                  1e-9)
            for factors in ((None, None, None), (0, 0.2, 0.2), (0, 0.3, None), (0, None, 0.3), (0.4, 0.3, 0.3),
                            (None, 1.0, 1.0)):
                self.assert_close(self.patched.get_k(self.mol, self.dm, 1, *factors),
                                  self.plain.get_k(self.mol, self.dm, 1, *factors), 1e-9, str(factors))
        self.assertEqual(given, [])

    def test_what_is_gpu4pyscfs(self):
        """Parts of the operator, and factors that differ without one, which GPU4PySCF refuses."""
        for factors in ((0.3, 0.5, 0.2), (0.3, None, None), (0.3, 0.5, None), (-0.3, None, 0.5)):
            with recorded() as given:
                self.assert_close(self.patched.get_k(self.mol, self.dm, 1, *factors),
                                  self.plain.get_k(self.mol, self.dm, 1, *factors), 1e-12, str(factors))
            self.assertTrue(all("GPU4PySCF computes" in one for one in given))
        with recorded(), self.assertRaises(AssertionError):
            self.patched.get_k(self.mol, self.dm, 1, 0, 0.5, 0.2)
        with recorded():
            other = np.triu(self.dm)
            for hermi in (0, 1):
                self.assert_close(self.patched.get_j(self.mol, other, hermi), self.plain.get_j(self.mol, other, hermi),
                                  1e-12)

    def test_methods_of_the_caller(self):
        """GPU4PySCF asks for J and K apart, so a method of the caller's changes its own matrix alone."""
        for name in ("get_j", "get_k"):
            made = []
            for mf in (self.hf.RHF(self.mol), fmo.patch(self.hf.RHF(self.mol))):
                own = getattr(mf, name)
                setattr(mf, name, lambda *a, own=own, **k: 0.5 * own(*a, **k))
                made.append(mf.get_veff(self.mol, self.dm))
            self.assert_close(made[1], made[0], 1e-9, name)

    def test_density_fitting(self):
        """Of a patched object: J and K are the fitted ones, by every method."""
        plain, patched = self.hf.density_fit(self.plain), self.hf.density_fit(self.patched)
        self.assert_close(patched.get_j(self.mol, self.dm), plain.get_j(self.mol, self.dm), 0)
        self.assert_close(patched.get_k(self.mol, self.dm), plain.get_k(self.mol, self.dm), 0)
        self.assert_close(patched.get_veff(self.mol, self.dm), plain.get_veff(self.mol, self.dm), 0)
        with recorded() as given:
            self.assertIs(fmo.patch(plain), plain)
        self.assertEqual(len(given), 1)
        self.assertNotIsInstance(plain, _patch._PatchedSCF)

    def test_there_and_back(self):
        self.assertIs(self.patched.to_gpu(), self.patched)
        back = self.patched.to_cpu()
        self.assertIsInstance(back, _patch._PatchedSCF)
        self.assertNotIsInstance(back, _patch._PatchedGpuSCF)
        self.assertIs(type(fmo.unpatch(back)), scf.hf.RHF)
        self.assertIs(type(fmo.unpatch(self.patched)), self.hf.RHF)

    def test_eri_is_not_looked_at(self):
        """By GPU4PySCF neither."""
        self.patched._eri = np.zeros(3)
        with recorded() as given:
            self.assert_close(self.patched.get_jk(self.mol, self.dm)[0], self.plain.get_jk(self.mol, self.dm)[0], 1e-9)
        self.assertEqual(given, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
