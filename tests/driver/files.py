"""What fmo-driver and fmo-bench do to files that are there already, to those that a signal meets, and
what of names and contents reaches a terminal. Python standard library only; started as cli.py
is.

    FMO_DRIVER=.. FMO_BENCH=.. FMO_H5=.. FMO_SIGNAL=.../libdriver_signal.so python3 files.py [CLASS]...
"""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest

import driver_helpers
from driver_helpers import DATASETS, MAKE_BAD, MEDIUM, SMALL, digest, h5, run

BENCH = os.environ.get("FMO_BENCH", "build/bin/fmo-bench")
SIGNAL = os.environ.get("FMO_SIGNAL", "")
WATER = os.path.join(DATASETS, "xyz", "water001.xyz")
WATER3 = os.path.join(DATASETS, "fmo2", "water3_sto-3g.json")
H2 = os.path.join(DATASETS, "xyz", "h2.xyz")
BENCH_LINE = ["fock", "--geometry", H2, "--basis", "sto-3g", "--mode", "cpu", "--cycles", "0", "--seconds", "0.01"]
SCF = ["--scf", "--basis", "sto-3g", "--mode", "cpu"]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e]")
FORGED = "check: pass (against the file's values: all)"
NAMES = {"newline": f"x\n{FORGED}\n.h5", "escape": "x\x1b[2J\x1b]0;t\x07.h5", "carriage return": f"x\r{FORGED}.h5",
         "C1": f"x\u0085{FORGED}\u009b2J.h5", "line separator": f"x\u2028{FORGED}\u202e.h5", "delete": "x\x7f.h5"}


