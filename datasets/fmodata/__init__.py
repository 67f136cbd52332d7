"""What the data set scripts share: own virtual environment, TREXIO basis, RHF, files.

Read next: venvrun.py (environment), basis.py (conventions), rhf.py (numbers), files.py (HDF5).
"""

VERSION = "1"


class DatasetError(Exception):
    """Bad input or a failed check, told in one line that names what and where."""
