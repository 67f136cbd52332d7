#!/usr/bin/env python3
"""Forces by hand: what is too long for the tests, which take the same functions with fewer steps.

    docs/results/forces.py batch [COUNT]      random geometries in one call against single runs (1000)
    docs/results/forces.py rate [COUNT]       glycines and (H2O)8 in one call on a GPU, without and with forces (1000)
    docs/results/forces.py dynamics [STEPS]   energy of (H2O)8 at constant number, volume and energy (200)
    docs/results/forces.py minima             optimised water, benzene, glycine and NH2 against PySCF's
    docs/results/forces.py speed              a gradient against a build, and PySCF's, by processor time of one thread
    docs/results/forces.py peers [RUNS]       whole gradients of fmo, GPU4PySCF (if installed) and PySCF, by wall time (5)

Needs numpy and the module fmo (PYTHONPATH=driver/python); minima, speed and peers also PySCF, minima geomeTRIC. Prints
the machine, the command and a table.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import time

import numpy as np

import fmo

XYZ = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "datasets", "xyz")
MASS = {"H": 1.00782503, "C": 12.0, "N": 14.0030740, "O": 15.9949146}  # of the most abundant isotopes
ELECTRON_MASSES = 1822.888486  # of an atomic mass unit
TIME = 0.02418884326  # fs, of the atomic unit
KELVIN = 3.166811563e-6  # hartree
MINIMA = {
    "water": ("6-31G*", 1, "O 0 0 0.117\nH 0 0.757 -0.469\nH 0 -0.757 -0.469"),
    "NH2": ("6-31G*", 2, "N 0 0 0.1\nH 0 0.8 0.7\nH 0.1 -0.8 0.7"),
    "glycine": ("STO-3G", 1, "N -1.95 0.05 0.1\nC -0.70 0.70 0.0\nC 0.55 -0.20 0.0\nO 0.50 -1.40 0.05\nO 1.70 0.50 -0.05\n"
                "H -2.0 -0.60 -0.65\nH -2.0 -0.45 0.95\nH -0.65 1.35 0.87\nH -0.65 1.30 -0.90\nH 2.45 -0.10 0.0"),
    "benzene": ("STO-3G", 1, "\n".join(f"{symbol} {r * np.cos(k * np.pi / 3):.6f} {r * np.sin(k * np.pi / 3):.6f} 0"
                                       for symbol, r in (("C", 1.42), ("H", 2.45)) for k in range(6))),
}
# file, basis, whether PySCF computes it, too
PEERS = (("water001", "6-31g*", 1), ("water008", "6-31g", 1), ("water008", "6-31g*", 1), ("water027", "6-31g", 0),
         ("alkane_C20H42", "6-31g", 0), ("alkane_C20H42", "6-31g*", 0), ("gly30", "sto-3g", 0))


def molecule(text, basis, multiplicity=1):
    """An fmo.Molecule of lines with atoms."""
    return fmo.Molecule.from_xyz(f"{len(text.splitlines())}\n\n{text}\n", 0, multiplicity, basis)


def displaced(count, seed=1):
    """Water, ammonia and NH2 with nuclei displaced at random, in angstrom."""
    random = np.random.default_rng(seed)
    kinds = (molecule(MINIMA["water"][2], "6-31g*"), fmo.Molecule.from_xyz(os.path.join(XYZ, "nh3.xyz"), basis="6-31g"),
             molecule(MINIMA["NH2"][2], "6-31g", 2))
    return [mol.with_positions(mol.positions + 0.05 * random.standard_normal(mol.positions.shape))
            for mol in (kinds[k % len(kinds)] for k in range(count))]


def batch(count):
    """Largest differences of energies and gradients between one call and single runs, and the time of the call."""
    settings = {"conv_tol": 1e-11, "conv_tol_grad": 1e-8}
    mols = displaced(count)
    start = time.perf_counter()
    done = fmo.scf_batch(mols, forces=True, mode="cpu", **settings)
    seconds = time.perf_counter() - start
    energy = gradient = 0.0
    for mol, one in zip(mols, done):
        single = type(one)(mol, mode="cpu").run(with_forces=True, **settings)
        energy = max(energy, abs(single.e_tot - one.e_tot))
        gradient = max(gradient, np.abs(single.gradient - one.gradient).max())
    return energy, gradient, seconds


def rate(mol, count, forces, seed=1):
    """Molecules a second of one call in mode fused, and how many failed."""
    random = np.random.default_rng(seed)
    mols = [mol.with_positions(mol.positions + 0.05 * random.standard_normal(mol.positions.shape)) for _ in range(count)]
    start = time.perf_counter()
    done = fmo.scf_batch(mols, mode="fused", forces=forces)
    return count / (time.perf_counter() - start), sum(not one.converged for one in done)


def dynamics(mol, steps, step=0.25, temperature=200.0, seed=1):
    """Potential and total energies, hartree, of a trajectory from random velocities; step in fs. Symplectic, of fourth
    order, with four gradients a step: Omelyan, Mryglod and Folk, Comput. Phys. Commun. 146, 188 (2002)."""
    mass = ELECTRON_MASSES * np.array([MASS[symbol] for symbol in mol.symbols])[:, None]
    velocity = np.random.default_rng(seed).standard_normal((mol.natm, 3)) * np.sqrt(KELVIN * temperature / mass)
    velocity -= (mass * velocity).sum(axis=0) / mass.sum()
    mf = (fmo.UHF if mol.spin else fmo.RHF)(mol, mode="cpu")
    mf.conv_tol, mf.conv_tol_grad = 1e-11, 1e-7
    scanner, place, dt = mf.nuc_grad_method().as_scanner(), mol.atom_coords(), step / TIME
    first, second, third = 0.1786178958448091, -0.2123418310626054, -0.06626458266981849
    parts = ((first, 0.5 - second), (third, second), (1 - 2 * (third + first), second), (third, 0.5 - second), (first, 0))
    energies = []
    for _ in range(steps):
        for along, kick in parts:
            place = place + along * dt * velocity
            energy, gradient = scanner(mol.with_positions(place, "bohr"))
            if kick:
                velocity = velocity - kick * dt * gradient / mass
        energies.append((energy, energy + 0.5 * (mass * velocity ** 2).sum()))
    return np.array(energies)


def minimum(name):
    """Largest difference of distances, angstrom, between minima of fmo and PySCF by geomeTRIC, and of energies."""
    import logging
    from pyscf import gto, scf
    from pyscf.geomopt import geometric_solver
    logging.disable()
    basis, multiplicity, text = MINIMA[name]
    mol = molecule(text, basis, multiplicity)
    plain = (scf.UHF if mol.spin else scf.RHF)(mol.to_pyscf()).set(conv_tol=1e-12, conv_tol_grad=1e-8, verbose=0)
    ours = (fmo.UHF if mol.spin else fmo.RHF)(mol, mode="cpu")
    ours.conv_tol, ours.conv_tol_grad = 1e-11, 1e-8
    tight = dict(convergence_energy=1e-10, convergence_grms=5e-7, convergence_gmax=1e-6, convergence_drms=2e-6,
                 convergence_dmax=4e-6, maxsteps=200)
    ends = [geometric_solver.optimize(mf, **tight) for mf in (ours, plain)]
    distances = [gto.inter_distance(mol) for mol in ends]
    energy = [type(plain)(mol).set(conv_tol=1e-12, verbose=0).kernel() for mol in ends]
    return np.abs(distances[0] - distances[1]).max() * 0.52917721092, energy[0] - energy[1]


def seconds_of(call, repeat):
    """Least processor time of a call."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def speed(path, basis, theirs):
    """A row: functions, times of a build, of the two-electron part and of the whole gradient, and PySCF's."""
    mol = fmo.Molecule.from_xyz(os.path.join(XYZ, f"{path}.xyz"), basis=basis)
    mf = fmo.RHF(mol, threads=1, mode="cpu").run(conv_tol_grad=1e-6)
    density, plan = mf.make_rdm1(), fmo.Plan(mol, threads=1, mode="cpu")
    build = seconds_of(lambda: plan.get_jk(density), 5)
    two = seconds_of(lambda: plan.gradient([fmo.GradientTerm(density)]), 5)

    def whole():
        mf.gradient = None
        return mf.nuc_grad_method().kernel()
    ours = seconds_of(whole, 3)
    row = f"{path:14} {basis:8} {mol.nao:4} {build:9.4f} {two:9.4f} {two / build:6.2f} {ours:9.4f} {ours / build:6.2f}"
    if theirs:
        plain = mf.to_pyscf()
        plain.verbose = 0
        method = plain.nuc_grad_method()
        pyscf = seconds_of(method.kernel, 1)
        row += f" {pyscf:9.3f} {pyscf / ours:6.1f} {np.abs(method.de - whole()).max():8.1e}"
    return row


