"""The table of pairs and the heat map of fmo-driver --fmo, and of made-up systems (draw.c). Python
standard library only; started as cli.py is, with FMO_DRAW, the program fragment_draw.

    FMO_DRIVER=.. FMO_DRAW=.. FMO_SOURCE=.. python3 tables.py [CLASS]...
"""

import csv
import json
import math
import os
import re
import runpy
import unittest
import xml.etree.ElementTree as ElementTree

import driver_helpers
from driver_helpers import run
from cli import FOLDER, WATER3, ETHANE, GLY4

DRAW = os.environ.get("FMO_DRAW", "build/tests/fragment_draw")
COLUMNS = ["fragment_i", "fragment_j", "name_i", "name_j", "kind", "bonded", "distance_vdw", "internal_hartree",
           "transfer_hartree", "energy_hartree", "energy_kcal_mol", "electrostatic_kcal_mol",
           "exchange_transfer_kcal_mol"]
KCAL = 627.5094740631
SVG = "{http://www.w3.org/2000/svg}"
# What JSON may hold and a text in XML or a table must not, and what programs read as something else.
HOSTILE = ["<script>alert(1)</script>", "a\tb", "c\nfragment_i\t1", "&amp;\"'>", "\x1b[31mred", "]]>", "-->",
           "\u202eevil", "\ufffe", "\u00e5ngstr\u00f6m \u6c34", "\"quoted", "x" * 60]


def pairs_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return rows


def published_hybrids(path):
    """Writes the published hybrid orbitals of carbon in STO-3G, which ABINIT-MP uses; ours differ by 1e-5."""
    scripts = runpy.run_path(os.path.join(FOLDER, "..", "hybrids", "make_hybrids.py"))
    with open(path, "w", encoding="ascii") as file:
        json.dump({"sets": [{"basis": "STO-3G", "element": "C", "orbitals": scripts["published"]("STO-3G")}]}, file)
    return path


