"""The page for browsers (--html), the check point file in ABINIT-MP's format (--cpf) and the pairs of a residue
(--ligand): against the JSON of the same run, and the check point file against ABINIT-MP's own. Python standard
library only; started as tables.py is.

    FMO_DRIVER=.. FMO_DRAW=.. FMO_SOURCE=.. python3 pages.py [CLASS]...
"""

import html.parser
import json
import math
import os
import re
import shutil
import subprocess
import unittest

import driver_helpers
import tables
from cli import FOLDER, WATER3, ETHANE
from driver_helpers import run
from tables import HOSTILE, KCAL

GLY5 = os.path.join(FOLDER, "gly5.ajf")
TRIPEPTIDE = os.path.join(FOLDER, "gly4.pdb")
DEBYE = 2.541746473
BOHR = 0.52917720859  # ABINIT-MP's
SMALL_SYSTEMS_ONLY = bool(os.environ.get("FMO_TEST_SMALL"))


class Elements(html.parser.HTMLParser):
    """The tags of a page with their attributes, and the text of the element "data"."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.tags, self.data, self.inside = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") == "data"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.data += data


def read_page(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Elements(text)
    return text, page.tags, json.loads(page.data)


class Page(tables.Case):
    def of_run(self, *arguments):
        """The data of a page, compared with the JSON of the run."""
        path = self.path("page.html")
        result = run(*arguments, "--fmo", "--profile=json", "--html", path)
        self.assertEqual(result.code, 0, str(result))
        system = json.loads(result.out)["systems"][0]
        _, _, data = read_page(path)
        self.assertEqual((data["format"], data["version"], data["kcal_per_hartree"]), ("fmo-fragments-page", 1, KCAL))
        self.assertEqual(data["basis"], system["basis"])
        for name in ("energy_fmo1", "energy_fmo2"):
            self.assertAlmostEqual(data[name], system[name], delta=6e-11)
        self.assertEqual(len(data["fragments"]), len(system["monomers"]))
        sums = [0.0] * len(system["monomers"])
        for (i, j, scf, bonded, distance, energy, es), pair in zip(data["pairs"], system["pairs"], strict=True):
            self.assertEqual(([i, j], scf, bool(bonded)), (pair["pair"], int(pair["kind"] == "scf"), pair["bonded"]))
            self.assertAlmostEqual(distance, pair["distance"], delta=6e-5)
            self.assertAlmostEqual(energy, pair["energy"], delta=6e-11)
            self.assertEqual(es is None, pair["electrostatic"] is None)
            if es is not None:
                self.assertAlmostEqual(es, pair["electrostatic"], delta=6e-11)
            for k in (i, j) if not bonded else ():
                sums[k - 1] += pair["energy"]
        for row, monomer, total in zip(data["fragments"], system["monomers"], sums, strict=True):
            name, charge, _, _, electrons, functions, energy, homo, pairs = row
            self.assertEqual((name, charge, electrons, functions),
                             (monomer["name"] or "", monomer["charge"], monomer["electrons"], monomer["functions"]))
            self.assertAlmostEqual(energy, monomer["energy"], delta=6e-11)
            self.assertAlmostEqual(homo, monomer["homo"], delta=6e-7)
            self.assertAlmostEqual(pairs, total, delta=1e-10)
        # Sum rules: FMO2 is FMO1 and all pairs; charges of fragments are those of their atoms.
        self.assertAlmostEqual(data["energy_fmo1"] + sum(p[5] for p in data["pairs"]), data["energy_fmo2"], delta=1e-8)
        self.assertAlmostEqual(sum(f[6] for f in data["fragments"]), data["energy_fmo1"], delta=1e-8)
        self.assertAlmostEqual(sum(f[2] for f in data["fragments"]), sum(system["charges_fmo2"]), delta=1e-5)
        self.assertEqual(sum(f[3] for f in data["fragments"]), system["atoms"])
        return data

    def test_json(self):
        self.assertEqual(self.of_run(WATER3)["ligand"], 0)
        self.of_run(ETHANE)
        data = self.of_run(self.system(name="a</script><b>", fragment_name=[HOSTILE[0], "&quot;", "]]>\\"]), "--ligand", "#2")
        self.assertEqual((data["name"], data["ligand"]), ("a</script><b>", 2))

    def test_alone(self):
        """Nothing is loaded, and no name ends the data."""
        _, _ = self.draw(12, 3, HOSTILE)
        text, tags, data = read_page(self.page)
        self.assertEqual([f[0] for f in data["fragments"]][:3], [HOSTILE[0], "a?b", "c?fragment_i?1"])
        self.assertEqual([f[0] for f in data["fragments"]][9:12], ["ångström 水", "\"quoted", "x" * 60])
        self.assertEqual([tag for tag, _ in tags].count("script"), 2)
        self.assertFalse({tag for tag, _ in tags} & {"link", "img", "iframe", "object", "embed", "base", "a"})
        self.assertFalse({name for _, attributes in tags for name in attributes} & {"src", "href", "srcset", "action"})
        for words in ("http:", "https:", "url(", "@import", "fetch(", "XMLHttpRequest", "innerHTML", "eval("):
            self.assertNotIn(words, text)
        self.assertIn("default-src 'none'", text)
        self.assertIn("width=device-width", text)
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f\u202e\ufffe\uffff]")
        # Everything that a pointer can press is an element that a keyboard reaches.
        self.assertEqual([a for tag, a in tags if tag == "canvas" and a["id"] == "map"][0]["tabindex"], "0")

    def test_numbers_that_are_none(self):
        self.draw(5, 0)
        _, _, data = read_page(self.page)
        self.assertEqual([p[5] for p in data["pairs"] if not p[3]], [None] * 6)
        self.assertEqual([f[8] for f in data["fragments"]], [0.0] * 5)

    def test_many(self):
        """Of more than 100,000 pairs the weakest are left out, and the page says how many and their sum."""
        rows, _ = self.draw(447, 5)
        _, _, data = read_page(self.page)
        self.assertEqual((len(data["pairs"]), data["omitted"]), (99681, {"pairs": 0, "below": 0.0, "energy": 0.0}))
        rows, _ = self.draw(460, 5)
        _, _, data = read_page(self.page)
        self.assertEqual(len(data["pairs"]) + data["omitted"]["pairs"], len(rows))
        self.assertEqual(len(data["pairs"]), 100000)
        energy = {(int(r["fragment_i"]), int(r["fragment_j"])): float(r["energy_hartree"]) for r in rows}
        self.assertAlmostEqual(sum(p[5] for p in data["pairs"]) + data["omitted"]["energy"], sum(energy.values()), delta=1e-5)
        kept = {(p[0], p[1]) for p in data["pairs"]}
        self.assertLessEqual(max(abs(e) for pair, e in energy.items() if pair not in kept), data["omitted"]["below"] + 1e-12)
        self.assertGreaterEqual(min(abs(energy[pair]) for pair in kept), data["omitted"]["below"] - 1e-12)
        self.assertLess(os.path.getsize(self.page), 6 << 20)


class Browser(tables.Case):
    """The page in a browser without a window, if there is one."""

    # What is pressed, and what the page then shows, as JSON in the title.
    SCRIPT = """<script>
