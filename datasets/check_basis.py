#!/usr/bin/env python3
"""Compare the shipped basis sets with PySCF's, number by number and in energy, and with each other.

Plain python3 is enough, as for make_dataset.py. The table of differences goes into basis/SOURCE.md. An
element whose energy in a larger set of a family is above that in a smaller one is an error: leave it
out (make_basis.py, LEFT_OUT) or mend it. tests/scf/basis_families.py has what needs no PySCF.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Iterable

from fmodata import DatasetError, lists, shipped, venvrun

HERE = Path(__file__).resolve().parent
ROUNDED = 3e-5  # exponents (relative) and coefficients that differ by less are the same, rounded
SAME_ENERGY = 1e-7  # hartree
Functions = "list[tuple[int, Any, Any]]"


def normalised(function: shipped.Function) -> tuple[int, Any, Any]:
    """By descending exponents, norm 1, the largest coefficient positive."""
    import numpy

    l, exponents, coefficients = function
    order = numpy.argsort(exponents)[::-1]
    c = numpy.array(coefficients)[order] / shipped.overlap(*function) ** 0.5
    return l, numpy.array(exponents)[order], c * numpy.sign(c[numpy.argmax(abs(c))])


def ordered(functions: Iterable[shipped.Function]) -> Functions:
    """Normalised functions in one order, independent of the source."""
    return sorted(map(normalised, functions), key=lambda f: (f[0], *(-f[1])))


def of_pyscf(name: str, symbol: str) -> Functions | None:
    """What PySCF itself has under this name; None if it has nothing (where the package of the exchange is
    installed, as it is not in the environment of these scripts, PySCF takes the exchange's)."""
    from pyscf import gto
    from pyscf.lib.exceptions import BasisNotFoundError

    try:
        shells = gto.basis.load(name.replace("(d,p)", "**").replace("(d)", "*"), symbol)
    except BasisNotFoundError:
        return None
    found: list[shipped.Function] = []
    for l, *rows in shells:
        for column in range(1, len(rows[0])):
            kept = [row for row in rows if row[column] != 0.0]
            found.append((l, tuple(row[0] for row in kept), tuple(row[column] for row in kept)))
    return ordered(found)


def counts(functions: Functions) -> str:
    """Contracted functions as "3s 2p 1d"."""
    kinds = [sum(f[0] == l for f in functions) for l in range(4)]
    return " ".join(f"{n}{letter}" for n, letter in zip(kinds, "spdf") if n)


def difference(ours: Functions, theirs: Functions) -> str:
    """What differs, in words; empty where nothing does but rounding."""
    if [(f[0], len(f[1])) for f in ours] != [(f[0], len(f[1])) for f in theirs]:
        return f"functions: {counts(ours)}, PySCF {counts(theirs)}"
    exponent = max(max(abs(f[1] / g[1] - 1)) for f, g in zip(ours, theirs))
    coefficient = max(max(abs(f[2] - g[2])) for f, g in zip(ours, theirs))
    differences = [f"{what} by up to {value:.1e}" for what, value in
            (("exponents, relatively,", exponent), ("coefficients", coefficient)) if value > ROUNDED]
    return " and ".join(differences)


def basis_for_pyscf(functions: Functions) -> list[Any]:
    """In PySCF's own form."""
    return [[l, *([float(a), float(c)] for a, c in zip(exponents, coefficients))]
            for l, exponents, coefficients in functions]


def atom_energy(number: int, functions: Functions) -> float:
    """Hartree, of the spherically averaged atom."""
    from pyscf import gto
    from pyscf.scf import atom_hf

    symbol = shipped.SYMBOLS[number - 1]
    mol = gto.M(atom=f"{symbol} 0 0 0", basis={symbol: basis_for_pyscf(functions)}, spin=number % 2,
                verbose=0)
    return float(atom_hf.get_atm_nrhf(mol)[symbol][0])


def molecule_energy(number: int, functions: Functions, hydrogen: Functions, cartesian: bool) -> float:
    """RHF, hartree: the hydride of an element where there is one, else the averaged atom."""
    from pyscf import gto, scf

    symbol = shipped.SYMBOLS[number - 1]
    if symbol not in shipped.BONDS:
        return atom_energy(number, functions)
    basis = {"H": basis_for_pyscf(hydrogen), symbol: basis_for_pyscf(functions)}
    lines = shipped.geometry(number).splitlines()[2:]
    mol = gto.M(atom="\n".join(lines), basis=basis, cart=cartesian, verbose=0)
    return float(scf.RHF(mol).run(conv_tol=1e-11).e_tot)


def is_cartesian(elements: dict[int, Any]) -> bool:
    """Whether the d shells of a set are."""
    return any(shell["function_type"] == "gto_cartesian" for element in elements.values()
               for shell in element["electron_shells"] if max(shell["angular_momentum"]) > 1)


def compare(name: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """(element, what differs, by how much in energy) of a set; what PySCF does not have."""
    elements = shipped.load(name)
    rows, absent = [], []
    for number, element in elements.items():
        symbol = shipped.SYMBOLS[number - 1]
        ours, theirs = ordered(shipped.functions(element)), of_pyscf(name, symbol)
        if theirs is None:
            absent.append(symbol)
            continue
        words = difference(ours, theirs)
        if not words:
            continue
        hydrogen = ordered(shipped.functions(elements[1]))
        form = is_cartesian(elements)
        change = molecule_energy(number, ours, hydrogen, form) \
            - molecule_energy(number, theirs, hydrogen, form)
        rows.append((symbol, words, f"{change:+.1e}" if abs(change) > SAME_ENERGY else "none"))
    return rows, absent


def grouped(name: str, rows: list[tuple[str, str, str]], absent: list[str]) -> list[str]:
    """Lines of the table."""
    lines = [f"| {name} | {symbol} | {words} | {change} |" for symbol, words, change in rows]
    if absent:
        lines.append(f"| {name} | {', '.join(absent)} | not in PySCF | |")
    return lines


def misordered() -> list[str]:
    """Elements whose averaged atom is above that of a smaller set."""
    known: dict[tuple[str, int], float] = {}
    wrong = []
    for pair in shipped.LARGER:
        sets = [shipped.load(name) for name in pair]
        for number in sorted(set(sets[0]) & set(sets[1])):
            for name, elements in zip(pair, sets):
                if (name, number) not in known:
                    known[name, number] = atom_energy(number,
                                                      ordered(shipped.functions(elements[number])))
            large, small = (known[name, number] for name in pair)
            if large > small + 1e-6:
                wrong.append(f"{shipped.SYMBOLS[number - 1]}: {pair[0]} {large:.6f} hartree, "
                             f"{pair[1]} {small:.6f}")
    return wrong


def run() -> int:
    """Both comparisons; 1 if sets of a family are in the wrong order."""
    import pyscf

    rows = [f"Compared with PySCF {pyscf.__version__}:", "",
            "| set | element | what differs | energy, ours less PySCF's (hartree) |",
            "|---|---|---|---|"]
    for name in shipped.names():
        rows += grouped(name, *compare(name))
    lists.replace_block(HERE / "basis" / "SOURCE.md", "differences", rows)
    print("\n".join(rows))
    wrong = misordered()
    for line in wrong:
        print(f"check_basis.py: the larger set has the higher energy: {line}", file=sys.stderr)
    return 1 if wrong else 0


def main() -> int:
    """Exit code 0, or 1 if a check failed, 2 for usage (argparse), 3 for anything that went wrong."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    try:
        venvrun.reexec_inside(HERE / "requirements.txt")
        return run()
    except (DatasetError, OSError) as error:
        print(f"check_basis.py: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
