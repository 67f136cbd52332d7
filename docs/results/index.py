#!/usr/bin/env python3
"""Write the index of raw results, docs/log/raw-results.md; or check it.

    docs/results/index.py            write it
    docs/results/index.py --check    exit code 1 if it is stale, if no document or source refers to a
                                     file, or if one refers to a file that does not exist

Python 3.9 or newer and nothing else. Files stand in folders DATE-REVISION, the day of the
measurement and the git revision that was measured (of a series of states, the last one). Device,
revision and command are read from the head of a file, best as a first line
    # device: NVIDIA H200, revision 0123456; command: fmo-bench fock
NOTES says what no head can say, of pictures for instance, or does not.
"""

from __future__ import annotations

import argparse
import fnmatch
import gzip
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INDEX = ROOT / "docs" / "log" / "raw-results.md"

SCANNED = (".md", ".c", ".h", ".cu", ".cuh", ".py", ".cmake", ".sh", ".in", "CMakeLists.txt")
SKIPPED = re.compile(r"^(\.git|\.venv.*|build.*|made|__pycache__|.*\.egg-info)$")

FOLDER = re.compile(r"^(\d{4}-\d\d-\d\d)-([0-9a-f]{7})$")
REFERENCE = re.compile(r"((?:\d{4}-\d\d-\d\d|\*)-[0-9a-f]{7})/([\w.*-]*[\w*])")
OTHER_FILE = re.compile(r"(?:docs/|\]\((?:\.\./)*)results/([\w-]+\.[\w.]*\w)")

UNKNOWN = "not recorded"
H200 = "NVIDIA H200"
XEON = "Intel Xeon"
PLOT = "`docs/results/plot.py` of h200-strategies.json.gz"
BENCH_PLOT = "`driver/bench/plot.py` of the file beside it"

