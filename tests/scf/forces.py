"""Command-line tests of fmo-driver --scf --forces: report, JSON, files, restarted batches. Started as cli.py is; files
are read by h5py and ASE where a Python that FMO_PYSCF_PYTHON names, or this one, has them.

    FMO_DRIVER=.../fmo-driver FMO_SOURCE=.. python3 forces.py [CLASS]...
"""

import json
import os
import re
import subprocess
import sys
import unittest

import driver_helpers
from driver_helpers import DATASETS, complaints, run

WATER = os.path.join(DATASETS, "xyz", "water001.xyz")
LINE = ("--scf", "--basis", "sto-3g", "--mode", "cpu", "--threads", "1")
EV, BOHR = 27.211386024367243, 0.52917721092

# Water beside two charges: RHF, hartree and bohr, by PySCF 2.14's qmmm (python3 forces.py --reference).
CHARGES = "# q x y z, angstrom\n0.4 0 1 3\n-0.7 2.5 -2 0.5\n"
CHARGED_LINE = ("--forces", "--gradient-convergence", "1e-8", "--convergence", "1e-12")
CHARGED = {"energy": -74.964815466967,
           "gradient": [[0.006559695163, -0.059237354754, 0.029189942888],
                        [0.003301885197, 0.037602353225, 0.004021086797],
                        [-0.012214775259, 0.022659888647, -0.031695858266]],
           "charge_gradient": [[0.000311932775, -0.001713780807, -0.000532149216],
                               [0.002041262123, 0.000688893688, -0.000983022203]]}


def reference():
    """CHARGED, computed by PySCF."""
    from pyscf import gto, qmmm, scf
    rows = [[float(x) for x in line.split()] for line in CHARGES.splitlines()[1:]]
    with open(os.path.join(DATASETS, "basis", "sto-3g.json"), encoding="utf-8") as file:
        elements = json.load(file)["elements"]
    basis = {symbol: [[l, *([float(x) for x in row] for row in zip(shell["exponents"], column))]
                      for shell in elements[number]["electron_shells"]
                      for l, column in zip(shell["angular_momentum"], shell["coefficients"])]
             for symbol, number in (("H", "1"), ("O", "8"))}  # as fmo has it, with more digits than PySCF's own
    mol = gto.M(atom=WATER, basis=basis, verbose=0)
    mf = qmmm.mm_charge(scf.RHF(mol), [row[1:] for row in rows], [row[0] for row in rows], unit="angstrom")
    mf.conv_tol, mf.conv_tol_grad = 1e-13, 1e-9
    mf.kernel()
    method = mf.nuc_grad_method()
    on_charges = method.grad_nuc_mm() + method.grad_hcore_mm(mf.make_rdm1())
    print(mf.converged, {"energy": float(mf.e_tot), "gradient": method.kernel().tolist(), "charge_gradient": on_charges.tolist()})


def gradients(*arguments):
    """The nuclear gradients in the JSON of a run."""
    result = run(*arguments, *LINE, "--profile=json")
    document = json.loads(result.out)
    return [build["scf"]["nuclear_gradient"] if "scf" in build else build for build in document["builds"]], document


