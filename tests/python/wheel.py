"""The wheel that cmake/packaging/wheel.py makes of a build folder, unpacked where the sources are not; and
older_glibc.py. Python 3.11 or newer, standard library only, but for the module itself (numpy).

    FMO_BUILD=build python3 wheel.py
"""

import ctypes
import csv
import hashlib
import base64
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from unittest import mock

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("FMO_BUILD", SOURCE / "build"))
SYSTEM = re.compile(r"(ld-linux.*|libc|libm|libdl|libpthread|librt|libz|libgcc_s|libstdc\+\+)\.so\.\d+")
sys.path.insert(0, str(SOURCE / "cmake" / "packaging"))
if sys.version_info < (3, 11):
    print("skipped: wheel.py needs Python 3.11")
    sys.exit(77)

import older_glibc  # pylint: disable=wrong-import-position
import wheel  # pylint: disable=wrong-import-position


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="fmo-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.wheel = wheel.make(BUILD, cls.folder)
        cls.site = cls.folder / "site"
        with zipfile.ZipFile(cls.wheel) as archive:
            cls.modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
            archive.extractall(cls.site)
        for name, mode in cls.modes.items():
            (cls.site / name).chmod(mode & 0o777)
        cls.info, = cls.site.glob("*.dist-info")

    def run_alone(self, *command):
        """A command that knows neither the sources nor the build folder."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": str(self.site),
               "PYTHONDONTWRITEBYTECODE": "1", "OMP_WAIT_POLICY": "passive"}
        return subprocess.run(list(map(str, command)), env=env, cwd=self.folder, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_name_and_metadata(self):
        found = re.fullmatch(r"fmo(_cuda1\dx)?-(\d[\d.]*)-py3-none-(manylinux_2_\d+|linux)_(x86_64|aarch64)\.whl", self.wheel.name)
        self.assertTrue(found, self.wheel.name)
        text = (self.info / "METADATA").read_text(encoding="utf-8")
        for line in ("License-Expression: MIT", "Requires-Dist: numpy>=1.22", "Requires-Python: >=3.9",
                     "License-File: LICENSE", f"Version: {found[2]}", 'Requires-Dist: ase>=3.22; extra == "ase"'):
            self.assertIn(line + "\n", text)
        self.assertTrue((self.info / "licenses" / "LICENSE").is_file())

    def test_record(self):
        """Every file is listed with its hash and size."""
        rows = list(csv.reader(io.StringIO((self.info / "RECORD").read_text(encoding="utf-8"))))
        self.assertEqual(sorted(row[0] for row in rows), sorted(self.modes))
        for name, digest, size in rows:
            if name.endswith("RECORD"):
                continue
            content = (self.site / name).read_bytes()
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            self.assertEqual((digest, size), ("sha256=" + expected, str(len(content))), name)

    def test_content(self):
        """Each library once, under the name that others ask for; all that they need; what the module reads."""
        elves = {path.name: older_glibc.Elf(path) for path in wheel.libraries(self.site)}
        for name, elf in elves.items():
            if name != "fmo-driver":
                self.assertEqual(elf.dynamic(older_glibc.SONAME), [name])
            for needed in elf.dynamic(older_glibc.NEEDED):
                here = "manylinux" not in self.wheel.name and not needed.startswith("libfmo")
                self.assertTrue(needed in elves or SYSTEM.fullmatch(needed) or here, f"{name} needs {needed}")
        for name in ("fmo/py.typed", "fmo/share/fmo/basis/sto-3g.json", "fmo/share/fmo/hybrids/hybrids.json"):
            self.assertIn(name, self.modes)
        self.assertFalse([name for name in self.modes if "__pycache__" in name or name.endswith((".a", ".h"))])

    def test_same_bytes_again(self):
        again = wheel.make(BUILD, self.folder / "again")
        self.assertEqual(self.wheel.read_bytes(), again.read_bytes())

    def test_program(self):
        """The script that pip would put on PATH."""
        script, = self.site.glob("*.data/scripts/fmo-driver")
        self.assertEqual(script.read_text(encoding="utf-8").splitlines()[0], "#!python")
        water = self.site / "fmo" / "share" / "fmo" / "xyz" / "water001.xyz"
        done = self.run_alone(sys.executable, script, water, "--basis", "6-31g", "--scf", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^SCF: -75\.98399")
        done = self.run_alone(sys.executable, script, "--nonsense")
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_program_without_the_package(self):
        script, = self.site.glob("*.data/scripts/fmo-driver")
        done = subprocess.run([sys.executable, "-I", str(script)], text=True, check=False, cwd=self.folder,
                              stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^fmo-driver: the Python package fmo is not installed for .*: pip install .*\n$")

    def test_module(self):
        done = self.run_alone(sys.executable, "-c", "import fmo; print(fmo.library_path())")
        if "No module named 'numpy'" in done.stderr:
            self.skipTest("no numpy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.path.dirname(done.stdout.strip()), str(self.site / "fmo" / "lib"))

    def test_batch(self):
        """The module finds the fmo-driver that is in the wheel."""
        water, output = self.site / "fmo" / "share" / "fmo" / "xyz" / "water001.xyz", self.folder / "train.extxyz"
        done = self.run_alone(sys.executable, "-m", "fmo", "batch", water, "--basis", "6-31g", "--forces", "-o", output)
        if "No module named 'numpy'" in done.stderr:
            self.skipTest("no numpy")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn(" energy=-2067.6", output.read_text(encoding="utf-8"))


class Configure(unittest.TestCase):
    def test_architectures(self):
        """Those of a release by default, whatever an earlier run left in CMake's cache."""
        for arguments, expected in (([], None), (["--cuda"], "OFF"), (["--cuda", "90-real"], "90-real")):
            with mock.patch.object(sys, "argv", ["wheel.py", "--hdf5", "/", *arguments]), \
                    mock.patch.object(wheel.subprocess, "run") as run:
                wheel.configure_and_build(wheel.arguments())
            given = [one for one in run.call_args_list[0].args[0] if "CMAKE_CUDA_ARCHITECTURES" in str(one)]
            self.assertEqual(given, [f"-DCMAKE_CUDA_ARCHITECTURES={expected}"] if expected else [], arguments)


