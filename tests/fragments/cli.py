"""Command-line tests of fmo-driver --fmo. Python standard library only; started as tests/driver/cli.py is,
whose helpers it uses.

    FMO_DRIVER=.../fmo-driver FMO_H5=.../driver_h5 FMO_SOURCE=.. python3 cli.py [CLASS]...
"""

import copy
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import driver_helpers
from driver_helpers import DATASETS, SMALL, run

FOLDER = os.path.join(DATASETS, "fmo2")
WATER3 = os.path.join(FOLDER, "water3_sto-3g.json")
GLY4 = os.path.join(FOLDER, "gly4_sto-3g.json")
ETHANE = os.path.join(FOLDER, "ethane_sto-3g.json")
WATER10 = os.path.join(FOLDER, "water10_sto-3g.json")
WATER3_ENERGY, WATER10_ENERGY = -224.91061241, -749.74809652
NUMBER = r"-?\d+\.\d+"


def energy_of(result):
    return float(re.search(rf"(?:FMO2|SCF):? +({NUMBER}) hartree", result.out).group(1))


class FragmentsReport(driver_helpers.Case):
    def test_water(self):
        result = run(WATER3, "--fmo")
        self.assertEqual(result.code, 0, str(result))
        self.assertAlmostEqual(energy_of(result), WATER3_ENERGY, delta=5e-7)
        for words in ("3 of 9 atoms, 0 cut bonds", "basis      STO-3G", "iteration", "3 SCF pairs",
                      "exact below 1,"):
            self.assertIn(words, result.out)
        pairs = re.findall(rf"^ +(\d) +(\d) +{NUMBER} +SCF +{NUMBER} +{NUMBER} +({NUMBER})", result.out, re.M)
        self.assertEqual(len(pairs), 3, result.out)
        first = float(re.search(rf"FMO1 +({NUMBER})", result.out).group(1))
        self.assertAlmostEqual(first + sum(float(p[2]) for p in pairs), energy_of(result), delta=1e-7)

    def test_quiet(self):
        result = run(WATER3, "--fmo", "--quiet")
        self.assertRegex(result.out, r"^FMO2: -224\.9106\d+ hartree, \d+ iterations\n$")
        self.assertEqual(result.err, "")

    def test_exact_field_and_basis(self):
        # Exact fields and an SCF of each pair: another energy than with approximations.
        exact = run(WATER10, "--fmo", "--quiet", "--exact-field")
        self.assertAlmostEqual(energy_of(exact), -749.74814210, delta=5e-7)
        other = run(WATER3, "--fmo", "--quiet", "--basis", "6-31g")
        self.assertLess(energy_of(other), -227.9, str(other))

    def test_json(self):
        result = run(WATER3, "--fmo", "--profile=json")
        document = json.loads(result.out)
        self.assertEqual((document["format"], document["version"]), ("fmo-fragments", 1))
        system = document["systems"][0]
        self.assertAlmostEqual(system["energy_fmo2"], WATER3_ENERGY, delta=5e-7)
        total = system["energy_fmo1"] + sum(p["energy"] for p in system["pairs"])
        self.assertAlmostEqual(total, system["energy_fmo2"], delta=1e-10)
        self.assertEqual([p["pair"] for p in system["pairs"]], [[1, 2], [1, 3], [2, 3]])
        self.assertEqual([p["bonded"] for p in system["pairs"]], [False] * 3)
        self.assertEqual([m["electrons"] for m in system["monomers"]], [10, 10, 10])
        self.assertAlmostEqual(sum(system["charges_fmo2"]), 0.0, delta=1e-8)
        self.assertEqual(len(system["charges_fmo1"]), 9)

    def test_json_of_a_failure(self):
        result = run(self.path("none.json"), WATER3, "--fmo", "--profile=json")
        self.assertEqual(result.code, 3, str(result))
        systems = json.loads(result.out)["systems"]
        self.assertEqual(systems[0]["error"]["exit_code"], 3)
        self.assertIn("energy_fmo2", systems[1])

    def test_not_converged(self):
        result = run(WATER3, "--fmo", "--iterations", "2", "--quiet")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("not converged after 2 iterations", result.err)
        # There is one guess with --fmo, and a level shift is advised where none is given.
        for options, advice in (([], "more cycles or a level shift of 0.3 may help"),
                                (["--level-shift", "0.5"], "more cycles or another level shift than 0.5 may help")):
            result = run(WATER3, "--fmo", "--max-cycles", "2", "--quiet", *options)
            self.assertEqual(result.code, 1, str(result))
            self.assertRegex(result.err, "fragment [123]: SCF not converged in 2 cycles: .*; " + advice + "\n$")


