#!/usr/bin/env python3
"""Make the data sets: RHF with PySCF, written as TREXIO (HDF5) with our own group /fmo.

Plain python3 (3.9 or newer) is enough: the script makes an environment from requirements.txt in the
user's cache on first use and runs itself there (fmodata/venvrun.py). The table
COMMITTED below is the one list of committed sets.
Read next: README.md (fields), fmodata/basis.py (conventions), fmodata/rhf.py (numbers).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from fmodata import DatasetError, venvrun

HERE = Path(__file__).resolve().parent
MADE = HERE / "made"
LICENSE = "MIT"
GEOMETRY_LICENSES = {"gly30": "; geometry Apache-2.0 (gpu4pyscf)"}


@dataclass(frozen=True)
class DataSet:
    """One data set: xyz/<xyz>.xyz in a basis, named <stem>_<basis>[_sph][_shuffled].h5, the name of
    the basis without brackets."""

    stem: str
    xyz: str
    basis: str
    purpose: str
    cartesian: bool = True
    charge: int = 0
    seed: int | None = None

    @property
    def file_name(self) -> str:
        """Name of the file made."""
        form = ("" if self.cartesian else "_sph") + ("" if self.seed is None else "_shuffled")
        return f"{self.stem}_{re.sub('[(),]', '', self.basis)}{form}.h5"


COMMITTED = (
    DataSet("h2o", "water001", "sto-3g", "first example, quick checks"),
    DataSet("h2o", "water001", "6-31g", "first example with contraction depths 1, 3 and 6"),
    DataSet("h2o8", "water008", "sto-3g", "cluster: screening, every class, short contraction"),
    DataSet("h2o8", "water008", "6-31g", "cluster: screening, every class; largest committed"),
    DataSet("h2s_hcl", "h2s_hcl", "6-31g", "third row: contraction depth 6, exponents up to 2.5e4"),
    DataSet("ch2o", "ch2o", "6-31g", "spherical file: p functions are z x y", cartesian=False),
    DataSet("ch3oh", "ch3oh", "6-31g", "shells, primitives and AOs shuffled; unequal and negative "
            "ao_normalization in one p shell; shell_factor and prim_factor away from 1", seed=20),
    DataSet("nh3", "nh3", "3-21g", "the same shuffling in a spherical file, another basis family",
            cartesian=False, seed=3),
    DataSet("n2", "n2", "3-21g", "another basis family; symmetry zeros, degenerate orbitals"),
    DataSet("h2", "h2", "cc-pvdz", "general contraction split into shells; p on hydrogen"),
    DataSet("h2", "h2", "sto-3g", "smallest molecule, s only"),
    DataSet("he", "he", "sto-3g", "one shell, one function"),
    DataSet("hehp", "hehp", "sto-3g", "charged", charge=1),
    DataSet("he2", "he2", "6-31g", "20 angstrom apart: integrals that vanish, large Boys argument"),
    DataSet("h4", "h4", "sto-3g", "s only, class ssss alone"),
    DataSet("h2o", "water001", "6-31g(d)", "first example with d functions, Cartesian"),
    DataSet("ch2o", "ch2o", "cc-pvdz", "spherical d functions, general contraction",
            cartesian=False),
    DataSet("hbr", "hbr", "def2-svp", "fourth row: contracted d shells, 3d electrons",
            cartesian=False),
    DataSet("h2s", "h2s", "6-31g(d)", "Cartesian d functions shuffled, with unequal and negative "
            "ao_normalization in one shell", seed=7),
    DataSet("h2o", "water001", "def2-svp", "spherical d functions shuffled in the same way",
            cartesian=False, seed=11),
    DataSet("h2o", "water001", "6-31g(2df,p)", "f functions, Cartesian"),
    DataSet("h2o", "water001", "def2-tzvp", "spherical f functions shuffled in the same way",
            cartesian=False, seed=13),
)

BENCHMARK = tuple(
    DataSet(xyz, xyz, basis, "benchmark")
    for xyz in ("water001", "water008", "water027", "water064",
                "alkane_C20H42", "alkane_C60H122", "gly30")
    for basis in ("sto-3g", "6-31g"))


def make(item: DataSet, xyz: Path, path: Path) -> None:
    """Compute one data set, write it and say so in one line."""
    from fmodata import basis as bases, files, rhf

    files.check_writable(path)
    geometry = rhf.read_xyz(xyz)
    mol = rhf.make_molecule(geometry, item.basis, item.charge, item.cartesian)
    what = f"{geometry.name}, basis {item.basis}"
    bases.check_supported((mol.bas_angular(shell) for shell in range(mol.nbas)), what)
    basis, order = rhf.basis_of(mol, item.cartesian)
    reference = rhf.run_rhf(mol, what).in_aos(order, basis.ao_normalization)
    if item.seed is not None:
        basis, order, scale = bases.shuffled(basis, item.seed)
        reference = reference.in_aos(order, scale)
    origin = files.Provenance(geometry, item.basis, item.charge,
                              -1 if item.seed is None else item.seed,
                              LICENSE + GEOMETRY_LICENSES.get(item.xyz, ""))
    files.write_dataset(path, basis, reference, origin)
    print(f"{path}: nao {basis.nao}, energy {reference.energy:.10f} hartree", flush=True)


def command_line() -> argparse.ArgumentParser:
    """What the script accepts."""
    parser = argparse.ArgumentParser(
        description="Make data sets (RHF reference in a TREXIO file with group /fmo).",
        epilog="OMP_NUM_THREADS sets the threads (default 1, which repeats exactly; "
               "all for --benchmark).")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("xyz", nargs="?", type=Path, metavar="XYZ", help="geometry in angstrom")
    what.add_argument("--all-committed", action="store_true",
                      help="make every committed set again, and the lists made from them")
    what.add_argument("--benchmark", nargs="*", metavar="NAME",
                      help="make the large sets (all, or these of: "
                      f"{' '.join(item.file_name for item in BENCHMARK)}) in {MADE.name}/; "
                      "those already there stay")
    parser.add_argument("--basis", metavar="NAME",
                        help="basis name as PySCF knows it, without g shells")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--cart", dest="cartesian", action="store_true", default=True,
                      help="Cartesian functions: x y z, xx xy xz yy yz zz (default)")
    form.add_argument("--spherical", dest="cartesian", action="store_false",
                      help="spherical functions: z x y, m = 0 +1 -1 +2 -2")
    parser.add_argument("--shuffle", type=int, metavar="SEED",
                        help="shuffle shells, primitives and AOs, and spread the factors")
    parser.add_argument("--charge", type=int, default=0, metavar="Q", help="molecular charge")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.h5",
                        help=f"file to write (default {MADE.name}/ and a name from the options)")
    return parser


def run(options: argparse.Namespace) -> None:
    """Do what the command line asks, inside the environment."""
    if options.all_committed:
        from fmodata import lists
        for item in COMMITTED:
            make(item, HERE / "xyz" / f"{item.xyz}.xyz", HERE / item.file_name)
        lists.update_sets(HERE, COMMITTED)
    elif options.benchmark is not None:
        for item in BENCHMARK:
            path = MADE / item.file_name
            if (not options.benchmark or item.file_name in options.benchmark) and not path.exists():
                make(item, HERE / "xyz" / f"{item.xyz}.xyz", path)
    else:
        item = DataSet(options.xyz.stem, options.xyz.stem, options.basis, "", options.cartesian,
                       options.charge, options.shuffle)
        make(item, options.xyz, options.output or MADE / item.file_name)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Usage errors that argparse does not see by itself."""
    if options.xyz is not None and options.basis is None:
        parser.error("XYZ needs --basis NAME")
    if options.shuffle is not None and not 0 <= options.shuffle < 2**31:
        parser.error("--shuffle: expected a seed from 0 to 2147483647")
    unknown = set(options.benchmark or ()) - {item.file_name for item in BENCHMARK}
    if unknown:
        parser.error(f"--benchmark does not know {' '.join(sorted(unknown))}")


def main() -> int:
    """Exit code 0, or 2 for usage (argparse), or 3 for input and failed checks."""
    parser = command_line()
    options = parser.parse_args()
    check(parser, options)
    try:
        venvrun.reexec_inside(HERE / "requirements.txt",
                              threads=1 if options.benchmark is None else os.cpu_count() or 1)
        run(options)
    except (DatasetError, OSError) as error:
        print(f"make_dataset.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
