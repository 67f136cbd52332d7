#!/usr/bin/env python3
"""Pictures and tables from what measure.py wrote.

    plot.py MEASURED.json.gz              tables on stdout, pictures beside the file
    plot.py --tables MEASURED.json.gz     tables only; needs nothing but Python 3.9

MEASURED is what measure.py wrote, such as 2026-11-22-918a1f3/h200-strategies.json.gz.

The pictures need matplotlib: python3 -m venv .venv-plot && .venv-plot/bin/pip install -r
docs/results/requirements.txt, then start this script with .venv-plot/bin/python. Several files are
read as one, the last measurement of a run counts. Times are medians over a run's builds. What
accumulation costs is taken from the runs that the driver makes after a build, class after class
with timers, with and without commits; the build itself may run classes side by side and be faster.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

CLASSES = ("ssss", "psss", "psps", "ppss", "ppps", "pppp")
BASELINE = "(5) CPU, 1 thread"

# The colours of Okabe and Ito, which everybody can tell apart.
BLUE, ORANGE, GREY, SKY, RED = "#0072B2", "#E69F00", "#999999", "#56B4E9", "#D55E00"


@dataclass(frozen=True)
class Run:
    """One run of measure.py that succeeded."""

    dataset: str
    options: dict[str, str]
    build: dict

    @property
    def seconds(self) -> float:
        """Median time of a build."""
        return self.build["seconds"]["median"]

    @property
    def class_seconds(self) -> float:
        """The quartet kernels of all classes."""
        return sum(c["seconds"] for c in self.build["classes"])

    @property
    def compute_seconds(self) -> float:
        """The same without their commits."""
        return sum(c["compute_seconds"] for c in self.build["classes"])

    @property
    def timed_seconds(self) -> float:
        """GPU time of the run that timed the classes, from the density to J and K."""
        return self.class_seconds + (self.build["screening_seconds"] or 0.0)

    @property
    def strategy(self) -> str:
        """Scatter strategy as requested, with its commit if that is not the hardware's."""
        commit = self.options.get("commit", "native")
        return self.options["scatter"] + ("" if commit == "native" else f", {commit}")


@dataclass(frozen=True)
class Pattern:
    """A bar of the published comparison and the options that make it."""

    name: str
    colour: str
    options: dict[str, str | None]


def fused(scatter: str, commit: str) -> dict[str, str | None]:
    """Options of a fused run."""
    return {"mode": "fused", "scatter": scatter, "commit": commit}


def split(reduce: str, taking_turns: bool) -> dict[str, str | None]:
    """Options of a split run."""
    return {"mode": "split", "reduce": reduce, "no-overlap": "" if taking_turns else None}


# Tabaru and Nakahira 2013, figure 9: fused with (1) and without (2) aggregation, GPU integrals with
# (3) serial and (4) parallel reduction on the CPU, CPU alone (5) serial and (6) parallel.
PATTERNS = (
    Pattern("(1) Fermi form, CAS", BLUE, fused("warp-shared", "cas")),
    Pattern("(1) Kepler form, CAS", BLUE, fused("warp-shuffle", "cas")),
    Pattern("(1) segmented, CAS", BLUE, fused("segmented", "cas")),
    Pattern("(2) plain, CAS", SKY, fused("native", "cas")),
    Pattern("(1) Fermi form, native", BLUE, fused("warp-shared", "native")),
    Pattern("(1) Kepler form, native", BLUE, fused("warp-shuffle", "native")),
    Pattern("(1) segmented, native", BLUE, fused("segmented", "native")),
    Pattern("(2) plain, native", SKY, fused("native", "native")),
    Pattern("(3) split, serial", ORANGE, split("serial", True)),
    Pattern("(3) ... overlapped", ORANGE, split("serial", False)),
    Pattern("(4) split, atomic", RED, split("atomic", True)),
    Pattern("(4) ... overlapped", RED, split("atomic", False)),
    Pattern(BASELINE, GREY, {"mode": "cpu", "reduce": "tree", "threads": "1"}),
    Pattern("(6) CPU, all threads", GREY, {"mode": "cpu", "reduce": "tree", "threads": "all"}),
    Pattern("(6) ... atomic adds", GREY, {"mode": "cpu", "reduce": "atomic", "threads": "all"}),
)

