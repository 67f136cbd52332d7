#!/usr/bin/env python3
"""Write hybrids.json: the orbitals of carbon at cut bonds (docs/fmo.md), by basis set.

STO-3G and 6-31G: the published ones, which OpenFMO and GAMESS use, since energies depend on their
digits.

    python3 datasets/hybrids/make_hybrids.py
"""
import json
import pathlib

HERE = pathlib.Path(__file__).parent
SOURCE = ("functions: s shells of the basis set, then its p shells, each x y z; the first row points along z to the "
          "attached atom, then the other three hybrids, then the core. STO-3G, 6-31G: of methane, as distributed "
          "with GAMESS and OpenFMO (FMO hybrid molecular orbitals)")

# As published: bond, three others, core; functions s (x y z) s s (x y z) ... in the order of the sp shells.
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


def sorted_functions(kinds, row):
    """s functions first, then the p shells, in the order in which they come."""
    kinds = kinds.split()
    return [c for k, c in zip(kinds, row) if k == "s"] + [c for k, c in zip(kinds, row) if k != "s"]


def main():
    sets = [{"basis": name, "element": "C", "orbitals": [sorted_functions(kinds, row) for row in rows]}
            for name, (kinds, rows) in PUBLISHED.items()]
    lines = ["{\"source\": %s,\n \"sets\": [" % json.dumps(SOURCE)]
    for k, entry in enumerate(sets):
        rows = ",\n   ".join(json.dumps(row) for row in entry["orbitals"])
        lines.append("  {\"basis\": %s, \"element\": %s, \"orbitals\": [\n   %s]}%s"
                     % (json.dumps(entry["basis"]), json.dumps(entry["element"]), rows, "," if k + 1 < len(sets) else ""))
    (HERE / "hybrids.json").write_text("\n".join(lines) + "\n ]}\n")


if __name__ == "__main__":
    main()
