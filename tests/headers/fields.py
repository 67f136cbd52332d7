"""Every field of every public struct is in tests/headers/fields_table.h, from which tests/headers/fields.c works.

    fields.py PROGRAM HEADER...
"""

import re
import subprocess
import sys


def declared(path):
    """(struct, field) of a header."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", file.read(), flags=re.S)
    for name, body in re.findall(r"^(?:typedef )?struct (\w+) \{(.*?)^\}", text, flags=re.S | re.M):
        for declaration in body.split(";"):
            pointer = re.search(r"\(\*(\w+)\)", declaration)
            plain = re.findall(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?=,|$)", declaration.strip())
            for field in [pointer.group(1)] if pointer else plain:
                yield name, field


def main(program, *headers):
    expected = {pair for header in headers for pair in declared(header)}
    listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    rows = [tuple(line.split()) for line in listed.splitlines() if line]
    tried = {row for row in rows if len(row) == 2}
    not_read = {row[0] for row in rows if len(row) == 1}
    expected = {pair for pair in expected if pair[0] not in not_read}
    for what, pairs in (("not in tests/headers/fields_table.h", expected - tried), ("in no public header", tried - expected)):
        for struct, field in sorted(pairs):
            print(f"{struct}: {field}: {what}")
    print(f"{len(expected)} fields of {len({name for name, _ in expected})} structs")
    return expected != tried or not expected


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
