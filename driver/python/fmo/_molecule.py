"""Molecules without PySCF: nuclei, charge and a basis set of libfmo_io."""

from __future__ import annotations

import ctypes
import os
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from ctypes import POINTER, c_double, c_int, c_void_p
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ._errors import Error, InputError, UnknownAttributeError, UnsupportedError, bad_type, bad_value, named, nearest
from ._io import BOHR, BasisSet, MoleculeStruct, basis_set, element_numbers, io_library
from ._library import checked, zeroed
from ._optional import optional
from ._values import INT_MAX, whole_number

# fmo_basis_input.ao_component of the functions of a shell in PySCF's order, by mol.cart: d functions
# go by m = -2 ... 2 there, and 0, +1, -1, +2, -2 in libfmo.
COMPONENTS = {True: ((0,), (0, 1, 2), tuple(range(6)), tuple(range(10)), tuple(range(15))),
              False: ((0,), (0, 1, 2), (4, 2, 0, 1, 3), (6, 4, 2, 0, 1, 3, 5), (8, 6, 4, 2, 0, 1, 3, 5, 7))}
_UNITS = {"angstrom": 1.0 / BOHR, "bohr": 1.0}
BASIS = "6-31g*"
FORMS = ("set", "cartesian", "spherical")  # the order of fmo_functions
ERRORS = ("raise", "skip", "return")


def _atomic_numbers(given: Any) -> NDArray[Any]:
    """From atomic numbers or symbols, or both mixed."""
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise bad_type(f"numbers: expected a list of atomic numbers or symbols, as ['O', 'H', 'H'], not {given!r}")
    numbers = []
    for k, one in enumerate(given):
        if isinstance(one, str):
            symbols = element_numbers()
            if one.lower() not in symbols:
                raise bad_value(f"numbers[{k}] = {one!r}: no element has this symbol"
                                f"{nearest(one.capitalize(), [name.capitalize() for name in symbols])}")
            numbers.append(symbols[one.lower()])
        else:
            numbers.append(whole_number(f"numbers[{k}]", one, 1, 118))
    if not numbers:
        raise bad_value("numbers: a molecule has at least one atom")
    return np.array(numbers, dtype=np.intc)


def _unit(unit: Any) -> float:
    """The unit of a length, in bohr."""
    if not isinstance(unit, str) or unit.lower() not in _UNITS:
        raise bad_value(f"unit = {unit!r}: expected 'angstrom' or 'bohr'")
    return _UNITS[unit.lower()]


def _coordinates(positions: Any, unit: str, count: int) -> NDArray[Any]:
    """[natm, 3] in bohr; a copy."""
    bohr = _unit(unit)
    try:
        array = np.array(positions, dtype=np.float64)
    except (TypeError, ValueError) as reason:
        raise bad_value(f"positions: expected numbers, [{count}, 3] ({reason})") from reason
    if array.shape != (count, 3):
        raise bad_value(f"positions: shape {list(array.shape)}, expected [{count}, 3] for {count} atoms")
    if not np.isfinite(array).all():
        raise bad_value(f"positions[{np.argwhere(~np.isfinite(array))[0][0]}]: not finite")
    return array * bohr


def _chosen(basis: Any, functions: Any) -> BasisSet:
    """The basis set of two arguments of Molecule, with the errors of both."""
    if functions not in FORMS:
        raise bad_value(f"functions = {functions!r}: expected one of {', '.join(FORMS)}")
    if not isinstance(basis, (str, os.PathLike)):
        raise bad_type(f"basis: expected the name of a basis set, or a path, not {type(basis).__name__}")
    return basis_set(os.fspath(basis))


class InputWarning(UserWarning):
    """Something in a file was passed over, or may be meant otherwise."""


