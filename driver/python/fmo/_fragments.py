"""FMO2 by libfmo_fragment: energies of proteins and clusters from fragments and their pairs.

Mirrors <fmo/fragment.h>; see _library.py.
"""

from __future__ import annotations

import ctypes
import json
import os
import tempfile
import warnings
import weakref
from collections.abc import Sequence
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cupy, _numeric
from ._errors import bad_type, bad_value, Error, Strict, UnsupportedError, named
from ._io import BOHR, BasisSet, FragmentSystem, io_library
from ._library import ErrorStruct, Functions, checked, names_of, sibling
from ._molecule import FORMS, Molecule
from ._plan import arguments_of, check_options, make_options
from ._progress import progress_bar
from ._scf import CutoffWarning, ScfOptions, log
from ._values import INT_MAX, real_number, whole_number
from ._worker import interruptible


class FragmentOptions(ctypes.Structure):
    """fmo_fragment_options"""
    _fields_ = [("scf", ScfOptions), ("max_iterations", c_int), ("convergence", c_double), ("projector", c_double),
                ("hybrids", c_char_p), ("state", c_char_p), ("resume", c_int), ("iteration", c_void_p),
                ("progress", c_void_p), ("user", c_void_p)]


class FragmentIteration(ctypes.Structure):
    """The beginning of fmo_fragment_iteration."""
    _fields_ = [("iteration", c_int), ("energy", c_double), ("energy_change", c_double), ("residual", c_double)]


class FragmentPair(ctypes.Structure):
    """fmo_fragment_pair"""
    _fields_ = [("i", c_int), ("j", c_int), ("is_scf", c_int), ("cycles", c_int), ("is_bonded", c_int),
                ("distance", c_double), ("internal", c_double), ("transfer", c_double), ("total", c_double),
                ("electrostatic", c_double)]


class FragmentResult(ctypes.Structure):
    """The beginning of fmo_fragment_result, up to the last field that is read here."""
    _fields_ = [("fragment_num", c_int), ("atom_num", c_int), ("nao", c_int), ("electron_num", c_int),
                ("monomer", c_void_p), ("pair_num", c_int), ("pair", POINTER(FragmentPair)), ("scf_pairs", c_int),
                ("es_pairs", c_int), ("iterations", c_int), ("resumed", c_int), ("resumed_pairs", c_int),
                ("energy_change", c_double), ("energy1", c_double), ("energy2", c_double),
                ("charge1", POINTER(c_double)), ("charge2", POINTER(c_double)), ("mode", c_int),
                ("mode_reason", c_char * 160), ("threads", c_int), ("ranks", c_int), ("notice", c_char * 240)]


_Iteration = CFUNCTYPE(None, POINTER(FragmentIteration), c_void_p)
_Progress = CFUNCTYPE(None, c_double, c_void_p)
_err = POINTER(ErrorStruct)
_FUNCTIONS: Functions = {
    "fmo_fragment_options_init": (None, [POINTER(FragmentOptions)]),
    "fmo_fragment_run": (c_int, [POINTER(FragmentSystem), c_void_p, POINTER(FragmentOptions),
                                 POINTER(POINTER(FragmentResult)), _err]),
    "fmo_fragment_result_destroy": (None, [POINTER(FragmentResult)]),
}
_RESULTS = ("e_tot", "e_fmo1", "converged", "iterations", "pairs", "charges", "nao", "error", "notice")


