"""Gradients of fmo.RHF, fmo.UHF and fmo.ROHF against PySCF's, and what they are used for. Started as module.py is.
"""

import logging

# first: it may start another Python
from helpers import WATER, Case, densities, main, molecule, needs

import numpy as np
from pyscf import gto, scf

import fmo

# name of MOLECULES, Cartesian, other arguments of gto.M
CASES = (("water", False, {}), ("d functions", True, {}), ("d functions", False, {}), ("third row", False, {}),
         ("general contraction", False, {}), ("general contraction with d", False, {}),
         ("general contraction with d", True, {}), ("g functions", False, {}), ("g functions", True, {}), ("fourth row", False, {}), ("correlation consistent", False, {}),
         ("uncontracted", False, {}), ("ghost atom", False, {}), ("water far from the origin", False, {}),
         ("water", False, {"atom": "O 0.1 0 0; H 0 0.3 0.94", "charge": -1, "basis": "6-31++g"}),
         ("water", False, {"atom": "N 0 0.1 0; H 0.3 0.3 0.9; H -0.7 0.6 -0.2", "spin": 1, "basis": "def2-svp"}))


def tight(mf, dm0=None):
    mf.conv_tol, mf.conv_tol_grad = 1e-11, 1e-8
    mf.kernel(dm0)
    return mf


def theirs(mol, restricted=False):
    """PySCF's SCF, RHF, UHF or ROHF, converged tightly."""
    mf = scf.UHF(mol) if mol.spin and not restricted else scf.ROHF(mol) if mol.spin else scf.RHF(mol)
    mf.conv_tol, mf.conv_tol_grad, mf.verbose = 1e-13, 1e-8, 0
    return mf.run()


