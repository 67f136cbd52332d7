"""The structs, status codes and version of the Python module equal those of the headers.

    FMO_LIBRARY=.../libfmo.so FMO_LAYOUT=.../python_layout python3 mirror.py

Needs neither PySCF nor numpy: the module's files with structs are loaded without the package, with
nothing in numpy's place. Messages name what differs.
"""
import ctypes
import importlib
import os
import pathlib
import re
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "driver" / "python" / "fmo"


def load():
    """The modules that have structs, without fmo/__init__.py and what it needs."""
    package = types.ModuleType("fmo")
    package.__path__ = [str(PACKAGE)]
    sys.modules["fmo"] = package
    nothing = types.ModuleType("numpy")
    nothing.typing = types.ModuleType("numpy.typing")
    nothing.typing.NDArray = object
    sys.modules.update({"numpy": nothing, "numpy.typing": nothing.typing})
    return tuple(importlib.import_module(f"fmo.{name}") for name in ("_errors", "_library", "_scf", "_io", "_fragments"))


# Structs of which Python has the beginning only, up to the last field that it uses.
BEGINNINGS = ("fmo_scf_result", "fmo_scf_cycle", "fmo_fragment_system", "fmo_fragment_iteration", "fmo_fragment_result")


def fields_of(header, name):
    """Names of a struct's fields, in their order, from the text of a header."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (ROOT / header).read_text(encoding="utf-8"), flags=re.S)
    body = re.search(rf"typedef struct {name} \{{(.*?)\n\}} {name};", text, re.S).group(1)
    body = re.sub(r"\(\*(\w+)\)\s*\([^;]*\)", r" \1", body)  # pointers to functions
    return [re.search(r"(\w+)(?:\[[^\]]*\])*$", declared.strip()).group(1)
            for line in body.split(";") if line.strip() for declared in line.split(",")]


def main():
    """Exit code 1 if anything differs."""
    errors, library, scf, files, fragments = load()
    structs = {"fmo_error": (library.ErrorStruct, "base/status.h"),
               "fmo_basis_input": (library.BasisInput, "integrals/basis.h"),
               "fmo_fock_options": (library.Options, "accumulate/fock.h"),
               "fmo_fock_job": (library.Job, "accumulate/fock.h"),
               "fmo_gradient_term": (library.GradientTermStruct, "accumulate/gradient.h"),
               "fmo_operator": (library.Operator, "integrals/operator.h"),
               "fmo_scf_input": (scf.ScfInput, "driver/scf/scf.h"),
               "fmo_scf_options": (scf.ScfOptions, "driver/scf/scf.h"),
               "fmo_scf_job": (scf.ScfJob, "driver/scf/scf.h"),
               "fmo_scf_result": (scf.ScfResult, "driver/scf/scf.h"),
               "fmo_scf_cycle": (scf.ScfCycle, "driver/scf/scf.h"),
               "fmo_molecule": (files.MoleculeStruct, "io/molecule/molecule.h"),
               "fmo_fragment_system": (files.FragmentSystem, "io/fragment/fragment_system.h"),
               "fmo_fragment_options": (fragments.FragmentOptions, "driver/fmo/fragment.h"),
               "fmo_fragment_iteration": (fragments.FragmentIteration, "driver/fmo/fragment.h"),
               "fmo_fragment_pair": (fragments.FragmentPair, "driver/fmo/fragment.h"),
               "fmo_fragment_result": (fragments.FragmentResult, "driver/fmo/fragment.h")}
    here = {name: value for value, name in enumerate(errors.STATUS)}
    messages = []
    for name, (struct, header) in structs.items():
        fields = [field for field, _ in struct._fields_]
        expected = fields_of(header, name)
        if name in BEGINNINGS:
            expected = expected[:len(fields)]
        else:
            here[name] = ctypes.sizeof(struct)
        if fields != expected:
            messages.append(f"{name}: {fields} in Python, {expected} in {header}")
        here.update((f"{name}.{field}", getattr(struct, field).offset) for field in fields)
    text = subprocess.run([os.environ["FMO_LAYOUT"]], text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    there = {name: int(value) for name, value in (line.split() for line in text.splitlines())}
    for name in sorted(here.keys() | there.keys()):
        if here.get(name) != there.get(name):
            messages.append(f"{name}: {here.get(name)} in Python, {there.get(name)} in C "
                            "(tests/python/layout.c)")
    versions = {library.VERSION, library.LIBRARY.fmo_version().decode()}
    if len(versions) != 1:
        messages.append(f"versions differ: {versions}")
    for message in messages:
        print(message)
    print(f"{len(here)} sizes, offsets and codes, {len(messages)} findings")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
