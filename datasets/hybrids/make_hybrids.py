#!/usr/bin/env python3
"""Write hybrids.json: the orbitals of carbon and silicon at cut bonds (docs/reference/fmo.md), by basis set.

They are made of methane and silane by our own SCF, C-H as in the published orbitals of 6-31G, Si-H as
measured. The four valence orbitals, localised, are (a_1 + sqrt(3) u t_2) / 2 with u the unit vectors
to the hydrogens: the symmetry leaves nothing to search for, unless the core may mix in. Of them, and
of the core (1s; 1s, 2s and 2p), the heavy atom's part as it is: its norm is below 1, as that of
6-31G's published ones. d functions of m = +-2 about z are left out: they say where the other three
bonds are, turned about the first one, which nothing in a cut bond says.

Energies depend on the digits, and other programs use published orbitals of carbon in STO-3G and
6-31G. Ours in 6-31G are those within 4e-5. Those in STO-3G have another bond length, norm 1, and a
core that is mixed into a_1 (MIXED); how they were localised is not stated.

    python3 datasets/hybrids/make_hybrids.py build/bin/fmo-driver            writes the file
    python3 datasets/hybrids/make_hybrids.py build/bin/fmo-driver --check    compares with the published
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# Element: atomic number, bond to hydrogen in angstrom, orbitals of the core (a_1, then t_2).
ELEMENTS = {"C": (6, 1.082, 1), "Si": (14, 1.480, 5)}
SOURCE = ("functions: s shells of the basis set, then its p shells, each x y z, then its d shells, each xx xy xz yy yz "
          "zz or m = 0 +1 -1 +2 -2; all normalised; the first row points along z to the attached atom, then the other "
          "three hybrids, then the core. Computed from methane and silane by make_hybrids.py")

# Basis set and element: bond to hydrogen, and the angle in radians by which core and a_1 are turned into each other; these
# rows are normalised. Both numbers are those for which the rows are the published ones within 1e-5.
MIXED = {("STO-3G", "C"): (1.090, 0.08421)}

# For --check, as published: bond, three others, core; functions s (x y z) s s (x y z) ... in the order of the sp shells.
PUBLISHED = {
    "STO-3G": ("s s x y z", [
        [-0.117784, 0.542251, 0.0, 0.0, 0.850774],
        [-0.117787, 0.542269, 0.802107, 0.0, -0.283586],
        [-0.117787, 0.542269, -0.401054, -0.694646, -0.283586],
        [-0.117787, 0.542269, -0.401054, 0.694646, -0.283586],
        [1.003621, -0.015003, 0.0, 0.0, 0.0]]),
    "6-31G": ("s s x y z s x y z", [
        [-0.098585, 0.186917, 0.0, 0.0, 0.378781, 0.191225, 0.0, 0.0, 0.191676],
        [0.098602, -0.186961, -0.357111, 0.0, 0.126243, -0.191237, -0.180690, 0.0, 0.063879],
        [0.098602, -0.186961, 0.178556, 0.309268, 0.126243, -0.191237, 0.090345, 0.156482, 0.063879],
        [0.098602, -0.186961, 0.178556, -0.309268, 0.126243, -0.191237, 0.090345, -0.156482, 0.063879],
        [0.996141, 0.025556, 0.0, 0.0, 0.0, -0.016599, 0.0, 0.0, -0.000001]]),
}

# Where Molden has the functions of one of our d shells: xx yy zz xy xz yz, or spherical ones as we do.
MOLDEN_D = {6: [0, 3, 4, 1, 5, 2], 5: [0, 1, 2, 3, 4]}


def sorted_functions(kinds, row):
    """s functions first, then the p shells, in the order in which they come."""
    kinds = kinds.split()
    return [c for k, c in zip(kinds, row) if k == "s"] + [c for k, c in zip(kinds, row) if k != "s"]


def directions():
    """Unit vectors to the hydrogens, as the rows go."""
    x, z = math.sqrt(8.0) / 3.0, -1.0 / 3.0
    y = x * math.sqrt(0.75)
    return [(0.0, 0.0, 1.0), (x, 0.0, z), (-x / 2, -y, z), (-x / 2, y, z)]


def read_molden(text):
    """The heavy atom's s, p and d functions, the first function of each nucleus, and the coefficients of
    occupied orbitals by energy. The heavy atom is the first nucleus."""
    d_size = 5 if "[5D]" in text else 6
    sizes = {"s": 1, "p": 3, "d": d_size}
    heavy, begin, orbitals, count, section = {"s": [], "p": [], "d": []}, [], [], 0, ""
    for words in filter(None, (row.split() for row in text.splitlines())):
        if words[0].startswith("["):
            section = words[0]
        elif section == "[GTO]" and len(words) == 2 and words[1] == "0":
            begin.append(count)
        elif section == "[GTO]" and words[0] in sizes:
            if len(begin) == 1:
                heavy[words[0]].append(list(range(count, count + sizes[words[0]])))
            count += sizes[words[0]]
        elif section == "[MO]" and words[0] == "Ene=":
            orbitals.append((float(words[1]), []))
        elif section == "[MO]" and words[0] == "Occup=" and float(words[1]) < 1.0:
            orbitals.pop()
            break
        elif section == "[MO]" and words[0].isdigit():
            orbitals[-1][1].append(float(words[1]))
    heavy["d"] = [[shell[k] for k in MOLDEN_D[d_size]] for shell in heavy["d"]]
    return heavy, begin, [c for _, c in sorted(orbitals)]


def hydride(driver, basis, element):
    """Methane or silane."""
    with tempfile.TemporaryDirectory() as folder:
        xyz, molden = pathlib.Path(folder) / "hydride.xyz", pathlib.Path(folder) / "hydride.molden"
        bond = MIXED.get((basis, element), ELEMENTS[element][1:2])[0]
        atoms = ["H %.15g %.15g %.15g" % tuple(bond * x for x in u) for u in directions()]
        xyz.write_text("\n".join(["5", "hydride", element + " 0 0 0"] + atoms) + "\n")
        subprocess.run([driver, xyz, "--basis", basis, "--scf", "--mode", "cpu", "--convergence", "1e-12",
                        "--cutoff", "1e-13", "--gradient-convergence", "1e-9", "--quiet", "--molden", molden], check=True,
                       stdout=subprocess.DEVNULL)
        return read_molden(molden.read_text())


def combine(terms):
    """sum of factor times vector"""
    return [sum(x) for x in zip(*([f * c for c in v] for f, v in terms))]


def without_m2(d):
    """The d functions of a shell of a row, without those of m = +-2 about z."""
    if len(d) == 5:
        return d[:3] + [0.0, 0.0]
    xx, _, xz, yy, yz, zz = d
    return [(xx + yy) / 2, 0.0, xz, (xx + yy) / 2, yz, zz]


def turned(t2, shells):
    """t_x, t_y, t_z of three orbitals: turned so that the heavy atom's p functions of each go one way."""
    p = max(shells, key=lambda shell: sum(o[i] ** 2 for o in t2 for i in shell))
    t = []
    for i in p:
        norm = math.sqrt(sum(o[i] ** 2 for o in t2))
        t.append(combine([(o[i] / norm, o) for o in t2]))
    return t