class FragmentsSchema(driver_helpers.Case):
    """docs/reference/fragments.schema.json describes inputs and results."""

    def complaints(self, document, part=None):
        return driver_helpers.complaints(document, "fragments", part)

    def test_input(self):
        """The schema accepts all shipped inputs; both schema and program refuse wrong ones."""
        names = [name for name in os.listdir(FOLDER) if name.endswith(".json")]
        self.assertGreater(len(names), 5)
        for name in names:
            with open(os.path.join(FOLDER, name), encoding="ascii") as file:
                document = json.load(file)
            self.assertEqual(self.complaints(document, "input"), [], name)
            self.assertEqual(self.complaints(document), [], name)
        for change in ({"frgment": []}, {"symbols": "CH"}, {"angstrom": [[0.0, 1.0]]}, {"angstrom": [[0.0] * 4]},
                       {"fragment": [0]}, {"charge": [0.5]}, {"bonds": [[1]]}, {"bonds": [[1, 2, 3]]}, {"basis": 6},
                       {"esp": {"ptc": 2.0}}, {"esp": {"aoc_from": -1}}, {"esp": [1]}, {"bohr_in_angstrom": "x"},
                       {"fragment_name": "abc"}, {"fragment_name": [1]}):
            self.assertTrue(self.complaints({**document, **change}, "input"), change)
            # The program refuses it, too.
            path = self.path("bad.json")
            with open(path, "w", encoding="ascii") as file:
                json.dump({**document, **change}, file)
            self.assertEqual(run(path, "--fmo").code, 3, change)
        for name in ("symbols", "angstrom", "fragment", "charge"):
            self.assertTrue(self.complaints({k: v for k, v in document.items() if k != name}, "input"), name)

    def test_output(self):
        result = run(WATER3, self.path("none.json"), "--fmo", "--profile=json")
        document = json.loads(result.out)
        self.assertEqual(self.complaints(document, "output"), [])
        self.assertEqual(self.complaints(document), [])
        system = document["systems"][0]
        for name in list(system):
            broken = {**document, "systems": [{k: v for k, v in system.items() if k != name}]}
            self.assertTrue(self.complaints(broken, "output"), name)
        self.assertTrue(self.complaints({**document, "systems": [{**system, "more": 1}]}, "output"))


