"""Helpers of cli.py and builds.py, the tests of the program fmo-bench. Standard library only.

FMO_BENCH names the program, FMO_SOURCE the source tree."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.environ.get("FMO_BENCH", "build/bin/fmo-bench")
SOURCE = os.environ.get("FMO_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DATASET = os.path.join(SOURCE, "datasets", "h2o8_sto-3g.h5")
EXPERIMENTS = ["histogram", "himeno", "reduction", "strip", "interchange", "kmeans", "median"]
BUILDS = ["fock", "forces", "requests", "growth", "scf"]

# Sizes around the constants of the code: warps, blocks, items in flight, tiles.
SMALL = {
    "histogram": ["--items", "20011", "--bins", "1,2,33,1000,70000"],
    "himeno": ["--grid", "XS"],
    "reduction": ["--items", "20011", "--batch", "1,7,64"],
    "strip": ["--items", "2049", "--strip", "1,5,33,1025,5000"],
    "interchange": ["--edge", "1,127,128,129,300"],
    "kmeans": ["--samples", "1025", "--clusters", "33", "--dimensions", "5", "--strip", "1,5,32,33,100"],
    "median": ["--image", "70", "--window", "9", "--strip", "1,5,69,70,200"],
}
QUICK = ["--seconds", "0.02", "--repeat", "2", "--threads", "2"]


def bench(*arguments, timeout=1500):
    return subprocess.run([BENCH, *arguments], capture_output=True, text=True, timeout=timeout)


def need_gpu(run):
    """Skips the class if there is no GPU; any other error fails its tests."""
    if run.returncode == 4 and "fault" not in run.stderr:
        if os.environ.get("FMO_REQUIRE_GPU", "0") not in ("", "0"):
            raise AssertionError("FMO_REQUIRE_GPU is set: " + run.stderr)
        raise unittest.SkipTest(run.stderr.strip())


class Case(unittest.TestCase):
    def results(self, *arguments, expect=0):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            run = bench(*arguments, *QUICK, "--json", path)
            self.assertEqual(run.returncode, expect, run.stderr + run.stdout[-2000:])
            self.assertEqual(os.listdir(folder), ["out.json"])
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        for cell in document["results"]:
            if cell["left_out"] is None:
                self.assertEqual(cell["check"]["status"], "pass", cell)
        return document, run.stdout

    def exact(self, document):
        for cell in document["results"]:
            if cell["left_out"] is None:
                self.assertEqual(cell["check"]["kind"], "exact", cell)


class SkipMain(unittest.TextTestRunner):
    def run(self, test):
        result = super().run(test)
        if result.wasSuccessful() and result.skipped and result.testsRun == 0:
            sys.exit(77)
        return result