class Gradients(Case):
    def test_against_pyscf(self):
        """RHF and UHF with s, p and d shells, Cartesian and spherical, of PySCF's state; their sums."""
        for name, cart, changes in CASES:
            with self.subTest(name, cart=cart, **changes):
                mol = molecule(name, cart, **changes)
                expected = theirs(mol)
                mf = tight((fmo.UHF if mol.spin else fmo.RHF)(mol), expected.make_rdm1())
                self.assertAlmostEqual(mf.e_tot, expected.e_tot, delta=1e-9)
                gradient = mf.nuc_grad_method().kernel()
                self.assert_close(gradient, expected.nuc_grad_method().kernel(), 1e-7)
                self.assertLess(np.abs(gradient.sum(axis=0)).max(), 1e-10)
                coords = mol.atom_coords() - mol.atom_coords().mean(axis=0)
                self.assertLess(np.abs(np.cross(coords, gradient).sum(axis=0)).max(), 2e-8)

    def test_restricted_open_shell(self):
        """ROHF, whose W is that of both spins' Fock matrices."""
        mol = molecule("water", atom="N 0 0.1 0; H 0.3 0.3 0.9; H -0.7 0.6 -0.2", spin=1, basis="6-31g*")
        expected = theirs(mol, True)
        mf = tight(fmo.ROHF(mol), expected.make_rdm1())
        self.assertAlmostEqual(mf.e_tot, expected.e_tot, delta=1e-9)
        self.assert_close(mf.nuc_grad_method().kernel(), expected.nuc_grad_method().kernel(), 1e-7)
        requested, = fmo.scf_batch([mol], method="rohf", forces=True, conv_tol=1e-11, conv_tol_grad=1e-8)
        self.assert_close(requested.gradient, mf.gradient, 1e-7)

    def test_dropped_functions(self):
        """Where an eigenvector of the overlap is dropped: the same with and without with_forces, and differences."""
        functions = [[0, [3.4, .15], [.62, .53], [.17, .44]], [0, [.3, 1.]], [0, [.0017, 1.]], [1, [.0034, 1.]]]
        places = "H 0 0 0; H 1.5 0 .1; H .1 1.7 0; H 1.6 1.8 .3; H .8 .9 1.4; H .7 .8 -1.5"
        mol = gto.M(atom=places, basis={"H": functions}, unit="bohr", verbose=0)
        mf = fmo.RHF(mol).run(with_forces=True, conv_tol=1e-10, conv_tol_grad=1e-7)
        self.assertEqual(mf.mo_coeff.shape, (36, 35))
        later = fmo.RHF(mol).run(conv_tol=1e-10, conv_tol_grad=1e-7)
        self.assert_close(later.nuc_grad_method().kernel(), mf.gradient, 2e-6)
        self.assert_close(mf.numerical_gradient(), mf.gradient, 2e-6)

    def test_names(self):
        """PySCF's names, the forces, and the gradient that kernel() computes on request."""
        mol = fmo.Molecule(["O", "H"], [[0, 0, 0], [0, 0, 1.0]], 0, 2, "6-31g")
        mf = tight(fmo.UHF(mol))
        self.assertIsNone(mf.gradient)
        method = mf.Gradients()
        self.assertIsNone(method.de)
        gradient = method.kernel()
        self.assertIs(method.base, mf)
        self.assert_close(method.de, gradient, 0.0)
        self.assert_close(mf.forces(), -gradient, 0.0)
        self.assert_close(mf.nuc_grad_method().run().de, gradient, 0.0)
        self.assert_close(method.grad([1]), gradient[1:], 0.0)
        requested = fmo.UHF(mol).run(with_forces=True)
        self.assert_close(requested.gradient, gradient, 2e-6)
        self.assert_close(requested.numerical_gradient(), gradient, 1e-6)
        self.assert_close(fmo.UHF(mol).nuc_grad_method().kernel(), gradient, 1e-4)  # runs the SCF

    def test_terms(self):
        """Plan.gradient of several densities with weights and operators, and what it refuses."""
        mol = molecule("water")
        spins = densities(mol.nao, 2)
        method = scf.UHF(mol).nuc_grad_method()
        coulomb = sum(method.get_j(mol, spins))
        exchange = 0.2 * method.get_k(mol, spins) + 0.5 * method.get_k(mol, spins, omega=0.4)
        expected = [2 * np.einsum("xij,sij->x", coulomb[:, p0:p1], spins[:, p0:p1]) -
                2 * np.einsum("sxij,sij->x", exchange[:, :, p0:p1], spins[:, p0:p1])
                for _, _, p0, p1 in mol.aoslice_by_atom()]
        term = fmo.GradientTerm
        terms = [term(spins[0] + spins[1], 1.0, 0.0),
                 *(term(one, 0.0, 2.0, exchange_operator=(0.2, 0.5, 0.4)) for one in spins)]
        plan = fmo.Plan(mol, mode="cpu")
        self.assert_close(plan.gradient(terms), expected, 1e-8)
        for wrong, words in (([], "term_num = 0"), ([term(spins)], r"terms\[0\].density: expected a real matrix"),
                             ([term(spins[0] + 1j)], "complex"), ([term(np.triu(spins[0]))], "a symmetric density"),
                             ([term(spins[0], float("nan"))], "weights"), ([term(np.nan * spins[0])], "finite")):
            self.assertRaisesRegex(fmo.InputError, words, plan.gradient, wrong)
        self.assertRaises(fmo.UnsupportedError, fmo.Plan(mol, mode="reference").gradient, terms)

    def test_point_charges(self):
        """Energies and gradients in the field of point charges, on these too, against PySCF and by differences."""
        from pyscf import qmmm
        mol = molecule("water", charge=1, spin=1)
        charges, coords = [0.4, -0.7], np.array([[0.0, 1.0, 5.0], [3.5, -3.0, 0.5]])
        expected = qmmm.mm_charge(scf.UHF(mol), coords, charges, unit="Bohr").run(conv_tol=1e-13, conv_tol_grad=1e-8)
        mf = fmo.UHF(mol)
        mf.charges, mf.charge_coords = charges, coords
        mf = tight(mf, expected.make_rdm1())
        self.assertAlmostEqual(mf.e_tot, expected.e_tot, delta=1e-9)
        gradient = mf.nuc_grad_method().kernel()
        self.assert_close(gradient, expected.nuc_grad_method().kernel(), 1e-7)
        self.assert_close(mf.numerical_gradient(), gradient, 1e-6)
        self.assert_close(mf.to_pyscf().nuc_grad_method().kernel(), gradient, 1e-6)
        self.assertLess(np.abs(gradient.sum(axis=0) + mf.charge_gradient.sum(axis=0)).max(), 1e-9)
        energies = []
        for step in (-1e-3, 1e-3):
            moved = fmo.UHF(mol)
            moved.charges, moved.charge_coords = charges, coords + [[0, 0, step], [0, 0, 0]]
            energies.append(tight(moved, expected.make_rdm1()).e_tot)
        self.assertAlmostEqual(mf.charge_gradient[0, 2], (energies[1] - energies[0]) / 2e-3, delta=1e-7)
        requested = fmo.UHF(mol).run(charges=charges, charge_coords=coords, with_forces=True)
        self.assert_close(requested.charge_gradient, mf.charge_gradient, 1e-6)
        mf.charge_coords = mol.atom_coords()[:2]
        self.assertRaisesRegex(fmo.InputError, "charge on a nucleus", mf.kernel)
        mf.charge_coords = coords[:1]
        self.assertRaisesRegex(fmo.InputError, r"expected \[n\] and \[n, 3\]", mf.kernel)

    def test_batch(self):
        mols = [fmo.Molecule(["O", "H"], [[0, 0, 0], [0, 0, 1.0]], 0, 2, "6-31g"),
                fmo.Molecule(["O", "H", "H"], [[0, 0, 0.117], [0, 0.757, -0.469], [0, -0.757, -0.469]], basis="6-31g*")]
        for mol, mf in zip(mols, fmo.scf_batch(mols, forces=True, conv_tol=1e-11, conv_tol_grad=1e-8)):
            self.assert_close(mf.gradient, tight(type(mf)(mol)).nuc_grad_method().kernel(), 1e-8)
        self.assertTrue(all(mf.gradient is None for mf in fmo.scf_batch(mols)))
        done, = fmo.rhf_batch(mols[1:], forces=True)
        self.assertEqual(done.gradient.shape, (3, 3))

    def test_refused(self):
        """No gradient without convergence, of matrices whose derivative is not known, and of effective cores."""
        mf = fmo.RHF(molecule("water"))
        mf.max_cycle = 2
        mf.kernel()
        self.assertRaises(fmo.ConvergenceError, mf.nuc_grad_method().kernel)
        mf = fmo.RHF(molecule("water"))
        mf.field = np.eye(13)
        mf.kernel()
        self.assertRaisesRegex(fmo.UnsupportedError, "forces with a field", mf.forces)
        core = fmo.RHF(molecule("effective core")).run()
        self.assertRaisesRegex(fmo.UnsupportedError, "core Hamiltonian", core.forces)