def elsewhere(code, *arguments):
    """What a program prints that needs h5py or ASE; skips the test where they are missing."""
    python = os.environ.get("FMO_PYSCF_PYTHON", sys.executable)
    done = subprocess.run([python, "-c", code, *arguments], capture_output=True, text=True, check=False)
    if "ModuleNotFoundError" in done.stderr:
        raise unittest.SkipTest(done.stderr.splitlines()[-1])
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class Forces(driver_helpers.Case):
    def close(self, got, expected, delta):
        self.assertEqual(len(got), len(expected))
        for mine, other in zip(got, expected):
            for x, y in zip(mine, other):
                self.assertAlmostEqual(x, y, delta=delta)

    def two(self):
        """A file of two frames, of which the second is another geometry."""
        path = self.path("two.xyz")
        with open(path, "w", encoding="ascii") as file:
            for y in (0.757, 0.8):
                file.write(f"3\n\nO 0 0 0.117\nH 0 {y} -0.469\nH 0 -0.757 -0.469\n")
        return path

    def test_report_and_json(self):
        (expected,), document = gradients(WATER, "--forces")
        self.assertEqual(complaints(document), [])
        self.assertGreater(document["builds"][0]["scf"]["seconds"]["forces"], 0.0)
        self.assertLess(document["builds"][0]["scf"]["gradient"], 1e-5)
        self.close([[sum(row[x] for row in expected) for x in range(3)]], [[0.0] * 3], 1e-10)
        out = run(WATER, *LINE, "--forces").out
        rows = re.findall(r"(?m)^ +\d+ (?:O|H) +(-?\d+\.\d+) +(-?\d+\.\d+) +(-?\d+\.\d+)$", out)
        self.close([[float(x) for x in row] for row in rows], [[-x for x in row] for row in expected], 1e-8)
        self.assertIn("hartree/bohr", out)
        self.assertEqual(gradients(WATER)[0], [None])
        self.assertNotIn("hartree/bohr", run(WATER, *LINE).out)

    def test_not_converged(self):
        result = run(WATER, *LINE, "--forces", "--max-cycles", "2")
        self.assertEqual(result.code, 1)
        self.assertIn("forces     none: the SCF has not converged", result.out)

    def test_radical(self):
        (gradient,), _ = gradients(WATER, "--forces", "--charge", "1", "--multiplicity", "2")
        self.close([[sum(row[x] for row in gradient) for x in range(3)]], [[0.0] * 3], 1e-10)

    def test_refused(self):
        result = run(os.path.join(DATASETS, "h2o_sto-3g.h5"), "--forces")
        self.assertEqual(result.code, 2)
        self.assertIn("--forces", result.err)

    def charges(self, text, name="charges.txt"):
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def test_charges(self):
        """Energy, forces on atoms and charges, against PySCF (CHARGED); the same in all outputs, units and inputs."""
        path, output = self.charges(CHARGES), self.path("charged.h5")
        result = run(WATER, *LINE, *CHARGED_LINE, "--charges", path, "--output", output)
        self.assertRuns(result)
        energy = float(re.search(r"energy +(-\d+\.\d+) hartree", result.out).group(1))
        self.assertAlmostEqual(energy, CHARGED["energy"], delta=1e-8)
        self.assertIn("2 point charges, sum -0.3 e, in angstrom: ", result.out)
        rows = re.findall(r"(?m)^ +\d+ +(?:O|H|-?\d+\.\d+) +(-?\d+\.\d+) +(-?\d+\.\d+) +(-?\d+\.\d+)$", result.out)
        expected = [*CHARGED["gradient"], *CHARGED["charge_gradient"]]
        self.close([[-float(x) for x in row] for row in rows], expected, 1e-7)
        document = json.loads(run(WATER, *LINE, *CHARGED_LINE, "--charges", path, "--profile=json").out)
        self.assertEqual(complaints(document), [])
        scf = document["builds"][0]["scf"]
        self.assertEqual(scf["point_charges"], 2)
        self.close([*scf["nuclear_gradient"], *scf["point_charge_gradient"]], expected, 1e-7)
        self.assertEqual(gradients(WATER)[1]["builds"][0]["scf"]["point_charge_gradient"], None)

        bohr = self.charges("".join(" ".join([q, *(repr(float(x) / BOHR) for x in place)]) + "\n" for q, *place in
                                    (line.split() for line in CHARGES.splitlines()[1:])), "bohr.txt")
        line = ("--scf", "--mode", "cpu", "--threads", "1", *CHARGED_LINE, "--profile=json")
        for text, unit in (("# unit=bohr\n", ()), ("", ("--unit", "bohr"))):
            with open(bohr, encoding="ascii") as file:
                again = self.charges(text + file.read(), "again.txt")
            # the orbitals of the first run are a data set of the molecule without charges
            result = run(output, *line, "--guess", "read", "--charges", again, *unit)
            build = json.loads(result.out)["builds"][0]
            self.assertAlmostEqual(build["energy"], CHARGED["energy"], delta=1e-8)
            self.close(build["scf"]["nuclear_gradient"], CHARGED["gradient"], 1e-7)
            self.assertIn("beside 2 point charges, which are not part of the molecule", str(build["notices"]))
        alone = json.loads(run(output, *line).out)["builds"][0]["energy"]
        self.assertAlmostEqual(alone, json.loads(run(WATER, *LINE, *CHARGED_LINE, "--profile=json").out)
                               ["builds"][0]["energy"], delta=1e-9)
        self.assertEqual(run(output, "--check").code, 0)  # the energy of the field is no reference for its core Hamiltonian
        self.assertRuns(run(WATER, *LINE, "--charges", path, "--output", output))  # replaces its own file

    def test_charges_in_hdf5(self):
        path, output = self.charges(CHARGES), self.path("charged.h5")
        self.assertRuns(run(WATER, *LINE, *CHARGED_LINE, "--charges", path, "--output", output))
        got = elsewhere("import h5py, json, sys\nf = h5py.File(sys.argv[1])['fmo']\n"
                        "print(json.dumps([{k: f[k][()].tolist() for k in f}, {k: f[k].attrs['units'].decode() for k in f}, "
                        "int(f.attrs['point_charge_num'])]))", output)
        self.assertEqual(got[1], {"energy_with_charges": "hartree", "gradient": "hartree/bohr", "point_charge": "e",
                                  "point_charge_coord": "bohr", "point_charge_gradient": "hartree/bohr", "dipole": "e bohr",
                                  "mulliken_charge": "e", "loewdin_charge": "e"})
        # the charges are those of the molecule's atoms alone
        self.assertAlmostEqual(sum(got[0]["mulliken_charge"]), 0.0, delta=1e-8)
        self.assertEqual((got[0]["point_charge"], got[2]), ([0.4, -0.7], 2))
        self.assertAlmostEqual(got[0]["energy_with_charges"], CHARGED["energy"], delta=1e-8)
        self.close(got[0]["point_charge_coord"], [[0.0, 1.0 / BOHR, 3.0 / BOHR], [2.5 / BOHR, -2.0 / BOHR, 0.5 / BOHR]],
                   1e-12)
        self.close([*got[0]["gradient"], *got[0]["point_charge_gradient"]],
                   [*CHARGED["gradient"], *CHARGED["charge_gradient"]], 1e-7)

    def test_charges_refused(self):
        """One line with file, line and cure."""
        near = self.charges("# on an atom\n1.0 0 0 3\n0.3 -0.6204 1.2034 -0.9604\n", "near.txt")
        with open(WATER, encoding="ascii") as file:
            place = file.read().splitlines()[3].split()[1:4]
        on = self.charges("# on an atom\n1.0 9 9 9\n0.3 " + " ".join(place) + "\n", "on.txt")
        good = self.charges(CHARGES, "good")
        for arguments, code, words in (
                ((WATER, *LINE, "--charges", on), 3, f"{on}: line 3: the charge is at the place of atom 2 (H)"),
                ((WATER, *LINE, "--charges", self.charges("1 2 3\n", "bad.txt")), 3, "bad.txt: line 1: 3 of 4 numbers; expected"),
                ((WATER, *LINE, "--charges", self.path("none.txt")), 3, "none.txt: "),
                ((self.path("none"), *LINE), 3, "none: "),  # not that --basis has no effect on it
                ((WATER, *LINE, "--charges", good, "--batch"), 2, "--charges has no effect with --scf --batch: leave it out"),
                ((WATER, *LINE, "--charges", good, "--output", good), 3, "--output is the --charges itself"),
                ((os.path.join(DATASETS, "h2o_sto-3g.h5"), "--charges", good), 2, "use it with --scf without --batch")):
            result = run(*arguments)
            self.assertEqual(result.code, code, result.err)
            self.assertIn(words, result.err)
            self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertRuns(run(WATER, *LINE, "--charges", near))

    def test_batch(self):
        """Batches agree with single runs; with no file the report has the tables."""
        path = self.two()
        expected, document = gradients(path, "--batch", "--forces")
        self.assertEqual(complaints(document), [])
        single, _ = gradients(WATER, "--forces")
        both, _ = gradients(WATER, path, "--batch", "--forces")
        self.close(both[0], single[0], 1e-6)
        self.close(both[2], expected[1], 1e-6)
        self.assertEqual(run(path, *LINE, "--batch", "--forces").out.count("hartree/bohr"), 2)

    def test_resume(self):
        """Results without forces are computed again when forces are requested, those with them are not."""
        path, output = self.two(), self.path("all.h5")
        line = (path, *LINE, "--batch", "--output", output)
        self.assertRuns(run(*line))
        self.assertIn("2 molecules in", run(*line, "--forces", "--resume").out)
        self.assertIn("2 more from an earlier run", run(*line, "--forces", "--resume").out)
        self.assertIn("2 more from an earlier run", run(*line, "--resume").out)
        self.assertIn("2 molecules in", run(*line, "--forces", "--resume").out)  # the last file has none

    def test_hdf5(self):
        path, output, orbitals = self.two(), self.path("all.h5"), self.path("orbitals.h5")
        expected, _ = gradients(path, "--batch", "--forces")
        self.assertRuns(run(path, *LINE, "--batch", "--forces", "--output", output))
        self.assertRuns(run(path, *LINE, "--batch", "--forces", "--output", output))  # its own file
        self.assertRuns(run(WATER, *LINE, "--forces", "--output", orbitals))
        self.assertRuns(run(WATER, *LINE, "--forces", "--output", orbitals))
        got = elsewhere("import h5py, json, sys\nf = h5py.File(sys.argv[1])\ng = h5py.File(sys.argv[2])['fmo/gradient']\n"
                        "m = [x['gradient'] for x in f['molecules'].values()]\n"
                        "print(json.dumps([[x[:].tolist() for x in (*m, g)], [x.attrs['units'].decode() for x in (*m, g)]]))",
                        output, orbitals)
        self.assertEqual(got[1], ["hartree/bohr"] * 3)
        for mine, other in zip(got[0], [*expected, gradients(WATER, "--forces")[0][0]]):
            self.close(mine, other, 1e-6)

    def test_extended_xyz(self):
        path, output = self.two(), self.path("all.xyz")
        expected, _ = gradients(path, "--batch", "--forces")
        for _ in range(2):  # the second replaces a file of its own kind
            self.assertRuns(run(path, *LINE, "--batch", "--forces", "--output", output))
        self.assertRuns(run(output, *LINE, "--batch"))  # it is an input, too
        with open(output, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[1].startswith("Properties=species:S:1:pos:R:3:forces:R:3:REF_forces:R:3:charges:R:1 fmo_version="))
        rows = [[float(x) for x in line.split()[4:7]] for line in lines[2:5]]
        self.close(rows, [[-x * EV / BOHR for x in row] for row in expected[0]], 1e-4)
        got = elsewhere("import ase.io, json, sys\na = ase.io.read(sys.argv[1], ':')\n"
                        "print(json.dumps([[x.get_forces().tolist(), x.arrays['REF_forces'].tolist(), "
                        "x.get_potential_energy()] for x in a]))", output)
        for (forces, again, energy), mine in zip(got, expected):
            self.close(forces, [[-x * EV / BOHR for x in row] for row in mine], 1e-4)
            self.assertEqual(forces, again)
            self.assertLess(energy, -2000.0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--reference"]:
        sys.exit(reference())
    unittest.main(verbosity=2)
