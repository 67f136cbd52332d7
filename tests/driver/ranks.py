"""fmo-driver under mpirun, on the CPU: results of one process, failures of single ranks, and a build
without MPI that is started so. Standard library and tests/support/driver_helpers.py only; started as cli.py is.

    FMO_DRIVER=.. FMO_H5=.. FMO_FATE=.../libdriver_fate.so FMO_NO_MPI=.../driver_no_mpi FMO_MPIEXEC=mpirun \\
        python3 ranks.py [Results|Failures|NoMpi]"""

import json
import os
import re
import socket
import unittest

import driver_helpers
from driver_helpers import DATASETS, LARGE, MEDIUM, SMALL, Case, digest, h5, run

MPIEXEC = os.environ.get("FMO_MPIEXEC", "")
FATE = os.environ.get("FMO_FATE", "")
NO_MPI = os.environ.get("FMO_NO_MPI", "")
WATER = os.path.join(DATASETS, "xyz", "water001.xyz")
# Open MPI needs these to run as root, and with more processes than cores.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def ranks(number, *arguments, program=None, environment=None):
    return run("-np", number, program or driver_helpers.DRIVER, *arguments, program=MPIEXEC, timeout=120,
               environment={**OPEN_MPI, **(environment or {})})


FMO2 = os.path.join(DATASETS, "fmo2")
WATER3, WATER10, GLY4 = (os.path.join(FMO2, f"{name}_sto-3g.json") for name in ("water3", "water10", "gly4"))


def error_lines(result):
    """The messages of fmo-driver on stderr, without those of mpirun."""
    return [line for line in result.err.splitlines() if line.startswith("fmo-driver: ")]


class Ranks(Case):
    def assertRuns(self, result):
        self.assertEqual((result.code, result.err), (0, ""), str(result))

    def documents(self, number, *arguments):
        """The profiles of one process and of several."""
        found = []
        for result in (run("--profile=json", *arguments), ranks(number, "--profile=json", *arguments)):
            self.assertRuns(result)
            found.append(self.valid(result))
        return found

    def valid(self, result, *schema):
        """The printed document, after a check by its schema."""
        document = json.loads(result.out)
        self.assertEqual(driver_helpers.complaints(document, *schema), [])
        return document