@named
class Molecule:
    """A molecule with a basis set that libfmo ships or reads from a file. It needs no other package than numpy.

    numbers: atomic numbers or symbols, [natm]. positions: [natm, 3], in angstrom, or in bohr with
    unit="bohr". charge: e. multiplicity: 2S + 1. basis: a name such as "6-31g*",
    "cc-pvdz", "def2-svp" (docs/reference/basis-sets.md lists them), or the path of a file. functions:
    "cartesian", "spherical", or "set", what the basis set is meant for.

    A molecule does not change: with_positions() makes another. Functions have PySCF's order and norm, so
    matrices are those of to_pyscf(). Names are PySCF's where it has one: natm, nao, nbas, nelectron, cart,
    spin, atom_coords(), atom_charges(), energy_nuc(). Besides: numbers [natm]; symbols; positions [natm, 3],
    angstrom; charge; multiplicity; basis; functions; formula.

    Raises InputError for values, atoms closer than 1e-3 bohr, a multiplicity that the number of electrons
    cannot have, and an element or a basis set that is not there; InputTypeError.
    """

    numbers: NDArray[Any]
    symbols: tuple[str, ...]
    charge: int
    multiplicity: int
    basis: str
    functions: str
    formula: str
    natm: int
    nao: int
    nbas: int
    nelectron: int
    cart: bool
    spin: int

    def __init__(self, numbers: Sequence[int | str] | NDArray[Any], positions: Any, charge: int = 0, multiplicity: int = 1,
                 basis: str | os.PathLike[str] = BASIS, unit: str = "angstrom", functions: str = "set"):
        spin = whole_number("multiplicity", multiplicity, 1, INT_MAX) - 1
        atoms = _atomic_numbers(numbers)
        _chosen(basis, functions)
        symbols = tuple(io_library().fmo_element_symbol(int(number)).decode() for number in atoms)
        set_now = vars(self).update  # __setattr__ refuses
        set_now(numbers=atoms, symbols=symbols, charge=whole_number("charge", charge, -INT_MAX, INT_MAX), multiplicity=spin + 1,
                spin=spin, basis=os.fspath(basis), functions=functions, natm=len(atoms),
                _coords=_coordinates(positions, unit, len(atoms)))
        set_now(**self._made())
        for array in (self.numbers, self._coords, *self._arrays.values()):
            array.flags.writeable = False

    _coords: NDArray[Any]  # bohr
    _arrays: dict[str, NDArray[Any]]
    _repulsion: float

    def _made(self) -> dict[str, Any]:
        """The basis functions and properties that libfmo_io derives from the molecule and its basis set."""
        library, given, dataset = io_library(), zeroed(MoleculeStruct), c_void_p()
        given.nucleus_num = self.natm
        given.multiplicity = self.multiplicity
        given.number = self.numbers.ctypes.data_as(POINTER(c_int))
        given.coord = self._coords.ctypes.data_as(POINTER(c_double))
        chosen = basis_set(self.basis)
        checked(library.fmo_dataset_create_with, ctypes.byref(given), chosen.handle, FORMS.index(self.functions),
                self.charge, ctypes.byref(dataset))
        try:
            source = library.fmo_dataset_basis_input(dataset).contents
            arrays = _copied(source)
            return {"_arrays": arrays, "_repulsion": float(library.fmo_dataset_nuclear_repulsion(dataset)),
                    "formula": library.fmo_dataset_formula(dataset).decode(), "cart": bool(source.cartesian),
                    "nelectron": int(library.fmo_dataset_electron_num(dataset)),
                    "nbas": int(source.shell_num), "nao": len(arrays["ao_shell"])}
        finally:
            library.fmo_dataset_destroy(dataset)

    def __setattr__(self, name: str, value: Any) -> None:
        names = [one for one in (*vars(self), *dir(type(self))) if not one.startswith("_")]
        if name in names:
            raise UnknownAttributeError("FMO_ERR_ARGUMENT", f"fmo.Molecule: {name} cannot be set: a molecule does not "
                                        "change; make another one, as with_positions() does")
        raise UnknownAttributeError("FMO_ERR_ARGUMENT",
                                    f"fmo.Molecule has no attribute '{name}'{nearest(name, names)}")

    def __repr__(self) -> str:
        kind = "" if not (self._arrays["shell_ang_mom"] > 1).any() else " Cartesian" if self.cart else " spherical"
        charge = f", charge {self.charge:+d}" if self.charge else ""
        charge += f", multiplicity {self.multiplicity}" if self.spin else ""
        atoms = f"{self.natm} atom{'s' * (self.natm > 1)}"
        return (f"<fmo.Molecule {self.formula}{charge}: {atoms}, {self.nelectron} electrons, "
                f"{os.path.basename(self.basis)}, {self.nao}{kind} function{'s' * (self.nao > 1)}>")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.numbers, self._coords, self.charge, self.multiplicity, self.basis, self.functions)

    def __copy__(self) -> Molecule:
        return self

    def __deepcopy__(self, memo: Any) -> Molecule:
        return self

    @property
    def positions(self) -> NDArray[Any]:
        """[natm, 3], angstrom; a copy."""
        return self._coords * BOHR

    def atom_coords(self, unit: str = "bohr") -> NDArray[Any]:
        """Positions, [natm, 3], in bohr as PySCF's, or in angstrom; a copy."""
        return self._coords / _unit(unit)

    def atom_charges(self) -> NDArray[Any]:
        """Charges of the nuclei, [natm], e."""
        return self.numbers.copy()

    def energy_nuc(self) -> float:
        """Repulsion of the nuclei, hartree."""
        return self._repulsion

    def basis_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of fmo_basis_input (docs/reference/library.md), which must not be changed."""
        return self._arrays

    def with_positions(self, positions: Any, unit: str = "angstrom") -> Molecule:
        """The same atoms, charge and basis at other places, [natm, 3]. InputError for shape or values."""
        return Molecule(self.numbers, positions, self.charge, self.multiplicity, self.basis, unit, self.functions)

    @classmethod
    def from_xyz(cls, source: str | os.PathLike[str], charge: int | None = None, multiplicity: int | None = None,
                 basis: str | os.PathLike[str] = BASIS, functions: str = "set") -> Molecule:
        """The one molecule of an .xyz file, or of text of that format (a text has line breaks).

        charge and multiplicity: those of the comment line ("charge=-1", "-1 1") unless given, else 0 and 1.
        Raises InputError (which names file, line and cure), also for several molecules, and as Molecule.
        """
        found: list[Molecule] = _read_all(source, charge, multiplicity, basis, functions, "raise")
        if len(found) != 1:
            raise bad_value(f"{_shown(source)}: {len(found)} molecules: fmo.Molecule.all_from_xyz reads them all")
        return found[0]

    @overload
    @classmethod
    def all_from_xyz(cls, source: str | os.PathLike[str], charge: int | None = None, multiplicity: int | None = None,
                     basis: str | os.PathLike[str] = BASIS, functions: str = "set",
                     errors: Literal["raise", "skip"] = "raise") -> list[Molecule]: ...

    @overload
    @classmethod
    def all_from_xyz(cls, source: str | os.PathLike[str], charge: int | None = None, multiplicity: int | None = None,
                     basis: str | os.PathLike[str] = BASIS, functions: str = "set", *,
                     errors: Literal["return"]) -> list[Molecule | Error]: ...

    @classmethod
    def all_from_xyz(cls, source: str | os.PathLike[str], charge: int | None = None, multiplicity: int | None = None,
                     basis: str | os.PathLike[str] = BASIS, functions: str = "set",
                     errors: str = "raise") -> list[Molecule] | list[Molecule | Error]:
        """All molecules of an .xyz file or text, in order; arguments and errors as of from_xyz.

        errors: what a molecule does that cannot be made, such as one with an unknown element: "raise" its error;
        "skip": it is left out, with one InputWarning that counts them and gives the first error; "return": its
        fmo.Error, which names the line or the molecule, stands in its place. A file that cannot be read is
        raised in any case.
        """
        if errors not in ERRORS:
            raise bad_value(f"errors = {errors!r}: expected one of {', '.join(ERRORS)}")
        return _read_all(source, charge, multiplicity, basis, functions, errors)

    @classmethod
    def from_ase(cls, atoms: Any, charge: int | None = None, multiplicity: int | None = None,
                 basis: str | os.PathLike[str] = BASIS, functions: str = "set") -> Molecule:
        """From an Atoms object of ASE.

        charge: the sum of the atoms' initial charges unless given. multiplicity: likewise, one more than
        the sum of their initial magnetic moments. Raises InputTypeError for what is no Atoms object,
        UnsupportedError for periodic ones, and as Molecule.
        """
        for name in ("get_atomic_numbers", "get_positions", "get_pbc", "get_initial_charges"):
            if not hasattr(atoms, name):
                raise bad_type(f"from_ase: expected ase.Atoms, not {type(atoms).__name__}")
        if any(atoms.get_pbc()):
            raise UnsupportedError("FMO_ERR_UNSUPPORTED", "from_ase: the atoms are periodic (atoms.pbc): "
                                   "libfmo computes molecules; atoms.pbc = False makes them one")
        total: Any = round(float(np.sum(atoms.get_initial_charges())), 6)
        if charge is None and total != round(total):
            raise bad_value(f"from_ase: the sum of the atoms' initial charges is {total:g}: give charge, a whole number")
        unpaired = float(np.sum(atoms.get_initial_magnetic_moments()))
        return cls(atoms.get_atomic_numbers(), atoms.get_positions(),
                   total if charge is None else charge,
                   1 + abs(round(unpaired)) if multiplicity is None else multiplicity, basis, "angstrom", functions)

    @classmethod
    def from_qcschema(cls, model: Any, basis: str | os.PathLike[str] | None = None,
                      functions: str = "set") -> Molecule:
        """From a molecule of QCSchema, or an AtomicInput: a dict or a model of qcelemental.

        basis: that of the AtomicInput unless given, else 6-31g*. Raises InputTypeError for other things,
        InputError for a field that is missing or ghost atoms, and as Molecule.
        """
        data = as_dict(model)
        specification = data.get("specification", data)
        named = specification.get("model") if isinstance(specification, Mapping) else None
        if "molecule" in data:
            data = as_dict(data["molecule"])
        if basis is None:
            basis = (named or {}).get("basis") or BASIS
        for name in ("symbols", "geometry"):
            if name not in data:
                raise bad_value(f"from_qcschema: the molecule has no field '{name}'")
        real = data.get("real")
        if real is not None and not np.all(real):
            raise UnsupportedError("FMO_ERR_UNSUPPORTED", "from_qcschema: the molecule has ghost atoms (real: false)")
        if isinstance(data["symbols"], (str, bytes)) or not hasattr(data["symbols"], "__iter__"):
            raise bad_type(f"from_qcschema: symbols: expected a list, as ['O', 'H', 'H'], not {data['symbols']!r}")
        symbols = [str(one) for one in data["symbols"]]
        try:
            geometry = np.asarray(data["geometry"], dtype=np.float64)
        except (TypeError, ValueError) as reason:
            raise bad_value(f"from_qcschema: geometry: expected {3 * len(symbols)} numbers ({reason})") from reason
        if geometry.size != 3 * len(symbols):
            raise bad_value(f"from_qcschema: geometry has {geometry.size} numbers, expected {3 * len(symbols)}")
        return cls(symbols, geometry.reshape(-1, 3), data.get("molecular_charge", 0),
                   data.get("molecular_multiplicity", 1), basis, "bohr", functions)

    def to_pyscf(self) -> Any:
        """The same molecule as a Mole of PySCF, with the same functions in the same order."""
        gto = optional("pyscf.gto")
        functions: dict[str, list[Any]] = {}
        labels = [f"{symbol}{k}" for k, symbol in enumerate(self.symbols)]
        arrays = self._arrays
        for shell, (nucleus, l) in enumerate(zip(arrays["shell_nucleus"], arrays["shell_ang_mom"])):
            mine = arrays["prim_shell"] == shell
            coefficients = arrays["prim_coefficient"][mine] / [gto.gto_norm(l, a) for a in
                                                               arrays["prim_exponent"][mine]]
            functions.setdefault(labels[nucleus], []).append(
                [int(l), *(list(pair) for pair in zip(arrays["prim_exponent"][mine].tolist(),
                                                      coefficients.tolist()))])
        return gto.M(atom=list(zip(labels, self._coords.tolist())), unit="bohr", basis=functions, cart=self.cart,
                     charge=self.charge, spin=self.spin, verbose=0)

    def to_ase(self) -> Any:
        """The atoms as an Atoms object of ASE, without a calculator."""
        return optional("ase").Atoms(numbers=self.numbers, positions=self.positions)

    def to_xyz(self, comment: str | None = None) -> str:
        """Text of an .xyz file that from_xyz reads; comment: the second line, else the charge."""
        if comment is not None and len(comment.splitlines()) > 1:
            raise bad_value("to_xyz: the comment has several lines")
        title = f"charge={self.charge}" + (f" multiplicity={self.multiplicity}" if self.spin else "")
        lines = [str(self.natm), title if comment is None else comment]
        lines += [f"{symbol:2s} {x:18.12f} {y:18.12f} {z:18.12f}"
                  for symbol, (x, y, z) in zip(self.symbols, self.positions)]
        return "\n".join(lines) + "\n"


def _again(numbers: NDArray[Any], coords: NDArray[Any], charge: int, multiplicity: int, basis: str,
           functions: str) -> Molecule:  # pylint: disable=too-many-arguments
    return Molecule(numbers, coords, charge, multiplicity, basis, "bohr", functions)


def _copied(source: Any) -> dict[str, NDArray[Any]]:
    """The arrays of an fmo_basis_input, with the functions in PySCF's order and with its norms: a Cartesian
    d shell has one factor, with which xx has the norm sqrt(4 pi / 5)."""
    def copy(name: str, kind: Any, *shape: int) -> NDArray[Any]:
        return np.ctypeslib.as_array(ctypes.cast(getattr(source, name), POINTER(kind)), shape).copy()

    nuclei, shells, prims, functions = source.nucleus_num, source.shell_num, source.prim_num, source.ao_num
    shell, component = copy("ao_shell", c_int, functions), copy("ao_component", c_int, functions)
    factor, ang_mom = copy("ao_factor", c_double, functions), copy("shell_ang_mom", c_int, shells)
    order = []
    for first, l in zip(np.searchsorted(shell, np.arange(shells)), ang_mom):
        components = COMPONENTS[bool(source.cartesian)][l]
        at = {component[first + k]: first + k for k in range(len(components))}
        order += [at[one] for one in components]
        if source.cartesian and len(components) > len(COMPONENTS[False][l]):
            factor[first:first + len(components)] = factor[at[0]] * np.sqrt(4 * np.pi / len(COMPONENTS[False][l]))
    return {"nucleus_charge": copy("nucleus_charge", c_double, nuclei),
            "nucleus_coord": copy("nucleus_coord", c_double, nuclei, 3),
            "shell_nucleus": copy("shell_nucleus", c_int, shells), "shell_ang_mom": ang_mom,
            "prim_shell": copy("prim_shell", c_int, prims), "prim_exponent": copy("prim_exponent", c_double, prims),
            "prim_coefficient": copy("prim_coefficient", c_double, prims),
            "ao_shell": shell[order], "ao_component": component[order], "ao_factor": factor[order]}


def as_dict(model: Any) -> Mapping[str, Any]:
    """A model of QCSchema as a dict; InputTypeError for other things."""
    if isinstance(model, Mapping):
        return model
    for name in ("model_dump", "dict"):  # of pydantic 2 and 1
        if hasattr(model, name):
            made = getattr(model, name)()
            if isinstance(made, Mapping):
                return made
    raise bad_type(f"expected a dict of QCSchema or a model of qcelemental, not {type(model).__name__}")


def _shown(source: str | os.PathLike[str]) -> str:
    return "text" if _is_text(source) else os.fspath(source)


def _is_text(source: str | os.PathLike[str]) -> bool:
    return isinstance(source, str) and "\n" in source


def _read_all(source: str | os.PathLike[str], charge: int | None, multiplicity: int | None,
              basis: str | os.PathLike[str], functions: str, errors: str) -> list[Any]:
    """All molecules of an .xyz file or text; errors as of all_from_xyz."""
    found, failed = [], []
    for one in read_xyz(source, charge, multiplicity, basis, functions):
        if isinstance(one, Error):
            if errors == "raise":
                raise one
            failed.append(one)
        if errors == "return" or isinstance(one, Molecule):
            found.append(one)
    if failed and errors == "skip":
        warnings.warn(f"fmo: {_shown(source)}: {len(failed)} of {len(found) + len(failed)} molecules skipped, the first: "
                      f"{failed[0].message}", InputWarning, stacklevel=4)
    return found


def read_xyz(source: str | os.PathLike[str], charge: int | None, multiplicity: int | None,
             basis: str | os.PathLike[str], functions: str) -> Iterator[Molecule | Error]:
    """The molecules of an .xyz file or text, one by one; in the place of one that cannot be made its Error."""
    if not isinstance(source, (str, os.PathLike)):
        raise bad_type(f"from_xyz: expected a path, or text of an .xyz file, not {type(source).__name__}")
    if charge is not None:  # what is wrong with all molecules is raised
        whole_number("charge", charge, -INT_MAX, INT_MAX)
    if multiplicity is not None:
        whole_number("multiplicity", multiplicity, 1, INT_MAX)
    _chosen(basis, functions)
    if not _is_text(source):
        yield from _frames(os.fspath(source), os.fspath(source), charge, multiplicity, basis, functions)
        return
    with tempfile.TemporaryDirectory(prefix="fmo-") as folder:
        path = Path(folder) / "text.xyz"
        path.write_text(str(source), encoding="utf-8")
        yield from _frames(str(path), "text", charge, multiplicity, basis, functions)


def _frames(path: str, shown: str, charge: int | None, multiplicity: int | None,
            basis: str | os.PathLike[str], functions: str) -> Iterator[Molecule | Error]:
    """Errors name `shown` in place of the file; those of the file as a whole are raised."""
    library, xyz = io_library(), c_void_p()
    try:
        checked(library.fmo_xyz_open, os.fsencode(path), ctypes.byref(xyz))
        while True:
            frame, number = POINTER(MoleculeStruct)(), 0
            try:
                checked(library.fmo_xyz_next, xyz, ctypes.byref(frame))
                if not frame:
                    return
                one = frame.contents
                number = one.frame
                if one.ghost:
                    raise UnsupportedError("FMO_ERR_UNSUPPORTED", "fmo.Molecule has no ghost atoms; a molecule of PySCF "
                                           "may have them")
                if one.notice:
                    warnings.warn(f"fmo: {shown}: {one.notice.decode(errors='replace')}", InputWarning,
                                  stacklevel=6)  # who calls from_xyz or all_from_xyz
                yield Molecule(np.ctypeslib.as_array(one.number, (one.nucleus_num,)),
                               np.ctypeslib.as_array(one.coord, (one.nucleus_num, 3)),
                               one.charge if charge is None else charge,
                               (one.multiplicity or 1) if multiplicity is None else multiplicity,
                               basis, "bohr", functions)
            except (InputError, UnsupportedError) as reason:
                yield _renamed(reason, path, shown, number)
            finally:
                library.fmo_molecule_destroy(frame)
    except Error as reason:
        raise _renamed(reason, path, shown, 0) from None
    finally:
        library.fmo_xyz_close(xyz)


def _renamed(reason: Error, path: str, shown: str, number: int) -> Error:
    """With `shown` in place of the path, or in front of a message that does not name the file."""
    message = reason.message.replace(path, shown)
    if path not in reason.message:
        message = f"{shown}: molecule {number}: {message}" if number else f"{shown}: {message}"
    return type(reason)(reason.status, message)
