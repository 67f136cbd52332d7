"""Where the scripts of datasets/ make their virtual environment, and that all scripts can be started by
their names. Python standard library only.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("FMO_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "datasets"))

from fmodata import DatasetError, venvrun  # pylint: disable=wrong-import-position


class Venv(unittest.TestCase):
    def folder(self, requirements, **environment):
        saved = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(saved)))
        for name in ("FMO_VENV", "XDG_CACHE_HOME"):
            os.environ.pop(name, None)
        os.environ.update(HOME="/home/somebody", **environment)
        return str(venvrun.folder(SOURCE / "datasets" / requirements))

    def test_folder(self):
        self.assertEqual(self.folder("requirements.txt"), "/home/somebody/.cache/fmo/venv-pyscf")
        self.assertEqual(self.folder("requirements-basis.txt"), "/home/somebody/.cache/fmo/venv-basis")
        self.assertEqual(self.folder("requirements.txt", XDG_CACHE_HOME="/c"), "/c/fmo/venv-pyscf")
        self.assertEqual(self.folder("requirements.txt", XDG_CACHE_HOME="c"), "/home/somebody/.cache/fmo/venv-pyscf")
        self.assertEqual(self.folder("requirements.txt", FMO_VENV="/v", XDG_CACHE_HOME="/c"), "/v")
        self.assertEqual(self.folder("requirements-foreign.txt", FMO_VENV="/v"), "/v-foreign")

    def test_nothing_is_emptied(self):
        """A folder of somebody else's is not taken."""
        with tempfile.TemporaryDirectory() as own:
            (pathlib.Path(own) / "precious").write_text("x", encoding="ascii")
            self.folder("requirements.txt", FMO_VENV=own)
            with self.assertRaisesRegex(DatasetError, "FMO_VENV: .* was not made by these scripts"):
                venvrun.make(SOURCE / "datasets" / "requirements.txt")
            self.assertTrue((pathlib.Path(own) / "precious").exists())

    def test_nothing_in_the_sources(self):
        """No script names a folder of its own in the source tree."""
        for script in (SOURCE / "datasets").glob("*.py"):
            self.assertNotIn(".venv", script.read_text(encoding="utf-8"), script)

    def test_executable(self):
        listed = subprocess.run(["git", "-C", str(SOURCE), "ls-files", "-z"], capture_output=True, check=False)
        if listed.returncode != 0:
            self.skipTest("no git, or no repository")
        for name in filter(None, listed.stdout.decode().split("\0")):
            path = SOURCE / name
            if not path.is_file():
                continue
            with open(path, "rb") as file:
                script = file.read(2) == b"#!"
            if script:
                self.assertTrue(os.access(path, os.X_OK), f"{name} begins with #! and is not executable")


if __name__ == "__main__":
    unittest.main()