class Replace(driver_helpers.Case):
    """Outputs replace results of their own kind, and nothing else without --force."""

    def refused(self, line, pattern, *paths):
        before = [digest(path) if os.path.isfile(path) else None for path in paths]
        names = sorted(os.listdir(self.folder))
        result = run(*line)
        self.assertFails(result, 3, pattern)
        self.assertLess(result.seconds, 5)
        self.assertEqual([digest(path) if os.path.isfile(path) else None for path in paths], before)
        self.assertEqual(sorted(os.listdir(self.folder)), names)

    def test_other_files(self):
        orbitals, text, matrices = self.path("user.h5"), self.path("notes"), self.path("fock.h5")
        shutil.copy(MEDIUM, orbitals)  # a data set with orbitals
        with open(text, "w") as file:
            file.write("months of work\n")
        self.assertRuns(run(SMALL, "-o", matrices))
        for path in (orbitals, text):
            self.refused([SMALL, "--output", path], "the file exists and is not written by fmo.*: .* --force", path)
            self.refused([WATER, *SCF, "--output", path], "not written by fmo", path)
            self.refused([WATER, *SCF, "--molden", path], "--molden .*not written by fmo", path)
        self.refused([WATER, *SCF, "-o", matrices], "another kind: a result with J and K", matrices)
        self.refused([WATER, *SCF, "--molden", matrices], "another kind: a result with J and K", matrices)
        self.assertRuns(run(SMALL, "--output", orbitals, "--force"))
        h5("result", SMALL, orbitals, 1e-10)

    def test_own_files(self):
        """A file is replaced by one of the same kind."""
        orbitals, molden, matrices = self.path("o.h5"), self.path("molden"), self.path("fock.h5")
        for _ in range(2):
            self.assertRuns(run(WATER, *SCF, "-o", orbitals, "--molden", molden))
            self.assertRuns(run(SMALL, "-o", matrices))
        self.refused([SMALL, "-o", orbitals], "another kind: a TREXIO file with orbitals from fmo", orbitals)
        self.refused([SMALL, "-o", molden], "another kind: a Molden file from fmo", molden)
        self.refused([WATER, *SCF, "-o", molden, "--molden", orbitals], "another kind", molden, orbitals)

    def test_added_to(self):
        """Data that another program has added to a file of ours is not lost."""
        system = os.path.join(DATASETS, "fmo2", "water3_sto-3g.json")
        lines = {"matrices": [SMALL], "orbitals": [WATER, *SCF], "fragments": [system, "--fmo", "--densities"],
                 "molecules": [WATER, *SCF, "--batch", "--keep", "all"]}
        things = {"matrices": ["dataset:/fmo/density", "dataset:/fmo/coulomb_2", "group:/mine"],
                  "orbitals": ["dataset:/mo_2e_int/mo_2e_int_eri", "dataset:/mo/mo_class", "group:/mine",
                               "attribute:/metadata:metadata_description", "attribute:/:title"],
                  "fragments": ["dataset:/fmo/monomer_density_", "group:/fmo/notes", "attribute:/fmo:notes"],
                  "molecules": ["dataset:/molecules/0/mo_class", "group:/molecules/0/density2",
                                "dataset:/molecules/notes", "attribute:/molecules/0:notes",
                                "attribute:/molecules/0/density:notes"]}
        for kind, line in lines.items():
            plain = self.path(f"{kind}.h5")
            for _ in range(2):
                self.assertRuns(run(*line, "-o", plain))
            for k, thing in enumerate(things[kind]):
                path = self.path(f"{kind}{k}.h5")
                shutil.copy(plain, path)
                h5("add", path, *thing.split(":"))
                with self.subTest(kind=kind, thing=thing):
                    self.refused([*line, "-o", path], "not written by fmo, or added to since: .* --force", path)
            self.assertRuns(run(*line, "-o", path, "--force"))
            self.assertEqual(os.path.getsize(path), os.path.getsize(plain))

    def test_empty_file(self):
        out = self.path("out.h5")
        with open(out, "w"):
            pass
        self.assertRuns(run(SMALL, "-o", out))
        h5("result", SMALL, out, 1e-10)

    def test_damaged_result(self):
        """A file whose kind cannot be recognised is not replaced."""
        out = self.path("out.h5")
        self.assertRuns(run(SMALL, "-o", out))
        os.truncate(out, os.path.getsize(out) // 2)
        self.refused([SMALL, "-o", out], "not written by fmo", out)

    def test_one_file_by_two_names(self):
        """--output and --molden must not name an input file or each other, by links or other paths either."""
        copy, hard, soft = self.path("copy.h5"), self.path("hard.h5"), self.path("soft.h5")
        xyz, basis, folder = self.path("w.xyz"), self.path("b.json"), self.path("folder")
        shutil.copy(SMALL, copy)
        shutil.copy(WATER, xyz)
        shutil.copy(os.path.join(DATASETS, "basis", "sto-3g.json"), basis)
        os.link(copy, hard)
        os.symlink(copy, soft)
        os.symlink(self.folder, folder)  # as a bind mount would be
        for name in (copy, hard, soft, os.path.join(folder, "copy.h5"), os.path.join(folder, "hard.h5")):
            for force in ([], ["--force"]):
                self.refused([copy, "-o", name, *force], "--output is the data set itself: choose another", copy)
        scf = ["--scf", "--mode", "cpu", "--basis", basis]
        os.link(xyz, self.path("linked"))
        os.link(basis, self.path("b"))  # --output refuses .json
        for option in ("--output", "--molden"):
            for name in (self.path("b"), os.path.join(folder, "b")):
                self.refused([xyz, *scf, option, name, "--force"], f"{option} is the basis set itself", basis)
            self.refused([xyz, *scf, option, os.path.join(folder, "linked"), "--force"],
                         f"{option} is the geometry itself", xyz)
        # two that are still to be made, and two names of one that is there
        self.refused([xyz, *scf, "-o", self.path("n"), "--molden", os.path.join(folder, "n"), "--force"],
                     "--output and --molden name the same file: choose two")
        os.link(copy, self.path("one"))
        self.refused([xyz, *scf, "-o", self.path("one"), "--molden", hard, "--force"], "name the same file", copy)

    def test_link_that_leads_nowhere(self):
        os.symlink(self.path("nowhere"), self.path("link"))
        self.refused([SMALL, "-o", self.path("link")], "a symbolic link to a file that does not exist")

    def test_bench(self):
        """fmo-bench --json replaces its own files only, except with --force, and never its geometry."""
        line = [*BENCH_LINE, "--quiet"]
        out = self.path("out.json")
        for _ in range(2):
            self.assertRuns(run(*line, "--json", out, program=BENCH))
        self.assertEqual(os.listdir(self.folder), ["out.json"])
        with open(out, "w") as file:
            file.write('{"mine": 1}')
        for name in ("out.json.tmp", ".fmo-result-notes.tmp"):
            with open(self.path(name), "w") as file:
                file.write("mine")
        result = run(*line, "--json", out, program=BENCH)
        self.assertEqual((result.code, result.out, result.err.count("\n")), (3, "", 1), str(result))
        self.assertRegex(result.err, "--json .*not written by fmo.*: .*--force")
        self.assertRuns(run(*line, "--json", out, "--force", program=BENCH))
        with open(out) as file:
            self.assertEqual(json.load(file)["format"], "fmo-bench")
        for name in ("out.json.tmp", ".fmo-result-notes.tmp"):
            with open(self.path(name)) as file:
                self.assertEqual(file.read(), "mine", name)
        copy = self.path("copy.xyz")
        shutil.copy(H2, copy)
        os.link(copy, self.path("link"))
        before = digest(copy)
        result = run("fock", "--geometry", copy, "--basis", "sto-3g", "--json", self.path("link"), "--force",
                     program=BENCH)
        self.assertEqual((result.code, digest(copy)), (3, before))
        self.assertIn("--json is the geometry itself", result.err)


class Shown(driver_helpers.Case):
    """Names and contents of files cannot imitate messages or control the terminal."""

    def clean(self, text, real=0):
        self.assertIsNone(CONTROL.search(text), repr(text))
        self.assertEqual(sum(line.startswith("check: pass") for line in text.splitlines()), real, text)

    def named(self, name):
        path = os.path.join(os.fsencode(self.folder), os.fsencode(name) if isinstance(name, str) else name)
        shutil.copy(SMALL, path)
        return os.fsdecode(path)

    def test_data_sets(self):
        for title, name in {**NAMES, "not UTF-8": b"x\xff\x9b2J\xc2.h5"}.items():
            with self.subTest(title):
                path = self.named(name)
                for line in ([path], [path, SMALL, "-q", "--check"], [path, "--scf", "-q", SMALL], [path, "--scf"]):
                    result = run(*line)
                    self.assertEqual(result.code, 0, str(result))
                    self.clean(result.out + result.err)
                    self.assertIn("x?" if title != "not UTF-8" else "x??2J?.h5", result.out)
                self.clean(run(path, "--check").out, real=1)
                missing = run(path + "\x1b.none")
                self.assertEqual(missing.code, 3)
                self.clean(missing.err)

    def test_outputs(self):
        for title, name in NAMES.items():
            with self.subTest(title):
                out, molden = self.path("out" + name), self.path("m" + name)
                result = run(SMALL, "-o", out)
                self.assertEqual(result.code, 0, str(result))
                self.clean(result.out)
                result = run(WATER, *SCF, "-o", out, "--molden", molden, "--force")
                self.assertEqual(result.code, 0, str(result))
                self.clean(result.out)
                refused = run(SMALL, "-o", molden)
                self.assertEqual(refused.code, 3)
                self.clean(refused.err)

    def test_values_of_options(self):
        for line in (["--mode", "x\u0085y\u009b2J"], ["--output", self.path("no/\u0085\u009b")], ["\u0085\u202e"]):
            result = run(SMALL, *line)
            self.assertNotEqual(result.code, 0)
            self.clean(result.err)

    def test_json(self):
        """In JSON a name is complete, with special characters escaped."""
        for title, name in {**NAMES, "umlaut": "xü.h5"}.items():
            with self.subTest(title):
                path = self.named(name)
                result = run(path, "--profile=json")
                self.assertEqual(result.code, 0, str(result))
                self.assertEqual(json.loads(result.out)["builds"][0]["dataset"], path)
                self.clean(result.out)
                self.assertTrue(result.out.isascii())

    def test_basis_names(self):
        for name in ("basisname-esc.h5", "basisname-newline.h5"):
            path = os.path.join(driver_helpers.SOURCE, "tests", "hdf5", name)
            for line in ([path], [path, "--profile=json"]):
                self.clean(run(*line, "--force").out)

    def test_bench(self):
        path = self.path("m\n\x1b[2Jcheck: pass\u0085.xyz")
        shutil.copy(os.path.join(DATASETS, "xyz", "h2.xyz"), path)
        result = run("fock", "--geometry", path, "--basis", "sto-3g", "--mode", "cpu", "--cycles", "0", "--seconds",
                     "0.01", "--json", self.path("j"), program=BENCH)
        self.assertEqual(result.code, 0, str(result))
        self.clean(result.out)
        with open(self.path("j")) as file:
            self.clean(file.read())


class Doubts(driver_helpers.Case):
    """A file with inconsistent physics is refused; --force runs it, and -q does not hide the notice."""

    def setUp(self):
        super().setUp()
        if not MAKE_BAD:
            self.skipTest("make-bad-file is not built")

    def make(self, name):
        path = self.path(name + ".h5")
        self.assertEqual(run(name, SMALL, path, program=MAKE_BAD).code, 0)
        return path

    def test_refused_without_force(self):
        for name, says in (("doubt-trace", "electrons and electron/num is 10"), ("doubt-kinetic", "ao_1e_int/kinetic"),
                           ("doubt-core", "ao_1e_int/core_hamiltonian"), ("doubt-charge", "nucleus/charge"),
                           ("doubt-repulsion", "nucleus/repulsion")):
            path = self.make(name)
            for line in ([], ["--quiet", "--check"], ["--scf"], ["--profile=json"]):
                self.assertFails(run(path, *line), 3, f"{says}.*; correct it, or add --force", path)
            self.assertIn(says, run(path, "--force").out)
            quiet = run(path, "--force", "--quiet")
            self.assertEqual(quiet.code, 0, str(quiet))
            self.assertRegex(quiet.out, r"\A(two-electron )?energy: -?\d+\.\d{10} hartree\n\Z")
            self.assertRegex(quiet.err, rf"\Afmo-driver: {re.escape(path)}: notice: .*{says}.*\n\Z")
            notices = json.loads(run(path, "--force", "--profile=json").out)["builds"][0]["notices"]
            self.assertIn(says, notices[0])

    def test_batch(self):
        path = self.make("doubt-core")
        result = run(SMALL, path, "--batch", "--quiet", "--check")
        self.assertEqual(result.code, 3, str(result))
        self.assertIn("add --force", result.err)
        self.assertEqual(result.out.count("check: pass"), 1)

    def test_other_notices_stay_and_are_seen(self):
        path = self.make("notice-close")
        result = run(path, "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.err, "notice: .*closer than 0.3 angstrom")


class Interrupt(driver_helpers.Case):
    """Signals while a file is written."""

    def setUp(self):
        super().setUp()
        if not SIGNAL:
            self.skipTest("the library that sends signals is not built")

    def interrupted(self, signals, *line, program=None):
        environment = {"LD_PRELOAD": SIGNAL, "FMO_TEST_SIGNALS": " ".join(str(int(s)) for s in signals),
                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        return run(*line, program=program, environment=environment)

    def test_one_signal_waits(self):
        out, molden = self.path("out.h5"), self.path("out.molden")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            result = self.interrupted([number], SMALL, "--output", out)
            self.assertEqual(result.code, -number, str(result))
            self.assertEqual(os.listdir(self.folder), ["out.h5"])
            h5("result", SMALL, out, 1e-10)
            os.unlink(out)
            result = self.interrupted([number], WATER, *SCF, "-o", out, "--molden", molden)
            self.assertEqual(result.code, -number, str(result))
            self.assertEqual(sorted(os.listdir(self.folder)), ["out.h5", "out.molden"])
            os.unlink(out)
            os.unlink(molden)

    def test_bench(self):
        result = self.interrupted([signal.SIGINT], *BENCH_LINE, "--json", self.path("out.json"), program=BENCH)
        self.assertEqual(result.code, -signal.SIGINT, str(result))
        self.assertEqual(os.listdir(self.folder), ["out.json"])
        with open(self.path("out.json")) as file:
            json.load(file)

    def test_two_do_not_wait(self):
        """A second signal ends the program at once; the next write removes the temporary file."""
        out = self.path("out.h5")
        result = self.interrupted([signal.SIGINT, signal.SIGINT], SMALL, "--output", out)
        self.assertEqual(result.code, -signal.SIGINT, str(result))
        left = os.listdir(self.folder)
        self.assertEqual(len(left), 1, left)
        self.assertRegex(left[0], r"\A\.fmo-result-\d+-\d+\.tmp\Z")
        mine = self.path(".fmo-result-1-2.tmp")
        shutil.copy(self.path(left[0]), mine)
        self.assertRuns(run(SMALL, "--output", out))
        self.assertEqual(sorted(os.listdir(self.folder)), [".fmo-result-1-2.tmp", "out.h5"])

    def test_ignored_signals_stay_ignored(self):
        result = run("-c", 'trap "" HUP; exec "$0" "$@"', driver_helpers.DRIVER, SMALL, "-o", self.path("out.h5"),
                     program="/bin/sh", environment={"LD_PRELOAD": SIGNAL, "FMO_TEST_SIGNALS": "1",
                                                     "ASAN_OPTIONS": "verify_asan_link_order=0"})
        self.assertEqual(result.code, 0, str(result))

    def test_no_memory_for_the_document(self):
        """All documents on stdout: an error if there is none."""
        for line in ((SMALL,), (WATER, *SCF), (WATER3, "--fmo", "--mode", "cpu")):
            result = run(*line, "--profile=json", environment={"LD_PRELOAD": SIGNAL, "FMO_TEST_NO_DOCUMENT": "1",
                                                               "ASAN_OPTIONS": "verify_asan_link_order=0"})
            self.assertEqual((result.code, result.out), (5, ""), str(result))
            self.assertRegex(result.err, r"\Afmo-driver: .*no memory for the profile\n\Z")


if __name__ == "__main__":
    unittest.main()