def signed(orbital, heavy):
    """An a_1 orbital with the heavy atom's largest s function positive."""
    sign = math.copysign(1.0, max((orbital[shell[0]] for shell in heavy["s"]), key=abs))
    return [sign * c for c in orbital]


def s_overlap(basis, element):
    """Overlap of the two contracted s functions of an element in a minimal basis set."""
    document = json.loads((HERE.parent / "basis" / (basis.lower() + ".json")).read_text())
    shells = []
    for shell in document["elements"][str(ELEMENTS[element][0])]["electron_shells"]:
        exponents = [float(x) for x in shell["exponents"]]
        shells.append([(a, float(c) * a ** 0.75) for a, c in zip(exponents, shell["coefficients"][0])])

    def product(one, other):
        return sum(c * d * (2.0 / (a + b)) ** 1.5 for a, c in one for b, d in other)

    one, two = shells
    return product(one, two) / math.sqrt(product(one, one) * product(two, two))


def normalised(row, overlap):
    """A row of a minimal basis set (s s x y z) with norm 1."""
    norm = math.sqrt(sum(c * c for c in row) + 2.0 * row[0] * row[1] * overlap)
    return [c / norm for c in row]


def hybrids(driver, basis, element):
    """Rows of the file, of our own SCF."""
    heavy, begin, occupied = hydride(driver, basis, element)
    cores = ELEMENTS[element][2]
    if len(occupied) != cores + 4:
        raise SystemExit("%s in %s has %d occupied orbitals, expected %d" % (element, basis, len(occupied), cores + 4))
    if (basis, element) in MIXED:
        x, (core, valence) = MIXED[basis, element][1], (signed(occupied[k], heavy) for k in (0, cores))
        occupied[0] = combine([(math.cos(x), core), (-math.sin(x), valence)])
        occupied[cores] = combine([(math.cos(x), valence), (math.sin(x), core)])
    valence, t = occupied[cores], turned(occupied[cores + 1:], heavy["p"])
    # Signs: bonds of a_1 and t_z with the first hydrogen, which is on z; the core's 1s and 2s.
    first = max(range(begin[1], begin[2]), key=lambda i: abs(t[2][i]))
    sign = math.copysign(0.5, valence[first] * t[2][first])
    rows = [combine([(sign, valence)] + [(math.sqrt(0.75) * x, o) for x, o in zip(u, t)]) for u in directions()]
    rows += [signed(core, heavy) for core in occupied[:min(cores, 2)]]
    if cores > 2:
        rows += turned(occupied[2:5], heavy["p"])
    order = [i for kind in "sp" for shell in heavy[kind] for i in shell]
    made = [[row[i] for i in order] + sum((without_m2([row[i] for i in shell]) for shell in heavy["d"]), [])
            for row in rows]
    if (basis, element) in MIXED:
        overlap = s_overlap(basis, element)
        made = [normalised(row, overlap) for row in made]
    return [[round(x, 10) + 0.0 for x in row] for row in made]


