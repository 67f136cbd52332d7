"""The module as a program: python -m fmo energy, optimize or batch."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from . import _optimize
from ._driver import run_batch
from ._errors import STATUS, Error, bad_value
from ._fragments import FMO2
from ._io import basis_set
from ._library import LIBRARY, VERSION
from ._molecule import BASIS, FORMS, Molecule, read_xyz
from ._rhf import RHF
from ._uhf import hf, scf_batch
from ._values import INT_MAX, whole_number

_USAGE = 2  # exit code of wrong arguments, FMO_ERR_ARGUMENT's
# Options of batch, and what fmo-driver calls them.
_OF_DRIVER = {"basis": "basis", "functions": "functions", "charge": "charge", "threads": "threads", "mode": "mode",
              "conv_tol": "convergence", "max_cycle": "max-cycles", "output": "output"}
_FLAGS = ("forces", "resume", "force")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(_USAGE, f"{self.prog}: {message}; {self.prog} --help lists all options\n")


def _parser() -> argparse.ArgumentParser:
    """The three commands and their options."""
    parser = _Parser(prog="python -m fmo", description="Energies and geometries of molecules by RHF and UHF, and of fragmented systems by FMO2.")
    parser.add_argument("--version", action="version", version=f"fmo {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    common = _Parser(add_help=False)
    common.add_argument("--basis", help=f"name of a basis set, or a file (default {BASIS}, or that of the file)")
    common.add_argument("--functions", choices=FORMS, default=None, help="form of d functions")
    common.add_argument("--charge", type=int, help="e (default: that of the file, else 0)")
    common.add_argument("--threads", type=int, help="CPU threads")
    common.add_argument("--mode", help="auto, cpu, fused, ... (default auto)")
    common.add_argument("--conv-tol", type=float, help="hartree (default 1e-9)")
    common.add_argument("--max-cycle", type=int, help="largest number of SCF cycles (default 100)")
    energy = commands.add_parser("energy", parents=[common], help="energy and properties of one system",
                                 description="RHF or UHF of an .xyz file, or FMO2 of a PDB file or a file with fragments.")
    energy.add_argument("file", help=".xyz, .extxyz; or .pdb, .ent, .json, .inp, .ajf with FMO2")
    energy.add_argument("--json", action="store_true", help="print JSON")
    optimize = commands.add_parser("optimize", parents=[common], help="optimised geometry of one molecule",
                                   description="Needs geomeTRIC or ASE.")
    optimize.add_argument("file", help=".xyz with one molecule")
    optimize.add_argument("-o", "--output", help="the optimised geometry, .xyz (default: standard output)")
    optimize.add_argument("--force", action="store_true", help="replace an output file that exists")
    optimize.add_argument("--steps", type=int, default=200, help="largest number of steps (default 200)")
    optimize.add_argument("--by", choices=tuple(_optimize.OPTIMIZERS), help="default: the first that is installed")
    batch = commands.add_parser("batch", parents=[common], help="energies and forces of all molecules of .xyz files",
                                description="RHF or UHF of all molecules in one call; one that fails leaves the others alone. "
                                "Other files than tables are written by fmo-driver --scf --batch.")
    batch.add_argument("file", nargs="+", help=".xyz with one molecule or several")
    batch.add_argument("-o", "--output", help="a table, .csv (default: standard output), or .extxyz, .xyz or .h5")
    batch.add_argument("--forces", action="store_true", help="forces, too (.extxyz, .xyz, .h5)")
    batch.add_argument("--resume", action="store_true", help="compute what --output lacks (.extxyz, .xyz, .h5)")
    batch.add_argument("--force", action="store_true", help="replace an output file that exists")
    return parser


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    given = {"threads": arguments.threads, "mode": arguments.mode}
    return {name: value for name, value in given.items() if value is not None}


def _molecules(arguments: argparse.Namespace, path: str) -> list[Molecule]:
    return Molecule.all_from_xyz(path, arguments.charge, None, arguments.basis or BASIS, arguments.functions or "set")


def _rhf(arguments: argparse.Namespace, mol: Molecule) -> RHF:
    mf = hf(mol, **_options(arguments))
    mf.conv_tol, mf.max_cycle = arguments.conv_tol, arguments.max_cycle
    return mf


def _energy(arguments: argparse.Namespace) -> int:
    """Print energy, dipole moment and charges of one molecule, or the energy of a fragmented system."""
    path = arguments.file
    if os.path.splitext(path)[1].lower() not in (".xyz", ".extxyz"):
        return _energy_fmo2(arguments)
    mols = _molecules(arguments, path)
    if len(mols) != 1:
        raise bad_value(f"{path}: {len(mols)} molecules: the command batch computes them all")
    mf = _rhf(arguments, mols[0])
    mf.kernel()
    if mf.error is not None:
        raise mf.error
    dipole, charges = mf.dip_moment().round(8) + 0.0, mf.mulliken_charges().round(8) + 0.0  # no -0
    if arguments.json:
        print(json.dumps({"file": path, "method": "hf", "basis": mols[0].basis, "energy": mf.e_tot,
                          "cycles": mf.cycles, "dipole_debye": dipole.tolist(), "mulliken_charges": charges.tolist(),
                          "orbital_energies": mf.mo_energy.tolist() if mf.mo_energy is not None else None}))
        return 0
    print(f"{mols[0]!r}")
    print(f"energy    {mf.e_tot:.10f} hartree, {mf._name}, converged in {mf.cycles} cycles")
    print(f"dipole    {dipole[0]:.5f} {dipole[1]:.5f} {dipole[2]:.5f} debye")
    print("charges   " + " ".join(f"{symbol}{k + 1} {charge:+.4f}" for k, (symbol, charge) in
                                  enumerate(zip(mols[0].symbols, charges))))
    return 0


def _energy_fmo2(arguments: argparse.Namespace) -> int:
    """Print the FMO2 energy of a fragmented system."""
    for name in ("charge", "max_cycle"):
        if getattr(arguments, name) is not None:
            raise bad_value(f"--{name.replace('_', '-')} has no effect on FMO2: leave it out")
    mf = FMO2(arguments.file, arguments.basis, functions=arguments.functions, **_options(arguments))
    mf.conv_tol = arguments.conv_tol
    mf.kernel()
    if arguments.json:
        print(json.dumps({"file": arguments.file, "method": "fmo2", "basis": mf.basis, "energy": mf.e_tot,
                          "energy_fmo1": mf.e_fmo1, "fragments": mf.fragment_names,
                          "mulliken_charges": mf.charges.tolist() if mf.charges is not None else None,
                          "pairs": [dict(zip(mf.pairs.dtype.names, pair.item())) for pair in mf.pairs]}))
        return 0
    print(f"{mf!r}")
    print(f"energy    {mf.e_tot:.10f} hartree, FMO2, {mf.iterations} iterations")
    print(f"monomers  {mf.e_fmo1:.10f} hartree, FMO1")
    return 0


def _run_optimize(arguments: argparse.Namespace) -> int:
    """The geometry that is reached is written in any case: one that has not converged says so in its comment."""
    by = _optimize.optimizer(arguments.by)
    whole_number("--steps", arguments.steps, 1, INT_MAX)
    _check_output(arguments, ".xyz")
    mols = _molecules(arguments, arguments.file)
    if len(mols) != 1:
        raise bad_value(f"{arguments.file}: {len(mols)} molecules: expected one")
    steps: list[tuple[Molecule, float]] = []

    def report(mol: Molecule, energy: float, largest: float) -> None:
        steps.append((mol, energy))
        print(f"step {len(steps):3d}   {energy:.10f} hartree   largest force {largest:.2e} hartree/bohr",
              file=sys.stderr)

    state = " not converged"
    try:
        _optimize.optimize(lambda mol: _rhf(arguments, mol), mols[0], by, arguments.steps, report)
        state = ""
    finally:
        if steps:
            best, energy = min(steps, key=lambda one: one[1]) if state else steps[-1]
            _write(arguments.output, best.to_xyz(f"{best.to_xyz().splitlines()[1]} energy={energy:.10f}{state}"))
    return 0


def _run_batch(arguments: argparse.Namespace) -> int:
    """A table, or a file of fmo-driver's."""
    if os.path.splitext(arguments.output or "")[1].lower() in ("", ".csv"):
        return _table(arguments)
    given = vars(arguments)
    given["basis"] = arguments.basis or BASIS
    return run_batch([*(f"--{name}={given[mine]}" for mine, name in _OF_DRIVER.items() if given[mine] is not None),
                      *(f"--{name}" for name in _FLAGS if given[name]), *arguments.file])


