"""Every option of fmo-driver on every kind of run: where --help does not list it, it is refused by its
name; where it does, the run goes on, and the option shows in what comes of it.
Python standard library only; started as cli.py is.
"""

import json
import os
import re
import subprocess
import unittest

import driver_helpers
from driver_helpers import DATASETS, run

DATA = os.path.join(DATASETS, "h2o_6-31g.h5")
WATER3 = os.path.join(DATASETS, "fmo2", "water3_sto-3g.json")
ETHANE = os.path.join(DATASETS, "fmo2", "ethane_sto-3g.json")
PDB = os.path.join(DATASETS, "fmo2", "gly4.pdb")
WATER = os.path.join(DATASETS, "xyz", "water001.xyz")

# Of each kind of run its line, and how it is called where an option is refused.
KINDS = {"build": ([DATA], "in a build"), "batch": ([DATA, "--batch"], "with --batch"),
         "scf": ([DATA, "--scf"], "with --scf"), "scf batch": ([DATA, "--scf", "--batch"], "with --scf --batch"),
         "fmo": ([WATER3, "--fmo"], "with --fmo")}
WORDS = {"builds": {"build", "batch"}, "builds without --batch": {"build"}, "--batch without --scf": {"batch"},
         "--scf": {"scf", "scf batch"}, "--scf without --batch": {"scf"}, "--scf --batch": {"scf batch"},
         "--fmo": {"fmo"}}
ALL = set(KINDS)

# A value of each option, with what else has to stand on the line. FILE is a file that is written.
VALUES = {
    "mode": ["fused"], "cutoff": ["1e-11"], "threads": ["2"], "reduce": ["atomic", "--mode", "cpu"],
    "scatter": ["fixed", "--mode", "cpu"], "commit": ["cas", "--mode", "fused"],
    "integrals": ["stored", "--mode", "cpu"], "coulomb": ["direct", "--mode", "cpu"],
    "no-overlap": ["--mode", "split"], "gpus": ["1", "--mode", "fused"], "memory": ["1G"], "repeat": ["3"],
    "batch": [], "check": [], "output": ["FILE"], "keep": ["all", "--output", "FILE"], "force": ["--output", "FILE"],
    "profile": ["=table"], "basis": ["6-31g"], "functions": ["spherical", "--basis", "6-31g*"], "unit": ["bohr"], "charge": ["2"],
    "multiplicity": ["1"], "guess": ["core"], "max-cycles": ["150"], "convergence": ["1e-5"],
    "gradient-convergence": ["1e-2"], "level-shift": ["0.2"], "diis-size": ["1"], "rebuild-cycles": ["0"],
    "linear-dependence": ["0.1"], "solver": ["purify"], "uhf": [], "forces": [], "rohf": ["--charge", "1", "--multiplicity", "2"], "guess-mix": ["--uhf"], "stability": ["=check"], "molden": ["FILE"],
    "per-fragment": ["2", "--basis", "sto-3g"], "exact-field": [], "iterations": ["2"],
    "field-convergence": ["1e-4"], "hybrids": [os.path.join(DATASETS, "hybrids", "sto-3g.json")], "state": ["FILE"],
    "resume": ["--state", "FILE"], "densities": ["--output", "FILE"], "pairs": ["FILE"], "heat-map": ["FILE"],
    "html": ["FILE"], "cpf": ["FILE"], "ligand": ["#2"], "ligands": ["ligands.json", "--basis", "sto-3g"], "quiet": [],
    "charges": ["charges.txt"]}
# Options that choose the kind, and those that run nothing.
OTHERS = {"scf", "fmo", "help", "version"}
# Effects that the JSON of a small run does not show: on time, memory and bits (accumulate_api, accumulate_batch),
# on what only a GPU does (gpu_fock), on what stands in files (tests/scf/cli.py), on files in the way (files.py).
UNSEEN = {"memory", "coulomb", "scatter", "keep", "max-cycles", "commit", "no-overlap", "gpus", "force", "hybrids"}
UNSEEN_OF = {"fmo": {"reduce", "integrals", "rebuild-cycles"},
             "scf": {"reduce"}, "scf batch": {"reduce"}}
TIMES = re.compile(r"seconds|share$|per_second|^revision$|^host$|repeat_difference|resumed_iterations")


