"""Command-line tests of fmo-driver --scf. Python standard library only; started as tests/driver/cli.py is,
whose helpers it uses.

    FMO_DRIVER=.../fmo-driver FMO_SOURCE=.. python3 cli.py [CLASS]...
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unittest

import driver_helpers
from driver_helpers import DATASETS, LARGE, MEDIUM, SMALL, complaints, run

WATER = os.path.join(DATASETS, "xyz", "water001.xyz")
SMALL_ENERGY = -74.96292824666
MEDIUM_ENERGY = -599.70746474724
FORMALDEHYDE = os.path.join(DATASETS, "ch2o_6-31g_sph.h5")
FORMALDEHYDE_ENERGY = -113.80725641369
NUMBER = r"-?\d+\.\d+(?:e[-+]\d+)?"


def energy_of(result):
    return float(re.search(rf"energy +({NUMBER}) hartree", result.out).group(1))


class ScfUsage(driver_helpers.Case):
    def test_geometry_needs_basis_and_scf(self):
        self.assertFails(run(WATER, "--scf"), 2, "needs a basis set: add --basis NAME", WATER)
        self.assertFails(run(WATER, "--basis", "6-31g"), 2, "no density: add --scf$", WATER)
        self.assertFails(run(WATER), 2, "no density: add --scf --basis NAME", WATER)

    def test_data_set_has_its_basis(self):
        self.assertFails(run(SMALL, "--scf", "--basis", "6-31g"), 2, "--basis has no effect on a data set, which has its own .*leave it out", SMALL)
        self.assertFails(run(SMALL, "--scf", "--functions", "cartesian"), 2, "--functions has no effect on a data set", SMALL)

    def test_options_of_the_other_kind(self):
        for option in (["--guess", "core"], ["--max-cycles", "9"], ["--convergence", "1e-9"],
                       ["--gradient-convergence", "1e-5"], ["--level-shift", "0.3"],
                       ["--diis-size", "6"], ["--rebuild-cycles", "3"], ["--stability"],
                       ["--linear-dependence", "1e-6"], ["--solver", "purify"], ["--charge", "1"],
                       ["--multiplicity", "1"], ["--molden", "x.molden"], ["--functions", "spherical"]):
            self.assertFails(run(SMALL, *option), 2,
                             f"{option[0]} has no effect in a build: leave it out, or use it with --scf")
        self.assertFails(run(SMALL, "--scf", "--check"), 2, "--check has no effect with --scf: leave it out, or use it with builds")
        self.assertFails(run(SMALL, "--scf", "--repeat", "2"), 2, "--repeat has no effect with --scf")

    def test_numbers(self):
        for option, values in {"max-cycles": ["0", "x", "-1", "1.5"], "convergence": ["0", "2", "x"],
                               "gradient-convergence": ["0", "-1e-5"], "level-shift": ["-0.1", "nan"],
                               "diis-size": ["0", "17"], "linear-dependence": ["0.5", "-1"],
                               "guess": ["hcore"], "solver": ["lanczos"], "charge": ["x", "", "1.0"],
                               "multiplicity": ["0", "x"], "functions": ["5d", ""]}.items():
            for value in values:
                self.assertFails(run(SMALL, "--scf", f"--{option}={value}"), 2, f"--{option}")
        self.assertFails(run(SMALL, "--scf", "--stability=perhaps"), 2, "none, check or follow")

    def test_files(self):
        self.assertFails(run(SMALL, MEDIUM, "--scf", "--molden", self.path("x")), 2, "--molden takes one")
        self.assertFails(run(SMALL, "--scf", "--molden", "x", "--output", "x"), 3, "the same file", SMALL)
        self.assertFails(run(SMALL, "--scf", "--output", SMALL), 3, "--output is the data set", SMALL)
        self.assertFails(run(WATER, "--scf", "--basis", "sto-3g", "--molden", WATER), 3,
                         "--molden is the geometry", WATER)
        self.assertFails(run(SMALL, "--scf", "--molden", self.path("no/where")), 3, "folder", SMALL)


class ScfRefusals(driver_helpers.Case):
    def test_electrons(self):
        self.assertFails(run(WATER, "--scf", "--basis", "sto-3g", "--charge", "1"), 3,
                         "9 electrons.*or another charge", WATER)
        self.assertFails(run(SMALL, "--scf", "--charge", "-1"), 3,
                         "11 electrons.*even number.*--charge", SMALL)
        self.assertFails(run(SMALL, "--scf", "--charge", "10"), 3, "no electrons.*--charge", SMALL)
        self.assertFails(run(SMALL, "--scf", "--charge", "-6"), 3, "16 electrons do not fit", SMALL)

    def test_multiplicity(self):
        for path in (SMALL, WATER):
            basis = ["--basis", "sto-3g"] if path == WATER else []
            result = run(path, "--scf", "--multiplicity", "2", *basis)
            self.assertFails(result, 3, "2 electrons cannot have multiplicity 2|10 electrons.*cannot have multiplicity 2", path)
        self.assertRuns(run(SMALL, "--scf", "--multiplicity", "1", "--quiet"))

    def test_guess_read(self):
        self.assertFails(run(WATER, "--scf", "--basis", "sto-3g", "--guess", "read"), 3,
                         "guess read needs a density", WATER)

    def test_too_large(self):
        """Wrong requests are refused before any long calculation."""
        with open("/proc/meminfo", encoding="ascii") as file:
            free = 1024 * int(re.search(r"MemAvailable: +(\d+) kB", file.read()).group(1))
        if free > 100e9:
            self.skipTest("more memory than such an SCF takes")
        path = self.path("plane.xyz")
        with open(path, "w", encoding="ascii") as file:
            file.write("45796\n\n")
            file.writelines(f"H {1.5 * i} {1.5 * j} 0\n" for i in range(214) for j in range(214))
        for line in ([], ["--batch"]):
            result = run(path, "--scf", "--basis", "sto-3g", *line)
            self.assertFails(result, 5, "the matrices of an SCF of 45796 functions take 117 GB or more, and", path)
            self.assertLess(result.seconds, 2.0)

    def test_names(self):
        self.assertFails(run(WATER, "--scf", "--basis", "7-42g"), 3, "7-42g")
        for name in ("cc-pV5Z", "cc-pV6Z", "pcseg-4"):
            self.assertFails(run(WATER, "--scf", "--basis", name), 3,
                             "needs h shells .*supports s, p, d, f and g; choose one of 3-21g", WATER)
        self.assertFails(run(self.path("none.xyz"), "--scf", "--basis", "sto-3g"), 3, "none.xyz")
        self.assertFails(run(self.path("none.h5"), "--scf"), 3, "none.h5")


F_SETPIPE_SZ = 1031  # fcntl.F_SETPIPE_SZ is there from Python 3.10 on


def waiting(pipe):
    """Unread bytes in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


