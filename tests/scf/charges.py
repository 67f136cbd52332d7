"""Command-line tests of the charges, spin populations and dipole moment of fmo-driver --scf: report, JSON, HDF5, extended
.xyz, restarted batches. Started as cli.py is; files are read as in forces.py. Numbers of PySCF: tests/python/results.py.

    FMO_DRIVER=.../fmo-driver FMO_SOURCE=.. python3 charges.py [CLASS]...
"""

import json
import re
import unittest

import driver_helpers
from driver_helpers import complaints, run
from forces import elsewhere

LINE = ("--scf", "--basis", "6-31g", "--mode", "cpu", "--threads", "1")
NAMES = ("mulliken_charges", "loewdin_charges", "mulliken_spins", "loewdin_spins")
ATOMS = ["O 0 0 0.117", "H 0 0.757 -0.469", "H 0 -0.757 -0.469"]
DEBYE = 2.541746473


def properties(*arguments):
    """The objects `scf` of all molecules of a run, whose JSON has the form that its schema asks for."""
    document = json.loads(run(*arguments, *LINE, "--profile=json").out)
    found = complaints(document)
    if found:
        raise AssertionError(found)
    return [build["scf"] for build in document["builds"]]


class Charges(driver_helpers.Case):
    def frames(self, name, *frames):
        """A file of frames, each a comment and atoms."""
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            for comment, *atoms in frames:
                file.write("\n".join([str(len(atoms)), comment, *atoms, ""]))
        return path

    def molecules(self):
        """Water, its cation, and water with a ghost atom."""
        return self.frames("all.xyz", ("", *ATOMS), ("charge=1 multiplicity=2", *ATOMS), ("", *ATOMS, "@H 0 0 2"))

    def close(self, got, want, delta):
        self.assertEqual(len(got), len(want))
        for x, y in zip(got, want):
            self.assertAlmostEqual(x, y, delta=delta)

    def test_report(self):
        """The table has the numbers of the JSON, in the order of the atoms; --quiet has none."""
        ghost = self.frames("ghost.xyz", ("charge=1 multiplicity=2", *ATOMS, "@H 0 0 2"))
        water = self.frames("water.xyz", ("", *ATOMS))
        for path, names, charge in ((water, NAMES[:2], 0), (ghost, NAMES, 1)):
            scf, = properties(path)
            out = run(path, *LINE).out
            rows = re.findall(r"(?m)^ +\d+ (O|H|X)((?: +-?\d\.\d{6})+)$", out)
            self.assertEqual([row[0] for row in rows], ["O", "H", "H", "X"][:len(rows)])
            columns = list(zip(*([float(x) for x in row[1].split()] for row in rows)))
            self.assertEqual(len(columns), len(names))
            for column, name in zip(columns, names):
                self.close(column, scf[name], 1e-6)
                self.assertAlmostEqual(sum(scf[name]), charge, delta=1e-8)  # of the cation 1 is also 2S
            x, y, z, size = re.search(r"dipole +(\S+) (\S+) (\S+) debye, size (\S+)\n", out).groups()
            self.close([float(x), float(y), float(z)], [DEBYE * d for d in scf["dipole"]], 1e-6)
            self.assertAlmostEqual(float(size), DEBYE * sum(d * d for d in scf["dipole"]) ** 0.5, delta=1e-6)
            self.assertEqual(run(path, *LINE, "--quiet").out.count("\n"), 1)
        self.assertIsNone(properties(water)[0]["mulliken_spins"])

    def test_batch(self):
        """Mulliken's charges are those of single runs; the rest is left out."""
        all_of_them = properties(self.molecules(), "--batch")
        for k, frame in enumerate(((("", *ATOMS)), ("charge=1 multiplicity=2", *ATOMS), ("", *ATOMS, "@H 0 0 2"))):
            single, = properties(self.frames("one.xyz", frame))
            for name in ("mulliken_charges", "mulliken_spins"):
                self.assertEqual(all_of_them[k][name] is None, name == "mulliken_spins" and k != 1)
                self.close(all_of_them[k][name] or [], single[name] or [], 1e-5)
            self.assertEqual([all_of_them[k][name] for name in ("loewdin_charges", "loewdin_spins", "dipole")], [None] * 3)

    def test_hdf5(self):
        path, output, orbitals = self.molecules(), self.path("all.h5"), self.path("orbitals.h5")
        ion = self.frames("ion.xyz", ("charge=1 multiplicity=2", *ATOMS))
        for _ in range(2):  # the second replaces a file of its own kind
            self.assertRuns(run(path, *LINE, "--batch", "--output", output))
            self.assertRuns(run(ion, *LINE, "--output", orbitals))
        self.assertRuns(run(orbitals, *[word for word in LINE if word not in ("--basis", "6-31g")], "--guess", "read"))
        got = elsewhere("import h5py, json, sys\nf = h5py.File(sys.argv[1])\ng = h5py.File(sys.argv[2])['fmo']\n"
                        "read = lambda m: {k: [m[k][:].tolist(), m[k].attrs.get('units', b'').decode()] for k in m "
                        "if 'mulliken' in k or 'loewdin' in k or k == 'dipole'}\n"
                        "print(json.dumps([*map(read, f['molecules'].values()), read(g)]))", output, orbitals)
        want = [*properties(path, "--batch"), *properties(ion)]
        for mine, scf in zip(got, want):
            names = {**{name: name[:-1] for name in NAMES}, "dipole": "dipole"}
            self.assertEqual(sorted(mine), sorted(names[name] for name in names if scf[name] is not None))
            for name, units in zip(names, ("e", "e", "", "", "e bohr")):
                if scf[name] is not None:
                    self.close(mine[names[name]][0], scf[name], 1e-6)
                    self.assertEqual(mine[names[name]][1], units)

    def test_resume(self):
        """A result of an earlier run keeps its charges; one of a version without charges is not computed again."""
        path, output = self.molecules(), self.path("all.h5")
        line = (path, *LINE, "--batch", "--scatter", "fixed", "--output", output)
        self.assertRuns(run(*line))
        read = ("import h5py, json, sys\nprint(json.dumps([[m[k][:].tolist() for k in ('mulliken_charge', 'mulliken_spin') "
                "if k in m] for m in h5py.File(sys.argv[1])['molecules'].values()]))")
        want = elsewhere(read, output)
        self.assertEqual([len(one) for one in want], [1, 2, 1])
        self.assertIn("3 more from an earlier run", run(*line, "--resume").out)
        self.assertEqual(elsewhere(read, output), want)
        elsewhere("import h5py, sys\nwith h5py.File(sys.argv[1], 'r') as f, h5py.File(sys.argv[1] + '.old', 'w') as g:\n"
                  "    for k in f:\n        f.copy(k, g)\n    for k in '01':\n"
                  "        [g['molecules'][k].pop(x) for x in ('mulliken_charge', 'mulliken_spin') if x in g['molecules'][k]]\n"
                  "print('1')", output)
        self.assertRuns(run("-f", output + ".old", output, program="/bin/mv"))
        self.assertIn("3 more from an earlier run", run(*line, "--resume").out)
        self.assertEqual([len(one) for one in elsewhere(read, output)], [0, 0, 1])

    def test_extended_xyz(self):
        """ASE reads the charges as results, beside energy and forces."""
        path = self.frames("two.xyz", ("", *ATOMS), ("charge=1 multiplicity=2", *ATOMS))
        output = self.path("out.xyz")
        want = properties(path, "--batch")
        for forces in ([], ["--forces"]):
            for _ in range(2):
                self.assertRuns(run(path, *LINE, "--batch", *forces, "--output", output, *(["--force"] if forces else [])))
            self.assertRuns(run(output, *LINE, "--batch"))  # it is an input, too
            got = elsewhere("import ase.io, json, sys\nprint(json.dumps([[a.get_charges().tolist(), a.get_potential_energy(), "
                            "sorted(a.calc.results), sorted(a.arrays), a.info['charge']] for a in ase.io.read(sys.argv[1], ':')],"
                            " default=int))", output)
            self.assertEqual(len(got), 2)
            for (charges, energy, results, arrays, charge), scf, total in zip(got, want, (0, 1)):
                self.close(charges, scf["mulliken_charges"], 1e-5)
                self.assertLess(energy, -2000.0)
                self.assertEqual(results, ["charges", "energy", *(["forces"] if forces else [])])
                self.assertEqual(arrays, [*(["REF_forces"] if forces else []), "numbers", "positions"])
                self.assertEqual(charge, total)


if __name__ == "__main__":
    unittest.main(verbosity=2)
