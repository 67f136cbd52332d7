"""Tests of the readers of fragment files: what fragments they find, and what they refuse. Python
standard library only; FMO_SHOW names the program fragment_show.

    FMO_SHOW=.../fragment_show FMO_SOURCE=.. python3 files.py [CLASS]...
"""

import json
import os
import re
import subprocess
import tempfile
import unittest

FOLDER = os.path.join(os.environ["FMO_SOURCE"], "datasets", "fmo2")


def show(path, residues=1):
    result = subprocess.run([os.environ["FMO_SHOW"], str(residues), path], capture_output=True, check=True,
                            encoding="ascii")
    return json.loads(result.stdout)


def lines_of(name):
    with open(os.path.join(FOLDER, name), encoding="ascii") as file:
        return file.read().splitlines()


def atom(name, element, residue, place, chain, x, y, z, record="ATOM", other=" "):
    padded = name if len(name) == 4 else " " + name
    return (f"{record:6s}{1:5d} {padded:4s}{other}{residue:4s}{chain}{place:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
            f"  1.00  0.00          {element:>2s}")


def residue(name, place, high_l, x=0.0, chain="A"):
    """A residue spread along x, which the reader does not mind: atoms "NAME:HYDROGENS" at 3 angstrom,
    hydrogens of each at 1 angstrom; N at x, C 27 angstrom on, where CA is near and the next one's N is
    1.3 away."""
    made = []
    for i, entry in enumerate(high_l.split()):
        at, count = entry.split(":")
        spot = x if at == "N" else x + 27.0 if at in ("C", "CA") else x + 3.0 * i
        y = 0.0 if at in ("N", "C") else 2.5 if at == "CA" else 6.0
        made.append(atom(at, at[0], name, place, chain, spot, y, 0.0))
        for k in range(int(count)):
            dy, dz = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))[k]
            made.append(atom(f"H{i}{k}", "H", name, place, chain, spot, y + dy, dz))
    return made


STEP = 28.3
FIRST, INSIDE, LAST = "N:3 CA:1 C:0 O:0", "N:1 CA:1 C:0 O:0", "N:1 CA:1 C:0 O:0 OXT:0"


class Reader(unittest.TestCase):
    ending = ".pdb"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def read(self, lines, residues=1):
        path = os.path.join(self.folder.name, "x" + self.ending)
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        return show(path, residues)

    def refused(self, words, lines):
        message = self.read(lines).get("error", "read without an error")
        self.assertIn(words, message)
        self.assertIn("x" + self.ending, message)

    def with_key(self, mark, group, entry, ending):
        """The good input with an entry of a group, in place of what it says of that key, if anything."""
        lines, name, done = [], "", False
        for line in self.good:
            begins = re.match(r"\s*" + re.escape(mark + group) + r"\b(?![$&])", line)
            name = mark + group if begins else "" if re.match(r"\s*[$&/]", line) else name
            if name and "=" in line:
                line = re.sub(r"(?i)\b" + entry.split("=")[0] + r"(\(1\))?=('[^']*'|[^\s,]+)", "", line)
            lines.append(line[:begins.end()] + " " + entry + line[begins.end():] if begins else line)
            done = done or bool(begins)
        return lines if done else lines + [f" {mark}{group} {entry}{ending}"]

    def check_table(self, program, mark, quote, ending):
        """Every key of the reader's own table (io/fragment/keys.h): passed over with any value, refused by name with
        others than those that it lists; and one that it has not."""
        listed = subprocess.run([os.environ["FMO_SHOW"], "--keys", program], capture_output=True, check=True, encoding="ascii")
        rows, inputs = json.loads(listed.stdout), []
        self.assertGreater(len(rows), 30)
        for row in rows:
            group = row["group"].lstrip("$")
            for key in row["keys"].split() if row["keys"] not in ("*", "") else []:
                at = f"{mark}{group}: {key}"
                if row["fate"] == "passed":
                    inputs.append((group, f"{key}={quote}7{quote}", None))
                elif row["fate"] == "must":
                    for value in row["values"].split() or [""]:
                        inputs.append((group, f"{key}={quote}{value}{quote}", None))
                    inputs.append((group, f"{key}={quote}QX{quote}", f"{at}={quote}QX{quote}; only"))
        groups = {row["group"].lstrip("$") for row in rows}
        for group in groups - {row["group"].lstrip("$") for row in rows if row["keys"] == "*"}:
            inputs.append((group, f"QQQ={quote}1{quote}", f"{mark}{group}: the key QQQ is not known; remove it"))
        paths = []
        for k, (group, entry, _) in enumerate(inputs):
            paths.append(os.path.join(self.folder.name, f"{k}{self.ending}"))
            with open(paths[-1], "w", encoding="ascii") as file:
                file.write("\n".join(self.with_key(mark, group, entry, ending)) + "\n")
        self.assertGreater(len(inputs), 100)
        result = subprocess.run([os.environ["FMO_SHOW"], "1"] + paths, capture_output=True, check=True, encoding="ascii")
        for (group, entry, words), line in zip(inputs, result.stdout.splitlines(), strict=True):
            with self.subTest(group=group, entry=entry):
                error = json.loads(line).get("error", "")
                self.assertIn(words, error) if words else self.assertEqual(error, "")

    def assertSame(self, name, other):
        found = show(os.path.join(FOLDER, name))
        self.assertNotIn("error", found)
        with open(os.path.join(FOLDER, other), encoding="ascii") as file:
            good = json.load(file)
        self.assertEqual(found["fragment"], good["fragment"])
        self.assertEqual(found["charge"], good["charge"])
        self.assertEqual(found["bonds"], [i for bond in good["bonds"] for i in bond])
        for x, y in zip(found["angstrom"], [x for row in good["angstrom"] for x in row], strict=True):
            self.assertAlmostEqual(x, y, delta=1e-9)
        return found, good


