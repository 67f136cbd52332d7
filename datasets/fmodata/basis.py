"""A Gaussian basis of s, p, d and f shells as TREXIO stores it, its analytic overlap, and shuffling.

chi_i(r) = ao_normalization_i P_i(r) R(r)
R(r) = shell_factor sum_k prim_factor_k coefficient_k exp(-exponent_k r^2)

with nothing renormalised behind the file's back. P is 1 for s; in a Cartesian file x y z for p and
xx xy xz yy yz zz for d, xxx xxy ... zzz for f; in a spherical one z x y (m = 0, +1, -1) and the real
solid harmonics of m = 0, +1, -1, +2, -2, ..., sqrt(4 pi / (2 l + 1)) r^l Y_lm. Which function of its shell an AO is follows from
the order in which the AOs of that shell appear, the only thing the format says about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Iterable

import numpy as np

from . import DatasetError

SHELL_LETTERS = "spdfghi"
LARGEST_ANG_MOM = 3
_X, _Y, _Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
_XX, _XY, _XZ, _YY, _YZ, _ZZ = (2, 0, 0), (1, 1, 0), (1, 0, 1), (0, 2, 0), (0, 1, 1), (0, 0, 2)
_XXX, _XXY, _XXZ, _XYY, _XYZ = (3, 0, 0), (2, 1, 0), (2, 0, 1), (1, 2, 0), (1, 1, 1)
_XZZ, _YYY, _YYZ, _YZZ, _ZZZ = (1, 0, 2), (0, 3, 0), (0, 2, 1), (0, 1, 2), (0, 0, 3)
_ROOT_3, _ROOT_3_8, _ROOT_5_8, _ROOT_15 = 3.0 ** 0.5, 0.375 ** 0.5, 0.625 ** 0.5, 15.0 ** 0.5
# P by "cartesian" and angular momentum: functions as sums of factor x^i y^j z^k.
FUNCTIONS = {
    True: tuple(tuple(((1.0, power),) for power in powers) for powers in (
        ((0, 0, 0),), (_X, _Y, _Z), (_XX, _XY, _XZ, _YY, _YZ, _ZZ),
        (_XXX, _XXY, _XXZ, _XYY, _XYZ, _XZZ, _YYY, _YYZ, _YZZ, _ZZZ))),
    False: ((((1.0, (0, 0, 0)),),),
            (((1.0, _Z),), ((1.0, _X),), ((1.0, _Y),)),
            (((1.0, _ZZ), (-0.5, _XX), (-0.5, _YY)), ((_ROOT_3, _XZ),), ((_ROOT_3, _YZ),),
             ((0.5 * _ROOT_3, _XX), (-0.5 * _ROOT_3, _YY)), ((_ROOT_3, _XY),)),
            (((1.0, _ZZZ), (-1.5, _XXZ), (-1.5, _YYZ)),
             ((4.0 * _ROOT_3_8, _XZZ), (-_ROOT_3_8, _XXX), (-_ROOT_3_8, _XYY)),
             ((4.0 * _ROOT_3_8, _YZZ), (-_ROOT_3_8, _XXY), (-_ROOT_3_8, _YYY)),
             ((0.5 * _ROOT_15, _XXZ), (-0.5 * _ROOT_15, _YYZ)), ((_ROOT_15, _XYZ),),
             ((_ROOT_5_8, _XXX), (-3.0 * _ROOT_5_8, _XYY)),
             ((3.0 * _ROOT_5_8, _XXY), (-_ROOT_5_8, _YYY))))}
# Where they stand in libcint and PySCF, which have p as x y z always, d as m = -2 ... 2 and f as m = -3 ... 3.
LIBCINT_PLACE = {True: ((0,), (0, 1, 2), tuple(range(6)), tuple(range(10))),
                 False: ((0,), (2, 0, 1), (2, 3, 1, 4, 0), (3, 4, 2, 5, 1, 6, 0))}


def libcint_factor(l: int, cartesian: bool) -> float:
    """What libcint multiplies P by: normalised spherical harmonics, and Cartesian d and f as they are."""
    return 1.0 if cartesian and l > 1 else float(np.sqrt((2 * l + 1) / (4 * np.pi)))


def check_supported(ang_mom: Iterable[int], what: str) -> None:
    """Refuse shells above f by name."""
    for shell, l in enumerate(ang_mom):
        if l > LARGEST_ANG_MOM:
            raise DatasetError(
                f"{what}: shell {shell} is a{'n' if l in (5, 6) else ''} {SHELL_LETTERS[l]} shell: only "
                "s, p, d and f shells are supported; choose a smaller basis")


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

    def places(self) -> np.ndarray:
        """Per AO: which function of its shell it is, in the order of FUNCTIONS."""
        seen = np.zeros(len(self.shell_ang_mom), dtype=int)
        places = np.empty(self.nao, dtype=int)
        for ao, shell in enumerate(self.ao_shell):
            places[ao] = seen[shell]
            seen[shell] += 1
        if np.any(seen != [len(FUNCTIONS[self.cartesian][l]) for l in self.shell_ang_mom]):
            raise DatasetError("ao_shell: a shell has a wrong number of functions")
        return places

    def functions(self) -> list:
        """Per AO: its P, from FUNCTIONS."""
        kinds = FUNCTIONS[self.cartesian]
        return [kinds[self.shell_ang_mom[shell]][place]
                for shell, place in zip(self.ao_shell, self.places())]

    def radial(self) -> np.ndarray:
        """Per primitive: shell_factor prim_factor coefficient."""
        return self.shell_factor[self.shell_index] * self.prim_factor * self.coefficient


def overlap(basis: Basis) -> np.ndarray:
    """Overlap [nao][nao] from the closed formulas for Gaussians (no library involved)."""
    prims = [np.flatnonzero(basis.shell_index == s) for s in range(len(basis.shell_ang_mom))]
    monomials = [(ao, factor, power) for ao, terms in enumerate(basis.functions())
                 for factor, power in terms]
    ao_of = np.array([ao for ao, _, _ in monomials])
    order = np.concatenate([prims[basis.ao_shell[ao]] for ao in ao_of])
    counts = np.array([len(prims[basis.ao_shell[ao]]) for ao in ao_of])
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    owner = np.repeat(np.arange(len(monomials)), counts)
    factors = np.array([factor for _, factor, _ in monomials]) * basis.ao_normalization[ao_of]
    a = basis.exponent[order]
    c = basis.radial()[order] * factors[owner]
    centre = basis.coord[basis.nucleus_index[basis.ao_shell[ao_of[owner]]]]
    power = np.array([power for _, _, power in monomials])[owner]

    first = np.flatnonzero(np.diff(ao_of, prepend=-1))  # monomial of each AO
    matrix = np.zeros((basis.nao, basis.nao))
    for i, ao in enumerate(ao_of):
        row = slice(starts[i], starts[i] + counts[i])
        p = a[row, None] + a
        ab = centre[starts[i]] - centre
        value = c[row, None] * c * (np.pi / p) ** 1.5
        value *= np.exp(-a[row, None] * a / p * np.sum(ab * ab, axis=1))
        for d in range(3):
            pa, pb = -a / p * ab[:, d], a[row, None] / p * ab[:, d]
            value *= _moment(power[starts[i], d], power[:, d], pa, pb, 0.5 / p)
        matrix[ao] += np.add.reduceat(np.add.reduceat(value.sum(axis=0), starts), first)
    return 0.5 * (matrix + matrix.T)


def _moment(bra: int, ket: np.ndarray, pa: np.ndarray, pb: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Mean of (t + pa)^bra (t + pb)^ket for t with the mean 0 and the variance `half`, ket by ket."""
    by_power = []  # over ket powers, each by Obara and Saika's recursion in the bra's
    for k in range(LARGEST_ANG_MOM + 1):
        table = [[np.ones_like(half)]]
        for j in range(k):
            row = table[0]
            row.append(pb * row[j] + (j * half * row[j - 1] if j else 0.0))
        for i in range(bra):
            table.append([pa * table[i][j] + half * ((i * table[i - 1][j] if i else 0.0)
                                                     + (j * table[i][j - 1] if j else 0.0))
                          for j in range(k + 1)])
        by_power.append(table[bra][k])
    return np.choose(np.broadcast_to(ket, half.shape), by_power)


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
