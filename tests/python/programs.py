"""The Python module under other programs: ASE, QCElemental and QCEngine, and as a program. Started as module.py is.
"""

import contextlib
import copy
import csv
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from unittest import mock

# first: it may start another Python
from helpers import SOURCE, Case, main, needs

import numpy as np

import fmo
from fmo import _driver

XYZ = os.path.join(SOURCE, "datasets", "xyz")
WATER_BOHR = [0, 0, 0.2, 0, 1.43, -0.886, 0, -1.43, -0.886]
WANTED = {"schema_name": "qcschema_input", "schema_version": 1, "driver": "energy", "keywords": {},
          "molecule": {"symbols": ["O", "H", "H"], "geometry": WATER_BOHR},
          "model": {"method": "hf", "basis": "sto-3g"}}


@needs("ase")
class Ase(Case):
    def test_ethanol(self):
        """Three lines, and the minimum that PySCF's gradients find there, too."""
        from ase.build import molecule
        from ase.optimize import BFGS
        from fmo.ase import FMO
        atoms = molecule("CH3CH2OH")
        atoms.calc = FMO(basis="sto-3g")
        self.assertTrue(BFGS(atoms, logfile=None).run(fmax=0.05, steps=40))
        from pyscf import gto
        mol = gto.M(atom=list(zip(atoms.get_chemical_symbols(), atoms.positions)), basis="sto-3g", verbose=0)
        mf = mol.RHF().run(conv_tol=1e-11)
        self.assertAlmostEqual(atoms.get_potential_energy() / 27.211386, mf.e_tot, delta=2e-5)
        self.assertLess(np.abs(mf.nuc_grad_method().kernel()).max(), 0.05 / 51.4)
        self.assert_close(atoms.get_forces(), -mf.nuc_grad_method().kernel() * 51.42207, 1e-4)
        self.assert_close(atoms.get_dipole_moment(), mf.dip_moment(unit="AU", verbose=0) * 0.5291772, 1e-4)
        self.assert_close(atoms.get_charges(), mf.mulliken_pop(verbose=0)[1], 1e-4)

    def test_results_are_kept_and_renewed(self):
        """The calculator keeps results as long as nothing changes, and computes new ones after a change."""
        from ase.build import molecule
        from fmo.ase import FMO
        atoms = molecule("H2O")
        atoms.calc = FMO("hf", "sto-3g", threads=1)
        first = atoms.get_potential_energy()
        with self.assertNoLogs("fmo", "INFO") if hasattr(self, "assertNoLogs") else self.subTest():
            self.assertEqual(atoms.get_potential_energy(), first)
        forces = atoms.get_forces()
        twin = atoms.copy()
        twin.calc = FMO("fmo2", "sto-3g", threads=1)
        with self.assertLogs("fmo", "INFO") as log:
            self.assert_close(twin.get_forces(), forces, 1e-3)
        self.assertIn("central differences", "".join(log.output))
        atoms.positions[0, 2] += 0.1
        self.assertNotAlmostEqual(atoms.get_potential_energy(), first, delta=1e-3)
        atoms.calc.set(basis="6-31g")
        self.assertLess(atoms.get_potential_energy(), first - 20)
        atoms.calc.set(charge=2)
        charged = atoms.get_potential_energy()
        self.assertAlmostEqual(atoms.get_charges().sum(), 2.0, delta=1e-6)
        self.assertGreater(charged, first)

    def test_fmo2(self):
        from ase.build import molecule
        from fmo.ase import FMO, molecules_of
        atoms = molecule("H2O")
        other = atoms.copy()
        other.translate([0.3, 0, 3])
        atoms = (atoms + other)[[3, 0, 1, 4, 2, 5]]  # the atoms of the molecules mixed
        self.assertEqual(molecules_of(atoms), [[0, 3, 5], [1, 2, 4]])
        atoms.calc = FMO("fmo2", "sto-3g")
        energy, forces = atoms.get_potential_energy(), atoms.get_forces()
        self.assertAlmostEqual(atoms.get_charges().sum(), 0.0, delta=1e-6)
        self.assertRaisesRegex(NotImplementedError, "no dipole moment", atoms.get_dipole_moment)
        atoms.calc = FMO("hf", "sto-3g")
        self.assertAlmostEqual(energy, atoms.get_potential_energy(), delta=1e-5)
        self.assert_close(forces, atoms.get_forces(), 1e-4)

    def test_errors(self):
        """Failures and wrong settings of the calculator raise errors of the right kind."""
        from ase.build import molecule
        from ase.calculators.calculator import SCFError
        from fmo.ase import FMO
        atoms = molecule("H2O")
        atoms.calc = FMO(basis="sto-3g", scf={"max_cycle": 2})
        for kind in (SCFError, fmo.ConvergenceError):
            self.assertRaisesRegex(kind, "not converged in 2 cycles", atoms.get_potential_energy)
        atoms.calc = FMO(basis="sto-3g", scf={"max_cycl": 2})
        self.assertRaisesRegex(fmo.UnknownAttributeError, "did you mean max_cycle", atoms.get_potential_energy)
        atoms.calc = FMO(basis="sto-3g")
        atoms.pbc = True
        self.assertRaisesRegex(fmo.UnsupportedError, "periodic", atoms.get_potential_energy)
        from ase.units import Hartree
        o2 = molecule("O2")  # ASE's has the moments of a triplet
        o2.calc = FMO(basis="sto-3g")
        self.assertAlmostEqual(o2.get_potential_energy() / Hartree,
                               fmo.UHF(fmo.Molecule.from_ase(o2, basis="sto-3g")).run().e_tot, delta=1e-7)
        for change, kind, words in (({"bassis": 1}, fmo.InputTypeError, "did you mean basis"),
                                    ({"treads": 1}, fmo.InputTypeError, "did you mean threads"),
                                    ({"max_cycle": 1}, fmo.InputTypeError, r"attribute of fmo.RHF: scf=\{'max_cycle': ...\}"),
                                    ({"threads": -1}, fmo.InputError, "threads = -1"),
                                    ({"scf": "max_cycle"}, fmo.InputTypeError, "scf: expected a dict"),
                                    ({"method": "mp2"}, fmo.InputError, "expected one of hf, fmo2"),
                                    ({"step": 3}, fmo.InputError, "step = 3")):
            self.assertRaisesRegex(kind, words, FMO, **change)
            self.assertRaisesRegex(kind, words, atoms.calc.set, **change)