class Scanners(Case):
    """Energies and gradients as functions of the geometry, and PySCF's optimiser."""

    def test_calls(self):
        """A scanner takes molecules and geometries, and starts with the last density where it fits."""
        mol = fmo.Molecule(["O", "H"], [[0, 0, 0], [0, 0, 1.0]], 0, 2, "6-31g")
        moved = mol.with_positions([[0, 0, 0], [0, 0.1, 1.0]])
        mf = fmo.UHF(mol)
        scanner, energies = mf.nuc_grad_method().as_scanner(), mf.as_scanner()
        for given, where in ((mol, mol), (moved, moved), (mol.positions, mol), (moved.to_pyscf(), moved)):
            expected = fmo.UHF(where).run(with_forces=True)
            energy, gradient = scanner(given)
            self.assertAlmostEqual(energy, expected.e_tot, delta=1e-8)
            self.assertAlmostEqual(energies(given), expected.e_tot, delta=1e-8)
            self.assert_close(gradient, expected.gradient, 3e-6)
            self.assert_close(scanner.de, gradient, 0)
        scanner(moved)
        self.assertLess(scanner.base.cycles, expected.cycles)
        self.assertTrue(scanner.converged and np.isnan(mf.e_tot))
        scanner.atmlst = [1]
        self.assertEqual(scanner(mol)[1].shape, (1, 3))
        water = fmo.Molecule(["O", "H", "H"], [[0, 0, 0.117], [0, 0.757, -0.469], [0, -0.757, -0.469]], 1, 2, "6-31g")
        scanner.atmlst = None
        self.assertAlmostEqual(scanner(water)[0], fmo.UHF(water).kernel(), delta=1e-8)
        scanner.base.max_cycle = 1
        self.assertRaises(fmo.ConvergenceError, scanner, mol)
        mf.field = np.eye(mol.nao)
        self.assertRaisesRegex(fmo.InputError, "depend on the geometry", mf.as_scanner)

    @needs("geometric")
    def test_optimiser_of_pyscf(self):
        """geometric_solver.optimize and optimizer() end in PySCF's minimum, for both kinds of molecules and a radical."""
        from pyscf.geomopt import geometric_solver
        logging.disable()  # geomeTRIC's
        self.addCleanup(logging.disable, logging.NOTSET)
        converged = dict(convergence_energy=1e-9, convergence_grms=1e-6, convergence_gmax=2e-6, convergence_drms=4e-6,
                         convergence_dmax=6e-6)
        for changes in ({"atom": WATER}, {"atom": "N 0 0.1 0; H 0.3 0.3 0.9; H -0.7 0.6 -0.2", "spin": 1}):
            mol = gto.M(**changes, basis="sto-3g", verbose=0)
            plain = (scf.UHF if mol.spin else scf.RHF)(mol).set(conv_tol=1e-12, conv_tol_grad=1e-7)
            expected = gto.inter_distance(geometric_solver.optimize(plain, **converged))
            ours = fmo.Molecule([mol.atom_symbol(i) for i in range(mol.natm)], mol.atom_coords(), 0, mol.spin + 1,
                                "sto-3g", "bohr")
            for each in (mol, ours):
                mf = (fmo.UHF if mol.spin else fmo.RHF)(each)
                mf.conv_tol, mf.conv_tol_grad = 1e-11, 1e-7
                self.assert_close(gto.inter_distance(geometric_solver.optimize(mf, **converged)), expected, 2e-5)
        optimizer = mf.Gradients().optimizer()
        optimizer.params = converged
        self.assert_close(gto.inter_distance(optimizer.kernel()), expected, 2e-5)
        self.assertRaises(fmo.InputError, mf.Gradients().optimizer, "bfgs")