def wall_times(call, runs):
    """The result of the last call, and the seconds of all but the first, which prepares."""
    times = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
    return np.asarray(result), times[1:]


def gpu4pyscf():
    """GPU4PySCF's module scf; None, and a line that says why, without the package or a GPU."""
    try:
        import cupy
        from gpu4pyscf import scf
        cupy.cuda.runtime.getDeviceCount()
    except (ImportError, RuntimeError) as error:
        print(f"# no GPU4PySCF: {error}")
        return None
    return scf


def of_gpu4pyscf(scf, mol, runs):
    """Gradient and seconds of GPU4PySCF's own SCF of a molecule of PySCF. Its kernel() returns an array of numpy, and so
    has waited for the GPU."""
    mf = scf.RHF(mol)
    mf.verbose, mf.conv_tol, mf.conv_tol_grad = 0, 1e-11, 1e-7
    mf.kernel()
    if not mf.converged:
        raise RuntimeError(f"GPU4PySCF's SCF of {mol.natm} atoms has not converged")
    return wall_times(mf.nuc_grad_method().kernel, runs)


def peers(path, basis, runs, theirs, cpu):
    """A row: functions; seconds of the whole gradient by fmo, GPU4PySCF (its module scf, or None) and (with cpu) PySCF;
    their differences from fmo's, hartree/bohr."""
    mol = fmo.Molecule.from_xyz(os.path.join(XYZ, f"{path}.xyz"), basis=basis)
    mf = fmo.RHF(mol).run(conv_tol=1e-11, conv_tol_grad=1e-7)

    def whole():
        mf.gradient = None
        return mf.nuc_grad_method().kernel()
    ours, seconds = wall_times(whole, runs)
    plain = mf.to_pyscf()
    plain.verbose = 0
    row = f"{path:14} {basis:8} {mol.nao:4} {np.median(seconds):9.4f}"
    for found in (of_gpu4pyscf(theirs, plain.mol, runs) if theirs else None,
                  wall_times(plain.nuc_grad_method().kernel, 1) if cpu else None):
        row += "".join(f"{'-':>10}" * 2) if found is None else (f" {np.median(found[1]):9.4f} "
                                                                  f"{np.abs(found[0] - ours).max():9.1e}")
    return row


