"""The README and the start script, `./quickstart`. Started as cli.py is.
"""

import os
import re
import resource
import shutil
import unittest

from driver_helpers import CLASSES, SOURCE, Case, run


class Readme(Case):
    def setUp(self):
        super().setUp()
        with open(os.path.join(SOURCE, "README.md")) as file:
            self.readme = file.read()

    def test_example_is_the_compiled_one(self):
        with open(os.path.join(SOURCE, "tests", "driver", "readme_example.c")) as file:
            source = file.read()
        example = source.split("/* example begin */\n")[1].split("/* example end */")[0]
        self.assertIn("```c\n" + example + "```", self.readme)
        self.assertLessEqual(len(example.splitlines()), 15)

    def test_output_is_real(self):
        """The output shown has the lines of a real run; numbers that depend on the machine may
        differ, energy, counts and settings may not."""
        shown = re.search(r"```console\n\$ \./quickstart run\n(.*?)```", self.readme, re.S).group(1)
        shown = [line for line in shown.splitlines() if not line.startswith(("quickstart:", "$ "))]
        result = run("datasets/h2o8_6-31g.h5", "--check", cwd=SOURCE)
        self.assertRuns(result)
        real = result.out.splitlines()
        self.assertEqual([line.split()[:1] for line in shown], [line.split()[:1] for line in real])
        for ours, theirs in zip(shown, real):
            words = ours.split()
            if words and words[0] in CLASSES + ["data", "system", "basis", "density"]:
                self.assertEqual(words[:4], theirs.split()[:4])

    def test_links(self):
        for link in re.findall(r"\]\(([^)#:]+)\)", self.readme):
            self.assertTrue(os.path.exists(os.path.join(SOURCE, link)), link)


