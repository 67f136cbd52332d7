"""QCSchema: fmo.qcschema.run computes an AtomicInput; register() makes fmo a program of QCEngine.

Specification: https://molssi-qc-schema.readthedocs.io; models: qcelemental.models (version 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._errors import (ConvergenceError, DeviceError, Error, InputError, InputTypeError, NoDeviceError,
                      OutOfMemoryError, UnsupportedError, bad_value, named)
from ._library import VERSION
from ._molecule import BASIS, FORMS, Molecule, as_dict
from ._optional import is_installed, optional
from ._plan import check_options
from ._rhf import RHF
from ._uhf import hf
from ._scf import CHOICES, SETTINGS

DRIVERS = ("energy", "gradient", "properties")
METHODS = ("hf", "rhf", "scf")
_INPUTS = ("qcschema_input", "qc_schema_input")
# QCEngine's names of what went wrong.
_KINDS: dict[type, str] = {
    ConvergenceError: "convergence_error", OutOfMemoryError: "resource_error", NoDeviceError: "resource_error",
    DeviceError: "resource_error", InputError: "input_error", InputTypeError: "input_error",
    UnsupportedError: "input_error"}


@named
def run(atomic_input: Any, raise_error: bool = False) -> dict[str, Any]:
    """The AtomicResult, schema version 1, of an AtomicInput; both as QCSchema has them, in atomic units.

    atomic_input: a dict or a model of qcelemental. driver: energy, gradient or properties; model.method: hf;
    model.basis: as of fmo.Molecule, 6-31g* if there is none. keywords: attributes of fmo.RHF (conv_tol,
    max_cycle, init_guess ...), options of builds (threads, mode ...), functions, and step (bohr), with
    which gradients are central differences of the energy instead of analytic; extras.gradient says which.

    The result is checked by qcelemental where that is installed. It has return_result, properties
    (scf_total_energy, scf_dipole_moment, nuclear_repulsion_energy, calcinfo_nbasis ...) and, with driver
    properties, mulliken_charges. What fails gives a FailedOperation, success False with error, or with
    raise_error an fmo.Error: InputError, InputTypeError, UnsupportedError, ConvergenceError and those of builds.
    """
    given = None
    try:
        given = _plain(as_dict(atomic_input))
        return _checked(_result(given))
    except Error as reason:
        if raise_error:
            raise
        kind = next((name for one, name in _KINDS.items() if isinstance(reason, one)), "unknown_error")
        return {"success": False, "error": {"error_type": kind, "error_message": str(reason)},
                "input_data": given}


def _plain(value: Any) -> Any:
    """Without arrays of numpy, which JSON does not have."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return value.ravel().tolist()
    if isinstance(value, np.generic):
        return value.item()
    return getattr(value, "value", value)  # of an enum


def _check(given: Mapping[str, Any]) -> None:
    """InputError for an AtomicInput that cannot be computed."""
    name, version = given.get("schema_name", _INPUTS[0]), given.get("schema_version", 1)
    if name not in _INPUTS or version != 1:
        raise bad_value(f"schema {name!r}, version {version!r}: expected 'qcschema_input', version 1")
    for field in ("molecule", "driver", "model"):
        if field not in given:
            raise bad_value(f"the AtomicInput has no field '{field}'")
    if given["driver"] not in DRIVERS:
        raise bad_value(f"driver = {given['driver']!r}: expected one of {', '.join(DRIVERS)}")
    method = given["model"].get("method") if isinstance(given["model"], Mapping) else None
    if not isinstance(method, str) or method.lower() not in METHODS:
        raise bad_value(f"model/method = {method!r}: expected one of {', '.join(METHODS)}")
    basis = given["model"].get("basis")
    if basis is not None and not isinstance(basis, str):
        raise bad_value("model/basis: expected the name of a basis set or the path of a file")
    for field in ("keywords", "protocols", "extras"):
        if not isinstance(given.get(field) or {}, Mapping):
            raise bad_value(f"{field}: expected an object")
    wavefunction = (given.get("protocols") or {}).get("wavefunction", "none")
    if wavefunction != "none":
        raise bad_value(f"protocols/wavefunction = {wavefunction!r}: fmo returns no wavefunctions: expected 'none'")


def _object(given: Mapping[str, Any]) -> tuple[RHF, Any]:
    """The requested SCF, and the step of differences, or None."""
    keywords = dict(given.get("keywords") or {})
    step = keywords.pop("step", None)
    functions = keywords.pop("functions", FORMS[0])
    attributes = {name: keywords.pop(name) for name in (*SETTINGS, *CHOICES) if name in keywords}
    mol = Molecule.from_qcschema(given, functions=functions)
    try:
        check_options(keywords, (*SETTINGS, *CHOICES, "step", "functions"))
        mf = hf(mol, **keywords)
    except InputTypeError as reason:
        raise bad_value(f"keywords: {reason.message}") from reason
    for name, value in attributes.items():
        setattr(mf, name, value)
    return mf, step


