#!/usr/bin/env python3
"""How far energies are off by the cutoff: against the same run at cutoff 1e-14.

    docs/results/scf_cutoff.py FMO-DRIVER [OPTION]... -- FILE.xyz:BASIS... SYSTEM.json...

Of a geometry an SCF, of a system of fragments FMO2. Prints the machine, the command and a table; the
last column is the error over the cutoff and the number of functions. Python 3.9 or newer alone.
"""

import json
import platform
import re
import subprocess
import sys

CUTOFFS = ["1e-13", "1e-12", "1e-11", "1e-10", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "1e-3", "1e-2", "0.1",
           "1"]
EXACT = "1e-14"


def run(driver, case, cutoff, options):
    """Functions, energy, cycles or iterations, what went wrong."""
    path, colon, basis = case.partition(":")
    line = [driver, path, *(["--scf", "--basis", basis] if colon else ["--fmo"]), "--cutoff", cutoff, "--profile=json",
            "--force", *options]
    done = subprocess.run(line, capture_output=True, text=True)
    entry = next(iter(next(value for value in json.loads(done.stdout).values() if isinstance(value, list))))
    if "error" in entry:
        return None, None, None, entry["error"]["message"]
    if colon:
        scf = entry["scf"]
        return entry["nao"], entry["energy"], scf["cycle_num"], "" if scf["converged"] else "not converged"
    return entry["functions"], entry["energy_fmo2"], entry["iterations"], ""


def main():
    driver, rest = sys.argv[1], sys.argv[2:]
    options, cases = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    with open("/proc/cpuinfo") as file:
        cpu = re.search(r"model name\s*: (.*)", file.read())[1]
    version = subprocess.run([driver, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"host      {cpu}, {platform.system()}")
    print(f"program   {version}")
    print(f"command   docs/results/scf_cutoff.py {' '.join(sys.argv[1:])}\n")
    print(f"{'input':18} {'basis':7} {'nao':>5} {'cutoff':>6} {'cycles':>6} {'error / hartree':>16} {'/ cutoff':>9} "
          f"{'/ cutoff nao':>12}")
    for case in cases:
        path, _, basis = case.partition(":")
        name = path.split("/")[-1].rsplit(".", 1)[0]
        nao, exact, cycles, wrong = run(driver, case, EXACT, options)
        print(f"{name:18} {basis or 'FMO2':7} {nao:5} {EXACT:>6} {cycles:6} {exact:16.10f} {wrong}", flush=True)
        for cutoff in CUTOFFS:
            _, energy, cycles, wrong = run(driver, case, cutoff, options)
            start = f"{name:18} {basis or 'FMO2':7} {nao:5} {cutoff:>6}"
            if energy is None:
                print(f"{start} {wrong}", flush=True)
                continue
            error = energy - exact
            print(f"{start} {cycles:6} {error:16.1e} {error / float(cutoff):9.2g} "
                  f"{error / float(cutoff) / nao:12.2g} {wrong}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
