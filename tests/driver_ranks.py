"""fmo-driver under mpirun, on the CPU: results of one process, failures of single ranks, and a build
without MPI that is started so. Standard library and driver_cli.py only; started as driver_cli.py is.

    FMO_DRIVER=.. FMO_H5=.. FMO_FATE=.../libdriver_fate.so FMO_NO_MPI=.../driver_no_mpi FMO_MPIEXEC=mpirun \\
        python3 driver_ranks.py [Results|Failures|NoMpi]"""

import json
import os
import re
import socket
import unittest

import driver_cli
from driver_cli import DATASETS, LARGE, MEDIUM, SMALL, Case, digest, h5, run

MPIEXEC = os.environ.get("FMO_MPIEXEC", "")
FATE = os.environ.get("FMO_FATE", "")
NO_MPI = os.environ.get("FMO_NO_MPI", "")
WATER = os.path.join(DATASETS, "xyz", "water001.xyz")
# Open MPI wants to be asked before it runs as root, and for more processes than cores.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def ranks(number, *arguments, program=None, environment=None):
    return run("-np", number, program or driver_cli.DRIVER, *arguments, program=MPIEXEC, timeout=120,
               environment={**OPEN_MPI, **(environment or {})})


def said(result):
    """What fmo-driver said on stderr, apart from mpirun's own words."""
    return [line for line in result.err.splitlines() if line.startswith("fmo-driver: ")]


class Ranks(Case):
    def assertRuns(self, result):
        self.assertEqual((result.code, result.err), (0, ""), str(result))

    def documents(self, number, *arguments):
        """The profiles of one process, and of so many."""
        found = []
        for result in (run("--profile=json", *arguments), ranks(number, "--profile=json", *arguments)):
            self.assertRuns(result)
            document = json.loads(result.out)
            with open(os.path.join(driver_cli.SOURCE, "docs", "profile.schema.json"), encoding="utf-8") as file:
                schema = json.load(file)
            self.assertEqual(driver_cli.validate(document, schema, schema), [])
            found.append(document)
        return found


class Results(Ranks):
    SAME = ("dataset", "sha256", "nao", "energy", "energy_2e", "trace_g", "norm_g")

    def test_batch(self):
        """Lines in the order of the command line, wherever they come from; the same exit code."""
        altered, missing = self.path("altered.h5"), self.path("missing.h5")
        h5("alter", SMALL, altered, "/fmo/fock_2e", 0, 1e-3)
        line = ["--mode", "cpu", "--scatter", "fixed", "--batch", "--check", "--quiet", SMALL, missing, LARGE, altered, MEDIUM]
        alone, shared = run(*line), ranks(2, *line)
        self.assertEqual((shared.out, shared.code), (alone.out, 3), str(shared))
        self.assertEqual(said(shared), alone.err.splitlines())

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
        self.assertRegex(result.out, r"  batch      2 data sets on 2 ranks: \d+\.\d+ s, builds \d+\.\d+ s on the longest\n$")
        self.assertLess(result.out.index(SMALL), result.out.index(MEDIUM))

    def test_single_bits(self):
        """`fixed`: J, K, G and the file, to the last bit, for any number of ranks and threads."""
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

    def test_threads(self):
        """The cores of a host are divided by its ranks, unless somebody says how many threads."""
        cores = len(os.sched_getaffinity(0))
        for environment, wanted in (({}, max(1, cores // 2)), ({"OMP_NUM_THREADS": "3"}, 3)):
            environment["OMPI_MCA_hwloc_base_binding_policy"] = "none"
            result = ranks(2, SMALL, "--mode", "cpu", environment=environment)
            self.assertRuns(result)
            self.assertIn(f"2 ranks, rank 0 with {wanted} thread", result.out)

    def test_alone(self):
        """Modes that are not shared say so."""
        result = ranks(2, SMALL, "--mode", "reference", "--check", "--quiet")
        self.assertEqual(result.code, 0, str(result))
        self.assertRegex(ranks(2, SMALL, "--mode", "reference").out,
                         "notice     mode reference is not shared: rank 0 of 2 builds alone\n")


class Failures(Ranks):
    HOST = re.escape(socket.gethostname()[:63])

    def fate(self, what, *arguments, number=2, rank=1, bytes=1):
        return ranks(number, *arguments, environment={"LD_PRELOAD": FATE, "FMO_TEST_FATE": what, "FMO_TEST_RANK":
                                                      str(rank), "FMO_TEST_BYTES": str(bytes)})

    def assertEnds(self, result, code, pattern):
        """One line of ours, or of mpirun's; no file, no report."""
        self.assertEqual((result.code, result.out), (code, ""), str(result))
        self.assertEqual(len(re.findall(pattern, result.err)), 1, str(result))
        self.assertLess(result.seconds, 60)
        self.assertEqual(os.listdir(self.folder), [])

    def test_memory(self):
        """No memory on one rank: in its plan, and in a build."""
        for bytes in (1, 80000):
            result = self.fate("memory", LARGE, "--mode", "cpu", "-o", self.path("x.h5"), number=3, rank=2, bytes=bytes)
            self.assertEqual(len(said(result)), 1, str(result))
            self.assertEnds(result, 5, f"fmo-driver: .*{re.escape(LARGE)}: rank 2 on {self.HOST}: no memory")

    def test_memory_in_batch(self):
        """The data sets of that rank, by its name; the others are there."""
        result = self.fate("memory", LARGE, SMALL, MEDIUM, SMALL, "--mode", "cpu", "--batch", "--check", "--quiet")
        lines = said(result)
        self.assertEqual(result.code, 5, str(result))
        self.assertEqual(len(lines) + result.out.count("check: pass"), 4, str(result))
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, f"rank 1 on {self.HOST}: no memory")

    def test_killed(self):
        """SIGKILL in the middle of a build: mpirun names the rank and its host, and ends the others."""
        for line in ([LARGE, "-o", self.path("x.h5")], [LARGE, MEDIUM, SMALL, LARGE, "--batch", "--check"]):
            result = self.fate("kill", *line, "--mode", "cpu", number=3)
            self.assertEnds(result, 137, r"process rank 1 with PID \d+ on node \S+ exited on signal 9")
            self.assertEqual(said(result), [])

    def test_bad_input(self):
        """What all ranks would say is said once."""
        missing = self.path("missing.h5")
        for line, code, says in (([missing], 3, "cannot open it"), (["--mode", "cpy", SMALL], 2, "--mode"),
                                 ([], 2, "no data set"), ([SMALL, "--memory", "1", "--mode", "cpu"], 5, "mode cpu needs")):
            result = ranks(2, *line)
            self.assertEnds(result, code, says)
            self.assertEqual(len(said(result)), 1, str(result))
        result = ranks(2, "--version")
        self.assertEqual((result.code, result.out.count("fmo-driver")), (0, 1), str(result))

    def test_another_mpi(self):
        """mpirun of an MPI that ours does not know."""
        result = run(SMALL, environment={**OPEN_MPI, "PMI_SIZE": "2", "PMI_RANK": "0"})
        self.assertEnds(result, 2, "fmo-driver: started as 2 processes, but MPI knows of 1: fmo was built with another MPI")


class NoMpi(Case):
    """A build without MPI notices, in one line."""

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
        self.assertEqual((result.code, result.out, len(said(result))), (2, "", 1), str(result))
        self.assertIn("built without MPI", result.err)


if __name__ == "__main__":
    unittest.main()
