"""The Python module and SCFs: those of PySCF, patched, and its own. Started as module.py is.
"""

import contextlib
import copy
import io
import pickle
import unittest
import warnings

# first: it may start another Python
from helpers import H_SHELL, MOLECULES, WATER, Case, molecule, recorded

import numpy as np
from pyscf import dft, gto, scf

import fmo
from fmo import _mole, _patch


class Patch(Case):
    ENERGY = 1e-9

    def energies(self, make, **options):
        """Energies of equal objects, PySCF's and patched, and the warnings of the latter."""
        patched, warned = self.assert_same_energy(make, self.ENERGY, **options)
        self.assertIsNone(patched._eri if not warned else None)
        return warned

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
                with self.assertRaisesRegex(TypeError, f"fmo.{name}: expected an fmo.Molecule, or a molecule of PySCF"):
                    call(nothing)
        for call, name in ((fmo.RHF, "RHF"), (fmo.Plan, "Plan"), (lambda x: fmo.get_jk(x, np.eye(2)), "get_jk")):
            with self.assertRaisesRegex(ValueError, f"fmo.{name}: .* no basis functions; call its build"):
                call(gto.Mole())

    def test_classes_that_pyscf_makes_of_patched_ones(self):
        """Scanners and second-order objects: copies stay what they are, and unpatching leaves PySCF's."""
        scanner = fmo.patch(molecule("water").RHF()).as_scanner()
        twin = copy.copy(scanner)
        self.assertIsInstance(twin, scf.hf.RHF)
        self.assertTrue(type(twin).__name__.startswith("Fmo"))
        self.assertAlmostEqual(twin(scanner.mol), molecule("water").RHF().run().e_tot, delta=self.ENERGY)
        plain = fmo.unpatch(scanner)
        self.assertIsInstance(plain, scf.hf.RHF)
        self.assertFalse(any("Fmo" in cls.__name__ for cls in type(plain).__mro__))
        second = fmo.patch(molecule("water").RHF().newton())
        before = type(second._scf)
        with contextlib.suppress(ImportError, AttributeError), contextlib.redirect_stdout(io.StringIO()):
            second.to_gpu()  # no GPU4PySCF here
        self.assertIs(type(second._scf), before)
        inner = fmo.unpatch(fmo.patch(molecule("water").RHF()).newton())
        self.assertIsInstance(inner, scf.hf.RHF)
        self.assertFalse(hasattr(fmo.patch(molecule("water").RHF()), "to_cpu"))

    def test_pickled_and_copied(self):
        """The object equals PySCF's own, and is patched with the same options."""
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
                    self.assertIsInstance(other, _patch._PatchedSCF)
                    self.assertIsInstance(other, type(mf).__mro__[2])
                    self.assertEqual(other.fmo_options, dict(mode="cpu", cutoff=1e-11))
                    with recorded() as warned:
                        self.assertAlmostEqual(other.kernel(), mf.kernel(), 8)
                    self.assertEqual(warned, [])
                    fmo.unpatch(other)
                    self.assertNotIsInstance(other, _patch._PatchedSCF)
                    self.assertIsInstance(mf, _patch._PatchedSCF)

    def test_pickled_somewhere(self):
        """An RHF object can be pickled, so that the test above is not empty."""
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
        for got, expected in zip(mf.get_jk(), scf.hf.get_jk(mol, dm)):
            self.assert_close(got, expected, 1e-9)
        self.assert_close(mf.get_j(), scf.hf.get_jk(mol, dm)[0], 1e-9)
        self.assert_close(mf.get_k(), scf.hf.get_jk(mol, dm)[1], 1e-9)

    def test_integrals_are_kept_unless_told_otherwise(self):
        mol = molecule("water")
        fmo.patch(scf.RHF(mol), mode="cpu", integrals="direct").kernel()
        self.assertEqual(list(_mole._kept_for(mol).plans), [(("integrals", "direct"), ("mode", "cpu"))])

    def test_h_shells_are_pyscfs(self):
        mol = molecule("water", basis=H_SHELL)
        warned = self.energies(lambda: self.converging(scf.RHF, mol))
        self.assertEqual(len(warned), 1, warned)
        self.assertIn("h shells", warned[0])

    def test_f_shells(self):
        for cart in (False, True):
            mol = molecule("water", cart, basis={"O": "cc-pvtz", "H": "6-31g"})
            self.assertEqual(self.energies(lambda: self.converging(scf.RHF, mol)), [])

    def test_g_shells(self):
        """cc-pVQZ by fmo's own SCFs: energies, dipole moments and charges."""
        oxygen = "O 0 0 0; H 0.1 0.2 0.94"
        for kind, atom, spin, cart in (("RHF", "F 0 0 0; H 0 0 0.92", 0, True), ("RHF", WATER, 0, False),
                                       ("RHF", "B 0 0 0; H 0.3 0 1.2", 0, False), ("UHF", oxygen, 1, False),
                                       ("ROHF", oxygen, 1, True)):
            with self.subTest(kind, atom=atom, cart=cart):
                mol = gto.M(atom=atom, basis={"H": "sto-3g", "default": "cc-pvqz"}, spin=spin, cart=cart, verbose=0)
                expected, got = getattr(scf, kind)(mol), getattr(fmo, kind)(mol)
                expected.conv_tol = got.conv_tol = 1e-11
                expected.kernel()
                self.assertAlmostEqual(got.kernel(), expected.e_tot, delta=1e-8)
                self.assert_close(got.dip_moment(), expected.dip_moment(verbose=0), 1e-4)
                self.assert_close(got.mulliken_charges(), expected.mulliken_pop(verbose=0)[1], 1e-4)

    def test_range_separated(self):
        mol = molecule("water")
        warned = self.energies(lambda: self.converging(dft.RKS, mol, xc="camb3lyp"))
        self.assertEqual(warned, [])

    def test_response(self):
        """TDHF asks for densities that are not symmetric."""
        mol = molecule("water")
        mf = fmo.patch(self.converging(scf.RHF, mol))
        mf.kernel()
        with recorded() as warned:
            got = mf.TDHF().run(nstates=2).e
        self.assertEqual(warned, [])
        expected = self.converging(scf.RHF, mol).run().TDHF().run(nstates=2).e
        self.assert_close(got, expected, 1e-6)

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
        self.assertIsInstance(mf.copy(), _patch._PatchedSCF)
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
            with recorded() as warned:
                self.assertIs(fmo.patch(mf), mf)
            self.assertEqual(len(warned), 1)
            self.assertIn(reason, warned[0])
            self.assertIs(type(mf), cls)


