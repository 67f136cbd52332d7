"""Other programs read our files: trexio for Python, PySCF's Molden reader, and, where the environment of
datasets/make_foreign.py exists, pyscf-forge and trexio-tools.

    FMO_CONVERT=.../io_convert python3 with_pyscf.py [CLASS]...

Runs itself with a Python that has PySCF: the one named by FMO_PYSCF_PYTHON, else the environment
that the scripts of datasets/ make, else this one. Without one the test is skipped, exit code 77; with
FMO_REQUIRE_PYSCF=1 it fails.
"""

import os
import subprocess

from pyscf_python import DATASETS, environment_folder, run_where_it_is

run_where_it_is("pyscf, trexio", OMP_NUM_THREADS="1")
FOREIGN = str(environment_folder("requirements-foreign.txt") / "bin")

# pylint: disable=wrong-import-position
import glob
import json
import tempfile
import unittest

import numpy as np
import trexio
from pyscf import gto, scf
from pyscf.data import elements
from pyscf.tools import molden

BOHR = 0.52917721092
SETS = ("h2o_6-31g", "ch3oh_6-31g_shuffled", "nh3_3-21g_sph_shuffled", "ch2o_6-31g_sph", "h2_cc-pvdz",
        "hehp_sto-3g", "h2s_hcl_6-31g", "h2o_6-31gd", "ch2o_cc-pvdz_sph", "hbr_def2-svp_sph",
        "h2s_6-31gd_shuffled", "h2o_def2-svp_sph_shuffled", "h2o_6-31g2dfp", "h2o_def2-tzvp_sph_shuffled")
# The places of the functions of a file's shell in PySCF, by ao_cartesian and angular momentum.
PLACE = {1: ((0,), (0, 1, 2), tuple(range(6)), tuple(range(10)), tuple(range(15))),
         0: ((0,), (2, 0, 1), (2, 3, 1, 4, 0), (3, 4, 2, 5, 1, 6, 0), (4, 5, 3, 6, 2, 7, 1, 8, 0))}


def convert(*arguments):
    """Run io_convert; a failure is one of the test."""
    done = subprocess.run([os.environ["FMO_CONVERT"], *arguments], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout)


def electronic_energy(mol, density, core):
    """Closed-shell energy of a density in PySCF's AOs."""
    coulomb, exchange = scf.hf.get_jk(mol, density)
    return np.einsum("ij,ij", density, core + 0.5 * coulomb - 0.25 * exchange)


class Written(unittest.TestCase):
    """A file of ours, and the same file opened by trexio for Python."""

    def read(self, path):
        """Every field we write."""
        found = {}
        with trexio.File(path, "r", trexio.TREXIO_HDF5) as file:
            for name in ("metadata_package_version", "metadata_code", "nucleus_num", "nucleus_charge",
                         "nucleus_coord", "nucleus_label", "nucleus_repulsion", "electron_num",
                         "electron_up_num", "electron_dn_num", "pbc_periodic", "basis_type",
                         "basis_shell_num", "basis_prim_num", "basis_nucleus_index",
                         "basis_shell_ang_mom", "basis_shell_factor", "basis_r_power",
                         "basis_shell_index", "basis_exponent", "basis_coefficient",
                         "basis_prim_factor", "ao_cartesian", "ao_num", "ao_shell", "ao_normalization",
                         "ao_1e_int_overlap", "ao_1e_int_core_hamiltonian", "mo_type", "mo_num",
                         "mo_coefficient", "mo_occupation", "mo_energy"):
                self.assertTrue(getattr(trexio, f"has_{name}")(file), name)
                found[name] = getattr(trexio, f"read_{name}")(file)
        return found

    def molecule(self, found):
        """PySCF's molecule, shells in the order of the file where it goes nucleus by nucleus, and for
        each function of the file its number in PySCF."""
        shells = []
        for shell in range(found["basis_shell_num"]):
            mine = found["basis_shell_index"] == shell
            rows = [[a, c] for a, c in zip(found["basis_exponent"][mine],
                                           found["basis_coefficient"][mine])]
            shells.append([int(found["basis_shell_ang_mom"][shell]), *rows])
        labels = [f"{name}{i}" for i, name in enumerate(found["nucleus_label"])]
        order = sorted(range(len(shells)), key=lambda s: (found["basis_nucleus_index"][s], shells[s][0]))
        mol = gto.Mole(unit="Bohr", cart=bool(found["ao_cartesian"]), verbose=0,
                       spin=found["electron_up_num"] - found["electron_dn_num"],
                       charge=int(round(sum(found["nucleus_charge"]))) - found["electron_num"],
                       atom=list(zip(labels, found["nucleus_coord"].tolist())),
                       basis={label: [shells[s] for s in order if found["basis_nucleus_index"][s] == i]
                              for i, label in enumerate(labels)})
        mol.build()
        first = dict(zip(order, mol.ao_loc_nr()))
        places = PLACE[found["ao_cartesian"]]
        seen, where = {}, []
        for shell in found["ao_shell"]:
            k = seen[shell] = seen.get(shell, -1) + 1
            where.append(first[shell] + places[shells[shell][0]][k])
        return mol, np.array(where)


