"""Tests of fmo-bench's builds of molecules: fock, growth and scf, on the CPU and on a GPU. Standard
library only.

`builds.py Builds` runs one class; the environment: helpers.py."""
import json
import os
import re
import tempfile
import unittest

from helpers import QUICK, SOURCE, Case, SkipMain, bench, need_gpu


class Builds(Case):
    """Builds of molecules: fock and growth, in mode cpu; class Gpu has them in mode fused."""
    MODE = "cpu"

    def rows(self, *arguments, expect=0):
        document, text = self.results(*arguments, "--mode", self.MODE, expect=expect)
        for cell in document["results"]:
            self.assertEqual(cell["method"], self.MODE)
            self.assertEqual(cell["where"], "gpu" if self.MODE == "fused" else "cpu")
            self.assertGreater(cell["items"], 0)
            self.assertEqual(cell["check"]["kind"], "bound")
            self.assertLessEqual(cell["check"]["error"], 1e-8)
            for field in ("plan_seconds", "first_seconds", "wall_seconds", "gflop"):
                self.assertGreater(cell["parameters"][field], 0.0, field)
        return document, text

    def test_systems(self):
        document, text = self.rows("fock", "--systems", "water001,WATER008/sto")
        rows = {c["row"]: c["parameters"] for c in document["results"]}
        self.assertEqual(list(rows), ["water001/STO-3G", "water001/6-31G", "water008/STO-3G", "water001/6-31G*"])
        self.assertEqual([p["nao"] for p in rows.values()], [7, 13, 56, 19])
        self.assertEqual([p["basis"] for p in rows.values()], ["STO-3G", "6-31G", "STO-3G", "6-31G*"])
        self.assertEqual(rows["water001/6-31G"]["peer"], "OpenFMO")
        self.assertEqual(rows["water001/6-31G"]["peer_seconds"], 1.6e-3)
        self.assertEqual(rows["water001/6-31G"]["target_seconds"], 5e-5)
        self.assertNotIn("target_seconds", rows["water001/STO-3G"])
        for name in rows:
            self.assertRegex(text, rf"(?m)^  {re.escape(name)} +{self.MODE} ")

    def test_batch(self):
        fragments = 2 if os.environ.get("FMO_TEST_SMALL") else 3
        document, text = self.rows("fock", "--systems", "batch/", "--fragments", str(fragments), "--cycles", "2")
        peers = {"batch/6-31G": 5.9e-3, "batch/6-31G*": 18.1e-3}
        self.assertEqual([cell["row"] for cell in document["results"]], list(peers))
        for cell in document["results"]:
            self.assertEqual(cell["parameters"]["fragments"], fragments)
            self.assertAlmostEqual(cell["parameters"]["peer_seconds"], fragments * peers[cell["row"]])
        self.assertIn(f"{fragments} fragments in a call", text)

    def test_own_geometry(self):
        path = os.path.join(SOURCE, "datasets", "xyz", "nh3.xyz")
        document, _ = self.rows("fock", "--geometry", path, "--basis", "6-31g", "--cycles", "0")
        (cell,) = document["results"]
        self.assertEqual((cell["row"], cell["parameters"]["nao"]), ("nh3.xyz", 15))
        self.assertNotIn("peer", cell["parameters"])

    def test_forces(self):
        document, text = self.results("forces", "--systems", "water001/6", "--cycles", "2")
        self.assertEqual([c["row"] for c in document["results"]], ["water001/6-31G", "water001/6-31G*"])
        for cell in document["results"]:
            self.assertGreater(cell["parameters"]["build_seconds"], 0.0)
            self.assertLess(cell["parameters"]["error_gradient"], 1e-7)
        self.assertIn("gradient", text)

    def test_requests(self):
        document, text = self.results("requests", "--systems", "water001", "--cycles", "2")
        cells = {cell["column"]: cell for cell in document["results"]}
        self.assertEqual(list(cells), ["J and K", "two spins", "general", "long range", "four densities", "K",
                                       "K of erf", "K of erfc"])
        for name, cell in cells.items():
            against = cells["K" if name.startswith("K") else "J and K"]["seconds"]["median"]
            self.assertAlmostEqual(cell["parameters"]["relative_time"] * against, cell["seconds"]["median"])
        self.assertEqual(cells["K of erfc"]["check"]["kind"], "bound") # K of erf and of erfc are that of 1/r
        self.assertLess(cells["K of erfc"]["check"]["error"], 1e-8)
        self.assertIn("long range", text)

    def test_growth(self):
        document, _ = self.rows("growth", "--waters", "1,2", "--carbons", "1,3", "--cycles", "2")
        sizes = [(c["table"], c["column"], c["parameters"]["atoms"]) for c in document["results"]]
        self.assertEqual(sizes, [(f"{family}, {basis}", column, atoms)
                                 for family, members in (("water clusters", (("1", 3), ("8", 24))),
                                                         ("alkanes", (("1", 5), ("3", 11))))
                                 for basis in ("STO-3G", "6-31G") for column, atoms in members])
        one, _ = self.rows("growth", "--waters", "1", "--carbons", "1", "--basis", "3-21g", "--cycles", "0")
        self.assertEqual([c["table"] for c in one["results"]], ["water clusters, 3-21g", "alkanes, 3-21g"])
        for table in {c["table"] for c in document["results"]}:
            items = [c["items"] for c in document["results"] if c["table"] == table]
            self.assertEqual(items, sorted(items))

    def test_scf(self):
        """Molecules in one call and one by one, energies against each other; no PySCF where there is none."""
        document, text = self.results("scf", "--systems", "water001", "--fragments", "3", "--python", "false",
                                      "--mode", self.MODE)
        cells = {cell["row"]: cell for cell in document["results"]}
        systems, ways = ("water001/6-31G", "water001/cc-pVDZ"), ("batch", "one by one", "PySCF")
        self.assertEqual(list(cells), [f"{system}, {way}" for system in systems for way in ways])
        for system in systems:
            batch, alone, pyscf = (cells[f"{system}, {way}"] for way in ways)
            self.assertIn("no PySCF", pyscf["left_out"])
            for cell in (batch, alone):
                self.assertEqual((cell["items"], cell["unit"], cell["method"]), (3, "molecules", self.MODE))
                self.assertGreater(cell["rate"], 0.0)
            self.assertEqual((alone["check"]["status"], alone["check"]["bound"]), ("pass", 1e-9))
            self.assertRegex(text, rf"(?m)^  {system} +\w+ +batch +3 +3 ")

    def test_plans(self):
        """Plans of many molecules and of a large one, without builds."""
        document, text = self.results("scf", "--systems", "plans", "--fragments", "3", "--mode", self.MODE)
        rows = [(cell["row"], cell["items"]) for cell in document["results"]]
        self.assertEqual(rows, [("plans/water008/6-31G", 3), ("plans/water064/6-31G", 1)])
        for cell in document["results"]:
            self.assertGreater(cell["seconds"]["median"], 0.0)
        self.assertRegex(text, r"(?m)^  plans/water008/6-31G +\w+ +plans +3 +3 ")

    def test_a_loose_cutoff_shows(self):
        """Errors are measured, not assumed: at 1e-4 they are large, and more than at 1e-10."""
        path = os.path.join(SOURCE, "datasets", "xyz", "water008.xyz")
        errors = []
        for cutoff in ("1e-4", "1e-10"):
            with tempfile.TemporaryDirectory() as folder:
                out = os.path.join(folder, "out.json")
                run = bench("fock", "--geometry", path, "--basis", "sto-3g", "--cutoff", cutoff, "--cycles", "2",
                            "--mode", self.MODE, *QUICK, "--json", out)
                self.assertEqual(run.returncode, 0, run.stderr)
                with open(out, encoding="utf-8") as file:
                    (cell,) = json.load(file)["results"]
                errors.append(cell["parameters"]["error_fock_2e"])
        self.assertGreater(errors[0], 1e-7)
        self.assertLess(errors[1], 1e-8)

    def test_every_field_is_documented(self):
        document, _ = self.rows("fock", "--systems", "water001/6-31G")
        with open(os.path.join(SOURCE, "docs", "reference", "bench.md"), encoding="utf-8") as file:
            text = file.read()
        for name in document["results"][0]["parameters"]:
            self.assertIn("`" + name + "`", text)

    def test_small_only_without_being_asked(self):
        run = bench("growth", "--waters", "1,3", "--carbons", "1", "--cycles", "0", *QUICK)
        self.assertEqual(run.returncode, 0, run.stderr)
        if "GPU parts left out" in run.stdout:
            self.assertRegex(run.stdout, r"\(H2O\)_27/STO-3G +left out: ")
            self.assertRegex(run.stdout, r"\(H2O\)_1/STO-3G +cpu ")

    def test_usage(self):
        """Wrong arguments end with exit code 2, unreadable files with 3, each with one line on stderr."""
        for arguments, says, code in ((["fock", "--systems", "water9"], "--systems 'water9'", 2),
                                      (["fock", "--systems", "water001,,"], "--systems ''", 2),
                                      (["fock", "--geometry", "x.xyz"], "--basis", 2),
                                      (["fock", "--basis", "6-31g"], "--geometry", 2),
                                      (["fock", "--geometry", "x.xyz", "--basis", "6-31g", "--systems", "batch"],
                                       "--systems", 2),
                                      (["fock", "--mode", "split"], "--mode 'split'", 2),
                                      (["fock", "--where", "cpu"], "--where has no effect in", 2),
                                      (["fock", "--fragments", "0"], "--fragments '0'", 2),
                                      (["fock", "--cutoff", "2"], "--cutoff '2'", 2),
                                      (["strip", "--mode", "cpu"], "--mode has no effect in", 2),
                                      (["growth", "--waters", "11"], "--waters '11'", 2),
                                      (["fock", "--quiet", "--geometries", "/no/such/folder"],
                                       "/no/such/folder/water001.xyz", 3),
                                      (["fock", "--quiet", "--geometry", "/no/such.xyz", "--basis", "6-31g"],
                                       "/no/such.xyz", 3)):
            with self.subTest(" ".join(arguments)):
                run = bench(*arguments)
                self.assertEqual((run.returncode, run.stdout), (code, ""), run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
                self.assertIn(says, run.stderr)


class BuildsGpu(Builds):
    MODE = "fused"

    @classmethod
    def setUpClass(cls):
        need_gpu(bench("fock", "--mode", "fused", "--systems", "water001/STO", *QUICK, "--quiet"))


if __name__ == "__main__":
    unittest.main(testRunner=SkipMain)
