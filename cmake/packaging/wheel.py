#!/usr/bin/env python3
"""Makes a Python wheel of fmo with CMake and a C compiler alone, and of Python only the standard library (3.11 or
newer). A network is needed only where hdf5.sh downloads the sources of HDF5: see --hdf5.

    cmake/packaging/wheel.py                     CPU
    cmake/packaging/wheel.py --cuda              CPU and every GPU architecture of a release
    cmake/packaging/wheel.py --cuda 90-real      CPU and these architectures, as CMake lists them
    cmake/packaging/wheel.py --build DIR         of a build folder that exists, as it is; for other machines only if
                                                 that was configured with FMO_WHEEL=ON

The same content as by `pip wheel .`, but for many machines: a wheel is named after the oldest glibc that it runs
with. OpenBLAS is that of the PyPI package scipy-openblas32, if it is installed or --openblas names the folder
scipy_openblas32 of the unpacked wheel; else the system's. Then, with a network: auditwheel show, twine check.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import older_glibc

SOURCE = Path(__file__).resolve().parents[2]
GLIBC = (2, 28)  # RHEL 8, Debian 10, Ubuntu 20.04
LEAST = (2, 17)  # no older name of a platform is in use
NVIDIA = {"13": ["nvidia-cublas>=13,<14", "nvidia-cusolver>=12,<13"],
          "12": ["nvidia-cublas-cu12>=12", "nvidia-cusolver-cu12>=11"]}


def arguments() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, help="build folder, which is not configured or built here")
    parser.add_argument("--cuda", nargs="?", const="OFF", metavar="ARCHITECTURES",
                        help="with GPU code, for CMAKE_CUDA_ARCHITECTURES [those of a release]")
    parser.add_argument("--openblas", type=Path, help="folder scipy_openblas32")
    parser.add_argument("--hdf5", type=Path, help="folder of a static libhdf5 without dependencies [made by hdf5.sh]")
    parser.add_argument("--glibc", type=Path, help="folder of the glibc that was linked, where that is not this machine's")
    parser.add_argument("--output", type=Path, default=Path("dist"), help="folder for the wheel [dist]")
    parser.add_argument("--define", "-D", action="append", default=[], metavar="NAME=VALUE", help="for CMake")
    parser.add_argument("--jobs", "-j", default=str(os.cpu_count()), help="compilers at once [all processors]")
    return parser.parse_args()


def configure_and_build(options: argparse.Namespace) -> Path:
    """A build folder with the definitions of pyproject.toml."""
    folder = SOURCE / ("build-wheel-cuda" if options.cuda else "build-wheel")
    define = project()["tool"]["scikit-build"]["cmake"]["define"] | {
        "CMAKE_BUILD_TYPE": "Release", "FMO_CUDA": "ON" if options.cuda else "OFF", "Python3_EXECUTABLE": sys.executable}
    if options.cuda:  # also those of a release, which CMake would otherwise take from an earlier run's cache
        define["CMAKE_CUDA_ARCHITECTURES"] = options.cuda
    hdf5 = options.hdf5 or subprocess.run([Path(__file__).with_name("hdf5.sh")], check=True, text=True,
                                          stdout=subprocess.PIPE).stdout.strip()
    define["HDF5_ROOT"] = str(Path(hdf5).resolve())
    if options.openblas:
        define["FMO_OPENBLAS_DIR"] = str(options.openblas.resolve())
    define |= dict(pair.split("=", 1) for pair in options.define)
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, *(f"-D{k}={v}" for k, v in define.items())], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "fmo-wheel", "--parallel", options.jobs], check=True)
    return folder


def project() -> dict:
    """pyproject.toml."""
    return tomllib.loads((SOURCE / "pyproject.toml").read_text(encoding="utf-8"))


def cached(build: Path, name: str) -> str:
    """An entry of CMake's cache."""
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def cuda_version(build: Path) -> str:
    """The major version of CUDA that a build folder was made with; empty without CUDA."""
    compiler = cached(build, "CMAKE_CUDA_COMPILER")
    if not compiler or cached(build, "FMO_CUDA") == "OFF":
        return ""
    output = subprocess.run([compiler, "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return re.search(r"release (\d+)", output)[1]


def metadata(cuda: str) -> tuple[str, str, bytes]:
    """(name, version, METADATA) by pyproject.toml (core metadata 2.4)."""
    table = project()["project"]
    version = re.search(r"project\(fmo VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    name = table["name"] + (f"-cuda{cuda}x" if cuda else "")
    extras = dict(table["optional-dependencies"])
    if cuda:
        extras["ctk"] = NVIDIA[cuda]
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", f"Summary: {table['description']}",
             f"Author: {', '.join(one['name'] for one in table['authors'])}",
             f"Keywords: {','.join(table['keywords'])}", f"License-Expression: {table['license']}"]
    lines += [f"Classifier: {one}" for one in table["classifiers"]]
    lines += [f"License-File: {path}" for path in license_files()]
    lines += [f"Project-URL: {label}, {address}" for label, address in table.get("urls", {}).items()]
    lines += [f"Requires-Python: {table['requires-python']}"] + [f"Requires-Dist: {one}" for one in table["dependencies"]]
    for extra, needed in extras.items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f'Requires-Dist: {one.replace("12x", cuda + "x") if cuda else one}; extra == "{extra}"' for one in needed]
    readme = (SOURCE / table["readme"]).read_text(encoding="utf-8")
    readme = re.sub(r"\[([^]]*)\]\((?!https?:)[^)]*\)", r"\1", readme)  # pages of the sources
    text = "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])
    return name, version, text.encode()


def license_files() -> list[str]:
    """Paths of the licences, as pyproject.toml lists them."""
    return sorted(str(path.relative_to(SOURCE)) for pattern in project()["project"]["license-files"]
                  for path in SOURCE.glob(pattern))


def libraries(tree: Path) -> list[Path]:
    """All ELF files."""
    return [path for path in sorted(tree.rglob("*")) if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


def platform(tree: Path, alone: bool) -> str:
    """The oldest platform that the files run on; without the libraries of others only this machine."""
    glibc = max([LEAST, *map(older_glibc.newest_glibc, libraries(tree))])
    machine = {62: "x86_64", 183: "aarch64"}[int.from_bytes(libraries(tree)[0].read_bytes()[18:20], "little")]
    return f"manylinux_{glibc[0]}_{glibc[1]}_{machine}" if alone else f"linux_{machine}"


def pack(tree: Path, info: str, path: Path) -> None:
    """The zip file, with a RECORD of all files; equal content gives equal bytes."""
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    stamp = (1980, 1, 1, 0, 0, 0)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(file for file in tree.rglob("*") if file.is_file()):
            name, content = str(file.relative_to(tree)), file.read_bytes()
            entry = zipfile.ZipInfo(name, stamp)
            entry.external_attr = (0o100755 if os.access(file, os.X_OK) else 0o100644) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.writerow([name, f"sha256={digest}", len(content)])
        entry = zipfile.ZipInfo(f"{info}/RECORD", stamp)
        entry.external_attr = 0o100644 << 16
        rows.writerow([f"{info}/RECORD", "", ""])
        archive.writestr(entry, record.getvalue(), zipfile.ZIP_DEFLATED)


def make(build: Path, output: Path, linked: Path | None = None) -> Path:
    """Installs the component `wheel` of a build folder and packs it. linked: the folder of another machine's glibc."""
    name, version, text = metadata(cuda_version(build))
    stem = f"{name.replace('-', '_')}-{version}"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        alone = cached(build, "FMO_WHEEL") == "ON"
        subprocess.run(["cmake", "--install", build, "--component", "wheel", "--prefix", tree], check=True,
                       stdout=subprocess.DEVNULL, env=os.environ | {"FMO_WHEEL_ALONE": str(int(alone))})
        for file in libraries(tree) if alone else []:
            older_glibc.lower(file, GLIBC, linked)
        tag = f"py3-none-{platform(tree, alone)}"
        info = tree / f"{stem}.dist-info"
        scripts = tree / f"{stem}.data" / "scripts"
        for path in (info, scripts):
            path.mkdir(parents=True)
        shutil.copy(SOURCE / "driver" / "python" / "fmo-driver", scripts)
        (info / "METADATA").write_bytes(text)
        (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: fmo\nRoot-Is-Purelib: false\nTag: {tag}\n",
                                    encoding="utf-8")
        for path in license_files():
            (info / "licenses" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / path, info / "licenses" / path)
        output.mkdir(parents=True, exist_ok=True)
        wheel = output / f"{stem}-{tag}.whl"
        pack(tree, info.name, wheel)
    return wheel


def main() -> int:
    """Builds and packs."""
    options = arguments()
    if options.build and not (options.build / "CMakeCache.txt").is_file():
        print(f"wheel.py: {options.build} is not a build folder of CMake", file=sys.stderr)
        return 2
    try:
        wheel = make(options.build or configure_and_build(options), options.output, options.glibc)
    except (older_glibc.ElfError, subprocess.CalledProcessError) as reason:
        print(f"wheel.py: {reason}", file=sys.stderr)
        return 1
    print(f"{wheel}: {wheel.stat().st_size / 2**20:.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
