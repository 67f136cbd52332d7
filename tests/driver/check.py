"""fmo-driver and the values of data sets: checked, written as results, refused. Started as cli.py is.
FMO_MAKE_BAD names make-bad-file, which writes the unusable files; without it those tests are skipped.
"""

import glob
import json
import os
import re
import resource
import shutil
import unittest

from driver_helpers import (CPU_MODES, DATASETS, DRIVER, LARGE, MAKE_BAD, MEDIUM, SMALL, Case, committed_datasets,
                            digest, functions, h5, run)

# More than any unusable file may cost; a sanitizer build reserves shadow memory and is slower. Seconds are
# those of the processors: a busy machine takes as many, however long it is at it.
BAD_INPUT_SECONDS = 10.0
BAD_INPUT_MEGABYTES = 1000


class Check(Case):
    def test_committed_data_sets(self):
        self.assertGreaterEqual(len(committed_datasets()), 5)
        for path in committed_datasets():
            for arguments in (["--mode", "cpu"], ["--mode", "cpu", "--cutoff", "0"],
                              ["--mode", "reference"]):
                if "reference" in arguments and functions(path) > 18:
                    continue # too slow for every run
                with self.subTest(path=path, arguments=arguments):
                    result = run(path, "--check", "--quiet", *arguments)
                    self.assertRuns(result)
                    self.assertRegex(result.out, r"\Acheck: pass \(")

    def test_energy_at_tight_cutoff(self):
        result = run(LARGE, "--mode", "cpu", "--cutoff", "1e-12", "--check", "--profile=json")
        self.assertRuns(result)
        check = json.loads(result.out)["builds"][0]["check"]
        self.assertEqual(check["energy_tolerance"], 1e-9)
        self.assertLessEqual(check["energy_error"], 1e-9)

    def test_altered_element(self):
        # row 3, column 5 of the 7 functions: 0 O s, 0 O s, 0 O px ... 1 H s, 2 H s
        for field, symbol in (("coulomb", "J"), ("exchange", "K"), ("fock_2e", "G")):
            altered = self.path(field + ".h5")
            h5("alter", SMALL, altered, "/fmo/" + field, 3 * 7 + 5, 1e-6)
            h5("alter", altered, altered + ".2", "/fmo/" + field, 5 * 7 + 3, 1e-6)
            altered += ".2"
            result = run(altered, "--check", "--mode", "cpu")
            self.assertRuns(result, 1)
            self.assertRegex(result.out, rf"(?m)^check: FAIL, worst element {symbol}\[3\]\[5\] "
                                         r"\(0 O p[xyz]; 1 H s\): got -?[\d.e-]+, want -?[\d.e-]+, "
                                         r"off by 1.0e-06 > 1e-08; against the file")
            self.assertIn("  energy ", result.out)
            quiet = run(altered, "--check", "--mode", "cpu", "--quiet")
            self.assertRuns(quiet, 1)
            self.assertEqual(quiet.out, result.out.splitlines()[-1] + "\n")

    def test_size_of_functions_does_not_matter(self):
        """A right build passes and a wrong energy or element does not, whatever the functions are multiplied by."""
        matrices = ["/ao_1e_int/ao_1e_int_" + name for name in ("overlap", "kinetic", "core_hamiltonian",
                                                                "potential_n_e")]
        matrices += ["/fmo/coulomb", "/fmo/exchange", "/fmo/fock_2e"]
        for factor in (1e-3, 1e3):
            copy, wrong = self.path("copy.h5"), self.path("wrong.h5")
            h5("scale", SMALL, copy + "1", factor, "/ao/ao_normalization")
            h5("scale", copy + "1", copy + "2", factor**2, *matrices)
            h5("scale", copy + "2", copy + "3", factor**-2, "/fmo/density")
            h5("scale", copy + "3", copy, 1 / factor, "/mo/mo_coefficient")
            result = run(copy, "--check", "--quiet", "--mode", "reference")
            self.assertRuns(result)
            self.assertRegex(result.out, "all <= 1e-08; .* <= 1e-07")
            h5("alter", copy, wrong + "1", "/fmo/energy", 0, 1e-6)
            h5("alter", copy, wrong + "2", "/fmo/fock_2e", 3 * 7 + 3, 1e-7 * factor**2)
            for path in (wrong + "1", wrong + "2"):
                self.assertRuns(run(path, "--check", "--quiet", "--mode", "reference"), 1)

    def test_tolerance_follows_cutoff(self):
        altered = self.path("a.h5")
        h5("alter", SMALL, altered + "1", "/fmo/fock_2e", 0, 2e-9)
        self.assertRuns(run(altered + "1", "--check", "--mode", "cpu"))
        self.assertRuns(run(altered + "1", "--check", "--mode", "cpu", "--cutoff", "0"), 1)

    def test_loose_cutoff_excuses_little(self):
        """100 cutoff would let errors of a hartree pass."""
        result = run(LARGE, "--check", "--mode", "cpu", "--cutoff", "1e-2")
        self.assertRuns(result, 1)
        self.assertRegex(result.out, r"(?m)^check: FAIL.* > 1e-06; .*the cutoff 0.01 is too loose to pass a check: 1e-08 at most$")
        altered = self.path("a.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 5e-4)
        self.assertRuns(run(altered, "--check", "--mode", "cpu", "--cutoff", "1e-5"), 1)
        h5("alter", SMALL, altered, "/fmo/energy", 0, 5e-4)
        self.assertRuns(run(altered, "--check", "--mode", "cpu", "--cutoff", "1e-6"), 1)

    def test_large_densities_are_checked_relative_to_themselves(self):
        scaled, wrong = self.path("scaled.h5"), self.path("wrong.h5")
        h5("scale", os.path.join(DATASETS, "h2s_hcl_6-31g.h5"), scaled, 1e6, "/fmo/density", "/fmo/coulomb", "/fmo/exchange",
           "/fmo/fock_2e")
        h5("delete", scaled, wrong, "/fmo/energy")
        line = ["--check", "--mode", "cpu", "--cutoff", "0", "--force"]
        result = run(wrong, *line)
        self.assertRuns(result)
        self.assertGreater(max(map(float, re.findall(r"\|d[JKG]\| ([\d.e-]+),", result.out))), 1e-10)
        h5("alter", wrong, scaled, "/fmo/fock_2e", 0, 0.1)
        self.assertRuns(run(scaled, *line), 1)

    def test_altered_energy(self):
        altered = self.path("a.h5")
        h5("alter", SMALL, altered, "/fmo/energy", 0, 1e-5)
        result = run(altered, "--check", "--mode", "cpu")
        self.assertRuns(result, 1)
        self.assertRegex(result.out, r"(?m)^check: FAIL, energy: got -74\.\d+, want -74\.\d+, off by "
                                     r"1.0e-05 > 1e-07 \(J, K and G agree\)")

    def test_nothing_written_after_a_failed_check(self):
        altered = self.path("a.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 1e-3)
        result = run(altered, "--check", "--output", self.path("out.h5"))
        self.assertRuns(result, 1)
        self.assertRegex(result.out, r"(?m)^  output .*not written")
        self.assertEqual(os.listdir(self.folder), ["a.h5"])

    def test_without_reference_values(self):
        bare = self.path("bare.h5")
        h5("delete", SMALL, bare, "/fmo/coulomb", "/fmo/exchange", "/fmo/fock_2e", "/fmo/energy")
        for mode, other in (("cpu", "reference"), ("reference", "cpu")):
            result = run(bare, "--check", "--mode", mode, "--threads", "2")
            self.assertEqual(result.code, 0, str(result))
            self.assertRegex(result.out, rf"(?m)^check: pass \(against --mode {other}, cutoff 0: .*\)$")
            self.assertRegex(result.err, rf"\Afmo-driver: {re.escape(bare)}: no reference values in the file: --check "
                                         rf"builds once more, with --mode {other} and cutoff 0: [\d.]+ MB, about "
                                         r"[\d.]+ s on 2 threads\n\Z")
            self.assertRuns(run(bare, "--check", "--mode", mode, "--quiet"))
            document = run(bare, "--check", "--mode", mode, "--profile=json")
            self.assertIn("--check builds once more", document.err)
            json.loads(document.out)
        self.assertRuns(run(SMALL, "--check")) # needs no build, says nothing

    def test_what_a_check_takes(self):
        """As announced: memory exactly, processor time within a factor of thirty on any machine."""
        bare = self.path("bare.h5")
        h5("delete", os.path.join(DATASETS, "h2s_hcl_6-31g.h5"), bare, "/fmo/coulomb", "/fmo/exchange", "/fmo/fock_2e")
        result = run(bare, "--check", "--mode", "cpu", "--threads", "1")
        self.assertEqual(result.code, 0, str(result))
        megabytes, seconds = re.search(r"cutoff 0: ([\d.]+) MB, about ([\d.]+) s", result.err).groups()
        self.assertAlmostEqual(float(megabytes), (8 * 32**4 + 5 * 8 * 32**2) / 1e6, delta=0.01)
        self.assertLess(float(seconds) / 30, result.seconds)
        self.assertGreater(float(seconds) * 30, result.seconds)

    def test_one_of_j_and_k_is_not_enough(self):
        bare = self.path("bare.h5")
        h5("delete", SMALL, bare, "/fmo/exchange", "/fmo/fock_2e")
        result = run(bare, "--check", "--mode", "cpu", "--quiet")
        self.assertRuns(result)
        self.assertRegex(result.out, r"(?m)^check: pass \(against --mode reference, cutoff 0: .*dE")
        both = self.path("both.h5")
        h5("delete", SMALL, both, "/fmo/fock_2e")
        self.assertRegex(run(both, "--check").out, r"(?m)^check: pass \(against the file's values: \|dJ\|")

    def test_not_checked(self):
        """No reference values, and too little memory for --mode reference."""
        bare = self.path("bare.h5")
        h5("delete", LARGE, bare, "/fmo/coulomb", "/fmo/exchange", "/fmo/fock_2e", "/fmo/energy")
        out = self.path("out.h5")
        result = run(bare, "--check", "--quiet", "--mode", "cpu", "--memory", "20M", "-o", out)
        self.assertRuns(result, 1)
        self.assertRegex(result.out, r"\Acheck: not checked \(no reference values in the file, and "
                                     r"--mode reference: .*\)\n\Z")
        h5("result", LARGE, out, 1e-10) # nothing speaks against the result
        result = run(bare, "--check", "--profile=json", "--mode", "cpu", "--memory", "20M")
        self.assertEqual(result.code, 1)
        self.assertEqual(json.loads(result.out)["builds"][0]["check"]["status"], "not checked")
        self.assertRegex(result.err, r"\Afmo-driver: .*: check: not checked \([^\n]*\n\Z")

    def test_no_memory_for_reference(self):
        result = run(LARGE, "--mode", "reference", "--memory", "20M")
        self.assertFails(result, 5, "memory|MB|GB", LARGE)


class Output(Case):
    def test_content(self):
        for path in committed_datasets():
            out = self.path("out.h5")
            before = digest(path)
            with self.subTest(path=path):
                result = run(path, "--output", out, "--mode", "cpu")
                self.assertRuns(result)
                self.assertIn(out, result.out)
                h5("result", path, out, 1e-10)
                self.assertEqual(digest(path), before)
                self.assertEqual(os.listdir(self.folder), ["out.h5"])

    def test_every_cpu_mode(self):
        for mode in CPU_MODES:
            out = self.path(mode + ".h5")
            self.assertRuns(run(SMALL, "-o", out, "--mode", mode, "--cutoff", "0", "--quiet"))
            h5("result", SMALL, out, 0)

    def test_overwrites_an_older_result(self):
        out = self.path("out.h5")
        self.assertRuns(run(MEDIUM, "--output", out))
        self.assertRuns(run(SMALL, "--output", out))
        h5("result", SMALL, out, 1e-10)

    def test_relative_name(self):
        self.assertRuns(run(SMALL, "--output", "out.h5", cwd=self.folder))
        self.assertEqual(os.listdir(self.folder), ["out.h5"])

    def test_unwritable(self):
        before = digest(SMALL)
        copy = self.path("copy.h5")
        shutil.copy(SMALL, copy)
        os.symlink(copy, self.path("link.h5"))
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("fifo"))
        cases = [(self.path("no/such/out.h5"), "No such file"), (self.path("folder"), "is a directory; give"),
                 (copy, "data set itself"), (self.path("link.h5"), "data set itself"),
                 (self.path("./copy.h5"), "data set itself"), ("/dev/null", "not a regular file; give"),
                 (self.path("fifo"), "regular file"), (self.path("new/"), "."),
                 ("/proc/out.h5", "."), (self.path("x" * 300), ".")]
        names = sorted(os.listdir(self.folder))
        for out, pattern in cases:
            with self.subTest(out=out):
                self.assertFails(run(copy, "--output", out), 3, pattern, copy)
                self.assertEqual(sorted(os.listdir(self.folder)), names)
        self.assertEqual(digest(copy), before)

    def test_full_disk(self):
        """A file-size limit stands in for a full disk: no result, no left-overs."""
        out = self.path("out.h5")
        with open(out, "w") as file:
            file.write("older")
        result = run("-c", "ulimit -f 8; trap '' XFSZ; exec \"$0\" \"$@\"", DRIVER, LARGE, "--output",
                     out, "--mode", "cpu", "--force", program="/bin/sh")
        self.assertFails(result, 3, "out.h5", LARGE)
        self.assertEqual(os.listdir(self.folder), ["out.h5"])
        with open(out) as file:
            self.assertEqual(file.read(), "older")


class BadInput(Case):
    def clear(self):
        shutil.rmtree(self.folder)
        os.mkdir(self.folder)

    def refused(self, path, pattern, code=3):
        """Refused quickly, cheaply, without a trace, with and without an output."""
        out = self.path("result.h5")
        before = sorted(os.listdir(self.folder))
        for extra in ([], ["--check", "--output", out], ["--profile=json"]):
            result = run(path, *extra, timeout=600)
            self.assertFails(result, code, pattern, path)
            self.assertLess(result.seconds, BAD_INPUT_SECONDS)
            self.assertLess(result.megabytes, BAD_INPUT_MEGABYTES)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_not_a_data_set(self):
        self.refused(self.path("missing.h5"), "No such file")
        self.refused(self.path("missing/x.h5"), "No such file")
        self.refused(os.path.join(SMALL, "x.h5"), "Not a directory")
        self.refused(self.folder, "is a directory; .*convert-backend")
        self.refused("/dev/null", ".")
        self.refused("/dev/zero", ".")
        os.mkfifo(self.path("fifo"))
        self.refused(self.path("fifo"), "regular file")
        for name, content in (("empty.h5", b""), ("text.h5", b"water\n"), ("zero.h5", bytes(10000)),
                              ("magic.h5", b"\x89HDF\r\n\x1a\n")):
            with open(self.path(name), "wb") as file:
                file.write(content)
            self.refused(self.path(name), ".")

    def test_name_with_control_characters(self):
        result = run(self.path("a\nb\x1b[31m.h5"))
        self.assertFails(result, 3, r"a\?b\?\[31m\.h5", self.path("a?b?[31m.h5"))

    def test_long_name(self):
        folder = self.path("/".join(["a long folder name"] * 50))
        os.makedirs(folder)
        for name in ("missing.h5", "text.h5"):
            if name == "text.h5":
                with open(os.path.join(folder, name), "w") as file:
                    file.write("water")
            result = run(os.path.join(folder, name))
            self.assertFails(result, 3, name + ": ")
            self.assertEqual(result.err.count(name), 1, str(result))

    def test_truncated(self):
        with open(MEDIUM, "rb") as file:
            content = file.read()
        path = self.path("truncated.h5")
        for part in (100, 1000, len(content) // 2, len(content) - 1):
            with open(path, "wb") as file:
                file.write(content[:part])
            self.refused(path, ".")

    def test_refused_examples(self):
        for path in glob.glob(os.path.join(DATASETS, "refused", "*.h5")):
            self.refused(path, ".")

    def test_every_bad_file(self):
        if not MAKE_BAD:
            self.skipTest("make-bad-file is not built")
        listing = run("--list", program=MAKE_BAD)
        self.assertEqual(listing.code, 0)
        cases = [line.split("\t") for line in listing.out.splitlines()]
        self.assertGreater(len(cases), 20)
        for name, code, expected in cases:
            with self.subTest(case=name):
                path = self.path(name + ".h5")
                if name != "missing-file":
                    self.assertEqual(run(name, SMALL, path, program=MAKE_BAD).code, 0)
                before = digest(path) if os.path.isfile(path) else None
                if name.startswith("doubt-"):
                    self.refused(path, re.escape(expected) + ".*--force")
                    result = run(path, "--force")
                    self.assertRuns(result)
                    self.assertIn(expected, result.out)
                elif code == "0":
                    result = run(path)
                    self.assertRuns(result)
                    self.assertIn(expected, result.out)
                else:
                    self.refused(path, re.escape(expected), int(code))
                self.assertEqual(digest(path) if os.path.isfile(path) else None, before)
                self.clear()

    def test_random_damage(self):
        """Flipped bytes: a clean refusal or an answer, never a crash or a second line."""
        with open(SMALL, "rb") as file:
            content = file.read()
        path, state = self.path("damaged.h5"), 12345
        for _ in range(60):
            damaged = bytearray(content)
            for _ in range(4):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                damaged[(state >> 33) % len(damaged)] = (state >> 20) & 255
            with open(path, "wb") as file:
                file.write(damaged)
            result = run(path, timeout=600)
            self.assertLess(result.megabytes, BAD_INPUT_MEGABYTES)
            if result.code == 0:
                self.assertRuns(result)
            else:
                self.assertFails(result, 3, ".", path)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
