"""Write and read data sets: TREXIO groups through the trexio package, our own /fmo through h5py."""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Iterator

import h5py
import numpy as np
import pyscf
import trexio

from . import VERSION, DatasetError
from .basis import Basis, overlap
from .rhf import BOHR_IN_ANGSTROM, Geometry, Reference, libcint_version

FORMAT_VERSION = 1
OVERLAP_TOLERANCE = 1e-12
FMO_MATRICES = {"density": "1", "coulomb": "hartree", "exchange": "hartree", "fock_2e": "hartree"}
HDF5_1_10 = ("earliest", "v110")  # Debian 12 and older read this
PACKED_FROM_BYTES = 8192
PACKED = {"compression": "gzip", "compression_opts": 9, "shuffle": True, "track_times": False}


@dataclass(frozen=True)
class Provenance:
    """What a file says about how it was made, beyond library versions."""

    geometry: Geometry
    basis_name: str
    charge: int
    shuffle_seed: int  # -1: not shuffled
    license: str


def reference_sha256(matrices: Iterable[np.ndarray]) -> str:
    """Hash of the raw little-endian float64 bytes, one matrix after the other."""
    digest = hashlib.sha256()
    for matrix in matrices:
        digest.update(np.ascontiguousarray(matrix, dtype="<f8").tobytes())
    return digest.hexdigest()


def write_dataset(path: Path, basis: Basis, reference: Reference, origin: Provenance) -> None:
    """Write one data set, complete or not at all; refuse a basis that does not give the overlap."""
    off = np.abs(overlap(basis) - reference.overlap).max()
    if not off <= OVERLAP_TOLERANCE:
        raise DatasetError(f"{path.name}: this basis misses ao_1e_int_overlap by {off:.1e}")
    with replacing(path) as temporary, replacing(path.with_suffix(".trexio"), keep=False) as raw:
        _write_trexio(raw, basis, reference, origin)
        with h5py.File(raw, "r") as source, h5py.File(temporary, "w", libver=HDF5_1_10) as file:
            _copy_without_times(source, file)
            _write_fmo(file.create_group("fmo"), reference, origin)


def check_writable(path: Path) -> None:
    """Complain about an output that cannot be written before anything long is computed."""
    if path.is_dir():
        raise DatasetError(f"{path}: is a folder, a file name is needed")
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, keep=False) as temporary:
        temporary.touch()