def timeless(value):
    """A profile without its times."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if not TIMES.search(key)}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def table():
    """Of each option in --help where it has an effect: kinds, modes, files, companion."""
    text = run("--help").out
    rows = {}
    for block in re.split(r"(?m)^  (?=-\w, --|    --)", text)[1:]:
        name = re.search(r"--([a-z-]+)", block).group(1)
        first = re.split(r"(?m)^ {26}\S+ {2,}|\n\n", block)[0]
        places = re.findall(r"\(([^()]*)\)", " ".join(first.split()))
        row = {"kinds": ALL, "modes": set(), "inputs": set(), "needs": None}
        for part in (places[-1] if places else "").split("; "):
            if part.startswith("--mode "):
                row["modes"] = set(re.split(", | or ", part[7:]))
            elif part.startswith("with --"):
                row["needs"] = part[7:]
            elif re.search("files|systems|data sets", part):
                row["inputs"] = set(part.split(" or "))
            elif all(word in WORDS for word in part.split(" or ")):
                row["kinds"] = set().union(*(WORDS[word] for word in part.split(" or ")))
        rows[name] = row
    return rows


class Matrix(driver_helpers.Case):
    def line(self, name, kind):
        """The run without the option, and the option with its value."""
        line = list(KINDS[kind][0])
        value = [self.path("x") if word == "FILE" else word for word in VALUES[name]]
        with_value = name not in ("no-overlap", "batch", "check", "exact-field", "resume", "densities", "quiet", "force", "uhf",
                                       "rohf", "guess-mix", "forces")
        own = value[:1] if with_value else []
        rest = value[len(own):]
        if "scf" in kind and name in ("basis", "functions"):
            line[0] = WATER
        if "scf" in kind and name == "resume":
            rest[0] = "--output"
        if "scf" in kind and name == "unit":
            line[0], rest = WATER, ["--basis", "6-31g"]
        if "scf" in kind and name == "multiplicity":
            line[0], rest = self.path("o2.xyz"), ["--basis", "sto-3g"]
            with open(line[0], "w", encoding="ascii") as file:
                file.write("2\n\nO 0 0 0\nO 0 0 1.2\n")
        if name == "integrals" and "scf" in kind:
            own = ["direct"]
        if name == "per-fragment":
            line[0] = PDB
            rest += ["--iterations", "1"]
        if name == "ligands":
            line[0], own = PDB, [self.path("ligands.json")]
            rest += ["--iterations", "1"]
            with open(own[0], "w", encoding="ascii") as file:
                file.write('{"LIG": {"charge": 0}}')
        if name == "charges":
            own = [self.path("charges.txt")]
            with open(own[0], "w", encoding="ascii") as file:
                file.write("1 5 0 0\n")
        if name == "hybrids":
            line[0] = ETHANE
        if name == "linear-dependence" and kind == "fmo":
            rest += ["--basis", "6-31g"]
        option = [f"--{name}{own[0]}"] if own and own[0].startswith("=") else [f"--{name}", *own]
        return line, option, rest

    def outcome(self, line):
        """Exit code, the document without times, and the sizes of the files written."""
        result = run(*line, "--threads", "1", "--profile=json")
        self.assertNotEqual(result.code, 2, f"{line}: {result}")
        document = timeless(json.loads(result.out)) if result.out.startswith("{") else result.out
        sizes = {name: os.path.getsize(self.path(name)) for name in os.listdir(self.folder)}
        return result.code, document, sizes, result.err

    def clear(self):
        if os.path.exists(self.path("x")):
            os.remove(self.path("x"))

    def shows(self, name, kind):
        """Checks that the option has an effect."""
        line, option, rest = self.line(name, kind)
        self.clear()
        if name == "quiet":
            self.assertLess(len(run(*line, *option).out), len(run(*line).out))
            return
        if name == "profile":
            self.assertIn("  revision  ", run(*line, "--profile").out)
            return
        if name == "per-fragment":
            counts = [re.search(r"  fragments  (\d+)", run(*line, *rest, *more).out).group(1) for more in ([], option)]
            self.assertNotEqual(*counts)
            return
        if name == "ligands":
            self.assertIn("  notice     no residue is named LIG", run(*line, *option, *rest).out)
            return
        if name == "threads":
            self.assertIn('"threads": 2', run(*line, *option, *rest, "--profile=json").out)
            return
        before = self.outcome([*line, *rest, *(["--basis", "sto-3g"] if name == "basis" and line[0] == WATER else [])])
        if name == "resume" and kind == "scf batch":
            self.assertIn("restored", json.loads(run(*line, *rest, *option, "--profile=json").out)["builds"][0])
            return
        if name == "resume":
            self.assertGreater(json.loads(run(*line, *rest, *option, "--profile=json").out)
                               ["systems"][0]["resumed_iterations"], 0)
            return
        self.clear()
        after = self.outcome([*line, *option, *rest])
        if name in UNSEEN or name in UNSEEN_OF.get(kind, ()):
            return
        self.assertNotEqual(before, after, f"{name} with {kind}: nothing comes of it")

    def test_table(self):
        """The table of --help has every option, and this test a value of each."""
        self.assertEqual(set(table()), set(VALUES) | OTHERS)

    def test_kinds(self):
        for name, row in table().items():
            for kind in KINDS if name in VALUES else ():
                with self.subTest(option=name, kind=kind):
                    line, option, rest = self.line(name, kind)
                    if kind in row["kinds"] and not (kind == "fmo" and row["modes"] == {"split"}):
                        if not (name == "batch" and "batch" in kind):
                            self.shows(name, kind)
                        continue
                    result = run(KINDS[kind][0][0], *KINDS[kind][0][1:], *option)
                    self.assertFails(result, 2, f"^fmo-driver: --{name} has no effect {KINDS[kind][1]}(:|,)")

    def test_modes(self):
        for name, row in table().items():
            for mode in ("cpu", "fused", "split", "reference") if row["modes"] else ():
                for kind in row["kinds"] - {"fmo"}:
                    line, option, _ = self.line(name, kind)
                    result = run(*line, *option, "--mode", mode)
                    if mode in row["modes"]:
                        self.assertIn(result.code, (0, 4), f"{name}, {mode}, {kind}: {result}")
                    else:
                        self.assertFails(result, 2, f"^fmo-driver: --{name} has no effect in mode {mode}: leave it out")

    def test_files(self):
        """Options for some kinds of files, on the others."""
        lines = {"data sets": ([DATA, "--scf"], {"scf"}), ".xyz files": ([WATER, "--scf", "--basis", "sto-3g"], {"scf"}),
                 "systems of fragments": ([WATER3, "--fmo"], {"fmo"}),
                 "PDB files": ([PDB, "--fmo", "--basis", "sto-3g", "--iterations", "1"], {"fmo"})}
        for name, row in table().items():
            for files, (line, kinds) in lines.items() if row["inputs"] else ():
                fits = files in row["inputs"] or (files == "PDB files" and "systems of fragments" in row["inputs"])
                if fits or not kinds & row["kinds"]:
                    continue
                _, option, _ = self.line(name, next(iter(kinds)))
                self.assertFails(run(*line, *option), 2, f"--{name} has no effect on .*: leave it out, or use it with",
                                 line[0])

    def test_companions(self):
        needing = {name: row["needs"] for name, row in table().items() if row["needs"]}
        self.assertEqual(needing, {"keep": "output", "densities": "output"})
        for name, other in needing.items():
            kind = sorted(table()[name]["kinds"])[0]
            line, option, _ = self.line(name, kind)
            self.assertFails(run(*line, *option), 2, f"--{name} has no effect without --{other}: add it")
        self.assertFails(run(DATA, "--quiet", "--profile"), 2, "--profile has no effect with --quiet")
        self.assertFails(run(WATER3, "--fmo", "--hybrids", "x"), 3, "--hybrids has no effect on a system without cut")

    def test_profile(self):
        """--profile prints host, GPU and revision for every kind of run."""
        for line, _ in KINDS.values():
            result = run(*line, "--profile")
            self.assertRuns(result)
            self.assertRegex(result.out, r"(?m)^  profile\n  host  .*\n(  device .*\n)?  revision ")

    def test_files_say_what_is_run(self):
        """One message with all that is missing."""
        self.assertFails(run(PDB, "--basis", "sto-3g"), 2, "system of fragments: add --fmo$", PDB)
        self.assertFails(run(PDB), 2, "add --fmo --basis NAME$", PDB)
        self.assertFails(run(PDB, "--scf"), 2, "add --fmo --basis NAME, and leave out --scf$", PDB)
        self.assertFails(run(PDB, "--scf", "--basis", "sto-3g"), 2, "add --fmo, and leave out --scf$", PDB)
        self.assertFails(run(WATER3, "--iterations", "9"), 2, "add --fmo$", WATER3)
        self.assertFails(run(WATER), 2, "add --scf --basis NAME$", WATER)
        self.assertFails(run(WATER, "--charge", "1", "--basis", "sto-3g"), 2, "add --scf$", WATER)

    def test_ranks(self):
        mpirun = os.environ.get("FMO_MPIEXEC")
        if not mpirun:
            self.skipTest("no MPI")
        done = subprocess.run([mpirun, "-np", "2", driver_helpers.DRIVER, DATA, "--gpus", "1"], capture_output=True,
                              text=True, check=False,
                              env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--gpus has no effect under mpirun", done.stderr)


if __name__ == "__main__":
    unittest.main()
