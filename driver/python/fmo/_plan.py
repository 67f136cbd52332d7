"""Plans: a basis, the options, and what libfmo prepared for them."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import inspect
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cupy
from ._errors import Error, InputError, OutOfMemoryError, Strict, bad_type, bad_value, named, nearest
from ._library import LIBRARY, BasisInput, GradientTermStruct, Job, Operator, Options, checked, names_of
from ._molecule import COMPONENTS, Molecule
from ._optional import optional
from ._values import index_of, real_number, whole_number
from ._worker import interruptible

ENUMS = ("mode", "reduce", "integrals", "coulomb", "scatter", "commit")
COUNTS = {"threads": 2 ** (8 * ctypes.sizeof(ctypes.c_int) - 1) - 1,
          "device": 2 ** (8 * ctypes.sizeof(ctypes.c_int) - 1) - 1,
          "memory": 2 ** (8 * ctypes.sizeof(ctypes.c_size_t)) - 1}  # the largest that C's types hold
NUMBERS = (*COUNTS, "cutoff")

# PySCF's own threshold is 1e-13; libfmo's default, 1e-10, suits energies rather than J and K.
CUTOFF = 1e-12


class DensityError(InputError):
    """A density that is none for libfmo; reason: the message without its cure."""

    def __init__(self, reason: str, cure: str):
        super().__init__("FMO_ERR_ARGUMENT", f"{reason}: {cure}")
        self.reason, self.cure = reason, cure

    def __reduce__(self) -> tuple[Any, ...]:
        return DensityError, (self.reason, self.cure)


def check_options(given: Iterable[str], others: Iterable[str] = (), call: str = "") -> None:
    """InputTypeError for a name that is no option of builds and none of the others that the call takes."""
    known = (*others, *ENUMS, *NUMBERS)
    for name in given:
        if name not in known:
            cure = nearest(name, known) or f": expected one of {', '.join(known)}"
            raise bad_type(f"{call and call + ': '}unknown option '{name}'{cure}")


@functools.lru_cache(maxsize=None)
def arguments_of(call: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's arguments, without **options."""
    return tuple(one.name for one in inspect.signature(call).parameters.values() if one.kind != one.VAR_KEYWORD)


def make_options(**given: Any) -> Options:
    """fmo_fock_options from keyword arguments; None leaves the default."""
    options = Options()
    LIBRARY.fmo_fock_options_init(ctypes.byref(options))
    options.cutoff = CUTOFF
    check_options(given)
    for name, value in given.items():
        if value is None:
            continue
        if name in ENUMS:
            value = index_of(name, value, names_of(name))
        elif name in COUNTS:
            value = whole_number(name, value, 0, COUNTS[name])
        else:
            value = real_number(name, value)
        setattr(options, name, value)
    return options


LARGEST_ANG_MOM = len(COMPONENTS[True]) - 1


def _cure_for(mol: Any) -> str:
    """How to make a molecule of what people have, or nothing."""
    if hasattr(mol, "get_atomic_numbers"):
        return "; fmo.Molecule.from_ase(atoms, basis=...) makes one"
    if isinstance(mol, Error):
        return ", which stands for a molecule that could not be read: leave it out"
    if isinstance(mol, dict) or hasattr(mol, "symbols"):
        return "; fmo.Molecule.from_qcschema makes one"
    return "; fmo.Molecule.from_xyz makes one of a file" if isinstance(mol, (str, os.PathLike)) else ""


def check_mole(mol: Any, call: str) -> None:
    """InputTypeError for what is no molecule, InputError for one of PySCF that is not built."""
    if isinstance(mol, Molecule):
        return
    if not hasattr(mol, "_libcint_ctr_coeff"):
        raise bad_type(f"fmo.{call}: expected an fmo.Molecule, or a molecule of PySCF as gto.M(...), not "
                       f"{type(mol).__name__}{_cure_for(mol)}")
    if not mol.nbas:
        raise bad_value(f"fmo.{call}: the molecule has no basis functions; call its build() first")


