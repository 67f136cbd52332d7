"""The shipped basis sets against themselves: contractions that are normalised where their authors
normalise them, no function that stands at two elements, and for each element the energy of a larger
set of a family below that of a smaller one. What needs another program is in
datasets/check_basis.py. Python standard library only.

    FMO_DRIVER=.../fmo-driver FMO_SOURCE=.. python3 basis_families.py
"""

import re
import sys
import tempfile
import unittest

from driver_helpers import DATASETS, run

sys.path.insert(0, DATASETS)
from fmodata import shipped  # noqa: E402

ROUNDING = 1e-6  # hartree

# Slater functions have two digits, so that those of two elements may be the same.
FROM_SLATER = ("sto-3g", "sto-6g")
NORMALISED = re.compile(r"sto-\d|3-21|4-31|6-21|6-31[+g]")


def energies(name, numbers):
    """RHF energies {number: hartree} of molecules of these elements in a shipped set."""
    with tempfile.NamedTemporaryFile("w", suffix=".xyz") as file:
        file.write("".join(shipped.geometry(z) for z in numbers))
        file.flush()
        # Copper and zinc in minimal sets have many solutions that are not minima.
        result = run(file.name, "--basis", name, "--scf", "--batch", "--mode", "cpu", "--level-shift", "0.3",
                     "--stability=follow", "--max-cycles", "1000")
    if result.code != 0:
        raise AssertionError(f"{name}: {result}")
    found = re.findall(r"^ +\d+ +\d+ +(-\d+\.\d+) .* frame (\d+)$", result.out, re.M)
    return {numbers[int(frame) - 1]: float(energy) for energy, frame in found}


class BasisFamilies(unittest.TestCase):
    def test_normalised(self):
        for name in filter(NORMALISED.match, shipped.names()):
            within = 2e-5 if name == "6-31g(2df,p)" else 1e-6  # in the third row it is given in fewer digits
            for number, element in shipped.load(name).items():
                for function in shipped.functions(element):
                    self.assertAlmostEqual(shipped.overlap(*function), 1.0, delta=within,
                                           msg=f"{name}, {shipped.SYMBOLS[number - 1]}: {function}")

    def test_no_function_of_two_elements(self):
        for name in (name for name in shipped.names() if name not in FROM_SLATER):
            where = {}
            for number, element in shipped.load(name).items():
                symbol = shipped.SYMBOLS[number - 1]
                for l, exponents, coefficients in shipped.functions(element):
                    if len(exponents) == 1:
                        continue  # polarisation functions are shared by intention
                    other = where.setdefault((l, exponents, coefficients), symbol)
                    self.assertEqual(other, symbol, f"{name}: {symbol} has a function of {other}: "
                                                    f"exponents {exponents}")

    def test_larger_set_lower_energy(self):
        numbers = {name: sorted(shipped.load(name)) for pair in shipped.LARGER for name in pair}
        found = {name: energies(name, numbers[name]) for name in numbers}
        for name in numbers:
            self.assertEqual(sorted(found[name]), numbers[name], f"{name}: energies are missing")
        wrong = [f"{shipped.SYMBOLS[z - 1]}: {large} {found[large][z]}, {small} {found[small][z]}"
                 for large, small in shipped.LARGER for z in numbers[large]
                 if z in found[small] and found[large][z] > found[small][z] + ROUNDING]
        self.assertEqual(wrong, [], "a larger set has a higher energy")


if __name__ == "__main__":
    unittest.main()
