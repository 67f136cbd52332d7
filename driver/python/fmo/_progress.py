"""Progress bars by tqdm, where it is installed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from ._optional import is_installed, optional

_DELAY = 1.0  # seconds of work before there is a bar, unless one is requested


@contextlib.contextmanager
def progress_bar(total: float | None, unit: str | None, requested: bool | None) -> Iterator[Callable[[float], None] | None]:
    """Yield a function to call with the amount done, 0 to total (None: unknown); None where there is no bar.

    unit: None: the amount is a fraction. requested: None: a bar if tqdm is installed, standard error is a terminal,
    and the work takes a second.
    """
    if requested is None and (not is_installed("tqdm") or not sys.stderr.isatty()):
        requested = False
    if requested is False:
        yield None
        return
    tqdm = optional("tqdm.auto").tqdm
    look = {"bar_format": "{l_bar}{bar}| {elapsed}"} if unit is None else {"unit": unit}
    with tqdm(total=total, leave=False, delay=0.0 if requested else _DELAY, **look) as bar:
        def show(done: float) -> None:
            bar.update(done - bar.n)
        yield show
