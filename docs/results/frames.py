#!/usr/bin/env python3
"""Displaced copies of a molecule as the frames of one .xyz, for `fmo-driver FRAMES --scf --batch`.

    docs/results/frames.py MOLECULE.xyz COUNT SEED OUT.xyz

Each coordinate moves by up to 0.026 angstrom (0.05 bohr). Python 3.9 or newer and nothing else.
"""

import random
import sys


def main(molecule: str, count: str, seed: str, out: str) -> None:
    """Write the frames."""
    with open(molecule, encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    atoms = [line.split() for line in lines[2 : 2 + int(lines[0])]]
    random.seed(int(seed))
    with open(out, "w", encoding="utf-8") as stream:
        for k in range(int(count)):
            stream.write(f"{len(atoms)}\nframe {k}\n")
            for symbol, *place in atoms:
                moved = [float(x) + random.uniform(-0.026, 0.026) for x in place[:3]]
                stream.write(f"{symbol} {moved[0]:.6f} {moved[1]:.6f} {moved[2]:.6f}\n")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