class Pdb(Reader):
    def test_like_json(self):
        found, _ = self.assertSame("gly4.pdb", "gly4_sto-3g.json")
        self.assertEqual(found["esp"], [1.0, 2.0, 2.0])
        self.assertSame("trpcage.pdb", "trpcage.json")

    def test_pieces(self):
        found = show(os.path.join(FOLDER, "trpcage.pdb"), 3)
        self.assertEqual(len(found["charge"]), 7)
        self.assertEqual(found["charge"], [1, 0, 0, 0, 0, 1, -1])
        self.assertEqual(len(found["bonds"]), 12)
        self.assertEqual(len(show(os.path.join(FOLDER, "trpcage.pdb"), 20)["bonds"]), 0)
        # ACE goes with the residue behind it and does not count as one.
        self.assertEqual(show(os.path.join(FOLDER, "gly4.pdb"), 2)["bonds"], [16, 19])

    def test_protein(self):
        found = show(os.path.join(FOLDER, "ubiquitin.pdb"))
        self.assertNotIn("error", found)
        self.assertEqual(len(found["charge"]), 76)
        self.assertEqual(len(found["fragment"]), 1231)
        # 7 lysines, 4 arginines and the beginning; 5 aspartates, 6 glutamates and the end
        self.assertEqual(sum(found["charge"]), 0)
        self.assertEqual(sum(q > 0 for q in found["charge"]), 12)
        self.assertEqual(sum(q < 0 for q in found["charge"]), 12)
        self.assertEqual(len(found["bonds"]), 2 * 75)

    def test_names(self):
        self.assertEqual(show(os.path.join(FOLDER, "gly4.pdb"))["names"], ["ACE1-GLY2", "GLY3", "GLY4", "NME5"])
        found = show(os.path.join(FOLDER, "trpcage.pdb"), 3)["names"]
        self.assertEqual((found[0], found[-1]), ("ASN1-TYR3", "PRO19-SER20"))
        water = [atom("O", "O", "HOH", 1, "W", 0, 0, 50, "HETATM"), atom("H1", "H", "HOH", 1, "W", 0.9, 0, 50, "HETATM"),
                 atom("H2", "H", "HOH", 1, "W", 0, 0.9, 50, "HETATM")]
        self.assertEqual(self.read(water)["names"], ["HOH1"])
        # Chains are told apart where there are several; disulfide bridges join residues that are not neighbours.
        ion = atom("NA", "NA", "NA", 2, "B", 5, 0, 0, "HETATM")
        self.assertEqual(self.read(water + [ion])["names"], ["W:HOH1", "B:NA2"])
        self.assertEqual(self.read(self.cystines(2.05))["names"], ["CYS1+CYX3", "ALA2"])
        self.assertEqual(self.read(water + self.cystines(2.05))["names"], ["W:HOH1", "A:CYS1+A:CYX3", "A:ALA2"])

    def test_water_and_ions(self):
        water = [atom("O", "O", "HOH", 1, "W", 0, 0, 0, "HETATM"), atom("H1", "H", "HOH", 1, "W", 0.9, 0, 0, "HETATM"),
                 atom("H2", "D", "HOH", 1, "W", 0, 0.9, 0, "HETATM")]
        ions = [atom("NA", "NA", "NA", 2, "W", 5, 0, 0, "HETATM"), atom("ZN", "", "ZN", 3, "W", 9, 0, 0, "HETATM"),
                atom("CL", "CL", "CLA", 4, "W", 15, 0, 0, "HETATM")]
        found = self.read(water + ions, 2)
        self.assertEqual(found["fragment"], [1, 1, 1, 2, 3, 4])
        self.assertEqual(found["charge"], [0, 1, 2, -1])
        self.assertEqual(found["number"], [8, 1, 1, 11, 30, 17])
        self.refused("residue LIG 2 of chain W is not known (HETATM)",
                     water + [atom("C1", "C", "LIG", 2, "W", 5, 0, 0, "HETATM")])
        self.refused("HOH 1 of chain W has 1 hydrogens at O; expected 2: add hydrogens", water[:2])
        self.refused("HOH 1 of chain W has no hydrogens; add them", water[:1])
        self.refused("line 4: H2 of HOH 1 of chain W is where H2 of HOH 1 of chain W of line 3 is", water + water[2:])

    def test_states(self):
        for name, side, charge in (
                ("ASP", "CB:2 CG:0 OD1:0 OD2:0", -1), ("ASP", "CB:2 CG:0 OD1:1 OD2:0", 0),
                ("GLU", "CB:2 CG:2 CD:0 OE1:0 OE2:0", -1), ("GLH", "CB:2 CG:2 CD:0 OE1:0 OE2:1", 0),
                ("HIS", "CB:2 CG:0 ND1:1 CD2:1 CE1:1 NE2:0", 0), ("HIE", "CB:2 CG:0 ND1:0 CD2:1 CE1:1 NE2:1", 0),
                ("HIP", "CB:2 CG:0 ND1:1 CD2:1 CE1:1 NE2:1", 1), ("LYS", "CB:2 CG:2 CD:2 CE:2 NZ:3", 1),
                ("LYN", "CB:2 CG:2 CD:2 CE:2 NZ:2", 0), ("CYS", "CB:2 SG:1", 0), ("CYM", "CB:2 SG:0", -1),
                ("TYR", "CB:2 CG:0 CD1:1 CD2:1 CE1:1 CE2:1 CZ:0 OH:0", -1), ("SER", "CB:2 OG:1", 0),
                ("ARG", "CB:2 CG:2 CD:2 NE:1 CZ:0 NH1:2 NH2:2", 1), ("ARG", "CB:2 CG:2 CD:2 NE:1 CZ:0 NH1:1 NH2:2", 0)):
            with self.subTest(name=name, side=side):
                ends = ("N:3 CA:1 C:0 O:0 OXT:0", 0), ("N:2 CA:1 C:0 O:0 OXT:0", -1), ("N:3 CA:1 C:0 O:0 OXT:1", 1)
                for backbone, end in ends:
                    found = self.read(residue(name, 1, backbone + " " + side))
                    self.assertEqual(found.get("charge"), [charge + end], found)

    def test_chains(self):
        one = residue("GLY", 1, "N:3 CA:2 C:0 O:0") + residue("GLY", 2, "N:1 CA:2 C:0 O:0 OXT:0", STEP)
        found = self.read(one)
        self.assertEqual(found["charge"], [1, -1])
        self.assertEqual(found["bonds"], [5, 8])
        self.assertEqual(found["fragment"], [1] * 7 + [2] * 10)
        # Two chains of the same letter with a TER line, and of two letters, have no bond.
        whole = "N:3 CA:2 C:0 O:0 OXT:0"
        two = residue("GLY", 1, whole) + ["TER"] + residue("GLY", 2, whole, STEP)
        self.assertEqual(self.read(two)["bonds"], [])
        other = residue("GLY", 1, whole) + residue("GLY", 2, whole, STEP, "B")
        self.assertEqual(self.read(other)["charge"], [0, 0])
        self.refused("the chain is broken: C of GLY 1 of chain A and N of GLY 2 of chain A are 3.00 angstrom apart",
                     residue("GLY", 1, whole) + residue("GLY", 2, whole, 30.0))

    def cystines(self, far, middle="CB:2 SG:0"):
        first = residue("CYS", 1, "N:3 CA:1 C:0 O:0 " + middle)
        second = residue("ALA", 2, INSIDE + " CB:3", STEP)
        third = residue("CYX", 3, LAST + " " + middle.replace("SG:0", ""), 2 * STEP)
        third.append(atom("SG", "S", "CYX", 3, "A", 15.0 + far, 6.0, 0.0))
        return first + second + third

    def test_bridge(self):
        found = self.read(self.cystines(2.05))
        self.assertEqual(found.get("charge"), [0, 0], found)
        self.assertEqual(set(found["fragment"]), {1, 2})
        self.assertEqual(found["fragment"][-1], 1)
        self.assertEqual(len(found["bonds"]), 4)
        self.refused("CYX 3 of chain A has no other SG within 2.5 angstrom", self.cystines(2.6))

    def test_models_and_alternatives(self):
        water = residue("HOH", 1, "O:2", 0.0, " ")
        other = [line[:16] + "B" + line[17:30] + "  99.000" + line[38:] for line in water]
        found = self.read(["MODEL        1"] + water + other + ["ENDMDL", "MODEL        2"] + water + ["ENDMDL", "END"])
        self.assertEqual(found["fragment"], [1, 1, 1])
        self.assertEqual(found["notice"], "3 atoms at alternative places other than A left out; 1 models after the "
                                          "first left out")
        found = self.read(["MODEL        1"] + water + ["MODEL        2"] + water + ["END"])
        self.assertEqual((found["fragment"], found["notice"]), ([1, 1, 1], "1 models after the first left out"))

    def test_refused(self):
        good = lines_of("gly4.pdb")
        self.assertNotIn("error", self.read(good))
        self.refused("no ATOM or HETATM lines", ["REMARK nothing"])
        self.refused("line 2: has 38 columns", [good[0], good[1][:40]])
        self.refused("y in columns 39 to 46 is '1.0x0'", [line.replace("   1.090", "   1.0x0") for line in good])
        self.refused("line 2: atom 'HH31' of ACE 1 of chain A: 'Q' is no element", [good[0], good[1][:76] + " Q"])
        self.refused("GLY 3 of chain A has no CA, an atom of the backbone", [l for l in good if l[12:26] != " CA  GLY A   3"])
        self.refused("GLY 3 of chain A has no C, an atom of the backbone", [l for l in good if l[12:26] != " C   GLY A   3"])
        self.refused("line 17: atom CX (C) of GLY 3 of chain A is not one of such a residue",
                     [line.replace(" CA  GLY A   3", " CX  GLY A   3") for line in good])
        self.refused("GLY 3 of chain A has 1 hydrogens at CA; expected 2: add hydrogens",
                     [l for l in good if l[12:26] != " HA3 GLY A   3"])
        self.refused("GLY 4 of chain A has no OXT, and its chain ends there", [l for l in good if "NME" not in l])
        self.refused("ACE 1 of chain A caps no chain", [l for l in good if "ACE" in l])
        self.refused("hydrogen HA3 of GLY 3 of chain A is farther than 1.5 angstrom",
                     [line[:30] + "  90.000" + line[38:] if line[12:26] == " HA3 GLY A   3" else line for line in good])
        self.refused("is given twice", good[:2] + [good[2]] + [good[2][:30] + "  50.000" + good[2][38:]] + good[3:])
        self.refused("GLY 1 of chain A has 4 hydrogens at N; expected 2 or 3: remove hydrogens",
                     residue("GLY", 1, "N:4 CA:2 C:0 O:0 OXT:0"))
        self.refused("more than 64 atoms", [atom("C", "C", "GLY", 1, "A", 3.0 * i, 0, 0) for i in range(70)])
        self.refused("NA 1: expected one atom of an ion",
                     [atom("NA", "NA", "NA", 1, " ", 5.0 * i, 0, 0, "HETATM") for i in range(2)])