def _read(arguments: argparse.Namespace, path: str) -> Iterator[tuple[str, int, Molecule | Error]]:
    """The molecules of a file with their numbers; the error of a file as a whole is number 0."""
    number = 0
    try:
        for one in read_xyz(path, arguments.charge, None, arguments.basis or BASIS, arguments.functions or "set"):
            number += 1
            yield path, number, one
    except Error as reason:
        if reason.status != "FMO_ERR_INPUT":
            raise
        yield path, 0, reason


def _table(arguments: argparse.Namespace) -> int:
    """Write a line for each molecule of all files, and the errors to standard error; returns the worst exit code."""
    for name in ("forces", "resume"):
        if getattr(arguments, name):
            raise bad_value(f"--{name} needs --output with a name that ends in .extxyz, .xyz or .h5")
    _check_output(arguments, ".csv")
    basis_set(arguments.basis or BASIS)  # its error is one of all files
    found = [one for path in arguments.file for one in _read(arguments, path)]
    mols = [one for _, _, one in found if isinstance(one, Molecule)]
    done = iter(scf_batch(mols, conv_tol=arguments.conv_tol, max_cycle=arguments.max_cycle, **_options(arguments)))
    table, codes = io.StringIO(), [0]
    lines = csv.writer(table, lineterminator="\n")
    lines.writerow(("file", "molecule", "formula", "energy_hartree", "converged", "cycles", "error"))
    for path, number, one in found:
        if isinstance(one, Molecule):
            mf = next(done)
            row, error = (one.formula, f"{mf.e_tot:.10f}", int(mf.converged), mf.cycles), mf.error
        else:
            row, error = ("", "nan", 0, 0), one
        lines.writerow((path, number, *row, "" if error is None else error.message))
        if error is not None:
            place = "" if path in error.message else f"{path}: molecule {number}: "
            print(f"python -m fmo: {place}{error.message}", file=sys.stderr)
            codes.append(_exit_code(error.status))
    _write(arguments.output, table.getvalue())
    return max(codes)