class ScfReport(driver_helpers.Case):
    def test_functions(self):
        """Cartesian or spherical d functions, by the basis set or by --functions."""
        for basis, functions, form, nao, energy in (
                ("6-31g*", [], "Cartesian", 19, -76.0105299763),
                ("6-31G(d)", ["--functions", "spherical"], "spherical", 18, -76.0091323802),
                ("6-31g(d)", ["--functions", "cartesian"], "Cartesian", 19, -76.0105299763),
                ("def2-svp", [], "spherical", 24, None)):
            result = run(WATER, "--scf", "--basis", basis, "--mode", "cpu", *functions)
            self.assertRuns(result)
            out = result.out
            shells = "\\(7 s, 4 p, 1 d; " if basis == "def2-svp" else "\\(7 s, 2 p, 1 d; "
            self.assertRegex(out, f": {nao} functions, .*{shells}{form}\\)")
            if energy is not None:
                self.assertAlmostEqual(float(re.search(r"energy +(-\d+\.\d+)", out).group(1)), energy, delta=1e-8)

    def test_cycles_as_they_end(self):
        """Cycles are printed at once: into a pipe with capacity for some of them only, the driver waits and has not
        ended, however late this process reads."""
        reader, writer = os.pipe()
        size, capacity, line = fcntl.fcntl(writer, F_SETPIPE_SZ, 4096), 1000, 100
        os.write(writer, b"x" * (size - capacity))
        process = subprocess.Popen([driver_helpers.DRIVER, LARGE, "--scf", "--mode", "cpu"], stdin=subprocess.DEVNULL,
                                   stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)
        with os.fdopen(reader, "rb", buffering=0) as pipe:
            try:
                deadline = time.monotonic() + 300
                while waiting(pipe) < size - line and time.monotonic() < deadline and process.poll() is None:
                    time.sleep(0.01)
                self.assertIsNone(process.poll(), "it has ended: no capacity for the first cycles alone")
                seen = pipe.read(size)[size - capacity:].decode()
                self.assertRegex(seen, r"(?m)^ +1 +-\d+\.\d+ +- .*\n +2 +-\d+\.\d+ ", "no cycle came before the last")
                self.assertTrue(seen.endswith("\n"), f"half a line: {seen}")
                seen += pipe.read().decode()
                self.assertEqual((process.wait(), process.stderr.read()), (0, b""))
                self.assertEqual(seen.count("converged in"), 1)
            finally:
                process.kill()
                process.wait()
                process.stderr.close()

    def test_words_on_a_terminal(self):
        """The progress bar names the purpose of a build: a cycle, then stability."""
        try:
            master, slave = pty.openpty()
        except OSError as why:
            self.skipTest(f"no pseudo-terminal here: {why}")
        process = subprocess.Popen([driver_helpers.DRIVER, LARGE, "--scf", "--mode", "cpu", "--integrals",
                                    "direct", "--threads", "1", "--stability=check"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen = ""
        try:
            while "stability [" not in seen and select.select([master], [], [], 120)[0]:
                seen += os.read(master, 65536).decode()
        except OSError:  # the other end is closed
            pass
        finally:
            process.kill()
            process.wait()
            os.close(master)
        self.assertIn("\rstability [", seen)

    def test_report(self):
        result = run(SMALL, "--scf", "--mode", "cpu")
        self.assertRuns(result)
        self.assertAlmostEqual(energy_of(result), SMALL_ENERGY, delta=1e-8)
        cycles = re.findall(rf"^ +(\d+) +({NUMBER}) +(-|{NUMBER}) +({NUMBER}) +(full|change) +"
                            rf"({NUMBER}) +({NUMBER}) +({NUMBER})", result.out, re.MULTILINE)
        self.assertEqual([int(row[0]) for row in cycles], list(range(1, len(cycles) + 1)))
        full = [k for k, row in enumerate(cycles) if row[4] == "full"]
        self.assertEqual(full[0], 0)  # the second has the requested cutoff: few changes after it
        self.assertEqual(len(full), 2, full)
        self.assertGreaterEqual(full[-1], len(cycles) - 4)
        self.assertIn("change", [row[4] for row in cycles])
        self.assertIn(f"converged in {len(cycles)} cycles", result.out)
        self.assertAlmostEqual(float(cycles[-1][1]), SMALL_ENERGY, delta=1e-8)
        self.assertIn("cutoff 1e-12", result.out)
        self.assertIn("7, 5 of them occupied", result.out)

    def test_every_way(self):
        for options in ([], ["--guess", "core"], ["--guess", "read"], ["--mode", "reference"],
                        ["--solver", "purify"], ["--stability"], ["--stability=check"],
                        ["--integrals", "auto"], ["--threads", "1"], ["--rebuild-cycles", "0"],
                        ["--level-shift", "0.2"], ["--diis-size", "4"], ["--cutoff", "0"],
                        ["--scatter", "fixed"], ["--linear-dependence", "1e-5"]):
            mode = [] if "--mode" in options else ["--mode", "cpu"]
            result = run(FORMALDEHYDE, "--scf", *mode, *options)
            self.assertRuns(result)
            self.assertAlmostEqual(energy_of(result), FORMALDEHYDE_ENERGY, delta=1e-8, msg=str(options))
            if options == ["--stability"]:
                self.assertIn(": a minimum", result.out)

    def test_integrals_are_kept(self):
        """Unless the line says otherwise; builds of a density compute them."""
        for line, kept in ((["--scf"], "stored"), (["--scf", "--integrals", "direct"], "direct"),
                           (["--scf", "--memory", "1M"], "direct"), ([], "direct")):
            result = run(LARGE, "--mode", "cpu", "--profile=json", *line)
            self.assertRuns(result)
            self.assertEqual(json.loads(result.out)["builds"][0]["integrals"], kept, line)
        self.assertRegex(run("--help").out, r"\[direct;\s+--scf,\s+--fmo\s+auto,\s+in\s+mode\s+fused\s+direct\]")

    def test_geometry(self):
        result = run(WATER, "--scf", "--basis", "STO-3G", "--mode", "cpu")
        self.assertRuns(result)
        self.assertAlmostEqual(energy_of(result), SMALL_ENERGY, delta=1e-6)
        charged = run(WATER, "--scf", "--basis", "6-31g", "--mode", "cpu", "--charge", "-2")
        self.assertRuns(charged)
        self.assertIn("12 electrons", charged.out)

    def test_quiet_and_several(self):
        result = run(SMALL, "--scf", "--quiet")
        self.assertRuns(result)
        self.assertRegex(result.out, rf"^SCF: {NUMBER} hartree, converged in \d+ cycles\n$")
        result = run(SMALL, MEDIUM, "--scf", "--quiet")
        self.assertEqual([line.split(": ")[0] for line in result.out.splitlines()], [SMALL, MEDIUM])

    def test_fixed_is_bit_equal(self):
        energies = set()
        for threads in ("1", "2", "3", "2"):
            result = run(MEDIUM, "--scf", "--mode", "cpu", "--scatter", "fixed", "--threads", threads,
                         "--profile=json")
            energies.add(json.loads(result.out)["builds"][0]["energy"])
        self.assertEqual(len(energies), 1, energies)


class ScfCutoff(driver_helpers.Case):
    """The error of the energy by a cutoff is estimated, and reported if it exceeds the requested convergence."""

    def test_slips_are_refused(self):
        waters = os.path.join(DATASETS, "xyz", "water008.xyz")
        for line in ([], ["--batch"], ["--convergence", "1e-2"]):
            for cutoff in ("1", "0.1", "1e-3"):
                self.assertFails(run(waters, "--basis", "6-31g", "--scf", *line, "-c", cutoff), 2,
                                 "--cutoff .*: too loose for --scf.*at most 0.0001 .*--force")
        result = run(waters, "--basis", "sto-3g", "--scf", "-c", "0.1", "--force", "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.err, r"\Afmo-driver: .*: notice: cutoff 0.1: the energy may have an error of any size.*\n\Z")
        self.assertRuns(run(SMALL, "--quiet", "-c", "1"))  # a build has no convergence

    def test_loose_ones_are_named(self):
        says = r"cutoff 1e-06: the energy may have an error of 3e-06 hartree \(threshold 1e-09\); choose a cutoff of at " \
               r"most 1e-10"
        result = run(MEDIUM, "--scf", "-c", "1e-6", "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.err, rf"\Afmo-driver: {re.escape(MEDIUM)}: notice: {says}\n\Z")
        self.assertRegex(run(MEDIUM, "--scf", "-c", "1e-6").out, rf"(?m)^  notice     {says}$")
        build = json.loads(run(MEDIUM, "--scf", "-c", "1e-6", "--profile=json").out)["builds"][0]
        self.assertRegex(" ".join(build["notices"]), says)
        for line in ([], ["-c", "1e-10"], ["-c", "1e-6", "--convergence", "1e-5"], ["-c", "0"]):
            self.assertEqual(run(MEDIUM, "--scf", "--quiet", *line).err, "", line)

    def test_batch(self):
        result = run(MEDIUM, SMALL, SMALL, "--scf", "--batch", "-c", "1e-6", "--threads", "1")
        self.assertEqual(result.code, 0, str(result))
        self.assertEqual(result.err.count("\n"), 2, str(result))
        self.assertRegex(result.err, rf"\Afmo-driver: {re.escape(MEDIUM)}: notice: cutoff 1e-06: the energy")
        self.assertIn("notice: the same cutoff is too loose for 2 more molecules", result.err)
        document = json.loads(run(MEDIUM, SMALL, "--scf", "--batch", "-c", "1e-6", "--profile=json").out)
        self.assertEqual([len(build["notices"]) for build in document["builds"]], [1, 1])

    def test_what_is_promised(self):
        """The error of the energy is at most the reported one, or, without a report, the requested convergence."""
        for cutoff in ("1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-4"):
            for threshold in (1e-9, 1e-6):
                result = run(MEDIUM, "--scf", "-c", cutoff, "--convergence", threshold, "--quiet")
                reported = re.search(r"an error of (\S+) hartree", result.err)
                error = abs(float(re.search(NUMBER, result.out).group()) - MEDIUM_ENERGY)
                self.assertLess(error, 2.0 * (float(reported.group(1)) if reported else threshold), (cutoff, str(result)))


class ScfFarApart(driver_helpers.Case):
    """Pairs of atoms that are far apart: all electrons of a bond may jump from one to the other in each cycle, with
    gradients and changes of the energy that are zero. Energies are PySCF's."""

    def pair(self, element, distance, *options):
        path = self.path("pair.xyz")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"2\n\n{element} 0 0 0\n{element} 0 0 {distance}\n")
        # one thread: from such places the smallest rounding leads elsewhere
        return run(path, "--basis", "sto-3g", "--scf", "--quiet", "--mode", "cpu", "--threads", "1", *options)

    @staticmethod
    def quiet_energy(result):
        return float(re.search(r"SCF: (\S+) hartree", result.out).group(1))

    def low_or_refused(self, result, energy):
        """Either the energy is not far above that of PySCF (there are lower ones), or the exit code is 1 and the
        message gives the reason. Which of them depends on rounding."""
        found = self.quiet_energy(result)
        if result.code == 0:
            self.assertLess(found, energy + 1e-2, str(result))
        else:
            self.assertEqual(result.code, 1, str(result))
            self.assertRegex(result.err, "not converged in 100 cycles|no stable solution found by following it")

    def test_jumping_is_no_end(self):
        for element, distance, energy, options in (("He", 10, -3.3091815, ["--charge", "2"]), ("H", 12, -0.5679142, []),
                                                   ("F", 7, -195.5119515, []), ("F", 10, -195.5006830, [])):
            self.low_or_refused(self.pair(element, distance, *options), energy)

    def test_saddle_points_without_a_gap(self):
        # About one in seven ends 0.46 hartree too high, with a gap of 1e-6, if its stability is not checked.
        for step in range(24):
            self.low_or_refused(self.pair("F", 6.9 + 0.02 * step), -195.5101)

    def test_without_extrapolation(self):
        result = self.pair("He", 10, "--charge", "2", "--diis-size", "1")
        if result.code == 0:
            self.assertIn("SCF: -3.309", result.out)
        else:
            self.assertEqual(result.code, 1, str(result))
            self.assertIn("not converged in 100 cycles: in each cycle electrons move between equivalent centres", result.err)

    def test_few_functions_stay_on_the_cpu(self):
        for more in ([], ["--batch"]):
            self.assertRegex(run(WATER, "--basis", "sto-3g", "--scf", *more).out,
                             r"(?m)^  mode +cpu \(too few functions for a GPU\)")
        self.assertNotIn("need no GPU", run(WATER, "--basis", "sto-3g", "--scf", "--scatter", "fixed").out)

    def test_what_stays_unstable(self):
        """Without cycles for the descent a saddle point is reported as one; with them it is left for a minimum."""
        saddle = self.pair("O", 4, "--stability=check")
        cycles = re.search(r"converged in (\d+) cycles to an unstable solution", saddle.out).group(1)
        result = self.pair("O", 4, "--stability", "--max-cycles", cycles)
        self.assertEqual(result.code, 1, str(result))
        self.assertRegex(result.err, "no stable solution found by following it 1 time")
        self.assertAlmostEqual(self.quiet_energy(result), self.quiet_energy(saddle), delta=1e-8)
        result = self.pair("O", 4, "--stability")
        self.assertEqual(result.code, 0, str(result))
        self.assertLess(self.quiet_energy(result), self.quiet_energy(saddle) - 5e-5)
        line = [self.path("pair.xyz"), "--basis", "sto-3g", "--scf", "--quiet", "--mode", "cpu", "--threads", "1"]
        for element in ("O", "F"): # a batch has the exit code of a run alone
            code = self.pair(element, 4 if element == "O" else 6, "--stability").code
            self.assertEqual(run(*line, "--batch", "--stability").code, code, element)
        alone = self.quiet_energy(self.pair("F", 6))
        followed = self.quiet_energy(self.pair("F", 6, "--stability"))
        self.assertLess(followed, alone + 1e-8)


class ScfNotConverged(driver_helpers.Case):
    def test_one_cycle(self):
        result = run(SMALL, "--scf", "--max-cycles", "1")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("in 1 cycle: energy change not known", result.err)

    def test_exit_code_and_last_state(self):
        """Without convergence the exit code is 1, and the last state is written and can be read again."""
        output, molden = self.path("last.h5"), self.path("last.molden")
        result = run(SMALL, "--scf", "--max-cycles", "3", "--output", output, "--molden", molden)
        self.assertEqual(result.code, 1, str(result))
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("SCF not converged in 3 cycles", result.err)
        self.assertIn("; more cycles, a level shift of 0.3 or another guess may help\n", result.err)
        shifted = run(SMALL, "--scf", "--max-cycles", "3", "--level-shift", "0.25")
        self.assertIn("; more cycles, another level shift than 0.25 or another guess may help\n", shifted.err)
        self.assertIn("NOT CONVERGED", result.out)
        self.assertIn(f"{output} (last state, not converged)", result.out)
        self.assertIn(f"{molden} (last state, not converged)", result.out)
        self.assertGreater(os.path.getsize(molden), 0)
        # The last state is a start for the next run.
        again = run(output, "--scf", "--guess", "read")
        self.assertRuns(again)
        self.assertAlmostEqual(energy_of(again), SMALL_ENERGY, delta=1e-8)

    def test_loose_cutoff_is_named(self):
        result = run(SMALL, "--scf", "--max-cycles", "3", "--cutoff", "1e-5")
        self.assertEqual(result.code, 1, str(result))
        self.assertIn("a cutoff of less than 1e-05 (default 1e-12)", result.err)
        for line in ([], ["--cutoff", "1e-10"], ["--cutoff", "1e-5", "--convergence", "1e-4"]):
            self.assertNotIn("cutoff", run(SMALL, "--scf", "--max-cycles", "3", *line).err)

    def test_header_comes_first(self):
        """The settings are printed before the first cycle ends."""
        process = subprocess.Popen([driver_helpers.DRIVER, LARGE, "--scf", "--threads", "1"], stdout=subprocess.PIPE)
        first = os.read(process.stdout.fileno(), 1 << 16).decode()
        process.kill()
        process.communicate()
        self.assertRegex(first, r"(?m)^  mode       cpu .*, 1 thread, .*cutoff 1e-12$")
        self.assertNotIn("cycle", first)

    def test_worst_code_counts(self):
        result = run(SMALL, MEDIUM, "--scf", "--max-cycles", "3", "--quiet")
        self.assertEqual(result.code, 1)
        self.assertEqual(result.err.count("not converged"), 2)


class ScfOutput(driver_helpers.Case):
    def test_orbitals_read_back(self):
        output = self.path("orbitals.h5")
        self.assertRuns(run(WATER, "--scf", "--basis", "6-31g", "--output", output,
                            "--gradient-convergence", "1e-7", "--convergence", "1e-11"))
        check = run(output, "--check", "--mode", "cpu")
        self.assertEqual(check.code, 0, str(check))
        self.assertIn("--check builds once more", check.err)
        self.assertIn("check: pass", check.out)
        again = run(output, "--scf", "--guess", "read", "--mode", "cpu")
        self.assertRuns(again)
        self.assertIn("converged in 2 cycles", again.out)
        self.assertAlmostEqual(energy_of(again), energy_of(check), delta=1e-8)


class ScfJson(driver_helpers.Case):
    def document(self, *arguments, code=0):
        result = run("--profile=json", "--scf", *arguments)
        self.assertEqual(result.code, code, str(result))
        document = json.loads(result.out, parse_constant=lambda word: self.fail(word))
        self.assertEqual(complaints(document), [])
        broken = json.loads(result.out)
        del broken["builds"][0]["scf"]["cycles"][0]["gradient"]
        self.assertTrue(complaints(broken), "the schema misses what is missing")
        return document

    def test_values(self):
        """The values of the JSON profile of an SCF are right and agree with each other."""
        build = self.document(MEDIUM, "--mode", "cpu", "--stability=check")["builds"][0]
        scf = build["scf"]
        self.assertAlmostEqual(build["energy"], MEDIUM_ENERGY, delta=1e-8)
        self.assertEqual((build["cutoff"], scf["guess"], scf["solver"]), (1e-12, "sad", "diagonalise"))
        self.assertEqual((scf["converged"], scf["electrons"], scf["mo_num"]), (True, 80, 56))
        self.assertEqual(len(scf["cycles"]), scf["cycle_num"])
        self.assertEqual(sum(c["build"] == "full" for c in scf["cycles"]), scf["full_builds"])
        self.assertIsNone(scf["cycles"][0]["energy_change"])
        self.assertEqual(scf["cycles"][-1]["energy"], build["energy"])
        self.assertLess(scf["gradient"], scf["gradient_convergence"])
        self.assertIsNotNone(scf["energy_error"])
        self.assertLess(min(abs(scf["energy_change"]), scf["energy_error"]), scf["energy_convergence"])
        self.assertGreater(scf["hessian_lowest"], 0.1)
        seconds = scf["seconds"]
        parts = sum(value for name, value in seconds.items() if name != "total")
        self.assertLessEqual(parts, seconds["total"] * 1.001)

    def test_not_converged(self):
        scf = self.document(SMALL, "--max-cycles", "2", code=1)["builds"][0]["scf"]
        self.assertFalse(scf["converged"])
        self.assertIn("not converged", scf["verdict"])


class ScfBatch(driver_helpers.Case):
    """--scf --batch: many molecules, frames of .xyz files included, in one call and one file."""

    WATER_ENERGY = -75.9839974694

    def frames(self, *parts):
        """A file of several molecules: names in datasets/xyz, or text."""
        path = self.path("frames.xyz")
        with open(path, "w", encoding="utf-8") as file:
            for part in parts:
                source = os.path.join(DATASETS, "xyz", part + ".xyz")
                if os.path.exists(source):
                    with open(source, encoding="utf-8") as molecule:
                        part = molecule.read()
                file.write(part)
        return path

    def molecules(self, path):
        result = run("molecules", path, program=driver_helpers.H5)
        self.assertEqual(result.code, 0, str(result))
        return [line.split("|") for line in result.out.splitlines()]

    def test_frames_and_files(self):
        """Each frame of a batch has its own line and result, in the order of the input."""
        path, output = self.frames("water001", "h2", "ch2o"), self.path("all.h5")
        single = run(WATER, "--scf", "--basis", "6-31g", "--scatter", "fixed", "--profile=json")
        for threads in ("1", "2"):
            result = run(path, WATER, "--scf", "--batch", "--basis", "6-31g", "--mode", "cpu", "--scatter",
                         "fixed", "--threads", threads, "--output", output, "--keep", "all")
            self.assertRuns(result)
            for name in (f"{path} frame 1", f"{path} frame 2", f"{path} frame 3", WATER):
                self.assertEqual(len(re.findall(rf"(?m) {re.escape(name)}$", result.out)), 1, result.out)
            self.assertRegex(result.out, r"(?m)^  batch      4 molecules in \d+\.\d+ s: [\d.e+]+ per second$")
            self.assertIn(f"output     {output}", result.out)
            found = self.molecules(output)
            self.assertEqual([(m[0], m[1], m[3], m[5]) for m in found],
                             [(path, "1", "1", "both"), (path, "2", "1", "both"), (path, "3", "1", "both"),
                              (WATER, "0", "1", "both")])
            self.assertEqual([m[7] for m in found], ["cpu"] * 4)
            self.assertEqual(found[0][2], found[3][2])
            self.assertEqual(found[0][2], f"{json.loads(single.out)['builds'][0]['energy']:.12f}")
            self.assertAlmostEqual(float(found[0][2]), self.WATER_ENERGY, delta=1e-8)

    def test_keep(self):
        for keep, expected in (([], "none"), (["--keep", "orbitals"], "orbitals"), (["--keep", "density"], "density")):
            output = self.path("kept.h5")
            self.assertRuns(run(WATER, "--scf", "--batch", "--basis", "sto-3g", "--output", output, *keep))
            self.assertEqual([m[5] for m in self.molecules(output)], [expected])

    def test_failures_are_their_own(self):
        """Molecules of a batch that fail have a line on stderr each; the others are computed."""
        path, output = self.frames("water001", "1\nan atom\nH 0 0 0\n", "h2", "1\n\nQq 0 0 0\n"), self.path("all.h5")
        result = run(path, self.path("missing.xyz"), SMALL, WATER, "--scf", "--batch", "--output", output,
                     "--max-cycles", "5", "--basis", "sto-3g")
        self.assertEqual(result.code, 2, "a data set has its own basis")
        result = run(path, self.path("missing.xyz"), WATER, "--scf", "--batch", "--output", output,
                     "--max-cycles", "5", "--basis", "sto-3g")
        self.assertEqual(result.code, 3, str(result))
        lines = sorted(result.err.splitlines())
        self.assertEqual(len(lines), 6, result.err)
        for pattern in (r"\Afmo-driver: notice: 1 of 6 molecules will not .*multiplicity does not fit their electrons: \S+frames.xyz frame 2$",
                        r"frames.xyz: frame 2: 1 electron with.*odd", r"frames.xyz: frame 4: line \d+: .*Qq",
                        r"missing.xyz: No such file|missing.xyz", r"frames.xyz frame 1: SCF not converged in 5",
                        r"water001.xyz: SCF not converged in 5"):
            self.assertRegex(result.err, "(?m)" + pattern)
        self.assertRegex(result.out, r"(?m)^  batch      3 molecules in .*; 2 of them not converged; 3 failed$")
        found = self.molecules(output)
        self.assertEqual([(m[1], m[3]) for m in found],
                         [("1", "0"), ("2", "0"), ("3", "1"), ("4", "0"), ("0", "0"), ("0", "0")])
        self.assertEqual([m[2] == "nan" for m in found], [False, True, False, True, True, False])
        self.assertIn("odd", found[1][6])

    def test_a_bad_frame_among_ten(self):
        """Only the molecule with an error fails, and the result file names it."""
        output = self.path("ten.h5")
        for bad in ("2\n\nH 0 0 zero\nH 0 0 0.7\n", "3\n\nH 0 0 0\nH 0 0 0.7\n", "two\n17\nH 0 0 0\nH 0 0 0.7\n",
                    "1\n\nH 0 0 0\nH 0 0 0.7\n", "2\npbc='T T T'\nH 0 0 0\nH 0 0 0.7\n"):
            path = self.frames(*["h2"] * 5, bad, *["h2"] * 4)
            result = run(path, "--scf", "--batch", "--basis", "6-31g*", "--output", output)
            self.assertEqual(result.code, 3, str(result))
            self.assertRegex(result.err, rf"\Afmo-driver: {re.escape(path)}: frame 6: [^\n]*\n\Z")
            self.assertRegex(result.out, r"(?m)^  batch      9 molecules in .*; 1 failed$")
            found = self.molecules(output)
            self.assertEqual([m[1] for m in found], [str(k + 1) for k in range(10)])
            self.assertEqual([m[2] == "nan" for m in found], [k == 5 for k in range(10)])
            self.assertRegex(found[5][6], "frame 6: ")

    def test_nothing_done(self):
        output = self.path("none.h5")
        result = run(self.frames("1\n\nH 0 0 0\n"), "--scf", "--batch", "--basis", "sto-3g", "--output", output)
        self.assertFails(result, 3, "odd")
        self.assertFalse(os.path.exists(output))

    def test_json(self):
        path = self.frames("water001", "1\nan atom\nH 0 0 0\n", "h2")
        result = run(path, "--scf", "--batch", "--basis", "sto-3g", "--profile=json")
        self.assertEqual(result.code, 3, str(result))
        document = json.loads(result.out)
        self.assertEqual(complaints(document), [])
        self.assertEqual([build["frame"] for build in document["builds"]], [1, 2, 3])
        self.assertEqual(document["builds"][1]["error"]["exit_code"], 3)
        scf = document["builds"][2]["scf"]
        self.assertEqual(len(scf["cycles"]), scf["cycle_num"])
        batch = document["batch"]
        self.assertEqual((batch["datasets"], batch["failed"], batch["not_converged"]), (2, 1, 0))

    def test_data_sets_and_quiet(self):
        result = run(MEDIUM, SMALL, "--scf", "--batch", "--quiet")
        self.assertRuns(result)
        lines = sorted(result.out.splitlines())
        self.assertEqual(len(lines), 2)
        for line, (path, energy) in zip(lines, sorted([(MEDIUM, MEDIUM_ENERGY), (SMALL, SMALL_ENERGY)])):
            self.assertRegex(line, rf"^{re.escape(path)}: SCF: {NUMBER} hartree, converged in \d+ cycles$")
            self.assertAlmostEqual(float(line.split("SCF: ")[1].split()[0]), energy, delta=1e-8)

    def test_usage(self):
        path = self.frames("water001", "h2")
        batch = ["--scf", "--batch", "--basis", "sto-3g"]
        self.assertFails(run(path, "--scf", "--basis", "sto-3g"), 3, "another molecule begins; keep one .*--scf --batch", path)
        self.assertFails(run(path, *batch, "--keep", "density"), 2, "--keep has no effect without --output: add it")
        self.assertFails(run(WATER, "--scf", "--basis", "sto-3g", "--keep", "all", "--output", "x"), 2,
                         "--keep has no effect with --scf: leave it out, or use it with --scf --batch")
        self.assertFails(run(path, *batch, "--molden", "x"), 2, "--molden has no effect with --scf --batch: leave it out, or use it with --scf without")
        self.assertFails(run(path, *batch, "--output", path), 3, "--output is the geometry")
        other = self.path("matrices.h5")
        self.assertRuns(run(SMALL, "--output", other))
        self.assertFails(run(path, *batch, "--output", other), 3, "another kind: a result with J and K")
        self.assertRuns(run(path, *batch, "--output", other, "--force"))
        self.assertRuns(run(path, *batch, "--output", other))  # its own kind


if __name__ == "__main__":
    unittest.main()
