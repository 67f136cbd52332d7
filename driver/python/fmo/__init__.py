"""Coulomb and exchange matrices from s, p and d shells, on CPU and GPU, for PySCF.

    import fmo
    vj, vk = fmo.get_jk(mol, dm)     # one density or several
    fmo.patch(mf).kernel()           # PySCF's SCF on our J and K
    fmo.RHF(mol).kernel()            # our own SCF
    fmo.rhf_batch(mols)              # of many molecules in one call

A ctypes module on libfmo: no compiled extension, numpy is all it needs. See README.md.
"""

from ._library import Error, VERSION as __version__, library_path
from ._mole import FallbackWarning, get_jk, patch, unpatch
from ._plan import Plan
from ._scf import CutoffWarning, RHF, rhf_batch

__all__ = ["CutoffWarning", "Error", "FallbackWarning", "Plan", "RHF", "get_jk", "library_path",
           "patch", "rhf_batch", "unpatch", "__version__"]
