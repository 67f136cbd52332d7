"""Every pointer that a public function takes is tried as NULL by tests/headers/arguments.c.

    arguments.py PROGRAM HEADER...
"""

import re
import subprocess
import sys

# Details of errors, which every call may leave out; the text of fmo_error_set, which compilers check.
OPTIONAL = {"err", "errs", "format"}


def declared(path):
    """(function, argument) of the pointers of a header's functions."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for name, arguments in re.findall(r"FMO_API\b[^;{]*?\b(fmo_\w+)\s*\(([^;]*?)\)[^;()]*(?:__attribute__"
                                      r"[^;]*)?;", text, flags=re.S):
        for argument in arguments.split(","):
            if "*" in argument and (last := re.search(r"(\w+)\s*$", argument)):
                if last.group(1) not in OPTIONAL:
                    yield name, last.group(1)


def main(program, *headers):
    expected = {pair for header in headers for pair in declared(header)}
    listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    tried = {tuple(line.split()) for line in listed.splitlines() if line}
    for what, pairs in (("not tried as NULL in tests/headers/arguments.c", expected - tried),
                        ("tried, and in no public header", tried - expected)):
        for function, argument in sorted(pairs):
            print(f"{function}: {argument}: {what}")
    print(f"{len(expected)} arguments of {len({name for name, _ in expected})} functions")
    return 1 if expected != tried or len(expected) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
