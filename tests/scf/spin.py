"""Charge and spin in fmo-driver --scf: comments of .xyz files, and molecules whose ground state is not a
closed shell. Python standard library only; started as tests/driver/cli.py is.

    FMO_DRIVER=.../fmo-driver FMO_SOURCE=.. python3 spin.py [CLASS]...
"""

import json
import unittest

import driver_helpers
from driver_helpers import run


class ScfComment(driver_helpers.Case):
    """Charge and multiplicity in the comment of a .xyz file."""

    def energy(self, comment, *line):
        path = self.path("hydroxide.xyz")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"2\n{comment}\nO 0 0 0\nH 0 0 0.97\n")
        return run(path, "--basis", "sto-3g", "--scf", "--quiet", "--mode", "cpu", "--threads", "1", *line)

    def test_charge(self):
        expected = self.energy("", "--charge", "-1")
        self.assertRuns(expected)
        for comment in ("charge=-1", 'pbc="F F F" total_charge="-1" multiplicity=1'):
            self.assertEqual(self.energy(comment).out, expected.out)
            self.assertEqual(self.energy(comment, "--batch").out.split(": ", 1)[1], expected.out)
        self.assertEqual(self.energy("charge=+1", "--charge", "-1").out, expected.out)
        path = self.path("hydroxide.xyz")  # with charge=+1 in it
        self.assertIn("HO, 2 atoms, 10 electrons, charge -1\n",
                      run(path, "--basis", "sto-3g", "--scf", "--charge", "-1", "--mode", "cpu").out)
        self.assertFails(self.energy(""), 3, "9 electrons.*odd")
        self.assertFails(self.energy("charge=-1", "--charge", "0"), 3, "9 electrons.*odd")

    def test_multiplicity(self):
        self.assertEqual(self.energy("charge=1 multiplicity=3", "--batch").out.split()[-5:],
                         self.energy("charge=1 multiplicity=3").out.split()[-5:])
        for line in ([], ["--batch"]):
            self.assertRuns(self.energy("charge=-1 multiplicity=3", "--multiplicity", "1", *line))

    def test_open_shells(self):
        """UHF: by the comment or the command line, in the report, in JSON and in Molden files."""
        for comment, line in (("charge=1 multiplicity=3", []), ("", ["--charge", "1", "--multiplicity", "3"])):
            result = self.energy(comment, *line)
            self.assertRuns(result)
            self.assertAlmostEqual(float(result.out.split()[1]), -74.0366366469, delta=1e-7)
        path, molden = self.path("hydroxide.xyz"), self.path("oh.molden")
        result = run(path, "--basis", "sto-3g", "--scf", "--mode", "cpu", "--charge", "0", "--multiplicity", "2", "--stability",
                     "--molden", molden, "--profile=json")
        self.assertRuns(result)
        scf = json.loads(result.out)["builds"][0]["scf"]
        self.assertEqual((scf["method"], scf["multiplicity"], scf["electrons"], scf["occupied_num"]), ("UHF", 2, 9, 5))
        self.assertAlmostEqual(scf["spin_square"], 0.75, delta=0.02)
        self.assertGreater(scf["hessian_lowest"], -1e-5)
        with open(molden, encoding="ascii") as file:
            text = file.read()
        self.assertEqual((text.count("Spin= Alpha"), text.count("Spin= Beta")), (6, 6))
        self.assertEqual(sum(float(one.split()[0]) for one in text.split("Occup= ")[1:]), 9.0)
        self.assertIn("UHF, multiplicity 2: <S^2> 0.75", run(path, "--basis", "sto-3g", "--scf", "--mode", "cpu", "--charge", "0",
                                                            "--multiplicity", "2").out)
        self.assertFails(self.energy("", "--multiplicity", "3"), 3, "9 electrons.* cannot have multiplicity 3")

    def test_rohf(self):
        """ROHF: the report, JSON, Molden files, a density that was read, second order, and what it refuses."""
        path, molden = self.path("hydroxide.xyz"), self.path("oh.molden")
        line = ["--charge", "0", "--multiplicity", "2", "--rohf"]
        self.assertRuns(self.energy("", *line))
        result = run(path, "--basis", "sto-3g", "--scf", "--mode", "cpu", *line, "--molden", molden, "--profile=json")
        self.assertRuns(result)
        scf = json.loads(result.out)["builds"][0]["scf"]
        self.assertEqual((scf["method"], scf["multiplicity"], scf["electrons"], scf["occupied_num"]), ("ROHF", 2, 9, 5))
        self.assertAlmostEqual(scf["spin_square"], 0.75, delta=1e-10)
        with open(molden, encoding="ascii") as file:
            text = file.read()
        self.assertEqual([float(one.split()[0]) for one in text.split("Occup= ")[1:]], [2.0] * 4 + [1.0, 0.0])
        self.assertNotIn("Spin= Beta", text)
        result = run(path, "--basis", "sto-3g", "--scf", "--mode", "cpu", *line)
        self.assertIn("ROHF, multiplicity 2: <S^2> 0.750000, exact 0.750000\n", result.out)
        self.assertIn("6, 5 of them occupied, 4 of those doubly", result.out)
        closed = [self.energy("", "--charge", "-1", *one) for one in ([], ["--rohf"])]
        self.assertEqual(closed[0].out, closed[1].out)
        water = ["--scf", "--charge", "1", "--multiplicity", "2", "--rohf", "--quiet", "--mode", "cpu"]
        energies = [float(run(driver_helpers.SMALL, *water, "--guess", guess).out.split()[1])
                    for guess in ("sad", "read")]
        self.assertAlmostEqual(energies[0], energies[1], delta=1e-7)
        result = run(path, "--basis", "sto-3g", "--scf", "--mode", "cpu", *line, "--solver", "newton", "--stability=check")
        self.assertRegex(result.out, r"Newton, \d+ builds(.|\n)*lowest eigenvalue of the orbital Hessian -?0\.0000")
        for more, code, words in ((["--uhf"], 2, "--rohf and --uhf, which is for UHF, exclude each other"),
                                  (["--guess-mix"], 2, "--rohf and --guess-mix, which")):
            self.assertFails(self.energy("", *line, *more), code, words)
        self.assertNotEqual(run(path, "--basis", "sto-3g", "--scf", "--mode", "fused", *line).code, 0)

    def test_broken_symmetry(self):
        path = self.path("h2.xyz")
        with open(path, "w", encoding="ascii") as file:
            file.write("2\n\nH 0 0 0\nH 0 0 3\n")
        energies = [float(run(path, "--basis", "6-31g", "--scf", "--quiet", "--mode", "cpu", *line).out.split()[1])
                    for line in ([], ["--uhf"], ["--uhf", "--guess-mix"])]
        self.assertAlmostEqual(energies[0], energies[1], delta=1e-7)
        self.assertLess(energies[2], energies[0] - 0.1)

    def test_two_numbers(self):
        """A comment such as "-2 1", as Psi4 writes it."""
        expected = self.energy("", "--charge", "-1")
        self.assertEqual(self.energy("-1 1").out, expected.out)
        self.assertEqual(self.energy("+1 1", "--charge", "-1").out, expected.out)
        for line in ([], ["--batch"]):
            self.assertRuns(self.energy("1 3", *line))
            self.assertRuns(self.energy("0 2", *line))
            self.assertFails(self.energy("-1 2", *line), 3, "9 electrons.*odd")  # a title
            result = self.energy("7 9", "--charge", "-1", *line)
            self.assertRuns(result)
        path = self.path("sulfate.xyz")
        with open(path, "w", encoding="ascii") as file:
            file.write("5\n-2 2\nS 0 0 0\nO .86 .86 .86\nO -.86 -.86 .86\nO -.86 .86 -.86\nO .86 -.86 -.86\n")
        for line in ([], ["--batch"]):
            result = run(path, "--basis", "sto-3g", "--scf", "--quiet", *line)
            self.assertIn(result.code, (0, 1), str(result))  # the neutral molecule is hard to converge
            self.assertRegex(result.err, r"sulfate.xyz: notice: line 2, '-2 2', was taken as a title and the charge as 0: ")
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path, "w", encoding="ascii") as file:
            file.write(text.replace("-2 2", "-2 1"))
        result = run(path, "--basis", "sto-3g", "--scf")
        self.assertRuns(result)
        self.assertIn("  system     O4S, 5 atoms, 50 electrons, charge -2\n", result.out)