class Gamess(Reader):
    ending = ".inp"

    def setUp(self):
        super().setUp()
        self.good = lines_of("gly4.inp")

    def without(self, *groups):
        """The input without some groups."""
        made, name = [], None
        for line in self.good:
            words = line.split()
            if words and words[0].startswith("$") and words[0] != "$END":
                name = words[0]
            if name not in groups:
                made.append(line)
            if words and words[-1] == "$END":
                name = None
        return made

    def changed(self, old, new):
        self.assertTrue(any(old in line for line in self.good), old)
        return [line.replace(old, new) for line in self.good]

    def test_like_json(self):
        found, good = self.assertSame("gly4.inp", "gly4_sto-3g.json")
        self.assertEqual(found["esp"], list(good["esp"].values()))
        self.assertEqual((found["basis"], found["name"]), ("STO-3G", "gly4"))

    def test_openfmo(self):
        # Small letters, hybrids as $fmolmo, no $DATA: OpenFMO's threshold of AOC.
        lines = [line.lower().replace("fmohyb", "fmolmo") for line in self.without("$DATA", "$CONTRL", "$SYSTEM")]
        found = self.read(lines)
        good = show(os.path.join(FOLDER, "gly4.inp"))
        self.assertEqual(found.get("esp"), [1.0, 2.0, 2.0], found)
        for key in ("fragment", "charge", "bonds", "basis", "number"):
            self.assertEqual(found[key], good[key])

    def test_forms(self):
        good = show(os.path.join(FOLDER, "gly4.inp"))
        begin = next(i for i, line in enumerate(self.good) if "INDAT" in line)
        plain = ["  INDAT(1)=" + ",".join(str(f) for f in good["fragment"][:20]),
                 "  INDAT(21) = " + " ".join(str(f) for f in good["fragment"][20:])]
        found = self.read(self.good[:begin] + plain + self.good[begin + 5:])
        self.assertEqual(found.get("fragment"), good["fragment"], found)
        scaled = [line if len(line.split()) != 5 or "." not in line else
                  "  {} {} {:.10f} {:.10f} {:.10f}".format(*line.split()[:2], *[float(x) / 0.52917724924 for x in line.split()[2:]])
                  for line in self.changed("ANGS", "BOHR")]
        for x, y in zip(self.read(scaled)["angstrom"], good["angstrom"], strict=True):
            self.assertAlmostEqual(x, y, delta=1e-8)
        self.assertEqual(self.read(self.changed("RESPPC=2.0", "RESPAP=1.5 RESPPC=0"))["esp"], [1.5, 1e30, 2.0])
        self.assertEqual(self.read(self.changed("RESDIM=2.0", "RESDIM=0"))["esp"], [2.0, 2.0, 1e30])
        for basis, name in (("GBASIS=N31 NGAUSS=6", "6-31G"), ("GBASIS=N31 NGAUSS=6 NDFUNC=1 DIFFSP=.T.", "6-31+G(d)"),
                            ("GBASIS=N21 NGAUSS=3", "3-21G"), ("GBASIS=CCD", ""), ("GBASIS=N311 NGAUSS=6", "6-311G")):
            lines = [line.replace("GBASIS=STO NGAUSS=3", basis) for line in self.without("$FMOHYB")]
            self.assertEqual(self.read(lines)["basis"], name)
        self.assertEqual(good["names"], ["gly1", "gly2", "gly3", "gly4"])
        names = self.changed("FRGNAM(1)=gly1, gly2, gly3, gly4",
                             "FRGNAM(1)=ace,Gly2\n Gly3\n FRGNAM(4)=a_name_that_is_too_long")
        self.assertEqual(self.read(names).get("names"), ["ace", "Gly2", "Gly3", "a_name_that_is_"])
        data = [line for old in self.without("$BASIS", "$FMOHYB") for line in ([old, "N31 6", ""] if "-1 " in old else [old])]
        self.assertEqual(self.read(data).get("basis"), "6-31G")

    def test_functions(self):
        """Cartesian, as GAMESS has them, unless ISPHER asks for spherical ones."""
        self.assertEqual(show(os.path.join(FOLDER, "gly4.inp"))["spherical"], -1)
        for value, spherical in (("-1", -1), ("0", -1), ("1", 1), ("+1", 1)):
            self.assertEqual(self.read(self.changed("UNITS=ANGS", "ISPHER=" + value))["spherical"], spherical)
        self.assertEqual(show(os.path.join(FOLDER, "gly5.ajf"))["spherical"], 0)

    def test_hybrids_in_any_order(self):
        """The bond's own orbital, "1 0", last, as editors of fragments write it; sets one after the other."""
        with open(os.path.join(FOLDER, "..", "hybrids", "hybrids.json"), encoding="utf-8") as file:
            sets = json.load(file)["sets"]
        for name, gbasis in (("STO-3G", "GBASIS=STO NGAUSS=3"), ("6-31G", "GBASIS=N31 NGAUSS=6")):
            rows = next(s["orbitals"] for s in sets if s["basis"] == name and s["element"] == "C")
            shells = 1 + (len(rows[0]) - 1) // 4
            written = []
            for k in (1, 3, 4, 2, 0):
                s, p = rows[k][:shells], rows[k][shells:]
                values = s[:1] + [x for i in range(shells - 1) for x in [s[i + 1]] + p[3 * i:3 * i + 3]]
                written.append(("1 0 " if k == 0 else "0 1 ") + " ".join(f"{x:.6f}" for x in values))
            lines = [line.replace("GBASIS=STO NGAUSS=3", gbasis).replace("STO-3G", name) for line in self.without("$FMOHYB")]
            group = [" $FMOHYB", f" {name} {len(rows[0])} 5"] + written + [" $END"]
            found = self.read(lines + group)
            self.assertEqual(found.get("basis"), name, found)
            group[2], group[6] = "1 0 " + group[2][4:], "0 1 " + group[6][4:]
            self.refused(f"the hybrids {name} of the file are not those", lines + group)

    def test_table(self):
        self.check_table("gamess", "$", "", " $END")

    def test_refused(self):
        for words, old, new in (
                ("$FMO: NBODY=3; only 2 is done here", "NBODY=2", "NBODY=3"),
                ("$FMO: the key SCREW is not known", "NBODY=2", "SCREW=2"),
                ("$CONTRL: ISPHER=2: expected -1, 0 or 1", "UNITS=ANGS", "ISPHER=2"),
                ("$CONTRL: EXETYP=CHECK; only RUN is done here: energies", "UNITS=ANGS", "EXETYP=CHECK"),
                ("$CONTRL: PP=SBKJC; only NONE is done here: all electrons", "UNITS=ANGS", "PP=SBKJC"),
                ("$CONTRL: COORD=ZMT; only UNIQUE or CART is done here", "UNITS=ANGS", "COORD=ZMT"),
                ("$CONTRL: ICHARG=1, but the charges of $FMO sum up to 0", "UNITS=ANGS", "ICHARG=1"),
                ("$CONTRL: SCFTYP has no value; write one, or remove it", "SCFTYP=RHF", "SCFTYP="),
                ("$CONTRL: UNITS has no value", "UNITS=ANGS", "UNITS="),
                ("$BASIS: NGAUSS has two values; keep one", "NGAUSS=3", "NGAUSS=3 6"),
                ("$BASIS: NGAUSS(2) goes on at element 2; expected 1", "NGAUSS=3", "NGAUSS(2)=3"),
                ("FRGNAM(2) goes on at element 2; expected 1", "FRGNAM(1)", "FRGNAM(2)"),
                ("$BASIS: POLAR=HONDO7; only COMMON is done with GBASIS=STO", "NGAUSS=3", "NGAUSS=3 POLAR=HONDO7"),
                ("$SYSTEM is given twice; keep one", "$SYSTEM MWORDS=10", "$SYSTEM $END $SYSTEM MWORDS=10"),
                ("$CONTRL: RUNTYP=GRADIENT; only ENERGY", "ENERGY", "GRADIENT"),
                ("$CONTRL: MPLEVL=2; only 0", "SCFTYP=RHF", "MPLEVL=2"),
                ("$CONTRL: UNITS is given twice; keep one", "UNITS=ANGS", "UNITS=ANGS UNITS=BOHR"),
                ("$CONTRL is given twice; keep one", "$SYSTEM MWORDS=10", "$CONTRL UNITS=BOHR"),
                ("UNITS=MILES: expected ANGS or BOHR", "ANGS", "MILES"),
                ("NFRAG=0: expected 1", "NFRAG=4", "NFRAG=0"),
                ("ICHARG has 4 values, NFRAG=5", "NFRAG=4", "NFRAG=5"),
                ("FRGNAM has 5 names, NFRAG=4", "FRGNAM(1)=gly1", "FRGNAM(1)=a,gly1"),
                ("ICHARG: '0.5' is no integer", "ICHARG(1)=0,0", "ICHARG(1)=0.5,0"),
                ("goes on at element 2; expected 1", "ICHARG(1)", "ICHARG(2)"),
                ("fragment 1 has 37 electrons", "ICHARG(1)=0,", "ICHARG(1)=1,"),
                ("INDAT has 5 fragments, NFRAG=4", "12 -18 0", "12 -14 0 15 -18 0"),
                ("INDAT: fragment 3 is empty", "12 -18 0", "12 -18 0 0"),
                ("INDAT: atom 11 is in fragments 1 and 2", "12 -18 0", "11 -18 0"),
                ("INDAT: atom 12 is in no fragment", "12 -18 0", "13 -18 0"),
                ("INDAT: -18 in fragment 2 ends no range", "12 -18 0", "-18 0"),
                ("INDAT: atom 99 in fragment 2", "12 -18 0", "12 -99 0"),
                ("RESPPC=x: expected a number", "RESPPC=2.0", "RESPPC=x"),
                ("$FMO: RESPPC=-1: expected a number from 0 on", "RESPPC=2.0", "RESPPC=-1"),
                ("$FMOBND: expected minus the detached atom", "-9 12", "9 12"),
                ("both atoms are in fragment 1", "-9 12", "-9 11"),
                ("the hybrids STO-3G of the file are not those", "0.850774", "0.840774"),
                ("the hybrids STO-3G of the file are not those", "0.802107", "0.702107"),
                ("$FMOHYB: expected a coefficient of STO-3G, not 'x'", "0.850774", "x"),
                ("$FMOHYB: expected a name, up to", "STO-3G 5 5", "STO-3G 5 99"),
                ("$FMOHYB: 0 orbitals of STO-3G begin with 1 0; expected one", " 1 0  -0.117784", " 0 1  -0.117784"),
                ("$FMOHYB: 4 orbitals of STO-3G begin with 1 0; expected one", " 0 1  -0.117787", " 1 0  -0.117787"),
                ("$FMOHYB: orbital 1 of STO-3G begins with 1 1; expected 1 0", " 1 0  -0.117784", " 1 1  -0.117784"),
                ("$FMOHYB: orbital 5 of STO-3G begins with 0 0; expected 1 0", " 0 1   1.003621", " 0 0   1.003621"),
                ("'Q' is no element", "O 8.0", "O Q"), ("'6.5' is no element", "C 6.0", "C 6.5"),
                ("$DATA: 'O-1' with a charge of 7; expected 8", "O-1 8", "O-1 7"),
                ("expected a label, an element", "1.0900", ""), ("'1.x' is no coordinate", "1.0900", "1.x"),
                ("expected C1 behind the title", "C1", "CNV 2"), ("the group $PCM is not known", "$SYSTEM", "$PCM"),
                ("expected KEY = VALUE, not '3'", "GBASIS=STO NGAUSS=3", "3")):
            with self.subTest(words=words):
                self.refused(words, self.changed(old, new))
        flags = [line.replace(" 1 0  -0.117784", " 0 1  -0.117784").replace(" 0 1   1.003621", " 1 0   1.003621")
                 for line in self.good]
        self.refused("the hybrids STO-3G of the file are not those", flags)  # the core as the bond's own
        others = [line.replace(" C 6.0", " N 6.0") for line in self.good]
        self.assertEqual(self.read(others)["number"], show(os.path.join(FOLDER, "gly4.inp"))["number"])
        self.assertNotIn("error", self.read(self.without("$DATA")))
        self.refused("OpenFMO goes by the label: make them agree",
                     [line.replace(" C 6.0", " N 6.0") for line in self.without("$DATA")])
        self.refused("no $FMOXYZ with atoms", self.without("$FMOXYZ"))
        self.refused("NFRAG is missing", self.without("$FMO"))
        self.refused("$FMOXYZ has no $END", self.good[:-1])
        self.refused("line 5: $FMO: NBODY=3", self.changed("NBODY=2", "NBODY=3"))


