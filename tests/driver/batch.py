"""fmo-driver --batch: the same reports and checks as one by one, one call, errors by file. Under
--scatter fixed every bit is that of a single build. Standard library and tests/support/driver_helpers.py only.

    FMO_DRIVER=.../fmo-driver FMO_H5=.../driver_h5 python3 batch.py [Batch|BatchGpu]"""

import json
import os
import re
import sys
import unittest

import driver_helpers
from driver_helpers import LARGE, MEDIUM, SMALL, Case, digest, h5, run

SETS = [SMALL, LARGE, MEDIUM]


class Batch(Case):
    MODE = "cpu"

    def batch(self, *arguments):
        return run("--batch", "--mode", self.MODE, *arguments)

    def json(self, *arguments, code=0):
        result = run("--mode", self.MODE, "--profile=json", *arguments)
        self.assertEqual(result.code, code, str(result))
        document = json.loads(result.out)
        with open(os.path.join(driver_helpers.SOURCE, "docs", "reference", "profile.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        self.assertEqual(driver_helpers.validate(document, schema, schema), [])
        return document

    def test_report(self):
        result = self.batch(*SETS, "--check", "--repeat", 2)
        self.assertRuns(result)
        self.assertEqual(len(re.findall(r"(?m)^fmo-driver ", result.out)), 3)
        self.assertEqual(len(re.findall(r"(?m)^check: pass", result.out)), 3)
        places = [result.out.index(path) for path in SETS]
        self.assertEqual(places, sorted(places))
        last = result.out.splitlines()[-1]
        self.assertRegex(last, r"^  batch      3 data sets in one call: \d+\.\d+ s, \d+\.\d+ to \d+\.\d+ s$")

    def test_quiet(self):
        result = self.batch(*SETS, "--check", "--quiet")
        self.assertRuns(result)
        self.assertEqual([line.split(": ")[0] for line in result.out.splitlines()], SETS)

    def test_json(self):
        document = self.json(*SETS, "--batch", "--check", "--repeat", 3)
        self.assertEqual([build["dataset"] for build in document["builds"]], SETS)
        self.assertEqual([build["check"]["status"] for build in document["builds"]], ["pass"] * 3)
        batch = document["batch"]
        self.assertEqual(batch["datasets"], 3)
        self.assertLessEqual(batch["seconds"]["min"], batch["seconds"]["median"])
        self.assertLessEqual(batch["seconds"]["median"], batch["seconds"]["max"])
        self.assertGreater(batch["seconds"]["min"], 0.0)
        self.assertNotIn("batch", self.json(*SETS))

    def test_bits_of_single_builds(self):
        names = ("energy", "energy_2e", "trace_g", "norm_g")
        batch = self.json(*SETS, SMALL, "--batch", "--scatter", "fixed", "--repeat", 3)
        single = self.json(*SETS, SMALL, "--scatter", "fixed")
        for one, other in zip(batch["builds"], single["builds"]):
            self.assertEqual([one[name] for name in names], [other[name] for name in names], one["dataset"])
            self.assertEqual(one["repeat_difference"], 0.0)

    def test_output_of_a_single_build(self):
        results = []
        for arguments in ([], ["--batch"]):
            out = self.path("out%d.h5" % len(arguments))
            self.assertRuns(run(LARGE, "--mode", self.MODE, "--scatter", "fixed", "--output", out, *arguments))
            results.append(digest(out))
        self.assertEqual(results[0], results[1])

    def test_worst_exit_code(self):
        altered, missing = self.path("altered.h5"), self.path("missing.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 1e-3)
        for order in ([altered, missing, SMALL], [missing, SMALL, altered]):
            result = self.batch("--check", *order)
            self.assertEqual(result.code, 3, str(result))
            self.assertEqual(result.err.count("\n"), 1)
            self.assertIn("fmo-driver: " + missing, result.err)
            self.assertEqual(len(re.findall(r"(?m)^check: pass", result.out)), 1)
            self.assertEqual(len(re.findall(r"(?m)^check: FAIL", result.out)), 1)
            self.assertIn("batch      2 data sets", result.out)
        self.assertEqual(self.batch("--check", altered, SMALL, "--quiet").code, 1)
        document = self.json("--batch", SMALL, missing, MEDIUM, code=3)
        self.assertEqual(document["builds"][1]["error"]["exit_code"], 3)
        self.assertEqual(document["batch"]["datasets"], 2)

    def test_nothing_to_build(self):
        missing = self.path("missing.h5")
        result = self.batch(missing, missing)
        self.assertEqual((result.code, result.out, result.err.count("\n")), (3, "", 2), str(result))

    def test_usage(self):
        for arguments, says in ((["--output", self.path("x.h5"), SMALL, MEDIUM], "--output"),
                                ([], "no data set"),
                                (["--batch=2", SMALL], "--batch takes no value")):
            result = self.batch(*arguments)
            self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), str(result))
            self.assertIn(says, result.err)


class BatchGpu(Batch):
    MODE = "fused"

    @classmethod
    def setUpClass(cls):
        result = run(SMALL, "--mode", "fused", "--quiet")
        if result.code == 4 or "not in this build" in result.err:
            if os.environ.get("FMO_REQUIRE_GPU", "0") not in ("", "0"):
                raise AssertionError("FMO_REQUIRE_GPU is set: " + result.err)
            print("skipped:", result.err.strip())
            sys.exit(77)


if __name__ == "__main__":
    unittest.main()
