"""Arrays in GPU memory: densities that stay there, as GPU4PySCF and others have them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from ._optional import optional


def in_gpu_memory(dm: Any) -> bool:
    """Whether dm is an array of CuPy, PyTorch or others in GPU memory, or a list of such."""
    first = dm[0] if isinstance(dm, (list, tuple)) and dm else dm
    return hasattr(first, "__cuda_array_interface__")


def as_cupy(dm: Any) -> Any:
    """An array of CuPy on the memory of dm, which is in_gpu_memory; lists are stacked."""
    cupy = optional("cupy")
    if isinstance(dm, (list, tuple)):
        return cupy.stack([cupy.asarray(one) for one in dm])
    return cupy.asarray(dm)


def imported() -> Any:
    """CuPy, if somebody has imported it, or None."""
    return sys.modules.get("cupy")


def current_device() -> int | None:
    """The GPU that CuPy works on, if somebody has imported CuPy and there is one."""
    cupy = imported()
    try:
        return None if cupy is None else int(cupy.cuda.runtime.getDevice())
    except cupy.cuda.runtime.CUDARuntimeError:
        return None


def chosen_device() -> int | None:
    """The GPU that this thread has chosen through CuPy or PyTorch; None: none, so that it is the first."""
    torch = sys.modules.get("torch")
    if imported() is None and torch is not None and torch.cuda.is_initialized():
        return int(torch.cuda.current_device())
    return current_device()


def choose_device(device: int | None) -> None:
    """Make the GPU that another thread has chosen this thread's, too; the first is every new thread's."""
    if device and imported() is not None:
        imported().cuda.runtime.setDevice(device)
    elif device:
        sys.modules["torch"].cuda.set_device(device)


def side_of(cupy: Any, device: int) -> Side | None:
    """That of a plan; device: its GPU, or -1, CuPy's. None where CuPy finds no such GPU: the plan says so."""
    try:
        return Side(cupy, device if device >= 0 else cupy.cuda.runtime.getDevice())
    except cupy.cuda.runtime.CUDARuntimeError:
        return None


class Side:
    """A plan's place beside CuPy: its GPU, and a stream of its own that CuPy's streams wait for."""

    def __init__(self, cupy: Any, device: int):
        self.cupy, self.device = cupy, device
        with cupy.cuda.Device(self.device):
            self.stream = cupy.cuda.Stream(non_blocking=True)

    @contextlib.contextmanager
    def work(self) -> Iterator[None]:
        """What the plan queues meanwhile comes after what is queued on CuPy's stream, and before what
        will be; the host waits for neither."""
        current = self.cupy.cuda.get_current_stream()
        self._order(current, self.stream)
        try:
            yield
        finally:
            self._order(self.stream, current)

    def _order(self, first: Any, then: Any) -> None:
        event = self.cupy.cuda.Event(disable_timing=True)
        event.record(first)
        then.wait_event(event)