# Quotients of times, slower pattern first: what the paper's sentences are about.
RATIOS = (
    ("(2)/(1) Fermi form, both CAS", "(2) plain, CAS", "(1) Fermi form, CAS"),
    ("(2)/(1) Kepler form, both CAS", "(2) plain, CAS", "(1) Kepler form, CAS"),
    ("(2)/(1) segmented, both CAS", "(2) plain, CAS", "(1) segmented, CAS"),
    ("(2)/(1) Fermi form, both native", "(2) plain, native", "(1) Fermi form, native"),
    ("(2)/(1) Kepler form, both native", "(2) plain, native", "(1) Kepler form, native"),
    ("(2)/(1) segmented, both native", "(2) plain, native", "(1) segmented, native"),
    ("(2) CAS/native", "(2) plain, CAS", "(2) plain, native"),
    ("(6)/(1) Fermi form, CAS", "(6) CPU, all threads", "(1) Fermi form, CAS"),
    ("(6)/(1) segmented, native", "(6) CPU, all threads", "(1) segmented, native"),
    ("(4)/(3)", "(4) split, atomic", "(3) split, serial"),
    ("(3)/(3) overlapped", "(3) split, serial", "(3) ... overlapped"),
)


class Measurement:
    """All runs of some files."""

    def __init__(self, paths: list[Path]):
        self.documents = [read(path) for path in paths]
        self.refused: list[tuple[str, str, str]] = []
        runs: dict[tuple[str, str], Run] = {}
        for path, document in zip(paths, self.documents):
            if document.get("format") != "fmo-measure" or document.get("version") not in (1, 2):
                raise SystemExit(f"plot.py: {path} is not what measure.py writes")
            for entry in document["runs"]:
                options = parse_options(entry["options"])
                if "refused" in entry:
                    self.refused.append((entry["dataset"], entry["options"], entry["refused"]))
                    continue
                key = json.dumps({k: v for k, v in options.items() if k != "repeat"})
                runs[entry["dataset"], key] = Run(entry["dataset"], options,
                                                  entry["profile"]["builds"][0])
        self.runs = list(runs.values())
        self.size = {run.dataset: run.build["nao"] for run in self.runs}
        self.datasets = sorted(self.size, key=lambda name: self.size[name])
        self.threads = max((int(run.options["threads"]) for run in self.runs
                            if run.options["mode"] == "cpu"), default=1)

    def find(self, dataset: str, options: dict[str, str | None]) -> Run | None:
        """The run of a data set with certain options."""
        full = {k: str(self.threads) if v == "all" else v for k, v in options.items()}
        for run in self.runs:
            if run.dataset == dataset and all(run.options.get(k) == v for k, v in full.items()):
                return run
        return None

    def pattern(self, dataset: str, name: str) -> Run | None:
        """The run of a row of PATTERNS."""
        return self.find(dataset, next(p.options for p in PATTERNS if p.name == name))

    def fused(self, dataset: str) -> list[Run]:
        """Fused runs of a data set, in the driver's order of strategies, CAS after native."""
        runs = [run for run in self.runs
                if run.dataset == dataset and run.options["mode"] == "fused"]
        return sorted(runs, key=lambda run: run.options.get("commit", "native") != "native")

    def title(self, dataset: str) -> str:
        """Name and size of a data set."""
        return f"{dataset}, {self.size[dataset]} functions"


def read(path: Path) -> dict:
    """A JSON file, compressed or not."""
    raw = path.read_bytes()
    return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)


