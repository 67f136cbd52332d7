"""Helpers of the tests of the Python module: an interpreter that has PySCF, molecules, densities, comparisons.
To be imported before PySCF is.
"""

import os
import sys

from pyscf_python import SOURCE, run_where_it_is

MODULE = os.path.join(SOURCE, "driver", "python")
run_where_it_is(path=MODULE, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="PASSIVE")  # two OpenMP run times on few cores

# pylint: disable=wrong-import-position
import contextlib
import importlib.util
import unittest
import warnings

import numpy as np
from pyscf import gto, scf

import fmo

EXACT = 1e-11  # hartree, for densities of order one and no cutoff

WATER = "O 0 0 0.117; H 0 0.757 -0.469; H 0 -0.757 -0.469"
# a basis of water that libfmo refuses
H_SHELL = {"O": [*gto.basis.load("sto-3g", "O"), [5, [1.0, 1.0]]], "H": "sto-3g"}
CLUSTER = WATER + "; O 2.9 0.1 0.2; H 3.4 0.8 -0.2; H 3.3 -0.7 0; O -2.8 0.3 1; H -3.2 1 0.6; H -1.9 0.3 0.7"
MOLECULES = {
    "hydrogen": dict(atom="H 0 0 0; H 0 0 0.74", basis="sto-3g"),
    "helium atom": dict(atom="He 0 0 0", basis="6-31g"),
    "water": dict(atom=WATER, basis="6-31g"),
    "water far from the origin": dict(atom="O 90 -70 40; H 90.5 -70.6 40; H 89.2 -70.3 40", basis="6-31g"),
    "water in bohr, stretched": dict(atom="O 0 0 0; H 0 5.5 0.4; H 0 -1.4 1.1", unit="bohr", basis="3-21g"),
    "third row": dict(atom="S 0 0 0; H 0 0.96 0.93; H 0 -0.96 0.93; Cl 3.6 0.2 0", basis="6-31g", spin=1),
    "ion": dict(atom="Li 0 0 0; F 0 0 1.6", basis="6-31++g", charge=1, spin=1),
    "cluster": dict(atom=CLUSTER, basis="3-21g"),
    # several contractions in one shell of PySCF, primitives with the coefficient 0
    "general contraction": dict(atom="O 0 0 0; H 0 0.7 0.6; H 0 -0.7 0.6",
                                basis={"O": "ano@4s3p", "H": "ano@2s1p"}),
    "p on hydrogen": dict(atom="H 0 0 0; H 0.3 0 0.9; He 0 2 0", basis="cc-pvdz"),
    "uncontracted": dict(atom="C 0 0 0; O 0 0 1.13", basis="unc-sto-3g"),
    "ghost atom": dict(atom="O 0 0 0; H 0 0.7 0.6; H 0 -0.7 0.6; ghost-O 0 0 3", basis="6-31g"),
    "effective core": dict(atom="Cl 0 0 0; Na 0 0 2.36", basis="lanl2dz", ecp="lanl2dz"),
    "finite nuclei": dict(atom="Cl 0 0 0; H 0 0 1.27", basis="6-31g", nucmod="G"),
    "d functions": dict(atom=WATER, basis="6-31g*"),
    "general contraction with d": dict(atom="O 0 0 0; H 0 0.7 0.6; H 0 -0.7 0.6",
                                       basis={"O": "ano@4s3p2d", "H": "ano@2s1p"}),
    "fourth row": dict(atom="H 0.1 0.2 -0.1; Br 0.5 1.2 0.6", basis="def2-svp"),
    "correlation consistent": dict(atom="S 0 0 0; H 0.3 0.96 0.93; Cl 1.2 -1 0.3", basis="cc-pvdz"),
    "d before s": dict(atom="N 0 0 0; N 0.2 0.1 1.1",
                       basis={"N": [[2, [0.8, 1.0]], [0, [5.0, 0.4], [0.6, 0.7]], [2, [2.1, 0.4], [0.7, 0.5]],
                                    [1, [0.9, 0.3], [3.1, 0.7]]]}),
    "g functions": dict(atom="O 0 0 0.117; H 0 0.757 -0.469; H 0.1 -0.757 -0.469", basis={"O": "cc-pvqz", "H": "sto-3g"}),
    "general contraction with g": dict(atom="He 0 0 0; He 0.3 0.4 1.4",
                                       basis={"He": [[0, [1.1, 1.0]], [3, [1.3, 1.0]],
                                                     [4, [1.1, 0.6, 0.0], [0.5, 0.5, 1.0]]]}),
    "p before s": dict(atom="N 0 0 0; N 0.2 0.1 1.1",
                       basis={"N": [[1, [0.9, 0.3], [3.1, 0.7]], [0, [5.0, 0.4], [0.6, 0.7]], [1, [0.2, 1.0]]]}),
}


