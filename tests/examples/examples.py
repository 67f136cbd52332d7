"""The examples in docs/examples are those that the documents show, and print what they say.

    examples.py NAME [PROGRAM]     one example; without a program it was not built: skipped (77)
    examples.py NAME... --all      these are all the examples there are, in both places
"""

import glob
import os
import re
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NO_DEVICE = 4  # fmo_status_exit_code(FMO_ERR_NO_DEVICE)
SCF_LINES = 60


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def shown():
    """Code blocks of the documents by example, and lines of output by command."""
    pages = glob.glob(os.path.join(SOURCE, "docs", "*", "*.md"))
    text = "\n".join(read(page) for page in sorted(pages))
    code = dict(re.findall(r"\[[\w/]+\.c\]\(\.\./examples/(\w+)\.c\)(?:(?!```).)*```c\n(.*?)```", text, re.S))
    output = dict(re.findall(r"^\$ (\w+ .*)\n((?:[^$`\n].*\n)+)", text, re.M))
    return code, output


def check(condition, *message):
    if not condition:
        print(*message, file=sys.stderr)
        sys.exit(1)


def skip(why):
    print("skipped:", why)
    sys.exit(1 if os.environ.get("FMO_REQUIRE_GPU", "0") not in ("", "0") else 77)


def main():
    arguments = sys.argv[1:]
    code, output = shown()
    if arguments[-1] == "--all":
        names = sorted(arguments[:-1])
        files = sorted(name[:-2] for name in os.listdir(os.path.join(SOURCE, "docs", "examples")))
        check(names == files == sorted(code), "tested:", names, "files:", files, "shown:", sorted(code))
        return
    name = arguments[0]
    check(name in code, f"no document shows examples/{name}.c")
    check(code[name] == read("docs", "examples", name + ".c"),
          f"a document shows another {name}.c than docs/examples has")
    if name == "scf":
        count = code[name].count("\n")
        check(count <= SCF_LINES, f"an SCF in {SCF_LINES} lines has {count}")
    commands = [command for command in output if command.split()[0] == name]
    check(commands, f"no document runs {name}")
    if len(arguments) < 2:
        skip("built without CUDA")
    for command in commands:
        done = subprocess.run([arguments[1], *command.split()[1:]], cwd=SOURCE, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode == NO_DEVICE and name == "device_pointers":
            skip(done.stderr.strip())
        check(done.returncode == 0, f"{command}: exit {done.returncode}: {done.stderr}")
        check(done.stdout == output[command], f"{command} prints\n{done.stdout}expected\n{output[command]}")
    # a file that is not there: one line on stderr, the exit code of unusable input
    done = subprocess.run([arguments[1], "/nowhere.h5"], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(done.returncode == 3 and done.stderr.count("\n") == 1 and "/nowhere.h5" in done.stderr,
          f"{name} /nowhere.h5: exit {done.returncode}: {done.stderr}")


main()
