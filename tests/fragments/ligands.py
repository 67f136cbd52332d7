"""Ligands of PDB files, described in a file of their own (--ligands). Python standard library only; FMO_SHOW names
the program fragment_show, FMO_DRIVER the driver.

    FMO_SHOW=.. FMO_DRIVER=.. FMO_SOURCE=.. python3 ligands.py [CLASS]...
"""

import json
import os
import unittest

import driver_helpers
import files
from driver_helpers import run
from structures import atom

# Formate; water far away.
FORMATE_ATOMS = [atom("C1", "C", "FMT", 401, "B", 0, 0, 0, "HETATM"), atom("O1", "O", "FMT", 401, "B", 1.25, 0, 0, "HETATM"),
           atom("O2", "O", "FMT", 401, "B", -0.62, 1.08, 0, "HETATM"), atom("H1", "H", "FMT", 401, "B", -0.55, -0.95, 0, "HETATM")]
WATER = [atom("O", "O", "HOH", 1, "W", 8, 0, 0, "HETATM"), atom("H1", "H", "HOH", 1, "W", 8.9, 0, 0, "HETATM"),
         atom("H2", "H", "HOH", 1, "W", 8, 0.9, 0, "HETATM")]
FORMATE = {"FMT": {"charge": -1, "bonds": [["C1", "O1"], ["O2", "C1"], ["C1", "H1"]], "note": "formate"}}


