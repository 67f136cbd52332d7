#!/usr/bin/env python3
"""Plots of fmo-bench results: one picture per table of the JSON files given (also .json.gz).

    python3 -m pip install -r driver/bench/requirements.txt
    driver/bench/plot.py docs/results/*-ed9e7a8/bench-*.json.gz --output plots
    driver/bench/plot.py docs/results/2026-11-20-ed9e7a8/bench-himeno.json.gz --only 'float' --format png

Columns of a table that are numbers make a curve per method (CPU dotted, commit cas dashed), others a
bar per method. Hollow marks and bars are extrapolated, crosses are wrong. `growth` makes two pictures, time against
quartets, and time and error against functions; `fock` one of all systems. The format of the files is in docs/reference/bench.md."""
import argparse
import gzip
import json
import os
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

COLOURS = [matplotlib.colormaps["tab20"](i) for i in [*range(0, 20, 2), *range(1, 20, 2)]]
AGAINST_QUARTETS, AGAINST_FUNCTIONS = "time against quartets", "time and error against functions"
LEGEND = {"fontsize": 6, "loc": "center left", "bbox_to_anchor": (1.01, 0.5)}


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def tables(document):
    """Measured cells by (experiment, table), in the order of the file; cells of growth are in two tables."""
    found = {}
    for cell in document["results"]:
        if cell["left_out"] is None and cell["rate"] is not None:
            for table in (AGAINST_QUARTETS, AGAINST_FUNCTIONS) if cell["experiment"] == "growth" else (cell["table"],):
                found.setdefault((cell["experiment"], table), []).append(cell)
    return found


def rows_of(cells):
    rows = {}
    for cell in cells:
        rows.setdefault(cell["row"], []).append(cell)
    return rows