NUMBERS = [8, 1, 1]
PLACES = [[0, 0, 0.117], [0, 0.757, -0.469], [0, -0.757, -0.469]]
# Water, HBr (d shells in every set), and an ion.
CASES = ((WATER, 0), ("H 0.1 0.2 -0.1; Br 0.5 1.2 0.6", 0), ("N 0 0 0; H .6 .6 .6; H -.6 -.6 .6; H -.6 .6 -.6; H .6 -.6 -.6", 1))


def ours(text, charge=0, **changes):
    """An fmo.Molecule of PySCF's text."""
    words = [line.split() for line in text.split(";")]
    return fmo.Molecule([one[0] for one in words], [[float(x) for x in one[1:]] for one in words], charge, **changes)


def molecule(name, cart=False, **changes):
    return gto.M(**{**MOLECULES[name], "cart": cart, "verbose": 0, **changes})


def densities(nao, count, seed=1):
    d = np.random.default_rng(seed).standard_normal((count, nao, nao))
    return 0.5 * (d + d.swapaxes(1, 2))


@contextlib.contextmanager
def recorded():
    """Records the fallback warnings in this context, including repeated ones."""
    with warnings.catch_warnings(record=True) as all_of_them:
        warnings.simplefilter("always")
        mine = []
        yield mine
    mine.extend(str(w.message) for w in all_of_them if issubclass(w.category, fmo.FallbackWarning))


def needs(*packages):
    """Of a test or class: skipped where one of these is missing, unless FMO_REQUIRE_PYTHON_EXTRAS is set."""
    missing = [one for one in packages if importlib.util.find_spec(one) is None]
    if missing and os.environ.get("FMO_REQUIRE_PYTHON_EXTRAS", "0") not in ("", "0"):
        raise ImportError(f"FMO_REQUIRE_PYTHON_EXTRAS is set and {', '.join(missing)} missing")
    return unittest.skipIf(bool(missing), f"no Python package {', '.join(missing)}")


def main():
    """Run the tests that the command line names; exit code 77 if all of them were skipped."""
    done = unittest.main(verbosity=2, exit=False).result
    if done.testsRun and len(done.skipped) == done.testsRun and done.wasSuccessful():
        print("skipped:", done.skipped[0][1])
        sys.exit(77)
    sys.exit(not done.wasSuccessful())


class Case(unittest.TestCase):
    def assert_close(self, got, expected, tolerance, what=""):
        self.assertEqual(np.shape(got), np.shape(expected), what)
        error = np.abs(np.asarray(got) - expected).max()
        self.assertLessEqual(error, tolerance, what)

    def assert_same_energy(self, make, delta, **options):
        """An SCF object and a patched one, made alike: the patched one, and the warnings that it gave."""
        plain = make()
        plain.kernel()
        patched = fmo.patch(make(), **options)
        with recorded() as warned:
            patched.kernel()
        self.assertTrue(plain.converged and patched.converged)
        self.assertAlmostEqual(float(plain.e_tot), float(patched.e_tot), delta=delta)
        return patched, warned

    def assert_jk(self, mol, dm, what="", **options):
        vj, vk = fmo.get_jk(mol, dm, cutoff=0, **options)
        # PySCF's own threshold away, so that it leaves nothing out
        opt = scf.hf.SCF(mol).init_direct_scf(mol)
        opt.direct_scf_tol = 0
        expected_j, expected_k = scf.hf.get_jk(mol, dm, vhfopt=opt)
        self.assert_close(vj, expected_j, EXACT, f"J of {what}")
        self.assert_close(vk, expected_k, EXACT, f"K of {what}")