class OlderGlibc(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fmo-glibc-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def library(self, code, *options):
        """A shared library of this C code."""
        source, file = self.folder / "code.c", self.folder / "code.so"
        source.write_text(code, encoding="utf-8")
        subprocess.run([os.environ.get("CC", "cc"), "-fPIC", "-shared", "-fno-builtin", source, "-o", file, *options],
                       check=True)
        return file

    def test_lower(self):
        file = self.library("#include <math.h>\n#include <pthread.h>\n"
                            "double power(double x, double y) { return pow(x, y); }\n"
                            "int start(pthread_t *t, void *(*f)(void *)) { return pthread_create(t, 0, f, 0); }", "-lm")
        if older_glibc.newest_glibc(file) < (2, 34):
            self.skipTest("this glibc is old")
        self.assertEqual(sorted(older_glibc.lower(file, (2, 28))), ["pow", "pthread_create"])
        self.assertLessEqual(older_glibc.newest_glibc(file), (2, 28))
        power = ctypes.CDLL(str(file)).power
        power.restype, power.argtypes = ctypes.c_double, [ctypes.c_double, ctypes.c_double]
        self.assertEqual(power(2.0, 10.0), 1024.0)
        before = file.read_bytes()
        self.assertEqual(older_glibc.lower(file, (2, 28)), [])
        self.assertEqual(file.read_bytes(), before)

    def test_what_no_older_one_has(self):
        file = self.library("#include <sys/stat.h>\nint size(struct stat *s) { return stat(\"/\", s); }")
        if older_glibc.newest_glibc(file) < (2, 33):
            self.skipTest("this glibc is old")
        with self.assertRaisesRegex(older_glibc.ElfError, r"code\.so: stat: no glibc up to 2\.28 has it"):
            older_glibc.lower(file, (2, 28))
        file = self.library("#include <sys/stat.h>\nint size(struct stat *s) { return stat(\"/\", s); }",
                            str(SOURCE / "cmake" / "packaging" / "old_glibc.c"))
        older_glibc.lower(file, (2, 28))
        self.assertEqual(ctypes.CDLL(str(file)).size(ctypes.create_string_buffer(1024)), 0)

    def test_no_elf_file(self):
        file = self.folder / "text"
        file.write_text("no library", encoding="utf-8")
        with self.assertRaisesRegex(older_glibc.ElfError, "text: not a 64-bit"):
            older_glibc.lower(file, (2, 28))


if __name__ == "__main__":
    unittest.main(verbosity=2)