def main():
    command, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None
    with open("/proc/cpuinfo", encoding="ascii") as file:
        cpu = re.search(r"model name\s*: (.*)", file.read())[1]
    print(f"# device: {cpu}, {platform.system()}; fmo {fmo.__version__}; command: docs/results/forces.py {' '.join(sys.argv[1:])}")
    if command == "batch":
        energy, gradient, seconds = batch(count or 1000)
        print(f"{count or 1000} geometries of H2O 6-31G*, NH3 6-31G and NH2 6-31G (UHF) in one call of {seconds:.1f} s\n"
              f"largest difference from single runs: energy {energy:.1e} hartree, gradient {gradient:.1e} hartree/bohr")
    elif command == "rate":
        for name, mol in (("glycine 6-31G*", molecule(MINIMA["glycine"][2], "6-31g*")),
                          ("(H2O)8 6-31G", fmo.Molecule.from_xyz(os.path.join(XYZ, "water008.xyz"), basis="6-31g"))):
            rate(mol, 100, True)  # starts the GPU
            for forces in (False, True, True):
                found, failed = rate(mol, count or 1000, forces)
                print(f"{count or 1000} {name}, {'energies and forces' if forces else 'energies'}: {found:.1f} a second, "
                      f"{failed} not converged", flush=True)
    elif command == "dynamics":
        mol = fmo.Molecule.from_xyz(os.path.join(XYZ, "water008.xyz"), basis="sto-3g")
        made = dynamics(mol, count or 200)
        print(f"(H2O)8 STO-3G, {len(made)} steps of 0.25 fs, 200 K at the beginning\n step  potential/hartree      "
              "total/hartree  total - first")
        for k in range(0, len(made), 10):
            print(f"{k + 1:5} {made[k, 0]:18.9f} {made[k, 1]:18.9f} {made[k, 1] - made[0, 1]:14.2e}")
        drift = np.polyfit(np.arange(len(made)), made[:, 1], 1)[0] * (len(made) - 1)
        print(f"range of total energy {np.ptp(made[:, 1]):.2e}, drift {drift:.2e}, range of potential {np.ptp(made[:, 0]):.2e}")
    elif command == "minima":
        print("molecule  basis    distances/angstrom  energy/hartree: largest differences from PySCF's minimum")
        for name, (basis, _, _) in MINIMA.items():
            distances, energy = minimum(name)
            print(f"{name:9} {basis:8} {distances:18.1e} {energy:15.1e}", flush=True)
    elif command == "peers":
        theirs = gpu4pyscf()
        print("wall time of the whole gradient after the SCF, median, s; errors: largest difference from fmo's, hartree/bohr\n"
              f"{'system':14} {'basis':8} {'nao':>4} {'fmo':>9} {'GPU4PySCF':>9} {'error':>9} {'PySCF':>9} {'error':>9}")
        for path, basis, cpu in PEERS:
            print(peers(path, basis, count or 5, theirs, cpu), flush=True)
    else:
        print("processor time of one thread, s; PySCF's is that of its whole gradient\n"
              f"{'system':14} {'basis':8} {'nao':>4} {'J and K':>9} {'two-el.':>9} {'ratio':>6} {'gradient':>9} {'ratio':>6} "
              f"{'PySCF':>9} {'times':>6} {'error':>8}")
        for path, basis, theirs in (("water001", "6-31g", 1), ("water001", "cc-pvdz", 1), ("water008", "sto-3g", 1),
                                    ("water008", "6-31g", 1), ("water008", "6-31g*", 1), ("ch3oh", "6-31g*", 1),
                                    ("alkane_C20H42", "6-31g", 0), ("alkane_C20H42", "6-31g*", 0),
                                    ("water027", "6-31g", 0), ("gly30", "sto-3g", 0)):
            print(speed(path, basis, theirs), flush=True)


if __name__ == "__main__":
    main()
