#!/usr/bin/env python3
"""docs/how-to/add-a-strategy.md, followed to the letter in a copy of the sources.

Row and file are the two code blocks of that section. The copy is configured with CUDA for one
architecture; built are the strategy's kernels, the test gpu_scatter, which has to pass too where
there is a GPU, and, without CUDA, fmo-driver. Skipped (77) where no nvcc is named.

build_strategy.py SOURCE WORK_FOLDER CMAKE [NVCC]
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

SKIP = 77
NEXT_ROW = "X(with, FMO_SCATTER_REPLICATED,"  # the one that the document names
CLASS = "ssss"  # kernels of one class of integrals are compiled, to save minutes


def run(*command, **options):
    """Output of a command, which must succeed; it is shown with its time."""
    begin = time.monotonic()
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    print(f"{time.monotonic() - begin:6.1f} s  {' '.join(map(str, command))}", flush=True)
    if done.returncode:
        sys.exit(done.stdout[-6000:] + f"\nfailed: exit code {done.returncode}")
    return done.stdout


def check(true, message):
    if not true:
        sys.exit(f"failed: {message}")


def code_blocks(document):
    """The indented code blocks of a document, as (language, text)."""
    blocks = []
    for indent, language, text in re.findall(r"^( +)```(\w+)\n(.*?)^\1```$", document, re.M | re.S):
        lines = [line.removeprefix(indent) for line in text.splitlines()]
        blocks.append((language, "\n".join(lines) + "\n"))
    return blocks


def left_out(source):
    """For copytree: what is no source, build folders above all."""
    def of(folder, names):
        top = Path(folder) == source
        return [n for n in names if n in (".git", "__pycache__") or n.startswith(".venv") or
                (top and not n.startswith(".ci") and (Path(folder) / n).is_dir() and
                 n not in ("accumulate", "base", "integrals", "io", "driver", "datasets", "docs", "tests",
                           "cmake"))]
    return of


def insert(source, document):
    """Row and file of the document, put where it says; returns name and type of the strategy."""
    blocks = code_blocks(document)
    check([language for language, _ in blocks] == ["c", "cuda"], "expected a row and a file")
    row, text = blocks[0][1], blocks[1][1]
    type_name = re.search(r"struct fmo_scatter_(\w+)", text)[1]
    name = re.search(r'"([^"]+)"', row)[1]
    check(re.search(r"\d", type_name), "the example should have a digit in its name")
    check(row.count("\n") > 1, "the example's row should have more than one line")
    table = source / "accumulate/scatter/scatter.h"
    old = table.read_text()
    check(old.count(NEXT_ROW) == 1, f"{table}: expected one {NEXT_ROW}")
    at = old.rindex("\n", 0, old.index(NEXT_ROW)) + 1
    table.write_text(old[:at] + row + old[at:])
    file = source / f"accumulate/scatter/scatter_{type_name}.cuh"
    check(not file.exists(), f"{file.name} exists already")
    file.write_text(text)
    return name, type_name


def main():
    source, work, cmake = (Path(a) for a in sys.argv[1:4])
    if len(sys.argv) < 5:
        print("skipped: a build without CUDA")
        return SKIP
    nvcc = sys.argv[4]
    shutil.rmtree(work, ignore_errors=True)
    copy = work / "fmo"
    shutil.copytree(source, copy, symlinks=True, ignore=left_out(source))
    name, type_name = insert(copy, (source / "docs/how-to/add-a-strategy.md").read_text())

    # The kernels, the headers, the test of the strategies.
    gpu = work / "gpu"
    run(cmake, "-S", copy, "-B", gpu, "-DFMO_CUDA=ON", f"-DCMAKE_CUDA_COMPILER={nvcc}",
        "-DCMAKE_CUDA_ARCHITECTURES=90-real", "-DFMO_WERROR=ON", "-DCMAKE_BUILD_TYPE=Release",
        f"-DFMO_GPU_ONLY_CLASS={CLASS}")
    variants = [f"fmo_gpu_{type_name}", f"fmo_gpu_{type_name}_cas"]
    run(cmake, "--build", gpu, "--parallel", "2", "--target", *variants, "gpu_scatter")
    for variant in variants:
        objects = list((gpu / f"accumulate/CMakeFiles/{variant}.dir").rglob("*.o"))
        check(len(objects) == 1, f"{variant}: {objects}")  # it takes no d shells
        symbols = "".join(run("nm", "-C", path) for path in objects)
        check(variant.replace("fmo_gpu_", "fmo_gpu_variant_") in symbols, f"no table of {variant}")
        kernels = re.findall(rf"fmo_gpu_fused<fmo_sp_class_{CLASS}, \(?(?:int\))?(\d)", symbols)
        check(len(set(kernels)) >= 3, f"{variant} has kernels {sorted(set(kernels))}")
    header = (gpu / "include/fmo/scatter_strategies.cuh").read_text()
    check(f'"scatter_{type_name}.cuh"' in header, "fmo/scatter_strategies.cuh leaves it out")
    check((gpu / f"include/fmo/scatter_{type_name}.cuh").exists(), "its file is no public header")
    test = subprocess.run([gpu / "tests/gpu_scatter"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, "FMO_TEST_SMALL": "1", "FMO_REQUIRE_GPU": "0"})
    print(test.stdout)
    check(test.returncode in (0, SKIP), f"gpu_scatter: exit code {test.returncode}")
    check(test.returncode == SKIP or f"{name}: " in test.stdout, f"gpu_scatter leaves {name} out")

    # What users see; unoptimised, which is compiled sooner.
    cpu = work / "cpu"
    run(cmake, "-S", copy, "-B", cpu, "-DFMO_CUDA=OFF", "-DBUILD_TESTING=OFF",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0")
    run(cmake, "--build", cpu, "--parallel", "2", "--target", "fmo-driver")
    help_text = run(cpu / "bin/fmo-driver", "--help")
    check(re.search(rf"^ +{re.escape(name)} ", help_text, re.M), f"--help leaves {name} out")
    shutil.rmtree(work)
    print(f"{name}: kernels, headers, test and --help follow from its row and its file")
    return 0


if __name__ == "__main__":
    sys.exit(main())