def shipped(element):
    """Names of the shipped sets with an element, as the sets spell them."""
    names = []
    for path in sorted((HERE.parent / "basis").glob("*.json")):
        document = json.loads(path.read_text())
        if str(ELEMENTS[element][0]) in document["elements"] and "1" in document["elements"]:
            names.append(document["name"])
    return names


def published(name):
    kinds, rows = PUBLISHED[name]
    return [sorted_functions(kinds, row) for row in rows]


def check(driver):
    """Prints how far our rows are from those published, whose signs are free; returns the largest difference."""
    worst = 0.0
    for name in PUBLISHED:
        for ours, theirs in zip(hybrids(driver, name, "C"), published(name)):
            sign = math.copysign(1.0, sum(x * y for x, y in zip(ours, theirs)))
            difference = max(abs(sign * x - y) for x, y in zip(ours, theirs))
            worst = max(worst, difference)
            print("%-8s off by %.1e" % (name, difference))
    return worst


def main():
    driver = sys.argv[1]
    if sys.argv[2:] == ["--check"]:
        return 0 if check(driver) < 5e-5 else 1
    names = [*PUBLISHED, *(name for name in shipped("C") if name not in PUBLISHED)]
    sets = [(name, element, hybrids(driver, name, element))
            for element, of in (("C", names), ("Si", shipped("Si"))) for name in of]
    lines = ["{\"source\": %s,\n \"sets\": [" % json.dumps(SOURCE)]
    for k, (name, element, orbitals) in enumerate(sets):
        rows = ",\n   ".join(json.dumps(row) for row in orbitals)
        lines.append("  {\"basis\": %s, \"element\": %s, \"orbitals\": [\n   %s]}%s"
                     % (json.dumps(name), json.dumps(element), rows, "," if k + 1 < len(sets) else ""))
    (HERE / "hybrids.json").write_text("\n".join(lines) + "\n ]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