class Optimised(Case):
    """Both end in the same minimum as PySCF's own gradients with the same optimiser."""

    def minimum(self, mol, calculator):
        from ase import Atoms
        from ase.optimize import BFGS
        atoms = Atoms([mol.atom_symbol(i) for i in range(mol.natm)], mol.atom_coords(unit="angstrom"),
                      magmoms=[mol.spin] + [0] * (mol.natm - 1))
        atoms.calc = calculator
        self.assertTrue(BFGS(atoms, logfile=None).run(fmax=1e-4, steps=60))
        return atoms.get_potential_energy(), atoms.get_all_distances()

    @needs("ase")
    def test_water_and_a_radical(self):
        from ase.calculators.calculator import Calculator, all_changes
        from ase.units import Bohr, Hartree
        from fmo.ase import FMO

        class Theirs(Calculator):
            """PySCF's energies and forces."""

            implemented_properties = ["energy", "forces"]

            def __init__(self, mol):
                super().__init__()
                self.mol = mol

            def calculate(self, atoms=None, properties=("energy",), system_changes=all_changes):
                super().calculate(atoms, properties, system_changes)
                mf = theirs(self.mol.set_geom_(self.atoms.positions, unit="angstrom", inplace=False))
                self.results = {"energy": mf.e_tot * Hartree,
                                "forces": -mf.nuc_grad_method().kernel() * Hartree / Bohr}

        for changes in ({"atom": WATER}, {"atom": "N 0 0.1 0; H 0.3 0.3 0.9; H -0.7 0.6 -0.2", "spin": 1}):
            mol = gto.M(**changes, basis="6-31g", verbose=0)
            ours = self.minimum(mol, FMO("hf", "6-31g", threads=2, scf={"conv_tol": 1e-11}))
            expected = self.minimum(mol, Theirs(mol))
            self.assertAlmostEqual(ours[0], expected[0], delta=1e-5)
            self.assert_close(ours[1], expected[1], 1e-4)


if __name__ == "__main__":
    main()
