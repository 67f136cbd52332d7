"""Command-line tests of fmo-driver, the start script and the README. Python standard library only.

    FMO_DRIVER=.../fmo-driver FMO_H5=.../driver_h5 FMO_SOURCE=.. python3 driver_cli.py [CLASS]...

ctest runs one class at a time (driver.cmake). FMO_MAKE_BAD names make-bad-file, which writes the
unusable files; without it those tests are skipped.
"""

import glob
import hashlib
import json
import math
import os
import pty
import re
import resource
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

DRIVER = os.environ.get("FMO_DRIVER", "build/bin/fmo-driver")
H5 = os.environ.get("FMO_H5", "build/tests/driver_h5")
MAKE_BAD = os.environ.get("FMO_MAKE_BAD", "")
SOURCE = os.environ.get("FMO_SOURCE", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATASETS = os.path.join(SOURCE, "datasets")
SMALL = os.path.join(DATASETS, "h2o_sto-3g.h5")
MEDIUM = os.path.join(DATASETS, "h2o8_sto-3g.h5")
LARGE = os.path.join(DATASETS, "h2o8_6-31g.h5")

MODES = ["auto", "cpu", "reference", "fused", "split"]
CPU_MODES = ["cpu", "reference"]
REDUCES = ["tree", "atomic", "serial"]
CLASSES = ["ssss", "psss", "psps", "ppss", "ppps", "pppp"]
OPTIONS = ["mode", "cutoff", "threads", "reduce", "scatter", "commit", "no-overlap", "memory", "repeat", "check", "output", "profile", "quiet",
           "help", "version"]

# More than any unusable file may cost; a sanitizer build reserves shadow memory and is slower. Seconds are
# those of the processors: a busy machine takes as many, however long it is at it.
BAD_INPUT_SECONDS = 10.0
BAD_INPUT_MEGABYTES = 1000
PROGRESS_SECONDS = 1.0  # before them nothing is drawn (driver/cli/progress.c)


class Result:
    def __init__(self, code, out, err, usage):
        self.code, self.out, self.err = code, out, err
        self.seconds, self.megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def __str__(self):
        return f"exit {self.code}\nstdout: {self.out[:3000]}\nstderr: {self.err[:3000]}"


def run(*arguments, program=None, timeout=1500, stdout=None, cwd=None, environment=None):
    """Run the driver (or another program); its output, exit code, processor time and peak memory."""
    command = [program or DRIVER, *map(str, arguments)]
    env = dict(os.environ, **(environment or {}))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or out,
                                   stderr=err, cwd=cwd, env=env)
        deadline = start + timeout
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                os.wait4(process.pid, 0)
                raise AssertionError(f"{command} still runs after {timeout} s")
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Result(process.returncode, out.read().decode(errors="replace"),
                      err.read().decode(errors="replace"), usage)


def h5(*arguments):
    result = run(*arguments, program=H5)
    if result.code != 0:
        raise AssertionError(f"driver_h5 {arguments}: {result}")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def committed_datasets():
    return sorted(glob.glob(os.path.join(DATASETS, "*.h5")))


def functions(path):
    return int(re.search(r"(\d+) functions", run(path).out).group(1))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fmo-driver-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def assertFails(self, result, code, pattern, where=None):
        """One line on stderr, nothing on stdout, this exit code."""
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(result.out, "", str(result))
        self.assertTrue(result.err.endswith("\n"), str(result))
        self.assertEqual(result.err.count("\n"), 1, str(result))
        self.assertTrue(result.err.startswith("fmo-driver: "), str(result))
        if where is not None:
            self.assertTrue(result.err.startswith(f"fmo-driver: {where}"), str(result))
            self.assertEqual(result.err.count(where), 1, f"the file is named twice: {result}")
        self.assertRegex(result.err, pattern)
        self.assertNotRegex(result.err, "[\x00-\x09\x0b-\x1f\x7f]")

    def assertRuns(self, result, code=0):
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(result.err, "", str(result))
        self.assertNotIn("\x1b", result.out)
        self.assertNotIn("\r", result.out)


