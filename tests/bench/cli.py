"""Tests of fmo-bench as a program: every experiment at small sizes, zero items, one bin, more bins
than items, time bounds, JSON, bad options. Standard library only; builds: builds.py.

`cli.py Cpu` runs one class; the environment: helpers.py."""
import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from helpers import BENCH, BUILDS, DATASET, EXPERIMENTS, QUICK, SMALL, SOURCE, Case, SkipMain, bench, need_gpu


class Cpu(Case):
    def test_every_experiment(self):
        for name in EXPERIMENTS:
            with self.subTest(name):
                document, text = self.results(name, "--where", "cpu", *SMALL[name])
                self.assertTrue(document["results"])
                self.assertIsNone(document["device"])
                self.assertIn("GPU parts left out: not requested", text)
                for cell in document["results"]:
                    self.assertEqual(cell["experiment"], name)
                    self.assertEqual(cell["where"], "cpu")
                    self.assertIsNone(cell["ratio"])
                if name in ("histogram", "strip", "kmeans", "median"):
                    self.exact(document)

    def test_patterns(self):
        document, _ = self.results("histogram", "--where", "cpu", "--items", "30000", "--bins", "1,300",
                                   "--pattern", "all", "--input", "all", "--dataset", DATASET)
        self.exact(document)
        seen = {(c["parameters"]["pattern"], c["parameters"]["input"], c["parameters"]["type"])
                for c in document["results"]}
        self.assertEqual(len(seen), 4 * 2 * 2)

    def test_integers_are_exact(self):
        document, _ = self.results("reduction", "--where", "cpu", "--items", "12345", "--type", "all")
        kinds = {c["parameters"]["type"]: c["check"]["kind"] for c in document["results"]}
        self.assertEqual(kinds, {"int32": "exact", "float": "bound", "double": "bound"})

    def test_without_a_gpu_it_says_so(self):
        document, text = self.results("strip", "--items", "100", "--strip", "5")
        if document["device"] is None:
            self.assertTrue(document["gpu_left_out"])
            self.assertIn("GPU parts left out: " + document["gpu_left_out"], text)

    def test_all(self):
        arguments = [a for name in EXPERIMENTS for a in SMALL[name]
                     if not (name == "reduction" and a in ("--items", "20011"))]
        document, _ = self.results("all", "--where", "cpu", *arguments)
        self.assertEqual([e for e in EXPERIMENTS if any(c["experiment"] == e for c in document["results"])],
                         EXPERIMENTS)


class Edges(Case):
    def test_nothing_to_do(self):
        for arguments in (["histogram", "--items", "0", "--bins", "1,10"], ["reduction", "--items", "0"],
                          ["strip", "--items", "0"], ["interchange", "--edge", "0"],
                          ["kmeans", "--samples", "0", "--clusters", "3"], ["median", "--image", "0"]):
            with self.subTest(arguments[0]):
                document, _ = self.results(*arguments)
                self.assertTrue(document["results"])
                for cell in document["results"]:
                    if cell["left_out"] is None:
                        self.assertEqual(cell["items"], 0)
                        self.assertIsNone(cell["rate"])
                        self.assertFalse(cell["extrapolated"])

    def test_one(self):
        self.results("histogram", "--items", "1", "--bins", "1")
        self.results("reduction", "--items", "1")
        self.results("interchange", "--edge", "1")
        self.results("kmeans", "--samples", "1", "--clusters", "1", "--dimensions", "1")
        self.results("median", "--image", "1", "--window", "1")

    def test_one_bin(self):
        document, _ = self.results("histogram", "--items", "5000", "--bins", "1", "--pattern", "uniform,zipf,runs")
        self.exact(document)

    def test_more_bins_than_items(self):
        document, _ = self.results("histogram", "--items", "10", "--bins", "100000", "--input", "all")
        self.exact(document)
        self.results("kmeans", "--samples", "3", "--clusters", "50")

    def test_window_larger_than_the_image(self):
        self.results("median", "--image", "5", "--window", "21")


