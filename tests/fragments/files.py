"""Tests of the readers of inputs of GAMESS and ABINIT-MP: the fragments of valid files, and refused files (PDB:
structures.py). Python standard library only; FMO_SHOW names the program fragment_show.

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
        """The valid input with an entry of a group, which replaces the present one of that key, if any."""
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
                if row["treatment"] == "ignored":
                    inputs.append((group, f"{key}={quote}7{quote}", None))
                elif row["treatment"] == "checked":
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
        """All forms of numbers, units, groups and basis sets in inputs of GAMESS are read."""
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
        """The bond's own orbital, "1 0", is last, as editors of fragments write it; several sets follow each other."""
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
        """Faults of inputs of GAMESS, and options that are not supported, are refused by name."""
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
        """All forms of groups, keys and numbers in inputs of ABINIT-MP are read."""
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
        """Faults of inputs of ABINIT-MP, and options that are not supported, are refused by name."""
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
        """Faults of the geometry of ABINIT-MP, in the PDB file or in &XYZ, are refused by place."""
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


if __name__ == "__main__":
    unittest.main()
