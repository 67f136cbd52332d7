"""fmo-driver --scf --batch for people who make data sets: interrupted and continued batches, extended .xyz,
folders, the standard input, broken frames, units and ghost atoms. Standard library only (h5py and ASE where they
are installed); started as tests/driver/cli.py is.

    FMO_DRIVER=.../fmo-driver FMO_SOURCE=.. python3 datasets.py [CLASS]...
"""

import fcntl
import gzip
import json
import os
import random
import re
import resource
import shutil
import subprocess
import time
import unittest

import driver_helpers
from driver_helpers import DATASETS, DRIVER, SMALL, SOURCE, digest, run, validate

WATER = os.path.join(DATASETS, "xyz", "water001.xyz")
BATCH = ["--scf", "--batch", "--basis", "sto-3g", "--mode", "cpu", "--scatter", "fixed", "--threads", 2]
EV = 27.211386024367243


def water(k, symbol="O", comment=None):
    """A water whose shape depends on k."""
    comment = f"name=w{k} of a set" if comment is None else comment
    return (f"3\n{comment}\n{symbol} 0 0 0.1173\nH 0 0.7572 {-0.4692 - 0.0007 * k:.6f}\nH 0 -0.7572 -0.4692\n")


def energies(text):
    return dict(re.findall(r"(?m)^(.*): SCF: (-\d+\.\d+) hartree", text))


class Set(driver_helpers.Case):
    def write(self, name, *frames):
        path = self.path(name)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write("".join(frames))
        return path

    def molecules(self, path):
        result = run("molecules", path, program=driver_helpers.H5)
        self.assertEqual(result.code, 0, str(result))
        return [line.split("|") for line in result.out.splitlines()]


