"""The notebooks of docs/tutorials/notebooks run, and print what is stored in them. Started as module.py is.

    python3 notebooks.py --write    # run them and store what they print
"""

import glob
import os
import re
import sys
import tempfile

# first: it may start another Python
from helpers import SOURCE, Case, main, needs

FOLDER = os.path.join(SOURCE, "docs", "tutorials", "notebooks")
NAMES = ("ase", "batch", "peptide", "pyscf", "water")
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")
TOLERANCE = 2e-3  # of numbers that are printed, which geometry optimisations end with


def run(path):
    """A notebook, and the same after its cells have run in a new kernel."""
    import nbclient
    import nbformat
    before, after = (nbformat.read(path, as_version=4) for _ in range(2))
    with tempfile.TemporaryDirectory(prefix="fmo-") as folder:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
            os.environ[name] = os.path.join(folder, name)
        nbclient.NotebookClient(after, timeout=300, kernel_name="python3",
                                resources={"metadata": {"path": FOLDER}}).execute()
    return before, after


def printed(cell):
    """The text of a code cell's outputs."""
    text = ""
    for output in cell.get("outputs", []):
        text += output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", "")
    return text


def write(path):
    """Store what a notebook prints, without what differs from run to run."""
    import nbformat
    _, notebook = run(path)
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.metadata = {}
        cell.execution_count = number
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = number
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, path)


@needs("nbclient", "ipykernel")
class Notebooks(Case):
    def test_all_are_tested(self):
        self.assertEqual(sorted(glob.glob(os.path.join(FOLDER, "*.ipynb"))),
                         [os.path.join(FOLDER, name + ".ipynb") for name in NAMES])

    def check(self, name):
        """All cells run; words are the same as are stored, and numbers to TOLERANCE."""
        before, after = run(os.path.join(FOLDER, name + ".ipynb"))
        some = False
        for old, new in zip(before.cells, after.cells):
            if old.cell_type != "code":
                continue
            expected, got = printed(old), printed(new)
            some = some or bool(expected)
            words = ["".join(NUMBER.sub("#", text).split()) for text in (got, expected)]
            self.assertEqual(*words, old.source)
            for one, other in zip(NUMBER.findall(got), NUMBER.findall(expected)):
                self.assertAlmostEqual(float(one), float(other), delta=TOLERANCE, msg=old.source)
        self.assertTrue(some)

    @needs("ase")
    def test_ase(self):
        self.check("ase")

    def test_batch(self):
        self.check("batch")

    def test_peptide(self):
        self.check("peptide")

    def test_pyscf(self):
        self.check("pyscf")

    def test_water(self):
        self.check("water")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        for one in NAMES:
            write(os.path.join(FOLDER, one + ".ipynb"))
    else:
        main()