class Bounded(Case):
    def test_a_slow_cell_is_extrapolated_and_marked(self):
        run = ["median", "--where", "cpu", "--image", "600", "--window", "49"]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            out = bench(*run, "--seconds", "0.001", "--threads", "1", "--json", path)
            self.assertEqual(out.returncode, 0, out.stderr)
            with open(path, encoding="utf-8") as file:
                cells = json.load(file)["results"]
        slow = [c for c in cells if c["method"] == "direct, serial"]
        self.assertEqual(len(slow), 1)
        self.assertTrue(slow[0]["extrapolated"])
        self.assertLess(slow[0]["items_run"], slow[0]["items"])
        self.assertEqual(slow[0]["items"], 600 * 600)
        self.assertEqual(slow[0]["check"]["status"], "pass")
        self.assertRegex(out.stdout, r"direct, serial.*~")


class Json(Case):
    def test_document(self):
        document, _ = self.results("histogram", "--where", "cpu", "--items", "1000", "--bins", "10")
        self.assertEqual(document["format"], "fmo-bench")
        self.assertEqual(document["version"], 2)
        cell = document["results"][0]
        self.assertLessEqual(cell["seconds"]["min"], cell["seconds"]["median"])
        self.assertLessEqual(cell["seconds"]["median"], cell["seconds"]["max"])
        self.assertAlmostEqual(cell["rate"], cell["items"] / cell["seconds"]["median"], delta=1e-6 * cell["rate"])

    def test_every_field_is_documented(self):
        document, _ = self.results("histogram", "--where", "cpu", "--items", "1000", "--bins", "10")
        with open(os.path.join(SOURCE, "docs", "reference", "bench.md"), encoding="utf-8") as file:
            text = file.read()
        names = set(document) | set(document["results"][0]) | set(document["host"]) | set(document["options"])
        names |= set(document["results"][0]["check"]) | set(document["results"][0]["parameters"])
        for name in names:
            self.assertIn("`" + name + "`", text)

    def test_bad_place(self):
        for path, says in (("/no/such/folder/x.json", "No such file"), ("/dev/null", "not a regular file")):
            run = bench("strip", "--items", "10", "--json", path)
            self.assertEqual(run.returncode, 3)
            self.assertEqual(run.stderr.count("\n"), 1)
            self.assertIn(f"--json {path}: ", run.stderr)
            self.assertIn(says, run.stderr)
            self.assertEqual(run.stdout, "")


class Plot(Case):
    def test_plot(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is not installed (driver/bench/requirements.txt)")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out.json")
            self.assertEqual(bench("histogram", "--items", "1000", "--bins", "1,10", *QUICK, "--json", path).returncode, 0)
            with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as packed:
                packed.write(file.read())
            for name, options, suffix in ((path, [], ".svg"), (path + ".gz", ["--format", "png"], ".png")):
                run = subprocess.run([sys.executable, os.path.join(SOURCE, "driver", "bench", "plot.py"), name,
                                      "--output", folder, *options], capture_output=True, text=True, timeout=1500)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertTrue([f for f in os.listdir(folder) if f.endswith(suffix)])

    def test_plot_of_builds(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("matplotlib is not installed (driver/bench/requirements.txt)")
        for arguments in (["growth", "--waters", "1", "--carbons", "1,2"], ["fock", "--systems", "water001"]):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "out.json")
                run = bench(*arguments, "--mode", "cpu", *QUICK, "--json", path)
                self.assertEqual(run.returncode, 0, run.stderr)
                run = subprocess.run([sys.executable, os.path.join(SOURCE, "driver", "bench", "plot.py"), path,
                                      "--output", folder], capture_output=True, text=True, timeout=1500)
                self.assertEqual(run.returncode, 0, run.stderr)
                self.assertEqual(len([f for f in os.listdir(folder) if f.endswith(".svg")]), 1)

    def test_plot_compiles(self):
        with open(os.path.join(SOURCE, "driver", "bench", "plot.py"), encoding="utf-8") as file:
            compile(file.read(), "plot.py", "exec")