class QcSchema(Case):
    def test_energy(self):
        """A result in QCSchema has the energy, properties and provenance of the SCF."""
        from fmo import qcschema
        before = copy.deepcopy(WANTED)
        done = qcschema.run(WANTED, raise_error=True)
        self.assertEqual(WANTED, before)
        mf = fmo.RHF(fmo.Molecule.from_qcschema(WANTED)).run()
        self.assertEqual((done["schema_name"], done["schema_version"], done["success"], done["driver"]),
                         ("qcschema_output", 1, True, "energy"))
        self.assertAlmostEqual(done["return_result"], mf.e_tot, delta=1e-9)
        properties = done["properties"]
        self.assertEqual([properties[name] for name in ("calcinfo_natom", "calcinfo_nbasis", "calcinfo_nmo",
                                                        "calcinfo_nalpha", "calcinfo_nbeta")], [3, 7, 7, 5, 5])
        self.assertAlmostEqual(properties["scf_one_electron_energy"] + properties["scf_two_electron_energy"]
                               + properties["nuclear_repulsion_energy"], mf.e_tot, delta=1e-9)
        self.assert_close(properties["scf_dipole_moment"], mf.dip_moment("AU"), 1e-6)
        self.assertEqual(done["provenance"]["creator"], "fmo")
        json.dumps(done)

    def test_gradient_and_properties(self):
        from fmo import qcschema
        done = qcschema.run({**WANTED, "driver": "gradient"}, raise_error=True)
        mf = fmo.RHF(fmo.Molecule.from_qcschema(WANTED))
        self.assert_close(np.reshape(done["return_result"], (3, 3)), mf.numerical_gradient(), 1e-6)
        self.assertEqual(done["extras"]["gradient"], "analytic")
        wide = qcschema.run({**WANTED, "driver": "gradient", "keywords": {"step": 0.02}}, raise_error=True)
        self.assertEqual(wide["extras"]["gradient"], "central differences of the energy, step 0.02 bohr")
        self.assertGreater(np.abs(np.subtract(wide["return_result"], done["return_result"])).max(), 1e-6)
        done = qcschema.run({**WANTED, "driver": "properties"}, raise_error=True)
        self.assert_close(done["return_result"]["mulliken_charges"], mf.mulliken_charges(), 1e-6)

    def test_failures(self):
        """Each failure is reported in QCSchema with its kind and message."""
        from fmo import qcschema
        cases = (({"driver": "hessian"}, "input_error", "driver = 'hessian': expected one of energy, gradient, prop"),
                 ({"model": {"method": "b3lyp", "basis": "sto-3g"}}, "input_error", "model/method = 'b3lyp'"),
                 ({"model": {"method": "hf", "basis": "sto-3gg"}}, "input_error", "'sto-3gg' is not known"),
                 ({"model": {"method": "hf", "basis": {}}}, "input_error", "model/basis"),
                 ({"keywords": {"max_cycl": 3}}, "input_error", "did you mean max_cycle"),
                 ({"keywords": []}, "input_error", None), ({"keywords": [1]}, "input_error", "keywords: expected an obj"),
                 ({"keywords": {"max_cycle": 2}}, "convergence_error", "not converged in 2 cycles"),
                 ({"keywords": {"memory": 10, "integrals": "stored"}}, "resource_error", "memory"),
                 ({"schema_version": 3}, "input_error", "version 3: expected 'qcschema_input', version 1"),
                 ({"protocols": {"wavefunction": "all"}}, "input_error", "no wavefunctions"),
                 ({"molecule": {"symbols": ["H"], "geometry": [0, 0, 0]}}, "input_error", "odd number"),
                 ({"molecule": {"symbols": ["He"], "geometry": ["x", 0, 0]}}, "input_error", "geometry: expected 3 numbers"),
                 ({"molecule": {"symbols": "He", "geometry": [0, 0, 0]}}, "input_error", "symbols: expected a list"),
                 ({"molecule": "water"}, "input_error", "expected a dict of QCSchema"))
        for change, kind, words in cases:
            with self.subTest(change):
                done = qcschema.run({**WANTED, **change})
                if words is None:
                    self.assertTrue(done["success"])
                    continue
                self.assertEqual((done["success"], done["error"]["error_type"]), (False, kind))
                self.assertIn(words, done["error"]["error_message"])
                self.assertRaises(fmo.Error, qcschema.run, {**WANTED, **change}, True)
                json.dumps(done)
        self.assertEqual(qcschema.run(3)["error"]["error_type"], "input_error")
        self.assertIn("no field 'molecule'", qcschema.run({})["error"]["error_message"])

    @needs("qcelemental")
    def test_models(self):
        import qcelemental
        from fmo import qcschema
        models = getattr(qcelemental.models, "v1", qcelemental.models)
        given = models.AtomicInput(**WANTED)
        done = qcschema.run(given, raise_error=True)
        result = models.AtomicResult(**done)
        self.assertAlmostEqual(result.return_result, qcschema.run(WANTED)["return_result"], delta=1e-9)
        self.assertEqual(result.properties.calcinfo_nbasis, 7)

    @needs("qcengine")
    def test_qcengine(self):
        import qcengine
        from fmo import qcschema
        qcschema.register()
        qcschema.register()
        self.assertIn("fmo", qcengine.list_available_programs())
        expected = qcschema.run({**WANTED, "driver": "gradient"})
        done = qcengine.compute({**WANTED, "driver": "gradient"}, "fmo", raise_error=True, task_config={"ncores": 1})
        self.assert_close(np.ravel(done.return_result), np.ravel(expected["return_result"]), 1e-8)
        self.assertEqual(done.provenance.creator, "fmo")
        for keywords, kind, words in (({"max_cycl": 2}, "input_error", "did you mean max_cycle"),
                                      ({"max_cycle": 2}, "unknown_error", "not converged in 2 cycles")):
            done = qcengine.compute({**WANTED, "keywords": keywords}, "fmo")
            self.assertEqual((done.success, done.error.error_type), (False, kind))
            self.assertIn(words, done.error.error_message)


