"""Open shells in batches of fmo-driver and in TREXIO files. Standard library only; started as tests/driver/cli.py is.

    FMO_DRIVER=.../fmo-driver FMO_H5=.../driver_h5 FMO_SOURCE=.. python3 open_shells.py [CLASS]...
"""

import json
import os
import re
import unittest

import driver_helpers
from driver_helpers import DATASETS, SOURCE, digest, h5, run

with open(os.path.join(SOURCE, "tests", "scf", "energies_uhf.json"), encoding="ascii") as _file:
    MOLECULES = {one["name"]: one for one in json.load(_file)["molecules"]}
FIXED = ["--mode", "cpu", "--scatter", "fixed", "--threads", 2]
LINE = re.compile(r"(?m)^(?:(.*?)(?: frame (\d+))?: )?SCF: (-\d+\.\d+) hartree, converged")


def frame(name, comment=None):
    """A geometry of the table, PySCF's energy of which is known."""
    one = MOLECULES[name]
    if comment is None:
        comment = f"unit=bohr charge={one['charge']} multiplicity={one['multiplicity']}"
    atoms = "".join(f"{symbol} {x:.15g} {y:.15g} {z:.15g}\n" for symbol, (x, y, z) in zip(one["symbols"], one["bohr"]))
    return f"{len(one['symbols'])}\n{comment}\n{atoms}"


class Case(driver_helpers.Case):
    def write(self, name, *frames):
        path = self.path(name)
        with open(path, "w", encoding="ascii") as file:
            file.write("".join(frames))
        return path

    def energies(self, result):
        self.assertRuns(result)
        return {int(number or 1): float(energy) for _, number, energy in LINE.findall(result.out)}