class ScfSpin(driver_helpers.Case):
    """Molecules whose ground state is not a closed shell are computed as one, with a notice."""

    def notices(self, atoms, *line, comment=""):
        path = self.path("molecule.xyz")
        with open(path, "w", encoding="ascii") as file:
            for molecule in atoms:
                words = molecule.split()
                file.write(f"{len(words)}\n{comment}\n")
                file.writelines(f"{symbol} 0 {0.3 * (k % 2)} {1.2 * k}\n" for k, symbol in enumerate(words))
        result = run(path, "--basis", "sto-3g", "--scf", "--quiet", "--mode", "cpu", "--max-cycles", "300", *line)
        return [text for text in result.err.splitlines() if "notice: " in text]

    SAYS = (r"notice: computed as a singlet, a closed shell, but the ground state of {} has unpaired electrons, "
            r"which --multiplicity 3, or another one, would compute; --multiplicity 1 states that the singlet is intended")

    def test_open(self):
        for atoms, charge, name in (("O O", 0, "O2"), ("O", 0, "O"), ("C", 0, "C"), ("Si", 0, "Si"), ("S", 0, "S"),
                                    ("N", 1, "N with charge \\+1"), ("B B", 0, "B2"), ("N O", -1, "NO with charge -1"),
                                    ("S O", 0, "OS"), ("S S", 0, "S2"), ("N H", 0, "HN"), ("H C H", 0, "CH2"),
                                    ("Si Si", 0, "Si2"), ("O H", 1, "HO with charge \\+1")):
            line = ["--charge", str(charge)] if charge else []
            found = self.notices([atoms], *line)
            self.assertEqual(len(found), 1, f"{atoms}: {found}")
            self.assertRegex(found[0], self.SAYS.format(name) + "$")
            self.assertEqual(self.notices([atoms], "--multiplicity", "1", *line), [])
        self.assertEqual(self.notices(["O O"], comment="multiplicity=1"), [])
        self.assertEqual(self.notices(["O O"], comment="0 1"), [])

    def test_closed(self):
        for atoms, charge in (("He", 0), ("Ne", 0), ("Be", 0), ("Mg", 0), ("Ca", 0), ("Zn", 0), ("F", -1), ("Na", 1),
                              ("O", -2), ("N N", 0), ("C O", 0), ("N O", 1), ("O H", -1), ("H F", 0), ("H O H", 0),
                              ("O C O", 0), ("O O", -2), ("H", -1), ("Li", 1), ("Ga", 1)):
            self.assertEqual(self.notices([atoms], *(["--charge", str(charge)] if charge else [])), [], atoms)

    def test_batch(self):
        """A batch prints the notice once, with the number of further molecules."""
        found = self.notices(["O O", "H H", "O", "B B"], "--batch", "--threads", "1")
        self.assertEqual(len(found), 2, found)
        self.assertRegex(found[0], r"frame \d: " + self.SAYS.format(r"\w+"))
        self.assertRegex(found[1], "^fmo-driver: notice: 2 more molecules with unpaired electrons in the ground state computed as singlets$")

    def test_fragments(self):
        """For atoms, ions and small molecules as fragments the notice names the first, and counts the others."""
        path = self.path("ions.json")
        symbols, fragment, charge = ["O", "O", "H", "H", "O", "O", "Mg"], [1, 2, 2, 2, 3, 3, 4], [0, 0, 0, 2]
        places = [[0, 0, 0], [6, 0, 0], [6.6, 0.8, 0], [6.6, -0.8, 0], [12, 0, 0], [12, 0, 1.2], [18, 0, 0]]
        for first, count, says in (("O", 7, "fragment 1 .* ground state of O has unpaired .*; the same holds for 1 more fragment$"),
                                   ("O", 4, "fragment 1 .* ground state of O has unpaired .* computed here$"),
                                   ("Ne", 4, None)):
            with open(path, "w", encoding="ascii") as file:
                json.dump({"symbols": [first, *symbols[1:count]], "angstrom": places[:count],
                           "fragment": fragment[:count], "charge": charge[:fragment[count - 1]],
                           "basis": "sto-3g"}, file)
            result = run(path, "--fmo", "--mode", "cpu", "--quiet")
            self.assertEqual(result.code, 0, str(result))
            if says:
                self.assertRegex(result.err, f"(?m)notice: {says}")
            else:
                self.assertEqual(result.err, "")
        with open(path, encoding="ascii") as file:
            text = file.read()
        with open(path, "w", encoding="ascii") as file:  # failure to converge names the likely reason
            file.write(text.replace("Ne", "Fe").replace("[0, 0]", "[2, 0]"))
        result = run(path, "--fmo", "--mode", "cpu", "--quiet", "--max-cycles", "2")
        self.assertEqual(result.code, 1, str(result))
        self.assertRegex(result.err, r"not converged(?s:.*)notice: fragment 1 .* Fe with charge \+2 has unpaired")


if __name__ == "__main__":
    unittest.main()