# What heads do not say: pattern of DATE-REVISION/FILE, then device, revision, command; None: as the
# head says, or "not recorded".
NOTES = [
    ("*/h200-accumulation.svg", H200, None, PLOT),
    ("*/h200-patterns.svg", H200, None, PLOT),
    ("*/h200-strategies.md", H200, None, "`docs/results/plot.py --tables h200-strategies.json.gz`"),
    ("*/h200-bench-*.svg", H200, None, BENCH_PLOT),
    ("*/h200-growth-*.svg", H200, None, BENCH_PLOT),
    ("*/bench-*.png", H200, None, BENCH_PLOT),
    ("*/bench-*.json.gz", None, None, "`driver/bench/run-all.sh`; its parts: bench.log.gz"),
    ("*/bench.log.gz", H200, "ed9e7a8, histogram-2013 again at 1841d34", "`driver/bench/run-all.sh`"),
    ("*/h200-bench-fock.json", None, None, "as in h200-bench-fock.txt"),
    ("*/h200-bench-growth.json", None, None, "as in h200-bench-growth.txt"),
    ("2026-11-20-735bc3c/cpu-libcint.txt", None, "working tree before 735bc3c", None),
    ("2026-11-20-735bc3c/cpu-parts.txt", None, "working tree before 735bc3c", "as printed"),
    ("2026-11-20-735bc3c/h200-other-programs.txt", None,
     "other programs: GPU4PySCF 1.8.1, JoltQC d844ace, OpenFMO", UNKNOWN),
    ("2026-11-20-aa365de/fuzz-readers.txt", "two cores, model not recorded",
     UNKNOWN + " (what was found is corrected in aa365de)", "tests/fuzz/README.md"),
    ("2026-11-20-d727bbc/h200-rungs-8-14.txt", None, "working trees from fa9c5d0 to d727bbc",
     "program at the end of h200-strategies-rung-6.txt"),
    ("2026-11-20-d727bbc/h200-ncu-rung-10.txt", None, "working tree before d727bbc", None),
    ("2026-11-20-04c1642/h200-ncu-rung-16.txt", None, UNKNOWN + " (kernels of rungs 15 to 18)",
     "ncu; rest " + UNKNOWN),
    ("2026-11-20-04c1642/far-share-j.txt", "a CPU, not recorded which", None,
     "a program that is not kept"),
    ("2026-11-21-bbbf3e7/far-share-k.txt", "a CPU, not recorded which", None,
     "a program that is not kept"),
    ("2026-11-20-1542f28/cpu-boys-rows-avx2.txt", None, "5267f8f against 1542f28", None),
    ("2026-11-20-3777c84/h200-ncu-rungs-3-6.txt", None, "3777c84, and states up to ee6bf27", None),
    ("2026-11-20-f85c040/h200-rungs-15-23.txt", None, "states from dce1d72 to f85c040",
     "program at the end of h200-strategies-rung-6.txt"),
    ("2026-11-20-f85c040/h200-bench-fock-f85c040.txt", None, "f85c040", None),
    ("2026-11-20-f2820d4/h200-bench-fock-f2820d4.txt", None, "f2820d4", None),
    ("2026-11-21-db43f1e/h200-rungs-24-31.txt", None, "states from bbbf3e7 to db43f1e",
     "a program that is not kept, described in h200-rungs-32-36.txt"),
    ("2026-11-21-db43f1e/h200-ncu-rung-30.txt", None, "state before db43f1e", None),
    ("2026-11-22-e7eae95/h200-rungs-32-36.txt", None, "states from aff3986 to e7eae95", None),
    ("2026-11-22-77b1cb3/h200-rungs-37-41.txt", None, "states from 82e90d6 to 77b1cb3", None),
    ("2026-11-22-2380313/h200-rungs-42-46.txt", None, "states from 0472f23 to 2380313", None),
    ("2026-11-22-0de36e5/cpu-shell-pairs.txt", None, "2621ef6 against 0de36e5",
     "a program that is not kept"),
    ("2026-11-22-24d2eb6/cpu-one-electron.txt", None, "24d2eb6 against e7ccfdb",
     "a program that is not kept"),
    ("*/h200-strategies-rung-6.txt", None, None, "program at its end"),
    ("*/h200-builds-rung-7.txt", None, None, "program at the end of h200-strategies-rung-6.txt"),
    ("*/h200-depth-scan.txt", None, None, "program at the end of h200-strategies-rung-6.txt"),
    ("*/h200-strategies-rung-1.txt", None, None, "program at the end of h200-strategies-rung-6.txt"),
    ("2026-11-20-f2820d4/cpu-threads-16-cores.txt", "Intel Xeon, 16 cores, host of an H200", None,
     "as printed"),
    ("2026-11-22-77b1cb3/h200-stored.txt", None, None,
     "`fmo-driver DATASET --mode fused --integrals HOW --repeat 11 --profile=json`"),
    ("2026-11-22-2380313/sm90-ptxas-registers.txt", "none: ptxas of CUDA 13.0.88 for sm_90", None, None),
    ("2026-11-20-5f4b340/h200-sanitizer-bench.txt", None, None, "compute-sanitizer, as printed"),
    ("2026-11-20-b55305c/cpu-accuracy.txt", None, None, "as printed"),
    ("2026-11-22-537f4c2/h200-terms-before-after.txt", None, "933c4a8 against 537f4c2",
     "`fmo-bench fock -n 9 --seconds 1`"),
    ("2026-11-22-918a1f3/h200-before-after.json.gz", H200, None, "as in h200-before-after.md"),
    ("2026-11-22-b04ed14/all-architectures.txt", "none: nvcc of CUDA 13.0", None,
     "`.ci/run`, its step every_architecture"),
    ("2026-11-23-22d7f4e/h200-before-after.txt", None, "192b433 against 22d7f4e", None),
    ("2026-11-23-22d7f4e/h200-rungs-48-53.txt", None, "states from d409a66 to 22d7f4e", None),
    ("2026-11-23-22d7f4e/h200-other-programs-d.txt", None,
     "other programs: GPU4PySCF 1.8.1, JoltQC d844ace", UNKNOWN),
    ("*/sm90-ptxas-d*.txt", "none: ptxas for sm_90", None, None),
]

INTRODUCTION = """# Raw results

Written by `docs/results/index.py`; do not edit. Each folder is named by the day of a measurement and
the git revision that was measured: the last one, where a file compares states of the code that
followed each other. Every file is referred to by a document or a source file, as the last column
says; `docs/results/index.py --check`, one of the tests, fails if one is not, or if something refers
to a file that is not here.

`measure.py` times every strategy on some data sets, `plot.py` makes tables and pictures of what it
wrote, and `run-gpu.sh` measures again, on a GPU machine, all that is older than the kernels it
describes. A file that replaces an older one goes into a folder of its own; what nothing refers to
any longer is deleted, and git keeps it.

"""