class Ligands(driver_helpers.Case):
    def read(self, lines, ligands):
        """What the reader finds with a file of ligands, an object or text."""
        pdb, path = self.path("x.pdb"), self.path("ligands.json")
        with open(pdb, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        with open(path, "w", encoding="utf-8") as file:
            file.write(ligands if isinstance(ligands, str) else json.dumps(ligands))
        os.environ["FMO_LIGANDS"] = path
        try:
            return files.show(pdb)
        finally:
            del os.environ["FMO_LIGANDS"]

    def refused(self, words, lines, ligands, where="x.pdb"):
        message = self.read(lines, ligands).get("error", "read without an error")
        self.assertIn(words, message)
        self.assertTrue(message.startswith(self.path(where)), message)

    def with_bonds(self, *bonds):
        return {"FMT": {"charge": -1, "bonds": [list(bond) for bond in bonds]}}

    def test_found(self):
        found = self.read(WATER + FORMATE_ATOMS, FORMATE)
        self.assertEqual((found["charge"], found["names"], found["bonds"]), ([0, -1], ["W:HOH1", "B:FMT401"], []))
        self.assertEqual(found["fragment"], [1, 1, 1, 2, 2, 2, 2])
        self.assertEqual(found["notice"], "")
        # Bonds may be left out, and descriptions of residues that the file lacks may be there.
        found = self.read(FORMATE_ATOMS, {"FMT": {"charge": -1}, "XYZ": {"charge": 0}})
        self.assertEqual((found["charge"], found["notice"]), ([-1], "no residue is named XYZ, as in --ligands"))
        # More atoms than a residue of a protein has; the notice follows others.
        many = [atom(f"H{k}", "H", "BIG", 1, "A", 3.0 * k, 0, 0, "HETATM") for k in range(100)]
        self.assertEqual(self.read(many, {"BIG": {"charge": 0}})["charge"], [0])

    def test_atoms(self):
        self.refused("line 5: FMT 401 of chain B has no atom O3, which bonds[2] of", WATER + ["TER"] + FORMATE_ATOMS,
                     self.with_bonds(("C1", "O1"), ("C1", "O2"), ("C1", "O3")))
        self.refused("do not join atom H1 of FMT 401 of chain B to C1", FORMATE_ATOMS, self.with_bonds(("C1", "O1"), ("C1", "O2")))
        self.refused("line 3: the bonds of", FORMATE_ATOMS, self.with_bonds(("C1", "O1"), ("C1", "H1")))
        self.refused("line 4: O1 and H1 of FMT 401 of chain B are 2.04 angstrom apart, too far", FORMATE_ATOMS,
                     self.with_bonds(("C1", "O1"), ("C1", "O2"), ("O1", "H1")))
        far = FORMATE_ATOMS[:2] + [FORMATE_ATOMS[2].replace("-0.620", "-3.620")] + FORMATE_ATOMS[3:]
        self.refused("C1 of FMT 401 of chain B are 3.78 angstrom apart", far, FORMATE)
        self.refused("line 4: atom O1 of FMT 401 of chain B is given twice", FORMATE_ATOMS[:3] + [FORMATE_ATOMS[3].replace("H1 ", "O1 ")], FORMATE)
        self.refused("FMT 401 of chain B has 23 electrons with the charge 0 of", FORMATE_ATOMS, {"FMT": {"charge": 0}})
        self.refused("and 0 hydrogens; expected an even number: put hydrogens or charge right", FORMATE_ATOMS[:3], {"FMT": {"charge": -1}})
        self.refused("'' is no element; write it in columns 77 and 78", [line[:76] for line in FORMATE_ATOMS], FORMATE)

    def test_strangers(self):
        """A bond to another residue cannot be cut; hydrogen bonds and bonds to ions are none of that kind."""
        near = [line.replace("   8.000", "   2.700").replace("   8.900", "   3.600") for line in WATER]
        self.refused("O1 of FMT 401 of chain B is 1.45 angstrom from O of HOH 1 of chain W", near + FORMATE_ATOMS, FORMATE)
        hydrogen_bond = [line.replace("   8.000", "   3.850").replace("   8.900", "   4.750") for line in WATER]
        self.assertEqual(self.read(hydrogen_bond + FORMATE_ATOMS, FORMATE)["charge"], [0, -1])
        ion = [atom("ZN", "ZN", "ZN", 2, "B", 3.2, 0, 0, "HETATM")]
        self.assertEqual(self.read(ion + FORMATE_ATOMS, FORMATE)["charge"], [2, -1])

    def test_file(self):
        """Wrong files of FMO_LIGANDS are refused with the place of the fault."""
        for words, ligands in (("expected an object with the names of residues", {}), ("not valid JSON", "{"),
                               ("expected an object with the names of residues", "[]"),
                               ("'TOOLONG': expected the name of a residue, 1 to 4 characters", {"TOOLONG": {"charge": 0}}),
                               ("'A B': expected the name", {"A B": {"charge": 0}}), ("'': expected the name", {"": {"charge": 0}}),
                               ("ALA is a residue that fmo knows", {"ALA": {"charge": 0}}),
                               ("FMT: expected an object with charge and bonds", {"FMT": -1}),
                               ("FMT: chrge is not known; expected charge, bonds or note", {"FMT": {"chrge": 0}}),
                               ("FMT: charge: expected an integer from -100 to 100", {"FMT": {"bonds": []}}),
                               ("FMT: charge: expected an integer", {"FMT": {"charge": 0.5}}),
                               ("FMT: charge: expected an integer", {"FMT": {"charge": 101}}),
                               ("FMT: bonds: expected an array of 1 to 10000 pairs", {"FMT": {"charge": 0, "bonds": []}}),
                               ("FMT: bonds: expected an array", {"FMT": {"charge": 0, "bonds": "C1O1"}}),
                               ("FMT: bonds[0]: expected two names of atoms", self.with_bonds(("C1",))),
                               ("FMT: bonds[1]: expected two names of atoms", self.with_bonds(("C1", "O1"), ("C1", 2))),
                               ("FMT: bonds[0]: expected two names", self.with_bonds(("C1", "TOOLONG"))),
                               ("FMT: bonds[0]: C1 is bound to itself", self.with_bonds(("C1", "C1"))),
                               ("FMT: bonds[1]: O1 and C1 are bound by bonds[0], too", self.with_bonds(("C1", "O1"), ("O1", "C1"))),
                               ("duplicate", '{"FMT": {"charge": 0}, "FMT": {"charge": 1}}')):
            with self.subTest(words=words):
                self.refused(words, FORMATE_ATOMS, ligands, "ligands.json")

    def test_unknown(self):
        self.refused("residue FMT 401 of chain B is not known (HETATM)", FORMATE_ATOMS, {"XYZ": {"charge": 0}})
        with open(self.path("x.pdb"), "w", encoding="ascii") as file:
            file.write("\n".join(FORMATE_ATOMS) + "\n")
        found = files.show(self.path("x.pdb"))
        self.assertIn("Describe it in a file of ligands (--ligands", found["error"])

    def test_driver(self):
        self.read(WATER + FORMATE_ATOMS, FORMATE)
        pdb, path = self.path("x.pdb"), self.path("ligands.json")
        result = run(pdb, "--fmo", "--basis", "sto-3g", "--ligands", path, "--ligand", "FMT", "--profile=json")
        self.assertEqual(result.code, 0, str(result))
        system = json.loads(result.out)["systems"][0]
        self.assertEqual([m["charge"] for m in system["monomers"]], [0, -1])
        self.assertEqual((system["ligand"]["name"], system["ligand"]["partners"]), ("B:FMT401", [1]))
        self.assertAlmostEqual(sum(system["charges_fmo2"][3:]), -1.0, delta=0.01)
        self.assertFails(run(pdb, "--fmo", "--basis", "sto-3g", "--ligands", self.path("none.json")), 3, "none.json")
        water = os.path.join(driver_helpers.DATASETS, "fmo2", "water3_sto-3g.json")
        self.assertFails(run(water, "--fmo", "--ligands", path), 2, "--ligands has no effect")
        # The file of ligands is not written over.
        self.assertFails(run(pdb, "--fmo", "--basis", "sto-3g", "--ligands", path, "--pairs", path, "--force"), 3, "--pairs")


if __name__ == "__main__":
    unittest.main()