class Usage(Case):
    def test_no_data_set(self):
        self.assertFails(run(), 2, "no data set")
        self.assertFails(run("--check"), 2, "no data set")
        self.assertFails(run(""), 2, "empty")

    def test_unknown_option(self):
        self.assertFails(run(SMALL, "--mdoe", "cpu"), 2, "--mdoe.*did you mean --mode")
        self.assertFails(run(SMALL, "--reapet=3"), 2, "did you mean --repeat")
        self.assertFails(run(SMALL, "--frobnicate"), 2, r"unknown option --frobnicate \(see fmo-driver --help\)")
        self.assertFails(run(SMALL, "-x"), 2, "unknown option -x")
        self.assertFails(run(SMALL, "--re", "1"), 2, "--re could be --reduce or --repeat")
        self.assertFails(run(SMALL, "--" + "x" * 5000), 2, "unknown option")

    def test_unknown_value(self):
        self.assertFails(run(SMALL, "--mode", "gpu"), 2,
                         "--mode 'gpu'.*auto, cpu, reference, fused or split")
        self.assertFails(run(SMALL, "--mode="), 2, "--mode ''")
        self.assertFails(run(SMALL, "--mode", "CPU"), 2, "expected auto")
        self.assertFails(run(SMALL, "--reduce", "x"), 2, "tree, atomic or serial")
        self.assertFails(run(SMALL, "--scatter", "x"), 2, "auto, native, .*replicated or tile")
        self.assertFails(run(SMALL, "--commit", "x"), 2, "native or cas")
        self.assertFails(run(SMALL, "--profile=xml"), 2, "none, table or json")
        self.assertFails(run(SMALL, "--profile", "json"), 2, "did you mean --profile=json")
        with tempfile.TemporaryDirectory() as folder:
            done = run(os.path.abspath(SMALL), "-o=y.h5", cwd=folder)
            self.assertFails(done, 2, "did you mean -o y.h5, or --output=y.h5")
            self.assertEqual(os.listdir(folder), [])
        self.assertFails(run(SMALL, "-t=4"), 2, "did you mean -t 4, or --threads=4")
        self.assertFails(run(SMALL, "-p=json"), 2, "did you mean -pjson, or --profile=json")
        self.assertFails(run(SMALL, "--mode", "\n\x1b[31m"), 2, "--mode")

    def test_missing_value(self):
        for name in ("mode", "cutoff", "threads", "reduce", "scatter", "commit", "memory", "repeat",
                     "output"):
            self.assertFails(run(SMALL, "--" + name), 2, f"--{name} needs a value")
        self.assertFails(run(SMALL, "-t"), 2, "--threads needs a value")
        self.assertFails(run(SMALL, "--check=yes"), 2, "--check takes no value")
        self.assertFails(run(SMALL, "--output="), 2, "--output: expected the name of a file")

    def test_numbers(self):
        counts = ["0", "-1", "1.5", "2x", "x", "", " 2", "2 ", "+2", "1e3", "0x2", "nan",
                  "99999999999999999999", "2147483648"]
        for name in ("threads", "repeat"):
            for value in counts:
                self.assertFails(run(SMALL, f"--{name}={value}"), 2,
                                 f"--{name} .*expected a whole number from 1 to")
        for value in ["-1e-10", "nan", "inf", "1e400", "1e-400", "1e-10x", "x", "", " 1e-10", "1e-10 ",
                      "0x1p-3", "1,5", "10", "1e", "+1e-9", ".", "--check"]:
            self.assertFails(run(SMALL, f"--cutoff={value}"), 2,
                             "--cutoff .*expected a number from 0 to 1")

        for value in ["0", "-1", "1.5G", "G", "", "1GB", "1 G", "20000000000T", "99999999999999999999"]:
            self.assertFails(run(SMALL, f"--memory={value}"), 2, "--memory .*expected bytes")
        for value in ["0", "17", "-1", "2x", "ALL", "1,2", "1e1", "99999999999999999999"]:
            self.assertFails(run(SMALL, f"--gpus={value}"), 2, "--gpus .*expected a number from 1 to 16, or all")
        for mode in ("cpu", "split", "reference"):
            self.assertFails(run(SMALL, "--gpus", "all", "--mode", mode), 2, "--gpus .*belongs to mode fused")
        for line in ([SMALL], [SMALL, "--scf"], [SMALL, "--scf", "--batch"]):
            self.assertFails(run(*line, "--gpus", "2", environment={"CUDA_VISIBLE_DEVICES": ""}), 4,
                             "no NVIDIA|built without CUDA|no GPU")

    def test_good_numbers(self):
        for value in ["0", "0.0", "1e-10", "1E-12", ".5", "1", "0.00001"]:
            self.assertRuns(run(SMALL, "--cutoff", value))
        for value in ["1000000000", "500M", "1G", "1T", "900000K"]:
            self.assertRuns(run(SMALL, "--memory", value, "--mode", "reference"))

    def test_output_with_several(self):
        result = run(SMALL, SMALL, "--output", self.path("x.h5"))
        self.assertFails(result, 2, "--output takes one data set, not 2")
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_anywhere(self):
        self.assertRuns(run("--quiet", SMALL, "--check"))
        first = run("--mode", "cpu", "--threads=1", SMALL, "--quiet", "--check")
        second = run(SMALL, "--check", "--quiet", "-t1", "-m", "cpu")
        self.assertRuns(first)
        self.assertEqual(first.out, second.out)
        dashed = self.path("-x.h5")
        shutil.copy(SMALL, dashed)
        self.assertRuns(run("--quiet", "--check", "--", "-x.h5", cwd=self.folder))

    def test_short_and_cut_names(self):
        first = run(SMALL, "--mode", "cpu", "--threads", "1", "--quiet", "--check")
        for line in (["-qt1", "-mcpu", "--che"], ["-q", "--thr=1", "-m", "cpu", "--check"]):
            self.assertEqual(run(SMALL, *line).out, first.out, line)
        self.assertFails(run(SMALL, "-qx"), 2, "unknown option -x")
        self.assertFails(run(SMALL, "--=1"), 2, r"unknown option -- \(see")
        self.assertFails(run("-"), 3, "-: ")

    def test_value_without_its_sign(self):
        """"-p json" leaves a word behind, which is told before it counts as a second data set."""
        for line in (["-o", self.path("y.h5"), "-p", "json"], ["-p", "json"], ["--profile", "table"]):
            self.assertFails(run(SMALL, *line), 2, f"did you mean --profile={line[-1]}")
        self.assertFails(run(SMALL, "--scf", "--stability", "check"), 2, "did you mean --stability=check")
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_of_other_modes(self):
        for mode, line, belongs in (("cpu", ["--scatter", "native"], "fused; mode cpu takes fixed alone"),
                                    ("reference", ["--scatter", "fixed"], "cpu and fused"),
                                    ("split", ["--scatter", "native"], "cpu and fused"),
                                    ("cpu", ["--commit", "cas"], "fused"),
                                    ("split", ["--commit", "native"], "fused"),
                                    ("fused", ["--no-overlap"], "split"),
                                    ("reference", ["--reduce", "tree"], "cpu and split"),
                                    ("fused", ["--reduce", "tree"], "cpu and split")):
            self.assertFails(run(SMALL, "--mode", mode, *line), 2,
                             f"{line[0]}.* does not go with --mode {mode}: it belongs to mode.* {belongs}$")
        for line in (["--scatter", "fixed"], ["--scatter", "auto"], ["--reduce", "atomic"]):
            self.assertRuns(run(SMALL, "--mode", "cpu", *line))
        self.assertFails(run(SMALL, "--no-overlap"), 2, "belongs to mode split, which auto never takes: add --mode split")
        self.assertFails(run(SMALL, "--mode", "reference", "--cutoff", "1e-8"), 2,
                         "--cutoff does not go with --mode reference: it belongs to mode cpu, fused and split")
        self.assertRuns(run(SMALL, "--mode", "reference", "--cutoff", "0"))  # as it is

    def test_unused_under_auto(self):
        """What auto chose a mode without a use for is said, with --quiet, too."""
        fused = run(SMALL, "--mode", "fused").code == 0
        mode = "fused" if fused else "cpu"
        cases = [(["--reduce", "atomic"], "--reduce: nothing comes of it")] if fused else \
            [(["--commit", "cas"], "--commit: nothing comes of it"),
             (["--scatter", "segmented"], "--scatter: nothing comes of it"),
             (["--commit", "cas", "--scatter", "native"], "--scatter, --commit: nothing comes of them")]
        for line, says in cases:
            for scf in ([], ["--scf"], ["--scf", "--batch"], ["--batch"]):
                result = run(SMALL, *scf, *line, "--quiet")
                self.assertEqual(result.code, 0, str(result))
                self.assertRegex(result.err, rf"\Afmo-driver: .*: notice: {says} in mode {mode}, which auto has chosen\n\Z")
                build = json.loads(run(SMALL, *scf, *line, "--profile=json").out)["builds"][0]
                self.assertIn(says, build["notices"][-1])
        for line in (["--scatter", "fixed"], ["--cutoff", "1e-11"], ["--mode", "cpu", "--reduce", "atomic"]):
            self.assertEqual(run(SMALL, *line, "--quiet").err, "")

    def test_notices_of_a_build(self):
        """Fewer threads than were asked for are said with --quiet, too."""
        result = run(LARGE, "--mode", "cpu", "--memory", "600K", "--threads", "4", "--quiet", "--check")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"\Afmo-driver: .*: notice: 1 of 4 threads and .*\n\Z")

    def test_geometry_by_another_name(self):
        path = self.path("water.geom")
        shutil.copy(os.path.join(DATASETS, "xyz", "water001.xyz"), path)
        for line in ([], ["--scf"], ["--scf", "--basis", "6-31g"]):
            self.assertFails(run(path, *line), 2, "looks like a geometry: .* ends in .xyz", path)

    def test_last_one_counts(self):
        result = run(SMALL, "--mode", "reference", "--mode", "cpu")
        self.assertRuns(result)
        self.assertRegex(result.out, r"(?m)^  mode +cpu")

    def scatters(self):
        """Strategies of the library, from the refusal of another one."""
        refused = run(SMALL, "--scatter", "x")
        names = re.search(r"expected (.*)$", refused.err.splitlines()[0])
        self.assertTrue(names, refused)
        return re.split(r", | or ", names.group(1))

    def test_help(self):
        result = run("--help")
        self.assertRuns(result)
        for name in OPTIONS:
            self.assertIn(f"--{name}", result.out)
        scatters = self.scatters()
        self.assertGreater(len(scatters), 3)
        for value in MODES + REDUCES + scatters + ["cas", "json"]:
            self.assertRegex(result.out, rf"(?m)^ +{value} +\S")
        listed = result.out.split("--scatter HOW")[1].split("--commit HOW")[0]
        self.assertEqual(re.findall(r"(?m)^ {26}(\S+)  +\S", listed), scatters)
        for section in ("Fock builds", "Results", "SCF", "Other"):
            self.assertIn(f"\n\n{section}:\n", result.out)
        self.assertRegex(result.out, "Usage: fmo-driver DATASET.h5")
        self.assertLessEqual(max(map(len, result.out.splitlines())), 100)
        self.assertEqual(run("-h").out, result.out)
        self.assertEqual(run(SMALL, "--help", "--bogus").out, result.out)

    def test_version(self):
        result = run("--version")
        self.assertRuns(result)
        self.assertRegex(result.out, r"^fmo-driver \d+\.\d+\.\d+\n$")


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
        result = run(SMALL, "--quiet", "--profile")
        self.assertRuns(result)
        self.assertEqual(result.out, "")
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