class Map:
    """The content of a heat map's XML."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = file.read()
        self.root = ElementTree.fromstring(self.content)
        by_id = {e.get("id"): e for e in self.root.iter() if e.get("id")}
        self.cells = {}
        for e in by_id["pairs"]:
            a, b, c, d = map(int, re.fullmatch(r"M(\d+) (\d+)h1v1h-1zM(\d+) (\d+)h1v1h-1z", e.get("d")).groups())
            assert (a, b) == (d, c) and a < b and (a, b) not in self.cells, e.get("d")
            self.cells[a, b] = e.get("fill"), e.find(SVG + "title").text
        self.names = [e.text for e in by_id["names"].iter(SVG + "text")]
        self.numbers = [e.text for e in by_id["numbers"]] if "numbers" in by_id else []
        self.texts = ["".join(e.itertext()) for e in self.root.iter(SVG + "text")]
        self.bar = "bar" in by_id

    def red(self, i, j):
        """The difference of red and blue of a cell."""
        colour = self.cells[i, j][0]
        return int(colour[1:3], 16) - int(colour[5:7], 16)


class Case(driver_helpers.Case):
    def draw(self, fragments, seed=1, names=()):
        table, picture, self.page = self.path("t.tsv"), self.path("m.svg"), self.path("p.html")
        result = run(fragments, seed, table, picture, self.page, *names, program=DRAW)
        self.assertEqual((result.code, result.err), (0, ""))
        return pairs_of(table), Map(picture)

    def system(self, **changes):
        with open(WATER3, encoding="ascii") as file:
            document = json.load(file)
        path = self.path("system.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**document, **changes}, file)
        return path


class Table(Case):
    def compare(self, *arguments):
        """The table against the JSON of the same run."""
        table = self.path("t.tsv")
        result = run(*arguments, "--fmo", "--profile=json", "--pairs", table)
        self.assertEqual(result.code, 0, str(result))
        system = json.loads(result.out)["systems"][0]
        rows = pairs_of(table)
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual(len(rows), len(system["pairs"]))
        for row, pair in zip(rows, system["pairs"]):
            i, j = int(row["fragment_i"]), int(row["fragment_j"])
            self.assertEqual([i, j], pair["pair"])
            self.assertEqual((row["kind"], row["bonded"]), (pair["kind"], str(int(pair["bonded"]))))
            self.assertEqual([row["name_i"], row["name_j"]], [system["monomers"][k - 1]["name"] or "" for k in (i, j)])
            self.assertAlmostEqual(float(row["distance_vdw"]), pair["distance"], delta=6e-7)
            for name in ("internal", "transfer", "energy"):
                self.assertAlmostEqual(float(row[name + "_hartree"]), pair[name], delta=6e-13)
            self.assertAlmostEqual(float(row["energy_kcal_mol"]), KCAL * pair["energy"], delta=6e-9)
            es = pair["electrostatic"]
            self.assertEqual(es is None, pair["bonded"])
            self.assertEqual((row["electrostatic_kcal_mol"] == "", row["exchange_transfer_kcal_mol"] == ""), (es is None,) * 2)
            if es is not None:
                self.assertAlmostEqual(float(row["electrostatic_kcal_mol"]), KCAL * es, delta=6e-9)
                self.assertAlmostEqual(float(row["exchange_transfer_kcal_mol"]), KCAL * (pair["energy"] - es), delta=6e-9)
        return rows

    def test_json(self):
        self.assertEqual(len(self.compare(WATER3)), 3)
        self.assertEqual([row["bonded"] for row in self.compare(ETHANE)], ["1"])
        rows = self.compare(self.system(fragment_name=["Wa", "Wb", "W c"]))
        self.assertEqual([row["name_j"] for row in rows], ["Wb", "W c", "W c"])

    def test_peptide(self):
        if os.environ.get("FMO_TEST_SMALL"):
            self.skipTest("small systems alone")
        rows = self.compare(os.path.join(FOLDER, "gly4.pdb"), "--basis", "sto-3g")
        self.assertEqual([(row["name_i"], row["name_j"]) for row in rows][:2], [("ACE1-GLY2", "GLY3"), ("ACE1-GLY2", "GLY4")])
        self.assertEqual({row["kind"] for row in rows}, {"scf"})
        self.assertEqual(sum(int(row["bonded"]) for row in rows), 3)

    def test_electrostatic(self):
        with open(WATER3, encoding="ascii") as file:
            esp = json.load(file)["esp"]
        rows = self.compare(self.system(esp={**esp, "es_dimers_from": 0.0}))
        self.assertEqual({row["kind"] for row in rows}, {"es"})
        self.assertEqual({float(row["exchange_transfer_kcal_mol"]) for row in rows}, {0.0})

    def test_parts(self):
        """The electrostatics of ABINIT-MP's pairs, which its log of (Gly)5 has in six digits."""
        if os.environ.get("FMO_TEST_SMALL"):
            self.skipTest("small systems alone")
        rows = self.compare(os.path.join(FOLDER, "gly5.ajf"), "--hybrids", published_hybrids(self.path("published.json")))
        known = {("1", "3"): 1.835846, ("1", "4"): 0.852259, ("2", "4"): 1.267104, ("1", "5"): 1.749720,
                 ("2", "5"): -4.494406, ("3", "5"): 3.758195}
        found = {(row["fragment_i"], row["fragment_j"]): float(row["electrostatic_kcal_mol"]) for row in rows
                 if row["electrostatic_kcal_mol"]}
        self.assertEqual(set(found), set(known))
        for pair, energy in known.items():
            self.assertAlmostEqual(found[pair], energy, delta=3e-6)

    def test_one_atom_detached_twice(self):
        """Both neighbours of an atom that lost two bonds have it: however far, their pair has an SCF."""
        with open(os.path.join(FOLDER, "butane_6-31gd.json"), encoding="ascii") as file:
            document = json.load(file)
        carbon = [k for k, symbol in enumerate(document["symbols"]) if symbol == "C"]
        near = [min(range(4), key=lambda c: sum((x - y) ** 2 for x, y in zip(document["angstrom"][carbon[c]], xyz)))
                for xyz in document["angstrom"]]
        changes = {"fragment": [(1, 2, 3, 3)[c] for c in near], "basis": "sto-3g",
                   "bonds": [[carbon[1] + 1, carbon[0] + 1], [carbon[1] + 1, carbon[2] + 1]],
                   "esp": {"aoc_from": 0.0, "ptc_from": 0.0, "es_dimers_from": 0.0}}
        path = self.path("twice.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump({**document, **changes}, file)
        result = run(path, "--fmo", "--profile=json")
        self.assertEqual(result.code, 0, str(result))
        pairs = json.loads(result.out)["systems"][0]["pairs"]
        self.assertEqual([(pair["kind"], pair["bonded"], pair["electrostatic"]) for pair in pairs],
                         [("scf", True, None), ("scf", False, None), ("scf", True, None)])

    def test_made_up(self):
        for n in (1, 2, 3, 65):
            rows, _ = self.draw(n)
            self.assertEqual(len(rows), n * (n - 1) // 2)
        rows, _ = self.draw(12, 3, HOSTILE)
        self.assertEqual(len(rows), 66)
        self.assertEqual(rows[0]["name_j"], "a?b")
        self.assertEqual(rows[1]["name_j"], "c?fragment_i?1")
        self.assertTrue(all(None not in row and None not in row.values() for row in rows))
        self.assertTrue(all((row["electrostatic_kcal_mol"] == "") == (row["bonded"] == "1") for row in rows))
        self.assertEqual({row["name_j"] for row in rows if row["fragment_j"] == "11"}, {"'quoted"})


class HeatMap(Case):
    def check(self, rows, picture, all_cells=True):
        """The cells of a heat map agree with the rows of the table of pairs."""
        near = sorted(abs(float(row["energy_kcal_mol"])) for row in rows if row["bonded"] == "0" and row["kind"] == "scf")
        if all_cells:
            self.assertEqual(len(picture.cells), len(rows))
        for row in rows:
            cell = int(row["fragment_i"]) - 1, int(row["fragment_j"]) - 1
            energy = float(row["energy_kcal_mol"])
            if cell not in picture.cells:
                self.assertEqual((all_cells, row["bonded"]), (False, "0"))
                self.assertLess(abs(energy), 0.01 * 2.5 * max(near[math.ceil(0.9 * len(near)) - 1], 0.1))
                continue
            fill, title = picture.cells[cell]
            name = row["fragment_i"] + (" " + row["name_i"] if row["name_i"] else "")
            self.assertIn(name.replace("'", ""), title.replace("\"", "").replace("'", ""))
            self.assertIn("SCF" if row["kind"] == "scf" else "electrostatic", title)
            self.assertAlmostEqual(float(title.rpartition("distance ")[2]), float(row["distance_vdw"]), delta=5.6e-3)
            self.assertEqual("cut bond" in title, row["bonded"] == "1")
            if row["bonded"] == "1":
                self.assertIn(fill, ("url(#bonded)", "#b0b0b0"))
                continue
            found = float(re.search(r"(−?[\d.]+) kcal/mol", title).group(1).replace("−", "-"))
            self.assertAlmostEqual(found, energy, delta=6e-4)
            if abs(energy) > 1.0: # red attracts
                self.assertEqual(picture.red(*cell) > 0, energy < 0, title)

    def test_sizes(self):
        # Sizes around all those at which the picture omits numbers, hatches, lines or names.
        for n in (1, 2, 3, 8, 9, 16, 17, 25, 26, 39, 40, 41, 70, 71, 72, 160, 161, 200, 250, 251, 300):
            with self.subTest(n=n):
                rows, picture = self.draw(n, n)
                self.check(rows, picture)
                self.assertEqual(len(picture.numbers), len(rows) - (n - 1) if n <= 25 else 0)
                self.assertEqual(picture.bar, n > 2)
                if n <= 40:
                    self.assertEqual(picture.names, [str(k // 2 + 1) for k in range(2 * n)])
                self.assertLess(len(picture.names), 2 * 101)
                self.assertLess(len(set(picture.names)), 101)
        rows, picture = self.draw(301, 5)
        self.check(rows, picture, False)
        self.assertLess(len(picture.cells), len(rows) // 2)

    def test_named(self):
        rows, picture = self.draw(20, 2, ["ASN%d" % k for k in range(1, 21)])
        self.check(rows, picture)
        self.assertEqual(picture.names[::2], ["ASN%d" % k for k in range(1, 21)])
        # A fragment without a name is shown by its number.
        _, picture = self.draw(4, 2, ["A", "", "B", ""])
        self.assertEqual(picture.names[::2], ["A", "2", "B", "4"])

    def test_hostile(self):
        """Names with markup, control characters, invalid UTF-8 or many characters are made harmless."""
        rows, picture = self.draw(12, 3, HOSTILE)
        self.check(rows, picture)
        self.assertEqual(picture.texts[0], "Pair interactions: <script>alert(1)</script>")
        self.assertEqual(len(list(picture.root.iter("script"))) + len(list(picture.root.iter(SVG + "script"))), 0)
        self.assertEqual(picture.names[2], "a?b")
        self.assertEqual(picture.names[18], "ångström 水")
        self.assertEqual(picture.names[-1], "x" * 15 + "…")
        # Names of 60 characters stay in the picture.
        _, wide = self.draw(4, 3, ["x" * 60, "y" * 60])
        self.assertIn("strongest: 1 " + "x" * 15 + "… – ", "\n".join(wide.texts))
        self.assertLess(max(len(text) for text in wide.texts), 75)
        text = picture.content.decode("utf-8")
        self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f\u202e\ufffe\uffff]")
        self.assertNotIn("<script", text)
        # Bytes that are no UTF-8, as an input of GAMESS may have them.
        result = run(2, 1, self.path("t"), self.path("m"), self.path("p"), b"\xff\xc3".decode("utf-8", "surrogateescape"), program=DRAW)
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(Map(self.path("m")).names[0], "??")

    def test_no_numbers(self):
        _, picture = self.draw(5, 0)
        self.assertEqual(len(picture.cells), 10)
        self.assertEqual(picture.cells[0, 2][0], "#ffffff")
        self.assertIn("energy not finite", picture.cells[0, 2][1])
        self.assertFalse(picture.bar)

    def test_range(self):
        # The share of pairs within the colours, and the note about the others.
        for seed in range(1, 6):
            rows, picture = self.draw(50, seed)
            energies = [float(row["energy_kcal_mol"]) for row in rows if row["bonded"] == "0"]
            near = [abs(float(row["energy_kcal_mol"])) for row in rows if row["bonded"] == "0" and row["kind"] == "scf"]
            line = next(text for text in picture.texts if text.startswith("Colours end"))
            end, smallest, largest = (float(x.replace("−", "-")) for x in
                                re.fullmatch(r"Colours end at ±(\S+) kcal/mol; energies go from (\S+) to (\S+)\.", line).groups())
            self.assertGreaterEqual(sum(x <= end for x in near), 0.9 * len(near))
            self.assertLess(sum(x <= end / 2.5 for x in near), 0.9 * len(near))
            self.assertAlmostEqual(smallest, min(energies), delta=0.051)
            self.assertAlmostEqual(largest, max(energies), delta=0.051)

    def test_driver(self):
        picture, table = self.path("m.svg"), self.path("t.tsv")
        result = run(self.system(name="a<b", fragment_name=["<1>", "&", "3"]), "--fmo", "--heat-map", picture, "--pairs", table)
        self.assertEqual(result.code, 0, str(result))
        self.assertIn(f"heat map   {picture}", result.out)
        self.assertIn(f"pairs      {table}", result.out)
        self.assertRegex(result.out, r"<1>  &\n")
        rows, drawn = pairs_of(table), Map(picture)
        self.check(rows, drawn)
        self.assertEqual(drawn.texts[0], "Pair interactions: a<b")
        self.assertIn("FMO2-RHF/STO-3G, 3 fragments, −224.910612 hartree", drawn.texts)
        self.assertEqual(drawn.names[::2], ["<1>", "&", "3"])


class Tutorial(unittest.TestCase):
    def test_picture(self):
        """docs/tutorials/fmo.md and its picture are of one calculation, and the picture is as they are drawn now."""
        docs = os.path.join(driver_helpers.SOURCE, "docs", "tutorials")
        picture = Map(os.path.join(docs, "fmo-trpcage.svg"))
        with open(os.path.join(docs, "fmo.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertEqual((len(picture.cells), len(picture.numbers), len(picture.names)), (190, 171, 40))
        energy = re.search(r"FMO2 +-(\d+\.\d{6})", text).group(1)
        self.assertTrue(any(f"FMO2-RHF/6-31G, 20 fragments, −{energy[:-1]}" in line for line in picture.texts))
        shown = re.findall(r"^([A-Z]+\d+) ([A-Z]+\d+) (?:scf|es) \S+ (-\S+)$", text, re.M)
        self.assertEqual(len(shown), 13)
        reported = re.findall(r"^ +\d+ +\d+ +\S+ +(?:SCF|ES) .* (\S+)  ([A-Z]+\d+)  ([A-Z]+\d+)$", text, re.M)
        self.assertEqual(len(reported), 5)
        drawn = {}
        for _, title in picture.cells.values():
            one, other, value = re.match(r"\d+ (\S+) – \d+ (\S+)\n.*?(\S+) kcal/mol", title).groups()
            drawn[one, other] = float(value.replace("−", "-"))
        for one, other, value in shown + [(one, other, value) for value, one, other in reported]:
            self.assertAlmostEqual(drawn[one, other], float(value), delta=6e-4)


class Refusals(Case):
    def test_options(self):
        for option in ("--pairs", "--heat-map"):
            self.assertFails(run(driver_helpers.SMALL, option, "x"), 2, f"{option} has no effect in a build: leave it out, or use it with --fmo")
            self.assertFails(run(driver_helpers.SMALL, "--scf", option, "x"), 2, f"{option} has no effect with --scf: leave it out, or use it with --fmo")
            self.assertFails(run(WATER3, GLY4, "--fmo", option, "x"), 2, f"{option} takes one data set, not 2")
            self.assertFails(run(WATER3, "--fmo", option, ""), 2, option)
            self.assertFails(run(WATER3, "--fmo", option), 2, option)

    def test_files(self):
        """--pairs and --heat-map replace files of their own kind only, and never an input or each other."""
        mine, folder = self.path("mine"), self.path("folder")
        os.mkdir(folder)
        with open(mine, "w", encoding="ascii") as file:
            file.write("fragment_i\tfragment_j\tmonths of work\n")
        for option, other in (("--pairs", "--heat-map"), ("--heat-map", "--pairs")):
            self.assertFails(run(WATER3, "--fmo", option, mine), 3, f"{option} .*not written by fmo.*: choose another")
            self.assertFails(run(WATER3, "--fmo", option, folder), 3, f"{option} .*is a directory")
            self.assertFails(run(WATER3, "--fmo", option, self.path("no/x")), 3, f"{option} .*folder")
            self.assertFails(run(self.system(), "--fmo", option, self.path("system.json"), "--force"), 3,
                             f"{option} is the system itself")
            for written in (other, "--output", "--state"):
                os.symlink("new", self.path("link"))
                result = run(WATER3, "--fmo", option, self.path("new"), written, os.path.join(folder, "..", "new"))
                self.assertFails(result, 3, "name the same file")
                os.unlink(self.path("link"))
            # A file of the same kind is replaced, one of another kind is not.
            ours, second = self.path("ours"), self.path("second")
            for _ in range(2):
                self.assertRuns(run(WATER3, "--fmo", "--quiet", option, ours))
            self.assertRuns(run(WATER3, "--fmo", "--quiet", other, second))
            self.assertFails(run(WATER3, "--fmo", option, second), 3, "another kind: a (table|heat map) of pairs")
            self.assertFails(run(WATER3, "--fmo", "--output", ours), 3, "another kind: a (table|heat map) of pairs")
            os.link(ours, self.path("hard"))
            self.assertFails(run(WATER3, "--fmo", option, ours, other, self.path("hard"), "--force"), 3, "name the same file")
            os.unlink(self.path("hard"))
            self.assertRuns(run(WATER3, "--fmo", "--quiet", option, second, "--force"))
            os.unlink(ours)
            os.unlink(second)
        with open(mine, encoding="ascii") as file:
            self.assertIn("months of work", file.read())
        self.assertRuns(run(WATER3, "--fmo", "--quiet", "--pairs", mine, "--force"))
        self.assertEqual(len(pairs_of(mine)), 3)

    def test_not_converged(self):
        table = self.path("t.tsv")
        self.assertEqual(run(WATER3, "--fmo", "--quiet", "--iterations", "2", "--pairs", table).code, 1)
        self.assertEqual(os.listdir(self.folder), [])

    def test_names(self):
        for names, words in ((["a", "b"], "expected an array of 3 texts, one for each fragment"),
                             ("abc", "expected an array of 3 texts"), ({}, "expected an array of 3 texts"),
                             (["a", "b", 3], r"fragment_name\[2\]: expected a text of 1 to 60 bytes"),
                             (["a", "", "c"], r"fragment_name\[1\]: expected a text"),
                             (["x" * 61, "b", "c"], r"fragment_name\[0\]: expected a text")):
            path = self.system(fragment_name=names)
            self.assertFails(run(path, "--fmo"), 3, words, path)


if __name__ == "__main__":
    unittest.main()
