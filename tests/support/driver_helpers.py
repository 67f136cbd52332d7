"""What the command-line tests of fmo-driver share: paths, a run, a case in a folder of its own, a validator of
JSON. Python standard library only; environment variables are those of tests/driver/cli.py.
"""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import unittest

DRIVER = os.environ.get("FMO_DRIVER", "build/bin/fmo-driver")
H5 = os.environ.get("FMO_H5", "build/tests/driver_h5")
MAKE_BAD = os.environ.get("FMO_MAKE_BAD", "")
SOURCE = os.environ.get("FMO_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DATASETS = os.path.join(SOURCE, "datasets")
SMALL = os.path.join(DATASETS, "h2o_sto-3g.h5")
MEDIUM = os.path.join(DATASETS, "h2o8_sto-3g.h5")
LARGE = os.path.join(DATASETS, "h2o8_6-31g.h5")

MODES = ["auto", "cpu", "reference", "fused", "split"]
CPU_MODES = ["cpu", "reference"]
REDUCES = ["tree", "atomic", "serial"]
CLASSES = ["ssss", "psss", "psps", "ppss", "ppps", "pppp"]


class Result:
    def __init__(self, code, out, err, usage):
        self.code, self.out, self.err = code, out, err
        self.seconds, self.megabytes = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def __str__(self):
        return f"exit {self.code}\nstdout: {self.out[:3000]}\nstderr: {self.err[:3000]}"


def run(*arguments, program=None, timeout=1500, stdout=None, cwd=None, environment=None):
    """Run the driver (or another program); its output, exit code, processor time and peak memory."""
    command = [program or DRIVER, *map(str, arguments)]
    env = dict(os.environ, **(environment or {}))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or out,
                                   stderr=err, cwd=cwd, env=env)
        deadline = start + timeout
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
                os.wait4(process.pid, 0)
                raise AssertionError(f"{command} still runs after {timeout} s")
            time.sleep(0.002)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Result(process.returncode, out.read().decode(errors="replace"),
                      err.read().decode(errors="replace"), usage)


def h5(*arguments):
    result = run(*arguments, program=H5)
    if result.code != 0:
        raise AssertionError(f"driver_h5 {arguments}: {result}")


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def committed_datasets():
    return sorted(glob.glob(os.path.join(DATASETS, "*.h5")))


def functions(path):
    return int(re.search(r"(\d+) functions", run(path).out).group(1))


def validate(value, schema, root, where="$"):
    """The part of JSON Schema that profile.schema.json uses; a list of complaints."""
    known = {"$schema", "$defs", "title", "$ref", "type", "const", "enum", "anyOf", "required",
             "properties", "additionalProperties", "items", "minItems", "maxItems", "minimum", "pattern"}
    complaints = [f"{where}: the validator does not know {key}" for key in schema if key not in known]
    if "$ref" in schema:
        return validate(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, where)
    if "anyOf" in schema:
        each = [validate(value, option, root, where) for option in schema["anyOf"]]
        if all(each):
            complaints += min(each, key=len)
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        tests = {"object": isinstance(value, dict), "array": isinstance(value, list),
                 "string": isinstance(value, str), "null": value is None, "number": is_number,
                 "integer": is_number and isinstance(value, int), "boolean": isinstance(value, bool)}
        if not any(tests[kind] for kind in kinds):
            return complaints + [f"{where}: {value!r} is no {' or '.join(kinds)}"]
    if "const" in schema and value != schema["const"]:
        complaints.append(f"{where}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        complaints.append(f"{where}: {value!r} is none of {schema['enum']}")
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        complaints.append(f"{where}: {value!r} < {schema['minimum']}")
    if "pattern" in schema and not re.search(schema["pattern"], value):
        complaints.append(f"{where}: {value!r} does not match {schema['pattern']}")
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        complaints += [f"{where}.{key} is missing" for key in schema.get("required", ())
                       if key not in value]
        for key, item in value.items():
            if key in properties:
                complaints += validate(item, properties[key], root, f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                complaints.append(f"{where}.{key} is not in the schema")
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            complaints.append(f"{where}: only {len(value)} items")
        if len(value) > schema.get("maxItems", len(value)):
            complaints.append(f"{where}: {len(value)} items")
        for index, item in enumerate(value):
            complaints += validate(item, schema.get("items", {}), root, f"{where}[{index}]")
    return complaints


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fmo-driver-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def assertFails(self, result, code, pattern, where=None):
        """One line on stderr, nothing on stdout, this exit code."""
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(result.out, "", str(result))
        self.assertTrue(result.err.endswith("\n"), str(result))
        self.assertEqual(result.err.count("\n"), 1, str(result))
        self.assertTrue(result.err.startswith("fmo-driver: "), str(result))
        if where is not None:
            self.assertTrue(result.err.startswith(f"fmo-driver: {where}"), str(result))
            self.assertEqual(result.err.count(where), 1, f"the file is named twice: {result}")
        self.assertRegex(result.err, pattern)
        self.assertNotRegex(result.err, "[\x00-\x09\x0b-\x1f\x7f]")

    def assertRuns(self, result, code=0):
        self.assertEqual(result.code, code, str(result))
        self.assertEqual(result.err, "", str(result))
        self.assertNotIn("\x1b", result.out)
        self.assertNotIn("\r", result.out)