class Scf(Case):
    """fmo.RHF and fmo.rhf_batch against PySCF's RHF."""

    CLOSED = ("hydrogen", "helium atom", "water", "cluster", "effective core", "finite nuclei", "general contraction",
              "ghost atom")

    def pyscfs(self, mol):
        mf = scf.RHF(mol)
        mf.conv_tol, mf.conv_tol_grad, mf.verbose = 1e-11, 1e-7, 0
        mf.kernel()
        return mf

    def test_energies_and_orbitals(self):
        """Energies, orbitals and matrices agree with those of PySCF."""
        for name in self.CLOSED:
            for cart in (False, True):
                with self.subTest(name, cart=cart):
                    mol = gto.M(**MOLECULES[name], cart=cart, verbose=0)
                    expected, mf = self.pyscfs(mol), fmo.RHF(mol)
                    mf.conv_tol, mf.conv_tol_grad = 1e-11, 1e-7
                    self.assertAlmostEqual(mf.kernel(), expected.e_tot, delta=1e-8)
                    self.assertTrue(mf.converged)
                    self.assertIsNone(mf.error)
                    self.assertEqual(mf.mo_coeff.shape, expected.mo_coeff.shape)
                    self.assert_close(mf.mo_energy, expected.mo_energy, 1e-6)
                    self.assert_close(mf.mo_occ, expected.mo_occ, 0)
                    self.assert_close(mf.make_rdm1(), expected.make_rdm1(), 1e-6)
                    self.assert_close(mf.get_ovlp(), expected.get_ovlp(), 1e-10)
                    self.assert_close(mf.get_hcore(), expected.get_hcore(), 1e-8)
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
        """Settings that are changed between runs of one object take effect."""
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
        mf.max_cycle = 2**32 + 1
        self.assertRaisesRegex(OverflowError, "max_cycle = 4294967297: expected at most 2147483647", mf.kernel)
        mf.max_cycle = None
        mf.init_guess, mf.stability = "core", "check"
        self.assertAlmostEqual(mf.kernel(), energy, delta=1e-8)
        self.assertGreater(mf.hessian_lowest, 0.1)
        mf.init_guess, mf.stability, mf.solver = None, None, "newton"
        self.assertAlmostEqual(mf.kernel(), energy, delta=1e-8)
        mf.solver = "second order"
        self.assertRaisesRegex(fmo.InputError, "newton", mf.kernel)

    def test_loose_cutoff(self):
        water = gto.M(**MOLECULES["water"], verbose=0)
        mf = fmo.RHF(water, cutoff=1e-6)
        with self.assertWarnsRegex(fmo.CutoffWarning, "cutoff 1e-06: the energy may have an error of [67]e-07"):
            mf.kernel()
        self.assertRegex(mf.notice, "cutoff 1e-06.*choose a cutoff of at most 1e-09")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mf = fmo.RHF(water)
            mf.kernel()
            self.assertIsNone(mf.notice)
        with self.assertWarnsRegex(fmo.CutoffWarning, "and the same for 1 more"):
            fmo.rhf_batch([water, water], cutoff=1e-6)

    def test_mistakes(self):
        """Wrong settings and unsupported molecules raise errors that name them."""
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
        for kind, reason in (("third row", "unpaired"), ("h shells", "h shells")):
            mol = gto.M(**MOLECULES["third row"], verbose=0) if kind == "third row" else \
                gto.M(atom=WATER, basis=H_SHELL, verbose=0)
            self.assertRaisesRegex(fmo.Error, reason, fmo.RHF, mol)
        self.assertRaisesRegex(ValueError, "fields: 1 for 2 molecules", fmo.rhf_batch, [water, water],
                               fields=[None])

    def test_field(self):
        """A charge beside the molecule, as PySCF's own integrals have it."""
        mol = gto.M(**MOLECULES["water"], verbose=0)
        with mol.with_rinv_origin((0.5, 3.0, 2.0)):
            field = -0.6 * mol.intor("int1e_rinv")
        expected = scf.RHF(mol)
        core = expected.get_hcore() + field
        expected.get_hcore = lambda *_: core
        expected.conv_tol, expected.verbose = 1e-11, 0
        expected.kernel()
        mf = fmo.RHF(mol)
        mf.field = field
        self.assertAlmostEqual(mf.kernel(), expected.e_tot, delta=1e-8)
        self.assertAlmostEqual(mf.field_energy, np.sum(field * mf.make_rdm1()), delta=1e-10)
        self.assertAlmostEqual(mf.to_pyscf().energy_tot(), mf.e_tot, delta=1e-8)

    def test_batch(self):
        """A batch gives the results of single runs; molecules that fail do not disturb the others."""
        mols = [gto.M(**MOLECULES[name], verbose=0) for name in (*self.CLOSED, "third row", *self.CLOSED)]
        mols.insert(3, gto.M(atom=WATER, basis=H_SHELL, verbose=0))
        calls = []
        for threads in (1, 2):
            calls.clear()
            got = fmo.rhf_batch(mols, threads=threads, mode="cpu", callback=lambda k, mf: calls.append((k, mf.e_tot)))
            self.assertEqual(sorted(k for k, _ in calls), list(range(len(mols))))
            for k, (mol, mf) in enumerate(zip(mols, got)):
                self.assertIs(mf.mol, mol)
                if k in (3, len(self.CLOSED) + 1):
                    self.assertTrue(np.isnan(mf.e_tot) and not mf.converged)
                    self.assertRegex(str(mf.error), "h shells|unpaired")
                    continue
                self.assertIsNone(mf.error)
                self.assertIn((k, mf.e_tot), calls)
                self.assertAlmostEqual(mf.e_tot, fmo.RHF(mol, mode="cpu").kernel(), delta=1e-9)
        self.assertEqual(fmo.rhf_batch([]), [])

    def test_batch_callback_raises(self):
        water = gto.M(**MOLECULES["water"], verbose=0)

        def complain(k, mf):
            raise KeyError("mine")
        self.assertRaisesRegex(KeyError, "mine", fmo.rhf_batch, [water, water], callback=complain)


if __name__ == "__main__":
    unittest.main(verbosity=2)
