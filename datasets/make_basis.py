#!/usr/bin/env python3
"""Write the basis sets of datasets/basis from the Basis Set Exchange, with the table in SOURCE.md.

Plain python3 (3.9 or newer) is enough: the script makes an environment in the user's cache from
requirements-basis.txt on first use and runs itself there (fmodata/venvrun.py); the data come with
that package. The table SETS below is the one list of shipped sets. Same version, same bytes. Four
things are changed on the way, all described in SOURCE.md: SPHERICAL, OPTIMIZED, LEFT_OUT and OF_OTHER.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from fmodata import DatasetError, lists, venvrun

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "basis"
ELEMENTS = range(1, 37)
LARGEST = 3  # angular momentum
SETS = ("sto-3g", "sto-6g", "mini", "midi", "3-21g", "4-31g", "6-21g", "6-31g", "6-31+g", "6-31++g",
        "6-31g(d)", "6-31g(d,p)", "6-31+g(d)", "6-31+g(d,p)", "6-31++g(d,p)", "6-311g", "6-311+g",
        "6-311++g", "6-311g(d)", "6-311g(d,p)", "6-311+g(d,p)", "6-31g(2df,p)", "6-311g(2df,2pd)",
        "cc-pvdz", "cc-pvtz", "aug-cc-pvdz", "def2-svp", "def2-svpd", "def2-tzvp", "def2-tzvpp",
        "pc-0", "pcseg-0")
# The exchange calls the d shells of Na to Ar Cartesian there and those of all others spherical;
# Gaussian, whose set it is, has 5 of them everywhere.
SPHERICAL = ("6-311g(d)", "6-311g(d,p)", "6-311+g(d,p)")
# A primitive that is a function of its own, too, is taken out of the contractions: the same space
# from fewer primitives, and what Gaussian, PySCF and others have under this name (E. R. Davidson,
# Chem. Phys. Lett. 260, 514 (1996)).
OPTIMIZED = ("cc-pvdz", "cc-pvtz", "aug-cc-pvdz")
# Elements whose data are wrong at the exchange (SOURCE.md says how; check_basis.py finds them).
LEFT_OUT = {"6-21g": (10,)}
# Elements that have what another set has: the exchange has those of 6-311G(2df,2p).
OF_OTHER = {"6-31g(2df,p)": ([1, 2], "6-31g**")}
BEGIN = "<!-- sets begin: made by the script, do not edit -->"
END = "<!-- sets end -->"


def can_be_used(element: dict[str, Any]) -> bool:
    """Shells there are, none above f, of one form from d on, and no effective core potential."""
    shells = element.get("electron_shells", [])
    forms = {shell["function_type"] for shell in shells if max(shell["angular_momentum"]) > 1}
    return bool(shells) and "ecp_potentials" not in element and len(forms) < 2 and \
        max(l for shell in shells for l in shell["angular_momentum"]) <= LARGEST


def form_of_d(document: dict[str, Any]) -> str:
    """What d shells are, "Cartesian" or "spherical"; "none" where there are none."""
    types = {shell["function_type"] for element in document["elements"].values()
             for shell in element["electron_shells"] if max(shell["angular_momentum"]) > 1}
    if len(types) > 1:
        raise DatasetError(f"{document['name']}: d shells of several forms: {sorted(types)}")
    return {"gto_cartesian": "Cartesian", "gto_spherical": "spherical", "": "none"}["".join(types)]


def make_spherical(document: dict[str, Any]) -> None:
    """All d shells spherical."""
    for element in document["elements"].values():
        for shell in element["electron_shells"]:
            if max(shell["angular_momentum"]) > 1:
                shell["function_type"] = "gto_spherical"


def citations(exchange: Any, name: str, elements: list[int]) -> list[str]:
    """The papers behind these elements, one line each, in the order of the elements."""
    lines: dict[str, None] = {}
    for entry in exchange.get_references(name, elements=elements):
        for info in entry["reference_info"]:
            for _, paper in info["reference_data"]:
                authors = "; ".join(paper.get("authors", []))
                place = " ".join(str(paper[key]) for key in
                                 ("journal", "booktitle", "publisher", "volume", "pages") if key in paper)
                doi = f", doi:{paper['doi']}" if "doi" in paper else ""
                title = paper.get("title", paper.get("note", ""))
                lines[f"{authors}: {title}. {place} ({paper.get('year', 'unpublished')}){doi}"] = None
    return list(lines)


def compact(document: dict[str, Any]) -> str:
    """JSON with every shell, and every note about an element, on a line of its own."""
    text = json.dumps({**document, "elements": {}}, indent=1, ensure_ascii=True)
    elements = ",\n".join(f'  "{z}": {{' + ",\n".join(
        f'   "{key}": [\n' + ",\n".join(f"    {json.dumps(item, ensure_ascii=True)}" for item in items)
        + "\n   ]" for key, items in element.items()).lstrip() + "}"
        for z, element in document["elements"].items())
    return text.replace('"elements": {}', f'"elements": {{\n{elements}\n }}') + "\n"


def write_set(exchange: Any, name: str) -> str:
    """Write one set; returns its row of the table."""
    theirs = name.replace("g(d,p)", "g**").replace("(d)", "*")
    everything = exchange.get_basis(theirs, elements=None)
    elements = [z for z in ELEMENTS if z not in LEFT_OUT.get(name, ())
                and can_be_used(everything["elements"].get(str(z), {}))]
    document = exchange.get_basis(theirs, elements=elements, optimize_general=name in OPTIMIZED)
    if name in SPHERICAL:
        make_spherical(document)
    form = form_of_d(document)
    document["source"] = f"Basis Set Exchange, https://www.basissetexchange.org, Python package " \
                         f"basis_set_exchange {exchange.version()}"
    document["citations"] = citations(exchange, theirs, elements)
    if name in OF_OTHER:
        replaced, other = OF_OTHER[name]
        document["elements"].update(exchange.get_basis(other, elements=replaced)["elements"])
        document["citations"] = list(dict.fromkeys(document["citations"] + citations(exchange, other, replaced)))
    if json.loads(compact(document)) != json.loads(json.dumps(document)):
        raise DatasetError(f"{name}: lost something while writing")
    path = FOLDER / f"{name}.json"
    path.write_text(compact(document), encoding="ascii")
    print(f"{path}: {len(elements)} elements", flush=True)
    return f"| `{path.name}` | {document['description']} | {document['version']} " \
           f"({document['revision_date']}) | {document['revision_description']} | " \
           f"{ranges(elements)} | {form} |"


def ranges(numbers: list[int]) -> str:
    """[1, 2, 3, 6] as "H-Li, C"."""
    from basis_set_exchange import lut

    runs: list[list[int]] = []
    for z in numbers:
        if runs and z == runs[-1][-1] + 1:
            runs[-1].append(z)
        else:
            runs.append([z])
    names = [[lut.element_sym_from_Z(z, normalize=True) for z in (run[0], run[-1])] for run in runs]
    return ", ".join(a if a == b else f"{a}-{b}" for a, b in names)


def run() -> None:
    """Write every set and the table."""
    import basis_set_exchange as exchange

    rows = [write_set(exchange, name) for name in SETS]
    source = FOLDER / "SOURCE.md"
    text = source.read_text(encoding="ascii")
    head, tail = text[:text.index(BEGIN)], text[text.index(END):]
    table = "\n".join([BEGIN, "| file | what | version | data | elements | d shells |",
                       "|---|---|---|---|---|---|", *rows])
    source.write_text(f"{head}{table}\n{tail}", encoding="ascii")
    lists.write_sums(HERE)


def main() -> int:
    """Exit code 0, or 2 for usage (argparse), or 3 for anything that went wrong."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    try:
        venvrun.reexec_inside(HERE / "requirements-basis.txt")
        run()
    except (DatasetError, OSError) as error:
        print(f"make_basis.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