def _result(given: dict[str, Any]) -> dict[str, Any]:
    """An AtomicResult."""
    _check(given)
    mf, step = _object(given)
    mf.with_forces = given["driver"] == "gradient" and step is None
    mf.kernel()
    if mf.error is not None:
        raise mf.error
    alpha = (mf.mol.nelectron + mf.mol.spin) // 2
    properties: dict[str, Any] = {
        "calcinfo_natom": mf.mol.natm, "calcinfo_nbasis": mf.mol.nao, "calcinfo_nmo": 0 if mf.mo_energy is None else mf.mo_energy.shape[-1],
        "calcinfo_nalpha": alpha, "calcinfo_nbeta": mf.mol.nelectron - alpha,
        "nuclear_repulsion_energy": mf.energy_nuc(), "scf_total_energy": mf.e_tot, "return_energy": mf.e_tot,
        "scf_iterations": mf.cycles, "scf_dipole_moment": mf.dip_moment("AU").tolist()}
    density, core = mf.total_density(), mf.get_hcore()
    properties["scf_one_electron_energy"] = float(np.sum(density * core))
    properties["scf_two_electron_energy"] = \
        mf.e_tot - mf.energy_nuc() - properties["scf_one_electron_energy"]
    extras: dict[str, Any] = dict(given.get("extras") or {})
    answer: Any = mf.e_tot
    if given["driver"] == "gradient":
        derivative = mf.gradient if mf.gradient is not None else mf.numerical_gradient(step, progress=False)
        answer = derivative.ravel().tolist()
        properties["return_gradient"] = properties["scf_total_gradient"] = answer
        extras["gradient"] = "analytic" if step is None else f"central differences of the energy, step {float(step):g} bohr"
    elif given["driver"] == "properties":
        answer = {"mulliken_charges": mf.mulliken_charges().tolist(), "dipole_moment": properties["scf_dipole_moment"],
                  "scf_total_energy": mf.e_tot}
    return {**given, "schema_name": "qcschema_output", "schema_version": 1, "success": True, "error": None,
            "return_result": answer, "properties": properties, "extras": extras, "stdout": None, "stderr": None,
            "model": {**given["model"], "basis": given["model"].get("basis") or BASIS},
            "keywords": given.get("keywords") or {},
            "provenance": {"creator": "fmo", "version": VERSION, "routine": "fmo.qcschema.run"}}


def _models() -> Any:
    """qcelemental's models of version 1, which have a module of their own in later versions of it."""
    try:
        return optional("qcelemental.models.v1")
    except ModuleNotFoundError:
        return optional("qcelemental.models")


def _checked(result: dict[str, Any]) -> dict[str, Any]:
    """The result as qcelemental, where it is installed, reads and writes it."""
    if not is_installed("qcelemental"):
        return result
    try:
        models = _models()
        return dict(_plain(models.AtomicResult(**result).dict()))
    except ValueError as reason:
        raise bad_value("qcelemental refuses the result: " + " ".join(str(reason).split())) from reason
    except RuntimeError:  # qcelemental's models of version 1 are not for this version of Python
        return result


def register() -> None:
    """Make fmo a program of QCEngine: qcengine.compute(input, "fmo"). Calling it again changes nothing.

    QCEngine finds programs by registration in each process, not by entry points. Raises ImportError without it.
    """
    qcengine = optional("qcengine")

    class Harness(optional("qcengine.programs.model").ProgramHarness):  # type: ignore[misc]
        """fmo for QCEngine."""

        _defaults = {"name": "fmo", "scratch": False, "thread_safe": True, "thread_parallel": True,
                     "node_parallel": False, "managed_memory": True}

        @staticmethod
        def found(raise_error: bool = False) -> bool:
            """True: the module is here, and with it libfmo."""
            return True

        def get_version(self) -> str:
            """That of libfmo."""
            return VERSION

        def compute(self, input_data: Any, config: Any) -> Any:
            """Of an AtomicInput; QCEngine takes care of errors that are raised."""
            return _compute(input_data, config)

    if "fmo" not in qcengine.list_all_programs():
        qcengine.register_program(Harness())


def _compute(model: Any, config: Any) -> Any:
    """What QCEngine requires of a program: its models, of version 2 in later versions of it."""
    exceptions = optional("qcengine.exceptions")
    later = getattr(model, "schema_version", 1) == 2
    given = _plain((model.convert_v(1) if later else model).dict())
    keywords = dict(given.get("keywords") or {})
    keywords.setdefault("threads", config.ncores)
    keywords.setdefault("memory", int(config.memory * 2**30))
    kinds = {"input_error": exceptions.InputError, "resource_error": exceptions.ResourceError}
    try:
        result = _checked(_result({**given, "keywords": keywords}))
    except Error as reason:
        kind = next((name for one, name in _KINDS.items() if isinstance(reason, one)), "")
        raise kinds.get(kind, exceptions.UnknownError)(str(reason)) from reason
    result["keywords"] = given.get("keywords") or {}
    made = _models().AtomicResult(**result)
    return made.convert_v(2) if later else made