class OpenShells(Written):
    """UHF by fmo-driver: PySCF has the same energy for the orbitals of the file, and for its own SCF from them."""

    def test_energy(self):
        for name in ("h2s_6-31gd_shuffled", "h2o_def2-svp_sph_shuffled", "nh3_3-21g_sph_shuffled"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "out.h5")
                subprocess.run([os.environ["FMO_DRIVER"], os.path.join(DATASETS, f"{name}.h5"), "--scf", "--quiet", "--charge",
                                "1", "--multiplicity", "2", "--mode", "cpu", "--output", path], check=True,
                               stdout=subprocess.DEVNULL)
                found = self.read(path)
                with trexio.File(path, "r", trexio.TREXIO_HDF5) as file:
                    spin = trexio.read_mo_spin(file)
                self.assertEqual(found["mo_type"], "UHF")
                self.assertEqual(found["electron_up_num"], found["electron_dn_num"] + 1)
                mol, where = self.molecule(found)
                norm = np.sqrt(np.diag(found["ao_1e_int_overlap"]) / mol.intor("int1e_ovlp").diagonal()[where])
                orbitals = np.zeros_like(found["mo_coefficient"])
                orbitals[:, where] = found["mo_coefficient"] * norm * np.sign(found["ao_normalization"])
                density = np.array([np.einsum("m,mi,mj->ij", found["mo_occupation"][spin == k], orbitals[spin == k],
                                              orbitals[spin == k]) for k in (0, 1)])
                mf = scf.UHF(mol)
                mf.conv_tol = 1e-12
                ours = mf.energy_tot(density)
                self.assertAlmostEqual(ours, mf.kernel(density), delta=1e-8)
                self.assertAlmostEqual(float(subprocess.run([os.environ["FMO_DRIVER"], path, "--scf", "--quiet", "--guess", "read"],
                                                            check=True, stdout=subprocess.PIPE).stdout.split()[1]), ours,
                                       delta=1e-8)


class HighShells(Written):
    """g shells, from a file with a basis set of PySCF."""

    def test_files(self):
        """TREXIO and Molden files of an SCF by fmo-driver give PySCF's energy; the data set can be read again."""
        bases = {"H": gto.basis.load("sto-3g", "H"), "F": gto.basis.load("cc-pvqz", "F")}
        text = ["BASIS SPHERICAL"]
        for symbol, shells in bases.items():
            for l, *rows in shells:
                text += [f"{symbol} {'SPDFG'[l]}", *(" ".join(map(repr, row)) for row in rows)]
        for functions in ("cartesian", "spherical"):
            with self.subTest(functions), tempfile.TemporaryDirectory() as folder:
                path, basis, xyz = (os.path.join(folder, name) for name in ("out.h5", "qz.nw", "hf.xyz"))
                with open(basis, "w", encoding="ascii") as file:
                    file.write("\n".join([*text, "END\n"]))
                with open(xyz, "w", encoding="ascii") as file:
                    file.write("2\n\nF 0.1 0.2 0\nH 0.3 0 0.9\n")
                driver = [os.environ["FMO_DRIVER"], "--scf", "--quiet"]
                subprocess.run([*driver, xyz, "--basis", basis, "--functions", functions, "--output", path, "--molden",
                                os.path.join(folder, "out.molden")], check=True, stdout=subprocess.DEVNULL)
                expected = scf.RHF(gto.M(atom="F 0.1 0.2 0; H 0.3 0 0.9", basis=bases, cart=functions == "cartesian", verbose=0))
                expected.conv_tol = 1e-12
                expected.kernel()
                found = self.read(path)
                self.assertEqual(max(found["basis_shell_ang_mom"]), 4)
                mol, where = self.molecule(found)
                at = np.ix_(where, where)
                theirs = mol.intor("int1e_ovlp")[at]
                norm = np.sqrt(np.diag(found["ao_1e_int_overlap"]) / np.diag(theirs))
                np.testing.assert_allclose(found["ao_1e_int_overlap"], theirs * np.outer(norm, norm), atol=1e-10)
                core = mol.intor("int1e_kin") + mol.intor("int1e_nuc")
                np.testing.assert_allclose(found["ao_1e_int_core_hamiltonian"], core[at] * np.outer(norm, norm), atol=1e-9)
                orbitals = np.zeros_like(found["mo_coefficient"])
                orbitals[:, where] = found["mo_coefficient"] * norm
                density = (orbitals.T * found["mo_occupation"]) @ orbitals
                self.assertAlmostEqual(electronic_energy(mol, density, core) + mol.energy_nuc(), expected.e_tot, delta=1e-8)
                again = subprocess.run([*driver, path, "--guess", "read"], check=True, stdout=subprocess.PIPE)
                self.assertAlmostEqual(float(again.stdout.split()[1]), expected.e_tot, delta=1e-8)
                mol, energies, orbitals, occupation, *_ = molden.load(os.path.join(folder, "out.molden"))
                self.assertEqual(mol.cart, functions == "cartesian")
                overlap = orbitals.T @ mol.intor("int1e_ovlp") @ orbitals
                np.testing.assert_allclose(overlap, np.eye(len(overlap)), atol=1e-9)
                density = (orbitals * occupation) @ orbitals.T
                core = mol.intor("int1e_kin") + mol.intor("int1e_nuc")
                self.assertAlmostEqual(electronic_energy(mol, density, core) + mol.energy_nuc(), expected.e_tot, delta=1e-8)
                np.testing.assert_allclose(energies, expected.mo_energy, atol=1e-5)