class Result:
    """One raw file, and what is known of it."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(HERE).as_posix()
        folder = FOLDER.match(path.parent.name)
        assert folder
        self.date = folder[1]
        device, revision, command = read_head(path)
        note = next((n for n in NOTES if fnmatch.fnmatch(self.name, n[0])), (None,) * 4)
        self.device = note[1] or device or UNKNOWN
        self.revision = note[2] or revision or folder[2]
        self.command = note[3] or command or UNKNOWN
        self.users: set[str] = set()


def read_head(path: Path) -> tuple[str | None, str | None, str | None]:
    """Device, revision and command, as far as the head of a file says them."""
    if path.suffix in (".png", ".svg"):
        return None, None, None
    raw = path.read_bytes()
    if path.suffix == ".gz":
        raw = gzip.decompress(raw)
    text = raw.decode("utf-8", "replace")
    if text.startswith("{"):
        document = json.loads(text)
        device = document.get("device")
        if isinstance(device, dict):
            device = device.get("name")
        revision = document.get("revision") or document.get("commit")
        command = document.get("command")
        return (device, revision and revision[:7],
                command and f"`{re.sub('/(root|tmp)/[^ ]*/', '', command)}`")
    head = "\n".join(text.splitlines()[:12])
    head = re.sub(r"^(# *device: .*?); *(?=command: )", r"\1\n# ", head, flags=re.M)
    device = r"NVIDIA [A-Z]\w+|AMD EPYC|Intel(?:\(R\))? Xeon"
    found = re.search(rf"^(?:GPU|# *device): *({device})", head, re.M) or re.search(f"({device})", head)
    device = found and found[1].replace("(R)", "")
    found = re.search(r"(?:commit|revision):?\s+([0-9a-f]{7})", head)
    revision = found and found[1]
    found = re.search(r"^#? *command[^:\n]*: *(.+)$", head, re.M) or re.search(
        r"^# *((?:driver/bench/|ncu |fmo-|docs/results/)[^;(\n]+)", head, re.M)
    command = found and found[1].split(" (")[0].split("; ")[0].split(" before ")[0].rstrip(" ,.:\\")
    if command and command.startswith("a program of its own, not kept"):
        return device, revision, "a program that is not kept, described in the file"
    if command and len(command) > 110:
        command = command[:100].rsplit(" ", 1)[0] + " ..."
    return device, revision, command and f"`{command}`"


def sources() -> list[Path]:
    """Documents and sources that may refer to results; raw files and the index are none."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not SKIPPED.match(f))
        if Path(folder).parent == HERE:
            continue
        found += [Path(folder, f) for f in sorted(files)
                  if f.endswith(SCANNED) and Path(folder, f) not in (INDEX, Path(__file__).resolve())]
    return found


def find_references(results: list[Result]) -> list[str]:
    """Fills in who uses what; messages about references that lead nowhere."""
    errors = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for folder, file in REFERENCE.findall(line):
                hits = [r for r in results if fnmatch.fnmatch(r.name, f"{folder}/{file}")]
                for hit in hits if folder[0] != "*" else ():
                    hit.users.add(name)
                if not hits:
                    errors.append(f"{name}:{number}: no file docs/results/{folder}/{file}")
            errors += [f"{name}:{number}: no file docs/results/{file}"
                       for file in OTHER_FILE.findall(line) if not (HERE / file).exists()]
    return errors


def table(results: list[Result]) -> str:
    """The index, newest first."""
    lines = ["| date | file | revision | device | command | referred to by |",
             "|---|---|---|---|---|---|"]
    for r in sorted(sorted(results, key=lambda r: r.name), key=lambda r: r.date, reverse=True):
        users = ", ".join(f"[{u}]({os.path.relpath(ROOT / u, INDEX.parent)})" for u in sorted(r.users))
        cells = (r.date, f"[{r.name}](../results/{r.name})", r.revision, r.device,
                 r.command.replace("|", "\\|"), users)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Exit code 0, or 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    errors, results = [], []
    for folder in sorted(p for p in HERE.iterdir() if p.is_dir() and not SKIPPED.match(p.name)):
        if not FOLDER.match(folder.name):
            errors.append(f"docs/results/{folder.name}: not named DATE-REVISION")
            continue
        results += [Result(p) for p in sorted(folder.iterdir())]
    errors += find_references(results)
    errors += [f"docs/results/{r.name}: nothing refers to it" for r in results if not r.users]
    text = INTRODUCTION + table(results)
    if not args.check:
        INDEX.write_text(text, encoding="utf-8")
    elif not INDEX.exists() or INDEX.read_text(encoding="utf-8") != text:
        errors.append("docs/log/raw-results.md: stale, run docs/results/index.py")
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
