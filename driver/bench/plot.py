#!/usr/bin/env python3
"""Plots of fmo-bench results: one SVG per table of the JSON files given.

    python3 -m pip install -r driver/bench/requirements.txt
    driver/bench/plot.py docs/results/bench-*.json --output plots

Columns of a table that are numbers make a curve per method, others a bar per method. Hollow marks
are extrapolated, crosses are wrong. The format of the files is in docs/bench.md."""
import argparse
import json
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

STYLES = ["-", "--", "-.", ":"]


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def tables(document):
    """Measured cells by (experiment, table), in the order of the file."""
    found = {}
    for cell in document["results"]:
        if cell["left_out"] is None and cell["rate"] is not None:
            found.setdefault((cell["experiment"], cell["table"]), []).append(cell)
    return found


def rows_of(cells):
    rows = {}
    for cell in cells:
        rows.setdefault(cell["row"], []).append(cell)
    return rows


def curves(axes, cells):
    for i, (row, own) in enumerate(rows_of(cells).items()):
        points = sorted((number(c["column"]), c) for c in own if number(c["column"]) is not None)
        if not points:  # a method without strips, say: a level line
            axes.axhline(own[0]["rate"], label=row, color=f"C{i % 10}", linestyle=STYLES[i // 10 % 4])
            continue
        x = [p[0] for p in points]
        y = [p[1]["rate"] for p in points]
        low = [p[1]["rate"] - p[1]["items"] / p[1]["seconds"]["max"] for p in points]
        high = [p[1]["items"] / p[1]["seconds"]["min"] - p[1]["rate"] for p in points]
        axes.errorbar(x, y, yerr=[[max(v, 0) for v in low], [max(v, 0) for v in high]], label=row,
                      color=f"C{i % 10}", linestyle=STYLES[i // 10 % 4], linewidth=1)
        for at, rate, (_, cell) in zip(x, y, points):
            marker = "x" if cell["check"] and cell["check"]["status"] != "pass" else "o"
            axes.plot(at, rate, marker, color=f"C{i % 10}", markersize=4,
                      fillstyle="none" if cell["extrapolated"] else "full")
    axes.set_xscale("log")
    axes.set_yscale("log")


def bars(axes, cells):
    rows = rows_of(cells)
    columns = list(dict.fromkeys(c["column"] for c in cells))
    height = 0.8 / len(columns)
    for k, column in enumerate(columns):
        for i, own in enumerate(rows.values()):
            for cell in own:
                if cell["column"] == column:
                    axes.barh(i + k * height, cell["rate"], height, color=f"C{k % 10}",
                              fill=not cell["extrapolated"], edgecolor=f"C{k % 10}",
                              label=column if i == 0 else None)
    axes.set_yticks([i + 0.4 - height / 2 for i in range(len(rows))], list(rows), fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")


def plot(document, key, cells, folder, stem):
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    by_number = sum(number(c["column"]) is not None for c in cells) > len(cells) / 2
    unit = f"{cells[0]['unit']} per second"
    if by_number:
        curves(axes, cells)
        axes.set_ylabel(unit)
    else:
        bars(axes, cells)
        axes.set_xlabel(unit)
    device = document["device"]["name"] if document["device"] else document["host"]["cpu"]
    axes.set_title(f"{key[0]}: {key[1]}\n{device}, fmo {document['commit'] or document['fmo_version']}", fontsize=9)
    axes.grid(True, which="major", linewidth=0.3)
    axes.legend(fontsize=6, loc="center left", bbox_to_anchor=(1.01, 0.5))
    name = re.sub(r"[^a-z0-9]+", "-", f"{stem}-{key[0]}-{key[1]}".lower()).strip("-") + ".svg"
    figure.savefig(os.path.join(folder, name), metadata={"Date": None})
    plt.close(figure)
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="+", help="JSON written by fmo-bench")
    parser.add_argument("--output", default=".", help="folder for the plots [.]")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "fmo-bench"
    for path in arguments.file:
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        except (OSError, ValueError) as error:
            sys.exit(f"plot.py: {path}: {error}")
        if document.get("format") != "fmo-bench" or document.get("version") != 1:
            sys.exit(f"plot.py: {path}: not fmo-bench results, version 1")
        stem = os.path.splitext(os.path.basename(path))[0]
        for key, cells in tables(document).items():
            print(plot(document, key, cells, arguments.output, stem))


if __name__ == "__main__":
    main()