def curves(axes, cells):
    rows = rows_of(cells)
    names = {row: re.sub("/(native|cas)(?![a-z])", "", row) for row in rows}  # one colour for both atomic updates
    order = list(dict.fromkeys(names.values()))
    for row, own in rows.items():
        colour = COLOURS[order.index(names[row]) % len(COLOURS)]
        style = ":" if own[0]["where"] == "cpu" else "--" if own[0]["commit"] == "cas" else "-"
        points = sorted((number(c["column"]), c) for c in own if number(c["column"]) is not None)
        if not points:  # e.g. a method without strips: a horizontal line
            axes.axhline(own[0]["rate"], label=row, color=colour, linestyle=style)
            continue
        x = [p[0] for p in points]
        y = [p[1]["rate"] for p in points]
        low = [p[1]["rate"] - p[1]["items"] / p[1]["seconds"]["max"] for p in points]
        high = [p[1]["items"] / p[1]["seconds"]["min"] - p[1]["rate"] for p in points]
        axes.errorbar(x, y, yerr=[[max(v, 0) for v in low], [max(v, 0) for v in high]], label=row,
                      color=colour, linestyle=style, linewidth=1)
        for at, rate, (_, cell) in zip(x, y, points):
            marker = "x" if cell["check"] and cell["check"]["status"] != "pass" else "o"
            axes.plot(at, rate, marker, color=colour, markersize=4,
                      fillstyle="none" if cell["extrapolated"] else "full")
    axes.legend(**LEGEND)
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
                              fill=not cell["extrapolated"], edgecolor=f"C{k % 10}")
    axes.legend(handles=[Patch(color=f"C{k % 10}", label=column) for k, column in enumerate(columns)], **LEGEND)
    axes.set_yticks([i + 0.4 - height / 2 for i in range(len(rows))], list(rows), fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")


def mark(cell):
    return "x" if cell["check"] and cell["check"]["status"] != "pass" else "o"


def growth(axes, cells, peak):
    """Seconds against screened-in quartets; dotted lines: time of the arithmetic at the GPU's peak."""
    series = {}
    for cell in cells:
        series.setdefault((cell["table"], cell["method"]), []).append(cell)
    for k, ((table, method), own) in enumerate(series.items()):
        own = sorted(own, key=lambda cell: cell["items"])
        quartets = [cell["items"] for cell in own]
        seconds = [cell["seconds"] for cell in own]
        spread = [[s["median"] - s["min"] for s in seconds], [s["max"] - s["median"] for s in seconds]]
        axes.errorbar(quartets, [s["median"] for s in seconds], yerr=spread, color=f"C{k}", linewidth=1,
                      label=f"{table} ({method})")
        for cell in own:
            axes.plot(cell["items"], cell["seconds"]["median"], mark(cell), color=f"C{k}", markersize=4)
            axes.annotate(cell["column"], (cell["items"], cell["seconds"]["median"]), fontsize=6,
                          textcoords="offset points", xytext=(3, -8), color=f"C{k}")
        if peak and method == "fused":
            axes.plot(quartets, [1e9 * cell["parameters"]["gflop"] / peak for cell in own], ":", color=f"C{k}",
                      linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("screened-in contracted quartets" + ("; dotted: the arithmetic at FP64 peak" if peak else ""))
    axes.set_ylabel("seconds for J and K")
    axes.legend(**LEGEND)


def by_functions(figure, cells):
    """Seconds, and below them the largest error of an element of G, against the number of functions."""
    time, error = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    series = {}
    for cell in cells:
        series.setdefault((cell["table"], cell["method"]), []).append(cell)
    for k, ((table, method), own) in enumerate(series.items()):
        own = sorted(own, key=lambda cell: cell["parameters"]["nao"])
        functions = [cell["parameters"]["nao"] for cell in own]
        time.plot(functions, [cell["seconds"]["median"] for cell in own], "o-", color=f"C{k}", linewidth=1, markersize=4,
                  label=f"{table} ({method})")
        for cell in own:
            time.annotate(cell["column"], (cell["parameters"]["nao"], cell["seconds"]["median"]), fontsize=6,
                          textcoords="offset points", xytext=(3, -8), color=f"C{k}")
            error.plot(cell["parameters"]["nao"], cell["parameters"]["error_fock_2e"], mark(cell), color=f"C{k}",
                       markersize=4)
    error.set_yscale("log")
    for axes in (time, error):
        axes.set_xscale("log")
        axes.grid(True, which="major", linewidth=0.3)
    time.set_yscale("log")
    time.set_ylabel("seconds for J and K")
    error.set_xlabel("functions")
    error.set_ylabel("largest error of G, hartree")
    time.legend(**LEGEND)
    return time


def systems(axes, cells):
    """Milliseconds of each system, with those of the fastest other program and the target."""
    names = list(dict.fromkeys(cell["row"] for cell in cells))
    for k, method in enumerate(dict.fromkeys(cell["method"] for cell in cells)):
        own = [cell for cell in cells if cell["method"] == method]
        for i, cell in enumerate(own):
            axes.plot(1e3 * cell["seconds"]["median"], names.index(cell["row"]), mark(cell), color=f"C{k}",
                      label=f"fmo, {method}" if i == 0 else None)
    for field, style, text in (("peer_seconds", "D", "best other program"), ("target_seconds", "|", "target")):
        own = [cell for cell in cells if field in cell["parameters"] and cell["where"] == "gpu"]
        axes.plot([1e3 * cell["parameters"][field] for cell in own], [names.index(cell["row"]) for cell in own],
                  style, color="0.5", label=text)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("ms for J and K")
    axes.legend(**LEGEND)


def read(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def plot(document, key, cells, folder, stem, suffix):
    figure = plt.figure(figsize=(9, 5.5), layout="constrained")
    axes = by_functions(figure, cells) if key[1] == AGAINST_FUNCTIONS else figure.subplots()
    by_number = sum(number(c["column"]) is not None for c in cells) > len(cells) / 2
    unit = f"{cells[0]['unit']} per second"
    if key[1] == AGAINST_FUNCTIONS:
        pass
    elif key[0] == "growth":
        growth(axes, cells, document["device"] and document["device"].get("fp64_flops"))
    elif key[0] == "fock":
        systems(axes, cells)
    elif by_number:
        curves(axes, cells)
        axes.set_ylabel(unit)
        axes.set_xlabel("bins" if key[0] == "histogram" else "")
    else:
        bars(axes, cells)
        axes.set_xlabel(unit)
    device = document["device"]["name"] if document["device"] else document["host"]["cpu"]
    revision = document.get("revision", document.get("commit"))  # version 1 called it commit
    axes.set_title(f"{key[0]}: {key[1]}\n{device}, fmo {revision or document['fmo_version']}", fontsize=9)
    axes.grid(True, which="major", linewidth=0.3)
    name = re.sub(r"[^a-z0-9]+", "-", f"{stem}-{key[0]}-{key[1]}".lower()).strip("-") + "." + suffix
    figure.savefig(os.path.join(folder, name), dpi=90, metadata={"Date": None} if suffix == "svg" else None)
    plt.close(figure)
    return name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="+", help="JSON written by fmo-bench, or the same compressed by gzip")
    parser.add_argument("--output", default=".", help="folder for the plots [.]")
    parser.add_argument("--format", choices=["svg", "png"], default="svg", help="[svg]")
    parser.add_argument("--only", metavar="REGEX", default="", help="only tables with such a name")
    arguments = parser.parse_args()
    os.makedirs(arguments.output, exist_ok=True)
    plt.rcParams["svg.hashsalt"] = "fmo-bench"
    for path in arguments.file:
        try:
            document = read(path)
        except (OSError, EOFError, ValueError) as error:
            sys.exit(f"plot.py: {path}: {error}")
        if document.get("format") != "fmo-bench" or document.get("version") not in (1, 2):
            sys.exit(f"plot.py: {path}: not fmo-bench results, version 1 or 2")
        stem = re.sub(r"(\.json)?(\.gz)?$", "", os.path.basename(path))
        for key, cells in tables(document).items():
            if re.search(arguments.only, key[1]):
                print(plot(document, key, cells, arguments.output, stem, arguments.format))


if __name__ == "__main__":
    main()
