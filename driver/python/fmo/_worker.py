"""Long calls of libfmo that Ctrl-C interrupts.

Python delivers signals to its main thread, between instructions of its own: not while the thread is in C.
So another thread makes the call, and the main thread waits for it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from typing import Any


class _Worker(threading.Thread):
    """A thread that makes one call after another; kept, because OpenMP starts a team for each new one."""

    def __init__(self) -> None:
        super().__init__(name="fmo", daemon=True)  # the process may end while a call runs
        self.calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self.process = os.getpid()
        self.start()

    def run(self) -> None:
        while True:
            call = self.calls.get()
            if call is None:
                return
            call()
            del call  # and what it holds


_worker: list[_Worker] = []  # none or one, which is idle: the main thread alone uses it


def _idle_worker() -> _Worker:
    if _worker and _worker[0].process != os.getpid():
        _worker.clear()  # threads do not survive a fork
    if not _worker:
        _worker.append(_Worker())
    return _worker[0]


def interruptible(call: Callable[[], Any], stop: Callable[[], None] = lambda: None) -> Any:
    """What call() returns or raises; in the main thread Ctrl-C interrupts the wait for it.

    Then stop() is called and the exception (KeyboardInterrupt, or what the signal's handler raises) goes to
    the caller at once. The call itself runs to its end in its thread: it has to own what it uses.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    done, result, raised = threading.Event(), [], []

    def make() -> None:
        try:
            result.append(call())
        except BaseException as reason:  # pylint: disable=broad-exception-caught
            raised.append(reason)
        finally:
            done.set()

    worker = _idle_worker()
    try:
        worker.calls.put(make)
        done.wait()
    except BaseException:
        worker.calls.put(None)  # it ends with this call; the next one gets another thread
        _worker.clear()
        stop()
        raise
    if raised:
        raise raised[0]
    return result[0]
