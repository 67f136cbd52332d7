"""FMO2 of the Python module. Started as module.py is.
"""

import json
import logging
import os
import tempfile
import threading

# first: it may start another Python
from helpers import SOURCE, Case, main

import numpy as np

import fmo

FOLDER = os.path.join(SOURCE, "datasets", "fmo2")
WATER3 = os.path.join(FOLDER, "water3_sto-3g.json")


def water3():
    """The molecule of WATER3, in its length of a bohr."""
    with open(WATER3, encoding="utf-8") as file:
        data = json.load(file)
    return fmo.Molecule(data["symbols"], data["angstrom"], basis="sto-3g")


class Fragments(Case):
    def test_published_energy(self):
        """Of GAMESS and OpenFMO (datasets/fmo2/SOURCE.md), and everything else that the object tells."""
        mf = fmo.FMO2(WATER3)
        self.assertEqual(repr(mf), "<fmo.FMO2 of 3 fragments, 9 atoms, STO-3G: no result yet>")
        self.assertEqual((mf.natm, mf.fragment_names, mf.fragment_of.tolist(), mf.fragment_charges.tolist()),
                         (9, ["1", "2", "3"], [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 0, 0]))
        self.assertAlmostEqual(mf.kernel(), -224.91061241, delta=2e-8)
        self.assertEqual(repr(mf), "<fmo.FMO2 of 3 fragments, 9 atoms, STO-3G: E = -224.91061241 hartree>")
        self.assertEqual((mf.converged, mf.error, mf.notice, mf.nao), (True, None, None, 21))
        self.assertEqual([(pair["i"], pair["j"], pair["is_scf"]) for pair in mf.pairs], [(0, 1, 1), (0, 2, 1), (1, 2, 1)])
        self.assertAlmostEqual(mf.e_fmo1 + mf.pairs["total"].sum(), mf.e_tot, delta=1e-9)
        self.assert_close(mf.pairs["internal"] + mf.pairs["transfer"], mf.pairs["total"], 1e-12)
        self.assertEqual(mf.charges.shape, (9,))
        self.assertAlmostEqual(mf.charges.sum(), 0.0, delta=1e-8)

    def test_of_a_molecule(self):
        """All pairs of few fragments are the whole: RHF. Charged fragments and fragments out of order, too."""
        mol = water3()
        mf = fmo.FMO2(mol, fragments=[range(3), range(3, 9)])
        self.assertAlmostEqual(mf.kernel(), fmo.RHF(mol).kernel(), delta=1e-7)
        three = fmo.FMO2(mol, fragments=[[0, 1, 2], [3, 4, 5], [6, 7, 8]])
        self.assertAlmostEqual(three.kernel(), -224.91061241, delta=2e-6)  # with another length of a bohr
        turned = fmo.FMO2(mol, fragments=[[6, 7, 8], [3, 5, 4], [0, 1, 2]])
        self.assertAlmostEqual(turned.kernel(), three.e_tot, delta=1e-8)
        self.assertEqual(turned.fragment_of.tolist(), [2, 2, 2, 1, 1, 1, 0, 0, 0])
        self.assert_close(turned.charges, three.charges, 1e-6)
        ion = fmo.Molecule(["O", "H", "O", "H", "H"], [[0, 0, 0], [0, 0.9, 0.4], [0, 0, -2.6], [0, 0, -1.6], [0, 0.9, -3]],
                           charge=-1, basis="sto-3g")
        both = fmo.FMO2(ion, fragments=[[0, 1], [2, 3, 4]], fragment_charges=[-1, 0])
        self.assertAlmostEqual(both.kernel(), fmo.RHF(ion).kernel(), delta=1e-7)
        self.assertAlmostEqual(both.charges.sum(), -1.0, delta=1e-8)

    def test_cut_bond(self):
        """Ethane of the repository, cut between its carbons: as from its file."""
        path = os.path.join(FOLDER, "ethane_sto-3g.json")
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        mol = fmo.Molecule(data["symbols"], np.array(data["angstrom"]), basis="sto-3g")
        fragments = [[k for k, one in enumerate(data["fragment"]) if one == number] for number in (1, 2)]
        mf = fmo.FMO2(mol, fragments=fragments, bonds=[[a - 1, b - 1] for a, b in data["bonds"]])
        self.assertAlmostEqual(mf.kernel(), fmo.FMO2(path).kernel(), delta=1e-5)
        self.assertEqual(mf.pairs["is_bonded"].tolist(), [1])

    def test_pdb(self):
        mf = fmo.FMO2(os.path.join(FOLDER, "gly4.pdb"), basis="sto-3g")
        with self.assertLogs("fmo", logging.INFO) as log:
            mf.kernel()
        self.assertEqual(mf.fragment_names, ["ACE1-GLY2", "GLY3", "GLY4", "NME5"])
        self.assertEqual(sum("iteration" in line for line in log.output), mf.iterations)
        self.assertTrue(np.isnan(mf.pairs["electrostatic"]).any())  # of pairs with a cut bond

    def test_gradient(self):
        """Of two fragments it is that of RHF."""
        mol = fmo.Molecule(["He", "H", "H"], [[0, 0, 0], [0, 0, 2.4], [0, 0.3, 3.1]], basis="6-31g")
        mf = fmo.FMO2(mol, fragments=[[0], [1, 2]])
        self.assert_close(mf.numerical_gradient(progress=False), fmo.RHF(mol).numerical_gradient(), 1e-6)
        mf.max_iterations = 1
        self.assertRaises(fmo.ConvergenceError, mf.numerical_gradient, progress=False)
        with self.assertRaisesRegex(fmo.InputError, "made of an fmo.Molecule"):
            fmo.FMO2(WATER3).numerical_gradient()

    def test_state(self):
        with tempfile.TemporaryDirectory() as folder:
            mf = fmo.FMO2(WATER3)
            mf.state = os.path.join(folder, "state")
            mf.kernel()
            again = fmo.FMO2(WATER3)
            again.state, again.resume = mf.state, True
            self.assertAlmostEqual(again.kernel(), mf.e_tot, delta=1e-9)
            other = fmo.FMO2(WATER3, basis="6-31g")
            other.state, other.resume = mf.state, True
            self.assertRaisesRegex(fmo.InputError, "state", other.kernel)

    def test_no_convergence(self):
        mf = fmo.FMO2(WATER3)
        mf.max_iterations = 1
        self.assertRaises(fmo.ConvergenceError, mf.kernel)
        self.assertIsInstance(mf.error, fmo.ConvergenceError)
        self.assertTrue(np.isnan(mf.e_tot) and not mf.converged)
        self.assertIn("failed: ", repr(mf))

    def test_refused(self):
        """Wrong molecules, fragments, bonds and options are refused with their places."""
        mol = water3()
        whole = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
        cases = (
            (lambda: fmo.FMO2(mol), ValueError, r"a molecule needs fragments, as \[\[0, 1, 2\]"),
            (lambda: fmo.FMO2(mol, fragments=whole[:2]), ValueError, r"atom 6 \(O\) is in no fragment"),
            (lambda: fmo.FMO2(mol, fragments=[*whole, [0]]), ValueError, "atom 0 is in two fragments, 0 and 3"),
            (lambda: fmo.FMO2(mol, fragments=[[9]]), ValueError, r"fragments\[0\]: there is no atom 9"),
            (lambda: fmo.FMO2(mol, fragments=3), ValueError, "expected lists of atoms"),
            (lambda: fmo.FMO2(mol, fragments=[["a"]]), ValueError, "expected lists of atoms"),
            (lambda: fmo.FMO2(mol, fragments=whole, fragment_charges=[0, 1, 0]), ValueError, "with the sum 0"),
            (lambda: fmo.FMO2(mol, fragments=[[0], [1, 2], *whole[1:]], bonds=[(0, 5)]), ValueError, "fmo.FMO2"),
            (lambda: fmo.FMO2(mol, fragments=whole, bonds=[3]), ValueError, "bonds"),
            (lambda: fmo.FMO2(WATER3, fragments=whole), ValueError, "a file has its own"),
            (lambda: fmo.FMO2(os.path.join(FOLDER, "gly4.pdb")), ValueError, "the file names no basis set"),
            (lambda: fmo.FMO2("/nowhere.pdb", "sto-3g"), ValueError, "^/nowhere.pdb: cannot open it"),
            (lambda: fmo.FMO2(WATER3, "sto-3gg"), ValueError, "'sto-3gg' is not known"),
            (lambda: fmo.FMO2(WATER3, functions="d"), ValueError, "functions = 'd'"),
            (lambda: fmo.FMO2(3), TypeError, "expected a path or an fmo.Molecule, not int"),
            (lambda: fmo.FMO2(WATER3, treads=3), TypeError, "did you mean threads"),
            (lambda: setattr(fmo.FMO2(WATER3), "max_iteration", 3), AttributeError, "did you mean max_iterations"))
        for k, (call, kind, words) in enumerate(cases):
            with self.subTest(k), self.assertRaisesRegex(kind, words) as caught:
                call()
            self.assertIsInstance(caught.exception, fmo.Error)

    def test_from_threads(self):
        """Objects are independent of each other."""
        energies = []
        threads = [threading.Thread(target=lambda: energies.append(fmo.FMO2(WATER3).kernel())) for _ in range(3)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(len(energies), 3)
        self.assertLess(max(energies) - min(energies), 1e-9)


if __name__ == "__main__":
    main()
