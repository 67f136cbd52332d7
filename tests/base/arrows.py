"""Include directives follow the tables of docs/explanation/design.md with a column "may include".

    arrows.py                checks every include directive
    arrows.py --print        lists what every folder includes, for changes of the tables
    arrows.py --self-test    checks that wrong includes are found

A row is a folder; its last cell names, in backticks, the folders that its files may include from, or
single headers. A subfolder with a row of its own may also include what the row of its folder allows, and
headers beside it (accumulate/fock.h); a .c file beside subfolders (driver/main.c) may include what is in
them. Folders must not form cycles; the page gives reasons for single headers that do. What is allowed and
not used is an error, too. Python 3.9 or newer and nothing else.
"""
import pathlib
import posixpath
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/explanation/design.md"
FOLDERS = ("base", "integrals", "accumulate", "io", "driver")
ENDINGS = (".c", ".h", ".inc", ".cu", ".cuh")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"\n]+)"|<fmo/([^>\n]+)>)', re.M)


def read_tables(root):
    """{folder: what it may include}, in the order of the page."""
    allowed, prefix = {}, None
    for line in (root / PAGE).read_text(encoding="utf-8").split("\n"):
        cells = [c.strip() for c in line.strip("|").split("|")] if line.startswith("|") else []
        if cells and cells[-1].startswith("may include"):
            named = re.search(r"`([\w/]+)`", cells[0])
            prefix = named[1].rstrip("/") + "/" if named else ""
        elif not cells:
            prefix = None
        elif prefix is not None and (name := re.match(r"`([\w./]+)`", cells[0])):
            folder = prefix + name[1].rstrip("/")
            if folder.split("/")[0] not in FOLDERS or "." in folder:
                continue
            folders = []
            for word in re.findall(r"`([\w./]+)`", cells[-1]):
                inner = prefix + word.rstrip("/")
                folders.append(inner if prefix and (root / inner).exists() else word.rstrip("/"))
            allowed[folder] = set(folders)
    return allowed


def headers(root):
    """{name in <fmo/name>: path}, from the lists of public headers."""
    found = {}
    for path in sorted(root.rglob("CMakeLists.txt")):
        folder = path.parent.relative_to(root).as_posix()
        if folder.split("/")[0] in FOLDERS:
            text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
            for names in re.findall(r"fmo_public_headers\(([^)]*)\)", text):
                for name in re.findall(r"[\w./]+\.(?:h|cuh)\b", names):
                    found[name.split("/")[-1]] = f"{folder}/{name}"
    return found


def folder_of(path, allowed):
    """The folder with a row that a file belongs to: the longest."""
    parts = path.split("/")[:-1]
    while parts and "/".join(parts) not in allowed:
        parts.pop()
    return "/".join(parts)


def arrows(root, allowed):
    """(file, line number, path that it includes) of includes that leave a file's folder."""
    public = headers(root)
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in ENDINGS:
                continue
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            for found in INCLUDE.finditer(text):
                target = posixpath.normpath(found[1] or public.get(found[2], ""))
                if target.split("/")[0] in FOLDERS and folder_of(target, allowed) != folder_of(name, allowed):
                    yield name, text.count("\n", 0, found.start()) + 1, target


def covers(entry, target, allowed):
    """True if an entry of a cell allows a file. A folder includes its subfolders."""
    folder = folder_of(target, allowed)
    return entry == target or entry == folder or folder.startswith(entry + "/")


def cycles(allowed):
    """Folders that can reach themselves."""
    def reach(start):
        seen, todo = set(), [start]
        while todo:
            for entry in allowed.get(todo.pop(), ()):
                for inner in allowed:
                    if (inner == entry or inner.startswith(entry + "/")) and inner not in seen:
                        seen.add(inner)
                        todo.append(inner)
        return seen
    return [folder for folder in allowed if folder in reach(folder)]


