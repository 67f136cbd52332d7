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
    def close(self, got, want, delta):
        self.assertEqual(len(got), len(want))
        for mine, other in zip(got, want):
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
        (want,), document = gradients(WATER, "--forces")
        self.assertEqual(complaints(document), [])
        self.assertGreater(document["builds"][0]["scf"]["seconds"]["forces"], 0.0)
        self.assertLess(document["builds"][0]["scf"]["gradient"], 1e-5)
        self.close([[sum(row[x] for row in want) for x in range(3)]], [[0.0] * 3], 1e-10)
        out = run(WATER, *LINE, "--forces").out
        rows = re.findall(r"(?m)^ +\d+ (?:O|H) +(-?\d+\.\d+) +(-?\d+\.\d+) +(-?\d+\.\d+)$", out)
        self.close([[float(x) for x in row] for row in rows], [[-x for x in row] for row in want], 1e-8)
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

    def test_batch(self):
        """Batches agree with single runs; with no file the report has the tables."""
        path = self.two()
        want, document = gradients(path, "--batch", "--forces")
        self.assertEqual(complaints(document), [])
        single, _ = gradients(WATER, "--forces")
        both, _ = gradients(WATER, path, "--batch", "--forces")
        self.close(both[0], single[0], 1e-6)
        self.close(both[2], want[1], 1e-6)
        self.assertEqual(run(path, *LINE, "--batch", "--forces").out.count("hartree/bohr"), 2)

    def test_resume(self):
        """Results without forces are computed again when forces are wanted, those with them are not."""
        path, output = self.two(), self.path("all.h5")
        line = (path, *LINE, "--batch", "--output", output)
        self.assertRuns(run(*line))
        self.assertIn("2 molecules in", run(*line, "--forces", "--resume").out)
        self.assertIn("2 more from an earlier run", run(*line, "--forces", "--resume").out)
        self.assertIn("2 more from an earlier run", run(*line, "--resume").out)
        self.assertIn("2 molecules in", run(*line, "--forces", "--resume").out)  # the last file has none

    def test_hdf5(self):
        path, output, orbitals = self.two(), self.path("all.h5"), self.path("orbitals.h5")
        want, _ = gradients(path, "--batch", "--forces")
        self.assertRuns(run(path, *LINE, "--batch", "--forces", "--output", output))
        self.assertRuns(run(path, *LINE, "--batch", "--forces", "--output", output))  # its own file
        self.assertRuns(run(WATER, *LINE, "--forces", "--output", orbitals))
        self.assertRuns(run(WATER, *LINE, "--forces", "--output", orbitals))
        got = elsewhere("import h5py, json, sys\nf = h5py.File(sys.argv[1])\ng = h5py.File(sys.argv[2])['fmo/gradient']\n"
                        "m = [x['gradient'] for x in f['molecules'].values()]\n"
                        "print(json.dumps([[x[:].tolist() for x in (*m, g)], [x.attrs['units'].decode() for x in (*m, g)]]))",
                        output, orbitals)
        self.assertEqual(got[1], ["hartree/bohr"] * 3)
        for mine, other in zip(got[0], [*want, gradients(WATER, "--forces")[0][0]]):
            self.close(mine, other, 1e-6)

    def test_extended_xyz(self):
        path, output = self.two(), self.path("all.xyz")
        want, _ = gradients(path, "--batch", "--forces")
        for _ in range(2):  # the second replaces a file of its own kind
            self.assertRuns(run(path, *LINE, "--batch", "--forces", "--output", output))
        self.assertRuns(run(output, *LINE, "--batch"))  # it is an input, too
        with open(output, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertTrue(lines[1].startswith("Properties=species:S:1:pos:R:3:forces:R:3:REF_forces:R:3 fmo_version="))
        rows = [[float(x) for x in line.split()[4:7]] for line in lines[2:5]]
        self.close(rows, [[-x * EV / BOHR for x in row] for row in want[0]], 1e-4)
        got = elsewhere("import ase.io, json, sys\na = ase.io.read(sys.argv[1], ':')\n"
                        "print(json.dumps([[x.get_forces().tolist(), x.arrays['REF_forces'].tolist(), "
                        "x.get_potential_energy()] for x in a]))", output)
        for (forces, again, energy), mine in zip(got, want):
            self.close(forces, [[-x * EV / BOHR for x in row] for row in mine], 1e-4)
            self.assertEqual(forces, again)
            self.assertLess(energy, -2000.0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
