#!/usr/bin/env python3
"""Write tests/scf/energies.json, energies_d.json and energies_f.json of molecules with d and f shells,
energies_uhf.json and energies_rohf.json of open shells, and energies_hard.json and energies_rohf_hard.json of molecules
whose SCF is difficult: RHF, UHF and ROHF energies of PySCF, for the tests of the SCF.

Plain python3 (3.9 or newer) is enough: the script makes an environment from requirements.txt in the
user's cache on first use and runs itself there (fmodata/venvrun.py). The tables
MOLECULES below are the one list. Geometries are written
in bohr with every digit; basis functions come from basis/*.json, which our own program reads too.
Each molecule is run from several guesses; every solution is followed to one without an unstable
direction (internal, real), and the lowest is kept.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fmodata import DatasetError, venvrun

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests" / "scf"
GUESSES = ("minao", "atom", "huckel", "1e")
DESCENTS = 10
ANGSTROM = 1 / 0.52917721092  # bohr, as PySCF and fmo have it

Atoms = "list[tuple[str, tuple[float, float, float]]]"


@dataclass(frozen=True)
class Molecule:
    """One entry of the list. `xyz` names a file of xyz/ instead of atoms in bohr."""

    name: str
    basis: str
    why: str
    atoms: Any = ()
    charge: int = 0
    xyz: str = ""
    large: bool = False  # without stability analysis
    cartesian: Any = None  # None: as the basis set has its d shells
    multiplicity: int = 0  # above 0: UHF or ROHF


def line(*parts: Any) -> Atoms:
    """Atoms on the z axis: symbol, distance to the next, symbol, ..."""
    atoms, z = [], 0.0
    for part in parts:
        if isinstance(part, str):
            atoms.append((part, (0.0, 0.0, z)))
        else:
            z += part
    return atoms


def ring(symbol: str, count: int, radius: float, start: float = 0.0) -> Atoms:
    """A regular polygon in the plane z = 0."""
    turn = 2 * math.pi / count
    return [(symbol, (radius * math.cos(start + turn * k), radius * math.sin(start + turn * k), 0.0))
            for k in range(count)]


def tetrahedron(centre: str, corner: str, distance: float) -> Atoms:
    """A centre and four corners."""
    d = distance / math.sqrt(3)
    corners = [(corner, (d * x, d * y, d * x * y)) for x in (1, -1) for y in (1, -1)]
    return ([(centre, (0.0, 0.0, 0.0))] if centre else []) + corners


def pyramid(apex: str, base: str, distance: float, height: float) -> Atoms:
    """An apex above a triangle."""
    radius = math.sqrt(distance ** 2 - height ** 2)
    return [(apex, (0.0, 0.0, height)), *ring(base, 3, radius)]


def bent(centre: str, end: str, distance: float, degrees: float) -> Atoms:
    """A centre and two ends."""
    half = math.radians(degrees) / 2
    x, z = distance * math.sin(half), distance * math.cos(half)
    return [(centre, (0.0, 0.0, 0.0)), (end, (x, 0.0, z)), (end, (-x, 0.0, z))]


def ethylene(twist: float) -> Atoms:
    """C2H4 with one CH2 turned about the axis by `twist` degrees."""
    half, x, y, angle = 1.2652, 2.3309, 1.7450, math.radians(twist)
    atoms = [("C", (-half, 0.0, 0.0)), ("C", (half, 0.0, 0.0))]
    for sign in (1, -1):
        atoms.append(("H", (-x, sign * y, 0.0)))
        atoms.append(("H", (x, sign * y * math.cos(angle), sign * y * math.sin(angle))))
    return atoms


def naphthalene() -> Atoms:
    """Two fused regular hexagons."""
    bond, hydrogen = 2.645, 2.055
    a = bond * math.sqrt(3) / 2
    atoms = [("C", (0.0, s * bond / 2, 0.0)) for s in (1, -1)]
    for side in (1, -1):
        for s in (1, -1):
            atoms.append(("C", (side * a, s * bond, 0.0)))
            atoms.append(("C", (side * 2 * a, s * bond / 2, 0.0)))
            atoms.append(("H", (side * a, s * (bond + hydrogen), 0.0)))
            atoms.append(("H", (side * (2 * a + hydrogen * math.sqrt(3) / 2),
                                s * (bond / 2 + hydrogen / 2), 0.0)))
    return atoms


MOLECULES = (
    Molecule("H2", "6-31G", "smallest molecule", line("H", 1.4, "H")),
    Molecule("H2 stretched", "6-31G", "stretched: small gap", line("H", 6.0, "H")),
    Molecule("H2 far", "STO-3G", "stretched until the gap is nearly gone", line("H", 10.0, "H")),
    Molecule("HeH+", "6-31G", "charged", line("He", 1.4632, "H"), 1),
    Molecule("H3+", "6-31G", "charged ring", ring("H", 3, 0.9526), 1),
    Molecule("LiH", "6-31G", "ionic", line("Li", 3.015, "H")),
    Molecule("BeH2", "6-31G", "near-degenerate beryllium", line("H", 2.506, "Be", 2.506, "H")),
    Molecule("BH3", "3-21G", "empty p orbital", [("B", (0.0, 0.0, 0.0)), *ring("H", 3, 2.25)]),
    Molecule("CH4", "STO-3G", "minimal basis", tetrahedron("C", "H", 2.05)),
    Molecule("NH3", "3-21G", "split valence", pyramid("N", "H", 1.91, 0.72)),
    Molecule("NH4+", "6-31G", "charged", tetrahedron("N", "H", 1.93), 1),
    Molecule("H2O", "6-31G", "first example", xyz="water001"),
    Molecule("OH-", "6-31G", "anion in a small basis", line("O", 1.83, "H"), -1),
    Molecule("F-", "6-31+G", "anion with diffuse functions", line("F"), -1),
    Molecule("HF stretched", "6-31G", "stretched to twice its length", line("F", 3.466, "H")),
    Molecule("N2", "6-31G", "triple bond", line("N", 2.074, "N")),
    Molecule("N2 stretched", "6-31G", "stretched triple bond", line("N", 3.6, "N")),
    Molecule("CO", "3-21G", "polar triple bond", line("C", 2.132, "O")),
    Molecule("C2", "6-31G", "near-degenerate", line("C", 2.348, "C")),
    Molecule("F2 stretched", "6-31G", "stretched", line("F", 3.6, "F")),
    Molecule("C2H2", "6-31G", "linear", line("H", 2.005, "C", 2.273, "C", 2.005, "H")),
    Molecule("C2H4", "6-31G", "double bond", ethylene(0.0)),
    Molecule("C2H4 twisted", "6-31G", "near-degenerate: 85 degrees about the bond", ethylene(85.0)),
    Molecule("O3", "6-31G", "near-degenerate", bent("O", "O", 2.4, 116.8)),
    Molecule("C4H4 square", "6-31G", "near-degenerate ring",
             ring("C", 4, 1.925, math.pi / 4) + ring("H", 4, 3.96, math.pi / 4)),
    Molecule("C6H6", "6-31G", "dense ring", ring("C", 6, 2.637) + ring("H", 6, 4.69)),
    Molecule("C10H8", "STO-3G", "dense rings", naphthalene()),
    Molecule("LiF", "6-31G", "ionic, stretched", line("Li", 5.0, "F")),
    Molecule("SiH4", "6-31G", "third row", tetrahedron("Si", "H", 2.79)),
    Molecule("PH3", "6-31G", "third row", pyramid("P", "H", 2.68, 1.45)),
    Molecule("P4", "3-21G", "third row, dense cage", tetrahedron("", "P", 2.56)),
    Molecule("H2S", "3-21G", "third row", bent("S", "H", 2.525, 92.1)),
    Molecule("HCl", "6-31G", "third row", line("Cl", 2.409, "H")),
    Molecule("Cl2", "STO-3G", "third row, minimal basis", line("Cl", 3.755, "Cl")),
    Molecule("NaCl", "6-31G", "third row, ionic", line("Na", 4.461, "Cl")),
    Molecule("Ar", "6-31G", "third-row atom", line("Ar")),
    Molecule("(H2O)8", "6-31G", "cluster", xyz="water008"),
    Molecule("(H2O)27", "STO-3G", "larger cluster", xyz="water027", large=True),
)


# d shells. Names of basis sets are spelled in several ways on purpose.
MOLECULES_D = (
    Molecule("H2O", "6-31G*", "Cartesian", xyz="water001"),
    Molecule("H2O spherical", "6-31G(d)", "a Cartesian set with spherical functions",
             xyz="water001", cartesian=False),
    Molecule("CH2O", "6-31G(d,p)", "Cartesian", xyz="ch2o"),
    Molecule("CO2", "6-31+G*", "Cartesian, diffuse functions", line("O", 2.196, "C", 2.196, "O")),
    Molecule("HF", "6-31++g(d,p)", "Cartesian, diffuse functions", line("F", 1.733, "H")),
    Molecule("N2", "6-311g*", "spherical", line("N", 2.074, "N")),
    Molecule("C2H4", "cc-pVDZ", "general contraction", ethylene(0.0)),
    Molecule("H2O Cartesian", "ccpvdz", "a spherical set with Cartesian functions",
             xyz="water001", cartesian=True),
    Molecule("NH3", "def2-SVP", "segmented", xyz="nh3"),
    Molecule("CH3OH", "6-311G**", "spherical", xyz="ch3oh"),
    Molecule("SiH4", "6-31G*", "third row, Cartesian", tetrahedron("Si", "H", 2.79)),
    Molecule("PH3", "6-31G**", "third row, Cartesian", pyramid("P", "H", 2.68, 1.45)),
    Molecule("H2S", "cc-pVDZ", "third row, general contraction", xyz="h2s"),
    Molecule("HCl", "def2svp", "third row", line("Cl", 2.409, "H")),
    Molecule("NaCl", "6-311G(d,p)", "third row, spherical", line("Na", 4.461, "Cl")),
    Molecule("SO2", "6-31G(d)", "third row, hypervalent", bent("S", "O", 2.704, 119.3)),
    Molecule("GeH4", "def2-SVP", "fourth row, 3d electrons", tetrahedron("Ge", "H", 2.882)),
    Molecule("AsH3", "cc-pVDZ", "fourth row, general contraction", pyramid("As", "H", 2.872, 1.55)),
    Molecule("H2Se", "6-31G**", "fourth row, Cartesian 3d", bent("Se", "H", 2.759, 90.6)),
    Molecule("HBr", "6-311G(d)", "fourth row, spherical", xyz="hbr"),
    Molecule("KBr", "def2-SVP", "fourth row, ionic", line("K", 5.33, "Br")),
    Molecule("CaO", "cc-pVDZ", "fourth row, small gap", line("Ca", 3.442, "O")),
    Molecule("Kr", "6-31G*", "atom: its guess is nearly its density", line("Kr")),
    Molecule("ScF", "STO-3G", "transition metal", line("Sc", 3.38, "F")),
)


def planar(centre: str, ends: str, distance: float) -> Atoms:
    """A centre and three ends in its plane."""
    return [(centre, (0.0, 0.0, 0.0)), *ring(ends, 3, distance)]


def phenoxyl() -> Atoms:
    """A regular ring with an oxygen in place of one hydrogen."""
    hydrogens = ring("H", 6, 4.69)
    return ring("C", 6, 2.65) + [("O", (5.02, 0.0, 0.0))] + hydrogens[1:]


ALLYL = [("C", (0.0, 0.0, 0.83)), ("C", (2.32, 0.0, -0.37)), ("C", (-2.32, 0.0, -0.37)), ("H", (0.0, 0.0, 2.9)),
         ("H", (4.06, 0.0, 0.69)), ("H", (2.5, 0.0, -2.42)), ("H", (-4.06, 0.0, 0.69)), ("H", (-2.5, 0.0, -2.42))]

ETHYL = [("C", (0.0, 0.0, 0.0)), ("C", (2.81, 0.0, 0.0)), ("H", (-0.73, 1.02, 1.67)), ("H", (-0.73, 1.02, -1.67)),
         ("H", (-0.66, -1.97, 0.0)), ("H", (3.86, 0.15, 1.75)), ("H", (3.86, 0.15, -1.75))]

STRETCHED = [("C", (0.0, 0.0, 0.0)), ("H", (4.08, 0.0, 0.0)), *planar("C", "H", 2.039)[2:]]

# Open shells, and closed ones where RHF is unstable.
MOLECULES_UHF = (
    Molecule("H", "6-31G", "one electron", line("H"), multiplicity=2),
    Molecule("Li", "6-31G", "atom", line("Li"), multiplicity=2),
    Molecule("N", "cc-pVDZ", "atom, quartet", line("N"), multiplicity=4),
    Molecule("P", "6-31G*", "third-row atom, quartet", line("P"), multiplicity=4),
    Molecule("H2 triplet", "6-31G", "no beta electron", line("H", 1.4, "H"), multiplicity=3),
    Molecule("H2+", "6-31G", "one electron", line("H", 2.0, "H"), 1, multiplicity=2),
    Molecule("O2", "6-31G*", "triplet", line("O", 2.282, "O"), multiplicity=3),
    Molecule("O2 cc-pVDZ", "cc-pVDZ", "triplet, spherical", line("O", 2.282, "O"), multiplicity=3),
    Molecule("O2+", "6-31G", "cation", line("O", 2.11, "O"), 1, multiplicity=2),
    Molecule("O2-", "6-31+G", "anion, diffuse functions", line("O", 2.55, "O"), -1, multiplicity=2),
    Molecule("NO", "6-31G", "degenerate ground state", line("N", 2.175, "O"), multiplicity=2),
    Molecule("CN", "6-31G", "strong spin contamination", line("C", 2.214, "N"), multiplicity=2),
    Molecule("OH", "6-31G*", "degenerate ground state", line("O", 1.833, "H"), multiplicity=2),
    Molecule("NH", "6-31G*", "triplet", line("N", 1.958, "H"), multiplicity=3),
    Molecule("CH2", "6-31G*", "triplet", bent("C", "H", 2.036, 133.9), multiplicity=3),
    Molecule("NH2", "6-31G*", "radical", bent("N", "H", 1.935, 103.4), multiplicity=2),
    Molecule("H2O+", "6-31G*", "cation", bent("O", "H", 1.9, 110.0), 1, multiplicity=2),
    Molecule("CH3", "6-31G*", "radical", planar("C", "H", 2.039), multiplicity=2),
    Molecule("CH3 def2", "def2-SVP", "radical, spherical", planar("C", "H", 2.039), multiplicity=2),
    Molecule("NO2", "6-31G*", "radical", bent("N", "O", 2.255, 134.3), multiplicity=2),
    Molecule("NF2", "6-31G", "radical", bent("N", "F", 2.55, 103.2), multiplicity=2),
    Molecule("HO2", "6-31G*", "radical", [("O", (0.0, 0.0, 0.0)), ("O", (2.514, 0.0, 0.0)), ("H", (-0.45, 1.78, 0.0))],
             multiplicity=2),
    Molecule("allyl", "6-31G", "delocalised radical", ALLYL, multiplicity=2),
    Molecule("phenoxyl", "STO-3G", "delocalised radical", phenoxyl(), multiplicity=2),
    Molecule("SiH3", "6-31G*", "third row", pyramid("Si", "H", 2.79, 0.86), multiplicity=2),
    Molecule("PH2", "6-31G*", "third row", bent("P", "H", 2.68, 91.7), multiplicity=2),
    Molecule("SH", "6-31G**", "third row", line("S", 2.53, "H"), multiplicity=2),
    Molecule("ClO", "6-31G*", "third row", line("Cl", 2.966, "O"), multiplicity=2),
    Molecule("S2", "6-31G*", "triplet, third row", line("S", 3.57, "S"), multiplicity=3),
    Molecule("Br", "6-31G*", "fourth-row atom", line("Br"), multiplicity=2),
    Molecule("H2O UHF", "6-31G*", "a closed shell stays one", xyz="water001", multiplicity=1),
    Molecule("H2 stretched", "6-31G", "RHF is unstable", line("H", 6.0, "H"), multiplicity=1),
    Molecule("N2 stretched", "6-31G", "RHF is unstable", line("N", 3.6, "N"), multiplicity=1),
    Molecule("F2 stretched", "6-31G", "RHF is unstable", line("F", 3.6, "F"), multiplicity=1),
)

# The open shells of UHF, and some that are harder for ROHF. Phenoxyl in STO-3G has two stable solutions 3.7 mhartree
# apart, and the rounding of the linear algebra decides which of them is found.
MOLECULES_ROHF = tuple(item for item in MOLECULES_UHF if item.multiplicity > 1 and item.name != "phenoxyl") + (
    Molecule("phenoxyl", "6-31G", "delocalised radical", phenoxyl(), multiplicity=2),
    Molecule("B", "6-31G*", "degenerate atom", line("B"), multiplicity=2),
    Molecule("C", "cc-pVDZ", "atom, triplet", line("C"), multiplicity=3),
    Molecule("C2H5", "6-31G*", "radical", ETHYL, multiplicity=2),
    Molecule("CH3 stretched", "6-31G*", "one bond of twice its length", STRETCHED, multiplicity=2),
    Molecule("N2 quintet", "6-31G*", "four open orbitals", line("N", 3.6, "N"), multiplicity=5),
    Molecule("Cr", "STO-3G", "transition metal, septet", line("Cr"), multiplicity=7),
    Molecule("TiO2+", "STO-3G", "transition metal", bent("Ti", "O", 3.06, 110.0), 1, multiplicity=2),
)


# f shells.
MOLECULES_F = (
    Molecule("H2O", "def2-TZVP", "segmented", xyz="water001"),
    Molecule("H2O cc", "cc-pVTZ", "general contraction", xyz="water001"),
    Molecule("H2O Cartesian", "cc-pVTZ", "a spherical set with Cartesian functions", xyz="water001", cartesian=True),
    Molecule("NH3", "def2-TZVPP", "segmented", xyz="nh3"),
    Molecule("CO", "def2-TZVP", "segmented", line("C", 2.132, "O")),
    Molecule("CO cc", "cc-pVTZ", "general contraction", line("C", 2.132, "O")),
    Molecule("N2", "cc-pVTZ", "general contraction", line("N", 2.074, "N")),
    Molecule("F2", "6-311G(2df,2pd)", "two sets of d functions", line("F", 2.668, "F")),
    Molecule("HF", "def2-TZVP", "segmented", line("F", 1.733, "H")),
    Molecule("HF cc", "cc-pVTZ", "general contraction", line("F", 1.733, "H")),
    Molecule("BH3", "def2-TZVP", "empty p orbital", [("B", (0.0, 0.0, 0.0)), *ring("H", 3, 2.25)]),
    Molecule("LiF", "cc-pVTZ", "ionic", line("Li", 2.955, "F")),
    Molecule("CO2", "6-31G(2df,p)", "two sets of d functions", line("O", 2.196, "C", 2.196, "O")),
    Molecule("Ne", "cc-pVTZ", "atom", line("Ne")),
    Molecule("HCl", "def2-TZVP", "third row", line("Cl", 2.409, "H")),
    Molecule("HCl cc", "cc-pVTZ", "third row, general contraction", line("Cl", 2.409, "H")),
    Molecule("SiH4", "def2-TZVP", "third row", tetrahedron("Si", "H", 2.79)),
    Molecule("HBr", "def2-TZVP", "fourth row", xyz="hbr"),
    Molecule("H2Se", "cc-pVTZ", "fourth row, general contraction", bent("Se", "H", 2.759, 90.6)),
    Molecule("ZnH2", "def2-SVP", "transition metal", line("H", 2.9, "Zn", 2.9, "H")),
    Molecule("CH3", "def2-TZVP", "UHF, radical", planar("C", "H", 2.039), multiplicity=2),
    Molecule("O2", "cc-pVTZ", "UHF, triplet", line("O", 2.282, "O"), multiplicity=3),
)


def octahedron(distance: float) -> list[tuple[float, float, float]]:
    """Directions of six ligands times a distance."""
    return [(sign * x, sign * y, sign * z) for x, y, z in ((distance, 0.0, 0.0), (0.0, distance, 0.0),
                                                           (0.0, 0.0, distance)) for sign in (1, -1)]


def carbonyls(metal: str, carbons: Any, bond: float) -> Atoms:
    """A metal at the origin and CO groups that point away from it."""
    atoms = [(metal, (0.0, 0.0, 0.0))]
    for place in carbons:
        out = 1.0 + bond / math.sqrt(sum(x * x for x in place))
        atoms += [("C", tuple(place)), ("O", tuple(out * x for x in place))]
    return atoms


NICKEL = [place for _, place in tetrahedron("", "C", 3.474)]
IRON = [(0.0, 0.0, 3.42), (0.0, 0.0, -3.42), *(place for _, place in ring("C", 3, 3.45))]

# DIIS climbs back to a saddle point, oscillates, or finds a state that is not the lowest.
MOLECULES_HARD = (
    Molecule("H2 far", "6-31G", "dissociated", line("H", 20.0, "H")),
    Molecule("N2 far", "6-31G", "dissociated triple bond", line("N", 6.0, "N")),
    Molecule("F2 far", "STO-3G", "dissociated: gap of 1e-6", line("F", 7.0 * ANGSTROM, "F")),
    Molecule("F2 6-31G", "6-31G", "dissociated", line("F", 7.0 * ANGSTROM, "F")),
    Molecule("C2 stretched", "6-31G", "near-degenerate", line("C", 3.6, "C")),
    Molecule("Si2", "6-31G", "singlet of a triplet molecule", line("Si", 2.25 * ANGSTROM, "Si")),
    Molecule("NO+ stretched", "6-31G", "stretched triple bond", line("N", 2.2 * ANGSTROM, "O"), 1),
    Molecule("O2 singlet", "6-31G", "singlet of a triplet molecule", line("O", 2.3, "O")),
    Molecule("GaN", "6-31G", "singlet of a triplet molecule", line("Ga", 1.9 * ANGSTROM, "N")),
    Molecule("CuCl", "STO-3G", "transition metal", line("Cu", 3.88, "Cl")),
    Molecule("CuCl 6-31G", "6-31G", "transition metal", line("Cu", 3.88, "Cl")),
    Molecule("TiO", "STO-3G", "transition metal, small gap", line("Ti", 3.06, "O")),
    Molecule("Cr2", "STO-3G", "sextuple bond", line("Cr", 3.17, "Cr")),
    Molecule("ZnCl4 2-", "STO-3G", "dianion", tetrahedron("Zn", "Cl", 4.3), -2),
    Molecule("Ni(CO)4", "STO-3G", "carbonyl", carbonyls("Ni", NICKEL, 2.16)),
    Molecule("Fe(CO)5", "STO-3G", "carbonyl", carbonyls("Fe", IRON, 2.18)),
    Molecule("Cr(CO)6", "STO-3G", "carbonyl", carbonyls("Cr", octahedron(3.62), 2.17)),
    Molecule("CN", "6-31G", "strong spin contamination", line("C", 2.214, "N"), multiplicity=2),
    Molecule("Si2 triplet", "6-31G", "triplet", line("Si", 2.25 * ANGSTROM, "Si"), multiplicity=3),
    Molecule("FeO", "STO-3G", "quintet", line("Fe", 3.06, "O"), multiplicity=5),
    Molecule("Cr2 UHF", "STO-3G", "broken symmetry", line("Cr", 3.17, "Cr"), multiplicity=1),
)


# The same of ROHF.
MOLECULES_ROHF_HARD = (
    Molecule("O2", "6-31G", "stretched, the first solution is a saddle point", line("O", 1.7 * ANGSTROM, "O"),
             multiplicity=3),
    Molecule("O2+", "6-31G", "stretched", line("O", 2.0 * ANGSTROM, "O"), 1, multiplicity=2),
    Molecule("NO", "6-31G", "stretched", line("N", 1.6 * ANGSTROM, "O"), multiplicity=2),
    Molecule("CN", "6-31G", "stretched", line("C", 1.7 * ANGSTROM, "N"), multiplicity=2),
    Molecule("CF2", "6-31G*", "triplet carbene", bent("C", "F", 2.49, 120.0), multiplicity=3),
    Molecule("C2", "6-31G", "triplet", line("C", 2.5, "C"), multiplicity=3),
    Molecule("VO", "STO-3G", "transition metal, quartet", line("V", 3.0, "O"), multiplicity=4),
    Molecule("CuCl2", "STO-3G", "complex", line("Cl", 3.9, "Cu", 3.9, "Cl"), multiplicity=2),
    Molecule("TiF3", "STO-3G", "complex", planar("Ti", "F", 3.36), multiplicity=2),
)


def path_of(name: str) -> Path:
    """The file of basis/ of a name, however that is spelled."""
    def plain(text: str) -> str:
        return re.sub("[-_ ]", "", text.lower().replace("**", "(d,p)").replace("*", "(d)"))
    return next(path for path in (HERE / "basis").glob("*.json") if plain(path.stem) == plain(name))


def basis_of(name: str, symbols: set[str]) -> tuple[dict[str, Any], bool]:
    """Shells of a set of basis/ in the form of PySCF, digit for digit; are d shells Cartesian?"""
    from pyscf.data import elements
    data = json.loads(path_of(name).read_text(encoding="utf-8"))
    basis, spherical = {}, False
    for symbol in symbols:
        shells = []
        for shell in data["elements"][str(elements.charge(symbol))]["electron_shells"]:
            exponents = [float(x) for x in shell["exponents"]]
            momenta, rows = shell["angular_momentum"], shell["coefficients"]
            spherical |= shell["function_type"] == "gto_spherical"
            if len(momenta) == 1:
                momenta = momenta * len(rows)
            for l, row in zip(momenta, rows):
                pairs = [[e, float(c)] for e, c in zip(exponents, row) if float(c) != 0.0]
                shells.append([l, *pairs])
        basis[symbol] = shells
    return basis, not spherical


def rohf_stability(mf: Any) -> tuple[Any, None, bool, None]:
    """As mf.stability(return_status=True), by the whole orbital Hessian: PySCF's of ROHF leaves out products of
    rotations closed-open with open-virtual, and takes a saddle point of allyl in 6-31G for a minimum. Orbitals C exp(k)
    change the energy by 2 (g k + k H k / 2), H k = sum [[F, k] + G[d], P] - [g, k] / 2, d = [k, P] over both spins."""
    import numpy
    import scipy.linalg
    def commutator(a: Any, b: Any) -> Any:
        return a @ b - b @ a
    C, occ = mf.mo_coeff, numpy.asarray(mf.mo_occ)
    P = [numpy.diag((occ > spin).astype(float)) for spin in (0, 1)]
    focks = mf.get_fock()
    F = [C.T @ one @ C for one in (focks.focka, focks.fockb)]
    g = sum(commutator(f, p) for f, p in zip(F, P))
    upper, lower = numpy.nonzero(occ[:, None] < occ[None, :])
    weight = numpy.where(occ[lower] - occ[upper] > 1, math.sqrt(0.5), 1.0)
    kappas = numpy.zeros((len(upper), len(occ), len(occ)))
    kappas[range(len(upper)), upper, lower] = weight
    kappas -= kappas.transpose(0, 2, 1)
    d = [commutator(kappas, p) for p in P]
    J, K = mf.get_jk(mf.mol, numpy.array([C @ one @ C.T for spin in d for one in spin]), hermi=1)
    J, K = (numpy.asarray(one).reshape(2, len(upper), *C.shape[:1] * 2) for one in (J, K))
    products = sum(commutator(commutator(f, kappas) + C.T @ (J[0] + J[1] - k) @ C, p) for f, p, k in zip(F, P, K))
    hessian = (products - 0.5 * commutator(g, kappas))[:, upper, lower] * weight
    if abs(hessian - hessian.T).max() > 1e-6:
        raise DatasetError("the Hessian of ROHF is not symmetric")
    values, vectors = numpy.linalg.eigh(hessian)
    return C @ scipy.linalg.expm(0.5 * numpy.tensordot(vectors[:, 0], kappas, 1)), None, values[0] > -1e-5, None


def stable_energy(mol: Any, guess: str, method: str) -> tuple[float, int, float]:
    """Converged, stable energy from a guess, how often it had to be followed down, and <S^2>. Closed shells
    of UHF begin with the frontier orbitals mixed."""
    import numpy
    from pyscf import scf
    mf = getattr(scf, method)(mol)
    mf.conv_tol, mf.conv_tol_grad, mf.max_cycle = 1e-12, 1e-7, 200
    mf.direct_scf_tol = 1e-15
    density = mf.get_init_guess(mol, guess)
    if method == "UHF" and mol.spin == 0:
        first = scf.RHF(mol).run(max_cycle=0, dm0=density[0] + density[1])
        energy, orbitals = first.eig(first.get_fock(dm=density[0] + density[1]), first.get_ovlp())
        half = mol.nelectron // 2
        homo, lumo = orbitals[:, half - 1].copy(), orbitals[:, half].copy()
        spins = []
        for sign in (1, -1):
            mixed = orbitals[:, :half].copy()
            mixed[:, half - 1] = (homo + sign * lumo) * math.sqrt(0.5)
            spins.append(mixed @ mixed.T)
        density = numpy.array(spins)
    mf.kernel(density)
    second_order = mf.newton()
    second_order.conv_tol, second_order.conv_tol_grad = 1e-12, 1e-6
    second_order.max_cycle = 300
    if not mf.converged:
        second_order.kernel(mf.mo_coeff, mf.mo_occ)
        mf = second_order
    for descents in range(DESCENTS):
        if not mf.converged:
            return math.inf, descents, math.nan
        orbitals, _, stable, _ = mf.stability(return_status=True) if method != "ROHF" else rohf_stability(mf)
        if stable:
            return float(mf.e_tot), descents, float(mf.spin_square()[0]) if method != "RHF" else 0.0
        second_order.kernel(orbitals, mf.mo_occ)
        mf = second_order
    return math.inf, DESCENTS, math.nan


def entry(item: Molecule, method: str) -> dict[str, Any]:
    """The entry of one molecule."""
    from fmodata import rhf
    from pyscf import gto
    if item.xyz:
        geometry = rhf.read_xyz(HERE / "xyz" / f"{item.xyz}.xyz")
        atoms = list(zip(geometry.symbols, map(tuple, geometry.coord.tolist())))
    else:
        atoms = [(symbol, tuple(map(float, place))) for symbol, place in item.atoms]
    basis, cartesian = basis_of(item.basis, {symbol for symbol, _ in atoms})
    if item.cartesian is not None:
        cartesian = item.cartesian
    mol = gto.Mole(verbose=0, unit="Bohr", charge=item.charge, spin=max(item.multiplicity, 1) - 1,
                   cart=cartesian, atom=atoms, basis=basis)
    mol.build()
    guesses = GUESSES[:1] if item.large else GUESSES
    runs = {guess: stable_energy(mol, guess, method) for guess in guesses}
    energy, _, spin_square = min(runs.values())
    if not math.isfinite(energy):
        raise DatasetError(f"{item.name}: no guess led to a solution")
    text = ", ".join(f"{guess} {value - energy:+.1e} ({descents})"
                     for guess, (value, descents, _) in runs.items())
    print(f"{item.name:14s} {item.basis:7s} {energy:18.10f}  {text}", flush=True)
    return {"name": item.name, "basis": item.basis, "charge": item.charge, "why": item.why,
            "large": item.large, "nao": int(mol.nao), "energy": energy,
            **({"multiplicity": item.multiplicity, "spin_square": spin_square} if item.multiplicity else {}),
            **({} if item.cartesian is None else
               {"functions": "cartesian" if item.cartesian else "spherical"}),
            "symbols": [symbol for symbol, _ in atoms], "bohr": [list(xyz) for _, xyz in atoms]}


def write(path: Path, method: str, entries: list[dict[str, Any]]) -> None:
    """The file: one molecule a line."""
    import pyscf
    from fmodata import rhf
    head = {"source": "datasets/make_scf_references.py", "method": method,
            "pyscf": pyscf.__version__, "libcint": rhf.libcint_version(), "unit": "hartree",
            "internal_stability": "verified: no negative eigenvalue at any of these energies"}
    lines = ",\n".join("  " + json.dumps(item) for item in entries)
    body = json.dumps(head, indent=1)[:-2]
    path.write_text(f'{body},\n "molecules": [\n{lines}\n ]\n}}\n', encoding="utf-8")


LISTS = {"energies.json": ("RHF", MOLECULES), "energies_d.json": ("RHF", MOLECULES_D),
         "energies_f.json": ("RHF, and UHF where there is a multiplicity", MOLECULES_F),
         "energies_uhf.json": ("UHF", MOLECULES_UHF), "energies_rohf.json": ("ROHF", MOLECULES_ROHF),
         "energies_hard.json": ("RHF and UHF", MOLECULES_HARD),
         "energies_rohf_hard.json": ("ROHF", MOLECULES_ROHF_HARD)}


def main() -> int:
    """Exit code 0, 2 for usage (argparse), 3 where no stable minimum was found."""
    parser = argparse.ArgumentParser(description="Write the reference energies of the SCF tests.")
    parser.add_argument("-o", "--output", type=Path, default=TESTS, metavar="FOLDER",
                        help="where to write (default tests/scf)")
    parser.add_argument("--only", choices=LISTS, help="write this file alone")
    options = parser.parse_args()
    try:
        venvrun.reexec_inside(HERE / "requirements.txt")
        for name, (method, molecules) in LISTS.items():
            if options.only in (None, name):
                write(options.output / name, method, [entry(item, method) for item in molecules])
    except (DatasetError, OSError) as error:
        print(f"make_scf_references.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