def revision(document: dict) -> str | None:
    """Of git; version 1 of the format called it a commit."""
    return document.get("revision", document.get("commit"))


def parse_options(text: str) -> dict[str, str]:
    """{"mode": "split", "no-overlap": ""} of "--mode split --no-overlap"."""
    found: dict[str, str] = {}
    name = ""
    for word in shlex.split(text):
        if word.startswith("--"):
            name = word[2:]
            found[name] = ""
        else:
            found[name] = word
    return found


def table(header: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines) + "\n"


def milliseconds(seconds: float | None) -> str:
    """Four digits."""
    if seconds is None:
        return "-"
    return f"{1e3 * seconds:.0f}" if seconds >= 1.0 else f"{1e3 * seconds:.4g}"


def percent(part: float, whole: float) -> str:
    """One digit after the point."""
    return f"{100 * part / whole:.1f}" if whole > 0.0 else "-"


def comparison_tables(m: Measurement) -> str:
    """Times and speeds of the published patterns, and their quotients."""
    rows, ratios = [], []
    for pattern in PATTERNS:
        row = [pattern.name]
        for dataset in m.datasets:
            run, base = m.pattern(dataset, pattern.name), m.pattern(dataset, BASELINE)
            row.append("-" if run is None else milliseconds(run.seconds) if base is None else
                       f"{milliseconds(run.seconds)} ({base.seconds / run.seconds:.3g}x)")
        rows.append(row)
    for name, slow, fast in RATIOS:
        row = [name]
        for dataset in m.datasets:
            over, under = m.pattern(dataset, slow), m.pattern(dataset, fast)
            row.append("-" if over is None or under is None
                       else f"{over.seconds / under.seconds:.3g}")
        ratios.append(row)
    header = [m.title(dataset) for dataset in m.datasets]
    return (f"### Patterns: ms per build (speed relative to (5)); all: {m.threads} threads\n\n"
            + table(["pattern", *header], rows)
            + "\n### Quotients of times\n\n" + table(["quotient", *header], ratios))


def accumulation_tables(m: Measurement) -> str:
    """What accumulation costs, per data set, strategy and class."""
    text = "### Accumulation: % of a class's kernel time\n"
    for dataset in m.datasets:
        rows = []
        for run in m.fused(dataset):
            classes = {c["name"]: c for c in run.build["classes"]}
            adds = sum(c["adds"] for c in classes.values())
            issued = sum(c["adds_issued"] for c in classes.values())
            spent = run.class_seconds - run.compute_seconds
            became = run.build["scatter"]
            name = run.strategy + (f" = {became}" if became != run.options["scatter"] else "")
            rows.append([name, *(percent(c["accumulation_seconds"], c["seconds"])
                                 for c in (classes[k] for k in CLASSES)),
                         percent(spent, run.class_seconds), percent(spent, run.timed_seconds),
                         f"{issued / adds:.2f}" if adds else "-",
                         milliseconds(run.build["gpu_seconds"]), milliseconds(run.seconds)])
        text += f"\n{m.title(dataset)}\n\n" + table(
            ["strategy", *CLASSES, "all classes", "of all GPU work", "atomics per add", "GPU ms",
             "build ms"], rows)
    return text


def split_table(m: Measurement) -> str:
    """Where split builds spend their time."""
    rows = []
    for dataset in m.datasets:
        for run in m.runs:
            if run.dataset != dataset or run.options["mode"] != "split":
                continue
            b, wall = run.build, run.build["seconds"]["median"]
            rows.append([dataset, b["reduce"],
                         "turns" if "no-overlap" in run.options else "overlapped",
                         milliseconds(wall),
                         *(f"{milliseconds(b[k])} ({percent(b[k], wall)})" for k in
                           ("gpu_seconds", "transfer_seconds", "reduce_seconds"))])
    return ("### Split: ms (% of the build); overlapped parts may add up to more than 100\n\n"
            + table(["data set", "reduce", "GPU and CPU", "build", "integral kernels", "copies",
                     "CPU reduction"], rows))