@contextmanager
def replacing(path: Path, keep: bool = True) -> Iterator[Path]:
    """A temporary name beside `path` that becomes `path` on success (or never, if not `keep`)."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    try:
        yield temporary
        if keep:
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _write_trexio(path: Path, basis: Basis, reference: Reference, origin: Provenance) -> None:
    """Write the TREXIO fields of a data set: molecule, basis, integrals and orbitals."""
    nmo = len(reference.mo_occupation)
    pairs = reference.nelectron // 2
    fields: dict[str, Any] = {
        "metadata_code_num": 1,
        "metadata_code": [f"fmo datasets/make_dataset.py {VERSION}"],
        "metadata_description": f"RHF/{origin.basis_name} of {origin.geometry.name}, "
                                f"charge {origin.charge}",
        "nucleus_num": len(basis.charge),
        "nucleus_charge": basis.charge,
        "nucleus_coord": basis.coord,
        "nucleus_label": origin.geometry.symbols,
        "nucleus_repulsion": reference.nuclear_repulsion,
        "electron_num": reference.nelectron,
        "electron_up_num": pairs,
        "electron_dn_num": pairs,
        "basis_type": "Gaussian",
        "basis_prim_num": len(basis.exponent),
        "basis_shell_num": len(basis.shell_ang_mom),
        "basis_nucleus_index": basis.nucleus_index,
        "basis_shell_ang_mom": basis.shell_ang_mom,
        "basis_shell_factor": basis.shell_factor,
        "basis_r_power": np.zeros_like(basis.shell_ang_mom),
        "basis_shell_index": basis.shell_index,
        "basis_exponent": basis.exponent,
        "basis_coefficient": basis.coefficient,
        "basis_prim_factor": basis.prim_factor,
        "ao_cartesian": int(basis.cartesian),
        "ao_num": basis.nao,
        "ao_shell": basis.ao_shell,
        "ao_normalization": basis.ao_normalization,
        "ao_1e_int_overlap": reference.overlap,
        "ao_1e_int_kinetic": reference.kinetic,
        "ao_1e_int_potential_n_e": reference.potential,
        "ao_1e_int_core_hamiltonian": reference.core_hamiltonian,
        "mo_type": "RHF",
        "mo_num": nmo,
        "mo_coefficient": reference.mo_coefficient,
        "mo_occupation": reference.mo_occupation,
        "mo_energy": reference.mo_energy,
    }
    try:
        with trexio.File(str(path), "w", trexio.TREXIO_HDF5) as file:
            for name, value in fields.items():
                flat = isinstance(value, np.ndarray) and value.ndim == 1
                # As a list: trexio 2.6.1 turns a numpy array of one element into a scalar.
                getattr(trexio, f"write_{name}")(file, value.tolist() if flat else value)
    except trexio.Error as error:
        raise DatasetError(f"{path}: trexio cannot write it: {error}") from None


def _copy_without_times(source: h5py.Group, target: h5py.Group) -> None:
    """Copy what trexio wrote, values and types as they are, without the time stamps that HDF5
    puts on each dataset; larger matrices compressed. Equal input then gives equal bytes."""
    for name in source.attrs:
        _copy_attribute(source, target, name)
    for name, item in source.items():
        if isinstance(item, h5py.Group):
            _copy_without_times(item, target.create_group(name))
        else:
            target.create_dataset(name, data=item[...], dtype=item.dtype, **_storage(item))


def _copy_attribute(source: h5py.Group, target: h5py.Group, name: str) -> None:
    """h5py's own attribute copy turns fixed-length strings into variable-length ones; this keeps
    the stored type, which libtrexio relies on."""
    old = h5py.h5a.open(source.id, name.encode())
    value = np.empty(old.shape, dtype=old.dtype)
    old.read(value)
    h5py.h5a.create(target.id, name.encode(), old.get_type(), old.get_space()).write(value)


def _storage(array: np.ndarray | h5py.Dataset) -> dict[str, object]:
    """How to store an array: large ones compressed, none with a time stamp."""
    return PACKED if array.nbytes >= PACKED_FROM_BYTES else {"track_times": False}


def _write_fmo(group: h5py.Group, reference: Reference, origin: Provenance) -> None:
    for name, units in FMO_MATRICES.items():
        values = getattr(reference, name)
        dataset = group.create_dataset(name, data=values, dtype="<f8", **_storage(values))
        dataset.attrs["units"] = np.bytes_(units)
        dataset.attrs["shape_meaning"] = np.bytes_("[nao][nao]")
    energy = group.create_dataset("energy", data=reference.energy, dtype="<f8", track_times=False)
    energy.attrs["units"] = np.bytes_("hartree")
    for name, value in _fmo_attributes(reference, origin).items():
        group.attrs[name] = np.bytes_(value) if isinstance(value, str) else value


def _fmo_attributes(reference: Reference, origin: Provenance) -> dict[str, object]:
    """Attributes of /fmo: fixed-length ASCII strings, int32, float64."""
    return {
        "format_version": np.int32(FORMAT_VERSION),
        "generator": f"datasets/make_dataset.py {VERSION}",
        "python_version": platform.python_version(),
        "pyscf_version": pyscf.__version__,
        "libcint_version": libcint_version(),
        "trexio_version": trexio.__version__,
        "numpy_version": np.__version__,
        "h5py_version": h5py.__version__,
        "method": "RHF",
        "basis_name": origin.basis_name,
        "charge": np.int32(origin.charge),
        "shuffle_seed": np.int32(origin.shuffle_seed),
        "integral_cutoff": np.float64(reference.accuracy.jk_cutoff),
        "scf_convergence": np.float64(reference.accuracy.scf_energy),
        "xyz_file": origin.geometry.name,
        "xyz_sha256": origin.geometry.sha256,
        "bohr_in_angstrom": np.float64(BOHR_IN_ANGSTROM),
        "license": origin.license,
        "reference_sha256": reference_sha256(getattr(reference, name) for name in FMO_MATRICES),
    }


def read_basis(file: h5py.File) -> Basis:
    """The basis of any TREXIO HDF5 file, ours or foreign; a missing field is an error."""
    def field(group: str, name: str) -> np.ndarray:
        try:
            return file[group][f"{group}_{name}"][...]
        except KeyError:
            raise DatasetError(f"{file.filename}: {group}_{name} is missing") from None

    return Basis(
        coord=field("nucleus", "coord").reshape(-1, 3), charge=field("nucleus", "charge"),
        nucleus_index=field("basis", "nucleus_index"),
        shell_ang_mom=field("basis", "shell_ang_mom"),
        shell_factor=field("basis", "shell_factor"), shell_index=field("basis", "shell_index"),
        exponent=field("basis", "exponent"), coefficient=field("basis", "coefficient"),
        prim_factor=field("basis", "prim_factor"), ao_shell=field("ao", "shell"),
        ao_normalization=field("ao", "normalization"),
        cartesian=bool(file["ao"].attrs["ao_cartesian"]))