class AbinitMp(Reader):
    ending = ".ajf"

    def setUp(self):
        super().setUp()
        self.good = lines_of("gly5.ajf")
        self.pdb(lines_of("gly5.pdb"))

    def pdb(self, lines):
        with open(os.path.join(self.folder.name, "gly5.pdb"), "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def changed(self, old, new, lines=None):
        lines = self.good if lines is None else lines
        self.assertTrue(any(old in line for line in lines), old)
        return [line.replace(old, new) for line in lines]

    def listed(self, row, old, new):
        """With a change in one row of the list, from 0."""
        begin = self.good.index("&FRAGMENT") + 1 + row
        self.assertIn(old, self.good[begin])
        return self.good[:begin] + [self.good[begin].replace(old, new, 1)] + self.good[begin + 1:]

    def test_like_json(self):
        found, good = self.assertSame("gly5.ajf", "gly5_sto-3g.json")
        self.assertEqual(found["esp"], list(good["esp"].values()))
        self.assertEqual(found["basis"], "STO-3G")
        self.assertEqual(found["names"], [f"GLY{i}" for i in range(1, 6)])
        found, good = self.assertSame("gly4.ajf", "gly4_sto-3g.json")
        self.assertEqual(found["esp"], list(good["esp"].values()))
        self.assertEqual(found["names"], [])

    def test_charges(self):
        # In the list they count electrons as they are after cutting; here bonds are whole.
        charged = self.changed("Charge=0", "Charge=1", self.listed(1, "       1", "       2"))
        self.refused("fragment 1 has 17 protons and charge 2", charged)
        pdb = lines_of("gly5.pdb")
        self.pdb([pdb[0], pdb[1][:76] + " O"] + pdb[2:])  # a proton more
        found = self.read(charged)
        self.assertEqual(found.get("charge"), [1, 0, 0, 0, 0], found)

    def test_forms(self):
        good = show(os.path.join(FOLDER, "gly5.ajf"))
        begin = self.good.index("&FRAGMENT")
        # Groups in another order, in small letters, several keys in a line; numbers one a line or all in one.
        numbers = " ".join(self.good[begin + 1:self.good.index("/", begin)]).split()
        for apart in ("\n", " ", "   ,  "):
            lines = ["&fragment", *apart.join(numbers).split("\n"), "/", "&fmocntrl autofrag = \"off\" nf=5 laoc=1.5, /",
                     "text between groups", "&cntrl ! Charge=7", "readgeom='gly5.pdb'", "method='hf'", "&end",
                     "&BASIS BasisSet='6-31G*' /"]
            found = self.read(lines)
            self.assertNotIn("error", found)
            for key in ("fragment", "charge", "bonds", "number", "angstrom", "names"):
                self.assertEqual(found[key], good[key])
            self.assertEqual((found["esp"], found["basis"]), ([1.5, 2.0, 2.0], "6-31G*"))
        self.assertEqual(self.read(self.changed("DiffuseOn='NO'", "DiffuseOn='YES'"))["basis"], "")
        bare = [line for line in self.good if "Laoc" not in line and "Lptc" not in line and "Ldimer" not in line]
        self.assertEqual(self.read(bare)["esp"], [0.0, 2.0, 2.0])

    def test_table(self):
        self.check_table("abinitmp", "&", "'", " /")

    def test_elements(self):
        # Without columns 77 and 78: of the residue's table, or by the column in which the name begins.
        good = show(os.path.join(FOLDER, "gly5.ajf"))
        plain = [line[:66] for line in lines_of("gly5.pdb")]
        self.pdb(plain)
        self.assertEqual(self.read(self.good).get("number"), good["number"])
        self.pdb([line.replace("GLY", "XYZ") for line in plain])
        self.assertEqual(self.read(self.good).get("number"), good["number"])
        self.pdb([line.replace(" CA  GLY     2", "CA   XYZ     2") for line in plain])
        self.refused("gly5.pdb: line 11: atom 'CA': '' is no element; write it in columns 77 and 78", self.good)
        two = [line[:21] + "AB"[int(line[22:26]) > 2] + line[22:] if line.startswith("ATOM") else line for line in plain]
        self.pdb(two)
        self.assertEqual(self.read(self.good)["names"], ["A:GLY1", "A:GLY2", "B:GLY3", "B:GLY4", "B:GLY5"])

    def test_refused(self):
        for words, old, new in (
                ("line 3: &CNTRL: METHOD='MP2'; only 'HF' is done here", "Method='HF'", "Method='MP2'"),
                ("&CNTRL: the key OPENSHELL is not known", "Nprint=3", "OpenShell=3"),
                ("&CNTRL: Natom=-1: expected 0", "Natom=0", "Natom=-1"),
                ("&CNTRL: Natom=37, but there are 38 atoms", "Natom=0", "Natom=37"),
                ("&CNTRL: Charge=1, but the charges in &FRAGMENT sum up to 0", "Charge=0", "Charge=1"),
                ("&CNTRL: Charge=x: expected an integer", "Charge=0", "Charge=x"),
                ("&CNTRL: AJFVER='4'; only '3' is done here: only inputs of version 3", "Nprint=3", "AJFVER=4"),
                ("&CNTRL: NPRINT is given twice; keep one", "Nprint=3", "Nprint=3 nprint=2"),
                ("&SCF: the key MAXFUN is not known", "MaxSCFcyc", "MaxFun"),
                ("&FMOCNTRL: PAIRS='1-2'; only '' is done here", "NP=2", "Pairs='1-2'"),
                ("&FMOCNTRL: READ_SCC='x'; only '' is done here: results of other runs are not read", "NP=2", "Read_SCC='x'"),
                ("&BASIS: DiffuseOn='MAYBE': expected 'YES' or 'NO'", "DiffuseOn='NO'", "DiffuseOn='MAYBE'"),
                ("no geometry; expected ReadGeom='FILE.pdb'", "ReadGeom='gly5.pdb'", ""),
                ("line 8: ReadGeom: ", "gly5.pdb", "none.pdb"),
                ("&FMOCNTRL: FMO='OFF'; only 'ON'", "FMO='ON'", "FMO='OFF'"),
                ("&FMOCNTRL: NBODY='3'; only '2'", "NBody=2", "NBody=3"),
                ("AutoFrag='ON': ABINIT-MP's automatic fragments are not made here; compute the PDB file itself",
                 "AutoFrag='OFF'", "AutoFrag='ON'"),
                ("AutoFrag='MAYBE': expected 'OFF'", "AutoFrag='OFF'", "AutoFrag='maybe'".replace("maybe", "MAYBE")),
                ("AutoFrag is missing; expected AutoFrag='OFF'", "AutoFrag='OFF'", ""),
                ("NF is missing", "NF=5", ""), ("NF=x: expected 1", "NF=5", "NF=x"), ("NF is 0", "NF=5", "NF=0"),
                ("LMOTYP='MOME'; only 'ANO'", "LMOTYP='ANO'", "LMOTYP='MOME'"),
                ("LPTC=0.0: expected a number above 0", "Lptc=2.0", "Lptc=0.0"),
                ("LAOC=-1: expected a number from 0 on", "Laoc=0.0", "Laoc=-1"),
                ("DIMER_ES_MULTIPOLE='YES'; only 'NO'", "Dimer_es_multipole='NO'", "Dimer_es_multipole='YES'"),
                ("&SCF: IFCD='YES'; only 'NO'", "IFCD='NO'", "IFCD='YES'"),
                ("&OPTCNTRL: OPT='ON'; only 'OFF'", "OPT='OFF'", "OPT='ON'"),
                ("&SOLVATION: EFFECT='ON'; only 'OFF'", "EFFECT='OFF'", "EFFECT='ON'"),
                ("&BSSE: CP='ON'; only 'OFF'", "CP='OFF'", "CP='ON'"),
                ("&BASIS: READBS='NO'; only '' is done here: remove it, and give the set as a file", "DiffuseOn", "ReadBS"),
                ("the group &OPTION is of older versions of ABINIT-MP", "&MFMO", "&OPTION"),
                ("the group &QMMM is not known", "&MFMO", "&QMMM"),
                ("&MFMO: the key LAYER is not known", "&MFMO", "&MFMO Layer=2"),
                ("&FMOCNTRL: expected KEY = VALUE, not 'NBODY'", "NBody=2", "NBody 2"),
                ("&FMOCNTRL: NBODY has no value", "NBody=2", "NBody=/"),
                ("&FMOCNTRL: NBODY has no value; write one, or remove it", "NBody=2", "NBody =")):
            with self.subTest(words=words):
                self.refused(words, self.changed(old, new))
        for words, row, old, new in (
                ("&FRAGMENT has 61 numbers; 5 fragments with 39 atoms and 4 cut bonds have 62", 0, "6", "7"),
                ("line 110: &FRAGMENT: fragment 2 has 0 atoms", 0, "7", "0"),
                ("line 112: &FRAGMENT: fragment 2 has -1 bonds", 2, "1", "-1"),
                ("line 112: &FRAGMENT: fragment 1 has the electrons of 1 cut bonds, but 0 of the pairs", 2,
                 "       0       1", "       1       0"),
                ("line 111: &FRAGMENT: fragment 1 has 17 protons and charge 0, so an odd number of electrons", 1, "1", "0"),
                ("&FRAGMENT: atom 39 in fragment 5; there are 38", 8, "38", "39"),
                ("line 114: &FRAGMENT: atom 1 is in fragments 1 and 2", 4, "3", "1"),
                ("&FRAGMENT: a cut bond of atom 99; there are 38", 9, "2", "99"),
                ("&FRAGMENT: '2.5' is no integer", 9, "2", "2.5"),
                ("fragment 1 has the electrons of 0 cut bonds, but 1 of the pairs have their second atom in it", 9,
                 "       2       3", "       3       2")):
            with self.subTest(words=words):
                self.refused(words, self.listed(row, old, new))
        self.refused("&FRAGMENT has no /", self.good[:self.good.index("&FRAGMENT") + 5])
        self.refused("&CNTRL has no /", self.good[:4])
        self.refused("&FRAGMENT is empty", self.good[:self.good.index("&FRAGMENT") + 1] + ["/"])
        self.refused("&FRAGMENT is missing", self.good[:self.good.index("&FRAGMENT")])
        self.refused("&FRAGMENT is given twice", self.good + ["&FRAGMENT", "/"])
        self.refused("&FRAGMENT has 1 numbers; NF=5", self.good[:self.good.index("&FRAGMENT") + 1] + ["6", "/"])

    def test_refused_geometry(self):
        pdb = lines_of("gly5.pdb")
        for words, lines in (("no ATOM or HETATM lines", pdb[:1]), ("&FRAGMENT has 38 atoms, the file of ReadGeom 37", pdb[:-2]),
                             ("line 11: has 31 columns", pdb[:10] + [pdb[10][:30] + "0"]),
                             ("line 3: atom number 3 stands at place 2; number atoms 1, 2, 3", pdb[:2] + pdb[3:]),
                             ("an alternative place; keep one", pdb[:3] + [pdb[3][:16] + "B" + pdb[3][17:]] + pdb[4:]),
                             ("a second model; keep one", ["MODEL 1"] + pdb + ["MODEL 2"]),
                             ("'1.43x' in columns 39 to 46", self.changed("1.432", "1.43x", pdb)),
                             ("'Q' is no element", [pdb[0], pdb[1][:76] + " Q"] + pdb[2:])):
            with self.subTest(words=words):
                self.pdb(lines)
                self.refused(words, self.good)
        self.good = lines_of("gly4.ajf")
        self.assertNotIn("error", self.read(self.good))
        for words, old, new in (
                ("ReadGeom and atoms in &XYZ; which of them count is not documented", "Natom=33", "ReadGeom='gly5.pdb'"),
                ("line 17: &XYZ: expected atom 2, but the line has atom 3", "     2 C ", "     3 C "),
                ("&XYZ: 'Q' is no element", " 2 C ", " 2 Q "),
                ("&XYZ: expected 1, not 2", "0.0000    1.0900    0.0000 1", "0.0000    1.0900    0.0000 2"),
                ("&XYZ: expected 1, not 7", " 2 C  1 ", " 2 C  7 "),
                ("&XYZ: expected a number, an element", "1.0900    0.0000 1", "1.0900"),
                ("&XYZ: more than 7 words", "1.0900    0.0000 1", "1.0900    0.0000 1 1"),
                ("y = 1e+09 is too far away", "1.0900", "1e9"),
                ("&XYZ: expected a number, not '='", "1.0900", "= 1")):
            with self.subTest(words=words):
                self.refused(words, self.changed(old, new))
        self.assertNotIn("error", self.read([line[:-2] if line.endswith(" 1") and "." in line else line for line in self.good]))


class Mmcif(Reader):
    ending = ".cif"

    def test_refused(self):
        self.refused("mmCIF is not read; save the structure as a PDB file", ["data_1L2Y"])


if __name__ == "__main__":
    unittest.main()
