"""Forces in use: a batch of random geometries, rotations, and energies along a trajectory, by the functions of
docs/results/forces.py, which has the long runs. Started as module.py is.
"""

import os
import sys

# first: it may start another Python
from helpers import SOURCE, Case, main

import numpy as np

import fmo

sys.path.insert(0, os.path.join(SOURCE, "docs", "results"))
import forces  # pylint: disable=wrong-import-position


class Dynamics(Case):
    def test_random_geometries(self):
        """One call of 40 closed and open shells gives the energies and gradients of single runs."""
        energy, gradient, _ = forces.batch(40)
        self.assertLess(energy, 1e-9)
        self.assertLess(gradient, 1e-8)

    def test_rotations(self):
        """The gradient of a turned molecule is the turned gradient, with Cartesian and spherical d functions."""
        random = np.random.default_rng(3)
        turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
        for basis, functions in (("6-31g*", "cartesian"), ("cc-pvdz", "spherical")):
            mol = fmo.Molecule(["O", "H", "H"], random.standard_normal((3, 3)), basis=basis, functions=functions)
            made = [fmo.RHF(one).run(conv_tol=1e-11, conv_tol_grad=1e-9, with_forces=True).gradient
                    for one in (mol, mol.with_positions(mol.positions @ turn))]
            self.assert_close(made[1], made[0] @ turn, 1e-8, functions)

    def test_energy_is_kept(self):
        """Along 20 steps of a water dimer, and of NH2 with UHF, to 1e-6 hartree, where the potential changes by 1e-4."""
        dimer = "O 0 0 0\nH 0.95 0 0\nH -0.2 0.95 0\nO 2.9 0.1 0.2\nH 3.4 0.8 -0.2\nH 3.3 -0.7 0"
        for mol in (forces.molecule(dimer, "sto-3g"), forces.molecule(forces.MINIMA["NH2"][2], "6-31g*", 2)):
            made = forces.dynamics(mol, 20)
            self.assertLess(np.ptp(made[:, 1]), 1e-6)
            self.assertGreater(np.ptp(made[:, 0]), 1e-4)

    def test_peers(self):
        """Rows without GPU4PySCF, and with PySCF's module in its place, which has the same names."""
        from pyscf import scf
        row = forces.peers("water001", "6-31g*", 1, None, True).split()
        self.assertEqual((row[:3], row[4:6]), (["water001", "6-31g*", "19"], ["-", "-"]))
        self.assertLess(float(row[7]), 1e-7)
        row = forces.peers("water001", "sto-3g", 1, scf, False).split()
        self.assertGreater(float(row[4]), 0.0)
        self.assertLess(float(row[5]), 1e-7)
        self.assertEqual(row[6:], ["-", "-"])


if __name__ == "__main__":
    main()
