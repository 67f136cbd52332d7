"""Coulomb and exchange matrices from s, p and d shells, on CPU and GPU, for PySCF.

    import fmo
    vj, vk = fmo.get_jk(mol, dm)     # one density or several
    fmo.patch(mf).kernel()           # PySCF's SCF on our J and K
    fmo.RHF(mol).kernel()            # our own SCF
    fmo.rhf_batch(mols)              # of many molecules in one call

A ctypes module on libfmo: no compiled extension, numpy is all it needs. See README.md.
"""

from ._errors import (ConvergenceError, DeviceError, Error, InputError, InputOverflowError, InputTypeError,
                      NoDeviceError, OutOfMemoryError, UnknownAttributeError, UnsupportedError)
from ._library import VERSION as __version__, library_path
from ._mole import FallbackWarning, get_jk
from ._patch import patch, unpatch
from ._plan import Plan
from ._scf import CutoffWarning, RHF, rhf_batch

__all__ = ["ConvergenceError", "CutoffWarning", "DeviceError", "Error", "FallbackWarning", "InputError",
           "InputOverflowError", "InputTypeError", "NoDeviceError", "OutOfMemoryError", "Plan", "RHF",
           "UnknownAttributeError", "UnsupportedError", "get_jk", "library_path", "patch", "rhf_batch",
           "unpatch", "__version__"]
