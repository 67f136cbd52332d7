#!/usr/bin/env python3
"""Time every mode and scatter strategy of fmo-driver on some data sets, into one JSON file.

    measure.py --driver build/bin/fmo-driver --out h200.json DATASET.h5...

Python 3.9 or newer and nothing else. Each run is one `fmo-driver --profile=json`, whose document
is kept whole; what the driver refuses is kept with its message. plot.py makes the pictures and
tables. The driver times `--repeat` builds and reports their median, so a first build that is slow
does not count. The runs of the published comparison (plot.py, PATTERNS) come first, so that a
--limit that is reached costs the rest.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

FORMAT, VERSION = "fmo-measure", 2
OLDEST_PYTHON = (3, 9)

# Surviving quartets per second, low estimates, which say how many repeats fit into --seconds: fused
# with the hardware's atomics and with compare-and-swap, timed runs after the build included (one
# H200, (H2O)27 6-31G), and CPU work per thread (Xeon, AVX-512). A wrong one costs time or repeats.
RATE_FUSED, RATE_FUSED_CAS = 3e8, 1e8
RATE_CPU_THREAD, RATE_REDUCE_THREAD = 5e6, 8e6

# Fewest builds of a run; a build that lasts longer than LONG is made once.
LEAST_FUSED, LEAST_CAS, LEAST_HOST, LONG = 5, 3, 3, 6.0


@dataclass(frozen=True)
class Setting:
    """One combination of options, its expected quartets per second and fewest repeats."""

    options: tuple[str, ...]
    rate: float
    least: int
    first: bool  # part of the published comparison

    def repeats(self, quartets: int, seconds: float, most: int) -> int:
        """As many builds as `seconds` hold."""
        build = quartets / self.rate
        if build > LONG:
            return 1
        return min(max(int(seconds / build) if build > 0.0 else most, self.least), most)


def choices(help_text: str, option: str) -> list[str]:
    """The values that --help lists under an option: the lines indented least below it."""
    lines = help_text.splitlines()
    start = next((n for n, line in enumerate(lines)
                  if re.match(rf"\s+(-\w, )?--{option}\b", line)), None)
    if start is None:
        raise SystemExit(f"measure.py: --help of the driver knows no --{option}")
    below = []
    for line in lines[start + 1:]:
        if not line.strip() or re.match(r"\s+(-\w, )?--\w", line):
            break
        below.append(line)
    indents = [len(line) - len(line.lstrip()) for line in below]
    names = [line.split()[0] for line, indent in zip(below, indents) if indent == min(indents)]
    if not names:
        raise SystemExit(f"measure.py: --help of the driver lists no values of --{option}")
    return names


def settings(help_text: str, threads: int) -> list[Setting]:
    """All combinations; those that make no sense the driver refuses."""
    found = []
    for commit in choices(help_text, "commit"):
        cas = commit != "native"
        for scatter in choices(help_text, "scatter"):
            found.append(Setting(
                ("--mode", "fused", "--scatter", scatter, "--commit", commit),
                RATE_FUSED_CAS if cas else RATE_FUSED, LEAST_CAS if cas else LEAST_FUSED,
                scatter in ("native", "warp-shared", "warp-shuffle", "segmented")
                or (scatter == "auto" and not cas)))
    for reduce in choices(help_text, "reduce"):
        workers = 1 if reduce == "serial" else threads
        for overlap in ((), ("--no-overlap",)):
            found.append(Setting(
                ("--mode", "split", "--reduce", reduce, *overlap, "--threads", str(threads)),
                RATE_REDUCE_THREAD * workers, LEAST_HOST, reduce != "tree"))
    for count, reduce in ((1, "tree"), (threads, "tree"), (threads, "atomic")):
        found.append(Setting(
            ("--mode", "cpu", "--reduce", reduce, "--threads", str(count)),
            RATE_CPU_THREAD * count, LEAST_HOST, reduce == "tree"))
    return found


def run_driver(driver: Path, arguments: list[str], timeout: float) -> dict:
    """{"profile": document} or {"refused": message}."""
    try:
        done = subprocess.run([str(driver), *arguments, "--profile=json"], text=True, check=False,
                              timeout=timeout, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except subprocess.TimeoutExpired:
        return {"refused": f"stopped after {timeout:.0f} s"}
    if done.returncode == 0:
        return {"profile": json.loads(done.stdout)}
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return {"refused": lines[-1] if lines else f"exit code {done.returncode}"}


def quartets_of(profile: dict) -> int:
    """Surviving contracted quartets of the one build in a document."""
    return sum(entry["quartets"] for entry in profile["builds"][0]["classes"])


def gpu_driver() -> str | None:
    """Version of the NVIDIA driver, or None without one."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.split()
    return lines[0] if done.returncode == 0 and lines else None


