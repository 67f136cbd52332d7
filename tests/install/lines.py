"""The lines for CMake, pkg-config and compilers that the documents show are run against an installed prefix, and no version
that they name is another one's; all files that hold the version of a release have the same.

    lines.py PREFIX LIBDIR SOVERSION STATIC CMAKE CC        STATIC: 1 if the static libraries were installed too
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PREFIX, LIBDIR, SOVERSION, STATIC, CMAKE, CC = sys.argv[1:7]
DATASET = os.path.join(SOURCE, "datasets", "h2o_6-31g.h5")
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(mine LANGUAGES C)
add_executable(mine mine.c)
{}
target_link_libraries(mine PRIVATE m)
"""


def pages():
    """Name and text of every page for users; of the changelog what is not released yet or was released last."""
    names = ["README.md", "driver/python/README.md", "CHANGELOG.md"]
    names += [os.path.relpath(path, SOURCE) for path in glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True)]
    for name in names:
        if name.startswith(("docs/log", "docs/results")):
            continue
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            text = file.read()
        yield name, "\n## ".join(text.split("\n## ")[:2]) if name == "CHANGELOG.md" else text


def check_releases():
    """Every file that has the version of a release has the one of CMakeLists.txt."""
    found = {}
    for name, pattern in (("CMakeLists.txt", r"project\(fmo VERSION ([\d.]+)"), ("CITATION.cff", r"^version: (.*)"),
                          ("driver/python/fmo/_library.py", r'^VERSION = "(.*)"'),
                          ("cmake/packaging/conda/meta.yaml", r'set version = "(.*)"'),
                          ("CHANGELOG.md", r"^## \[([\d.]+)\]")):
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            found[name] = re.search(pattern, file.read(), re.M)[1]
    if len(set(found.values())) != 1:
        sys.exit(f"different versions: {found}")


def run(folder, *command, **more):
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.join(PREFIX, LIBDIR, "pkgconfig"), PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1",
               LD_LIBRARY_PATH=os.path.join(PREFIX, LIBDIR))
    done = subprocess.run(command, cwd=folder, env=env, text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}")


def own_program(folder, line):
    """Puts mine.c into the folder, one for the library that the line is about; returns the arguments of the program."""
    files = re.search(r"fmo_io|fmo::io", line)
    program = "consumer.c" if files else "alone.c"
    shutil.copy(os.path.join(SOURCE, "tests", "install", "consumer", program), os.path.join(folder, "mine.c"))
    return [DATASET] if files else []


def try_compiler(line):
    """A line that begins with "cc"; what it makes is run."""
    line = re.sub(r"\s+#.*", "", line)
    with tempfile.TemporaryDirectory() as folder:
        arguments = own_program(folder, line)
        os.symlink(os.path.join(SOURCE, "docs"), os.path.join(folder, "docs"))
        run(folder, "sh", "-c", re.sub(r"^cc\b", CC, line) + " -lm")  # which our program needs, too
        output = re.search(r" -o (\S+)", line)
        run(folder, "./" + (output[1] if output else "a.out"), *arguments)


def try_cmake(text):
    with tempfile.TemporaryDirectory() as folder:
        arguments = own_program(folder, text)
        with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(PROJECT.format(text))
        run(folder, CMAKE, "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_C_COMPILER={CC}")
        run(folder, CMAKE, "--build", "build")
        run(folder, "build/mine", *arguments)


def main():
    """Runs the commands of the documents on compilers, pkg-config and CMake; versions must be the present ones."""
    check_releases()
    counts = {"compiler": 0, "pkg-config": 0, "CMake": 0, "version": 0}
    for name, text in pages():
        for version in re.findall(r"(?:libfmo\w*\.so\.|find_package\(fmo )(\d[\d.]*\d)", text):
            counts["version"] += 1
            if version != SOVERSION:
                sys.exit(f"{name}: version {version}, expected {SOVERSION}")
        for line in re.findall(r"`(pkg-config [^`]*)`", text):
            counts["pkg-config"] += 1
            run(SOURCE, "sh", "-c", line)
        for kind, block in re.findall(r"^```(\w+)\n(.*?)^```", text, re.M | re.S):
            for line in block.splitlines() if kind == "sh" else []:
                if re.match(r"cc .*pkg-config", line) and (STATIC == "1" or "--static" not in line):
                    counts["compiler"] += 1
                    try_compiler(line)
            for part in block.split("\n\n") if kind == "cmake" else []:
                if "find_package(fmo" in part and (STATIC == "1" or "static" not in part.split("#")[0]):
                    counts["CMake"] += 1
                    try_cmake(part)
    print("lines of the documents:", ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    if not all(counts.values()):
        sys.exit("a kind of line is not in the documents any more, or not found by this test")


main()
