"""Errors of the Python module: kinds of fmo.Error, unknown attributes, Ctrl-C. Started like module.py.
"""

import inspect
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import types
from unittest import mock

# first: it may start another Python
from helpers import H_SHELL, MODULE, SOURCE, Case, main, molecule, needs

import numpy as np
from pyscf import gto, scf

import fmo
from fmo import _errors, _scf


class Errors(Case):
    def test_kinds(self):
        """Each is an fmo.Error of its kind, and the built-in exception that was raised before there were kinds."""
        mol = molecule("hydrogen")
        dm = np.eye(2)
        cc = gto.M(atom="O 0 0 0", basis={"O": H_SHELL["O"]}, verbose=0)
        cases = (
            (lambda: fmo.get_jk(mol, dm, mode="gpu"), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, threads=1.5), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, threads="many"), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, cutoff="small"), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, threads=2**40), fmo.InputOverflowError, OverflowError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, threads=2**40), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, treads=2), fmo.InputTypeError, TypeError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(None, dm), fmo.InputTypeError, TypeError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.patch(3), fmo.InputTypeError, TypeError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.unpatch(mol), fmo.InputTypeError, TypeError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(gto.Mole(), dm), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm[0]), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, [[1, 2], [3]]), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, [["a", "b"], ["b", "a"]]), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, np.array([[1.0, 2], [3, 4]])), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, np.nan * dm), fmo.InputError, ValueError, "FMO_ERR_INPUT"),
            (lambda: fmo.get_jk(mol, dm, cutoff=2.0), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.get_jk(mol, dm, mode="cpu", memory=10), fmo.OutOfMemoryError, MemoryError,
             "FMO_ERR_MEMORY"),
            (lambda: pickle.dumps(fmo.Plan(mol)), fmo.InputTypeError, TypeError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.RHF(cc), fmo.UnsupportedError, NotImplementedError, "FMO_ERR_UNSUPPORTED"),
            (lambda: fmo.RHF(mol).make_rdm1(), fmo.InputError, RuntimeError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.RHF(mol).kernel(np.eye(3)), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.rhf_batch([mol], fields=[]), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.rhf_batch([mol], max_cycle=1.5), fmo.InputError, ValueError, "FMO_ERR_ARGUMENT"),
            (lambda: fmo.rhf_batch([mol], max_cycle=2**33), fmo.InputOverflowError, OverflowError,
             "FMO_ERR_ARGUMENT"))
        for k, (call, kind, built_in, status) in enumerate(cases):
            with self.subTest(k, kind=kind.__name__):
                with self.assertRaises(fmo.Error) as caught:
                    call()
                error = caught.exception
                self.assertIsInstance(error, kind)
                self.assertIsInstance(error, built_in)
                self.assertIsInstance(error, RuntimeError)
                self.assertEqual(error.status, status)
                self.assertEqual(str(error), f"{error.message} ({status})")
                self.assertNotIn("\n", str(error))
                again = pickle.loads(pickle.dumps(error))
                self.assertEqual((type(again), str(again), again.status), (type(error), str(error), status))

    def test_every_status_has_a_kind(self):
        """But the two that libfmo does not give to this module."""
        kinds = {name: type(_errors.error_of(k, b"text")) for k, name in enumerate(_errors.STATUS)}
        self.assertEqual({name for name, kind in kinds.items() if kind is fmo.Error}, {"FMO_OK", "FMO_ERR_OUTPUT"})
        self.assertEqual(kinds["FMO_ERR_NO_DEVICE"], fmo.NoDeviceError)
        self.assertEqual(type(_errors.error_of(99, b"text")), fmo.Error)

    def test_no_convergence(self):
        mf = fmo.RHF(molecule("water"))
        mf.max_cycle = 2
        mf.kernel()
        self.assertIsInstance(mf.error, fmo.ConvergenceError)
        self.assertFalse(mf.converged)

    def test_unknown_attributes(self):
        """Setting an unknown attribute raises an error that suggests a known one; subclasses may add their own."""
        mf = fmo.RHF(molecule("hydrogen"))
        for name, meant in (("max_cycles", "max_cycle"), ("conv_toll", "conv_tol"), ("inital_guess", "init_guess"),
                            ("fields", "field"), ("convtol", "conv_tol")):
            with self.assertRaisesRegex(fmo.UnknownAttributeError,
                                        f"fmo.RHF has no attribute '{name}'; did you mean {meant}?") as caught:
                setattr(mf, name, 3)
            self.assertIsInstance(caught.exception, AttributeError)
        with self.assertRaisesRegex(AttributeError, r"no attribute 'xyzzy' \(FMO"):
            mf.xyzzy = 1
        with self.assertRaisesRegex(fmo.UnknownAttributeError, "fmo.Plan has no attribute 'cutoff'"):
            fmo.Plan(mf.mol).cutoff = 1e-8
        for name in ("conv_tol", "conv_tol_grad", "max_cycle", "level_shift", "diis_space", "init_guess", "solver",
                     "stability", "field", "projector"):
            setattr(mf, name, None)
        mf.kernel = mf.kernel  # methods may be put in front
        self.assertLess(mf.kernel(), -1)

        class Mine(fmo.RHF):
            """A subclass with its own attribute."""
            label = ""
        mine = Mine(mf.mol)
        mine.label = "mine"
        self.assertEqual(mine.label, "mine")

    def test_unknown_options(self):
        mol = molecule("hydrogen")
        for call, options, words in (
                (fmo.RHF, {"treads": 2}, "fmo.RHF: unknown option 'treads'; did you mean threads?"),
                (fmo.UHF, {"guess_mx": 1}, "fmo.UHF: unknown option 'guess_mx'; did you mean guess_mix?"),
                (fmo.ROHF, {"conv_toll": 1}, "fmo.ROHF: unknown option 'conv_toll'; did you mean conv_tol?"),
                (fmo.RHF, {"xyzzy": 1}, "fmo.RHF: unknown option 'xyzzy': expected one of max_cycle, .*, threads, "),
                (fmo.Plan, {"cutof": 1}, "unknown option 'cutof'; did you mean cutoff?")):
            with self.subTest(words), self.assertRaisesRegex(fmo.InputTypeError, "^" + words):
                call(mol, **options)
        for call, options, words in (
                (fmo.scf_batch, {"force": True}, "fmo.scf_batch: unknown option 'force'; did you mean forces?"),
                (fmo.scf_batch, {"maxcycle": 9}, "fmo.scf_batch: unknown option 'maxcycle'; did you mean max_cycle?"),
                (fmo.scf_batch, {"methd": "rohf"}, "fmo.scf_batch: unknown option 'methd'; did you mean method?"),
                (fmo.rhf_batch, {"force": True}, "fmo.rhf_batch: unknown option 'force'; did you mean forces?"),
                (fmo.rhf_batch, {"field": None}, "fmo.rhf_batch: unknown option 'field'; did you mean fields?")):
            with self.subTest(words), self.assertRaisesRegex(fmo.InputTypeError, "^" + words):
                call([mol], **options)
        with self.assertRaisesRegex(fmo.InputTypeError, "fmo.get_jk: unknown option 'hermy'; did you mean hermi?"):
            fmo.get_jk(mol, np.eye(2), hermy=1)
        with self.assertRaisesRegex(fmo.InputTypeError, "fmo.scf_batch: expected a list of molecules, not one"):
            fmo.scf_batch(fmo.Molecule(["He"], [[0, 0, 0]]))
        with self.assertRaisesRegex(fmo.InputTypeError, "a molecule that could not be read: leave it out"):
            fmo.scf_batch([_errors.bad_value("text")])
        with self.assertRaisesRegex(TypeError, "fmo.RHF: max_cycle is an attribute, set before kernel"):
            fmo.RHF(mol, max_cycle=2)

    def test_unknown_arguments(self):
        """A slip in a keyword of a class, method or function without options is named, with what may be meant."""
        mol, he = molecule("hydrogen"), (["He"], [[0, 0, 0]])
        mf = fmo.RHF(mol)
        for call, keywords, words in (
                (lambda **slip: fmo.Molecule(*he, **slip), {"multiplicty": 2},
                 "fmo.Molecule: unknown argument 'multiplicty'; did you mean multiplicity?"),
                (lambda **slip: fmo.Molecule(*he, **slip), {"xyzzy": 2},
                 "fmo.Molecule: unknown argument 'xyzzy': expected one of numbers, positions, charge, .*, functions "),
                (fmo.Molecule.from_xyz, {"text": "x"}, "fmo.Molecule.from_xyz: unknown argument 'text': expected one of source, "),
                (fmo.Molecule.all_from_xyz, {"error": "skip"}, "fmo.Molecule.all_from_xyz: .* did you mean errors?"),
                (fmo.Molecule(*he).with_positions, {"units": "bohr"}, "fmo.Molecule.with_positions: .* did you mean unit?"),
                (mf.kernel, {"dm": None}, "fmo.RHF.kernel: unknown argument 'dm'; did you mean dm0?"),
                (fmo.UHF(mol).dip_moment, {"units": "AU"}, "fmo.RHF.dip_moment: .* did you mean unit?"),
                (mf.mulliken_charges, {"unit": 1}, "fmo.RHF.mulliken_charges: unknown argument 'unit' .FMO"),
                (mf.nuc_grad_method().kernel, {"atmlist": [0]}, "fmo.Gradients.kernel: .* did you mean atmlst?"),
                (fmo.Plan(mol).get_jk, {"dm": np.eye(2), "with_k_": 0}, "fmo.Plan.get_jk: .* did you mean with_k?"),
                (fmo.GradientTerm, {"density": 0, "exchnge": 0}, "fmo.GradientTerm: .* did you mean exchange?"),
                (fmo.qcschema.run, {"raise_errors": True}, "fmo.qcschema.run: .* did you mean raise_error?")):
            with self.subTest(words), self.assertRaisesRegex(fmo.InputTypeError, "^" + words):
                call(**keywords)
        with self.assertRaisesRegex(TypeError, "missing 1 required positional argument: 'positions'"):
            fmo.Molecule(["He"])
        self.assertEqual(list(inspect.signature(fmo.Molecule).parameters)[:3], ["numbers", "positions", "charge"])


