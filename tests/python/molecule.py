"""Molecules without PySCF. Started as module.py is.
"""

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import warnings

# first: it may start another Python
from helpers import CASES, NUMBERS, PLACES, SOURCE, WATER, Case, densities, main, needs, ours

import numpy as np
from pyscf import gto, scf

import fmo

XYZ = os.path.join(SOURCE, "datasets", "xyz")


class Molecules(Case):
    def test_same_as_pyscf(self):
        """Functions, their order and norm, and with them matrices, are those of PySCF's sets of that name."""
        for text, charge in CASES:
            for basis, functions in (("sto-3g", "set"), ("6-31g", "set"), ("cc-pvdz", "spherical"),
                                     ("6-31g(d)", "cartesian"), ("def2-svp", "cartesian"), ("def2-svp", "set")):
                if "Br" in text and basis in ("6-31g", "6-31g(d)"):
                    continue  # other sources: datasets/basis/SOURCE.md
                with self.subTest(text[:8], basis=basis, functions=functions):
                    mol = ours(text, charge, basis=basis, functions=functions)
                    theirs = gto.M(atom=text, charge=charge, basis=basis, cart=mol.cart, verbose=0)
                    self.assertEqual((mol.nao, mol.nelectron, mol.natm, mol.spin), (theirs.nao, theirs.nelectron,
                                                                                    theirs.natm, theirs.spin))
                    self.assertEqual(mol.cart, functions == "cartesian" or mol.nao == theirs.nao_cart())
                    self.assertAlmostEqual(mol.energy_nuc(), theirs.energy_nuc(), delta=1e-10)
                    self.assert_close(mol.atom_coords(), theirs.atom_coords(), 1e-12)
                    self.assert_close(mol.atom_charges(), theirs.atom_charges(), 0)
                    mf = fmo.RHF(mol).run(conv_tol=1e-10)
                    if (text, basis) != (CASES[1][0], "sto-3g"):  # whose file has the 4s shell before the 3s
                        self.assert_close(mf.get_ovlp(), theirs.intor("int1e_ovlp"), 1e-6)  # digits of coefficients
                    self.assertAlmostEqual(mf.e_tot, theirs.RHF().run(conv_tol=1e-11).e_tot, delta=1e-7)

    def test_to_pyscf(self):
        """Matrices and energies equal those of PySCF for the same molecule after to_pyscf."""
        for text, charge in CASES:
            for basis, functions in (("6-31g*", "set"), ("6-31g*", "spherical"), ("cc-pvdz", "set")):
                with self.subTest(text[:8], basis=basis, functions=functions):
                    mol = ours(text, charge, basis=basis, functions=functions)
                    theirs = mol.to_pyscf()
                    mf = fmo.RHF(mol).run()
                    self.assert_close(mf.get_ovlp(), theirs.intor("int1e_ovlp"), 1e-12)
                    self.assert_close(mf.get_hcore(), scf.hf.get_hcore(theirs), 1e-9)
                    dm = densities(mol.nao, 2)
                    for one, other in zip(fmo.get_jk(mol, dm), scf.hf.get_jk(theirs, dm)):
                        self.assert_close(one, other, 1e-7)
                    for options in ({"omega": 0.3}, {"hermi": 0}):
                        for one, other in zip(fmo.get_jk(mol, dm, **options), scf.hf.get_jk(theirs, dm, **options)):
                            self.assert_close(one, other, 1e-7)
                    again = mf.to_pyscf()
                    self.assertAlmostEqual(again.energy_tot(mf.make_rdm1()), mf.e_tot, delta=1e-8)

    def test_units_and_kinds_of_numbers(self):
        first = fmo.Molecule(NUMBERS, PLACES)
        bohr = np.array(PLACES) / 0.52917721092
        for numbers in (["O", "H", "H"], ("o", "h", 1), np.array(NUMBERS), [8.0, 1, 1], NUMBERS):
            for mol in (fmo.Molecule(numbers, PLACES), fmo.Molecule(numbers, bohr, unit="Bohr"),
                        first.with_positions(PLACES), first.with_positions(bohr, "bohr")):
                self.assert_close(mol.positions, PLACES, 1e-12)
                self.assertEqual((mol.symbols, mol.formula, mol.charge), (("O", "H", "H"), "H2O", 0))
        self.assert_close(first.atom_coords("angstrom"), PLACES, 1e-12)

    def test_g_shells_of_files(self):
        """A basis set with g shells and an SPDFG shell in the formats of NWChem, Gaussian and Psi4."""
        five = [[l, [0.9, 1.0]] for l in range(5)]
        bases = {"H": [*gto.basis.load("sto-3g", "H"), *five], "F": gto.basis.load("cc-pvqz", "F")}
        gaussian, nwchem = [], []
        for symbol, shells in bases.items():
            gaussian.append(f"{symbol} 0")
            for l, *rows in shells[:-5 if symbol == "H" else None]:
                nwchem += [f"{symbol} {'spdfg'[l]}", *(" ".join(map(repr, row)) for row in rows)]
                for c in range(1, len(rows[0])):
                    gaussian += [f"{'SPDFG'[l]} {len(rows)} 1.00", *(f"{row[0]!r} {row[c]!r}" for row in rows)]
            if symbol == "H":
                gaussian += ["SPDFG 1 1.00", "0.9 1 1 1 1 1"]
                nwchem += [line for l in range(5) for line in (f"H {'spdfg'[l]}", "0.9 1.0")]
            gaussian.append("****")
        files = {"qz.nw": ["BASIS {}", *nwchem, "END"], "qz.gbs": ["{}", *gaussian], "plain.gbs": gaussian}
        with tempfile.TemporaryDirectory() as folder:
            for name, lines in files.items():
                for form in ("spherical", "cartesian") if "qz" in name else ("spherical",):
                    path = os.path.join(folder, name)
                    with open(path, "w", encoding="ascii") as file:
                        file.write("\n".join(lines).format(form) + "\n")
                    with self.subTest(name, form=form):
                        expected = gto.M(atom="F 0 0 0; H 0.1 0.2 0.9", basis=bases, cart=form == "cartesian", verbose=0)
                        mol = fmo.Molecule(["F", "H"], [[0, 0, 0], [0.1, 0.2, 0.9]], basis=path)
                        self.assertEqual((mol.nao, mol.cart), (expected.nao, bool(expected.cart)))
                        mf = fmo.RHF(mol).run(max_cycle=1)
                        core = [np.sort(np.linalg.eigvals(np.linalg.solve(*pair)).real) for pair in (
                            (mf.get_ovlp(), mf.get_hcore()), (expected.intor("int1e_ovlp"), scf.hf.get_hcore(expected)))]
                        self.assert_close(*core, 1e-7)

    def test_does_not_change(self):
        """A molecule has no attributes that can be set, and shares no arrays with the caller."""
        mol = fmo.Molecule(NUMBERS, PLACES)
        for name in ("charge", "numbers", "nao", "positions", "formula", "energy_nuc"):
            with self.assertRaisesRegex(fmo.UnknownAttributeError, f"{name} cannot be set: a molecule does not change"):
                setattr(mol, name, 1)
        with self.assertRaisesRegex(AttributeError, "no attribute 'charg'; did you mean charge?"):
            mol.charg = 1
        with self.assertRaises(ValueError):
            mol.numbers[0] = 1
        mol.positions[0] = 7  # a copy
        self.assert_close(mol.positions, PLACES, 1e-12)
        places = np.array(PLACES)
        other = fmo.Molecule(NUMBERS, places)
        places[:] = 0
        self.assert_close(other.positions, PLACES, 1e-12)
        self.assertIs(copy.deepcopy(mol), mol)
        again = pickle.loads(pickle.dumps(ours(CASES[2][0], 1, basis="sto-3g")))
        self.assertEqual(repr(again), "<fmo.Molecule H4N, charge +1: 5 atoms, 10 electrons, sto-3g, 9 functions>")

    def test_repr(self):
        mol = fmo.Molecule(NUMBERS, PLACES)
        self.assertEqual(repr(mol), "<fmo.Molecule H2O: 3 atoms, 10 electrons, 6-31g*, 19 Cartesian functions>")
        self.assertIn("18 spherical functions", repr(fmo.Molecule(NUMBERS, PLACES, functions="spherical")))
        self.assertEqual(repr(fmo.Molecule(["He"], [[0, 0, 0]], basis="sto-3g")),
                         "<fmo.Molecule He: 1 atom, 2 electrons, sto-3g, 1 function>")
        self.assertEqual(repr(fmo.Plan(mol, mode="cpu")), "<fmo.Plan: 19 functions, mode cpu>")
        mf = fmo.RHF(mol)
        self.assertEqual(repr(mf), "<fmo.RHF of H2O, 6-31g*: no result yet>")
        mf.kernel()
        self.assertRegex(repr(mf), r"^<fmo.RHF of H2O, 6-31g\*: E = -76\.0105\d+ hartree, converged in \d+ cycles>$")
        mf.max_cycle = 1
        mf.kernel()
        self.assertIn("not converged in 1 cycles", repr(mf))
        self.assertEqual(repr(fmo.RHF(gto.M(atom=WATER, basis="sto-3g", verbose=0))),
                         "<fmo.RHF of 3 atoms, sto-3g: no result yet>")

    def test_refused(self):
        """Wrong atoms, positions, charges, multiplicities and basis sets are refused by name."""
        one = [[0.0, 0, 0]]
        cases = (
            (lambda: fmo.Molecule("H2O", PLACES), TypeError, "expected a list of atomic numbers or symbols"),
            (lambda: fmo.Molecule(8, PLACES), TypeError, "expected a list"),
            (lambda: fmo.Molecule(["Hee"], one), ValueError, "numbers\\[0\\] = 'Hee': no element .*; did you mean He?"),
            (lambda: fmo.Molecule([0], one), ValueError, r"numbers\[0\] = 0: expected 1 or more"),
            (lambda: fmo.Molecule([119], one), ValueError, r"numbers\[0\] = 119: expected at most 118"),
            (lambda: fmo.Molecule([1.5], one), ValueError, r"numbers\[0\] = 1.5: expected a whole number"),
            (lambda: fmo.Molecule([], []), ValueError, "at least one atom"),
            (lambda: fmo.Molecule(NUMBERS, one), ValueError, r"positions: shape \[1, 3\], expected \[3, 3\] for 3"),
            (lambda: fmo.Molecule(["He"], [["a", 0, 0]]), ValueError, "positions: expected numbers"),
            (lambda: fmo.Molecule(["He"], [[np.nan, 0, 0]]), ValueError, r"positions\[0\]: not finite"),
            (lambda: fmo.Molecule(["He"], one, unit="nm"), ValueError, "unit = 'nm': expected 'angstrom' or 'bohr'"),
            (lambda: fmo.Molecule(["He"], one, charge=0.5), ValueError, "charge = 0.5: expected a whole number"),
            (lambda: fmo.Molecule(["H"], one), ValueError, "1 electron with charge 0, an odd number"),
            (lambda: fmo.Molecule(["H", "H"], one * 2), ValueError, "H"),
            (lambda: fmo.Molecule(["He"], one, multiplicity=0), ValueError, "multiplicity = 0: expected 1 or more"),
            (lambda: fmo.Molecule(["He"], one, 0, 2), ValueError, "2 electrons with charge 0 cannot have multiplicity 2"),
            (lambda: fmo.RHF(fmo.Molecule(["He"], one, 0, 3)), NotImplementedError, "2 unpaired.*fmo.UHF"),
            (lambda: fmo.Molecule(["He"], one, basis="sto-3gg"), ValueError, "basis set 'sto-3gg' is not known; choose"),
            (lambda: fmo.Molecule(["He"], one, basis=3), TypeError, "basis: expected the name of a basis set"),
            (lambda: fmo.Molecule(["He"], one, basis="/nowhere.json"), ValueError, "/nowhere.json"),
            (lambda: fmo.Molecule(["He"], one, functions="d"), ValueError, "functions = 'd': expected one of set, cart"),
            (lambda: fmo.Molecule(["U"], one, charge=0), ValueError, "has no U"),
            (lambda: fmo.Molecule(["He"], one).atom_coords("nm"), ValueError, "unit = 'nm'"),
            (lambda: fmo.RHF({"symbols": []}), TypeError, "fmo.Molecule.from_qcschema makes one"),
            (lambda: fmo.RHF("water.xyz"), TypeError, "fmo.Molecule.from_xyz makes one of a file"),
            (lambda: fmo.get_jk(fmo.Molecule(["He"], one, basis="sto-3g"), 1j * np.eye(1)), NotImplementedError,
             "the density is complex; a molecule of PySCF"))
        for k, (call, kind, words) in enumerate(cases):
            with self.subTest(k), self.assertRaisesRegex(kind, words) as caught:
                call()
            self.assertIsInstance(caught.exception, fmo.Error)
            self.assertNotIn("\n", str(caught.exception))

    def test_basis_from_a_file_that_changes(self):
        source = os.path.join(SOURCE, "datasets", "basis")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "mine.json")
            sizes = []
            for name in ("sto-3g.json", "6-31g.json"):
                with open(os.path.join(source, name), encoding="utf-8") as given, open(path, "w", encoding="utf-8") as file:
                    file.write(given.read())
                os.utime(path, ns=(len(sizes), len(sizes)))
                sizes.append(fmo.Molecule(NUMBERS, PLACES, basis=path).nao)
        self.assertEqual(sizes, [7, 13])

    def test_batch(self):
        """Thousands are cheap to make; both kinds of molecules may be in one batch."""
        base = fmo.Molecule(NUMBERS, PLACES, basis="sto-3g")
        mols = [base.with_positions(np.array(PLACES) * scale) for scale in (0.95, 1.0, 1.05)]
        mols.insert(1, gto.M(atom=WATER, basis="sto-3g", verbose=0))
        done = fmo.rhf_batch(mols)
        self.assertAlmostEqual(done[1].e_tot, done[2].e_tot, delta=1e-7)
        for mol, mf in zip(mols, done):
            self.assertAlmostEqual(mf.e_tot, fmo.RHF(mol).kernel(), delta=1e-8)


