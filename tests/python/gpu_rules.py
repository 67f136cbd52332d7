"""What fmo.patch makes of objects of GPU4PySCF, without a GPU: a stand-in for its module, with its methods' names,
arguments and order of calls (GPU4PySCF 1.8), J and K of PySCF. Started as module.py is.
"""

import sys
import types
import unittest
from unittest import mock

# first: it may start another Python
from helpers import Case, densities, molecule, recorded

import numpy as np
from pyscf import scf

import fmo
from fmo import _patch, _patch_gradients, _plan

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
    def Gradients(self):
        from gpu4pyscf.grad import rhf
        return rhf.Gradients(self)
    nuc_grad_method = Gradients

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

# with names, arguments and sums of GPU4PySCF 1.8
GRADIENTS = '''
import numpy as np
from pyscf.grad import rhf

class Gradients(rhf.Gradients):
    def jk_energy_per_atom(self, dm=None, j_factor=1, k_factor=1, omega=None, lr_factor=None, sr_factor=None, hermi=0,
                           verbose=None):
        dms, made = np.reshape(dm, (-1, *np.shape(dm)[-2:])), []
        with self.mol.with_range_coulomb(omega):
            vj, vk = rhf.get_jk(self.mol, dms)
        for _, _, p0, p1 in self.mol.aoslice_by_atom():
            coulomb = np.einsum("sxij,tij->x", vj[:, :, p0:p1], dms[:, p0:p1])
            made.append(2 * j_factor * coulomb - k_factor * len(dms) * np.einsum("sxij,sij->x", vk[:, :, p0:p1],
                                                                                 dms[:, p0:p1]))
        return np.array(made)
'''


def stand_in():
    """The module, under GPU4PySCF's name."""
    package = types.ModuleType("gpu4pyscf")
    package.scf = types.ModuleType("gpu4pyscf.scf")
    package.scf.hf = types.ModuleType("gpu4pyscf.scf.hf")
    package.grad = types.ModuleType("gpu4pyscf.grad")
    package.grad.rhf = types.ModuleType("gpu4pyscf.grad.rhf")
    for one in (package, package.scf, package.scf.hf, package.grad, package.grad.rhf):
        sys.modules[one.__name__] = one
    exec(STAND_IN, vars(package.scf.hf))  # pylint: disable=exec-used
    exec(GRADIENTS, vars(package.grad.rhf))  # pylint: disable=exec-used
    return package.scf.hf