# A process that interrupts itself soon after the call has begun.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from pyscf import gto, scf
import fmo
water = [("O", (0, 0, 0.117)), ("H", (0, 0.757, -0.469)), ("H", (0, -0.757, -0.469))]
mol = gto.M(atom=[(s, (x + 3.1 * i, y + 3.1 * j, z + 3.1 * k)) for i in range(2) for j in range(4) for k in range(2)
                  for s, (x, y, z) in water], basis="6-31g", verbose=0)
small = gto.M(atom=water, basis="6-31g", verbose=0)
expected = fmo.RHF(small).kernel()
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
mf, plan = fmo.RHF(mol, mode="cpu", threads=1), fmo.Plan(mol, mode="cpu", threads=1, cutoff=0)
cluster = fmo.Molecule([mol.atom_charge(k) for k in range(mol.natm)], mol.atom_coords(), unit="bohr", basis="6-31g")
fmo2 = fmo.FMO2(cluster, fragments=[range(k, k + 3) for k in range(0, mol.natm, 3)], mode="cpu", threads=1)
call = {"kernel": mf.kernel, "batch": lambda: fmo.rhf_batch([mol, mol], mode="cpu", threads=1),
        "small": lambda: fmo.rhf_batch([small] * 400, mode="cpu", threads=1, stability="check"), "fmo2": fmo2.kernel,
        "build": lambda: plan.get_jk(np.eye(mol.nao))}[sys.argv[1]]