const rows = (id) => [...document.querySelectorAll("#" + id + " tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent));
const head = (id, k) => document.querySelectorAll("#" + id + " thead button")[k];
const set = (id, value) => { const e = document.getElementById(id); e.value = value; e.dispatchEvent(new Event("change")); e.dispatchEvent(new Event("input")); };
const key = (name) => document.getElementById("map").dispatchEvent(new KeyboardEvent("keydown", {key: name}));
const seen = {first: rows("pairs"), fragments: rows("fragments"), wide: document.documentElement.scrollWidth - document.documentElement.clientWidth};
head("pairs", 1).click();
seen.rising = rows("pairs");
seen.sort = document.querySelectorAll("#pairs th")[1].getAttribute("aria-sort");
key("ArrowRight"); key("ArrowRight"); key("ArrowRight"); key("ArrowDown");
seen.pair = document.getElementById("pair").textContent;
key("Enter");
seen.listed = rows("pairs");
set("unit", "hartree");
seen.hartree = rows("pairs");
seen.count = document.getElementById("count").textContent;
document.title = JSON.stringify(seen);
</script></body>"""

    def show(self, width):
        """The state of the page that its script reports in a headless browser of this width."""
        browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if not browser:
            self.skipTest("no chromium")
        with open(self.page, encoding="utf-8") as file:
            text = file.read()
        path = self.path("driven.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("</body>", self.SCRIPT))
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom",
                   f"--window-size={width},900", "--user-data-dir=" + self.path("profile"), "file://" + path]
        try:
            dumped = subprocess.run(command, capture_output=True, timeout=300, check=False).stdout.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            self.skipTest("chromium does not start here")
        title = re.search("<title>(.*?)</title>", dumped, re.S)
        if not title:
            self.skipTest("chromium does not start here")
        return json.loads(html.unescape(title.group(1)))

    def test_pressed(self):
        """Sorting and selecting on the page show the values of the table."""
        table, _ = self.draw(9, 4, ["ASN1", "LEU2", "<b>"])
        value = lambda text: float(text.replace("−", "-"))
        own = {(int(r["fragment_i"]), int(r["fragment_j"])): r for r in table}
        free = sorted((abs(float(r["energy_kcal_mol"])) for r in own.values() if r["bonded"] == "0"), reverse=True)
        for width in (1280, 500):
            seen = self.show(width)
            self.assertEqual(len(seen["first"]), 28)
            for row, strong in zip(seen["first"], free):
                self.assertAlmostEqual(abs(value(row[1])), strong, delta=6e-3)
                if "–" not in row[2:4]:
                    self.assertAlmostEqual(value(row[2]) + value(row[3]), value(row[1]), delta=1.1e-2)
            rising = [value(row[1]) for row in seen["rising"]]
            self.assertEqual((rising, seen["sort"]), (sorted(rising), "ascending"))
            self.assertEqual([row[0] for row in seen["fragments"]][:3], ["1  ASN1", "2  LEU2", "3  <b>"])
            # The keys went from [1][1] to the pair of fragments 3 and 2, whose bond is cut, and on to its list.
            self.assertIn("<b> – LEU2", seen["pair"])
            self.assertIn("A cut bond joins them", seen["pair"])
            self.assertTrue(all("<b>" in row[0] for row in seen["listed"]))
            with_third = [r for r in own.values() if r["bonded"] == "0" and "<b>" in (r["name_i"], r["name_j"])]
            self.assertEqual(len(seen["listed"]), len(with_third))
            total = sum(float(r["energy_hartree"]) for r in with_third)
            self.assertIn(f"hartree: {len(with_third)} pairs", seen["count"])
            self.assertAlmostEqual(value(seen["count"].rpartition(" ")[2]), total, delta=6e-7)
            self.assertAlmostEqual(sum(value(row[1]) for row in seen["hartree"]), total, delta=1e-5)
            self.assertLessEqual(seen["wide"], 0, "the page is wider than the window")


class CheckPoint:
    """A file of ABINIT-MP, CPF Open1.0 rev23, by the columns of its manual."""

    def __init__(self, path):
        """Reads a file in CPF format, section by section."""
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().split("\n")
        self.at = 0
        self.title = self.line()
        assert self.title.startswith("CPF Open1.0 rev23 "), self.title
        head = self.line()
        atoms, n = int(head[:10]), int(head[10:20])
        self.labels = [self.line().split() for _ in range(4)]
        charges, dipoles, monomers, dimers = self.labels
        self.atoms = [self.atom(self.line(), len(charges)) for _ in range(atoms)]
        per_fragment = lambda: [int(x) for _ in range((n + 9) // 10) for x in self.pieces(self.line(), 8)]
        self.electrons, self.bond_num = per_fragment(), per_fragment()
        self.bonds = [tuple(self.pieces(self.line(), 10, int)) for _ in range(sum(self.bond_num))]
        self.distance = {}
        for _ in range(n * (n - 1) // 2):
            j, i, distance = self.line().split()
            self.distance[int(i), int(j)] = float(distance)
        self.dipole = [self.pieces(self.line(), 24, float) for _ in range(n)]
        self.basis, self.state, self.method = (self.line().rstrip() for _ in range(3))
        self.thresholds = [float(x) for x in self.line().split()]
        self.repulsion, self.electronic, self.energy = (float(self.line()) for _ in range(3))
        assert (int(self.line()), len(dipoles)) == (n, 3)
        self.monomer = {}
        for _ in range(n):
            line = self.line()
            self.monomer[int(line[:10])] = dict(zip(monomers, self.pieces(line[10:], 24, float), strict=True))
        self.dimer = {}
        for _ in range(int(self.line())):
            line = self.line()
            self.dimer[int(line[10:20]), int(line[:10])] = dict(zip(dimers, self.pieces(line[20:], 24, float), strict=True))
        assert [int(self.line()), int(self.line()), self.line()] == [0, 0, "END"], "no trimers, no tetramers, the end"

    def line(self):
        self.at += 1
        return self.lines[self.at - 1]

    @staticmethod
    def pieces(line, size, kind=int):
        assert len(line) % size == 0, line
        return [kind(line[k:k + size]) for k in range(0, len(line), size)]

    @staticmethod
    def atom(line, charges):
        assert len(line) == 111 + 20 * charges and {line[k] for k in (10, 13, 18, 22, 33, 44, 105, 109)} == {" "}, line
        return {"number": int(line[:10]), "element": line[11:13], "name": line[14:18], "residue": line[19:22],
                "place": int(line[23:33]), "fragment": int(line[34:44]),
                "angstrom": [float(line[k:k + 20]) for k in (45, 65, 85)], "chain": line[106:109],
                "charge": float(line[111:131])}


class Cpf(tables.Case):
    def of_run(self, *arguments, bohr):
        """A check point file, compared with the JSON of the run, and its sum rules."""
        path = self.path("x.cpf")
        result = run(*arguments, "--fmo", "--profile=json", "--cpf", path)
        self.assertEqual(result.code, 0, str(result))
        system, cpf = json.loads(result.out)["systems"][0], CheckPoint(path)
        self.assertEqual(cpf.labels, [["MUL-HF"], ["DPM-HF-X", "DPM-HF-Y", "DPM-HF-Z"], ["NR", "HF"], ["NR", "HF", "ES"]])
        self.assertEqual((cpf.basis, cpf.state, cpf.method), (system["basis"], "S1", "HF"))
        self.assertEqual(cpf.thresholds, [system["thresholds"][k] for k in ("aoc_from", "ptc_from", "es_dimers_from")])
        self.assertAlmostEqual(cpf.energy, system["energy_fmo2"], delta=1e-9)
        self.assertAlmostEqual(cpf.repulsion + cpf.electronic, cpf.energy, delta=1e-9)
        for atom, charge in zip(cpf.atoms, system["charges_fmo2"], strict=True):
            self.assertAlmostEqual(atom["charge"], charge, delta=6e-11)
        for k, monomer in enumerate(system["monomers"]):
            self.assertAlmostEqual(sum(cpf.monomer[k + 1].values()), monomer["energy"], delta=1e-9)
            self.assertEqual(cpf.electrons[k], monomer["electrons"])
            for x, y in zip(cpf.dipole[k], monomer["dipole"], strict=True):
                self.assertAlmostEqual(x, DEBYE * y, delta=1e-9)
        self.assertEqual(len(cpf.dimer), len(system["pairs"]))
        at = [[x / bohr for x in atom["angstrom"]] for atom in cpf.atoms]
        for pair in system["pairs"]:
            i, j = pair["pair"]
            dimer = cpf.dimer[i, j]
            self.assertAlmostEqual(dimer["NR"] + dimer["HF"], pair["energy"], delta=1e-9)
            self.assertAlmostEqual(dimer["ES"], pair["electrostatic"] or 0.0, delta=1e-12)
            least = min(math.dist(at[a], at[b]) for a in range(len(at)) for b in range(len(at))
                        if (cpf.atoms[a]["fragment"], cpf.atoms[b]["fragment"]) == (i, j))
            self.assertAlmostEqual(cpf.distance[i, j], 0.0 if pair["bonded"] else least, delta=1e-6)
        # Repulsion and energy of the whole are the sums over monomers and pairs, across cut bonds, too.
        for total, names in ((cpf.repulsion, ("NR",)), (cpf.energy, ("NR", "HF"))):
            both = [*cpf.monomer.values(), *cpf.dimer.values()]
            self.assertAlmostEqual(sum(e[name] for e in both for name in names), total, delta=1e-8)
        self.assertEqual(sum(cpf.bond_num), len(cpf.bonds))
        return cpf, system

    def test_json(self):
        cpf, _ = self.of_run(self.system(name="three\nwaters"), bohr=0.52917724924)
        self.assertEqual(cpf.title, "CPF Open1.0 rev23 fmo: three?waters")
        self.assertEqual(cpf.atoms[0]["residue"], "UNK")
        self.assertEqual([a["place"] for a in cpf.atoms], [a["fragment"] for a in cpf.atoms])
        cpf, _ = self.of_run(ETHANE, bohr=0.52917724924)
        self.assertEqual(len(cpf.bonds), 1)

    def test_pdb(self):
        if SMALL_SYSTEMS_ONLY:
            self.skipTest("small systems alone")
        cpf, _ = self.of_run(TRIPEPTIDE, "--basis", "sto-3g", bohr=0.52917724924)
        with open(TRIPEPTIDE, encoding="ascii") as file:
            lines = [line for line in file if line.startswith(("ATOM", "HETATM"))]
        for atom, line in zip(cpf.atoms, lines, strict=True):
            self.assertEqual((atom["name"].strip(), atom["residue"], atom["place"]),
                             (line[12:16].strip(), line[17:20], int(line[22:26])))
            self.assertEqual(atom["chain"].strip(), line[21].strip())
            for x, k in zip(atom["angstrom"], (30, 38, 46), strict=True):
                self.assertAlmostEqual(x, float(line[k:k + 8]), delta=1e-9)

    def test_abinitmp(self):
        """(Gly)5 in STO-3G against numbers of ABINIT-MP's own file, a sample of ABMPTools (Open Ver. 1 Rev. 23)."""
        if SMALL_SYSTEMS_ONLY:
            self.skipTest("small systems alone")
        cpf, _ = self.of_run(GLY5, "--hybrids", tables.published_hybrids(self.path("published.json")), bohr=BOHR)
        self.assertEqual((cpf.electrons, cpf.bond_num), ([16, 30, 30, 30, 54], [0, 1, 1, 1, 1]))
        self.assertEqual(cpf.bonds, [(2, 3), (10, 11), (17, 18), (24, 25)])
        self.assertEqual([cpf.atoms[k]["name"] for k in (0, 1, 4, 6, 37)], [" N  ", " CA ", "1H  ", "1HA ", " HO "])
        dipoles = [(0.785970969662, 2.81296712643, -1.32604581524), (1.45048892092, -3.34817286212, -1.61464626780),
                   (-0.52470470407, -3.57367905308, 1.56523382974), (2.45666859488, -1.60468359833, 2.80152739221),
                   (3.68656733092, -4.78966423463, -0.24867589450)]
        for found, expected in zip(cpf.dipole, dipoles, strict=True):
            for x, y in zip(found, expected, strict=True):
                self.assertAlmostEqual(x, y, delta=1e-6)
        for k, (nuclear, electronic) in enumerate(((32.1733218676314, -111.217900611777), (105.581623892680, -294.954213591969),
                                                   (105.580760608816, -294.944052573276), (105.592376341217, -294.954884978768),
                                                   (302.972088661468, -692.375396192077))):
            self.assertAlmostEqual(cpf.monomer[k + 1]["NR"], nuclear, delta=1e-10)
            self.assertAlmostEqual(cpf.monomer[k + 1]["HF"], electronic, delta=2e-7)
        for pair, (nuclear, electronic, es) in {(1, 2): (89.8358210380181, -104.597690503434, None),
                                                (1, 3): (48.1151423108853, -48.1122012096812, 0.00292560697485555),
                                                (2, 5): (159.493576274165, -159.501166271000, -0.00716229202939189),
                                                (3, 5): (181.521409736929, -181.515319038899, 0.00598906538814958)}.items():
            self.assertAlmostEqual(cpf.dimer[pair]["NR"], nuclear, delta=1e-10)
            self.assertAlmostEqual(cpf.dimer[pair]["HF"], electronic, delta=2e-7)
            self.assertAlmostEqual(cpf.dimer[pair]["ES"], es or 0.0, delta=5e-9)
        for pair, distance in {(1, 2): 0.0, (1, 3): 6.43498504089706, (2, 5): 3.97902962070384}.items():
            self.assertAlmostEqual(cpf.distance[pair], distance, delta=1e-12)
        self.assertAlmostEqual(cpf.repulsion, 1889.49334720085, delta=1e-9)
        self.assertAlmostEqual(cpf.atoms[0]["charge"], -0.3972241421, delta=1e-5)


class Ligand(tables.Case):
    ROW = re.compile(r"^ +(\d+) +(\S+) +(SCF|ES|bond) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)(?:  (.*))?$", re.M)

    def test_table(self):
        """The table of a ligand's pairs agrees with the JSON profile."""
        path = self.system(fragment_name=["Wa", "Wb", "Wc"])
        result = run(path, "--fmo", "--ligand", "wb")
        self.assertEqual(result.code, 0, str(result))
        system = json.loads(run(path, "--fmo", "--ligand", "#2", "--profile=json").out)["systems"][0]
        part = result.out[result.out.index("pairs of 2  Wb"):]
        rows = self.ROW.findall(part)
        pairs = {tuple(pair["pair"]): pair for pair in system["pairs"]}
        self.assertEqual([int(row[0]) for row in rows], system["ligand"]["partners"])
        self.assertEqual(sorted(system["ligand"]["partners"]), [1, 3])
        self.assertEqual((system["ligand"]["fragment"], system["ligand"]["name"]), (2, "Wb"))
        total = 0.0
        for row in rows:
            other = int(row[0])
            pair = pairs[min(2, other), max(2, other)]
            es, energy = pair["electrostatic"], pair["energy"]
            for text, value in zip(row[3:9], (es, es * KCAL, energy - es, (energy - es) * KCAL, energy, energy * KCAL), strict=True):
                self.assertAlmostEqual(float(text), value, delta=5.1e-5 if abs(value) > 0.05 else 6e-5)
            self.assertAlmostEqual(float(row[1]), pair["distance"], delta=6e-4)
            self.assertEqual(row[9], ["Wa", "Wb", "Wc"][other - 1])
            total += energy
        strengths = [abs(float(row[7])) for row in rows]
        self.assertEqual(strengths, sorted(strengths, reverse=True))
        found = re.search(r"^ +sum +(\S+) +(\S+)  of pairs without a cut bond$", part, re.M)
        self.assertAlmostEqual(float(found.group(1)), total, delta=6e-9)
        self.assertAlmostEqual(float(found.group(2)), total * KCAL, delta=6e-5)
        self.assertIsNone(json.loads(run(path, "--fmo", "--profile=json").out)["systems"][0]["ligand"])

    def test_bond(self):
        """Across a cut bond there is no electrostatic part, and the pair comes last, however strong."""
        result = run(ETHANE, "--fmo", "--ligand", "#1")
        rows = self.ROW.findall(result.out[result.out.index("pairs of 1"):])
        self.assertEqual([(row[2], row[3], row[6]) for row in rows], [("bond", "-", "-")])

    def test_names(self):
        """Residues as users of PDB files write them; found before anything is computed."""
        trpcage = os.path.join(FOLDER, "trpcage.pdb")
        for name, fragment in (("ASP9", 9), ("asp 9", 9), ("9", 9), ("A:ASP9", 9), ("A:ASP:9", 9), ("A:9", 9), ("trp", 6), ("#9", 9)):
            result = run(trpcage, "--fmo", "--basis", "no-such-basis", "--ligand", name)
            self.assertNotIn("--ligand", result.err, name)
            self.assertIn("no-such-basis", result.err)
        for name, words in (("LIG", "no fragment or residue is named 'LIG'; there are ASN1, LEU2, .*SER20"),
                            ("B:ASP9", "no fragment or residue is named 'B:ASP9'"), ("#21", ".*named '#21'"),
                            ("PRO", "'PRO' is the name of several: A:PRO12, A:PRO17, A:PRO18, A:PRO19; name one"),
                            ("\x1b[31m", r".*named '\?\[31m'")):
            self.assertFails(run(trpcage, "--fmo", "--basis", "sto-3g", "--ligand", name), 3, f"trpcage.pdb: --ligand: {words}")
        # C and O of a residue are in the next fragment, most of its atoms are not.
        result = run(TRIPEPTIDE, "--fmo", "--basis", "sto-3g", "--ligand", "GLY3", "--iterations", "1")
        self.assertEqual(result.code, 1, str(result))

    def test_long_lists(self):
        path = self.system(fragment_name=["x" * 60] * 3)
        self.assertFails(run(path, "--fmo", "--ligand", "none"), 3, "there are x+, x+, x+\n$")
        self.assertFails(run(path, "--fmo", "--ligand", "x" * 60), 3, "is the name of several: #1, #2, #3; name one")
        water = os.path.join(FOLDER, "water10_sto-3g.json")
        self.assertFails(run(water, "--fmo", "--ligand", "none"), 3, "there are #1, #2, .*#10")


if __name__ == "__main__":
    unittest.main()