class Resume(Set):
    """A batch that is killed loses nothing, computes nothing twice, and ends in the same file."""

    COUNT = 150

    def frames(self, count=COUNT):
        return [water(k, "Qq" if k % 50 == 7 else "O") for k in range(count)]

    def killed(self, line, lines=None, seconds=0.0):
        """Runs a command that is killed some time after it has printed some lines; exit code and what it printed."""
        with subprocess.Popen([DRIVER, *map(str, line)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              stdin=subprocess.DEVNULL) as process:
            out = b"".join(process.stdout.readline() for _ in range(lines or 0))
            try:
                process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
            out += process.stdout.read()
            process.wait()
            return process.returncode, out.decode()

    def check(self, suffix, *more):
        """A batch that is killed and resumed many times gives the results of a complete run."""
        path, whole, out = self.write("many.xyz", *self.frames()), self.path("whole" + suffix), self.path("out" + suffix)
        line = [path, *BATCH, *more]
        begin = time.monotonic()
        complete = run(*line, "--output", whole, "--quiet")
        seconds = time.monotonic() - begin
        self.assertEqual(complete.code, 3, str(complete))
        self.assertEqual(sorted(os.listdir(self.folder)), ["many.xyz", "whole" + suffix])
        draw, seen, kills = random.Random(11), {}, 0
        for k in range(12):
            lines, wait = (draw.randint(1, 20), 0.01 * draw.random()) if k % 3 else (0, draw.random() * seconds)
            code, text = self.killed([*line, "--output", out, "--quiet", *(["--resume"] if k else [])], lines, wait)
            found = energies(text)
            self.assertEqual(len(set(found) & set(seen)), 0, "a molecule was computed twice")
            seen.update(found)
            kills += code == -9
            if os.path.exists(out):
                break
        if os.path.exists(out):
            self.assertEqual(digest(out), digest(whole), "a file of a part of the molecules")
        result = run(*line, "--output", out, "--resume", "--force")
        if suffix == ".h5" or "is complete" not in result.err:
            self.assertEqual(result.code, 3, str(result))
            earlier = int((re.search(r"; (\d+) more from an earlier run$", result.out, re.M) or [0, 0])[1])
            now = int(re.search(r"(?m)^  batch +(\d+) molecule", result.out)[1])
            self.assertEqual(earlier + now, self.COUNT - 3, str(result))
            self.assertGreaterEqual(earlier, len(seen), "a finished result was lost")
        self.assertGreater(kills, 0)
        self.assertEqual(digest(out), digest(whole))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["many.xyz", "out" + suffix, "whole" + suffix]))

    def test_killed(self):
        self.check(".h5", "--keep", "all")

    def test_killed_extxyz(self):
        self.check(".extxyz")

    def half(self, *more):
        """A checkpoint of some molecules of many.xyz, and the line that made it."""
        path, out = self.write("many.xyz", *self.frames()), self.path("out.h5")
        line = [path, *BATCH, "--output", out]
        for _ in range(9):
            code, _ = self.killed([*line, "--quiet", *more, "--force"], 30)
            if code == -9 and os.path.exists(out + ".checkpoint") and not os.path.exists(out):
                return line, out
            for left in (out, out + ".checkpoint"):
                if os.path.exists(left):
                    os.remove(left)
        raise AssertionError("no kill came in time")

    def test_nothing_is_replaced(self):
        line, out = self.half()
        before = digest(out + ".checkpoint")
        self.assertFails(run(*line), 3, "out.h5.checkpoint: holds the results of an interrupted run: add --resume .* or --force")
        self.assertFails(run(*line, "--resume", "--max-cycles", 7), 3, "have another --max-cycles; give the options of that run")
        self.assertFails(run(*line, "--resume", "--basis", "6-31g"), 3, "have another --basis;")
        self.assertEqual(digest(out + ".checkpoint"), before)
        self.assertEqual(run(*line, "--force").code, 3)
        self.assertFalse(os.path.exists(out + ".checkpoint"))

    def test_torn_record(self):
        """What a killed process has left incomplete, or a disk has damaged, is computed again."""
        for cut in ("short", "damaged", "head", "tail"):
            line, out = self.half()
            with open(out + ".checkpoint", "r+b") as file:
                size = file.seek(0, 2)
                if cut == "short":
                    file.truncate(size - 11)
                elif cut == "head":
                    file.truncate(40)
                elif cut == "tail":
                    file.write(b"fmo-rec\0" + b"\xff" * 3000)
                else:
                    file.seek(size // 2)
                    file.write(b"12345678")
            result = run(*line, "--resume")
            self.assertEqual(result.code, 3, str(result))
            self.assertEqual([m[2] == "nan" for m in self.molecules(out)], [k % 50 == 7 for k in range(self.COUNT)])
            whole = self.path("whole.h5")
            self.assertEqual(run(*line[:-1], whole).code, 3)
            self.assertEqual(digest(out), digest(whole), cut)

    def test_other_file_in_the_way(self):
        path, out = self.write("two.xyz", water(1), water(2)), self.path("out.h5")
        self.write("out.h5.checkpoint", "mine")
        for more in ([], ["--resume"], ["--force"]):
            self.assertFails(run(path, *BATCH, "--output", out, *more), 3, "out.h5.checkpoint: is not a checkpoint")
        with open(out + ".checkpoint", encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")

    def test_nothing_computed_leaves_nothing(self):
        """After a slip in the name of an input the corrected command needs no --resume."""
        path, out = self.write("two.xyz", water(1), water(2)), self.path("out.h5")
        for wrong in (self.path("twoo.xyz"), self.write("empty.xyz")):
            self.assertEqual(run(wrong, *BATCH, "--output", out).code, 3)
            self.assertFalse(os.path.exists(out + ".checkpoint"))
        self.assertEqual(run(path, *BATCH, "--output", out).code, 0)

    def test_two_at_a_time(self):
        line, out = self.half()
        with open(out + ".checkpoint", "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.assertFails(run(*line, "--resume"), 3, "another process is writing it")

    def test_signal_says_how_to_continue(self):
        path, out = self.write("many.xyz", *self.frames(400)), self.path("out.h5")
        with subprocess.Popen([DRIVER, path, *map(str, BATCH), "-b", "6-31g*", "-o", out], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            while b"frame 3" not in process.stdout.readline():
                pass
            process.terminate()
            _, err = process.communicate()
        self.assertEqual(process.returncode, -15)
        self.assertRegex(err.decode().splitlines()[-1], r"interrupted: .*out.h5.checkpoint: add --resume to continue$")

    def test_repaired_and_longer_input(self):
        """After a complete run --resume computes only what is new."""
        out = self.path("out.h5")
        path = self.write("set.xyz", water(1), water(2, "Qq"), water(3))
        self.assertEqual(run(path, *BATCH, "--output", out).code, 3)
        same = digest(out)
        result = run(path, *BATCH, "--output", out, "--resume")
        self.assertRegex(result.out, r"batch +0 molecules .*; 1 failed; 2 more from an earlier run")
        self.assertEqual((result.code, digest(out)), (3, same))
        path = self.write("set.xyz", water(1), water(2), water(3), water(4), water(1))
        result = run(path, *BATCH, "--output", out, "--resume")
        self.assertRuns(result)
        self.assertRegex(result.out, r"batch +2 molecules .*; 3 more from an earlier run")
        whole = self.path("whole.h5")
        self.assertRuns(run(path, *BATCH, "--output", whole))
        self.assertEqual(digest(out), digest(whole))
        document = json.loads(run(path, *BATCH, "--output", out, "--resume", "--profile=json").out)
        with open(os.path.join(SOURCE, "docs", "reference", "profile.schema.json"), encoding="utf-8") as file:
            schema = json.load(file)
        self.assertEqual(validate(document, schema, schema), [])
        self.assertEqual([build["restored"]["converged"] for build in document["builds"]], [True] * 5)

    def test_not_converged_stays(self):
        path, out = self.write("set.xyz", water(1), water(2)), self.path("out.h5")
        line = [path, *BATCH, "--max-cycles", 3, "--output", out]
        for more in ([], ["--resume"]):
            result = run(*line, *more)
            self.assertEqual(result.code, 1, str(result))
            self.assertEqual(len(re.findall("set.xyz frame [12]: SCF not converged in 3", result.err)), 2, result.err)

    def test_usage(self):
        self.assertFails(run(WATER, *BATCH, "--resume"), 2, "--resume has no effect without --output")
        self.assertFails(run(SMALL, "--scf", "--resume", "--output", "x"), 2, "--resume has no effect with --scf:")
        out = self.path("out.xyz")
        self.assertRuns(run(WATER, *BATCH, "--output", out))
        self.assertFails(run(WATER, *BATCH, "--output", out, "--resume"), 3, "is complete, and extended .xyz cannot be continued")


class ExtXyz(Set):
    def test_content(self):
        """Comments of frames in extended .xyz format are written again, with energies and other results."""
        comments = ["", "0 1", "charge=2 name=\"the first\" energy=-1.5 config_type=a pbc='F F F' flag", 'a "quoted\\ word',
                    "Properties=species:S:1:pos:R:3 Lattice=\"9 0 0 0 9 0 0 0 9\" pbc=\"F F F\" unit=angstrom x={1 2} tab\tend"]
        path = self.write("in.extxyz", *(water(k, comment=c) for k, c in enumerate(comments)), water(5, "Qq"))
        out, h5 = self.path("out.extxyz"), self.path("out.h5")
        result = run(path, *BATCH, "--quiet", "--output", out)
        self.assertEqual(result.code, 3, str(result))
        found = energies(result.out)
        with open(out, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(len(lines), 5 * len(comments))
        tails = ["", ' comment="0 1"', ' name="the first" input_energy=-1.5 config_type=a comment="flag"',
                 ' comment="a \\"quoted\\\\ word"', ' Lattice="9 0 0 0 9 0 0 0 9" x={1 2} comment="tab end"']
        for k, expected in enumerate(tails):
            head = lines[5 * k + 1]
            self.assertTrue(head.startswith("Properties=species:S:1:pos:R:3:charges:R:1 fmo_version="), head)
            energy = float(re.search(r" energy=(\S+)", head)[1])
            self.assertAlmostEqual(energy, EV * float(found[f"{path} frame {k + 1}"]), delta=1e-8)
            self.assertEqual(energy, float(re.search(r" REF_energy=(\S+)", head)[1]))
            self.assertIn(f" charge={2 if k == 2 else 0} multiplicity=1 pbc=\"F F F\" method=RHF basis=\"STO-3G\" ", head)
            self.assertEqual(head.split(f" frame={k + 1}")[1], expected)
            self.assertRegex(lines[5 * k + 2], r"^O +0.0000000000 +0.0000000000 +0.1173000000 +-?\d\.\d{6}$")
        # what was written is read, gives the same energies, and is replaced as a file of fmo
        again = run(out, *BATCH, "--quiet", "--output", h5)
        self.assertRuns(again)
        for k in range(len(comments)):
            self.assertAlmostEqual(float(energies(again.out)[f"{out} frame {k + 1}"]),
                                   float(found[f"{path} frame {k + 1}"]), delta=1e-8)
        self.assertEqual(run(path, *BATCH, "--output", out).code, 3)
        self.assertFails(run(SMALL, *BATCH[:2], "--output", out.replace("out", "in")), 3, "not written by fmo")

    def test_ase(self):
        try:
            import ase.io
        except ImportError:
            self.skipTest("ASE is not installed")
        path, out = self.write("in.xyz", water(1, comment='name=x "odd" {'), water(2)), self.path("out.xyz")
        result = run(path, *BATCH, "--quiet", "--output", out)
        self.assertRuns(result)
        for atoms, energy in zip(ase.io.read(out, ":", format="extxyz"), (f"{path} frame 1", f"{path} frame 2")):
            self.assertAlmostEqual(atoms.get_potential_energy(), EV * float(energies(result.out)[energy]), delta=1e-8)
            self.assertEqual(atoms.get_chemical_symbols(), ["O", "H", "H"])
            self.assertFalse(atoms.pbc.any())

    def test_h5py(self):
        """The example of docs/reference/results.md."""
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("h5py is not installed")
        with open(os.path.join(SOURCE, "docs", "reference", "results.md"), encoding="utf-8") as file:
            code = re.search(r"```python\n(import h5py.*?)```", file.read(), re.S)[1]
        path = self.write("in.xyz", water(1), water(2, "Qq"), water(3))
        self.assertEqual(run(path, *BATCH, "--output", self.path("all.h5")).code, 3)
        found = {}
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            exec(code, found)  # pylint: disable=exec-used
        finally:
            os.chdir(here)
        self.assertEqual(len(found["energies"]), 2)
        self.assertEqual(found["comments"], ["name=w1 of a set", "name=w3 of a set"])
        self.assertEqual(found["geometries"][0].shape, (3, 3))

    def test_usage(self):
        self.assertFails(run(WATER, "--scf", "--basis", "sto-3g", "--output", "x.xyz"), 2, "extended .xyz is written by --scf --batch alone")
        self.assertFails(run(SMALL, "--output", "x.extxyz"), 2, "extended .xyz is written by --scf --batch alone")
        self.assertFails(run(WATER, *BATCH, "--output", "x.xyz", "--keep", "all"), 2, "--keep has no effect on extended .xyz")


class Inputs(Set):
    def pipe(self, data, *line):
        result = subprocess.run([DRIVER, *map(str, line)], input=data, capture_output=True, check=False)
        return driver_helpers.Result(result.returncode, result.stdout.decode(), result.stderr.decode(),
                                     resource.getrusage(resource.RUSAGE_CHILDREN))

    def test_standard_input(self):
        with open(WATER, "rb") as file:
            text = file.read()
        with open(SMALL, "rb") as file:
            data = file.read()
        one = run(WATER, "--scf", "--basis", "sto-3g", "--quiet").out
        self.assertEqual(self.pipe(text, "-", "--scf", "--basis", "sto-3g", "--quiet").out, one)
        self.assertEqual(self.pipe(text, "-", *BATCH, "--quiet").out.split(": ", 1)[1], one)
        self.assertEqual(self.pipe(data, "-", "--quiet").out, run(SMALL, "--quiet").out)
        self.assertEqual(self.pipe(data, "-", "--scf", "--quiet").out, run(SMALL, "--scf", "--quiet").out)
        with open(WATER, "rb") as file:
            self.assertEqual(subprocess.run([DRIVER, "-", "--scf", "-b", "sto-3g", "-q"], stdin=file, capture_output=True,
                                            check=False).stdout.decode(), one)
        self.assertFails(self.pipe(b"", "-", *BATCH), 3, "standard input: the file is empty")
        self.assertFails(self.pipe(gzip.compress(text), "-", *BATCH), 3, r"standard input: is compressed; unpack it first \(gunzip\)")
        self.assertFails(self.pipe(text, "-"), 2, "a geometry has no density")

    def test_folder(self):
        folder = self.path("set")
        os.mkdir(folder)
        for k in (10, 9, 2):
            self.write(f"set/w{k}.xyz", water(k))
        self.write("set/x.extxyz", water(1), water(3))
        self.write("set/notes.txt", "notes")
        self.write("set/.hidden.xyz", "hidden")
        out = self.path("out.h5")
        self.assertRuns(run(folder, *BATCH, "--output", out))
        self.assertEqual([(os.path.basename(m[0]), m[1]) for m in self.molecules(out)],
                         [("w2.xyz", "0"), ("w9.xyz", "0"), ("w10.xyz", "0"), ("x.extxyz", "1"), ("x.extxyz", "2")])
        self.assertFails(run(folder, "--scf", "--batch"), 2, "a folder without .h5 files: name another, or add --basis")
        self.assertFails(run(folder, "--scf", "--basis", "sto-3g"), 2, "is a folder: add --batch")

    def test_compressed(self):
        path = self.path("set.xyz.gz")
        with gzip.open(path, "wt") as file:
            file.write(water(1))
        self.assertFails(run(path, *BATCH), 2, r"is compressed: unpack it, or pipe it: zcat \S+ \| fmo-driver -")
        shutil.copy(path, self.path("set.xyz"))
        self.assertFails(run(self.path("set.xyz"), *BATCH), 3, r"is compressed; unpack it first \(gunzip\)")

    def test_unit(self):
        bohr = "2\n{}\nH 0 0 0\nH 0 0 1.4\n"
        angstrom = self.write("a.xyz", f"2\n\nH 0 0 0\nH 0 0 {1.4 * 0.52917721092:.15f}\n")
        expected = run(angstrom, *BATCH, "--quiet").out.split(": ", 1)[1]
        for comment, more in (("", ["--unit", "bohr"]), ("unit=bohr", []), ("units: bohr", []), ("unit=angstrom", ["--unit", "bohr"])):
            for batch in (BATCH, [word for word in BATCH if word != "--batch"]):
                result = run(self.write("b.xyz", bohr.format(comment)), *batch, "--quiet", *more)
                self.assertRuns(result)
                self.assertEqual(result.out[result.out.index("SCF"):], expected[expected.index("SCF"):], comment)
        self.assertFails(run(SMALL, "--scf", "--unit", "bohr"), 2, "--unit has no effect on a data set")

    def test_ghost(self):
        """The counterpoise energy of a water with the functions of another: PySCF 2.14, ghost-O, ghost-H."""
        path = self.write("cp.xyz", "6\n\nO 0 0 0.1173\nH 0 0.7572 -0.4692\nH 0 -0.7572 -0.4692\nGh(O) 0 0 3.1173\n"
                                    "H-Bq 0 0.7572 2.5308\n@H 0 -0.7572 2.5308\n")
        result = run(path, *BATCH, "--basis", "6-31g", "--quiet")
        self.assertRuns(result)
        self.assertAlmostEqual(float(list(energies(result.out).values())[0]), GHOST_ENERGY, delta=1e-8)
        out = self.path("out.xyz")
        self.assertRuns(run(path, *BATCH, "--output", out))
        with open(out, encoding="ascii") as file:
            self.assertEqual([line.split()[0] for line in file.read().splitlines()[2:]], ["O", "H", "H", "X", "X", "X"])

    def test_impossible_spins_are_named_first(self):
        radical = "1\nmultiplicity=3\nO 0 0 0\n"
        odd = "2\n\nO 0 0 0\nH 0 0 1\n"
        path = self.write("set.xyz", water(1), odd, odd, odd, water(2), radical, "2\ncharge=-1\nO 0 0 0\nH 0 0 1\n")
        other = self.write("one.xyz", odd)
        result = run(path, other, *BATCH, "--quiet")
        self.assertEqual(result.code, 3, str(result))
        self.assertEqual(result.err.splitlines()[0],
                         "fmo-driver: notice: 4 of 8 molecules will not be computed, because their multiplicity does not fit "
                         f"their electrons: {path} frame 2 to 4; {other}")
        self.assertEqual(len(result.err.splitlines()), 5)
        self.assertEqual(len(energies(result.out)), 4)


class Frames(Set):
    """A broken frame costs itself alone: of each file the frames that have an energy."""

    def test_broken(self):
        """A wrong frame fails alone; the frames around it are computed."""
        w, bad = water, "3\nbroken\n{}\nH 0 0.7 0.6\nH 0 -0.7 0.6\n"
        cases = {"element": (w(0), bad.format("Qq 0 0 0"), w(1)), "columns": (w(0), bad.format("O 0 0"), w(1)),
                 "nan": (w(0), bad.format("O nan 0 0"), w(1)), "inf": (w(0), bad.format("O 0 -inf 0"), w(1)),
                 "words": (w(0), bad.format("O a b c"), w(1)), "empty atom": (w(0), bad.format(""), w(1)),
                 "stars": (w(0), bad.format("O ******** 0 0"), w(1)),
                 "count low": (w(0), w(1).replace("3", "2", 1), w(2)), "count high": (w(0), w(1).replace("3", "4", 1), w(2)),
                 "count far too high": (w(0), w(1).replace("3", "8", 1), w(2), w(3)),
                 "count huge": (w(0), w(1).replace("3", "999999999999999999999", 1), w(2)),
                 "count negative": (w(0), w(1).replace("3", "-3", 1), w(2)), "count real": (w(0), w(1).replace("3", "3.0", 1), w(2)),
                 "zero atoms": (w(0), "0\nnothing\n", w(1)), "no comment": (w(0), w(1).replace("name=w1 of a set\n", ""), w(2)),
                 "cut": (w(0), "3\ncut\nO 0 0 0\n", w(1)), "crystal": (w(0), w(1, comment='pbc="T T T"'), w(2)),
                 "one place": (w(0), "3\n\nO 0 0 0\nO 0 0 0\nH 0 0 1\n", w(1)),
                 "charge": (w(0), w(1, comment="charge=0.5"), w(2)), "garbage": (w(0), "#!/bin/sh\nexit 3\n", w(1)),
                 "blank lines": (w(0), "\n \n\n", w(1)), "three in a row": (w(0), *(bad.format("Qq 0 0 0"),) * 3, w(1)),
                 "first": (bad.format("Qq 0 0 0"), w(0), w(1)), "last": (w(0), w(1), bad.format("Qq 0 0 0")),
                 "CRLF": tuple(x.replace("\n", "\r\n") for x in (w(0), bad.format("Qq 0 0 0"), w(1))),
                 "byte order marks": ("\ufeff" + w(0), "\ufeff" + bad.format("Qq 0 0 0"), "\ufeff" + w(1))}
        good_of = {"blank lines": [1, 2], "count far too high": [1, 3, 4], "three in a row": [1, 5], "first": [2, 3], "last": [1, 2]}
        for name, frames in cases.items():
            with self.subTest(name):
                path, out = self.write("broken.xyz", *frames), self.path("out.h5")
                result = run(path, *BATCH, "--quiet", "--output", out, "--force")
                good = good_of.get(name, [1, 3])
                self.assertEqual(sorted(int(key.rsplit(" ", 1)[1]) for key in energies(result.out)), good, str(result))
                found = self.molecules(out)
                bad_num = len(found) - len(good)
                self.assertEqual(result.code, 3 if bad_num else 0, str(result))
                self.assertEqual(len(result.err.splitlines()), bad_num, result.err)
                for line in result.err.splitlines():
                    self.assertRegex(line, rf"^fmo-driver: {re.escape(path)}: frame \d+: .*\(lines \d+ to \d+ are skipped\)$")

    def test_one_name_twice(self):
        path, out = self.write("a.xyz", water(1)), self.path("out.h5")
        self.assertRuns(run(path, path, *BATCH, "--output", out))
        found = self.molecules(out)
        self.assertEqual(len(found), 2)
        self.assertEqual(found[0], found[1])


GHOST_ENERGY = -75.984712112761

if __name__ == "__main__":
    unittest.main()
