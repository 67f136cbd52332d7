"""The lists that follow from the sets: the table in README.md and SHA256SUMS."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Iterable

from . import DatasetError

SUMS = "SHA256SUMS"
SUMMED = ("*.h5", "*.json", "basis/*.json", "refused/*.h5", "xyz/*.xyz")
BEGIN, END = "<!-- {} begin: made by the script, do not edit -->", "<!-- {} end -->"
ROW = "| `{}` | `{}` | {}{} | {} | {} | {:.10f} | {} |"


def update_sets(here: Path, sets: Iterable[Any]) -> None:
    """Rewrite the table of our own sets in README.md, then the sums."""
    import h5py  # not there for the basis sets, which need the sums alone

    rows = ["| file | geometry | basis | nao | form | energy (hartree) | what it is for |",
            "|---|---|---|---|---|---|---|"]
    for item in sets:
        with h5py.File(here / item.file_name, "r") as file:
            charge = f", charge {item.charge:+d}" if item.charge else ""
            rows.append(ROW.format(item.file_name, item.xyz, item.basis, charge,
                                   file["ao"].attrs["ao_num"],
                                   "Cartesian" if item.cartesian else "spherical",
                                   file["fmo/energy"][()], item.purpose))
    replace_block(here / "README.md", "sets", rows)
    write_sums(here)


def update_foreign(here: Path, sets: Iterable[Any]) -> None:
    """Rewrite the table of foreign sets in README.md, then the sums."""
    import h5py

    rows = ["| file | geometry | basis | nao | form | energy (hartree) | written by |",
            "|---|---|---|---|---|---|---|"]
    for item in sets:
        if not item.usable:
            continue
        with h5py.File(here / item.file_name, "r") as file:
            expected = json.loads((here / item.json_name).read_text(encoding="ascii"))
            rows.append(ROW.format(item.file_name, item.xyz, item.basis, "",
                                   file["ao"].attrs["ao_num"],
                                   "Cartesian" if file["ao"].attrs["ao_cartesian"] else "spherical",
                                   expected["energy"], expected["written_by"]))
    replace_block(here / "README.md", "foreign", rows)
    write_sums(here)


def write_sums(here: Path) -> None:
    """SHA256SUMS of every committed data file, in the form that `sha256sum -c` reads."""
    paths = sorted(path for pattern in SUMMED for path in here.glob(pattern))
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(here)}\n"
             for path in paths]
    (here / SUMS).write_text("".join(lines), encoding="ascii")


def replace_block(path: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between the two lines of a name in a text."""
    begin, end = BEGIN.format(name), END.format(name)
    text = path.read_text(encoding="ascii")
    if begin not in text or end not in text:
        raise DatasetError(f"{path}: the lines '{begin}' and '{end}' are missing")
    head, tail = text.split(begin)[0], text.split(end)[1]
    path.write_text(head + "\n".join([begin, *lines, end]) + tail, encoding="ascii")
