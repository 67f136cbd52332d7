#!/usr/bin/env python3
"""Write tests/scf/gradients.json: nuclear gradients of RHF, UHF and ROHF by PySCF, for the tests of forces, some of
them in the field of point charges, with the derivatives with respect to the positions of these.

Molecules are those of make_scf_references.py, rotated and distorted at random (the numbers depend on the name alone), so
that no component is zero by symmetry. Each SCF is converged to an orbital gradient of 1e-9 and stable. Started as
make_scf_references.py is.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from pathlib import Path
from typing import Any

from fmodata import DatasetError, venvrun
from make_scf_references import HERE, LISTS, TESTS, basis_of

# name of a list, and of its molecules
CHOSEN = {
    "energies.json": ("H2", "HeH+", "H3+", "LiH", "BH3", "CH4", "NH3", "NH4+", "OH-", "N2", "CO", "C2H2", "SiH4", "H2S",
                      "HCl", "NaCl"),
    "energies_d.json": ("H2O", "H2O spherical", "CH2O", "CO2", "HF", "H2O Cartesian", "NH3", "SiH4", "PH3", "H2S", "HCl",
                        "GeH4", "HBr"),
    "energies_uhf.json": ("H2+", "NF2", "NH", "CH2", "NH2", "H2O+", "CH3 def2", "SiH3", "PH2"),
    "energies_rohf.json": ("O2", "CH2", "HO2"),
}
CHARGED = {("energies_d.json", "H2O"), ("energies_d.json", "CH2O"), ("energies.json", "OH-"),
           ("energies_uhf.json", "CH3 def2"), ("energies_rohf.json", "CH2")}  # again, in a field
CHARGES = 3


def distorted(item: Any, seed: int) -> tuple[list[str], Any]:
    """Symbols and places, bohr, of a molecule that is turned and distorted."""
    import numpy
    from fmodata import rhf
    from scipy.spatial.transform import Rotation
    if item.xyz:
        geometry = rhf.read_xyz(HERE / "xyz" / f"{item.xyz}.xyz")
        symbols, coord = list(geometry.symbols), geometry.coord
    else:
        symbols, coord = [symbol for symbol, _ in item.atoms], numpy.array([place for _, place in item.atoms])
    random = numpy.random.default_rng(seed)
    turned = Rotation.from_quat(random.standard_normal(4)).apply(coord)
    return symbols, (turned + 0.08 * random.standard_normal(coord.shape)).round(6)


def converged(mf: Any, name: str) -> Any:
    """The SCF object, converged tightly to a minimum."""
    mf.conv_tol, mf.conv_tol_grad, mf.max_cycle, mf.direct_scf_tol = 1e-13, 1e-9, 200, 1e-15
    mf.kernel()
    if not mf.converged:
        second_order = mf.newton()
        second_order.conv_tol, second_order.conv_tol_grad = 1e-13, 1e-9
        second_order.kernel(mf.mo_coeff, mf.mo_occ)
        for one in ("e_tot", "converged", "mo_coeff", "mo_energy", "mo_occ"):
            setattr(mf, one, getattr(second_order, one))
    if not mf.converged:
        raise DatasetError(f"{name}: the SCF has not converged")
    if not mf.istype("ROHF"):
        stable = mf.stability(return_status=True)[2]
        if not stable:
            raise DatasetError(f"{name}: the solution is a saddle point")
    return mf


def of_charge(mf: Any, charge: float, place: Any) -> list[float]:
    """The derivative of the energy by the place of a point charge; PySCF has it for spherical functions only."""
    import numpy
    mol, dm = mf.mol, mf.make_rdm1()
    with mol.with_rinv_origin(place):
        electrons = numpy.einsum("xij,ij->x", mol.intor("int1e_iprinv", comp=3), dm if dm.ndim == 2 else dm[0] + dm[1])
    away = place - mol.atom_coords()
    nuclei = -(mol.atom_charges()[:, None] * away / numpy.linalg.norm(away, axis=1)[:, None] ** 3).sum(axis=0)
    return [float(x) for x in charge * (nuclei - 2 * electrons)]


def entry(item: Any, method: str, charged: bool) -> dict[str, Any]:
    """The entry of one molecule."""
    import numpy
    from pyscf import gto, qmmm, scf
    name = f"{item.name} in a field" if charged else item.name
    seed = zlib.crc32(f"{name} {method}".encode())
    symbols, coord = distorted(item, seed)
    basis, cartesian = basis_of(item.basis, set(symbols))
    if item.cartesian is not None:
        cartesian = item.cartesian
    mol = gto.M(verbose=0, unit="Bohr", charge=item.charge, spin=max(item.multiplicity, 1) - 1, cart=cartesian,
                atom=list(zip(symbols, coord.tolist())), basis=basis)
    mf, extra = getattr(scf, method)(mol), {}
    if charged:
        random = numpy.random.default_rng(seed + 1)
        where = random.standard_normal((CHARGES, 3))
        where *= 5.0 / numpy.linalg.norm(where, axis=1)[:, None]
        where, charge = where.round(6), random.uniform(-0.8, 0.8, CHARGES).round(3)
        mf = qmmm.mm_charge(mf, where, charge, unit="Bohr")
    gradients = converged(mf, name).nuc_grad_method()
    gradient = gradients.kernel()
    if charged:
        extra = {"charges": [[q, *place] for q, place in zip(charge.tolist(), where.tolist())],
                 "charge_gradient": [of_charge(mf, q, place) for q, place in zip(charge, where)]}
    print(f"{name:22s} {item.basis:12s} {method:4s} {mf.e_tot:18.10f}  {abs(gradient).max():.4f}", flush=True)
    return {"name": name, "basis": item.basis, "method": method, "charge": item.charge,
            **({"multiplicity": item.multiplicity} if item.multiplicity else {}),
            **({} if item.cartesian is None else {"functions": "cartesian" if item.cartesian else "spherical"}),
            "energy": float(mf.e_tot), "symbols": symbols, "bohr": coord.tolist(), "gradient": gradient.tolist(), **extra}


def write(path: Path, entries: list[dict[str, Any]]) -> None:
    """The file: one molecule a line."""
    import pyscf
    from fmodata import rhf
    head = {"source": "datasets/make_force_references.py", "method": "RHF, UHF and ROHF", "pyscf": pyscf.__version__,
            "libcint": rhf.libcint_version(), "unit": "hartree, hartree/bohr; charges: e, and places in bohr"}
    lines = ",\n".join("  " + json.dumps(item) for item in entries)
    path.write_text(f'{json.dumps(head, indent=1)[:-2]},\n "molecules": [\n{lines}\n ]\n}}\n', encoding="utf-8")


def main() -> int:
    """Exit code 0, 2 for usage (argparse), 3 where an SCF is no minimum."""
    parser = argparse.ArgumentParser(description="Write the reference gradients of the SCF tests.")
    parser.add_argument("-o", "--output", type=Path, default=TESTS, metavar="FOLDER",
                        help="where to write (default tests/scf)")
    options = parser.parse_args()
    try:
        venvrun.reexec_inside(HERE / "requirements.txt")
        entries = []
        for name, chosen in CHOSEN.items():
            method, molecules = LISTS[name]
            for item in molecules:
                if item.name in chosen:
                    entries += [entry(item, method, charged) for charged in (False, True)
                                if not charged or (name, item.name) in CHARGED]
        write(options.output / "gradients.json", entries)
    except (DatasetError, OSError) as error:
        print(f"make_force_references.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