def check_moles(mols: Any, call: str) -> list[Any]:
    """The molecules as a list; errors as of check_mole."""
    if not isinstance(mols, Iterable):
        check_mole(mols, call)
        raise bad_type(f"fmo.{call}: expected a list of molecules, not one")
    made = list(mols)
    for mol in made:
        check_mole(mol, call)
    return made


def basis_arrays(mol: Any) -> dict[str, NDArray[Any]]:
    """The arrays of fmo_basis_input from a molecule with s, p, d, f and g shells.

    PySCF keeps a primitive as its coefficient of exp(-a r^2), times the factor of the spherical
    harmonic that libcint applies to spherical shells, and to s and p shells of both kinds; the
    Cartesian d, f and g functions have none. p functions are x, y, z in both. A shell with several
    contractions becomes as many shells.
    """
    if isinstance(mol, Molecule):
        return mol.basis_arrays()
    components = COMPONENTS[bool(mol.cart)]
    angular = [np.sqrt((2 * k + 1) / (4 * np.pi)) for k in range(len(components))]
    if mol.cart:
        angular[2:] = [1.0] * len(angular[2:])
    nucleus: list[int] = []
    ang_mom: list[int] = []
    prim_shell, exponent, coefficient = [], [], []
    for bas in range(mol.nbas):
        l = int(mol.bas_angular(bas))
        exponents = mol.bas_exp(bas)
        for column in np.asarray(mol._libcint_ctr_coeff(bas)).T:
            used = np.flatnonzero(column)
            prim_shell.append(np.full(len(used), len(nucleus)))
            exponent.append(exponents[used])
            coefficient.append(angular[l] * column[used])
            nucleus.append(int(mol.bas_atom(bas)))
            ang_mom.append(l)
    functions = np.array([len(components[l]) for l in ang_mom])
    return {
        "nucleus_charge": np.asarray(mol.atom_charges(), dtype=np.float64),
        "nucleus_coord": np.ascontiguousarray(mol.atom_coords(), dtype=np.float64),
        "shell_nucleus": np.array(nucleus, dtype=np.intc),
        "shell_ang_mom": np.array(ang_mom, dtype=np.intc),
        "prim_shell": np.concatenate(prim_shell).astype(np.intc),
        "prim_exponent": np.concatenate(exponent).astype(np.float64),
        "prim_coefficient": np.concatenate(coefficient).astype(np.float64),
        "ao_shell": np.repeat(np.arange(len(nucleus), dtype=np.intc), functions),
        "ao_component": np.concatenate([components[l] for l in ang_mom]).astype(np.intc),
        "ao_factor": np.ones(int(functions.sum())),
    }


def basis_create(arrays: dict[str, NDArray[Any]], cartesian: bool) -> ctypes.c_void_p:
    sizes = {"nucleus_num": len(arrays["nucleus_charge"]), "shell_num": len(arrays["shell_nucleus"]),
             "prim_num": len(arrays["prim_shell"]), "ao_num": len(arrays["ao_shell"]),
             "cartesian": int(cartesian)}
    source = BasisInput(**sizes, **{name: array.ctypes.data for name, array in arrays.items()})
    basis = ctypes.c_void_p()
    checked(LIBRARY.fmo_basis_create, ctypes.byref(source), ctypes.byref(basis))
    return basis


def _destroy(plan: int, _side: Any) -> None:
    LIBRARY.fmo_fock_plan_destroy(plan)  # before the stream of its side is gone


class Request:
    """What a call requests: the symmetry of its densities and the operator, as PySCF says both.

    symmetry, operator: as of fmo_fock_job. sign: of the transposed density, 0 where it is any. plain: what
    every mode can do.
    """

    _SYMMETRIES = {0: (2, 0), 1: (0, 1), 2: (1, -1)}  # hermi: fmo_symmetry, sign

    def __init__(self, hermi: int = 1, omega: float | None = None):
        if hermi not in self._SYMMETRIES:
            raise bad_value(f"hermi = {hermi!r}: expected 0, 1 or 2")
        self.symmetry, self.sign = self._SYMMETRIES[hermi]
        omega = 0.0 if omega is None else real_number("omega", omega)
        if not np.isfinite(omega):
            raise bad_value(f"omega = {omega!r}: expected a finite number")
        self.operator = Operator(float(omega < 0), float(omega > 0) - float(omega < 0), abs(omega))
        self.plain = hermi == 1 and omega == 0.0

    def check(self, asymmetry: float, largest: float) -> None:
        """DensityError if a density is not as symmetric as it should be."""
        # A difference of densities is small and as asymmetric as they are: not relative to itself.
        if asymmetry > 1e-8 * max(1.0, largest):
            kind = "symmetric" if self.sign > 0 else "antisymmetric"
            raise DensityError(f"dm is not {kind} (by {asymmetry:.3g})", "hermi=0 is for such")


