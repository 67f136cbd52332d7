"""fmo-driver --scf --batch for the command line: result files, checkpoints and --resume are its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ._errors import Error
from ._library import library_path
from ._optional import optional
from ._progress import progress_bar


def driver() -> str:
    """The fmo-driver that was installed or built with libfmo, else that of PATH; Error without one."""
    folder = os.path.dirname(library_path())
    beside = [os.path.join(folder, up, "bin", "fmo-driver") for up in ("..", "../..") if folder]
    for path in (*beside, shutil.which("fmo-driver")):
        if path is not None and os.access(path, os.X_OK):
            return path
    raise Error("FMO_ERR_UNSUPPORTED", f"fmo-driver was not found beside {library_path()} or in PATH: pip install fmo "
                "has it")


def run_batch(arguments: Sequence[str]) -> int:
    """Run fmo-driver --scf --batch with a bar of tqdm; its messages go to standard error. Returns its exit code.

    It is in a session of its own, so that Ctrl-C reaches it once: from here.
    """
    with progress_bar(None, "molecule", None) as show, \
            subprocess.Popen([driver(), "--scf", "--batch", "--quiet", *arguments], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True) as child:
        def forward(number: int, _frame: Any) -> None:
            child.send_signal(number)

        before = {one: signal.signal(one, forward) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        say = print if show is None else optional("tqdm.auto").tqdm.write  # which leaves the bar whole
        done = 0
        for line in child.stdout or ():
            if ": SCF: " in line and not line.startswith("fmo-driver: "):
                done += 1
                if show is not None:
                    show(done)
            else:
                say(line.rstrip("\n"), file=sys.stderr)
        code = child.wait()
        for one, handler in before.items():
            signal.signal(one, handler)
    return code if code >= 0 else 128 - code