class Quickstart(Case):
    script = os.path.join(SOURCE, "quickstart")

    def test_usage(self):
        for arguments in ([], ["--help"]):
            result = run(*arguments, program=self.script, cwd="/")
            self.assertEqual(result.code, 0, str(result))
            self.assertRegex(result.out, r"\AUsage: \./quickstart run")
        result = run("jump", program=self.script)
        self.assertEqual(result.code, 2)
        self.assertRegex(result.err, "unknown command 'jump'")

    def test_says_what_is_missing(self):
        """Without the packages and the right to install them, the exact command is printed."""
        fake = self.path("dpkg-query")
        with open(fake, "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(fake, 0o755)
        for command in (["packages", "build"], ["run"], ["test"]):
            result = run(*command, program=self.script, environment={
                "PATH": self.folder + ":" + os.environ["PATH"], "FMO_NO_INSTALL": "1"})
            self.assertEqual(result.code, 1, str(result))
            self.assertRegex(result.err, "sudo apt-get install gcc .*libtrexio-dev")

    def test_installs(self):
        """Packages are installed, after an update if the first try fails; dpkg-query, apt-get and sudo are fakes."""
        fakes = {"dpkg-query": "exit 1",
                 "sudo": '[ "$1" != -n ] || shift; exec "$@"',
                 "apt-get": f'echo "$*" >>{self.folder}/log; [ $(wc -l <{self.folder}/log) != 1 ]'}
        for name, body in fakes.items():
            with open(self.path(name), "w") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(self.path(name), 0o755)
        result = run("packages", "build", program=self.script, environment={
            "PATH": self.folder + ":" + os.environ["PATH"], "FMO_NO_INSTALL": "0"})
        self.assertEqual(result.code, 0, str(result))
        with open(self.path("log")) as file:
            calls = [line.split()[0] + " " + line.split()[-1] for line in file]
        with open(os.path.join(SOURCE, "cmake", "debian-packages.txt")) as file:
            last = [line.split()[0] for line in file if line.split()[1:2] == ["build"]][-1]
        self.assertEqual(calls[0::2], [f"install {last}"] * 2)
        self.assertRegex(calls[1], "^update")

    XML = '''<testsuite>
<testcase name="runs" status="run"><system-out>no GPU needed</system-out></testcase>
<testcase name="a" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>no PySCF</system-out></testcase>
<testcase name="gpu_tests_not_built" status="notrun"><skipped message=""/></testcase>
<testcase name="b" status="notrun"><skipped message=""/><system-out>no Python with PySCF</system-out></testcase>
<testcase name="c" status="notrun"><skipped message=""/><system-out>?</system-out></testcase>
<testcase name="d" status="notrun"><skipped message=""/><system-out>skipped: built without MPI</system-out></testcase>
</testsuite>'''

    def test_says_what_was_skipped(self):
        """./quickstart test ends with how many tests were skipped, why, and what makes them run; and its exit
        code is ctest's. With fakes for all programs, in a folder of its own."""
        for name in ("cmake", "tests/support", "bin", "build/bin"):
            os.makedirs(self.path(name))
        shutil.copy(self.script, self.path("quickstart"))
        shutil.copy(os.path.join(SOURCE, "cmake", "debian-packages.txt"), self.path("cmake"))
        shutil.copy(os.path.join(SOURCE, "tests", "support", "skipped.py"), self.path("tests/support"))
        fakes = {"dpkg-query": "echo installed", "cmake": "exit 0", "ctest":
                 'while [ "$1" != --output-junit ]; do shift; done; echo tests ran; '
                 f"printf '%s' '{self.XML}' >\"$2\"; exit $FAKE_CODE"}
        for name, body in fakes.items():
            with open(self.path("bin/" + name), "w") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(self.path("bin/" + name), 0o755)
        for code in (0, 8):
            result = run("test", program=self.path("quickstart"), environment={
                "PATH": self.path("bin") + ":" + os.environ["PATH"], "FAKE_CODE": str(code)})
            self.assertEqual((result.code, result.err), (code, ""), str(result))
            end = result.out.split("tests ran\n")[1]
            self.assertRegex(end, r"(?s)\A\n5 tests were skipped:\n  2: no Python with PySCF \(a, b\)\n     to run: [^\n]*"
                                  r"datasets/verify.py[^\n]*\n  1: no NVIDIA GPU[^\n]* \(gpu_tests_not_built\)\n     to run: FMO_REQUIRE_GPU=1 "
                                  r"[^\n]*\n  1: for a reason of their own \(c\)\n     to run: ctest [^\n]*\n  1: no MPI[^\n]* \(d\)\n     to run: "
                                  r"\./quickstart packages mpi && \./quickstart test\n\Z")

    def test_says_that_there_is_no_mpi(self):
        """`run` builds without MPI where its packages are missing, and says how to get it; with fakes."""
        for name in ("cmake", "bin", "build/bin"):
            os.makedirs(self.path(name))
        shutil.copy(self.script, self.path("quickstart"))
        shutil.copy(os.path.join(SOURCE, "cmake", "debian-packages.txt"), self.path("cmake"))
        fakes = {"bin/dpkg-query": "echo installed", "bin/cmake": 'echo "-- $FAKE_MPI"',
                 "build/bin/fmo-driver": "echo done"}
        for name, body in fakes.items():
            with open(self.path(name), "w") as file:
                file.write(f"#!/bin/sh\n{body}\n")
            os.chmod(self.path(name), 0o755)
        with open(os.path.join(SOURCE, "cmake", "FmoDependencies.cmake")) as file:
            status = re.search(r'message\(STATUS "(MPI not found[^"]*)"', file.read()).group(1)
        for found, expected in ((status, True), ("Found MPI", False)):
            result = run("run", program=self.path("quickstart"), environment={
                "PATH": self.path("bin") + ":" + os.environ["PATH"], "FAKE_MPI": found})
            self.assertEqual((result.code, result.err), (0, ""), str(result))
            self.assertEqual("./quickstart packages mpi && ./quickstart run" in result.out, expected, result.out)

    def test_package_list(self):
        result = run("packages", "everything", program=self.script)
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, "unknown group 'everything'")


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
