"""The shipped basis sets, and the molecules on which they are compared: for check_basis.py and
tests/scf/basis_families.py. Standard library only.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Iterator, Tuple

Function = Tuple[int, Tuple[float, ...], Tuple[float, ...]]
FOLDER = Path(__file__).resolve().parents[1] / "basis"

SYMBOLS = ("H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As "
           "Se Br Kr").split()

# The energy in the first set of each pair is below that in the second, for every element: the second
# is contained in the first, or was fitted with fewer functions.
LARGER = (("6-31g(d)", "6-31g"), ("6-31g(d,p)", "6-31g(d)"), ("6-31+g", "6-31g"),
          ("6-31++g", "6-31+g"), ("6-31+g(d)", "6-31g(d)"), ("6-31+g(d,p)", "6-31+g(d)"),
          ("6-31++g(d,p)", "6-31+g(d,p)"), ("6-311+g", "6-311g"), ("6-311++g", "6-311+g"),
          ("6-311g(d)", "6-311g"), ("6-311g(d,p)", "6-311g(d)"), ("6-311g", "6-31g"),
          ("6-311g(d,p)", "6-31g(d,p)"), ("3-21g", "sto-3g"), ("sto-6g", "sto-3g"),
          ("midi", "mini"), ("6-21g", "3-21g"), ("4-31g", "3-21g"), ("6-31g", "3-21g"),
          ("6-31g", "4-31g"), ("6-31g", "sto-6g"), ("pc-0", "sto-3g"), ("pcseg-0", "sto-3g"),
          ("def2-svp", "3-21g"), ("def2-svp", "pcseg-0"), ("cc-pvdz", "6-31g"),
          ("cc-pvdz", "3-21g"))

# Bonds of hydrides in angstrom, as many as there are hydrogen atoms; other elements are alone.
BONDS = {"H": (0.74, 1), "Li": (1.60, 1), "Be": (1.33, 2), "B": (1.19, 3), "C": (1.09, 4),
         "N": (1.01, 3), "O": (0.96, 2), "F": (0.92, 1), "Na": (1.89, 1), "Mg": (1.70, 2),
         "Al": (1.58, 3), "Si": (1.48, 4), "P": (1.42, 3), "S": (1.34, 2), "Cl": (1.27, 1),
         "K": (2.24, 1), "Ca": (2.00, 2), "Ga": (1.58, 3), "Ge": (1.53, 4), "As": (1.52, 3),
         "Se": (1.46, 2), "Br": (1.41, 1)}
DIRECTIONS = {1: [(0, 0, 1)], 2: [(0, 0, 1), (0, 0, -1)],
              3: [(1, 0, 0), (-0.5, 0.866, 0), (-0.5, -0.866, 0)],
              4: [(0.577, 0.577, 0.577), (0.577, -0.577, -0.577), (-0.577, 0.577, -0.577),
                  (-0.577, -0.577, 0.577)]}
# Electrons of closed-shell atoms and ions; those of argon for Sc to Co.
TRANSITION_METALS = range(21, 31)
ELECTRONS_LEFT = {"Ni": 28, "Cu": 28, "Zn": 30}


def names() -> list[str]:
    """The shipped sets."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> dict[int, Any]:
    """The elements of a set, by atomic number."""
    document = json.loads((FOLDER / f"{name}.json").read_text(encoding="ascii"))
    return {int(number): element for number, element in document["elements"].items()}


def functions(element: dict[str, Any]) -> Iterator[Function]:
    """(angular momentum, exponents, coefficients) of each contracted function."""
    for shell in element["electron_shells"]:
        kinds = shell["angular_momentum"] * (len(shell["coefficients"])
                                             // len(shell["angular_momentum"]))
        exponents = [float(text) for text in shell["exponents"]]
        for l, row in zip(kinds, shell["coefficients"]):
            pairs = [(a, float(c)) for a, c in zip(exponents, row) if float(c) != 0.0]
            yield l, tuple(a for a, _ in pairs), tuple(c for _, c in pairs)


def overlap(l: int, exponents: tuple[float, ...], coefficients: tuple[float, ...]) -> float:
    """<f|f> of a contraction of normalised primitives."""
    return sum(c * d * (2 * math.sqrt(a * b) / (a + b)) ** (l + 1.5)
               for a, c in zip(exponents, coefficients) for b, d in zip(exponents, coefficients))


def geometry(number: int) -> str:
    """An .xyz frame of the hydride of an element, or of a closed-shell atom or ion."""
    symbol = SYMBOLS[number - 1]
    length, hydrogens = BONDS.get(symbol, (0.0, 0))
    charge = number - ELECTRONS_LEFT.get(symbol, 18) if number in TRANSITION_METALS else 0
    lines = [f"{symbol} 0 0 0"]
    for direction in DIRECTIONS.get(hydrogens, []):
        lines.append("H " + " ".join(f"{length * x:.6f}" for x in direction))
    return "\n".join([str(len(lines)), f"charge={charge}", *lines, ""])