def program(*arguments, **others):
    return subprocess.run([sys.executable, "-m", "fmo", *arguments], text=True, check=False, env=os.environ,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **others)


class Program(Case):
    def test_energy(self):
        path = os.path.join(XYZ, "water001.xyz")
        mf = fmo.RHF(fmo.Molecule.from_xyz(path)).run()
        done = program("energy", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertAlmostEqual(float(done.stdout.split()[done.stdout.split().index("energy") + 1]), mf.e_tot, delta=1e-8)
        self.assertIn("H2O: 3 atoms, 10 electrons, 6-31g*, 19 Cartesian functions", done.stdout)
        told = json.loads(program("energy", path, "--json", "--basis", "sto-3g", "--charge", "2").stdout)
        self.assertAlmostEqual(told["energy"], fmo.RHF(fmo.Molecule.from_xyz(path, 2, basis="sto-3g")).kernel(),
                               delta=1e-8)
        self.assertAlmostEqual(sum(told["mulliken_charges"]), 2.0, delta=1e-6)

    def test_fragments(self):
        path = os.path.join(SOURCE, "datasets", "fmo2", "water3_sto-3g.json")
        told = json.loads(program("energy", path, "--json").stdout)
        self.assertAlmostEqual(told["energy"], -224.91061241, delta=2e-8)
        self.assertEqual([(pair["i"], pair["j"]) for pair in told["pairs"]], [(0, 1), (0, 2), (1, 2)])
        self.assertIn("energy    -224.9106124", program("energy", path).stdout)

    def test_batch(self):
        """The batch command writes a row for each molecule, also failed ones, and replaces no file without --force."""
        with tempfile.TemporaryDirectory() as folder:
            path, output = os.path.join(folder, "all.xyz"), os.path.join(folder, "all.csv")
            with open(path, "w", encoding="utf-8") as file:
                file.write("2\n\nH 0 0 0\nH 0 0 0.7\n1\n\nH 0 0 0\n1\n\nXx 0 0 0\n1\ncharge=-1\nF 0 0 0\n")
            done = program("batch", path, "/no/such.xyz", os.path.join(XYZ, "n2.xyz"), "--basis", "sto-3g", "-o", output)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            lines = done.stderr.splitlines()
            for line, words in zip(lines, ("all.xyz: molecule 2: .*odd number", "all.xyz: frame 3: line 10: 'Xx'", "/no/such.xyz: ca")):
                self.assertRegex(line, f"^python -m fmo: .*{words}")
            self.assertEqual(len(lines), 3)
            with open(output, encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([(row["molecule"], row["formula"], row["converged"], bool(row["error"])) for row in rows],
                             [("1", "H2", "1", False), ("2", "", "0", True), ("3", "", "0", True), ("4", "F", "1", False),
                              ("0", "", "0", True), ("1", "N2", "1", False)])
            h2 = fmo.Molecule(["H", "H"], [[0, 0, 0], [0, 0, 0.7]], basis="sto-3g")
            self.assertAlmostEqual(float(rows[0]["energy_hartree"]), fmo.RHF(h2).kernel(), delta=1e-8)
            before = os.stat(output).st_mtime_ns
            again = program("batch", path, "-o", output)
            self.assertEqual((again.returncode, again.stderr), (2, f"python -m fmo: {output}: it exists; --force "
                                                                   "replaces it\n"))
            self.assertEqual(os.stat(output).st_mtime_ns, before)
            program("batch", path, "-o", output, "--force", "--basis", "6-31g")
            self.assertNotEqual(os.stat(output).st_mtime_ns, before)
            self.assertEqual(sorted(os.listdir(folder)), ["all.csv", "all.xyz"])
            failed = program("batch", path, "--basis", "sto-3g", "--max-cycle", "2")
            self.assertEqual(failed.returncode, 3)
            self.assertRegex(failed.stderr, "python -m fmo: .*all.xyz: molecule 1: .*not converged in 2 cycles")

    def test_batch_with_forces(self):
        """Files of fmo-driver have energies and forces of all molecules but the bad ones; options arrive there."""
        with tempfile.TemporaryDirectory() as folder:
            path, output = os.path.join(folder, "all.xyz"), os.path.join(folder, "train.extxyz")
            with open(path, "w", encoding="utf-8") as file:
                file.write("2\n\nH 0 0 0\nH 0 0 0.7\n1\ncharge=x\nHe 0 0 0\n2\n\nO 0 0 0\nH 0 0 1\n")
            given = ("batch", path, "/no/such.xyz", "--basis", "sto-3g", "--charge", "-1", "--conv-tol", "1e-10", "--forces")
            done = program(*given, "--output", output)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
            for words in ("all.xyz: frame 1: .*odd number", "frame 2: line 6: charge= 'x'", "/no/such.xyz: cannot open it"):
                self.assertRegex(done.stderr, f"(?m)^fmo-driver: .*{words}")
            with open(output, encoding="utf-8") as file:
                lines = file.read().splitlines()
            mf = fmo.RHF(fmo.Molecule(["O", "H"], [[0, 0, 0], [0, 0, 1]], -1, basis="sto-3g")).run(with_forces=True)
            self.assertEqual((len(lines), lines[0]), (4, "2"))
            self.assertAlmostEqual(float(lines[1].partition(" energy=")[2].split()[0]) / 27.211386024367243, mf.e_tot, delta=1e-8)
            self.assert_close([float(line.split()[6]) / 51.422067 for line in lines[2:]], mf.forces()[:, 2], 1e-6)
            with open(output, "w", encoding="utf-8") as file:
                file.write("mine")
            refused = program(*given, "-o", output)
            self.assertEqual(refused.returncode, 3, refused.stderr)
            self.assertIn("--force", refused.stderr)
            self.assertEqual(program(*given, "-o", output, "--force").returncode, 3)

    def test_no_driver(self):
        with mock.patch("fmo._driver.library_path", lambda: "/no/lib/libfmo.so"), mock.patch.dict(os.environ, PATH="/no"):
            self.assertRaisesRegex(fmo.Error, "fmo-driver was not found beside /no/lib/libfmo.so or in PATH", _driver.driver)

    @needs("h5py")
    def test_batch_resume(self):
        """What an interrupted batch has computed is kept, and --resume computes the rest."""
        import h5py
        with tempfile.TemporaryDirectory() as folder:
            path, output = os.path.join(folder, "all.xyz"), os.path.join(folder, "all.h5")
            with open(os.path.join(XYZ, "water008.xyz"), encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write("2\n\nH 0 0 0\nH 0 0 0.7\n" + text * 60)
            given = ("batch", path, "--basis", "sto-3g", "-o", output)
            with subprocess.Popen([sys.executable, "-m", "fmo", *given], env=os.environ, stderr=subprocess.PIPE, text=True) as one:
                end = time.monotonic() + 60
                while not os.path.exists(output + ".checkpoint") or os.path.getsize(output + ".checkpoint") < 1000:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.01)
                one.send_signal(signal.SIGINT)
                reported = one.stderr.read()
                self.assertEqual(one.wait(60), 130, reported)
            self.assertRegex(reported, r"^fmo-driver: interrupted: the results so far are in .*: add --resume to continue\n$")
            self.assertEqual(sorted(os.listdir(folder)), ["all.h5.checkpoint", "all.xyz"])
            done = program(*given, "--resume")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            with h5py.File(output) as file:
                energies = file["summary/energy"][:]
            self.assert_close(energies, [energies[0]] + [energies[1]] * 60, 1e-7)

    @needs("tqdm")
    def test_batch_bar(self):
        """A bar counts molecules on a terminal; messages stand on lines of their own."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "all.xyz")
            with open(os.path.join(XYZ, "water008.xyz"), encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write("1\n\nXx 0 0 0\n" + text * 15)
            ours, theirs = pty.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
            with subprocess.Popen([sys.executable, "-m", "fmo", "batch", path, "--basis", "6-31g", "--threads", "1", "-o",
                                   os.path.join(folder, "all.extxyz")], env=os.environ, stderr=theirs) as one:
                os.close(theirs)
                reported = b""
                with contextlib.suppress(OSError):  # at its end
                    while more := os.read(ours, 4096):
                        reported += more
                os.close(ours)
                self.assertEqual(one.wait(60), 3, reported)
            self.assertRegex(reported.decode(), r"(^|\r)fmo-driver: .*frame 1: line 3: 'Xx': not an element.*\r\n")
            self.assertRegex(reported.decode(), r"\r *\d+molecule \[")

    def optimise(self, by):
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "done.xyz")
            path = os.path.join(XYZ, "water001.xyz")
            done = program("optimize", path, "--basis", "sto-3g", "-o", output, "--by", by)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
            self.assertEqual(os.listdir(folder), ["done.xyz"])
            mol = fmo.Molecule.from_xyz(output, basis="sto-3g")
            self.assertLess(np.abs(fmo.RHF(mol).forces()).max(), 1e-3)
            self.assertAlmostEqual(np.linalg.norm(mol.positions[0] - mol.positions[1]), 0.989, delta=2e-3)
            radical = os.path.join(folder, "oh.xyz")
            with open(radical, "w", encoding="ascii") as file:
                file.write("2\ncharge=0 multiplicity=2\nO 0 0 0\nH 0 0 1.02\n")
            done = program("optimize", radical, "--basis", "sto-3g", "--by", by)
            self.assertEqual(fmo.Molecule.from_xyz(done.stdout).multiplicity, 2, done.stdout)
            helium = os.path.join(folder, "he.extxyz")
            with open(helium, "w", encoding="ascii") as file:
                file.write("1\n\nHe 0 0 1\n")
            done = program("optimize", helium, "--basis", "sto-3g", "--by", by)
            self.assertIn("He     0.000000000000     0.000000000000     1.000000000000", done.stdout, done.stderr)
            self.assertIn("-2.80778", program("energy", helium, "--basis", "sto-3g").stdout)
            short = program("optimize", path, "--basis", "sto-3g", "--by", by, "--steps", "1")
            self.assertEqual(short.returncode, 1)
            self.assertIn("not converged in 1 steps; --steps allows more", short.stderr)
            self.assertIn("not converged", short.stdout.splitlines()[1])  # with the geometry so far

    @needs("ase")
    def test_optimize_by_ase(self):
        self.optimise("ase")

    @needs("geometric")
    def test_optimize_by_geometric(self):
        self.optimise("geometric")

    def test_no_optimizer(self):
        code = ("import sys\nfor name in ('ase', 'geometric'):\n    sys.modules[name] = None\n"
                "from fmo.__main__ import main\nsys.exit(main(sys.argv[1:]))")
        done = subprocess.run([sys.executable, "-c", code, "optimize", os.path.join(XYZ, "h2.xyz")], text=True,
                              check=False, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", "python -m fmo: optimize needs geomeTRIC or ASE, which is not installed: pip install "
                          "geometric\n"))

    def test_errors(self):
        """Errors of the program end in one line on stderr with the right exit code."""
        path = os.path.join(XYZ, "water001.xyz")
        for arguments, code, words in (
                (["energy", "/nowhere.xyz"], 3, "/nowhere.xyz: cannot open it"),
                (["energy", path, "--basis", "sto-3gg"], 3, "basis set 'sto-3gg' is not known"),
                (["energy", path, "--max-cycle", "2"], 1, "not converged in 2 cycles"),
                (["energy", path, "--mode", "gpu"], 2, "mode = 'gpu'"),
                (["energy", path, "--charge", "1"], 3, "odd number"),
                (["energi", path], 2, "invalid choice: 'energi'"), ([], 2, "required: command"),
                (["energy", path, "--bassis", "x"], 2, "unrecognized arguments"),
                (["energy", os.path.join(SOURCE, "datasets", "fmo2", "gly4.pdb")], 2, "names no basis set"),
                (["energy", "x.json", "--charge", "1"], 2, "--charge has no effect on FMO2"),
                (["batch", path, "-o", "/nowhere/x.csv"], 2, "/nowhere/x.csv: there is no such folder"),
                (["batch", path, "-o", "train.npz"], 2, "train.npz: fmo writes no .npz: choose a name that ends in .h5, .xyz"),
                (["batch", path, "--forces"], 2, "--forces needs --output with a name that ends in .extxyz, .xyz or .h5"),
                (["batch", path, "-o", "x.csv", "--resume"], 2, "--resume needs --output with a name that ends in .extxyz"),
                (["batch", path, "--basis", "sto-3gg"], 3, "basis set 'sto-3gg' is not known"),
                (["batch", path, "--mode", "gpu"], 2, "mode = 'gpu'"),
                (["optimize", path, "--steps", "0"], 2, "--steps = 0: expected 1 or more"),
                (["optimize", path, "-o", "x.pdb"], 2, "x.pdb: optimize writes no .pdb: choose a name that ends in .xyz\n")):
            with self.subTest(arguments):
                done = program(*arguments)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(program("--version").stdout, f"fmo {fmo.__version__}\n")

    def test_interrupt(self):
        """One line, the exit code of an interrupted program, within a second."""
        code = ("import os, signal, sys, threading, time\nfrom fmo.__main__ import main\nsent = []\ndef interrupt():\n"
                "    sent.append(time.monotonic())\n    os.kill(os.getpid(), signal.SIGINT)\n"
                "threading.Timer(0.5, interrupt).start()\ncode = main(sys.argv[1:])\n"
                "assert time.monotonic() - sent[0] < 1, time.monotonic() - sent[0]\nsys.exit(code)")
        done = subprocess.run([sys.executable, "-c", code, "energy", os.path.join(XYZ, "water064.xyz"), "--threads", "1",
                               "--mode", "cpu"], text=True, check=False, env=os.environ, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (130, "", "python -m fmo: interrupted\n"))


if __name__ == "__main__":
    main()