class Messages(Case):
    """pingpong: ranks that are threads here; processes where mpirun is."""

    def test_host_ranks(self):
        document, text = self.results("pingpong", "--where", "cpu", "--bytes", "1,9,40000", "--repeat", "2")
        self.assertEqual([(c["row"], c["column"]) for c in document["results"]],
                         [("cpu host threads, proxy", n) for n in ("1", "9", "40000")])
        for cell in document["results"]:
            self.assertGreater(cell["seconds"]["median"], 0)
            self.assertEqual((cell["items"], cell["repeat"]), (int(cell["column"]), 2))
        self.assertIn("Published", text)

    def test_only_a_gpu_that_is_not_there(self):
        if bench("strip", "--items", "1", "--strip", "5").stdout.count("GPU parts left out"):
            self.assertEqual(bench("pingpong", "--where", "gpu").returncode, 4)
            self.assertEqual(bench("himeno", "--gpus", "2", "--where", "gpu").returncode, 4)
            document, text = self.results("himeno", "--gpus", "2")
            self.assertEqual(document["results"], [])
            self.assertIn("GPU parts left out: " + document["gpu_left_out"], text)

    def test_processes(self):
        """Under mpirun one report is printed, and a wrong number of processes is refused."""
        mpirun = shutil.which("mpirun")
        if not mpirun or "libmpi" not in subprocess.run(["ldd", BENCH], capture_output=True, text=True).stdout:
            self.skipTest("no mpirun, or fmo-bench is built without MPI")
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_btl_vader_single_copy_mechanism="none")
        for processes, code in ((2, 0), (3, 2)):
            run = subprocess.run([mpirun, "-np", str(processes), BENCH, "pingpong", "--where", "cpu", "--bytes",
                                  "4,70000", "--repeat", "1"], capture_output=True, text=True, timeout=600,
                                 env=environment, stdin=subprocess.DEVNULL)
            self.assertEqual(run.returncode, code, run.stderr)
            self.assertEqual(run.stdout.count("fmo-bench 0"), 1, run.stdout)
            if code == 0:
                self.assertEqual(run.stdout.count("MPI, host to host"), 1, run.stdout)
            else:
                self.assertIn("3 processes: expected 2", run.stderr)
        run = subprocess.run([mpirun, "-np", "2", BENCH, "himeno", "--gpus", "3"], capture_output=True, text=True,
                             timeout=600, env=environment, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("--gpus 3: 2 processes: expected 3", run.stderr)


class Compare(unittest.TestCase):
    def test_without_a_density(self):
        """compare_libcint.py: one sentence, before anything is computed."""
        path = os.path.join(SOURCE, "driver", "bench", "compare_libcint.py")
        spec = importlib.util.spec_from_file_location("compare_libcint", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.require_values("a.h5", {"/fmo/density", "/fmo/fock_2e", "/mo"})
        for has, says in ((set(), "a.h5: no /fmo/density and no /fmo/fock_2e: "), ({"/fmo/fock_2e"}, "a.h5: no /fmo/density: "),
                          ({"/fmo/density"}, "a.h5: no /fmo/fock_2e: ")):
            with self.assertRaises(module.DatasetError) as caught:
                module.require_values("a.h5", has)
            self.assertEqual(str(caught.exception), says + "datasets/make_dataset.py makes data sets that have both")


class Usage(Case):
    BAD = [
        ([], "no experiment"),
        (["sort"], "unknown experiment 'sort'"),
        (["strip", "median"], "not also 'median'"),
        (["histogram", "--bins"], "--bins needs a value"),
        (["histogram", "--bins", "0"], "--bins '0'"),
        (["histogram", "--bins", "1,,2"], "--bins '1,,2'"),
        (["histogram", "--bins", "1,2,"], "--bins '1,2,'"),
        (["histogram", "--bins", "1e"], "--bins '1e'"),
        (["histogram", "--bins", "9e99"], "--bins '9e99'"),
        (["histogram", "--bins", "99999999999999999999"], "--bins '"),
        (["histogram", "--bins", "nan"], "--bins 'nan'"),
        (["histogram", "--bins", ",".join(["1"] * 40)], "at most 32"),
        (["histogram", "--items", "-1"], "--items '-1'"),
        (["histogram", "--items", "1.5"], "--items '1.5'"),
        (["histogram", "--type", "half"], "--type 'half'"),
        (["histogram", "--type", "float"], "--type float"),
        (["histogram", "--scatter", "tile"], "--scatter 'tile'"),
        (["histogram", "--commit", ""], "--commit ''"),
        (["histogram", "--pattern", "replay"], "--dataset"),
        (["histogram", "--seconds", "0"], "--seconds '0'"),
        (["histogram", "--seconds", "nan"], "--seconds 'nan'"),
        (["histogram", "--seconds", "0x1"], "--seconds '0x1'"),
        (["histogram", "--repeat", "0"], "--repeat '0'"),
        (["histogram", "--json", ""], "--json"),
        (["histogram", "--quiet=yes"], "--quiet takes no value"),
        (["histogram", "--unknown"], "--unknown"),
        (["himeno", "--bins", "3"], "--bins has no effect in himeno: leave it out"),
        (["himeno", "--grid", "XXL"], "--grid 'XXL'"),
        (["himeno", "--grid", "XL"], "--grid XL requires --gpus"),
        (["himeno", "--grid", "S,S64"], "--grid S64 requires --gpus"),
        (["himeno", "--gpus", "0"], "--gpus '0'"),
        (["himeno", "--gpus", "2", "--where", "cpu"], "--where cpu"),
        (["strip", "--gpus", "2"], "--gpus has no effect in strip: leave it out"),
        (["all", "--mode", "cpu"], "--mode has no effect in all: leave it out"),
        (["all", "--bytes", "8"], "--bytes has no effect in all: leave it out"),
        (["all", "--systems", "water"], "--systems has no effect in all: leave it out"),
        (["histogram", "--zipf", "2"], "--zipf has no effect without --pattern zipf: add it"),
        (["histogram", "--run-length", "2"], "--run-length has no effect without --pattern runs"),
        (["histogram", "--dataset", "x.h5"], "--dataset has no effect without --pattern replay"),
        (["histogram", "--where", "cpu", "--scatter", "native"], "--scatter has no effect without --where gpu"),
        (["reduction", "--where", "cpu", "--commit", "cas"], "--commit has no effect without --where gpu"),
        (["reduction", "--where", "cpu", "--blocks", "8"], "--blocks has no effect without --where gpu"),
        (["median", "--window", "8"], "odd"),
        (["strip", "--where", "tpu"], "--where 'tpu'"),
        (["strip", "--bytes", "4"], "--bytes has no effect in strip: leave it out"),
        (["pingpong", "--bytes", "0"], "--bytes '0'"),
    ]

    def test_bad_options(self):
        for arguments, says in self.BAD:
            with self.subTest(" ".join(arguments)[:60]):
                run = bench(*arguments)
                self.assertEqual(run.returncode, 2, run.stdout)
                self.assertEqual(run.stdout, "")
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
                self.assertIn(says, run.stderr)

    def test_help_and_version(self):
        run = bench("--help")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for name in EXPERIMENTS + BUILDS + ["pingpong"]:
            self.assertRegex(run.stdout, rf"(?m)^  {name} ")
        for line in run.stdout.splitlines():
            self.assertEqual(line, line.rstrip())
        self.assertRegex(bench("--version").stdout, r"^fmo-bench \d+\.\d+\.\d+\n$")

    def test_help_of_one(self):
        """--help of an experiment lists exactly the options that it accepts."""
        every = set(re.findall(r"(?m)^  (?:-\w, |    )--([a-z-]+)", bench("--help").stdout))
        for name in EXPERIMENTS + BUILDS + ["pingpong"]:
            run = bench(name, "--help", "--bogus")
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertRegex(run.stdout, rf"\AUsage: fmo-bench {name} ")
            self.assertLessEqual(max(map(len, run.stdout.splitlines())), 100)
            own = set(re.findall(r"(?m)^  (?:-\w, |    )--([a-z-]+)", run.stdout))
            self.assertLess(own, every)
            self.assertIn("json", own)
            for option, value in (("bins", "1"), ("where", "cpu"), ("strip", "5"), ("waters", "1"), ("cutoff", "0")):
                if option not in own:
                    self.assertIn(f"--{option} has no effect in {name}", bench(name, "--" + option, value).stderr)
        run = bench("sort", "--help")
        self.assertEqual((run.returncode, run.stdout), (2, ""))

    def test_slips(self):
        for line, says in ((["--itmes", "3"], "unknown option --itmes: did you mean --items?"),
                           (["--se", "3"], "--se could be --seconds or --seed"),
                           (["-x"], "unknown option -x (see fmo-bench --help)"),
                           (["--frobnicate"], "unknown option --frobnicate (see fmo-bench --help)")):
            run = bench("histogram", *line)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (2, "", 1), run.stderr)
            self.assertIn(says, run.stderr)

    def test_bad_data_set(self):
        run = bench("histogram", "--pattern", "replay", "--dataset", "/no/such/file.h5", "--quiet")
        self.assertEqual(run.returncode, 3)
        self.assertEqual(run.stderr.count("\n"), 1)
        self.assertIn("/no/such/file.h5", run.stderr)


class Gpu(Case):
    @classmethod
    def setUpClass(cls):
        need_gpu(bench("strip", "--where", "gpu", "--items", "10", "--strip", "5", "--quiet"))

    def gpu(self, *arguments):
        document, _ = self.results(*arguments, "--where", "gpu")
        self.assertTrue(document["device"]["name"])
        self.assertTrue(any(c["left_out"] is None for c in document["results"]))
        return document

    def strategies(self):
        text = bench("--help").stdout
        table = text[text.index("--scatter SET"):text.index("--commit SET")]
        return re.findall(r"(?m)^ {26}(\S+) {2,}", table)

    def test_every_experiment(self):
        for name in EXPERIMENTS:
            with self.subTest(name):
                document = self.gpu(name, *SMALL[name])
                if name in ("histogram", "strip", "kmeans", "median"):
                    self.exact(document)

    def test_every_strategy(self):
        names = self.strategies()
        self.assertGreaterEqual(len(names), 7)
        for experiment in ("histogram", "reduction", "himeno", "kmeans"):
            document = self.gpu(experiment, *SMALL[experiment])
            methods = {c["method"] for c in document["results"]}
            self.assertLessEqual(set(names), methods, experiment)
            ones = [c for c in document["results"] if c["method"] == "native" and c["ratio"] is not None]
            self.assertTrue(ones)
            for cell in ones:
                self.assertAlmostEqual(cell["ratio"]["value"], 1.0)

    def test_patterns(self):
        document = self.gpu("histogram", "--items", "30000", "--bins", "1,300", "--pattern", "all",
                            "--input", "all", "--dataset", DATASET)
        self.exact(document)

    def test_grids(self):
        document = self.gpu("histogram", "--items", "30000", "--bins", "1,300", "--input", "ids",
                            "--blocks", "0,1,7,5000")
        self.exact(document)
        self.gpu("reduction", "--items", "30000", "--blocks", "0,1,5000", "--type", "all")

    def test_himeno_ranks(self):
        """Two ranks, on two GPUs or one: every form has the bits of one rank, and every field is documented."""
        with open(os.path.join(SOURCE, "docs", "reference", "bench.md"), encoding="utf-8") as file:
            text = file.read()
        for arguments in (["--grid", "S64,S"], ["--grid", "XS", "--sweeps", "1"]):
            document = self.gpu("himeno", "--gpus", "2", *arguments)
            self.exact(document)
            cells = [c for c in document["results"] if c["left_out"] is None]
            forms = {(c["parameters"]["ranks"], c["method"]) for c in cells}
            for late in ("", ", late"):
                self.assertLessEqual({(1, "in kernel" + late), (1, "host" + late), (2, "in kernel, proxy" + late),
                                      (2, "host, copies" + late)}, forms)
            if not [c for c in document["results"] if "peer" in (c["left_out"] or "")]:
                self.assertIn((2, "in kernel, peer"), forms)
            for cell in cells:
                self.assertGreater(cell["parameters"]["gflops"], 0.0)
                self.assertEqual(cell["parameters"]["efficiency"] is None, cell["parameters"]["ranks"] == 1)
                for name in cell["parameters"]:
                    self.assertIn("`" + name + "`", text)

    def test_nothing_to_do(self):
        for arguments in (["histogram", "--items", "0", "--bins", "10"], ["reduction", "--items", "0"],
                          ["strip", "--items", "0"], ["interchange", "--edge", "0"],
                          ["kmeans", "--samples", "0", "--clusters", "3"], ["median", "--image", "0"]):
            with self.subTest(arguments[0]):
                self.gpu(*arguments)

    def test_selection(self):
        document = self.gpu("histogram", "--items", "1000", "--bins", "10", "--scatter", "native,fixed",
                            "--commit", "cas")
        rows = {c["row"] for c in document["results"]}
        self.assertIn("gpu native/cas", rows)
        self.assertIn("gpu fixed", rows)
        self.assertNotIn("gpu native/native", rows)
        self.assertNotIn("gpu warp-match/cas", rows)


if __name__ == "__main__":
    unittest.main(testRunner=SkipMain)
