#!/usr/bin/env python3
"""Waters on a cubic grid, each turned at random: geometry, and fragments of one water each.

    docs/results/waters.py COUNT SEED OUT.xyz [OUT.json]

Neighbours are 3.1 angstrom apart. The JSON is read by `fmo-driver --fmo` (docs/reference/fmo.md). Python 3.9
or newer and nothing else.
"""

import json
import math
import random
import sys

OH, ANGLE, SPACING = 0.9572, math.radians(104.52), 3.1


def turned() -> list[list[float]]:
    """O and two H about a random quaternion."""
    w, x, y, z = (random.gauss(0.0, 1.0) for _ in range(4))
    n = math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w / n, x / n, y / n, z / n
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z)),
        (2 * (x * z - y * w), 2 * (y * z + x * w)),
    )
    plane = [(0.0, 0.0)] + [
        (OH * math.sin(s * ANGLE / 2), OH * math.cos(ANGLE / 2)) for s in (-1, 1)
    ]
    return [[r[0] * a + r[1] * b for r in rows] for a, b in plane]


def main(count: str, seed: str, out: str, system: str = "") -> None:
    """Write the files."""
    random.seed(int(seed))
    side = math.ceil(int(count) ** (1 / 3) - 1e-9)
    place = []
    for k in range(int(count)):
        cell = (k % side, k // side % side, k // side // side)
        place += [[SPACING * c + x for c, x in zip(cell, atom)] for atom in turned()]
    symbols = ["O", "H", "H"] * int(count)
    with open(out, "w", encoding="utf-8") as stream:
        stream.write(f"{len(place)}\n{count} waters, {SPACING} angstrom apart, seed {seed}\n")
        for symbol, (x, y, z) in zip(symbols, place):
            stream.write(f"{symbol} {x:.6f} {y:.6f} {z:.6f}\n")
    if system:
        fragments = {
            "name": f"water{count}",
            "charge": [0] * int(count),
            "fragment": [1 + k // 3 for k in range(len(place))],
            "symbols": symbols,
            "angstrom": [[round(x, 6) for x in atom] for atom in place],
        }
        with open(system, "w", encoding="utf-8") as stream:
            json.dump(fragments, stream)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