class MoleculeFiles(Case):
    def test_xyz(self):
        path = os.path.join(XYZ, "water001.xyz")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for source in (path, pathlib.Path(path), text):
            mol = fmo.Molecule.from_xyz(source, basis="sto-3g")
            self.assertEqual((mol.formula, mol.charge, mol.basis), ("H2O", 0, "sto-3g"))
        for comment, given, charge in (("charge=-1", None, -1), ("", -1, -1), ("charge=1", -1, -1), ("-1 1", None, -1)):
            mol = fmo.Molecule.from_xyz(f"2\n{comment}\nO 0 0 0\nH 0 0 0.96\n", given)
            self.assertEqual((mol.charge, mol.nelectron), (charge, 10))
        again = fmo.Molecule.from_xyz(mol.to_xyz())
        self.assertEqual((again.charge, again.symbols), (-1, mol.symbols))
        self.assert_close(again.positions, mol.positions, 1e-12)
        two = fmo.Molecule.all_from_xyz(text + mol.to_xyz("-1 1"))
        self.assertEqual([one.formula for one in two], ["H2O", "HO"])

    def test_xyz_notice(self):
        """What the comment may mean and cannot be goes to the caller."""
        with self.assertWarnsRegex(fmo.InputWarning, "^fmo: text: .*1 1") as caught:
            self.assertEqual(fmo.Molecule.from_xyz("1\n1 1\nHe 0 0 0\n").charge, 0)
        self.assertEqual(caught.filename, __file__)

    def test_xyz_refused(self):
        """Wrong files and texts in .xyz format are refused with their places."""
        text = "1\nmultiplicity=3\nO 0 0 0\n"
        cases = ((lambda: fmo.Molecule.from_xyz("/nowhere.xyz"), fmo.InputError, "^/nowhere.xyz: cannot open it"),
                 (lambda: fmo.Molecule.from_xyz(7), fmo.InputTypeError, "expected a path, or text"),
                 (lambda: fmo.Molecule.from_xyz("1\n\nXx 0 0 0\n"), fmo.InputError, "^text: .*line 3.*Xx"),
                 (lambda: fmo.Molecule.from_xyz("1\n\nHe 0 0 0\n1\n\nHe 0 0 0\n"), fmo.InputError, "^text: 2 molecules: "
                  "fmo.Molecule.all_from_xyz"),
                 (lambda: fmo.Molecule.all_from_xyz("1\n\nHe 0 0 0\n1\n\nH 0 0 0\n"), fmo.InputError,
                  "^text: molecule 2: .*odd number"),
                 (lambda: fmo.Molecule.all_from_xyz("1\n\nHe 0 0 0\n1\ncharge=x\nHe 0 0 0\n"), fmo.InputError,
                  "^text: frame 2: line 5: charge= 'x': expected a whole"),
                 (lambda: fmo.Molecule.from_xyz("2\n\nHe 0 0 0\nGh(He) 0 0 2\n"), fmo.UnsupportedError,
                  "^text: .*no ghost atoms"),
                 (lambda: fmo.Molecule(["He"], [[0, 0, 0]]).to_xyz("a\nb"), fmo.InputError, "several lines"))
        for k, (call, kind, words) in enumerate(cases):
            with self.subTest(k):
                with self.assertRaises(kind) as caught:
                    call()
                self.assertRegex(caught.exception.message, words)
        self.assertEqual(fmo.Molecule.from_xyz(text, multiplicity=1).nelectron, 8)
        self.assertEqual(fmo.Molecule.from_xyz(text).spin, 2)

    def test_xyz_of_bad_frames(self):
        """What errors says becomes of bad frames; an argument that no frame can have is raised in any case."""
        good = "1\n\nHe 0 0 0\n"
        text = good + "1\n\nXx 0 0 0\n" + "1\n\nHe nan 0 0\n" + "2\n\nHe 0 0 0\nHe 0 0 0\n" + "1\n\nH 0 0 0\n" + good
        self.assertRaisesRegex(fmo.InputError, "line 6: 'Xx'", fmo.Molecule.all_from_xyz, text)
        with self.assertWarnsRegex(fmo.InputWarning, "^fmo: text: 4 of 6 molecules skipped, the first: .*'Xx'") as caught:
            found = fmo.Molecule.all_from_xyz(text, errors="skip")
        self.assertEqual(([one.formula for one in found], caught.filename, len(caught.warnings)), (["He"] * 2, __file__, 1))
        found = fmo.Molecule.all_from_xyz(text, errors="return")
        self.assertEqual([type(one) for one in found], [fmo.Molecule] + [fmo.InputError] * 4 + [fmo.Molecule])
        for one, words in zip(found[1:5], ("line 6: 'Xx'", "line 9: x = 'nan'", "line 13: He is at the place",
                                           "molecule 5: .*odd")):
            self.assertRegex(one.message, words)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(len(fmo.Molecule.all_from_xyz(good * 3, errors="skip")), 3)
        for options, words in (({"basis": "sto-3gg"}, "^basis set 'sto-3gg' is not known"), ({"charge": "x"}, "^charge = 'x'"),
                               ({"multiplicity": 0}, "^multiplicity = 0"), ({"functions": "x"}, "^functions = 'x'"),
                               ({"errors": "ignore"}, "^errors = 'ignore': expected one of raise, skip, return")):
            with self.subTest(options), self.assertRaisesRegex(fmo.InputError, words):
                fmo.Molecule.all_from_xyz(good, **{"errors": "skip", **options})
        self.assertRaisesRegex(fmo.InputError, "cannot open it", fmo.Molecule.all_from_xyz, "/nowhere.xyz", errors="skip")

    @needs("ase")
    def test_ase(self):
        """Molecules are converted from and to ase.Atoms, with charges and moments; others are refused."""
        from ase import Atoms
        from ase.build import molecule as build
        atoms = build("H2O")
        mol = fmo.Molecule.from_ase(atoms, basis="sto-3g")
        self.assert_close(mol.positions, atoms.positions, 1e-12)
        self.assertEqual(mol.to_ase(), Atoms("OHH", atoms.positions))
        atoms = Atoms("OH", [[0, 0, 0], [0, 0, 0.96]])
        self.assertEqual(fmo.Molecule.from_ase(atoms, -1).charge, -1)
        atoms.set_initial_charges([-1.2, 0.2])
        self.assertEqual(fmo.Molecule.from_ase(atoms).charge, -1)
        atoms.set_initial_charges([-1.2, 0.5])
        self.assertRaisesRegex(fmo.InputError, "initial charges is -0.7: give charge", fmo.Molecule.from_ase, atoms)
        atoms.set_initial_charges([-1.2, 0.2])
        atoms.set_initial_magnetic_moments([1.5, 0.5])
        self.assertEqual(fmo.Molecule.from_ase(atoms).multiplicity, 3)
        self.assertEqual(fmo.Molecule.from_ase(atoms, multiplicity=1).charge, -1)
        atoms.pbc = True
        self.assertRaisesRegex(fmo.UnsupportedError, "periodic", fmo.Molecule.from_ase, atoms)
        self.assertRaisesRegex(fmo.InputTypeError, "expected ase.Atoms, not int", fmo.Molecule.from_ase, 3)
        self.assertRaisesRegex(fmo.InputTypeError, "fmo.Molecule.from_ase", fmo.RHF, atoms)

    def test_qcschema(self):
        """Molecules are read from all forms of QCSchema; wrong ones are refused by field."""
        molecule = {"symbols": ["O", "H"], "geometry": np.array([0, 0, 0, 0, 0, 1.8]), "molecular_charge": -1.0}
        mol = fmo.Molecule.from_qcschema(molecule)
        self.assertEqual((mol.charge, mol.basis), (-1, "6-31g*"))
        self.assert_close(mol.atom_coords(), [[0, 0, 0], [0, 0, 1.8]], 1e-12)
        specification = {"molecule": molecule, "driver": "energy", "model": {"method": "hf", "basis": "sto-3g"}}
        self.assertEqual(fmo.Molecule.from_qcschema(specification).basis, "sto-3g")
        self.assertEqual(fmo.Molecule.from_qcschema(specification, "6-31g").basis, "6-31g")
        later = {"molecule": molecule, "specification": {"driver": "energy", "model": {"basis": "sto-3g"}}}
        self.assertEqual(fmo.Molecule.from_qcschema(later).basis, "sto-3g")
        for change, kind, words in (({"geometry": [0, 0]}, fmo.InputError, "geometry has 2 numbers, expected 6"),
                                    ({"real": [True, False]}, fmo.UnsupportedError, "ghost atoms"),
                                    ({"molecular_multiplicity": 2}, fmo.InputError, "cannot have multiplicity 2"),
                                    ({"symbols": ["O", "Hx"]}, fmo.InputError, "'Hx'")):
            self.assertRaisesRegex(kind, words, fmo.Molecule.from_qcschema, {**molecule, **change})
        self.assertRaisesRegex(fmo.InputError, "no field 'symbols'", fmo.Molecule.from_qcschema, {})
        self.assertRaisesRegex(fmo.InputTypeError, "not int", fmo.Molecule.from_qcschema, 3)

    @needs("qcelemental")
    def test_qcelemental(self):
        import qcelemental
        model = qcelemental.models.Molecule.from_data("0 1\nO 0 0 0\nH 0 0 0.96\nH 0 0.93 -0.24")
        mol = fmo.Molecule.from_qcschema(model)
        self.assertEqual(mol.formula, "H2O")
        self.assert_close(mol.atom_coords(), np.asarray(model.geometry), 1e-12)