@named
@dataclasses.dataclass
class GradientTerm:
    """A part of a two-electron energy, coulomb/2 sum D_ij D_kl (ij|kl) - exchange/4 sum D_ik D_jl (ij|kl).

    density: [nao, nao], real and symmetric. coulomb, exchange: weights. The operators are (full, long_range,
    omega), that is full/r + long_range erf(omega r)/r, omega in 1/bohr. RHF is one such term; UHF is three, of
    Da + Db with the weights 1 and 0, and of Da and Db with 0 and 2.
    """

    density: Any
    coulomb: float = 1.0
    exchange: float = 1.0
    coulomb_operator: tuple[float, float, float] = (1.0, 0.0, 0.0)
    exchange_operator: tuple[float, float, float] = (1.0, 0.0, 0.0)


# What a build has to last, in seconds, or may last by its number of functions, to be made interruptible.
_LONG, _LARGE = 0.2, 100


@named
class Plan(Strict):
    """J and K for any number of densities of one molecule.

    mol: an fmo.Molecule or a molecule of PySCF, with s, p, d, f and g shells. Options as of get_jk. Calls from several threads take turns. Memory is freed with the last reference. What a
    plan computes never changes, so a copy, deep or not, is the plan itself; it cannot be pickled.

    nao: number of functions. mode: what mode="auto" became. gradient(terms): derivatives of two-electron energies.

    Raises InputTypeError for what is no molecule or an unknown option, InputError for values of options,
    UnsupportedError for h shells, NoDeviceError, DeviceError and OutOfMemoryError.
    """

    nao: int = 0
    mode: str = ""

    def __init__(self, mol: Any, **options: Any):
        check_mole(mol, "Plan")
        self._arrays, self._cartesian = basis_arrays(mol), bool(mol.cart)
        self._options = make_options(**options)
        self.nao = len(self._arrays["ao_shell"])
        self._lock = threading.Lock()
        self._plan: int | None = None
        self._side: _cupy.Side | None = None
        self._end: weakref.finalize[Any, Any] | None = None
        self._seconds: float | None = None  # of the last build, a density
        self._norm = np.ones(self.nao)  # of the functions
        self._make(_cupy.imported())

    def _make(self, cupy: Any) -> None:
        """Make the plan, again perhaps, in mode fused with a stream that CuPy, if there is one, knows."""
        mode, plan, side = ctypes.c_int(), ctypes.c_void_p(), None
        if self._end is not None:
            self._end()
            self._plan = self._side = self._end = None
        basis = basis_create(self._arrays, self._cartesian)
        options = Options.from_buffer_copy(self._options)
        self._norm = np.ctypeslib.as_array(LIBRARY.fmo_basis_ao_norm(basis), (self.nao,)).copy()
        try:
            checked(LIBRARY.fmo_fock_choose_mode, basis, ctypes.byref(options), ctypes.byref(mode), None)
            self.mode = names_of("mode")[mode.value]
            if cupy is not None and self.mode == "fused":
                side = _cupy.side_of(cupy, options.device)
            if side is not None:
                options.device, options.stream = side.device, side.stream.ptr
            try:
                checked(LIBRARY.fmo_fock_plan_create, basis, ctypes.byref(options), ctypes.byref(plan))
            except OutOfMemoryError:  # CuPy may keep memory that is not in use
                if side is None:
                    raise
                cupy.get_default_memory_pool().free_all_blocks()
                checked(LIBRARY.fmo_fock_plan_create, basis, ctypes.byref(options), ctypes.byref(plan))
        finally:
            LIBRARY.fmo_basis_destroy(basis)
        self._plan, self._side = plan.value, side
        self._end = weakref.finalize(self, _destroy, plan.value or 0, side)
        self._end.atexit = False

    def __repr__(self) -> str:
        return f"<fmo.Plan: {self.nao} functions, mode {self.mode}>"

    def __copy__(self) -> Plan:
        return self

    def __deepcopy__(self, memo: Any) -> Plan:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise bad_type("a Plan cannot be pickled: it is memory of this process; make one from the molecule "
                       "where it is needed")

    def get_jk(self, dm: Any, with_j: bool = True, with_k: bool = True, hermi: int = 1,
               omega: float | None = None) -> tuple[Any, Any]:  # pylint: disable=too-many-arguments
        """J and K (hartree) of real densities, [..., nao, nao], in the shape of dm; None for what was not requested.

        hermi: 1 for symmetric densities, 2 for antisymmetric ones, 0 for any. omega (1/bohr): None or 0 for
        1/r, above 0 for erf(omega r)/r, below 0 for erfc(|omega| r)/r. Mode split has
        hermi = 1 and 1/r alone.

        A density in GPU memory (CuPy, or what has __cuda_array_interface__) gives arrays of CuPy; in
        mode fused nothing is copied to the host then.

        Raises InputError for a shape, a density that is complex, not as symmetric as hermi says or not
        finite, or on another GPU than the plan; UnsupportedError for what the plan's mode cannot do;
        DeviceError and OutOfMemoryError.
        """
        request = Request(hermi, omega)
        there = _cupy.in_gpu_memory(dm)
        dm = _cupy.as_cupy(dm) if there else as_array(dm)
        if dm.ndim < 2 or dm.shape[-2:] != (self.nao, self.nao):
            raise DensityError(f"dm has the shape {dm.shape}", f"expected [..., {self.nao}, {self.nao}]")
        if dm.dtype.kind not in "fiub":
            kind = "complex" if dm.dtype.kind == "c" else f"of {dm.dtype}"
            raise DensityError(f"dm is {kind}", "expected real densities")
        if not (with_j or with_k):
            return None, None
        return (self._of_gpu_memory if there else self._of_host)(dm, with_j, with_k, request)

    def _jobs(self, count: int, request: Request, density: int, coulomb: int, exchange: int) -> Any:
        """Jobs of matrices that stand one after the other, by their addresses; 0: not requested."""
        size = self.nao * self.nao * np.dtype(np.float64).itemsize
        requested = {"symmetry": request.symmetry, "coulomb_operator": request.operator,
                     "exchange_operator": request.operator}
        return (Job * count)(*(Job(self._plan, *(at + k * size if at else None
                                                 for at in (density, coulomb, exchange)), **requested)
                               for k in range(count)))

    def _of_host(self, dm: Any, with_j: bool, with_k: bool, request: Request) -> tuple[Any, Any]:
        """J and K of arrays of numpy, by all modes; a call that lasts is made by a thread that Ctrl-C leaves alone."""
        dm = dm.astype(np.float64, copy=False)
        if request.sign:
            transposed = request.sign * dm.swapaxes(-1, -2)
            scale = np.outer(self._norm, self._norm)
            request.check((scale * np.abs(dm - transposed)).max(initial=0.0),
                          (scale * np.abs(dm)).max(initial=0.0))
            dm = 0.5 * (dm + transposed)
        density = np.ascontiguousarray(dm)
        coulomb = np.empty_like(density) if with_j else None
        exchange = np.empty_like(density) if with_k else None
        count = density.size // (self.nao * self.nao)

        def build() -> None:
            with self._lock:
                if self._plan is None:  # making it again failed
                    self._make(_cupy.imported())
                jobs = self._jobs(count, request, *(0 if array is None else array.ctypes.data
                                                    for array in (density, coulomb, exchange)))
                start = time.perf_counter()
                checked(LIBRARY.fmo_fock_build_batch, jobs, count)
                self._seconds = (time.perf_counter() - start) / max(1, count)

        long = self.nao > _LARGE if self._seconds is None else count * self._seconds > _LONG
        if long and self.mode != "fused":
            interruptible(build)
        else:
            build()
        return coulomb, exchange

    def gradient(self, terms: Sequence[GradientTerm]) -> NDArray[Any]:
        """Derivative of the sum of the terms with respect to the nuclei at fixed densities, [natm, 3], hartree/bohr.

        The two-electron part of the gradients of Hartree-Fock and Kohn-Sham energies. Raises InputError for a
        density that is not [nao, nao], real, finite and symmetric and for weights and operators that are not
        numbers, UnsupportedError in modes without gradients, and OutOfMemoryError.
        """
        densities = [as_array(term.density) for term in terms]
        for k, one in enumerate(densities):
            if one.shape != (self.nao, self.nao) or one.dtype.kind not in "fiub":
                raise bad_value(f"terms[{k}].density: expected a real matrix [{self.nao}, {self.nao}], not {one.dtype} "
                                f"{list(one.shape)}")
        densities = [np.ascontiguousarray(one, dtype=np.float64) for one in densities]
        given = (GradientTermStruct * max(1, len(terms)))(*(
            GradientTermStruct(one.ctypes.data, real_number("coulomb", term.coulomb),
                               real_number("exchange", term.exchange), Operator(*term.coulomb_operator),
                               Operator(*term.exchange_operator)) for term, one in zip(terms, densities)))
        made = np.empty((len(self._arrays["nucleus_charge"]), 3))

        def compute() -> None:
            with self._lock:
                if self._plan is None:  # making it again failed
                    self._make(_cupy.imported())
                checked(LIBRARY.fmo_fock_gradient, self._plan, given, len(terms), made.ctypes.data)

        if self.nao > _LARGE // 2:
            interruptible(compute)
        else:
            compute()
        return made

    def _of_gpu_memory(self, dm: Any, with_j: bool, with_k: bool, request: Request) -> tuple[Any, Any]:
        """J and K of arrays of CuPy, queued in mode fused; through the host in other modes, and for what is no number."""
        cupy = optional("cupy")
        with cupy.cuda.Device(dm.device.id):
            density = cupy.ascontiguousarray(dm, dtype=np.float64)
            largest = 0.0
            if density.size and request.sign:
                norm = cupy.asarray(self._norm)
                scale = norm[:, None] * norm
                found = cupy.stack(((scale * abs(density)).max(),
                                    (scale * abs(density - request.sign * density.swapaxes(-1, -2))).max()))
                largest, asymmetry = found.tolist()
                request.check(asymmetry, largest)
            if self.mode != "fused" or not np.isfinite(largest) or not request.plain:
                made = self._of_host(cupy.asnumpy(density), with_j, with_k, request)
                vj, vk = (None if one is None else cupy.asarray(one) for one in made)
                return vj, vk
            coulomb = cupy.empty_like(density) if with_j else None
            exchange = cupy.empty_like(density) if with_k else None
            count = density.size // (self.nao * self.nao)
            with self._lock:
                if self._side is None:  # made before anybody had imported CuPy
                    self._make(cupy)
                if self._side is None or self._side.device != dm.device.id:
                    where = "none of CuPy's" if self._side is None else f"GPU {self._side.device}"
                    raise bad_value(f"dm is on GPU {dm.device.id}, this plan on {where}: make one "
                                    f"with device={dm.device.id}")
                checked(LIBRARY.fmo_fock_plan_expect, self._plan, largest)
                jobs = self._jobs(count, request, *(0 if array is None else array.data.ptr
                                                    for array in (density, coulomb, exchange)))
                with self._side.work():
                    checked(LIBRARY.fmo_fock_build_batch_device, jobs, count)
        return coulomb, exchange


def as_array(dm: Any) -> NDArray[Any]:
    """A density or several as one array; DensityError for what is none."""
    try:
        return np.asarray(dm)
    except ValueError as reason:
        raise DensityError("dm is no array of matrices", str(reason)) from reason
