"""A Gaussian basis of s and p shells as TREXIO stores it, its analytic overlap, and shuffling.

chi_i(r) = ao_normalization_i P_i(r) R(r)
R(r) = shell_factor sum_k prim_factor_k coefficient_k exp(-exponent_k r^2)

with nothing renormalised behind the file's back. P is 1 for s and, for p, x y z in a Cartesian file
and z x y (m = 0, +1, -1) in a spherical one. Which function of its shell an AO is follows from
the order in which the AOs of that shell appear, the only thing the format says about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from . import DatasetError

SHELL_LETTERS = "spdfghi"
P_AXES = {True: (0, 1, 2), False: (2, 0, 1)}  # keyed by "cartesian"
AXIS_NAMES = {-1: "s", 0: "x", 1: "y", 2: "z"}


@dataclass(frozen=True)
class Basis:
    """The basis and ao groups of a TREXIO file, plus the nuclei they sit on. Atomic units."""

    coord: np.ndarray           # [nucleus][3], bohr
    charge: np.ndarray          # [nucleus]
    nucleus_index: np.ndarray   # [shell]
    shell_ang_mom: np.ndarray   # [shell]
    shell_factor: np.ndarray    # [shell]
    shell_index: np.ndarray     # [primitive] shell of a primitive
    exponent: np.ndarray        # [primitive]
    coefficient: np.ndarray     # [primitive]
    prim_factor: np.ndarray     # [primitive]
    ao_shell: np.ndarray        # [ao]
    ao_normalization: np.ndarray  # [ao]
    cartesian: bool

    @property
    def nao(self) -> int:
        """Number of basis functions."""
        return len(self.ao_shell)

    def check_s_and_p(self, what: str) -> None:
        """Refuse shells above p by name."""
        for shell, l in enumerate(self.shell_ang_mom):
            if l > 1:
                raise DatasetError(
                    f"{what}: basis_shell_ang_mom[{shell}] = {l} ({SHELL_LETTERS[l]}): only s and "
                    "p shells are supported; choose a basis without polarisation functions")

    def axes(self) -> np.ndarray:
        """Per AO: -1 for s, else 0, 1, 2 for x, y, z."""
        seen = np.zeros(len(self.shell_ang_mom), dtype=int)
        axes = np.empty(self.nao, dtype=int)
        for ao, shell in enumerate(self.ao_shell):
            axes[ao] = -1 if self.shell_ang_mom[shell] == 0 else P_AXES[self.cartesian][seen[shell]]
            seen[shell] += 1
        if np.any(seen != 2 * self.shell_ang_mom + 1):
            raise DatasetError("ao_shell: a shell has a wrong number of functions")
        return axes

    def radial(self) -> np.ndarray:
        """Per primitive: shell_factor prim_factor coefficient."""
        return self.shell_factor[self.shell_index] * self.prim_factor * self.coefficient


def overlap(basis: Basis) -> np.ndarray:
    """Overlap [nao][nao] from the closed formulas for s and p Gaussians (no library involved)."""
    prims = [np.flatnonzero(basis.shell_index == s) for s in range(len(basis.shell_ang_mom))]
    order = np.concatenate([prims[s] for s in basis.ao_shell])
    counts = np.array([len(prims[s]) for s in basis.ao_shell])
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    owner = np.repeat(np.arange(basis.nao), counts)
    axis = basis.axes()
    a = basis.exponent[order]
    c = basis.radial()[order] * basis.ao_normalization[owner]
    centre = basis.coord[basis.nucleus_index[basis.ao_shell[owner]]]
    power = (axis[owner][:, None] == np.arange(3)).astype(float)

    matrix = np.empty((basis.nao, basis.nao))
    for i in range(basis.nao):
        row = slice(starts[i], starts[i] + counts[i])
        p = a[row, None] + a
        ab = centre[starts[i]] - centre
        value = c[row, None] * c * (np.pi / p) ** 1.5
        value *= np.exp(-a[row, None] * a / p * np.sum(ab * ab, axis=1))
        for d in range(3):
            bra, ket = power[starts[i], d], power[:, d]
            pa, pb = -a / p * ab[:, d], a[row, None] / p * ab[:, d]
            value *= np.where(bra * ket == 1, pa * pb + 0.5 / p,
                              np.where(bra == 1, pa, np.where(ket == 1, pb, 1.0)))
        matrix[i] = np.add.reduceat(value.sum(axis=0), starts)
    return matrix


def shuffled(basis: Basis, seed: int) -> tuple[Basis, np.ndarray, np.ndarray]:
    """The same space in a deliberately awkward form.

    Shells, primitives (across shells) and AOs (across shells) in random order, unequal and partly
    negative ao_normalization, shell_factor and prim_factor away from their usual values.
    Returns the basis, and (order, scale) with new AO i = scale[i] * old AO order[i].
    """
    rng = np.random.default_rng(seed)
    nshell, nprim = len(basis.shell_ang_mom), len(basis.exponent)
    shells, prims = rng.permutation(nshell), rng.permutation(nprim)
    new_place = np.argsort(shells)
    shell_factor = rng.uniform(0.5, 2.0, nshell)
    share = rng.uniform(0.5, 2.0, nprim)
    shell_index = new_place[basis.shell_index[prims]]
    order = _shuffled_functions(basis.ao_shell, rng)
    scale = rng.uniform(0.5, 2.0, basis.nao) * np.where(rng.random(basis.nao) < 0.25, -1.0, 1.0)
    result = replace(
        basis,
        nucleus_index=basis.nucleus_index[shells],
        shell_ang_mom=basis.shell_ang_mom[shells],
        shell_factor=basis.shell_factor[shells] * shell_factor,
        shell_index=shell_index,
        exponent=basis.exponent[prims],
        coefficient=basis.coefficient[prims] / share / shell_factor[shell_index],
        prim_factor=basis.prim_factor[prims] * share,
        ao_shell=new_place[basis.ao_shell[order]],
        ao_normalization=basis.ao_normalization[order] * scale)
    return result, order, scale


def _shuffled_functions(ao_shell: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random AO order in which the functions of one shell keep their relative order."""
    order = rng.permutation(len(ao_shell))
    for shell in np.unique(ao_shell):
        places = np.flatnonzero(ao_shell[order] == shell)
        order[places] = np.sort(order[places])
    return order