def auto_table(m: Measurement) -> str:
    """`auto` against the best strategy that one could have named, with the hardware's atomics."""
    rows = []
    for dataset in m.datasets:
        auto = m.find(dataset, fused("auto", "native"))
        others = [run for run in m.fused(dataset)
                  if run.options["scatter"] != "auto" and run.options["commit"] == "native"]
        if auto is None or not others:
            continue
        best = min(others, key=lambda run: run.seconds)
        rows.append([dataset, auto.build["scatter"], milliseconds(auto.seconds),
                     best.options["scatter"], milliseconds(best.seconds),
                     f"{auto.seconds / best.seconds:.3f}"])
    return "### auto\n\n" + table(["data set", "auto chose", "ms", "best fixed choice", "ms",
                                   "auto / best"], rows)


def print_tables(m: Measurement) -> None:
    """Everything, with where it comes from."""
    for d in m.documents:
        print(f"Measured {d['date']}, {d['device'] or 'no GPU'}, driver {d['driver'] or '-'}, "
              f"host {d['host']['cpu']} ({d['host']['cores']} cores), revision "
              f"{revision(d) or 'not known'}\n")
    print(comparison_tables(m))
    print(accumulation_tables(m))
    print(split_table(m))
    print(auto_table(m))
    if m.refused:
        print("### Refused or not run\n")
        for dataset, options, message in m.refused:
            print(f"- `{dataset} {options}`: {message}")


def draw_accumulation(m: Measurement, pyplot, caption: str):
    """A stacked bar per data set and strategy, in rows for the two commits."""
    commits = [c for c in ("native", "cas")
               if any(run.options["commit"] == c for d in m.datasets for run in m.fused(d))]
    names = {c: list(dict.fromkeys(run.options["scatter"] for d in m.datasets
                                   for run in m.fused(d) if run.options["commit"] == c))
             for c in commits}
    figure, axes = pyplot.subplots(
        len(commits), len(m.datasets), squeeze=False, layout="constrained",
        figsize=(3.1 * len(m.datasets) + 1.2, 0.27 * sum(map(len, names.values())) + 1.9),
        height_ratios=[len(names[c]) for c in commits])
    for row, commit in enumerate(commits):
        for column, dataset in enumerate(m.datasets):
            ax = axes[row][column]
            runs = {run.options["scatter"]: run for run in m.fused(dataset)
                    if run.options["commit"] == commit}
            longest = max((max(run.seconds, run.timed_seconds) for run in runs.values()),
                          default=1.0)
            for y, name in enumerate(names[commit]):
                if name not in runs:
                    ax.text(0.0, y, " not run", va="center", fontsize=7, color=GREY)
                    continue
                run = runs[name]
                accumulation = max(run.class_seconds - run.compute_seconds, 0.0)
                parts = (("integrals and digestion", BLUE, run.class_seconds - accumulation),
                         ("accumulation", ORANGE, accumulation),
                         ("screening, other GPU work", GREY,
                          run.timed_seconds - run.class_seconds))
                left = 0.0
                for label, colour, seconds in parts:
                    ax.barh(y, 1e3 * seconds, left=1e3 * left, color=colour, height=0.75,
                            label=label)
                    left += seconds
                ax.plot([1e3 * run.seconds] * 2, [y - 0.4, y + 0.4], color="black", linewidth=1.5,
                        label="a build, copies included")
                ax.text(1e3 * (max(left, run.seconds) + 0.015 * longest), y,
                        f"{percent(accumulation, run.class_seconds)} %", va="center", fontsize=7)
            ax.set_xlim(0.0, 1e3 * 1.17 * longest)
            ax.set_yticks(range(len(names[commit])), names[commit] if column == 0 else [])
            ax.invert_yaxis()
            ax.tick_params(labelsize=8)
            ax.spines[["top", "right"]].set_visible(False)
            if row == 0:
                ax.set_title(m.title(dataset), fontsize=9)
            if row == len(commits) - 1:
                ax.set_xlabel("ms", fontsize=8)
            if column == 0:
                ax.set_ylabel(f"commit {commit}", fontsize=9)
    handles = dict(zip(*reversed(axes[-1][-1].get_legend_handles_labels())))
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("What accumulation costs: GPU time class after class, and the share of "
                    f"accumulation in the quartet kernels\n{caption}", fontsize=9)
    return figure


