"""Run a script inside a virtual environment, made on first use from pinned requirements in the
user's cache: $FMO_VENV if set, else fmo/venv-NAME in $XDG_CACHE_HOME or ~/.cache. NAME is that of
the requirements, so that scripts with the same ones share an environment.

    python3 -m fmodata.venvrun requirements.txt    # from datasets/: the folder's name, made if needed

Standard library only: this runs before numpy or PySCF exist.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

from . import DatasetError

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
OLDEST_PYTHON = (3, 9)


def folder(requirements: Path) -> Path:
    """Of the environment of a requirements file: requirements-basis.txt has fmo/venv-basis."""
    kind = requirements.stem.partition("-")[2]
    own = os.environ.get("FMO_VENV")
    if own:
        return Path(own + (f"-{kind}" if kind else "")).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(cache) if os.path.isabs(cache) else Path.home() / ".cache"
    return base / "fmo" / f"venv-{kind or 'pyscf'}"


def inside(venv: Path) -> bool:
    """True if this interpreter is the one of `venv`."""
    return Path(sys.prefix).resolve() == venv.resolve()


def reexec_inside(requirements: Path, threads: int = 1) -> None:
    """Return if already inside the environment of `requirements`; else make it if needed and start
    this script again there.

    One thread, unless told otherwise here or by the user's environment, adds up in one order and
    so repeats exactly.
    """
    venv = folder(requirements)
    if inside(venv):
        return
    make(requirements)
    python = str(venv / "bin" / "python")
    os.execve(python, [python, *sys.argv], _environment(threads))


def make(requirements: Path) -> Path:
    """The environment of `requirements`, made if it is not there or for others."""
    venv = folder(requirements)
    if sys.version_info < OLDEST_PYTHON:
        raise DatasetError(f"python {platform.python_version()} is too old, "
                           f"{'.'.join(map(str, OLDEST_PYTHON))} or newer is needed")
    try:
        venv.parent.mkdir(parents=True, exist_ok=True)
        with open(venv.with_name(venv.name + ".lock"), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _make_if_stale(venv, requirements)
    except OSError as error:
        raise DatasetError(f"cannot make {venv}: {error.strerror}; FMO_VENV names another place") from error
    return venv


def _environment(threads: int = 1) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    env["PYTHONNOUSERSITE"] = "1"
    for name in THREAD_VARIABLES:
        env.setdefault(name, str(threads))
    return env


def _make_if_stale(venv: Path, requirements: Path) -> None:
    """Make the environment unless its stamp is the hash of these requirements and this version of Python."""
    stamp_text = hashlib.sha256((_pins(requirements) + platform.python_version()).encode()).hexdigest()
    stamp = venv / "requirements.sha256"
    if stamp.is_file() and stamp.read_text(encoding="ascii") == stamp_text:
        return
    if "FMO_VENV" in os.environ and not stamp.is_file() and venv.is_dir() and any(venv.iterdir()):
        raise DatasetError(f"FMO_VENV: {venv} is there and was not made by these scripts, which would empty "
                           "it; name a folder that is empty or new")
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise DatasetError("this python cannot make virtual environments: install its venv package "
                           "(Debian, Ubuntu: apt-get install python3-venv)")
    print(f"making {venv} from {requirements.name} (once)", file=sys.stderr)
    _checked([sys.executable, "-m", "venv", "--clear", str(venv)], f"cannot make {venv}")
    _checked([str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet",
              "--disable-pip-version-check", "--prefer-binary", "-r", str(requirements)],
             f"pip cannot install {requirements.name}")
    stamp.write_text(stamp_text, encoding="ascii")


def _pins(requirements: Path) -> str:
    """The text of a requirements file and of those it includes."""
    text = requirements.read_text(encoding="ascii")
    included = [line.split()[1] for line in text.splitlines() if line.startswith("-r ")]
    return text + "".join(_pins(requirements.with_name(name)) for name in included)


def _checked(command: list[str], what: str) -> None:
    done = subprocess.run(command, env=_environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        raise DatasetError(f"{what}: {lines[-1] if lines else f'exit {done.returncode}'}")


if __name__ == "__main__":
    try:
        print(make(Path(sys.argv[1])))
    except DatasetError as failure:
        sys.exit(f"venvrun.py: {failure}")