def _json(mol: Molecule, fragments: Any, charges: Any, bonds: Any) -> str:
    """A molecule and its fragments as a system of JSON (docs/reference/fmo.md), which libfmo_io checks."""
    try:
        lists = [[int(atom) for atom in one] for one in fragments]
    except (TypeError, ValueError) as reason:
        raise bad_value(f"fragments: expected lists of atoms, counted from 0, as [[0, 1, 2], [3, 4, 5]] ({reason})"
                        ) from reason
    where: list[int | None] = [None] * mol.natm
    for number, atoms in enumerate(lists):
        for atom in atoms:
            if not 0 <= atom < mol.natm:
                raise bad_value(f"fragments[{number}]: there is no atom {atom}: expected 0 to {mol.natm - 1}")
            if where[atom] is not None:
                raise bad_value(f"fragments: atom {atom} is in two fragments, {where[atom]} and {number}")
            where[atom] = number
    missing = [atom for atom, one in enumerate(where) if one is None]
    if missing:
        raise bad_value(f"fragments: atom {missing[0]} ({mol.symbols[missing[0]]}) is in no fragment")
    given = [0] * len(lists) if charges is None else [whole_number("fragment_charges", one, -INT_MAX, INT_MAX)
                                                      for one in charges]
    if charges is None and mol.charge:
        raise bad_value(f"fragment_charges: the molecule has the charge {mol.charge}: say which fragments have it")
    if len(given) != len(lists) or sum(given) != mol.charge:
        raise bad_value(f"fragment_charges: {given}: expected {len(lists)} charges with the sum {mol.charge}")
    try:
        cut = [[int(detached) + 1, int(attached) + 1] for detached, attached in bonds]
    except (TypeError, ValueError) as reason:
        raise bad_value(f"bonds: expected pairs of atoms, detached and attached, counted from 0 ({reason})") from reason
    return json.dumps({
        "symbols": mol.symbols, "angstrom": mol.positions.tolist(), "bohr_in_angstrom": BOHR,
        "fragment": [one + 1 for one in where if one is not None], "charge": given,
        "bonds": cut})


def _read(path: str) -> Any:
    """The fmo_fragment_system of a file."""
    system = POINTER(FragmentSystem)()
    checked(io_library().fmo_fragment_system_read, os.fsencode(path), ctypes.byref(system))
    return system