def draw_comparison(m: Measurement, pyplot, caption: str):
    """The speeds of the published patterns, relative to (5)."""
    figure, axes = pyplot.subplots(
        1, len(m.datasets), squeeze=False, layout="constrained",
        figsize=(2.6 * len(m.datasets) + 1.6, 0.25 * len(PATTERNS) + 1.3))
    for column, dataset in enumerate(m.datasets):
        ax, base = axes[0][column], m.pattern(dataset, BASELINE)
        most = 1.0
        for y, pattern in enumerate(PATTERNS):
            run = m.pattern(dataset, pattern.name)
            if run is None or base is None:
                continue
            speed = base.seconds / run.seconds
            most = max(most, speed)
            ax.barh(y, speed, color=pattern.colour, height=0.75)
            ax.text(speed * 1.1, y, f"{speed:.3g}", va="center", fontsize=7)
        ax.set_xscale("log")
        ax.set_xlim(left=min(0.1, ax.get_xlim()[0]), right=12.0 * most)
        ax.axvline(1.0, color="black", linewidth=0.6)
        ax.set_yticks(range(len(PATTERNS)), [p.name for p in PATTERNS] if column == 0 else [])
        ax.invert_yaxis()
        ax.tick_params(labelsize=8)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(m.title(dataset), fontsize=9)
        ax.set_xlabel("speed relative to (5)", fontsize=8)
    figure.suptitle(f"The six patterns of 2013 again\n{caption}", fontsize=9)
    return figure


def shorten(tag: re.Match) -> str:
    """A tag of an SVG file with coordinates to a tenth; text between tags keeps its digits."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.1f}", tag[0])


def draw(m: Measurement, folder: Path, prefix: str) -> None:
    """All pictures, as PNG and SVG."""
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("plot.py: no matplotlib: see `pydoc` of this file, or --tables") from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "fmo"})
    from matplotlib import pyplot
    d = m.documents[-1]
    caption = f"{d['device']}, driver {d['driver']}, revision {revision(d)}, {d['date'][:10]}"
    for name, drawing in (("accumulation", draw_accumulation), ("patterns", draw_comparison)):
        figure = drawing(m, pyplot, caption)
        for suffix in ("png", "svg"):
            path = folder / f"{prefix}-{name}.{suffix}"
            figure.savefig(path, dpi=110, metadata={"Date": None} if suffix == "svg" else None)
            if suffix == "svg":  # tenths of a point are enough
                text = re.sub(r"<[^>]*>", shorten, path.read_text(encoding="utf-8"))
                path.write_text(text, encoding="utf-8")
            print(f"wrote {path}", file=sys.stderr)


def main() -> int:
    """Reads, prints, draws."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", action="store_true", help="no pictures")
    parser.add_argument("--folder", type=Path, help="where pictures go [beside the first file]")
    parser.add_argument("--prefix", default="h200", help="of their names [%(default)s]")
    parser.add_argument("files", type=Path, nargs="+", metavar="MEASURED.json")
    args = parser.parse_args()
    m = Measurement(args.files)
    if not m.runs:
        raise SystemExit("plot.py: nothing was measured")
    print_tables(m)
    if not args.tables:
        draw(m, args.folder or args.files[0].parent, args.prefix)
    return 0


if __name__ == "__main__":
    sys.exit(main())