class Batch(Case):
    """--scf --batch of closed and open shells."""

    NAMES = ("H2O UHF", "O2", "CH3", "OH", "NH2")

    def set(self, *more):
        return self.write("set.xyz", *(frame(name) for name in self.NAMES), *more)

    def run_set(self, path, *line, basis="6-31g*"):
        return run(path, "--basis", basis, "--scf", "--batch", *FIXED, *line)

    def test_energies(self):
        """Those of PySCF, and bit for bit those of single runs."""
        found = self.energies(self.run_set(self.set(), "--quiet"))
        self.assertEqual(len(found), len(self.NAMES))
        for k, name in enumerate(self.NAMES, 1):
            self.assertAlmostEqual(found[k], MOLECULES[name]["energy"], delta=2e-8, msg=name)
            alone = run(self.write("one.xyz", frame(name)), "--basis", "6-31g*", "--scf", "--quiet", *FIXED)
            self.assertEqual(self.energies(alone)[1], found[k], name)
        path = self.write("no.xyz", frame("NO"), frame("NO"))
        for energy in self.energies(self.run_set(path, "--quiet", basis="6-31g")).values():
            self.assertAlmostEqual(energy, MOLECULES["NO"]["energy"], delta=2e-8)

    def test_one_multiplicity_for_all(self):
        path = self.write("two.xyz", frame("O2", "unit=bohr"), frame("NH", "unit=bohr multiplicity=1"))
        found = self.energies(self.run_set(path, "--multiplicity", 3, "--quiet"))
        for k, name in enumerate(("O2", "NH"), 1):
            self.assertAlmostEqual(found[k], MOLECULES[name]["energy"], delta=2e-8)

    def test_broken_symmetry(self):
        """--uhf and --guess-mix are for batches as well."""
        path = self.write("f2.xyz", frame("F2 stretched"), frame("H2 stretched"))
        closed, mixed = (self.energies(self.run_set(path, *line, "--quiet", basis="6-31g"))
                         for line in ([], ["--uhf", "--guess-mix", "--stability"]))
        for k, name in enumerate(("F2 stretched", "H2 stretched"), 1):
            self.assertAlmostEqual(mixed[k], MOLECULES[name]["energy"], delta=2e-8)
            self.assertGreater(closed[k], mixed[k] + 0.05)

    def test_rohf(self):
        """--rohf in a batch: closed shells by RHF, open ones as alone, also into and from TREXIO files."""
        path, out, file = self.write("set.xyz", frame("H2O UHF"), frame("O2")), self.path("all.h5"), self.path("o2.h5")
        found = self.energies(self.run_set(path, "--rohf", "--quiet", "--output", out, "--keep", "all"))
        alone = run(self.write("one.xyz", frame("O2")), "--basis", "6-31g*", "--scf", "--rohf", "--quiet", *FIXED, "--output", file)
        self.assertEqual(self.energies(alone)[1], found[2])
        self.assertGreater(found[2], MOLECULES["O2"]["energy"] + 0.01)
        self.assertAlmostEqual(found[1], MOLECULES["H2O UHF"]["energy"], delta=2e-8)
        again = run(file, "--scf", "--rohf", "--quiet", "--guess", "read", *FIXED)
        self.assertAlmostEqual(self.energies(again)[1], found[2], delta=1e-8)
        self.assertRegex(again.out, "converged in [123] cycles")
        self.assertAlmostEqual(self.energies(run(file, "--scf", "--quiet", "--guess", "read", *FIXED))[1],
                               MOLECULES["O2"]["energy"], delta=2e-8)

    def test_report_and_json(self):
        result = self.run_set(self.set())
        self.assertRuns(result)
        self.assertRegex(result.out, r"set.xyz frame 2, UHF, multiplicity 3, <S\^2> 2\.0346")
        self.assertRegex(result.out, r"set.xyz frame 1\n")
        self.assertIn("  spin       4 molecules computed as open shells\n", result.out)
        result = self.run_set(self.set(), "--profile=json")
        self.assertRuns(result)
        document = json.loads(result.out)
        self.assertEqual(driver_helpers.complaints(document), [])
        for name, build in zip(self.NAMES, document["builds"]):
            scf, open_shell = build["scf"], MOLECULES[name]["multiplicity"] > 1
            self.assertEqual((scf["method"], scf["multiplicity"]), ("UHF" if open_shell else "RHF", MOLECULES[name]["multiplicity"]))
            self.assertEqual(2 * scf["occupied_num"] - scf["electrons"], scf["multiplicity"] - 1)
            self.assertAlmostEqual(scf["spin_square"], MOLECULES[name]["spin_square"], delta=1e-4)

    def test_wrong_frames_cost_themselves_alone(self):
        path = self.set(frame("OH", "unit=bohr multiplicity=3"), frame("OH", "unit=bohr"), frame("OH", "multiplicity=12 unit=bohr"))
        result = self.run_set(path, "--quiet")
        self.assertEqual(result.code, 3, str(result))
        self.assertEqual(len(LINE.findall(result.out)), len(self.NAMES))
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 4, result.err)
        for text, k, say in zip(lines[1:], (6, 7, 8), ("9 electrons with charge 0 cannot have multiplicity 3; choose another one",
                                                       "9 electrons with charge 0, an odd number: choose a multiplicity of 2",
                                                       "cannot have multiplicity 12")):
            self.assertIn(f"set.xyz: frame {k}: ", text)
            self.assertIn(say, text)

    def test_output(self):
        """Arrays and numbers of both spins, and extended .xyz."""
        out, text = self.path("all.h5"), self.path("all.xyz")
        path = self.set()
        self.assertRuns(self.run_set(path, "--output", out, "--keep", "all"))
        for k, name in enumerate(self.NAMES):
            shapes = []
            for field in ("mo_coefficient", "mo_coefficient_beta", "mo_energy_beta", "density", "spin_density"):
                shown = run("show", out, f"/molecules/{k}/{field}", program=driver_helpers.H5)
                shapes.append(shown.out.splitlines()[0] if shown.code == 0 else None)
            open_shell = MOLECULES[name]["multiplicity"] > 1
            self.assertEqual([shape is not None for shape in shapes], [True, open_shell, open_shell, True, open_shell], name)
        self.assertRuns(self.run_set(path, "--output", text))
        with open(text, encoding="ascii") as file:
            heads = [line for line in file if line.startswith("Properties")]
        self.assertIn(" multiplicity=1 ", heads[0])
        self.assertIn(" method=RHF ", heads[0])
        self.assertNotIn("spin_square", heads[0])
        self.assertIn(" multiplicity=3 ", heads[1])
        self.assertIn(" method=UHF ", heads[1])
        self.assertRegex(heads[1], r" spin_square=2\.0346\d+ occupied_num=9 occupied_beta_num=7 *$| spin_square=2\.0346\d+ "
                                   r"occupied_num=9 occupied_beta_num=7 ")

    def test_resume(self):
        """A repaired frame alone is computed, and the file is that of one run; a multiplicity is part of the key."""
        broken, whole, out, expected = (self.path(name) for name in ("a.xyz", "b.xyz", "out.h5", "expected.h5"))
        keep = ["--keep", "all", "--quiet", "--output"]
        good = [frame(name) for name in self.NAMES]
        self.write("a.xyz", *good[:-1], frame("NH2", "unit=bohr multiplicity=3"))
        self.write("b.xyz", *good)
        self.assertEqual(self.run_set(broken, *keep, out).code, 3)
        os.rename(broken, self.path("old.xyz"))
        os.rename(whole, broken)
        result = self.run_set(broken, *keep, out, "--resume")
        self.assertEqual(list(self.energies(result)), [5])
        self.assertRuns(self.run_set(broken, *keep, expected))
        self.assertEqual(digest(out), digest(expected))
        self.write("a.xyz", *good[:1], frame("O2", "unit=bohr multiplicity=1"), *good[2:])
        result = self.run_set(broken, *keep, out, "--resume")
        self.assertEqual(list(self.energies(result)), [2])
        result = self.run_set(broken, *keep, out, "--uhf", "--resume")
        self.assertFails(result, 3, "another --uhf")


