"""Tests of the readers of structures: fragments of PDB files, and refused files. Run as files.py.

    FMO_SHOW=.../fragment_show FMO_SOURCE=.. python3 structures.py [CLASS]...
"""

import os
import unittest

from files import FOLDER, Reader, lines_of, show


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
        # ACE belongs to the residue after it and is not counted.
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
        # Several chains are distinguished; disulfide bridges join residues that are not neighbours.
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
        """PDB files with faults are refused, with the atom or residue and a remedy."""
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


class Mmcif(Reader):
    ending = ".cif"

    def test_refused(self):
        self.refused("mmCIF is not read; save the structure as a PDB file", ["data_1L2Y"])


if __name__ == "__main__":
    unittest.main()
