"""What fmo-driver says of builds, as text and as JSON, in every mode, of one data set and of several. Started as
cli.py is.
"""

import json
import math
import os
import re
import resource
import shutil
import unittest

from driver_helpers import (CLASSES, CPU_MODES, DATASETS, LARGE, MAKE_BAD, MEDIUM, MODES, REDUCES, SMALL, SOURCE,
                            Case, digest, h5, run, validate)


class Report(Case):
    def test_all_parts(self):
        result = run(LARGE, "--mode", "cpu", "--threads", "2", "--check")
        self.assertRuns(result)
        out = result.out
        self.assertRegex(out, r"\Afmo-driver \d")
        self.assertIn(LARGE, out)
        self.assertRegex(out, "H16O8, 24 atoms, 80 electrons")
        self.assertRegex(out, r"(?m)^  basis .*\b104 functions, 72 shells \(56 s, 16 p\)")
        self.assertRegex(out, r"(?m)^  mode +cpu, 2 threads, reduce tree, cutoff 1e-10$")
        rows = {}
        for line in out.splitlines():
            words = line.split()
            if words and words[0] in CLASSES + ["total"]:
                self.assertEqual(len(words), 6, line)
                rows[words[0]] = [int(word) for word in words[1:4]] + [float(words[4]),
                                                                       float(words[5])]
        self.assertEqual(list(rows), CLASSES + ["total"])
        for column in range(3):
            self.assertEqual(sum(rows[name][column] for name in CLASSES), rows["total"][column])
        self.assertLessEqual(sum(rows[name][4] for name in CLASSES), 100.6)
        for name in CLASSES:
            self.assertGreater(rows[name][0], 0)
            self.assertGreaterEqual(rows[name][2], rows[name][0])
        # 72 shells: n pairs, n (n + 1) / 2 quartets, whatever the cutoff
        pairs = 72 * 73 // 2
        self.assertEqual(rows["total"][0] + rows["total"][1], pairs * (pairs + 1) // 2)
        self.assertRegex(out, r"(?m)^  build +\d+\.\d+ s, .*quartets/s$")
        self.assertRegex(out, r"(?m)^  G +trace -?\d+\.\d+, norm \d+\.\d+$")
        energy = float(re.search(r"(?m)^  energy +(-\d+\.\d+) hartree", out).group(1))
        self.assertAlmostEqual(energy, -607.8791890497, delta=1e-7)
        self.assertRegex(out, r"(?m)^check: pass \(")

    def test_cutoff_zero_skips_nothing(self):
        result = run(MEDIUM, "--mode", "cpu", "--cutoff", "0")
        self.assertRuns(result)
        for line in result.out.splitlines():
            words = line.split()
            if words and words[0] in CLASSES + ["total"]:
                self.assertEqual(words[2], "0", line)

    def test_repeat(self):
        result = run(SMALL, "--repeat", "3", "--profile", "--mode", "cpu", "--threads", "1")
        self.assertRuns(result)
        self.assertRegex(result.out, r"median of 3 \(min \d.*, max \d")
        self.assertRegex(result.out, r"(?m)^  repeats +max \|G - first G\| 0.0e\+00 \(equal bits\)$")

    def test_profile(self):
        result = run(MEDIUM, "--profile", "--mode", "cpu")
        self.assertRuns(result)
        for word in ("host", "device", "revision", "plan", "screening", "reduction"):
            self.assertRegex(result.out, rf"(?m)^  {word} +\S")
        self.assertIn("sha256 " + digest(MEDIUM), result.out)
        self.assertEqual(run(MEDIUM, "--profile=none").out.count("sha256"), 0)

    def test_quiet(self):
        result = run(SMALL, "--quiet")
        self.assertRuns(result)
        self.assertRegex(result.out, r"\Aenergy: -\d+\.\d{10} hartree\n\Z")
        both = run(SMALL, MEDIUM, "--quiet", "--batch").out
        self.assertRegex(both, r"(?m)\A\S+: energy: .* hartree\n\S+: energy: .* hartree\n\Z")
        result = run(SMALL, "--quiet", "--check")
        self.assertRuns(result)
        self.assertRegex(result.out, r"\Acheck: pass \([^\n]*\)\n\Z")

    def test_threads_agree(self):
        energies = []
        for threads in ("1", "2", "5"):
            for reduce in ("tree", "atomic"):
                result = run(MEDIUM, "--mode", "cpu", "--threads", threads, "--reduce", reduce,
                             "--check", "--profile=json")
                self.assertRuns(result)
                build = json.loads(result.out)["builds"][0]
                self.assertEqual(build["threads"], int(threads))
                self.assertEqual(build["reduce"], reduce)
                energies.append(build["energy"])
        self.assertLess(max(energies) - min(energies), 1e-10)

    def test_no_energy(self):
        if not MAKE_BAD:
            self.skipTest("make-bad-file is not built")
        path = self.path("coincident.h5")
        self.assertEqual(run("notice-coincident", SMALL, path, program=MAKE_BAD).code, 0)
        result = run(path)
        self.assertRuns(result)
        self.assertRegex(result.out, r"(?m)^  energy +not known: two nuclei coincide; two-electron part "
                                     r"\d+\.\d+ hartree$")
        self.assertRegex(result.out, r"(?m)^  notice +\S")
        build = json.loads(run(path, "--profile=json").out)["builds"][0]
        self.assertIsNone(build["energy"])
        self.assertTrue(build["notices"])

    def test_s_only(self):
        for name in ("he_sto-3g.h5", "h4_sto-3g.h5"):
            result = run(os.path.join(DATASETS, name), "--mode", "cpu", "--check")
            self.assertRuns(result)
            self.assertRegex(result.out, r"(?m)^  pppp +0 +0 +0 ")


class Modes(Case):
    def test_every_mode(self):
        for mode in MODES:
            with self.subTest(mode=mode):
                result = run(SMALL, "--mode", mode, "--check")
                if mode in CPU_MODES + ["auto"] or result.code == 0:
                    self.assertRuns(result)
                    self.assertRegex(result.out, r"(?m)^check: pass")
                    shown = "(cpu|fused) \\(.+\\)" if mode == "auto" else mode
                    self.assertRegex(result.out, rf"(?m)^  mode +{shown}")
                else: # no GPU, or not in this build: never a silent fallback
                    self.assertIn(result.code, (2, 4), str(result))
                    self.assertFails(result, result.code, mode, SMALL)

    def test_every_reduce(self):
        for reduce in REDUCES:
            with self.subTest(reduce=reduce):
                result = run(SMALL, "--mode", "cpu", "--reduce", reduce, "--check")
                if reduce == "serial":
                    self.assertFails(result, 2, "serial", SMALL)
                else:
                    self.assertRuns(result)

    def test_mode_reason_only_for_auto(self):
        self.assertRegex(run(SMALL, "--mode", "cpu").out, r"(?m)^  mode +cpu, ")


class Several(Case):
    def test_all_good(self):
        result = run(SMALL, MEDIUM, "--check")
        self.assertRuns(result)
        self.assertEqual(len(re.findall(r"(?m)^fmo-driver ", result.out)), 2)
        self.assertEqual(len(re.findall(r"(?m)^check: pass", result.out)), 2)

    def test_quiet_names_the_file(self):
        result = run(SMALL, MEDIUM, "--check", "--quiet")
        self.assertRuns(result)
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].startswith(SMALL + ": check: pass"))
        self.assertTrue(lines[1].startswith(MEDIUM + ": check: pass"))

    def test_worst_exit_code(self):
        altered, missing = self.path("altered.h5"), self.path("missing.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 1e-3)
        for order in ([altered, missing, SMALL], [SMALL, missing, altered], [missing, SMALL, altered]):
            result = run("--check", *order)
            self.assertEqual(result.code, 3, str(result))
            self.assertEqual(result.err.count("\n"), 1)
            self.assertIn("fmo-driver: " + missing, result.err)
            self.assertEqual(len(re.findall(r"(?m)^check: pass", result.out)), 1)
            self.assertEqual(len(re.findall(r"(?m)^check: FAIL", result.out)), 1)
        self.assertEqual(run("--check", SMALL, altered, "--quiet").code, 1)

    def test_json(self):
        missing = self.path("missing.h5")
        result = run(SMALL, missing, MEDIUM, "--profile=json")
        self.assertEqual(result.code, 3)
        builds = json.loads(result.out)["builds"]
        self.assertEqual([build["dataset"] for build in builds], [SMALL, missing, MEDIUM])
        self.assertEqual(builds[1]["error"]["exit_code"], 3)
        self.assertIn(builds[1]["error"]["message"], result.err)


class Json(Case):
    def document(self, *arguments, code=0):
        result = run("--profile=json", *arguments)
        self.assertEqual(result.code, code, str(result))
        document = json.loads(result.out, parse_constant=lambda word: self.fail(word))
        with open(os.path.join(SOURCE, "docs", "reference", "profile.schema.json")) as file:
            schema = json.load(file)
        self.assertEqual(validate(document, schema, schema), [])
        return document

    def test_the_validator_itself(self):
        with open(os.path.join(SOURCE, "docs", "reference", "profile.schema.json")) as file:
            schema = json.load(file)
        document = self.document(SMALL, "--check")
        document["builds"][0]["check"]["status"] = "perhaps"
        self.assertTrue(validate(document, schema, schema))
        document = self.document(SMALL)
        del document["builds"][0]["classes"][2]["seconds"]
        self.assertTrue(validate(document, schema, schema))
        document = self.document(SMALL)
        document["more"] = 1
        self.assertTrue(validate(document, schema, schema))

    def test_values(self):
        document = self.document(LARGE, "--mode", "cpu", "--repeat", "3", "--check", "--threads", "2")
        build = document["builds"][0]
        self.assertEqual(build["dataset"], LARGE)
        self.assertEqual(build["sha256"], digest(LARGE))
        self.assertEqual(build["formula"], "H16O8")
        self.assertEqual(build["nao"], 104)
        self.assertEqual((build["mode"], build["scatter"], build["repeat"]), ("cpu", None, 3))
        self.assertEqual(build["cutoff"], 1e-10)
        seconds = build["seconds"]
        self.assertTrue(0 < seconds["min"] <= seconds["median"] <= seconds["max"], seconds)
        self.assertEqual([row["name"] for row in build["classes"]], CLASSES)
        total = sum(row["quartets"] for row in build["classes"])
        self.assertTrue(math.isclose(build["quartets_per_second"], total / seconds["median"],
                                     rel_tol=1e-12))
        self.assertLessEqual(sum(row["share"] for row in build["classes"]), 1.001)
        self.assertAlmostEqual(build["energy"], -607.8791890497, delta=1e-7)
        self.assertLess(build["repeat_difference"], 1e-11)
        self.assertEqual(build["check"]["status"], "pass")
        self.assertIsNone(document["device"])

    def test_same_numbers_as_the_report(self):
        build = self.document(SMALL, "--mode", "cpu")["builds"][0]
        report = run(SMALL, "--mode", "cpu").out
        self.assertIn(f"trace {build['trace_g']:.10f}, norm {build['norm_g']:.10f}", report)
        self.assertIn(f"energy     {build['energy']:.10f}", report)
        for row in build["classes"]:
            self.assertRegex(report, rf"(?m)^  {row['name']} +{row['quartets']} ")
        self.assertIsNone(build["check"])

    def test_reference_mode(self):
        build = self.document(SMALL, "--mode", "reference", "--check")["builds"][0]
        self.assertEqual(build["mode"], "reference")
        self.assertIsNone(build["reduce"])
        self.assertEqual(build["classes"], [])
        self.assertIsNone(build["quartets_per_second"])

    def test_failed_check(self):
        altered = self.path("a.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 1e-3)
        result = run(altered, "--check", "--profile=json")
        self.assertRegex(result.err, r"\Afmo-driver: .*a\.h5: check: FAIL[^\n]*\n\Z")
        check = self.document(altered, "--check", code=1)["builds"][0]["check"]
        self.assertEqual(check["status"], "fail")
        worst = check["worst"]
        self.assertEqual((worst["matrix"], worst["row"], worst["column"]), ("fock_2e", 0, 0))
        self.assertAlmostEqual(worst["want"] - worst["got"], 1e-3, delta=1e-8)

    def test_only_json_on_stdout(self):
        result = run(SMALL, "--profile=json", "--check", "--quiet")
        self.assertRuns(result)
        self.assertEqual(result.out[0], "{")
        json.loads(result.out)

    def test_nothing_to_report(self):
        self.assertFails(run(self.path("missing.h5"), "--profile=json"), 3, "missing")

    def test_name_that_is_not_utf8(self):
        name = os.fsencode(self.folder) + b"/\xff\xe9.h5"
        shutil.copy(SMALL, name)
        result = run(os.fsdecode(name), "--profile=json")
        self.assertRuns(result)
        self.assertTrue(json.loads(result.out)["builds"][0]["dataset"].endswith("/??.h5"))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