def validate(value, schema, root, where="$"):
    """The part of JSON Schema that profile.schema.json uses; a list of complaints."""
    known = {"$schema", "$defs", "title", "$ref", "type", "const", "enum", "anyOf", "required",
             "properties", "additionalProperties", "items", "minItems", "maxItems", "minimum", "pattern"}
    complaints = [f"{where}: the validator does not know {key}" for key in schema if key not in known]
    if "$ref" in schema:
        return validate(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
    if "anyOf" in schema:
        each = [validate(value, option, root, where) for option in schema["anyOf"]]
        if all(each):
            complaints += min(each, key=len)
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        tests = {"object": isinstance(value, dict), "array": isinstance(value, list),
                 "string": isinstance(value, str), "null": value is None, "number": is_number,
                 "integer": is_number and isinstance(value, int), "boolean": isinstance(value, bool)}
        if not any(tests[kind] for kind in kinds):
            return complaints + [f"{where}: {value!r} is no {' or '.join(kinds)}"]
    if "const" in schema and value != schema["const"]:
        complaints.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        complaints.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        complaints.append(f"{where}: {value!r} < {schema['minimum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        complaints.append(f"{where}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        complaints += [f"{where}.{key} is missing" for key in schema.get("required", ())
                       if key not in value]
        for key, item in value.items():
            if key in properties:
                complaints += validate(item, properties[key], root, f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                complaints.append(f"{where}.{key} is not in the schema")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            complaints.append(f"{where}: only {len(value)} items")
        if len(value) > schema.get("maxItems", len(value)):
            complaints.append(f"{where}: {len(value)} items")
        for index, item in enumerate(value):
            complaints += validate(item, schema.get("items", {}), root, f"{where}[{index}]")
    return complaints


class Json(Case):
    def document(self, *arguments, code=0):
        result = run("--profile=json", *arguments)
        self.assertEqual(result.code, code, str(result))
        document = json.loads(result.out, parse_constant=lambda word: self.fail(word))
        with open(os.path.join(SOURCE, "docs", "profile.schema.json")) as file:
            schema = json.load(file)
        self.assertEqual(validate(document, schema, schema), [])
        return document

    def test_the_validator_itself(self):
        with open(os.path.join(SOURCE, "docs", "profile.schema.json")) as file:
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


class Streams(Case):
    def test_full_device(self):
        for arguments in ([SMALL], [SMALL, "--profile=json"], ["--help"], ["--version"]):
            with open("/dev/full", "wb") as full:
                result = run(*arguments, stdout=full)
            self.assertEqual(result.code, 3, str(result))
            self.assertEqual(result.err, "fmo-driver: standard output: No space left on device\n")

    def test_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            result = run(SMALL, stdout=pipe)
        self.assertEqual(result.code, 3, str(result))
        self.assertEqual(result.err, "fmo-driver: standard output: Broken pipe\n")

    def test_closed_stdout(self):
        """The first file opened must not become stdout."""
        out, before = self.path("out.h5"), digest(SMALL)
        result = run("-c", 'exec "$0" "$@" >&-', DRIVER, SMALL, "--output", out, program="/bin/sh")
        self.assertEqual(result.code, 3, str(result))
        self.assertIn("standard output", result.err)
        self.assertEqual(digest(SMALL), before)
        h5("result", SMALL, out, 1e-10)

    def test_closed_stderr_and_stdin(self):
        result = run("-c", 'exec "$0" "$@" 2>&- <&-', DRIVER, SMALL, "--check", program="/bin/sh")
        self.assertEqual(result.code, 0, str(result))
        result = run("-c", 'exec "$0" "$@" 2>&-', DRIVER, self.path("no.h5"), program="/bin/sh")
        self.assertEqual(result.code, 3, str(result))


class Terminal(Case):
    def on_terminal(self, *arguments):
        """stderr on a pseudo-terminal; what it got, and the exit code."""
        try:
            master, slave = pty.openpty()
        except OSError as why:
            self.skipTest(f"no pseudo-terminal here: {why}")
        process = subprocess.Popen([DRIVER, *arguments], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen = b""
        while True:
            ready, _, _ = select.select([master], [], [], 120)
            self.assertTrue(ready, "nothing for two minutes")
            try:
                block = os.read(master, 65536)
            except OSError: # the other end is closed
                break
            if not block:
                break
            seen += block
        os.close(master)
        return seen.decode(), process.wait()

    def left_on_screen(self, text):
        """What stays on the line after carriage returns have overwritten it."""
        line = []
        for part in text.split("\r"):
            line[:len(part)] = part
        return "".join(line).strip()

    def test_wiped(self):
        seen, code = self.on_terminal(os.path.join(DATASETS, "h2s_hcl_6-31g.h5"), "--mode", "reference")
        self.assertEqual(code, 0)
        self.assertEqual(self.left_on_screen(seen), "", repr(seen))

    def test_quick_builds_draw_nothing(self):
        for _ in range(20):
            start = time.monotonic()
            seen, code = self.on_terminal(SMALL, "--mode", "cpu")
            self.assertEqual((self.left_on_screen(seen), code), ("", 0), repr(seen))
            if time.monotonic() - start < PROGRESS_SECONDS:  # on a busy machine it may be right to draw
                self.assertEqual(seen, "")
                return
        self.skipTest(f"this machine never has {PROGRESS_SECONDS} s for a small build")

    def test_quiet(self):
        seen, code = self.on_terminal(LARGE, "--mode", "cpu", "--threads", "1", "--cutoff", "0",
                                      "--quiet")
        self.assertEqual((seen, code), ("", 0))

    def test_error_on_terminal(self):
        seen, code = self.on_terminal(self.path("missing.h5"))
        self.assertEqual(code, 3)
        self.assertRegex(seen, r"\Afmo-driver: .*missing\.h5: [^\r\n]*\r\n\Z")


class Readme(Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(SOURCE, "README.md")) as file:
            self.readme = file.read()

    def test_example_is_the_compiled_one(self):
        with open(os.path.join(SOURCE, "tests", "driver_readme_example.c")) as file:
            source = file.read()
        example = source.split("/* example begin */\n")[1].split("/* example end */")[0]
        self.assertIn("```c\n" + example + "```", self.readme)
        self.assertLessEqual(len(example.splitlines()), 15)

    def test_output_is_real(self):
        """The output shown has the lines of a real run; numbers that depend on the machine may
        differ, energy, counts and settings may not."""
        shown = re.search(r"```console\n\$ \./quickstart run\n(.*?)```", self.readme, re.S).group(1)
        shown = [line for line in shown.splitlines() if not line.startswith(("quickstart:", "$ "))]
        result = run("datasets/h2o8_6-31g.h5", "--check", cwd=SOURCE)
        self.assertRuns(result)
        real = result.out.splitlines()
        self.assertEqual([line.split()[:1] for line in shown], [line.split()[:1] for line in real])
        for ours, theirs in zip(shown, real):
            words = ours.split()
            if words and words[0] in CLASSES + ["data", "system", "basis", "density"]:
                self.assertEqual(words[:4], theirs.split()[:4])

    def test_links(self):
        for link in re.findall(r"\]\(([^)#:]+)\)", self.readme):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, link)), link)


class Quickstart(Case):
    script = os.path.join(SOURCE, "quickstart")

    def test_usage(self):
        for arguments in ([], ["--help"]):
            result = run(*arguments, program=self.script, cwd="/")
            self.assertEqual(result.code, 0, str(result))
            self.assertRegex(result.out, r"\AUsage: \./quickstart run")
        result = run("jump", program=self.script)
        self.assertEqual(result.code, 2)
        self.assertRegex(result.err, "unknown command 'jump'")

    def test_says_what_is_missing(self):
        """With a dpkg-query that knows no package and no right to install: the exact command."""
        fake = self.path("dpkg-query")
        with open(fake, "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(fake, 0o755)
        for command in (["packages", "build"], ["run"], ["test"]):
            result = run(*command, program=self.script, environment={
                "PATH": self.folder + ":" + os.environ["PATH"], "FMO_NO_INSTALL": "1"})
            self.assertEqual(result.code, 1, str(result))
            self.assertRegex(result.err, "sudo apt-get install gcc .*libtrexio-dev")

    def test_installs(self):
        """With fakes for dpkg-query, apt-get and sudo: install, and once more after an update."""
        fakes = {"dpkg-query": "exit 1",
                 "sudo": '[ "$1" != -n ] || shift; exec "$@"',
                 "apt-get": f'echo "$*" >>{self.folder}/log; [ $(wc -l <{self.folder}/log) != 1 ]'}
        for name, body in fakes.items():
            with open(self.path(name), "w") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(self.path(name), 0o755)
        result = run("packages", "build", program=self.script, environment={
            "PATH": self.folder + ":" + os.environ["PATH"], "FMO_NO_INSTALL": "0"})
        self.assertEqual(result.code, 0, str(result))
        with open(self.path("log")) as file:
            calls = [line.split()[0] + " " + line.split()[-1] for line in file]
        with open(os.path.join(SOURCE, "cmake", "debian-packages.txt")) as file:
            last = [line.split()[0] for line in file if line.split()[1:2] == ["build"]][-1]
        self.assertEqual(calls[0::2], [f"install {last}"] * 2)
        self.assertRegex(calls[1], "^update")

    XML = '''<testsuite>
<testcase name="runs" status="run"><system-out>no GPU needed</system-out></testcase>
<testcase name="a" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>no PySCF</system-out></testcase>
<testcase name="gpu_tests_not_built" status="notrun"><skipped message=""/></testcase>
<testcase name="b" status="notrun"><skipped message=""/><system-out>no Python with PySCF</system-out></testcase>
<testcase name="c" status="notrun"><skipped message=""/><system-out>?</system-out></testcase>
<testcase name="d" status="notrun"><skipped message=""/><system-out>skipped: built without MPI</system-out></testcase>
</testsuite>'''

    def test_says_what_was_skipped(self):
        """./quickstart test ends with how many tests were skipped, why, and what makes them run; and its exit
        code is ctest's. With fakes for all programs, in a folder of its own."""
        for name in ("cmake", "tests", "bin", "build/bin"):
            os.makedirs(self.path(name))
        shutil.copy(self.script, self.path("quickstart"))
        shutil.copy(os.path.join(SOURCE, "cmake", "debian-packages.txt"), self.path("cmake"))
        shutil.copy(os.path.join(SOURCE, "tests", "skipped.py"), self.path("tests"))
        fakes = {"dpkg-query": "echo installed", "cmake": "exit 0", "ctest":
                 'while [ "$1" != --output-junit ]; do shift; done; echo tests ran; '
                 f"printf '%s' '{self.XML}' >\"$2\"; exit $FAKE_CODE"}
        for name, body in fakes.items():
            with open(self.path("bin/" + name), "w") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(self.path("bin/" + name), 0o755)
        for code in (0, 8):
            result = run("test", program=self.path("quickstart"), environment={
                "PATH": self.path("bin") + ":" + os.environ["PATH"], "FAKE_CODE": str(code)})
            self.assertEqual((result.code, result.err), (code, ""), str(result))
            end = result.out.split("tests ran\n")[1]
            self.assertRegex(end, r"(?s)\A\n5 tests were skipped:\n  2: no Python with PySCF \(a, b\)\n     to run: [^\n]*pip "
                                  r"install[^\n]*\n  1: no NVIDIA GPU[^\n]* \(gpu_tests_not_built\)\n     to run: FMO_REQUIRE_GPU=1 "
                                  r"[^\n]*\n  1: for a reason of their own \(c\)\n     to run: ctest [^\n]*\n  1: no MPI[^\n]* \(d\)\n     to run: "
                                  r"\./quickstart packages mpi && \./quickstart test\n\Z")

    def test_package_list(self):
        result = run("packages", "everything", program=self.script)
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, "unknown group 'everything'")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
