#!/usr/bin/env python3
"""Draw docs/speed.svg: J and K on one GPU by fmo and by GPU4PySCF.

    docs/results/speed.py     reads 2026-11-24-86a68c1/h200-gpu4pyscf.txt, which
                              driver/bench/compare_gpu4pyscf.py printed

Python 3.9 or newer and nothing else.
"""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "2026-11-24-86a68c1" / "h200-gpu4pyscf.txt"
TARGET = HERE.parent / "speed.svg"

NAMES = {"water008": "(H₂O)₈", "water064": "(H₂O)₆₄", "alkane_C20H42": "C₂₀H₄₂",
         "alkane_C60H122": "C₆₀H₁₂₂", "gly30": "(Gly)₃₀"}
GREY, BLUE = "#8a8f98", "#0072b2"
LEFT, RIGHT, TOP, ROW, BAR, WIDTH = 150, 704, 64, 46, 16, 720
SCALE = (RIGHT - LEFT) / 500.0  # pixels a millisecond


def read():
    """(system, basis, functions, milliseconds of GPU4PySCF, of fmo), by the number of functions."""
    rows, program = [], None
    for line in SOURCE.read_text(encoding="utf-8").splitlines():
        head = re.match(r"(\w+) (\S+): (\d+) functions", line)
        if head:
            rows.append([head[1], head[2].upper(), int(head[3]), None, None])
        program = line.split()[0] if re.match(r"  \S", line) else program
        build = re.match(r"    J\+K +([\d.]+) s", line)
        if build:
            rows[-1][3 if program == "GPU4PySCF" else 4] = 1000 * float(build[1])
    return sorted(rows, key=lambda row: row[2])


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{words}</text>'


def main():
    rows = read()
    height = TOP + ROW * len(rows) + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
           'font-family="Helvetica, Arial, sans-serif" font-size="13" fill="#222">',
           "<title>Time to build J and K on one NVIDIA H200: fmo and GPU4PySCF 1.9</title>",
           f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
           text(16, 26, "J and K of one density on one NVIDIA H200, milliseconds", 'font-size="16" font-weight="bold"'),
           f'<rect x="{LEFT}" y="38" width="12" height="12" fill="{BLUE}"/>', text(LEFT + 18, 48, "fmo"),
           f'<rect x="{LEFT + 66}" y="38" width="12" height="12" fill="{GREY}"/>', text(LEFT + 84, 48, "GPU4PySCF 1.9.0")]
    for number, (system, basis, functions, theirs, ours) in enumerate(rows):
        y = TOP + ROW * number
        out.append(text(LEFT - 10, y + 14, f"{NAMES[system]}, {basis}", 'text-anchor="end"'))
        out.append(text(LEFT - 10, y + 30, f"{functions} functions", 'text-anchor="end" font-size="11" fill="#666"'))
        for place, (time, colour) in enumerate(((ours, BLUE), (theirs, GREY))):
            top = y + place * (BAR + 1)
            end = LEFT + max(time * SCALE, 1.0)
            out.append(f'<rect x="{LEFT}" y="{top}" width="{end - LEFT:.1f}" height="{BAR}" fill="{colour}"/>')
            out.append(text(end + 6, top + 13, f"{time:.0f}"))
    out.append(text(16, height - 12, "Called from Python, density in GPU memory, double precision; medians of five calls, rounded "
                    "to 1 ms. 6-31G*: Cartesian functions.", 'font-size="11" fill="#666"'))
    TARGET.write_text("\n".join(out) + "\n</svg>\n", encoding="utf-8")


if __name__ == "__main__":
    main()