def write(document: dict, runs: list[dict], out: Path) -> None:
    """One run a line."""
    text = json.dumps(document, indent=1)[:-2] + ',\n "runs": [\n  '
    text += ",\n  ".join(json.dumps(run, separators=(",", ":")) for run in runs) + "\n ]\n}\n"
    out.write_text(text, encoding="ascii")


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--driver", type=Path, required=True, help="path of fmo-driver")
    parser.add_argument("--out", type=Path, required=True, help="JSON file to write")
    parser.add_argument("--repeat", type=int, default=11, metavar="N",
                        help="most builds per run [%(default)s]")
    parser.add_argument("--threads", type=int, default=None, metavar="N",
                        help="CPU threads of the parallel runs [all cores]")
    parser.add_argument("--seconds", type=float, default=1.5, metavar="S",
                        help="fewer builds where N would take longer than this [%(default)s]")
    parser.add_argument("--timeout", type=float, default=90.0, metavar="S",
                        help="longest run [%(default)s]")
    parser.add_argument("--limit", type=float, default=230.0, metavar="S",
                        help="start no run after this time [%(default)s]")
    parser.add_argument("--revision", default=None, metavar="HASH",
                        help="git revision to record if the driver knows none")
    parser.add_argument("datasets", type=Path, nargs="+", metavar="DATASET.h5")
    return parser.parse_args()


def main() -> int:
    """Runs everything; 0 if something was measured."""
    if sys.version_info < OLDEST_PYTHON:
        raise SystemExit("measure.py: python 3.9 or newer is needed")
    args = parse_arguments()
    missing = [str(path) for path in (args.driver, *args.datasets) if not path.is_file()]
    if missing:
        raise SystemExit(f"measure.py: no such file: {', '.join(missing)}")
    started = time.monotonic()
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    help_text = subprocess.run([str(args.driver), "--help"], text=True, check=True,
                               stdout=subprocess.PIPE).stdout
    runs: dict[tuple[int, int], dict] = {}
    quartets: dict[int, int] = {}
    opening: dict = {}
    for d, dataset in enumerate(args.datasets):
        # Not kept: it brings file and GPU awake, and tells the amount of work.
        result = run_driver(args.driver, [str(dataset), "--repeat", "1"], args.timeout)
        if "refused" in result:
            raise SystemExit(f"measure.py: {dataset}: {result['refused']}")
        opening = opening or result["profile"]
        quartets[d] = quartets_of(result["profile"])
    todo = settings(help_text, args.threads or opening["host"]["cores"])
    order = [(d, s) for first in (True, False) for d in range(len(args.datasets))
             for s in range(len(todo)) if todo[s].first == first]
    for d, s in order:
        setting, dataset = todo[s], args.datasets[d]
        left = args.limit - (time.monotonic() - started)
        repeats = setting.repeats(quartets[d], args.seconds, args.repeat)
        options = [*setting.options, "--repeat", str(repeats)]
        before = time.monotonic()
        result = (run_driver(args.driver, [str(dataset), *options], args.timeout) if left > 0.0
                  else {"refused": f"not run: {args.limit:.0f} s were over"})
        runs[d, s] = {"dataset": dataset.stem, "options": shlex.join(options), **result}
        told = ("refused: " + result["refused"] if "refused" in result else
                f"{1e3 * result['profile']['builds'][0]['seconds']['median']:.3f} ms")
        print(f"{time.monotonic() - started:6.1f} s ({time.monotonic() - before:5.1f}) "
              f"{dataset.stem} {shlex.join(options)}: {told}", flush=True)
    write({"format": FORMAT, "version": VERSION, "command": shlex.join(sys.argv), "date": date,
           "seconds": round(time.monotonic() - started, 1),
           "host": {**opening["host"], "system": platform.platform()},
           "device": (opening["device"] or {}).get("name"), "driver": gpu_driver(),
           "revision": opening.get("revision") or args.revision},
          [runs[key] for key in sorted(runs)], args.out)
    return 0 if any("profile" in run for run in runs.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
