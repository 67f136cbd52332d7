"""What SCF objects know of their result: properties, spins, notes for the logger and the progress bar; UHF and ROHF.
Started as module.py is.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile

# first: it may start another Python
from helpers import CASES, NUMBERS, PLACES, Case, main, needs, ours

import numpy as np
from pyscf import gto, scf

import fmo

DRIVER = os.environ.get("FMO_DRIVER", "fmo-driver")  # that of the build, or of an installed wheel


class Properties(Case):
    def test_dipole_and_charges(self):
        """Units, signs and values of PySCF, for molecules of both kinds, and for an ion about a point."""
        for text, charge in CASES:
            mol = ours(text, charge, basis="def2-svp", functions="spherical")
            theirs = gto.M(atom=text, charge=charge, basis="def2-svp", verbose=0)
            expected = scf.RHF(theirs).run(conv_tol=1e-11)
            for one in (mol, theirs):
                mf = fmo.RHF(one).run(conv_tol=1e-11, conv_tol_grad=1e-7)
                self.assert_close(mf.dip_moment(), expected.dip_moment(verbose=0), 1e-4)
                self.assert_close(mf.dip_moment("AU"), expected.dip_moment(unit="AU", verbose=0), 1e-5)
                origin = np.array([0.3, -0.2, 1.0])
                self.assert_close(mf.dip_moment("au", origin), mf.dip_moment("au") - charge * origin, 1e-9)
                self.assert_close(mf.mulliken_charges(), expected.mulliken_pop(verbose=0)[1], 1e-5)
                self.assertAlmostEqual(mf.mulliken_charges().sum(), charge, delta=1e-8)
                self.assert_close(mf.mo_energy, expected.mo_energy, 1e-5)
        with self.assertRaisesRegex(fmo.InputError, "unit = 'D': expected 'Debye' or 'AU'"):
            mf.dip_moment("D")
        with self.assertRaisesRegex(fmo.InputError, "origin: expected 3 coordinates"):
            mf.dip_moment(origin=[1])
        for method in ("dip_moment", "mulliken_charges", "loewdin_charges"):
            with self.assertRaisesRegex(fmo.InputError, "no result yet"):
                getattr(fmo.RHF(mol), method)()

    def test_loewdin(self):
        """Charges and spins against S^1/2 P S^1/2 by scipy and against PySCF, for functions of all forms."""
        from pyscf import lo
        from scipy.linalg import sqrtm
        water = ([8, 1, 1], [[0, 0, 0.1], [0, 0.76, -0.5], [0.1, -0.76, -0.5]])
        for kind, multiplicity, charge in ((fmo.RHF, 1, 0), (fmo.UHF, 2, 1), (fmo.ROHF, 2, -1)):
            for functions in ("cartesian", "spherical"):
                mol = fmo.Molecule(*water, charge, multiplicity, "6-31g*", functions=functions)
                mf = kind(mol).run()
                alpha, beta = mf.make_rdm1() if kind is not fmo.RHF else (0.5 * mf.make_rdm1(),) * 2
                root, theirs = sqrtm(mf.get_ovlp()), mol.to_pyscf()
                starts = theirs.aoslice_by_atom()[:, 2]

                def populations(density):
                    return np.add.reduceat(np.diag(root @ density @ root), starts)
                with self.subTest(mf):
                    self.assert_close(mf.loewdin_charges(), [8, 1, 1] - populations(alpha + beta), 1e-10)
                    self.assertAlmostEqual(mf.loewdin_charges().sum(), charge, delta=1e-8)
                    self.assertGreater(np.abs(mf.loewdin_charges() - mf.mulliken_charges()).max(), 0.05)
                    orbitals = np.linalg.inv(lo.orth.lowdin(theirs.intor("int1e_ovlp")))  # S^1/2
                    expected = scf.hf.mulliken_pop(theirs, orbitals @ (alpha + beta) @ orbitals, np.eye(mol.nao), verbose=0)[1]
                    self.assert_close(mf.loewdin_charges(), expected, 1e-10)
                    self.assert_close(kind(theirs).run().loewdin_charges(), expected, 1e-5)
                    if kind is not fmo.RHF:
                        self.assert_close(mf.loewdin_spins(), populations(alpha - beta), 1e-10)
                        self.assertAlmostEqual(mf.loewdin_spins().sum(), 1.0, delta=1e-8)
        with self.assertRaisesRegex(fmo.InputError, "no result yet"):
            fmo.UHF(mol).loewdin_spins()

    def test_driver(self):
        """fmo-driver's charges, spins and dipole moment, of functions of all forms: these methods', and PySCF's."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        path = os.path.join(folder, "water.xyz")
        with open(path, "w", encoding="utf-8") as file:
            file.write("3\n\nO 0 0 0.117\nH 0 0.757 -0.469\nH 0.1 -0.757 -0.469\n")
        names = ("mulliken_charges", "loewdin_charges", "mulliken_spins", "loewdin_spins")
        for kind, multiplicity, charge in ((fmo.RHF, 1, 0), (fmo.UHF, 2, 1), (fmo.ROHF, 2, -1)):
            for functions in ("cartesian", "spherical"):
                mol = fmo.Molecule.from_xyz(path, charge, multiplicity, basis="def2-tzvp", functions=functions)
                mf = kind(mol).run(conv_tol=1e-11, conv_tol_grad=1e-9)
                line = [path, "--basis", "def2-tzvp", "--functions", functions, "--charge", charge, "--multiplicity",
                        multiplicity, "--convergence", "1e-11", "--gradient-convergence", "1e-9", "--profile=json",
                        "--scf", *(["--rohf"] if kind is fmo.ROHF else [])]
                done = subprocess.run([DRIVER, *map(str, line)], capture_output=True, text=True, check=True)
                reported = json.loads(done.stdout)["builds"][0]["scf"]
                with self.subTest(mf):
                    for name in names[:2 if kind is fmo.RHF else 4]:
                        self.assert_close(reported[name], getattr(mf, name)(), 1e-8)
                    self.assert_close(reported["dipole"], mf.dip_moment("AU"), 1e-8)
                    theirs = mol.to_pyscf()
                    expected = scf.hf.mulliken_pop(theirs, mf.total_density(), theirs.intor("int1e_ovlp"), verbose=0)[1]
                    self.assert_close(reported["mulliken_charges"], expected, 1e-8)
                    self.assertAlmostEqual(sum(reported["loewdin_charges"]), charge, delta=1e-8)

    def test_gradient(self):
        """Against PySCF's analytic one."""
        text = "O 0 0 0.117; H 0 0.857 -0.469; H 0.2 -0.757 -0.469"
        theirs = gto.M(atom=text, basis="def2-svp", verbose=0)
        expected = scf.RHF(theirs).run(conv_tol=1e-12).nuc_grad_method().kernel()
        for mol in (theirs, ours(text, basis="def2-svp")):
            mf = fmo.RHF(mol)
            self.assert_close(mf.numerical_gradient(), expected, 1e-6)
        for step in (0, 1, "a", None):
            with self.assertRaisesRegex(fmo.InputError, "step = "):
                mf.numerical_gradient(step)
        mf.max_cycle = 2
        mf.kernel()
        self.assertRaises(fmo.ConvergenceError, mf.numerical_gradient)
        mf = fmo.RHF(mol)
        mf.field = np.eye(mol.nao)
        self.assertRaisesRegex(fmo.InputError, "depend on the geometry", mf.numerical_gradient)

    def test_run(self):
        mf = fmo.RHF(fmo.Molecule(NUMBERS, PLACES, basis="sto-3g"))
        self.assertIs(mf.run(max_cycle=50), mf)
        self.assertEqual((mf.max_cycle, mf.converged), (50, True))
        with self.assertRaisesRegex(fmo.UnknownAttributeError, "did you mean max_cycle"):
            mf.run(max_cycl=3)

    def test_log(self):
        """Of the logger "fmo", and nothing on the standard streams."""
        mol = fmo.Molecule(NUMBERS, PLACES, basis="sto-3g")
        with self.assertLogs("fmo", logging.INFO) as info:
            fmo.RHF(mol).kernel()
        self.assertEqual([line.split(":")[0] for line in info.output], ["INFO", "INFO"])
        self.assertIn("converged in", info.output[1])
        with self.assertLogs("fmo", logging.DEBUG) as debug:
            mf = fmo.RHF(mol).run()
        self.assertEqual(sum("DEBUG" in line and "gradient" in line for line in debug.output), mf.cycles)
        with self.assertLogs("fmo", logging.INFO) as info:
            fmo.rhf_batch([mol] * 3)
        self.assertIn("3 molecules, 3 converged", info.output[0])

    @needs("tqdm")
    def test_progress(self):
        code = ("import fmo\nmol = fmo.Molecule(['He'], [[0, 0, 0]], basis='sto-3g')\n"
                "fmo.rhf_batch([mol] * 5, progress={})")
        for progress, shown in (("True", True), ("None", False), ("False", False)):
            done = subprocess.run([sys.executable, "-c", code.format(progress)], text=True, check=True, env=os.environ,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((done.stdout, "/5 [" in done.stderr, bool(done.stderr)), ("", shown, shown))


class OpenShells(Case):
    """UHF and ROHF against PySCF's, and batches of any spin."""

    MOLECULES = {"CH3": (["C", "H", "H", "H"], [[0, 0, 0], [1.079, 0, 0], [-.5395, .9344, 0], [-.5395, -.9344, 0]], 0, 2),
                 "O2": (["O", "O"], [[0, 0, 0], [0, 0, 1.2]], 0, 3), "OH+": (["O", "H"], [[0, 0, 0], [0, 0, 1]], 1, 3),
                 "N": (["N"], [[0, 0, 0]], 0, 4), "water": (NUMBERS, PLACES, 0, 1)}

    def test_against_pyscf(self):
        for name, (numbers, places, charge, multiplicity) in self.MOLECULES.items():
            for basis in ("6-31g", "cc-pvdz"):
                with self.subTest(name, basis=basis):
                    mol = fmo.Molecule(numbers, places, charge, multiplicity, basis)
                    ours = fmo.UHF(mol).run(conv_tol=1e-11, conv_tol_grad=1e-7)
                    theirs = scf.UHF(mol.to_pyscf()).run(conv_tol=1e-12, conv_tol_grad=1e-7)
                    self.assertAlmostEqual(ours.e_tot, theirs.e_tot, delta=1e-8)
                    self.assert_close(ours.spin_square(), theirs.spin_square(), 1e-5)
                    self.assert_close(ours.make_rdm1(), theirs.make_rdm1(), 1e-5)
                    self.assert_close(ours.mo_energy, theirs.mo_energy, 1e-5)
                    self.assert_close(ours.dip_moment(), theirs.dip_moment(verbose=0), 1e-4)
                    self.assertAlmostEqual(ours.mulliken_spins().sum(), mol.spin, delta=1e-8)
                    again = ours.to_pyscf()
                    self.assertAlmostEqual(again.energy_tot(again.make_rdm1()), ours.e_tot, delta=1e-8)
                    self.assertAlmostEqual(fmo.UHF(mol).kernel(ours.make_rdm1()), ours.e_tot, delta=1e-8)

    def test_rohf_against_pyscf(self):
        more = {"Li": (["Li"], [[0, 0, 0]], 0, 2), "NO2": (["N", "O", "O"], [[0, 0, 0], [1.1, 0.46, 0], [-1.1, 0.46, 0]], 0, 2),
                "O2-": (["O", "O"], [[0, 0, 0], [0, 0, 1.35]], -1, 2), "OH": (["O", "H"], [[0, 0, 0], [0, 0, 1]], 0, 2)}
        for name, (numbers, places, charge, multiplicity) in {**self.MOLECULES, **more}.items():
            for basis in ("6-31+g", "cc-pvdz") if "Li" not in numbers else ("6-31g",):
                with self.subTest(name, basis=basis):
                    mol = fmo.Molecule(numbers, places, charge, multiplicity, basis)
                    ours = fmo.ROHF(mol).run(conv_tol=1e-11, conv_tol_grad=1e-7)
                    theirs = scf.ROHF(mol.to_pyscf()).run(conv_tol=1e-12, conv_tol_grad=1e-7)
                    self.assertAlmostEqual(ours.e_tot, theirs.e_tot, delta=1e-8)
                    self.assertAlmostEqual(ours.spin_square()[0], 0.25 * (multiplicity ** 2 - 1), delta=1e-10)
                    self.assert_close(ours.mo_energy, theirs.mo_energy, 1e-5)
                    self.assertEqual(ours.mo_occ.tolist(), np.asarray(theirs.mo_occ).tolist())
                    density, C = ours.make_rdm1(), ours.mo_coeff
                    self.assertEqual(density.shape, (2, C.shape[0], C.shape[0]))
                    self.assert_close(density.sum(axis=0), (C * ours.mo_occ) @ C.T, 1e-5)
                    self.assert_close(ours.dip_moment(), theirs.dip_moment(verbose=0), 1e-4)
                    self.assertAlmostEqual(ours.mulliken_spins().sum(), mol.spin, delta=1e-8)
                    self.assertAlmostEqual(ours.mulliken_charges().sum(), charge, delta=1e-8)
                    again = ours.to_pyscf()
                    self.assertAlmostEqual(again.energy_tot(again.make_rdm1()), ours.e_tot, delta=1e-8)
                    self.assert_close(again.get_fock(dm=density), ours.get_fock(), 1e-6)
                    self.assert_close(C.T @ ours.get_fock() @ C, np.diag(ours.mo_energy), 1e-4)
                    self.assertAlmostEqual(fmo.ROHF(mol).kernel(density), ours.e_tot, delta=1e-8)

    def test_rohf_above_virtual(self):
        """An open orbital above a virtual one has a place in the order of energies, as in PySCF."""
        mol = fmo.Molecule(["O", "Be"], [[0, 0, 0], [0, 0, 6]], -1, 2, "6-31g")
        ours = fmo.ROHF(mol).run(conv_tol=1e-11, conv_tol_grad=1e-7)
        theirs = scf.ROHF(mol.to_pyscf()).run(conv_tol=1e-12, conv_tol_grad=1e-7)
        self.assertTrue((np.diff(ours.mo_energy) >= 0).all())
        self.assertTrue((np.diff(ours.mo_occ) > 0).any(), ours.mo_occ)
        self.assertEqual(ours.mo_occ.tolist(), np.asarray(theirs.mo_occ).tolist())
        self.assertAlmostEqual(ours.e_tot, theirs.e_tot, delta=1e-8)

    def test_broken_symmetry(self):
        mol = fmo.Molecule(["H", "H"], [[0, 0, 0], [0, 0, 3.0]], basis="6-31g")
        mf = fmo.UHF(mol)
        mf.guess_mix = True
        self.assertLess(mf.kernel(), fmo.RHF(mol).kernel() - 0.1)
        self.assertGreater(mf.spin_square()[0], 0.9)
        self.assertAlmostEqual(fmo.UHF(mol).kernel(), fmo.RHF(mol).kernel(), delta=1e-8)

    def test_batch(self):
        mols = [fmo.Molecule(*one, "6-31g") for one in self.MOLECULES.values()]
        done = fmo.scf_batch(mols, mode="cpu", conv_tol=1e-10)
        for mol, mf in zip(mols, done):
            self.assertIs(type(mf), fmo.UHF if mol.spin else fmo.RHF)
            alone = type(mf)(mol, mode="cpu").run(conv_tol=1e-10)
            self.assertAlmostEqual(mf.e_tot, alone.e_tot, delta=1e-9)
        for mol, mf in zip(mols, fmo.scf_batch(mols, method="rohf", mode="cpu", conv_tol=1e-10)):
            self.assertIs(type(mf), fmo.ROHF if mol.spin else fmo.RHF)
            self.assertAlmostEqual(mf.e_tot, fmo.ROHF(mol, mode="cpu").run(conv_tol=1e-10).e_tot, delta=1e-9)
        self.assertRaisesRegex(fmo.InputError, "method = 'RHF': expected one of uhf, rohf", fmo.scf_batch, mols, method="RHF")

    def test_gradient(self):
        mol = fmo.Molecule(["O", "H"], [[0, 0, 0], [0, 0, 1.0]], 0, 2, "sto-3g")
        for method in (fmo.UHF, fmo.ROHF):
            gradient = method(mol).run(conv_tol=1e-11).numerical_gradient()
            self.assert_close(gradient.sum(axis=0), np.zeros(3), 1e-6)
            self.assertGreater(abs(gradient[0, 2]), 1e-3)

    def test_second_order(self):
        """ROHF by Newton steps, and followed from a saddle point of stretched O2, alone and in a batch."""
        mol = fmo.Molecule(["O", "O"], [[0, 0, 0], [0, 0, 2.0]], 0, 3, "6-31g")
        first = fmo.ROHF(mol).run(conv_tol=1e-10)
        newton = fmo.ROHF(mol).run(conv_tol=1e-10, solver="newton", stability="check")
        self.assertAlmostEqual(newton.e_tot, first.e_tot, delta=1e-9)
        self.assertLess(newton.hessian_lowest, -0.01)
        lower = fmo.ROHF(mol).run(conv_tol=1e-10, stability="follow")
        self.assertLess(lower.e_tot, first.e_tot - 0.1)
        self.assertGreater(lower.hessian_lowest, -1e-5)
        for mf in fmo.scf_batch([mol, mol], method="rohf", conv_tol=1e-10, solver="newton", stability="follow"):
            self.assertAlmostEqual(mf.e_tot, lower.e_tot, delta=1e-8)

    def test_refused(self):
        radical = fmo.Molecule(["O", "H"], [[0, 0, 0], [0, 0, 1.0]], 0, 2, "sto-3g")
        self.assertRaisesRegex(fmo.UnsupportedError, "fmo.UHF", fmo.RHF, radical)
        self.assertRaisesRegex(fmo.UnsupportedError, "multiplicity 2", fmo.FMO2, radical, fragments=[[0], [1]])
        self.assertRaisesRegex(fmo.InputError, r"expected \[2, nao, nao\]", fmo.UHF(radical).kernel, np.zeros((3, 6, 6)))
        mf = fmo.UHF(radical)
        mf.projector = np.eye(6)
        self.assertRaisesRegex(fmo.UnsupportedError, "projector", mf.kernel)


if __name__ == "__main__":
    main()