def _exit_code(status: str) -> int:
    return int(LIBRARY.fmo_status_exit_code(STATUS.index(status)))


def _check_output(arguments: argparse.Namespace, mine: str) -> None:
    """InputError, before anything is computed, for a file that could not be written or would be lost."""
    path = arguments.output
    if path is None:
        return
    end = os.path.splitext(path)[1]
    if end.lower() not in ("", mine):
        raise bad_value(f"{path}: {arguments.command} writes no {end}: choose a name that ends in {mine}")
    if os.path.lexists(path) and not arguments.force:
        raise bad_value(f"{path}: it exists; --force replaces it")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise bad_value(f"{path}: there is no such folder")


def _write(path: str | None, text: str) -> None:
    """The whole file or none of it."""
    if path is None:
        sys.stdout.write(text)
        return
    temporary = f"{path}.part"
    with open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.replace(temporary, path)


def main(given: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code of fmo-driver for its error, 0 for none."""
    arguments = _parser().parse_args(given)
    run = {"energy": _energy, "optimize": _run_optimize, "batch": _run_batch}[arguments.command]
    try:
        return run(arguments)
    except Error as reason:
        print(f"python -m fmo: {reason.message}", file=sys.stderr)
        return _exit_code(reason.status)
    except OSError as reason:
        print(f"python -m fmo: {reason.filename or ''}: {reason.strerror}", file=sys.stderr)
        return _exit_code("FMO_ERR_OUTPUT")
    except KeyboardInterrupt:
        print("python -m fmo: interrupted", file=sys.stderr, flush=True)
        os._exit(130)  # a thread of the library may still compute, which the interpreter's end would crash


if __name__ == "__main__":
    sys.exit(main())
