#!/usr/bin/env python3
"""Make data sets that we did not write: RHF in PySCF, the file by somebody else's converter.

The files stay exactly as the converters write them (no /fmo group). Beside each lies a JSON of the
same name with what PySCF computed, in the AO order of the file. Plain python3 is enough; the
environment is in the user's cache (fmodata/venvrun.py). Read next: README.md, "Files written by
others".
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from fmodata import DatasetError, venvrun

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements-foreign.txt"


def write_with_forge(mf: Any, path: Path) -> None:
    """pyscf-forge, pyscf.tools.trexio: molecule, basis and orbitals."""
    from pyscf.tools import trexio

    trexio.to_trexio(mf, str(path))


def write_with_forge_and_integrals(mf: Any, path: Path) -> None:
    """The same with ao_1e_int and ao_2e_int."""
    from pyscf.tools import trexio

    trexio.to_trexio(mf, str(path), write_ao_eri=True, eri_sym="s8")


def write_with_trexio_tools(mf: Any, path: Path) -> None:
    """trexio-tools, `trexio convert-from -t pyscf`, from a PySCF checkpoint."""
    command = [str(Path(sys.executable).with_name("trexio")), "convert-from", "-t", "pyscf",
               "-i", mf.chkfile, "-b", "hdf5", str(path)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode != 0 or not path.is_file():
        raise DatasetError(f"{' '.join(command)}: {done.stdout.strip().splitlines()[-1:]}")


FORGE, TOOLS = "pyscf-forge", "trexio-tools"


@dataclass(frozen=True)
class ForeignSet:
    """One file of another program. `usable` False: it contradicts itself and must be refused."""

    name: str
    xyz: str
    basis: str
    cartesian: bool
    package: str
    how: str
    write: Callable[[Any, Path], None]
    usable: bool = True

    @property
    def file_name(self) -> str:
        """File relative to datasets/."""
        return f"{'' if self.usable else 'refused/'}foreign_{self.name}.h5"

    @property
    def json_name(self) -> str:
        """The expected values of a usable file."""
        return f"foreign_{self.name}.json"


FOREIGN = (
    ForeignSet("forge_nh3_6-31g_cart", "nh3", "6-31g", True, FORGE,
               "pyscf.tools.trexio.to_trexio(mf, file, write_ao_eri=True, eri_sym='s8')",
               write_with_forge_and_integrals),
    ForeignSet("forge_nh3_6-31g_sph", "nh3", "6-31g", False, FORGE,
               "pyscf.tools.trexio.to_trexio(mf, file)", write_with_forge),
    ForeignSet("tools_h2o_6-31g_sph", "water001", "6-31g", False, TOOLS,
               "trexio convert-from -t pyscf -i mf.chk -b hdf5 file", write_with_trexio_tools),
    ForeignSet("forge_h2o_6-31gd_cart", "water001", "6-31g(d)", True, FORGE,
               "pyscf.tools.trexio.to_trexio(mf, file)", write_with_forge),
    ForeignSet("forge_h2s_def2-svp_sph", "h2s", "def2-svp", False, FORGE,
               "pyscf.tools.trexio.to_trexio(mf, file)", write_with_forge),
    ForeignSet("tools_h2o_def2-svp_sph", "water001", "def2-svp", False, TOOLS,
               "trexio convert-from -t pyscf -i mf.chk -b hdf5 file", write_with_trexio_tools),
    ForeignSet("forge_nh3_6-31g_sph_integrals", "nh3", "6-31g", False, FORGE,
               "pyscf.tools.trexio.to_trexio(mf, file, write_ao_eri=True, eri_sym='s8')",
               write_with_forge_and_integrals, usable=False),
)


def make(item: ForeignSet) -> None:
    """Run PySCF, let the converter write, check, and write the expected values beside it."""
    from importlib.metadata import version
    from fmodata import rhf
    from fmodata.files import replacing

    geometry = rhf.read_xyz(HERE / "xyz" / f"{item.xyz}.xyz")
    path = HERE / item.file_name
    path.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, replacing(path) as temporary:
        mol = rhf.make_molecule(geometry, item.basis, charge=0, cartesian=item.cartesian)
        mf = rhf.converged(mol, geometry.name, checkpoint=Path(folder) / "mf.chk")
        item.write(mf, temporary)
        own, off = recomputed(temporary)
        if (off < 1e-11) != item.usable:
            raise DatasetError(f"{item.file_name}: basis and orbitals or integrals of the file "
                               f"differ by {off:.1e}, expected {'none' if item.usable else 'some'}")
        if item.usable:
            written_by = f"{item.package} {version(item.package)}: `{item.how}`"
            write_expected(HERE / item.json_name, item, geometry, mf, own, written_by)
    print(f"{path}: nao {mol.nao}, energy {mf.e_tot:.10f} hartree", flush=True)


def recomputed(path: Path) -> tuple[Any, float]:
    """Everything from the file's basis and orbitals, and how far the file contradicts itself."""
    import h5py
    import numpy as np
    from fmodata import rhf
    from fmodata.files import read_basis

    with h5py.File(path, "r") as file:
        c, occupation = file["mo/mo_coefficient"][...], file["mo/mo_occupation"][...]
        own = rhf.recompute(read_basis(file), c, occupation, rhf.density_of(c, occupation))
        off = np.abs(c @ own.overlap @ c.T - np.eye(len(c))).max()
        if "ao_1e_int_overlap" in file["ao_1e_int"]:
            off = max(off, np.abs(file["ao_1e_int/ao_1e_int_overlap"][...] - own.overlap).max())
    return own, float(off)