threading.Timer(0.3, interrupt).start()
try:
    call()
    print("not interrupted")
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
    assert late < 1, f"interrupted after {late:.1f} s"
    assert np.isnan(mf.e_tot) and mf.mo_coeff is None and not mf.converged
    assert abs(fmo.RHF(small).kernel() - expected) < 1e-8
    assert np.allclose(fmo.get_jk(small, np.eye(small.nao)), scf.hf.get_jk(small, np.eye(small.nao)), atol=1e-9)
    if sys.argv[1] == "kernel":  # which ends with its cycle, and so does its thread
        end = time.monotonic() + 300
        while any(thread.name == "fmo" for thread in threading.enumerate()):
            assert time.monotonic() < end, "the SCF goes on"
            time.sleep(0.1)
        assert np.isnan(mf.e_tot), "a result after all"
    print("interrupted")
"""


class Interrupt(Case):
    def test_interrupts(self):
        """The call ends at once, and the process can go on."""
        for what in ("kernel", "batch", "small", "fmo2", "build"):
            with self.subTest(what):
                done = subprocess.run([sys.executable, "-c", INTERRUPTED, what], text=True, check=False, env=os.environ,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=900)
                self.assertEqual((done.returncode, done.stdout.strip()), (0, "interrupted"), done.stderr)

    def test_exceptions_of_the_call(self):
        """Exceptions of the other thread arrive unchanged."""
        from fmo import _worker

        def fail():
            raise KeyError("mine")
        self.assertRaisesRegex(KeyError, "mine", _worker.interruptible, fail)
        self.assertEqual(_worker.interruptible(lambda: 3), 3)

    def test_gpu_of_the_caller(self):
        """The thread that makes the call chooses the GPU that the caller has chosen."""
        chosen = []
        cuda = types.SimpleNamespace(is_initialized=lambda: True, current_device=lambda: 3, set_device=lambda device:
                                     chosen.append((device, threading.current_thread() is threading.main_thread())))
        torch = types.ModuleType("torch")
        torch.cuda = cuda
        with mock.patch.dict(sys.modules, {"torch": torch, "cupy": None}), mock.patch.object(_scf, "_LONG", 0):
            fmo.RHF(molecule("hydrogen"), mode="cpu").kernel()
        self.assertEqual(chosen, [(3, False)])


class Types(Case):
    @needs("mypy")
    def test_mypy(self):
        """All of the module, as its pyproject.toml says: strictly."""
        done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull], cwd=SOURCE, text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    @needs("mypy")
    def test_mypy_of_a_user(self):
        """Whose configuration is not the module's, and whose strictness is."""
        code = ("import fmo\nimport fmo.ase\nimport fmo.qcschema\n"
                "energy: float = fmo.RHF(fmo.Molecule(['He'], [[0, 0, 0]])).kernel()\n"
                "charge: int = fmo.Molecule.from_xyz('he.xyz').charge\n")
        for options in ([], ["--strict"]):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-m", "mypy", "--cache-dir", os.devnull, *options, "-c", code],
                                      cwd=folder, env={**os.environ, "MYPYPATH": MODULE}, text=True, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_documented(self):
        """Every public function, class and method has a docstring, and what it takes and returns has types."""
        for name in fmo.__all__:
            one = getattr(fmo, name)
            if not callable(one):
                continue
            methods = [value for key, value in vars(one).items() if inspect.isfunction(value) and
                       not key.startswith("_")] if inspect.isclass(one) else []
            for each in (one, *methods):
                self.assertTrue(each.__doc__, each)
                if inspect.isfunction(each):
                    missing = set(inspect.signature(each).parameters) - set(each.__annotations__) - {"self"}
                    self.assertFalse(missing, f"{name}.{each.__name__}")
                    self.assertIn("return", each.__annotations__, f"{name}.{each.__name__}")


if __name__ == "__main__":
    main()