class FragmentsRefusals(driver_helpers.Case):
    def setUp(self):
        super().setUp()
        with open(GLY4, encoding="ascii") as file:
            self.good = json.load(file)

    def refused(self, words, **changes):
        document = copy.deepcopy(self.good)
        for name, value in changes.items():
            if value is None:
                del document[name]
            else:
                document[name] = value
        path = self.path("bad.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.assertFails(run(path, "--fmo"), 3, re.escape(words), path)

    def test_options(self):
        self.assertFails(run(WATER3), 2, "add --fmo", WATER3)
        self.assertFails(run(SMALL, "--fmo"), 2, "names end in .json, .pdb, .ent, .inp or .ajf", SMALL)
        self.assertFails(run(WATER3, "--fmo", "--scf"), 2, "--scf and --fmo exclude each other")
        self.assertFails(run(WATER3, "--fmo", "--check"), 2, "--check has no effect with --fmo: leave it out, or use it with builds")
        self.assertFails(run(WATER3, "--fmo", "--charge", "1"), 2, "--charge has no effect with --fmo: leave it out, or use it with --scf")
        self.assertFails(run(WATER3, "--fmo", "--mode", "split"), 2, "use cpu or fused")
        self.assertFails(run(WATER3, "--fmo", "--resume"), 2, "--resume has no effect without --state: add it")
        self.assertFails(run(WATER3, "--fmo", "--densities"), 2, "--densities has no effect without --output: add it")
        self.assertFails(run(SMALL, "--exact-field"), 2, "--exact-field has no effect in a build: leave it out, or use it with --fmo")
        self.assertFails(run(WATER3, GLY4, "--fmo", "--state", self.path("s")), 2, "--state takes one")
        self.assertFails(run(WATER3, "--fmo", "--basis", "nothing"), 3, "basis set 'nothing' is not known")
        self.assertFails(run(WATER3, "--fmo", "-c", "1e-5"), 2, "too loose for --fmo.*at most 1e-06 .*--force")

    def test_loose_cutoff(self):
        says = "cutoff 1e-07: the energy may have an error of 2e-06 hartree (threshold 1e-08); choose a cutoff of at most 1e-10"
        result = run(WATER3, "--fmo", "-c", "1e-7", "--quiet")
        self.assertEqual((result.code, result.err), (0, f"fmo-driver: {WATER3}: notice: {says}\n"), str(result))
        self.assertIn(f"  notice     {says}\n", run(WATER3, "--fmo", "-c", "1e-7").out)
        system = json.loads(run(WATER3, "--fmo", "-c", "1e-7", "--profile=json").out)["systems"][0]
        self.assertEqual(system["notices"], [says])
        result = run(WATER3, "--fmo", "-c", "1e-5", "--force", "--iterations", "2")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("allow more iterations; note also: cutoff 1e-05: the energy may have an error", result.err)

    def test_unused_options(self):
        if run(SMALL, "--mode", "fused").code == 0:
            self.skipTest("auto takes the GPU")
        result = run(WATER3, "--fmo", "--commit", "cas", "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("notice: --commit: no effect in mode cpu, which auto has chosen", result.err)

    def test_fields(self):
        """Wrong fields of the input are refused with their names and places."""
        good = self.good
        self.refused("basis: the file names no basis set", basis=None)
        self.refused("basis: expected a text", basis=6)
        self.refused("frgment: a field that is not known", frgment=[1])
        self.refused("symbols: expected an array", symbols="CH")
        self.refused(r"symbols[1] = 'Q': expected an element symbol", symbols=["H", "Q"] + good["symbols"][2:])
        self.refused("angstrom: expected 33 rows", angstrom=good["angstrom"][1:])
        self.refused("angstrom[0][1]: expected a number",
                     angstrom=[[0.0, "x", 0.0]] + good["angstrom"][1:])
        self.refused("angstrom[0]: expected an array of 3 numbers", angstrom=[[0.0, 1.0]] + good["angstrom"][1:])
        self.refused("angstrom[0][0] = 1e+09: expected a number from",
                     angstrom=[[1e9, 0.0, 0.0]] + good["angstrom"][1:])
        self.refused("bohr_in_angstrom: expected a number such as", bohr_in_angstrom=1.0)
        self.refused("charge: expected an array", charge=0)
        self.refused("charge[0]: expected an integer", charge=[0.5, 0, 0, 0])
        self.refused("fragment: expected an array of 33 integers", fragment=[1, 2])
        self.refused("= 5: expected 1 to 4", fragment=[5] + good["fragment"][1:])
        self.refused("fragment 5 has no atoms", charge=[0, 0, 0, 0, 0])
        self.refused("bonds: expected an array of pairs", bonds={})
        self.refused("bonds[0]: expected an array of 2 integers", bonds=[[9]])
        self.refused("= 99: expected 1 to 33", bonds=[[9, 99]])
        self.refused("both atoms are in fragment 1", bonds=[[2, 5]])
        self.refused("bonds[1] = [9, 12] is given twice", bonds=[good["bonds"][0], good["bonds"][0]])
        self.refused("bonds[0] = [9, 19]: the atoms are", bonds=[[9, 19]])
        self.refused("atoms 1 (H) and 2 (C) are closer than 0.001 bohr",
                     angstrom=[good["angstrom"][1]] + good["angstrom"][1:])
        self.refused("symbols: expected an array of 1 to", symbols=[])
        self.refused("name: expected a text of 1 to 200 bytes", name="")
        self.refused("esp: expected an object", esp=[1, 2, 2])
        self.refused("esp/ptc is not known", esp={"ptc": 2.0})
        self.refused("esp/ptc_from: expected a number", esp={"ptc_from": "2"})
        self.refused("esp/aoc_from = -1: expected 0 or more", esp={"aoc_from": -1})
        self.refused("beyond ptc_from", esp={"aoc_from": 3.0, "ptc_from": 2.0})

    def test_physics(self):
        self.refused("fragment 1 has 37 electrons with charge 1, which is odd", charge=[1, 0, 0, 0])
        self.refused("which is odd", bonds=self.good["bonds"][:2])
        self.refused("fragment 1 has 0 electrons with charge 38; expected 2 or more", charge=[38, 0, 0, 0])
        self.refused("no hybrid orbitals of C in basis set mine; there are: STO-3G, 6-31G", basis=self.other_basis())
        self.refused("no hybrid orbitals of N in basis set STO-3G, and a bond of such an atom is cut",
                     bonds=[[7, 9]] + self.good["bonds"][1:], fragment=self.cut_at_nitrogen())

    def other_basis(self):
        path = self.path("mine.json")
        with open(os.path.join(DATASETS, "basis", "3-21g.json"), encoding="utf-8") as file:
            document = json.load(file)
        document["name"] = "mine"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        return path

    def cut_at_nitrogen(self):
        # Atoms 9 to 11 (CA and its hydrogens) to fragment 2, so that the bond 7-9, N to CA, is cut.
        return self.good["fragment"][:8] + [2, 2, 2] + self.good["fragment"][11:]

    def test_files(self):
        path = self.path("x.json")
        for text, words in (("", "the file is empty"), ("{", "not valid JSON"), ("[]", "expected an object"),
                            ('{"a": 1, "a": 2}', "not valid JSON"), ("\0", "binary")):
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            self.assertFails(run(path, "--fmo"), 3, re.escape(words), path)
        self.assertFails(run(self.path("none.json"), "--fmo"), 3, "No such file")
        hybrids = self.path("hybrids")
        with open(hybrids, "w", encoding="ascii") as file:
            json.dump({"sets": [{"basis": "STO-3G", "element": "C", "orbitals": [[1.0, 0.0, 0.0, 0.0]]}]}, file)
        self.assertFails(run(GLY4, "--fmo", "--hybrids", hybrids), 3,
                         "have 4 functions, and the atom has 5: 2 s, 1 p and 0 d shells")


class FragmentsHybrids(driver_helpers.Case):
    """Orbitals at cut bonds in datasets/hybrids: for each shipped basis set, and as its script makes them."""

    FOLDER = os.path.join(DATASETS, "hybrids")
    ROWS = {"C": (6, 5), "Si": (14, 9)}
    # Bonds are not cut in these sets: hybrids have no f functions, and there are none for diffuse sets.
    WITHOUT = {"6-311+G**", "6-311G(2df,2pd)", "6-31G(2df,p)", "aug-cc-pVDZ", "cc-pVTZ", "def2-SVPD", "def2-TZVP", "def2-TZVPP"}

    def setUp(self):
        super().setUp()
        with open(os.path.join(self.FOLDER, "hybrids.json"), encoding="utf-8") as file:
            sets = json.load(file)["sets"]
        self.sets = {(entry["basis"], entry["element"]): entry["orbitals"] for entry in sets}
        self.assertEqual(len(self.sets), len(sets))

    def shells(self, document, number):
        """The numbers of s, p and d shells, and of functions of a d shell."""
        counts = [0, 0, 0]
        for shell in document["elements"][str(number)]["electron_shells"]:
            for k in range(len(shell["coefficients"])):
                momenta = shell["angular_momentum"]
                counts[momenta[k] if len(momenta) > 1 else momenta[0]] += 1
        return (*counts, 5 if "gto_spherical" in document["function_types"] else 6)

    def test_shipped(self):
        """The hybrid orbitals of all shipped basis sets have the right length and symmetry."""
        known = 0
        for name in os.listdir(os.path.join(DATASETS, "basis")):
            if not name.endswith(".json"):
                continue
            with open(os.path.join(DATASETS, "basis", name), encoding="utf-8") as file:
                document = json.load(file)
            for element, (number, rows) in self.ROWS.items():
                if str(number) not in document["elements"] or document["name"] in self.WITHOUT:
                    continue
                known += 1
                with self.subTest(basis=name, element=element):
                    s, p, d, of_d = self.shells(document, number)
                    orbitals = self.sets[document["name"], element]
                    self.assertEqual([len(row) for row in orbitals], [s + 3 * p + of_d * d] * rows)
                    # The first points along z; the others as a set are symmetric about z.
                    self.assertEqual([c for k in range(s, s + 3 * p, 3) for c in orbitals[0][k:k + 2]], [0.0] * 2 * p)
                    for k in range(s, s + 3 * p, 3):
                        x, y, xy = (sum(row[k + i] * row[k + j] for row in orbitals[1:]) for i, j in ((0, 0), (1, 1), (0, 1)))
                        self.assertAlmostEqual(x, y, delta=2e-6)
                        self.assertAlmostEqual(xy, 0.0, delta=2e-6)
        self.assertEqual(known, len(self.sets))

    def test_script(self):
        """The script makes what is shipped, the sets of which there are published orbitals included."""
        script = os.path.join(self.FOLDER, "make_hybrids.py")
        keys = (("STO-3G", "C"), ("6-31G", "C"), ("3-21G", "C"), ("cc-pVDZ", "Si"))
        made = subprocess.run(
            [sys.executable, "-c", "import json, runpy, sys; m = runpy.run_path(sys.argv[1]); "
             f"print(json.dumps([m['hybrids'](sys.argv[2], b, e) for b, e in {keys}]))", script, os.environ["FMO_DRIVER"]], capture_output=True, check=True, encoding="utf-8").stdout
        for key, rows in zip(keys, json.loads(made), strict=True):
            for row, good in zip(rows, self.sets[key], strict=True):
                for x, y in zip(row, good, strict=True):
                    self.assertAlmostEqual(x, y, delta=1e-7)
        check = subprocess.run([sys.executable, script, os.environ["FMO_DRIVER"], "--check"], capture_output=True,
                               check=False, encoding="utf-8")
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_other_elements(self):
        with open(os.path.join(FOLDER, "ethane_sto-3g.json"), encoding="ascii") as file:
            document = json.load(file)
        bda = document["bonds"][0][0]
        document["symbols"][bda - 1] = "Ge"
        path = self.path("x.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(document, file)
        self.assertFails(run(path, "--fmo"), 3, "no hybrid orbitals of Ge in basis set STO-3G, and a bond of such an atom "
                         "is cut; there are none of Ge in any basis set: cut another bond")


class FragmentsFiles(driver_helpers.Case):
    def test_output(self):
        """--output writes all results, and replaces results of its own kind only."""
        path = self.path("out.h5")
        result = run(WATER3, "--fmo", "--output", path, "--densities")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn(f"output     {path}", result.out)
        with open(path, "rb") as file:
            content = file.read()
        for name in (b"energy_fmo2", b"pair_energy", b"atom_charge_fmo2", b"monomer_density_3"):
            self.assertIn(name, content)
        # A result of fmo is replaced; another file is not.
        self.assertEqual(run(WATER3, "--fmo", "--quiet", "--output", path).code, 0)
        other = self.path("mine.h5")
        with open(other, "w", encoding="ascii") as file:
            file.write("months of work")
        self.assertFails(run(WATER3, "--fmo", "--output", other), 3, "not written by fmo")
        self.assertFails(run(WATER3, "--fmo", "--state", path), 3, "a result of fragments")
        os.symlink(WATER3, self.path("system"))
        self.assertFails(run(WATER3, "--fmo", "--output", self.path("system")), 3, "is the system itself")
        with open(other, encoding="ascii") as file:
            self.assertEqual(file.read(), "months of work")

    def shown(self, path, field):
        """Shape and values of a dataset of a result."""
        lines = subprocess.run([os.environ["FMO_H5"], "show", path, "/fmo/" + field], capture_output=True, check=True,
                               encoding="utf-8").stdout.split("\n")
        return [int(n) for n in lines[0].split()], lines[1:-1]

    def test_labels(self):
        """A picture is drawn from the result alone; names from files are made harmless."""
        with open(WATER3, encoding="ascii") as file:
            document = json.load(file)
        path, out = self.path("named.json"), self.path("out.h5")
        names = ["Wasser \u00e4\u6c34", "\u001b[31mred\nforged", "a\u202eb" + "\u00e9" * 26]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(dict(document, fragment_name=names), file)
        self.assertEqual(run(path, "--fmo", "--quiet", "--output", out).code, 0)
        self.assertEqual(self.shown(out, "monomer_name"),
                         ([3], ["Wasser \u00e4\u6c34", "?[31mred?forged", "a?b" + "\u00e9" * 26]))
        self.assertEqual(self.shown(out, "monomer_atoms"), ([3], ["3", "3", "3"]))
        self.assertEqual(self.shown(out, "monomer_charge"), ([3], ["0", "0", "0"]))
        self.assertEqual(self.shown(out, "pair"), ([3, 2], ["1", "2", "1", "3", "2", "3"]))
        size = os.path.getsize(out)
        self.assertEqual(run(path, "--fmo", "--quiet", "--output", out, "--threads", "1").code, 0)
        self.assertEqual(os.path.getsize(out), size)
        # Any bytes, of an input of GAMESS.
        with open(path, "w", encoding="utf-8") as file:
            json.dump(document, file)
        self.assertEqual(run(path, "--fmo", "--quiet", "--output", out).code, 0)
        missing = subprocess.run([os.environ["FMO_H5"], "show", out, "/fmo/monomer_name"], capture_output=True)
        self.assertIn(b"has no /fmo/monomer_name", missing.stdout + missing.stderr)
        path = self.path("w.inp")
        with open(path, "wb") as file:
            file.write(b" $FMO NFRAG=3 FRGNAM(1)=W\xe4sser,\x1b[2J,ok\n")
            file.write(" INDAT(1)={} $END\n".format(" ".join(map(str, document["fragment"]))).encode())
            file.write(b" $BASIS GBASIS=STO NGAUSS=3 $END\n $FMOXYZ\n")
            for symbol, xyz in zip(document["symbols"], document["angstrom"]):
                file.write(" {} {} {!r} {!r} {!r}\n".format(symbol, symbol, *xyz).encode())
            file.write(b" $END\n")
        self.assertEqual(run(path, "--fmo", "--quiet", "--output", out).code, 0)
        self.assertEqual(self.shown(out, "monomer_name"), ([3], ["W?sser", "?[2J", "ok"]))

    def test_bonds(self):
        out = self.path("out.h5")
        path = os.path.join(FOLDER, "ethane_sto-3g.json")
        self.assertEqual(run(path, "--fmo", "--quiet", "--output", out).code, 0)
        with open(path, encoding="ascii") as file:
            bonds = json.load(file)["bonds"]
        self.assertEqual(self.shown(out, "bond"), ([len(bonds), 2], [str(a) for bond in bonds for a in bond]))
        self.assertEqual(self.shown(out, "monomer_atoms"), ([2], ["4", "4"]))


class FragmentsResume(driver_helpers.Case):
    def test_state_of_something_else(self):
        state = self.path("state")
        self.assertEqual(run(WATER3, "--fmo", "--quiet", "--state", state).code, 0)
        result = run(WATER3, "--fmo", "--quiet", "--state", state, "--resume", "--basis", "6-31g")
        self.assertFails(result, 3, "the state of another calculation")
        with open(state, "r+b") as file:
            file.truncate(os.path.getsize(state) - 8)
        self.assertFails(run(WATER3, "--fmo", "--quiet", "--state", state, "--resume"), 3,
                         "damaged: its checksum is wrong")
        with open(state, "wb") as file:
            file.write(b"fmo fragment state 2\n")
        self.assertFails(run(WATER3, "--fmo", "--quiet", "--state", state, "--resume"), 3, "not a state")
        self.assertFails(run(WATER3, "--fmo", "--quiet", "--state", self.path("none"), "--resume"), 3,
                         "leave out --resume")

    def test_damaged_state(self):
        state, good = self.path("state"), None
        self.assertEqual(run(WATER3, "--fmo", "--quiet", "--state", state).code, 0)
        with open(state, "rb") as file:
            good = file.read()
        for at in (76, 80, 84, 92, 150, len(good) // 2, len(good) - 3):
            bad = bytearray(good)
            bad[at] ^= 32
            with open(state, "wb") as file:
                file.write(bad)
            self.assertFails(run(WATER3, "--fmo", "--quiet", "--state", state, "--resume"), 3,
                             "damaged: its checksum is wrong")

    def test_state_of_other_settings(self):
        """A state with a looser convergence is resumed; one with another set of functions is refused."""
        state = self.path("state")
        whole = energy_of(run(WATER3, "--fmo", "--quiet"))
        loose = ("--field-convergence", "1e-2", "--gradient-convergence", "1e-2", "--convergence", "1e-3")
        self.assertEqual(run(WATER3, "--fmo", "--quiet", "--state", state, *loose).code, 0)
        result = run(WATER3, "--fmo", "--quiet", "--state", state, "--resume")
        self.assertAlmostEqual(energy_of(result), whole, delta=2e-8)
        self.assertFails(run(WATER3, "--fmo", "--quiet", "--state", state, "--resume", "--linear-dependence", "0.1"), 3,
                         "the state of another calculation")

    def test_files_that_inputs_name(self):
        """--force does not replace a file that the run has read."""
        for name in ("gly5.ajf", "gly5.pdb"):
            shutil.copy(os.path.join(FOLDER, name), self.path(name))
        os.link(self.path("gly5.pdb"), self.path("gly5"))  # --output refuses .pdb
        for option in ("--pairs", "--heat-map", "--output"):
            self.assertFails(run(self.path("gly5.ajf"), "--fmo", "--quiet", option, self.path("gly5"), "--force"), 3,
                             f"{option} is the geometry itself")
        with open(WATER3, encoding="ascii") as file:
            document = json.load(file)
        shutil.copy(os.path.join(DATASETS, "basis", "sto-3g.json"), self.path("sto.json"))
        document["basis"] = self.path("sto.json")
        with open(self.path("system.json"), "w", encoding="ascii") as file:
            json.dump(document, file)
        os.link(self.path("sto.json"), self.path("sto"))
        self.assertFails(run(self.path("system.json"), "--fmo", "--quiet", "--output", self.path("sto"), "--force"),
                         3, "--output is the basis set itself")

    def test_too_few_iterations(self):
        result = run(WATER3, "--fmo", "--quiet", "--iterations", "1")
        self.assertFails(result, 1, "not converged after 1 iteration; allow more")

    def test_state_of_other_hybrids(self):
        state, hybrids = self.path("state"), self.path("hybrids.json")
        self.assertEqual(run(ETHANE, "--fmo", "--quiet", "--state", state).code, 0)
        with open(os.path.join(DATASETS, "hybrids", "hybrids.json"), encoding="utf-8") as file:
            document = json.load(file)
        for scale, code in ((1.0, 0), (1.001, 3)):
            other = copy.deepcopy(document)
            other["sets"][0]["orbitals"][0][1] *= scale
            with open(hybrids, "w", encoding="ascii") as file:
                json.dump(other, file)
            result = run(ETHANE, "--fmo", "--quiet", "--state", state, "--resume", "--hybrids", hybrids)
            self.assertEqual(result.code, code, str(result))
        self.assertFails(result, 3, "the state of another calculation: .* hybrids")

    def test_iterations_one_by_one(self):
        state = self.path("state")
        whole = energy_of(run(WATER3, "--fmo", "--quiet", "--field-convergence", "1e-10"))
        for count in (2, 4):
            result = run(WATER3, "--fmo", "--quiet", "--state", state, "--iterations", count,
                         *(["--resume"] if count > 2 else []))
            self.assertEqual(result.code, 1, str(result))
        result = run(WATER3, "--fmo", "--state", state, "--resume", "--field-convergence", "1e-10")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("resumed", result.out)
        self.assertAlmostEqual(energy_of(result), whole, delta=1e-9)

    def test_killed(self):
        state = self.path("state")
        with subprocess.Popen([driver_helpers.DRIVER, WATER10, "--fmo", "--quiet", "--state", state],
                              stdout=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 120
            while not os.path.exists(state) and time.monotonic() < deadline:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
        self.assertTrue(os.path.exists(state))
        self.assertNotEqual(process.returncode, 0, "it was done before it could be killed")
        result = run(WATER10, "--fmo", "--state", state, "--resume")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("resumed", result.out)
        self.assertAlmostEqual(energy_of(result), WATER10_ENERGY, delta=5e-7)


if __name__ == "__main__":
    unittest.main()