@unittest.skipIf("gpu4pyscf" in sys.modules, "GPU4PySCF itself is there: with_cupy.py")
class PatchGpuRules(Case):
    @classmethod
    def setUpClass(cls):
        cls.hf = stand_in()

    @classmethod
    def tearDownClass(cls):
        for name in [name for name in sys.modules if name.partition(".")[0] == "gpu4pyscf"]:
            sys.modules.pop(name)

    def setUp(self):
        self.mol = molecule("water")
        self.dm = densities(self.mol.nao, 1)[0]
        self.plain, self.patched = self.hf.RHF(self.mol), fmo.patch(self.hf.RHF(self.mol))
        self.assertIsInstance(self.patched, _patch._PatchedGpuSCF)

    def test_matrices(self):
        """J, K, the potential from one build, and every factor of K."""
        with recorded() as warned:
            for one, expected in zip(self.patched.get_jk(self.mol, self.dm), self.plain.get_jk(self.mol, self.dm)):
                self.assert_close(one, expected, 1e-9)
            self.assert_close(self.patched.get_j(self.mol, self.dm), self.plain.get_j(self.mol, self.dm), 1e-9)
            for _ in range(2):
                self.assert_close(self.patched.get_veff(self.mol, self.dm), self.plain.get_veff(self.mol, self.dm),
                                  1e-9)
            for factors in ((None, None, None), (0, 0.2, 0.2), (0, 0.3, None), (0, None, 0.3), (0.4, 0.3, 0.3),
                            (None, 1.0, 1.0)):
                self.assert_close(self.patched.get_k(self.mol, self.dm, 1, *factors),
                                  self.plain.get_k(self.mol, self.dm, 1, *factors), 1e-9, str(factors))
        self.assertEqual(warned, [])

    def test_what_is_gpu4pyscfs(self):
        """Parts of the operator, and factors that differ without one, which GPU4PySCF refuses."""
        for factors in ((0.3, 0.5, 0.2), (0.3, None, None), (0.3, 0.5, None), (-0.3, None, 0.5)):
            with recorded() as warned:
                self.assert_close(self.patched.get_k(self.mol, self.dm, 1, *factors),
                                  self.plain.get_k(self.mol, self.dm, 1, *factors), 1e-12, str(factors))
            self.assertTrue(all("GPU4PySCF computes" in one for one in warned))
        with recorded(), self.assertRaises(AssertionError):
            self.patched.get_k(self.mol, self.dm, 1, 0, 0.5, 0.2)
        with recorded():
            other = np.triu(self.dm)
            for hermi in (0, 1):
                self.assert_close(self.patched.get_j(self.mol, other, hermi), self.plain.get_j(self.mol, other, hermi),
                                  1e-12)

    def test_methods_of_the_caller(self):
        """GPU4PySCF requests J and K separately, so that a method of the caller changes only its own matrix."""
        for name in ("get_j", "get_k"):
            made = []
            for mf in (self.hf.RHF(self.mol), fmo.patch(self.hf.RHF(self.mol))):
                own = getattr(mf, name)
                setattr(mf, name, lambda *a, own=own, **k: 0.5 * own(*a, **k))
                made.append(mf.get_veff(self.mol, self.dm))
            self.assert_close(made[1], made[0], 1e-9, name)

    def test_gradients(self):
        """Sums of J and K by factors, of one density and of both spins, with the mode of builds; GPU4PySCF's where libfmo
        has no gradient in that mode, and with factors of its own."""
        spins = densities(self.mol.nao, 2)
        plain = self.plain.nuc_grad_method()
        patched = fmo.patch(self.hf.RHF(self.mol), mode="cpu").nuc_grad_method()
        self.assertIsInstance(patched, _patch_gradients._PatchedGpuGradients)
        with recorded() as warned, mock.patch.object(_plan.Plan, "gradient", autospec=True,
                                                    side_effect=_plan.Plan.gradient) as gradient:
            for dm in (self.dm, spins):
                for factors in ((1, 1), (1, 0.2), (0, 0.3), (1, 0), (0, 0.5, -0.3), (0, 0.5, 0.4)):
                    self.assert_close(patched.jk_energy_per_atom(dm, *factors), plain.jk_energy_per_atom(dm, *factors),
                                      1e-8, str(factors))
        self.assertEqual((warned, gradient.call_count), ([], 12))
        other = fmo.patch(self.hf.RHF(self.mol), mode="reference").nuc_grad_method()
        with recorded() as warned:
            self.assert_close(other.jk_energy_per_atom(self.dm), plain.jk_energy_per_atom(self.dm), 0)
        self.assertRegex(warned[0], "GPU4PySCF computes two-electron gradients")
        self.assertEqual(len(warned), 1)

    def test_density_fitting(self):
        """Every method of a patched object gives the fitted J and K."""
        plain, patched = self.hf.density_fit(self.plain), self.hf.density_fit(self.patched)
        self.assert_close(patched.get_j(self.mol, self.dm), plain.get_j(self.mol, self.dm), 0)
        self.assert_close(patched.get_k(self.mol, self.dm), plain.get_k(self.mol, self.dm), 0)
        self.assert_close(patched.get_veff(self.mol, self.dm), plain.get_veff(self.mol, self.dm), 0)
        with recorded() as warned:
            self.assertIs(fmo.patch(plain), plain)
        self.assertEqual(len(warned), 1)
        self.assertNotIsInstance(plain, _patch._PatchedSCF)

    def test_there_and_back(self):
        self.assertIs(self.patched.to_gpu(), self.patched)
        back = self.patched.to_cpu()
        self.assertIsInstance(back, _patch._PatchedSCF)
        self.assertNotIsInstance(back, _patch._PatchedGpuSCF)
        self.assertIs(type(fmo.unpatch(back)), scf.hf.RHF)
        self.assertIs(type(fmo.unpatch(self.patched)), self.hf.RHF)

    def test_eri_is_not_looked_at(self):
        """_eri has no effect, with and without patch."""
        self.patched._eri = np.zeros(3)
        with recorded() as warned:
            self.assert_close(self.patched.get_jk(self.mol, self.dm)[0], self.plain.get_jk(self.mol, self.dm)[0], 1e-9)
        self.assertEqual(warned, [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
