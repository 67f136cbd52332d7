"""Command-line tests of fmo-driver: options, closed and full streams, terminals. Python standard library only;
ctest runs one class at a time (CMakeLists.txt).

    FMO_DRIVER=.../fmo-driver FMO_H5=.../driver_h5 FMO_SOURCE=.. python3 cli.py [CLASS]...
"""

import json
import os
import pty
import re
import resource
import select
import shutil
import subprocess
import tempfile
import time
import unittest

from driver_helpers import DATASETS, DRIVER, LARGE, MODES, REDUCES, SMALL, Case, digest, h5, run

OPTIONS = ["mode", "cutoff", "threads", "reduce", "scatter", "commit", "no-overlap", "memory", "repeat", "check", "output", "profile", "quiet",
           "help", "version"]
PROGRESS_SECONDS = 1.0  # before them nothing is drawn (driver/cli/progress.c)


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
        """Unknown values of options are refused with a list of the known ones, or a suggestion."""
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

    def test_output_end(self):
        """The end of --output is one that fmo writes, or there is none."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("x.npz", "x.csv", "x.h5.1", "a.h5/x.json"):
                path = os.path.join(folder, name)
                end = os.path.splitext(name)[1]
                self.assertFails(run(SMALL, "--output", path), 2,
                                 f"--output .*x.*: fmo writes no {end}: choose a name that ends in .h5$")
                self.assertFails(run(SMALL, "--scf", "--batch", "--output", path), 2, "ends in .h5, .xyz or .extxyz$")
            self.assertEqual(os.listdir(folder), [])
            for name in ("x.HDF5", "x.trexio", "plain", ".hidden"):
                self.assertEqual(run(SMALL, "--output", os.path.join(folder, name)).code, 0)

    def test_missing_value(self):
        for name in ("mode", "cutoff", "threads", "reduce", "scatter", "commit", "memory", "repeat",
                     "output"):
            self.assertFails(run(SMALL, "--" + name), 2, f"--{name} needs a value")
        self.assertFails(run(SMALL, "-t"), 2, "--threads needs a value")
        self.assertFails(run(SMALL, "--check=yes"), 2, "--check takes no value")
        self.assertFails(run(SMALL, "--output="), 2, "--output: expected the name of a file")

    def test_numbers(self):
        """Numbers that are malformed or out of range are refused, and GPUs where there are none."""
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
        for mode in ("cpu", "reference"):
            self.assertFails(run(SMALL, "--gpus", "all", "--mode", mode), 2,
                             "--gpus has no effect in mode.*use it with --mode fused or split")
        for mode in ("fused", "split"):
            self.assertFails(run(SMALL, "--gpus", "2", "--mode", mode, environment={"CUDA_VISIBLE_DEVICES": ""}), 4,
                             "no NVIDIA|built without CUDA|no GPU")
        self.assertFails(run(SMALL, "--coulomb", "boxes", "--mode", "split"), 2, "--coulomb has no effect in mode split")
        self.assertFails(run(SMALL, "--coulomb", "boxes", "--mode", "fused",
                             environment={"CUDA_VISIBLE_DEVICES": ""}), 4, "no NVIDIA|built without CUDA|no GPU")
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
        self.assertFails(run("-"), 2, "-: a geometry has no density")  # the standard input

    def test_value_without_its_sign(self):
        """"-p json" leaves a word behind, which is told before it counts as a second data set."""
        for line in (["-o", self.path("y.h5"), "-p", "json"], ["-p", "json"], ["--profile", "table"]):
            self.assertFails(run(SMALL, *line), 2, f"did you mean --profile={line[-1]}")
        self.assertFails(run(SMALL, "--scf", "--stability", "check"), 2, "did you mean --stability=check")
        self.assertEqual(os.listdir(self.folder), [])

    def test_options_of_other_modes(self):
        """Options without effect in the given mode are refused, with the modes that have them."""
        for mode, line, belongs in (("cpu", ["--scatter", "native"], "fused"),
                                    ("reference", ["--scatter", "fixed"], "cpu or fused"),
                                    ("split", ["--scatter", "native"], "cpu or fused"),
                                    ("cpu", ["--commit", "cas"], "fused"),
                                    ("split", ["--commit", "native"], "fused"),
                                    ("fused", ["--no-overlap"], "split"),
                                    ("reference", ["--reduce", "tree"], "cpu or split"),
                                    ("fused", ["--reduce", "tree"], "cpu or split")):
            self.assertFails(run(SMALL, "--mode", mode, *line), 2,
                             f"{line[0]}.* has no effect in mode {mode}.*: leave it out, or use it with --mode {belongs}$")
        for line in (["--scatter", "fixed"], ["--scatter", "auto"], ["--reduce", "atomic"]):
            self.assertRuns(run(SMALL, "--mode", "cpu", *line))
        self.assertFails(run(SMALL, "--no-overlap"), 2, "--no-overlap has no effect in mode cpu or fused, one of which auto chooses: .* use it with --mode split")
        self.assertFails(run(SMALL, "--mode", "reference", "--cutoff", "1e-8"), 2,
                         "--cutoff has no effect in mode reference: leave it out, or use it with --mode cpu, fused or split")
        self.assertRuns(run(SMALL, "--mode", "reference", "--cutoff", "0"))  # as it is

    def test_unused_under_auto(self):
        """An option that the mode chosen by auto does not use is reported, also with --quiet."""
        fused = run(SMALL, "--mode", "fused").code == 0
        mode = "fused" if fused else "cpu"
        cases = [(["--reduce", "atomic"], "--reduce: no effect")] if fused else \
            [(["--commit", "cas"], "--commit: no effect"),
             (["--scatter", "segmented"], "--scatter: no effect"),
             (["--commit", "cas", "--scatter", "native"], "--scatter, --commit: no effect")]
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
        """Fewer threads than requested are reported, also with --quiet."""
        result = run(LARGE, "--mode", "cpu", "--memory", "600K", "--threads", "4", "--quiet", "--check")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"\Afmo-driver: .*: notice: memory suffices for 1 of 4 threads and .*\n\Z")

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
        """Strategies of the library, taken from the message about an unknown one."""
        refused = run(SMALL, "--scatter", "x")
        names = re.search(r"expected (.*)$", refused.err.splitlines()[0])
        self.assertTrue(names, refused)
        return re.split(r", | or ", names.group(1))

    def test_help(self):
        """--help names all options, values and sections in lines of at most 100 characters."""
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
        """Runs with stderr on a pseudo-terminal; returns its output and the exit code."""
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
        """The text of a line after carriage returns have overwritten parts of it."""
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


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