def check(root):
    """Messages."""
    allowed = read_tables(root)
    messages, used = [], set()
    for name, number, target in arrows(root, allowed):
        folder = folder_of(name, allowed)
        outer = folder.split("/")[0]
        entries = [(r, e) for r in (folder, outer) for e in allowed.get(r, ())
                   if covers(e, target, allowed)]
        used.update(entries)
        below = folder == outer and name.endswith(".c") and target.startswith(outer + "/")
        if not entries and not below and folder_of(target, allowed) != outer:
            messages.append(f"{name}:{number}: {folder or name} may not include {target} ({PAGE})")
    for folder, entries in allowed.items():
        messages += [f"{PAGE}: {folder} may include {e}, and does not" for e in sorted(entries)
                     if (folder, e) not in used]
    return messages + [f"{PAGE}: a cycle of folders through {f}" for f in cycles(allowed)]


PLANTED = {
    PAGE: "| folder | job | may include |\n|---|---|---|\n| `integrals/` | x | nothing |\n"
          "| `io/` | `x` | `integrals`, `io/b/odd.h` |\n| `accumulate/` | x | `integrals` |\n\n| folder of `accumulate/` | job | may include |\n"
          "|---|---|---|\n| `plan/` | x | `cpu`, `work` |\n| `cpu/` | x | `plan` |\n"
          "| `work/` | x | nothing |\n\n`accumulate/work` | `plan` |\n",
    "integrals/CMakeLists.txt": "fmo_public_headers(basis.h) # fmo_public_headers(no.h)\n",
    "integrals/basis.h": '#include "accumulate/plan/plan.h"\n',
    "integrals/new/one.c": "#include <fmo/basis.h>\n",
    "io/a.c": '#include "integrals/basis.h"\n#include <fmo/basis.h>\n#include <fmo/version.h>\n'
              '#include <stdio.h>\n  #  include "accumulate/work/w.h"\n',
    "accumulate/fock.h": "", "io/b/b.h": '#include "io/b/../../accumulate/work/w.h"\n',
    "accumulate/main.c": '#include "accumulate/cpu/c.h"\n',
    "accumulate/plan/p.c": '#include <fmo/basis.h>\n#include "accumulate/cpu/c.h"\n'
                           '#include "accumulate/fock.h"\n',
    "accumulate/cpu/c.h": '#include "accumulate/plan/plan.h"\n',
    "accumulate/work/w.h": '#include "accumulate/cpu/c.h"\n',
}
FOUND = ["io/b/b.h:1: io may not include accumulate/work/w.h",
         "accumulate/work/w.h:1: accumulate/work may not include accumulate/cpu/c.h",
         "integrals/basis.h:1: integrals may not include accumulate/plan/plan.h",
         "io/a.c:5: io may not include accumulate/work/w.h",
         f"{PAGE}: io may include io/b/odd.h, and does not",
         f"{PAGE}: accumulate/plan may include accumulate/work, and does not",
         f"{PAGE}: a cycle of folders through accumulate/plan",
         f"{PAGE}: a cycle of folders through accumulate/cpu"]


def self_test():
    """Exactly the mistakes that were added are found."""
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for folder in FOLDERS:
            (root / folder).mkdir()
        for folder in ("plan", "cpu", "work"):
            (root / "accumulate" / folder).mkdir()
        for name, text in PLANTED.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        found = [m.replace(f" ({PAGE})", "") for m in check(root)]
    for message in sorted(set(found) ^ set(FOUND)):
        print(("not found: " if message in FOUND else "found: ") + message)
    return sorted(found) == sorted(FOUND)


def main():
    """Exit code 1 if anything was found."""
    if sys.argv[1:] == ["--self-test"]:
        return 0 if self_test() else 1
    if sys.argv[1:] == ["--print"]:
        allowed = read_tables(ROOT)
        seen = {}
        for name, _, target in arrows(ROOT, allowed):
            included = seen.setdefault(folder_of(name, allowed), {})
            included.setdefault(folder_of(target, allowed), set()).add(target.split("/")[-1])
        for folder in sorted(seen):
            for other in sorted(seen[folder]):
                print(f"{folder} -> {other}: {' '.join(sorted(seen[folder][other]))}")
        return 0
    messages = check(ROOT)
    for message in messages:
        print(message)
    print(f"{len(messages)} findings")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
