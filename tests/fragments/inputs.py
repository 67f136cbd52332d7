"""fmo-driver --fmo from other files than JSON to an energy, and of other functions than s and p. Python standard
library only; started as cli.py is.

    FMO_DRIVER=.. FMO_SOURCE=.. python3 inputs.py [CLASS]...
"""

import json
import os
import unittest

import driver_helpers
from driver_helpers import run
from cli import FOLDER, WATER3, energy_of


class FragmentsInputs(driver_helpers.Case):
    """files.py and structures.py have what readers find and refuse."""

    @staticmethod
    def pdb(name, place, x, y, z, other=" "):
        return (f"HETATM    1 {name:<4s}{other}HOH W{place:4d}    {x:8.3f}{y:8.3f}{z:8.3f}  1.00  0.00"
                f"           {name.strip()[0]}\n")

    def waters(self, notice):
        """The waters of WATER3 and their energy with a PDB file's thresholds."""
        with open(WATER3, encoding="ascii") as file:
            document = json.load(file)
        document["esp"] = {}
        document["angstrom"] = [[round(x, 3) for x in row] for row in document["angstrom"]]
        path, other = self.path("w.pdb"), self.path("w.json")
        with open(path, "w", encoding="ascii") as file:
            for k, (symbol, xyz) in enumerate(zip(document["symbols"], document["angstrom"])):
                file.write(self.pdb(f" {symbol}{k % 3}", document["fragment"][k], *xyz) if symbol == "H" else
                           self.pdb(" O", document["fragment"][k], *xyz))
            if notice:
                file.write(self.pdb(" O", 4, 50.0, 0.0, 0.0, "B"))
        with open(other, "w", encoding="ascii") as file:
            json.dump(document, file)
        return path, other

    def test_waters(self):
        path, other = self.waters(True)
        result = run(path, "--fmo", "--basis", "sto-3g")
        self.assertEqual(result.code, 0, str(result))
        self.assertIn("notice     1 atoms at alternative places other than A left out", result.out)
        self.assertAlmostEqual(energy_of(result), energy_of(run(other, "--fmo")), delta=1e-8)
        quiet = run(path, "--fmo", "--basis", "sto-3g", "--quiet")
        self.assertIn("notice: 1 atoms", quiet.err)
        document = json.loads(run(path, "--fmo", "--basis", "sto-3g", "--profile=json").out)
        self.assertEqual(len(document["systems"][0]["notices"]), 1)

    def test_gamess(self):
        with open(WATER3, encoding="ascii") as file:
            document = json.load(file)
        esp = document["esp"]
        path = self.path("w.inp")
        with open(path, "w", encoding="ascii") as file:
            file.write(" $FMO NFRAG=3 RESPAP={aoc_from} RESPPC={ptc_from} RESDIM={es_dimers_from}\n".format(**esp))
            file.write(" INDAT(1)=" + " ".join(str(f) for f in document["fragment"]) + " $END\n")
            file.write(" $BASIS GBASIS=STO NGAUSS=3 $END\n $FMOXYZ\n")
            for symbol, xyz in zip(document["symbols"], document["angstrom"]):
                file.write(" {} {} {!r} {!r} {!r}\n".format(symbol, symbol, *xyz))
            file.write(" $END\n")
        result = run(path, "--fmo", "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertAlmostEqual(energy_of(result), energy_of(run(WATER3, "--fmo", "--quiet")), delta=1e-8)
        self.assertFails(run(path), 2, "add --fmo", path)

    def test_functions(self):
        """Of an .inp file Cartesian unless ISPHER says spherical; --functions goes before the file. Two fragments
        have RHF's energy."""
        waters = ["O 0.0 0.0 0.0", "H 0.757 0.586 0.0", "H -0.757 0.586 0.0",
                  "O 0.0 0.0 2.95", "H 0.757 0.586 2.95", "H -0.757 0.586 2.95"]
        xyz = self.path("w.xyz")
        with open(xyz, "w", encoding="ascii") as file:
            file.write("6\n\n" + "\n".join(waters) + "\n")
        rhf = {form: energy_of(run(xyz, "--scf", "--basis", "6-31g(d)", "--functions", form, "--quiet"))
               for form in ("cartesian", "spherical")}
        self.assertAlmostEqual(rhf["spherical"], -152.01170, delta=2e-5)
        self.assertAlmostEqual(rhf["cartesian"], -152.01452, delta=2e-5)
        for key, options, form in (("", [], "cartesian"), ("ISPHER=0", [], "cartesian"), ("ISPHER=-1", [], "cartesian"),
                                   ("ISPHER=1", [], "spherical"), ("ISPHER=1", ["--functions", "cartesian"], "cartesian"),
                                   ("", ["--functions", "spherical"], "spherical")):
            path = self.path("w.inp")
            with open(path, "w", encoding="ascii") as file:
                file.write(f" $CONTRL RUNTYP=ENERGY {key} $END\n $BASIS GBASIS=N31 NGAUSS=6 NDFUNC=1 $END\n"
                           " $FMO NFRAG=2 INDAT(1)=1,1,1,2,2,2 $END\n $DATA\nw\nC1\nH-1 1\nO-1 8\n $END\n $FMOXYZ\n"
                           + "".join(f" {w.split()[0]} {w}\n" for w in waters) + " $END\n")
            with self.subTest(key=key, options=options):
                self.assertAlmostEqual(energy_of(run(path, "--fmo", "--quiet", *options)), rhf[form], delta=1e-6)

    def test_scaled_basis_set(self):
        """Contractions of any norm, 0.001 to 1000, are the same functions."""
        with open(os.path.join(FOLDER, "..", "basis", "sto-3g.json"), encoding="ascii") as file:
            document = json.load(file)
        for element in document["elements"].values():
            for k, shell in enumerate(element["electron_shells"]):
                shell["coefficients"] = [[repr(float(c) * 10.0 ** (k % 2 * 6 - 3)) for c in column]
                                         for column in shell["coefficients"]]
        path = self.path("scaled.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump(document, file)
        self.assertAlmostEqual(energy_of(run(WATER3, "--fmo", "--basis", path, "--quiet")),
                               energy_of(run(WATER3, "--fmo", "--quiet")), delta=1e-9)

    def test_zinc(self):
        """An ion with d shells, spherical ones, and water without: once one part had another order of functions."""
        path = self.path("zn.json")
        with open(path, "w", encoding="ascii") as file:
            json.dump({"symbols": ["Zn", *"OHHOHH"], "charge": [2, 0, 0], "fragment": [1, 2, 2, 2, 3, 3, 3], "basis": "sto-3g",
                       "angstrom": [[0, 0, 0]] + [[s * x, y, 0] for s in (1, -1) for x, y in ((2.05, 0), (2.63, 0.78), (2.63, -0.78))]}, file)
        self.assertAlmostEqual(energy_of(run(path, "--fmo", "--quiet")), -1906.76, delta=0.05)

    def test_peptide(self):
        if os.environ.get("FMO_TEST_SMALL"):
            self.skipTest("small systems alone")
        result = run(os.path.join(FOLDER, "gly4.pdb"), "--fmo", "--basis", "sto-3g", "--quiet")
        good = run(os.path.join(FOLDER, "gly4_sto-3g_openfmo-defaults.json"), "--fmo", "--quiet")
        self.assertAlmostEqual(energy_of(result), energy_of(good), delta=1e-8)

    def test_abinitmp(self):
        path = os.path.join(FOLDER, "gly5.ajf")
        self.assertFails(run(path), 2, "add --fmo", path)
        self.assertFails(run(path, "--fmo", "--per-fragment", "2"), 2, "--per-fragment has no effect on this system of fragments: .* use it with PDB files", path)
        if os.environ.get("FMO_TEST_SMALL"):
            self.skipTest("small systems alone")
        energy = energy_of(run(path, "--fmo", "--quiet"))
        self.assertAlmostEqual(energy, energy_of(run(os.path.join(FOLDER, "gly5_sto-3g.json"), "--fmo", "--quiet")), delta=1e-8)
        self.assertAlmostEqual(energy, -1095.566312178, delta=5e-7)

    def test_options(self):
        path, _ = self.waters(False)
        self.assertFails(run(path), 2, "add --fmo", path)
        self.assertFails(run(path, "--fmo"), 3, "basis: the file names no basis set")
        self.assertFails(run(WATER3, "--fmo", "--per-fragment", "2"), 2, "--per-fragment has no effect on this system of fragments: .* use it with PDB files", WATER3)
        self.assertFails(run(path, "--fmo", "--per-fragment", "0"), 2, "per-fragment")


if __name__ == "__main__":
    unittest.main()