def orbital_differences(mf: Any, own: Any) -> list[float]:
    """How far J and K between orbitals, where AO conventions drop out, are from PySCF's own."""
    import numpy as np

    c_file, c_pyscf = own.mo_coefficient, mf.mo_coeff.T
    return [float(np.abs(c_file @ a @ c_file.T - c_pyscf @ b @ c_pyscf.T).max())
            for a, b in zip((own.coulomb, own.exchange), mf.get_jk())]


def write_expected(path: Path, item: ForeignSet, geometry: Any, mf: Any, own: Any,
                   written_by: str) -> None:
    """The JSON: the SCF energy of PySCF itself, and J, K of the file's density in its AOs."""
    from importlib.metadata import version
    from fmodata.files import FMO_MATRICES, replacing

    off = max(abs(own.energy - mf.e_tot), *orbital_differences(mf, own))
    if not off < 1e-10:
        raise DatasetError(f"{path.name}: energy, J or K of the file are {off:.1e} from PySCF's")
    content = {
        "file": item.file_name, "xyz_file": geometry.name, "xyz_sha256": geometry.sha256,
        "basis_name": item.basis, "method": "RHF", "written_by": written_by,
        "versions": {name: version(name) for name in ("pyscf", "trexio", "h5py", item.package)},
        "units": "hartree; density 1; matrices [nao][nao] in the AO order of the file",
        "nao": len(own.density), "energy": float(mf.e_tot),
        "nuclear_repulsion": own.nuclear_repulsion,
        **{name: getattr(own, name).tolist() for name in FMO_MATRICES},
    }
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=0) + "\n", encoding="ascii")


def main() -> int:
    """Exit code 0, or 2 for usage (argparse), or 3 for input and failed checks."""
    argparse.ArgumentParser(description="Make every data set written by other programs, "
                            "with the expected values beside it.").parse_args()
    try:
        venvrun.reexec_inside(REQUIREMENTS)
        from fmodata import lists
        for item in FOREIGN:
            make(item)
        lists.update_foreign(HERE, FOREIGN)
    except (DatasetError, OSError) as error:
        print(f"make_foreign.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