# Imports of the optional packages fail here.
ALONE = """
import sys
for name in ("pyscf", "ase", "qcelemental", "qcengine", "scipy", "tqdm", "cupy", "geometric"):
    sys.modules[name] = None
import numpy as np
import fmo
mol = fmo.Molecule(["O", "H", "H"], [[0, 0, 0.117], [0, 0.757, -0.469], [0, -0.757, -0.469]], basis="sto-3g")
mf = fmo.RHF(mol).run()
assert mf.converged, mf
vj, vk = fmo.get_jk(mol, mf.make_rdm1())
assert abs(np.einsum("ij,ij", mf.make_rdm1(), mf.get_hcore() + 0.5 * vj - 0.25 * vk) + mol.energy_nuc() - mf.e_tot) < 1e-7
mf.dip_moment(), mf.mulliken_charges(), mf.numerical_gradient()
fmo.rhf_batch([mol] * 3)
assert fmo.FMO2(mol, fragments=[[0, 1, 2]]).kernel()
import fmo.qcschema
answer = fmo.qcschema.run({"molecule": {"symbols": ["He"], "geometry": [0, 0, 0]}, "driver": "energy",
                           "model": {"method": "hf", "basis": "sto-3g"}}, raise_error=True)
assert answer["success"], answer
for call, package in ((mol.to_pyscf, "pyscf"), (mol.to_ase, "ase"), (mf.to_pyscf, "pyscf"),
                      (fmo.qcschema.register, "qcengine"), (lambda: fmo.ase, "ase"),
                      (lambda: fmo.rhf_batch([mol], progress=True), "tqdm")):
    try:
        call()
    except ImportError as reason:
        assert str(reason) == f"fmo needs {package} for this: pip install {package}", reason
    else:
        raise AssertionError(package)
print("alone")
"""


class Alone(Case):
    def test_numpy_is_enough(self):
        done = subprocess.run([sys.executable, "-c", ALONE], text=True, check=False, env=os.environ,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout), (0, "alone\n"), done.stderr)

    def test_imports_are_late(self):
        """import fmo imports none of the optional packages, even where they are installed."""
        code = ("import sys, fmo\nprint(sorted(set(sys.modules) & {'pyscf', 'ase', 'qcelemental', 'qcengine', 'tqdm', "
                "'scipy', 'cupy', 'geometric'}))")
        done = subprocess.run([sys.executable, "-c", code], text=True, check=True, env=os.environ, stdout=subprocess.PIPE)
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    main()
