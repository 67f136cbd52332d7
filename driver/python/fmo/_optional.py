"""Packages that are used where they are installed; numpy alone is needed."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

_PACKAGES = {"cupy": "cupy-cuda13x"}  # names of pip where they are others than the module's


def optional(name: str) -> Any:
    """A module, untyped; ImportError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        package = name.partition(".")[0]
        if is_installed(package):
            raise
        raise ImportError(f"fmo needs {package} for this: pip install {_PACKAGES.get(package, package)}") from reason


def is_installed(package: str) -> bool:
    """Whether a package can be imported."""
    return importlib.util.find_spec(package) is not None