class Trexio(Written):
    """TREXIO files with orbitals."""

    def test_energy(self):
        """Basis, orbitals and integrals give the energy that PySCF had when it made the data set."""
        for name in SETS:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "out.h5")
                source = os.path.join(DATASETS, f"{name}.h5")
                convert("orbitals", source, path, os.path.join(folder, "out.molden"))
                found = self.read(path)
                mol, where = self.molecule(found)
                theirs = mol.intor("int1e_ovlp")[np.ix_(where, where)]
                norm = np.sqrt(np.diag(found["ao_1e_int_overlap"]) / np.diag(theirs))
                norm *= np.sign(found["ao_normalization"])
                np.testing.assert_allclose(found["ao_1e_int_overlap"], theirs * np.outer(norm, norm),
                                           atol=1e-10 * max(1.0, norm.max()**2))
                core = (mol.intor("int1e_kin") + mol.intor("int1e_nuc"))[np.ix_(where, where)]
                np.testing.assert_allclose(found["ao_1e_int_core_hamiltonian"],
                                           core * np.outer(norm, norm),
                                           atol=1e-9 * max(1.0, norm.max()**2))
                orbitals = np.zeros_like(found["mo_coefficient"])
                orbitals[:, where] = found["mo_coefficient"] * norm
                density = (orbitals.T * found["mo_occupation"]) @ orbitals
                core = mol.intor("int1e_kin") + mol.intor("int1e_nuc")
                energy = electronic_energy(mol, density, core) + mol.energy_nuc()
                self.assertAlmostEqual(found["nucleus_repulsion"], mol.energy_nuc(), delta=1e-9)
                with trexio.File(source, "r", trexio.TREXIO_HDF5) as file:
                    np.testing.assert_array_equal(found["mo_energy"], trexio.read_mo_energy(file))
                import h5py
                with h5py.File(path) as file:
                    self.assertAlmostEqual(energy, file["fmo/energy"][()], delta=1e-9)
                    self.assertEqual(file["fmo"].attrs["converged"], 1)
                    self.assertEqual(file["fmo"].attrs["method"], b"RHF")
                    self.assertEqual(len(file["fmo"].attrs["input_sha256"]), 64)

    def test_others(self):
        """pyscf-forge and trexio-tools read our files."""
        python = os.path.join(FOREIGN, "python")
        if not os.path.exists(python):
            self.skipTest("no environment of datasets/make_foreign.py")
        check = ("import sys; from pyscf.tools import trexio; from pyscf import scf; "
                 "mol = trexio.from_trexio(sys.argv[1]); mf = scf.RHF(mol); mf.verbose = 0; "
                 "print(repr(float(mf.kernel())))")
        with tempfile.TemporaryDirectory() as folder:
            path, text = os.path.join(folder, "out.h5"), os.path.join(folder, "out.molden")
            convert("orbitals", os.path.join(DATASETS, "h2o_6-31g.h5"), path, text)
            with trexio.File(path, "r", trexio.TREXIO_HDF5) as file:
                self.assertEqual(trexio.read_ao_cartesian(file), 1)
            done = subprocess.run([python, "-c", check, path], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertAlmostEqual(float(done.stdout.split()[-1]), -75.9839974764, delta=1e-8)
            for command in (["check-basis", "-n", "21", path], ["check-mos", "-n", "21", path],
                            ["convert-to", "-t", "molden", "-o", os.path.join(folder, "their"), path]):
                done = subprocess.run([os.path.join(FOREIGN, "trexio"), *command], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                self.assertEqual(done.returncode, 0, done.stdout)


class Molden(unittest.TestCase):
    """Molden files."""

    def test_energy(self):
        """PySCF reads orthonormal orbitals that give the energy."""
        import h5py
        for name in SETS:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                source, path = os.path.join(DATASETS, f"{name}.h5"), os.path.join(folder, "out.molden")
                convert("orbitals", source, os.path.join(folder, "out.h5"), path)
                with h5py.File(source) as file:
                    expected = file["fmo/energy"][()]
                    charge = int(file["fmo"].attrs["charge"])
                mol, energies, orbitals, occupation, *_ = molden.load(path)
                mol.verbose = 0
                self.assertEqual(sum(mol.atom_charges()) - round(sum(occupation)), charge)
                overlap = orbitals.T @ mol.intor("int1e_ovlp") @ orbitals
                np.testing.assert_allclose(overlap, np.eye(len(overlap)), atol=1e-9)
                density = (orbitals * occupation) @ orbitals.T
                core = mol.intor("int1e_kin") + mol.intor("int1e_nuc")
                energy = electronic_energy(mol, density, core) + mol.energy_nuc()
                self.assertAlmostEqual(energy, expected, delta=1e-8)
                coulomb, exchange = scf.hf.get_jk(mol, density)
                fock = orbitals.T @ (core + coulomb - 0.5 * exchange) @ orbitals
                np.testing.assert_allclose(np.diag(fock), energies, atol=1e-7)


class Basis(Written):
    """Data sets of a molecule and a basis set."""

    MOLECULES = ("water001", "ch3oh", "h2s_hcl", "n2", "hbr")

    @staticmethod
    def pyscf_basis(path, symbols):
        """The basis set of a JSON file in PySCF's form."""
        with open(path, encoding="utf-8") as file:
            data = json.load(file)["elements"]
        basis = {}
        for symbol in symbols:
            shells = []
            for shell in data[str(elements.charge(symbol))]["electron_shells"]:
                momenta = shell["angular_momentum"]
                for row, coefficients in enumerate(shell["coefficients"]):
                    l = momenta[row if len(momenta) > 1 else 0]
                    shells.append([l, *([float(a), float(c)] for a, c in
                                        zip(shell["exponents"], coefficients))])
            basis[symbol] = shells
        return basis

    def test_shipped(self):
        """Overlap and core Hamiltonian of every set are PySCF's, of normalised functions, in the order
        of PySCF but for that within spherical shells."""
        paths = sorted(glob.glob(os.path.join(DATASETS, "basis", "*.json")))
        self.assertGreaterEqual(len(paths), 10)
        forms = set()
        for path in paths:
            name = os.path.splitext(os.path.basename(path))[0]
            with open(path, encoding="utf-8") as file:
                known = json.load(file)["elements"]
            for molecule in self.MOLECULES:
                xyz = os.path.join(DATASETS, "xyz", f"{molecule}.xyz")
                with open(xyz, encoding="utf-8") as file:
                    atoms = [line.split()[:4] for line in file.read().splitlines()[2:]]
                symbols = {atom[0] for atom in atoms}
                if any(str(elements.charge(symbol)) not in known for symbol in symbols):
                    self.assertNotIn(molecule, self.MOLECULES[:2], name)
                    continue
                with self.subTest(basis=name, molecule=molecule), tempfile.TemporaryDirectory() as folder:
                    out = os.path.join(folder, "out.h5")
                    convert("create", xyz, name.upper(), "0", out)
                    found = self.read(out)
                    self.assertEqual(sorted(where := self.molecule(found)[1]), list(range(len(where))))
                    if 2 in found["basis_shell_ang_mom"]:
                        forms.add(found["ao_cartesian"])
                    mol = gto.M(unit="Bohr", cart=bool(found["ao_cartesian"]), verbose=0,
                                atom=[[a[0], [float(x) / BOHR for x in a[1:]]] for a in atoms],
                                basis=self.pyscf_basis(path, symbols))
                    np.testing.assert_allclose(found["nucleus_coord"], mol.atom_coords(), atol=1e-13)
                    theirs = mol.intor("int1e_ovlp")
                    norm = 1.0 / np.sqrt(np.diag(theirs))
                    at = np.ix_(where, where)
                    np.testing.assert_allclose(found["ao_1e_int_overlap"],
                                               (theirs * np.outer(norm, norm))[at], atol=1e-11)
                    core = mol.intor("int1e_kin") + mol.intor("int1e_nuc")
                    np.testing.assert_allclose(found["ao_1e_int_core_hamiltonian"],
                                               (core * np.outer(norm, norm))[at], atol=1e-9)
                    self.assertEqual(found["electron_num"], mol.nelectron)
                    self.assertAlmostEqual(found["nucleus_repulsion"], mol.energy_nuc(), delta=1e-10)
        self.assertEqual(forms, {0, 1})


if __name__ == "__main__":
    unittest.main()