class Results(Ranks):
    SAME = ("dataset", "sha256", "nao", "energy", "energy_2e", "trace_g", "norm_g")

    def test_batch(self):
        """Lines are in the order of the command line on any number of ranks; the exit code is the same."""
        altered, missing = self.path("altered.h5"), self.path("missing.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 1e-3)
        line = ["--mode", "cpu", "--scatter", "fixed", "--batch", "--check", "--quiet", SMALL, missing, LARGE, altered, MEDIUM]
        alone, shared = run(*line), ranks(2, *line)
        self.assertEqual((shared.out, shared.code), (alone.out, 3), str(shared))
        self.assertEqual(error_lines(shared), alone.err.splitlines())

    def test_batch_bits(self):
        sets = [SMALL, LARGE, MEDIUM, SMALL]
        one, several = self.documents(3, "--mode", "cpu", "--batch", "--scatter", "fixed", "--check", *sets)
        self.assertEqual([build["dataset"] for build in several["builds"]], sets)
        for name in self.SAME + ("classes",):
            for a, b in zip(one["builds"], several["builds"]):
                a, b = [[{key: row[key] for key in ("quartets", "primitive_quartets")} for row in build[name]]
                        if name == "classes" else build[name] for build in (a, b)]
                self.assertEqual(a, b, name)
        batch = several["batch"]
        self.assertEqual((batch["datasets"], batch["ranks"]), (4, 3))
        self.assertGreater(batch["wall_seconds"], batch["seconds"]["median"])

    def test_batch_report(self):
        result = ranks(2, "--batch", "--mode", "cpu", SMALL, MEDIUM)
        self.assertRuns(result)
        self.assertRegex(result.out, r"  batch      2 data sets on 2 ranks: \d+\.\d+ s, builds \d+\.\d+ s on the slowest rank\n$")
        self.assertLess(result.out.index(SMALL), result.out.index(MEDIUM))

    def test_single_bits(self):
        """With `fixed`, J, K, G and the file have the same bits for any number of ranks and threads."""
        alone = self.path("alone.h5")
        self.assertRuns(run(LARGE, "--mode", "cpu", "--scatter", "fixed", "-o", alone))
        for number, threads in ((2, 1), (3, 2)):
            shared = self.path("shared.h5")
            result = ranks(number, LARGE, "--mode", "cpu", "--scatter", "fixed", "--threads", threads, "--check",
                           "--output", shared, "--force")
            self.assertRuns(result)
            self.assertRegex(result.out, r"  mode       cpu, %d ranks, rank 0 with %d thread" % (number, threads))
            self.assertEqual(result.out.count("check: pass"), 1)
            self.assertEqual(digest(alone), digest(shared))
        self.assertEqual(sorted(os.listdir(self.folder)), ["alone.h5", "shared.h5"])

    def test_single_counts(self):
        """Several data sets one by one; quartets are counted by all ranks."""
        one, several = self.documents(2, "--mode", "cpu", SMALL, MEDIUM, "--repeat", 3)
        for a, b in zip(one["builds"], several["builds"]):
            self.assertEqual((a["ranks"], b["ranks"]), (1, 2))
            for name in ("quartets", "quartets_skipped", "primitive_quartets"):
                self.assertEqual([row[name] for row in a["classes"]], [row[name] for row in b["classes"]])
            self.assertAlmostEqual(a["energy"], b["energy"], delta=1e-10)

    def test_scf_bits(self):
        """Rank 0 decides: as many cycles, the same energies, orbitals written once. Integrals are kept, each by
        the rank that has them."""
        out = self.path("o.h5")
        line = [WATER, "--basis", "6-31g", "--scf", "--mode", "cpu", "--scatter", "fixed", "--threads", "1", "-o", out,
                "--force"]
        one, several = self.documents(3, *line)
        a, b = one["builds"][0], several["builds"][0]
        self.assertEqual((b["ranks"], b["integrals"]), (3, "stored"))
        self.assertEqual([cycle["energy"] for cycle in a["scf"]["cycles"]],
                         [cycle["energy"] for cycle in b["scf"]["cycles"]])
        self.assertEqual(os.listdir(self.folder), ["o.h5"])

    def many(self):
        """Molecules of different sizes in one file."""
        path, frames = self.path("many.xyz"), []
        for name in ("water001", "h2", "water008", "n2", "nh3", "water001", "ch2o", "he"):
            with open(os.path.join(DATASETS, "xyz", f"{name}.xyz"), encoding="utf-8") as file:
                frames.append(file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(frames))
        return path

    def test_scf_batch(self):
        """One thread a rank: the same energies, cycles and file to the last bit; molecules that fail as well."""
        missing, alone, shared = self.path("missing.xyz"), self.path("alone.h5"), self.path("shared.h5")
        line = [self.many(), missing, "--basis", "6-31g", "--scf", "--batch", "--mode", "cpu", "--threads", 1, "--keep", "all",
                "--profile=json", "--force", "--output"]
        one = run(*line, alone)
        self.assertEqual(one.code, 3, str(one))
        for number in (2, 4):
            several = ranks(number, *line, shared)
            self.assertEqual((several.code, error_lines(several)), (3, one.err.splitlines()), str(several))
            self.assertEqual(digest(alone), digest(shared))
            a, b = (self.valid(result) for result in (one, several))
            self.assertEqual((b["batch"]["ranks"], b["batch"]["datasets"], b["batch"]["failed"]), (number, 8, 1))
            self.assertEqual(len(a["builds"]), 9)
            for x, y in zip(a["builds"], b["builds"]):
                self.assertEqual([x.get(name) for name in self.SAME + ("frame", "error")],
                                 [y.get(name) for name in self.SAME + ("frame", "error")])
                self.assertEqual([cycle["energy"] for cycle in x.get("scf", {"cycles": []})["cycles"]],
                                 [cycle["energy"] for cycle in y.get("scf", {"cycles": []})["cycles"]])

    def test_resumed_scf_batch(self):
        """Several processes find the results of an earlier run and compute the others."""
        path, out = self.many(), self.path("x.h5")
        line = ["--basis", "6-31g", "--scf", "--batch", "--mode", "cpu", "--scatter", "fixed", "-o", out]
        self.assertEqual(run(path, *line).code, 0)
        more = [path, os.path.join(DATASETS, "xyz", "h2s.xyz"), os.path.join(DATASETS, "xyz", "he2.xyz"), *line, "--resume"]
        result = ranks(3, *more)
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(result.out, r"batch +2 molecules on 3 ranks in .*; 8 more from an earlier run")
        several = digest(out)
        os.remove(out)
        self.assertEqual(run(*more).code, 0)
        self.assertEqual(digest(out), several)

    def test_scf_batch_report(self):
        line = [self.many(), "--basis", "6-31g", "--scf", "--batch", "--mode", "cpu"]
        result = ranks(2, *line, "--threads", 1)
        self.assertRuns(result)
        self.assertIn("mode       cpu, 2 ranks, rank 0 with 1 thread", result.out)
        self.assertRegex(result.out, r"  batch      8 molecules on 2 ranks in \d+\.\d+ s: ")
        energies = [sorted(re.findall(r"SCF: (-?\d+\.\d+) hartree", r.out)) for r in
                    (run(*line, "--quiet"), ranks(2, *line, "--quiet", "--threads", 2))]
        self.assertEqual(len(energies[0]), 8)
        for a, b in zip(*energies):
            self.assertAlmostEqual(float(a), float(b), delta=1e-9)

    def test_fragments(self):
        """One thread a rank: energies, pairs, charges and the file to the last bit; more threads: to 1e-9."""
        alone, shared, state = self.path("alone.h5"), self.path("shared.h5"), self.path("state")
        times = ("seconds", "ranks", "threads")
        for system, numbers in ((WATER3, (2,)), (WATER10, (2, 4)), (GLY4, (4,))):
            line = [system, "--fmo", "--mode", "cpu", "--profile=json", "--densities", "--force"]
            one = run(*line, "--threads", 1, "--output", alone)
            a = self.valid(one, "fragments", "output")["systems"][0]
            for number in numbers:
                several = ranks(number, *line, "--threads", 1, "--output", shared, "--state", state)
                self.assertRuns(several)
                b = self.valid(several, "fragments", "output")["systems"][0]
                self.assertEqual((a["ranks"], b["ranks"]), (1, number))
                self.assertEqual({name: a[name] for name in a if name not in times},
                                 {name: b[name] for name in b if name not in times})
                self.assertEqual(digest(alone), digest(shared))
            threads = ranks(2, *line, "--threads", 2, "--output", shared)
            self.assertRuns(threads)
            self.assertAlmostEqual(json.loads(threads.out)["systems"][0]["energy_fmo2"], a["energy_fmo2"], delta=1e-9)

    def test_fragments_report(self):
        """Two systems, and one that cannot be read between them."""
        line = [WATER3, self.path("none.json"), WATER3, "--fmo", "--mode", "cpu", "--threads", 1]
        one, several = run(*line), ranks(2, *line)
        self.assertEqual((several.code, error_lines(several)), (one.code, one.err.splitlines()), str(several))
        self.assertIn("mode       cpu, 2 ranks, rank 0 with 1 thread\n", several.out)
        found = [re.findall(r"FMO[12] +-\d+\.\d+ hartree", result.out) for result in (one, several)]
        self.assertEqual(found[0], found[1])
        self.assertEqual(len(found[0]), 4, several.out)

    def test_threads(self):
        """The cores of a host are divided among its ranks, unless the number of threads is given."""
        cores = len(os.sched_getaffinity(0))
        for environment, expected in (({}, max(1, cores // 2)), ({"OMP_NUM_THREADS": "3"}, 3)):
            environment["OMPI_MCA_hwloc_base_binding_policy"] = "none"
            result = ranks(2, SMALL, "--mode", "cpu", environment=environment)
            self.assertRuns(result)
            self.assertIn(f"2 ranks, rank 0 with {expected} thread", result.out)

    def test_alone(self):
        """Modes that cannot be shared are refused by name."""
        result = ranks(2, SMALL, "--mode", "reference", "--check", "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(ranks(2, SMALL, "--mode", "reference").out,
                         "notice     mode reference is not shared: rank 0 of 2 builds alone\n")


class Failures(Ranks):
    MANY = 16  # more jobs than the others do before the rank in question gets its first, on any machine
    HOST = re.escape(socket.gethostname()[:63])

    def fate(self, what, *arguments, number=2, rank=1, bytes=1, file=None):
        return ranks(number, *arguments, environment={"LD_PRELOAD": FATE, "FMO_TEST_FATE": what, "FMO_TEST_RANK":
                                                      str(rank), "FMO_TEST_BYTES": str(bytes),
                                                      **({"FMO_TEST_FILE": file} if file else {})})

    def killed(self, *arguments, rank=1, **rest):
        """A run of which mpirun reports the rank that was killed. On a busy machine Open MPI may report a rank
        that it has ended itself (signal 15) instead; such a run is repeated."""
        for _ in range(4):
            if rest.get("file") and os.path.exists(rest["file"]):
                os.remove(rest["file"])
            result = self.fate("kill", *arguments, rank=rank, **rest)
            if not re.search(r"process rank \d+ with PID \d+ on node \S+ exited on signal 15", result.err):
                break
        return result

    def assertEnds(self, result, code, pattern):
        """One line by fmo-driver or by mpirun; no file, no report."""
        self.assertEqual((result.code, result.out), (code, ""), str(result))
        self.assertEqual(len(re.findall(pattern, result.err)), 1, str(result))
        self.assertLess(result.seconds, 60)
        self.assertEqual(os.listdir(self.folder), [])

    def test_memory(self):
        """No memory on one rank: in its plan, and in a build."""
        for bytes in (1, 80000):
            result = self.fate("memory", LARGE, "--mode", "cpu", "-o", self.path("x.h5"), number=3, rank=2, bytes=bytes)
            self.assertEqual(len(error_lines(result)), 1, str(result))
            self.assertEnds(result, 5, f"fmo-driver: .*{re.escape(LARGE)}: rank 2 on {self.HOST}: no memory")

    def test_memory_in_batch(self):
        """The data sets of the failed rank are reported with its number; all others have results."""
        batch = [LARGE] * self.MANY + [SMALL, MEDIUM, SMALL]
        result = self.fate("memory", *batch, "--mode", "cpu", "--batch", "--check", "--quiet")
        lines = error_lines(result)
        self.assertEqual(result.code, 5, str(result))
        self.assertEqual(len(lines) + result.out.count("check: pass"), len(batch), str(result))
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, f"rank 1 on {self.HOST}: no memory")

    def test_killed(self):
        """SIGKILL in the middle of a build: mpirun names the rank and its host, and ends the others."""
        for line in ([LARGE, "-o", self.path("x.h5")], [*[LARGE] * self.MANY, MEDIUM, SMALL, "--batch", "--check"]):
            result = self.killed(*line, "--mode", "cpu", number=3)
            self.assertEnds(result, 137, r"process rank 1 with PID \d+ on node \S+ exited on signal 9")
            self.assertEqual(error_lines(result), [])

    def test_killed_scf_batch(self):
        batch = [os.path.join(DATASETS, "xyz", "water008.xyz")] * self.MANY + [WATER]
        out = self.path("x.h5")
        line = [*batch, "--basis", "6-31g", "--scf", "--batch", "--mode", "cpu", "-o", out]
        result = self.killed(*line, "--profile=json", "--force", number=3)
        self.assertEqual(os.listdir(self.folder), ["x.h5.checkpoint"])
        os.remove(out + ".checkpoint")
        self.assertEnds(result, 137, r"process rank 1 with PID \d+ on node \S+ exited on signal 9")

    def test_killed_fragments(self):
        """Killed after the first iteration, the run leaves a complete state, from which any number of ranks resumes."""
        state, out = self.path("state"), self.path("x.h5")
        line = [WATER10, "--fmo", "--mode", "cpu", "--threads", 1, "--profile=json", "--state", state]
        whole = json.loads(run(*line[:-2]).out)["systems"][0]["energy_fmo2"]
        for number in (4, 1):
            result = self.killed(*line, "--output", out, number=4, rank=2, file=state)
            self.assertEqual((result.code, result.out, os.listdir(self.folder)), (137, "", ["state"]), str(result))
            self.assertEqual(len(re.findall(r"process rank 2 with PID \d+ on node \S+ exited on signal 9", result.err)), 1)
            self.assertEqual(error_lines(result), [])
            resumed = ranks(number, *line, "--resume")
            self.assertRuns(resumed)
            system = json.loads(resumed.out)["systems"][0]
            self.assertGreaterEqual(system["resumed_iterations"], 1)
            self.assertAlmostEqual(system["energy_fmo2"], whole, delta=1e-9)
            os.remove(state)

    def test_memory_for_fragments(self):
        # Quiet: on a busy machine the rank may get its first work after lines of iterations.
        result = self.fate("memory", WATER10, "--fmo", "--mode", "cpu", "--quiet", "--output", self.path("x.h5"), number=3,
                           rank=2)
        self.assertEnds(result, 5, f"fmo-driver: .*rank 2 on {self.HOST}: .*no memory")
        self.assertEqual(len(error_lines(result)), 1, str(result))

    def test_other_files(self):
        """Ranks that find different files at the same path."""
        for name, other, line, says in (("x.xyz", "h2.xyz", ["--scf", "--batch", "--basis", "sto-3g"], "its molecules differ"),
                                        ("x.json", "ethane_sto-3g.json", ["--fmo"], "its fragments differ")):
            folders = [self.path(f"{name}.{number}") for number in (0, 1)]
            for folder, source in zip(folders, (WATER if name == "x.xyz" else WATER3, other)):
                os.mkdir(folder)
                with open(os.path.join(DATASETS, "xyz" if name == "x.xyz" else "fmo2", source), "rb") as file:
                    content = file.read()
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(content)
            program = [driver_helpers.DRIVER, name, *line]
            result = run("-np", 1, "--wdir", folders[0], *program, ":", "-np", 1, "--wdir", folders[1], *program,
                         program=MPIEXEC, timeout=120, environment=OPEN_MPI)
            self.assertEqual((result.code, result.out, len(error_lines(result))), (3, "", 1), str(result))
            self.assertRegex(result.err, f"rank 1 on {self.HOST}: {says}")

    def test_other_lines(self):
        """Ranks with other options than rank 0: one line, one exit code, and no rank waits."""
        build, water = [SMALL, "--mode", "cpu"], [WATER, "--basis", "sto-3g"]
        for first, second, says in ((build, [SMALL, "--mode", "reference"], "--mode: not the same as on rank 0"),
                                    ([WATER3, "--fmo"], [*water, "--scf"], "--scf: not the same|--fmo: not the same|data sets: not the same"),
                                    ([*water, "--scf", "--batch"], [*water, "--scf"], "--batch: not the same"),
                                    ([*build, "--cutoff", "1e-9"], build, "--cutoff: not the same"),
                                    (build, [MEDIUM, "--mode", "cpu"], "data sets: not the same"),
                                    (build, [SMALL, "--mode", "cpy"], "--mode 'cpy': expected"),
                                    (build, ["--version"], "not the same as on rank 0")):
            program = driver_helpers.DRIVER
            result = run("-np", 1, program, *first, ":", "-np", 1, program, *second, program=MPIEXEC, timeout=120,
                         environment=OPEN_MPI)
            self.assertEqual((result.code, result.out, len(error_lines(result))), (2, "", 1), str(result))
            self.assertRegex(result.err, f"fmo-driver: rank 1 on {self.HOST}: .*({says})")
        program = [driver_helpers.DRIVER, *build, "--check", "--quiet"]
        result = run("-np", 1, *program, "--threads", 1, ":", "-np", 1, *program, "--threads", 2, program=MPIEXEC,
                     timeout=120, environment=OPEN_MPI)
        self.assertRuns(result)

    def test_bad_input(self):
        """A message of all ranks is printed once."""
        missing = self.path("missing.h5")
        for line, code, says in (([missing], 3, "cannot open it"), ([missing[:-2] + "json", "--fmo"], 3, "cannot open it"),
                                 ([WATER3, "--fmo", "--basis", "none"], 3, "none"),
                                 ([WATER, "--scf", "--batch", "--basis", "none"], 3, "none"),
                                 ([WATER3, "--fmo", "--iterations", "2", "--quiet"], 1, "not converged after 2 iterations"),
                                 ([WATER3, "--fmo", "--resume", "--state", missing], 3, "no state to continue from"), (["--mode", "cpy", SMALL], 2, "--mode"),
                                 ([], 2, "no data set"), ([SMALL, "--memory", "1", "--mode", "cpu"], 5, "mode cpu needs")):
            result = ranks(2, *line)
            self.assertEnds(result, code, says)
            self.assertEqual(len(error_lines(result)), 1, str(result))
        result = ranks(2, "--version")
        self.assertEqual((result.code, result.out.count("fmo-driver")), (0, 1), str(result))

    def test_another_mpi(self):
        """mpirun of another MPI library than the one that fmo-driver is linked with."""
        result = run(SMALL, environment={**OPEN_MPI, "PMI_SIZE": "2", "PMI_RANK": "0"})
        self.assertEnds(result, 2, "fmo-driver: started as 2 processes, but MPI reports 1: fmo was built with another MPI")


class NoMpi(Case):
    """A build without MPI that is started by mpirun reports it in one line."""

    def test_environment(self):
        for size, rank in (("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"),
                           ("MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"), ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID")):
            for number in (0, 1):
                result = run(SMALL, program=NO_MPI, environment={size: "2", rank: str(number)})
                self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1 - number), str(result))
                if number == 0:
                    self.assertRegex(result.err, "^fmo-driver: started as 2 processes, but built without MPI: .*"
                                                 "without mpirun, or build it with -DFMO_MPI=ON\n$")
            one = run(SMALL, "--quiet", program=NO_MPI, environment={size: "1", rank: "0"})
            self.assertEqual((one.code, one.err), (0, ""), str(one))

    @unittest.skipUnless(MPIEXEC, "no mpirun")
    def test_mpirun(self):
        result = ranks(2, SMALL, "--check", program=NO_MPI)
        self.assertEqual((result.code, result.out, len(error_lines(result))), (2, "", 1), str(result))
        self.assertIn("built without MPI", result.err)


if __name__ == "__main__":
    unittest.main()