@named
class FMO2(Strict):
    """Energy of a protein or cluster by the fragment molecular orbital method with pairs, FMO2-RHF.

    system: a path: a PDB file, which is cut into residues, or a system of JSON, GAMESS, OpenFMO or ABINIT-MP
    (docs/reference/fmo.md); or an fmo.Molecule with fragments: lists of its atoms, counted from 0;
    fragment_charges: e, 0 unless given; bonds: pairs of atoms, detached and attached, whose bond is cut.
    basis: a name or path; that of the file or molecule unless given. functions: as of Molecule. Options of
    builds as of get_jk.

    Set before kernel(), None meaning the library's default: conv_tol: hartree, 1e-8, of the sum of monomer
    energies; max_iterations: 60; state: a file that keeps the state of the calculation; resume: True continues
    from it.

    After it: e_tot: FMO2 energy, hartree; e_fmo1: sum of the monomers' energies, hartree; converged;
    iterations; pairs: [pairs], a structured array of i and j (counted from 0), is_scf, cycles, is_bonded,
    distance (in sums of van der Waals radii), internal, transfer, total, electrostatic (hartree); charges:
    Mulliken charges with pairs, [natm], e; nao; error: None, or the fmo.Error that was raised; notice: as of
    RHF. Always: natm; numbers: [natm]; fragment_of: the fragment of each atom, [natm]; fragment_names;
    fragment_charges: e.

    Raises InputError (which names file, field and cure), InputTypeError for what is neither, UnsupportedError.
    """

    basis: str = ""
    functions: str = "set"
    options: dict[str, Any] = {}
    conv_tol: float | None = None
    max_iterations: int | None = None
    state: str | None = None
    resume: bool = False

    natm: int = 0
    numbers: Any = None
    fragment_of: Any = None
    fragment_names: list[str] = []
    fragment_charges: Any = None
    e_tot: float = float("nan")
    e_fmo1: float = float("nan")
    converged: bool = False
    iterations: int = 0
    pairs: Any = None
    charges: NDArray[Any] | None = None
    nao: int = 0
    error: Error | None = None
    notice: str | None = None

    def __init__(self, system: Any, basis: str | os.PathLike[str] | None = None,
                 fragments: Sequence[Sequence[int]] | None = None, fragment_charges: Sequence[int] | None = None,
                 bonds: Sequence[Sequence[int]] = (), functions: str | None = None, **options: Any):
        check_options(options, arguments_of(FMO2), "fmo.FMO2")
        make_options(**options)
        self._molecule = system if isinstance(system, Molecule) else None
        self._cut = (fragments, fragment_charges, bonds)
        if self._molecule is not None:
            if self._molecule.spin:
                raise UnsupportedError("FMO_ERR_UNSUPPORTED", f"fmo.FMO2: multiplicity {self._molecule.multiplicity}: "
                                       "fragments are closed shells")
            if fragments is None:
                raise bad_value("fmo.FMO2: a molecule needs fragments, as [[0, 1, 2], [3, 4, 5]]")
            with tempfile.TemporaryDirectory(prefix="fmo-") as folder:
                path = os.path.join(folder, "system.json")
                with open(path, "w", encoding="ascii") as file:
                    file.write(_json(self._molecule, fragments, fragment_charges, bonds))
                try:
                    self._system = _read(path)
                except Error as reason:
                    raise type(reason)(reason.status, reason.message.replace(path, "fmo.FMO2")) from reason
        elif isinstance(system, (str, os.PathLike)):
            if fragments is not None or fragment_charges is not None or len(bonds):
                raise bad_value("fmo.FMO2: fragments, fragment_charges and bonds are for an fmo.Molecule: "
                                "a file has its own")
            self._system = _read(os.fspath(system))
        else:
            raise bad_type(f"fmo.FMO2: expected a path or an fmo.Molecule, not {type(system).__name__}")
        weakref.finalize(self, io_library().fmo_fragment_system_destroy, self._system).atexit = False
        self.options = options
        self._describe()
        self._choose_basis(basis, functions)
        self._clear()

    def _describe(self) -> None:
        """What the system is, copied out of C's memory."""
        s = self._system.contents
        self.natm = s.atom_num
        self.numbers = np.ctypeslib.as_array(s.number, (s.atom_num,)).copy()
        self.fragment_of = np.ctypeslib.as_array(s.fragment, (s.atom_num,)).copy()
        self.fragment_charges = np.ctypeslib.as_array(s.charge, (s.fragment_num,)).copy()
        names = [s.fragment_name[k] if s.fragment_name else None for k in range(s.fragment_num)]
        self.fragment_names = [str(k + 1) if name is None else name.decode(errors="replace")
                               for k, name in enumerate(names)]

    def _choose_basis(self, basis: Any, functions: str | None) -> None:
        named = self._system.contents.basis
        if basis is None:
            basis = self._molecule.basis if self._molecule is not None else named.decode() if named else None
        if basis is None:
            raise bad_value("fmo.FMO2: the file names no basis set: give one, as basis=\"sto-3g\"")
        if not isinstance(basis, (str, os.PathLike)):
            raise bad_type(f"basis: expected the name of a basis set, or a path, not {type(basis).__name__}")
        if functions is None:
            functions = "set" if self._molecule is None else self._molecule.functions
        if functions not in FORMS:
            raise bad_value(f"functions = {functions!r}: expected one of {', '.join(FORMS)}")
        self.basis, self.functions = os.fspath(basis), functions
        self._set = BasisSet(self.basis)
        io_library().fmo_basis_set_choose_functions(self._set.handle, FORMS.index(functions))

    def _clear(self) -> None:
        for name in _RESULTS:
            setattr(self, name, getattr(FMO2, name))

    def __repr__(self) -> str:
        state = f"E = {self.e_tot:.8f} hartree" if self.converged else "no result yet"
        if self.error is not None:
            state = f"failed: {self.error.message}"
        return (f"<fmo.FMO2 of {len(self.fragment_names)} fragments, {self.natm} atoms, "
                f"{os.path.basename(self.basis)}: {state}>")

    def _made_options(self) -> FragmentOptions:
        """fmo_fragment_options of this object."""
        made = FragmentOptions()
        _library().fmo_fragment_options_init(ctypes.byref(made))
        fock = {"cutoff": made.scf.fock.cutoff, "integrals": names_of("integrals")[made.scf.fock.integrals],
                **{name: value for name, value in self.options.items() if value is not None}}
        made.scf.fock = make_options(**fock)
        if self.conv_tol is not None:
            made.convergence = real_number("conv_tol", self.conv_tol)
        if self.max_iterations is not None:
            made.max_iterations = whole_number("max_iterations", self.max_iterations, -INT_MAX, INT_MAX)
        made.state = None if self.state is None else os.fsencode(self.state)
        made.resume = int(bool(self.resume))
        return made

    def kernel(self, progress: bool | None = None) -> float:
        """Run the calculation; returns e_tot, hartree.

        progress: show a progress bar (tqdm); None: on a terminal if tqdm is installed, after a second. Ctrl-C
        raises KeyboardInterrupt at once; the library stops after the current SCF cycles. Raises ConvergenceError
        if the monomers, a fragment or a pair do not converge, InputError for wrong settings, missing hybrid
        orbitals and a state of another calculation, and the errors of builds.
        """
        self._clear()
        options, stopped = self._made_options(), c_int(0)
        result = POINTER(FragmentResult)()
        log.info("FMO2 of %d fragments, %s, begins", len(self.fragment_names), self.basis)
        chosen = _cupy.chosen_device()
        with progress_bar(1.0, None, progress) as show:
            log_iteration = _Iteration(_log_iteration)
            show_progress = _Progress(lambda fraction, _: show(fraction) if show is not None else None)
            options.iteration, options.progress = ctypes.cast(log_iteration, c_void_p), ctypes.cast(show_progress, c_void_p)
            options.scf.stop = ctypes.pointer(stopped)

            def call(_alive: Any = (self, log_iteration, show_progress)) -> None:
                _cupy.choose_device(chosen)
                checked(_library().fmo_fragment_run, self._system, self._set.handle, ctypes.byref(options),
                        ctypes.byref(result))

            def stop() -> None:
                stopped.value = 1

            try:
                interruptible(call, stop)
            except Error as reason:
                self.error = reason
                raise
        try:
            self._take(result.contents)
        finally:
            _library().fmo_fragment_result_destroy(result)
        log.info("%r", self)
        if self.notice is not None:
            warnings.warn(f"fmo: {self.notice}", CutoffWarning, stacklevel=3)
        return self.e_tot

    def _take(self, r: Any) -> None:
        self.e_tot, self.e_fmo1, self.iterations, self.converged = r.energy2, r.energy1, r.iterations, True
        self.nao = r.nao
        self.notice = r.notice.decode(errors="replace") or None
        self.charges = np.ctypeslib.as_array(r.charge2, (r.atom_num,)).copy()
        kind = np.dtype(FragmentPair)
        self.pairs = np.frombuffer(ctypes.string_at(r.pair, r.pair_num * kind.itemsize), dtype=kind).copy() \
            if r.pair_num else np.empty(0, dtype=kind)

    def numerical_gradient(self, step: float = _numeric.STEP, progress: bool | None = None) -> NDArray[Any]:
        """Derivatives of the FMO2 energy by the positions of the nuclei, [natm, 3], hartree/bohr.

        By central differences: 6 natm FMO2 calculations, one after the other. step: bohr. For systems made of
        an fmo.Molecule; InputError for others and for step; ConvergenceError.
        """
        step = _numeric.check_step(step)
        if self._molecule is None:
            raise bad_value("fmo.FMO2.numerical_gradient: needs a system that was made of an fmo.Molecule")
        mols, energies = _numeric.displaced(self._molecule, step), []
        log.info("numerical gradient by %d FMO2 calculations, step %g bohr", len(mols), step)
        with progress_bar(len(mols), "energy", progress) as show:
            for mol in mols:
                one = FMO2(mol, self.basis, *self._cut, self.functions, **self.options)
                one.conv_tol, one.max_iterations = min(self.conv_tol or 1.0, 1e-10), self.max_iterations
                energies.append(one.kernel(progress=False))
                if show is not None:
                    show(len(energies))
        return _numeric.gradient(energies, step)


def _library() -> ctypes.CDLL:
    """libfmo_fragment, from where libfmo came from."""
    return sibling("fragment", _FUNCTIONS)


def _log_iteration(iteration: Any, _user: Any) -> None:
    one = iteration.contents
    log.info("iteration %d: sum of monomers %.8f hartree, change %.1e, residual %.1e", one.iteration, one.energy,
             one.energy_change, one.residual)