class Trexio(Case):
    """Files with orbitals of two spins."""

    def orbitals(self, name="O2", basis="6-31g*", *line):
        path = self.path(f"{name}.h5")
        self.assertRuns(run(self.write("one.xyz", frame(name)), "--basis", basis, "--scf", "--quiet", *FIXED, "--output", path, *line))
        return path

    def energy(self, *line):
        result = run(*line, "--scf", "--quiet", *FIXED)
        self.assertRuns(result)
        return float(result.out.split()[1]), int(re.search(r"converged in (\d+)", result.out)[1])

    def test_read_again(self):
        """The file has the multiplicity and the densities of both spins: two cycles suffice."""
        for name, basis in (("O2", "6-31g*"), ("O2 cc-pVDZ", "cc-pvdz"), ("CH3 def2", "def2-svp"), ("OH", "6-31g*")):
            path, expected = self.orbitals(name, basis), MOLECULES[name]["energy"]
            for line in ([], ["--batch"]):
                result = run(path, "--scf", "--quiet", "--guess", "read", *FIXED, *line)
                self.assertAlmostEqual(self.energies(result)[1], expected, delta=2e-8) if line else self.assertRuns(result)
                self.assertRegex(result.out, "converged in [12] cycles")
            energy, cycles = self.energy(path)
            self.assertAlmostEqual(energy, expected, delta=2e-8)
            self.assertGreater(cycles, 3)

    def test_scaled_functions(self):
        """Functions of other norms and in another order, Cartesian and spherical."""
        for name in ("h2s_6-31gd_shuffled", "h2o_def2-svp_sph_shuffled", "nh3_3-21g_sph_shuffled"):
            source, path = os.path.join(DATASETS, f"{name}.h5"), self.path(f"{name}.h5")
            ion = ["--charge", 1, "--multiplicity", 2]
            expected, _ = self.energy(source, *ion, "--output", path)
            energy, cycles = self.energy(path, "--guess", "read")
            self.assertAlmostEqual(energy, expected, delta=1e-8)
            self.assertLessEqual(cycles, 3)

    def test_one_spin_and_two(self):
        """A guess for another spin: the sum of both for RHF, shares of it for UHF."""
        singlet, closed = self.energy(self.orbitals(), "--multiplicity", 1)[0], self.path("rhf.h5")
        self.assertAlmostEqual(self.energy(self.orbitals(), "--multiplicity", 1, "--guess", "read")[0], singlet, delta=1e-7)
        self.energy(self.orbitals(), "--multiplicity", 1, "--output", closed)
        self.assertAlmostEqual(self.energy(closed, "--multiplicity", 3, "--guess", "read")[0], MOLECULES["O2"]["energy"], delta=2e-8)
        mixed = self.orbitals("H2 stretched", "6-31g", "--uhf", "--guess-mix")
        self.assertAlmostEqual(self.energy(mixed, "--uhf", "--guess", "read")[0], MOLECULES["H2 stretched"]["energy"], delta=2e-8)

    def test_build(self):
        """J and K of the sum of both spins; there is no energy, and the report says why."""
        result = run(self.orbitals(), *FIXED)
        self.assertRuns(result)
        self.assertIn("  density    mo_coefficient and mo_occupation, sum of both spins\n", result.out)
        self.assertRegex(result.out, "energy +not known: J and K of the total density do not give that of an open shell: --scf")

    def test_hostile(self):
        """One clear line for each."""
        path, bad = self.orbitals(), self.path("bad.h5")
        for change, say in ((("number", "/electron", "electron_up_num", 5),
                             "electron/up_num: 5, and electron/dn_num is 7: expected at least as many of spin up; exchange the two spins"),
                            (("number", "/electron", "electron_dn_num", 6), "electron/num: 16, but up_num and dn_num add up to 15"),
                            (("number", "/mo", "mo_num", 30), "mo/coefficient"),
                            (("alter", "/mo/mo_spin", 3, 2), r"mo/spin\[3\] = 2: expected 0 \(spin up\) or 1 \(spin down\)"),
                            (("alter", "/mo/mo_spin", 3, -1), r"mo/spin\[3\] = -1: expected 0"),
                            (("alter", "/mo/mo_occupation", 0, 1), r"mo/occupation\[0\] = 2: expected 0 to 1, since mo/spin"),
                            (("delete", "/mo/mo_occupation"), "guess read needs a density")):
            with self.subTest(str(change)):
                verb, *rest = change
                h5(verb, path, bad, *rest)
                result = run(bad, "--scf", "--quiet", "--guess", "read", *FIXED)
                self.assertFails(result, 3, say)
                self.assertEqual(len(result.err.splitlines()), 1, result.err)

    def test_missing_spin(self):
        """Orbitals of spin up alone are no density of all electrons; exchanged occupations are doubtful."""
        path, bad = self.orbitals("OH"), self.path("bad.h5")
        shown = run("show", path, "/mo/mo_occupation", program=driver_helpers.H5).out.split()
        beta = [k for k, value in enumerate(shown[-34:]) if float(value) == 1.0][5:]
        for k in beta:
            h5("alter", path, bad, "/mo/mo_occupation", k, -1)
            os.replace(bad, path)
        self.assertFails(run(path, "--scf", "--guess", "read", "--quiet"), 3, "the density holds 5 electrons and electron/num is 9")
        h5("scale", path, bad, 0, "/mo/mo_spin")
        self.assertFails(run(bad, "--scf", "--guess", "read", "--quiet"), 3,
                         "mo/occupation: the sum is 5, of 9 electrons: these are orbitals of one spin; write those of both")


if __name__ == "__main__":
    unittest.main()
