"""SCFs (RHF, UHF), fragment molecular orbitals (FMO2), and Coulomb and exchange matrices, on CPU and GPU.

    import fmo
    mol = fmo.Molecule.from_xyz("water.xyz", basis="6-31g*")
    fmo.RHF(mol).kernel()            # SCF
    fmo.rhf_batch(mols)              # of many molecules in one call
    fmo.FMO2("protein.pdb", "sto-3g").kernel()
    vj, vk = fmo.get_jk(mol, dm)     # of one density or several
    fmo.patch(mf).kernel()           # PySCF's SCF on our J and K

mol is an fmo.Molecule or a molecule of PySCF. fmo.ase has a calculator for ASE, fmo.qcschema runs inputs of QCSchema,
python -m fmo is a program. What happens is logged by the logger "fmo" of the module logging.

A ctypes module on libfmo: no compiled extension, numpy is all it needs. See README.md.
"""

from __future__ import annotations

import importlib
import logging
from typing import TYPE_CHECKING, Any

from ._errors import (ConvergenceError, DeviceError, Error, InputError, InputOverflowError, InputTypeError,
                      NoDeviceError, OutOfMemoryError, UnknownAttributeError, UnsupportedError)
from ._fragments import FMO2
from ._library import VERSION as __version__, library_path
from ._mole import FallbackWarning, get_jk
from ._molecule import InputWarning, Molecule
from ._patch import patch, unpatch
from ._plan import GradientTerm, Plan
from ._rhf import RHF, rhf_batch
from ._scf import CutoffWarning
from ._uhf import ROHF, UHF, scf_batch

if TYPE_CHECKING:
    from . import ase as ase, qcschema as qcschema

logging.getLogger("fmo").addHandler(logging.NullHandler())

__all__ = ["ConvergenceError", "CutoffWarning", "DeviceError", "Error", "FMO2", "FallbackWarning", "GradientTerm",
           "InputError", "InputOverflowError", "InputTypeError", "InputWarning", "Molecule", "NoDeviceError", "OutOfMemoryError",
           "Plan", "RHF", "ROHF", "UHF", "UnknownAttributeError", "UnsupportedError", "get_jk", "library_path", "patch",
           "rhf_batch", "scf_batch", "unpatch", "__version__"]


def __getattr__(name: str) -> Any:
    """fmo.ase and fmo.qcschema, imported when they are first used: they need other packages."""
    if name in ("ase", "qcschema"):
        return importlib.import_module(f"fmo.{name}")
    raise AttributeError(f"module 'fmo' has no attribute '{name}'")
