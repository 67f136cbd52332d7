"""Kinds of shells, pairs and classes are listed in integrals/shells.h only.

    tables.py                    no other file repeats one, or a consequence of one
    tables.py --compiler CC      once the next kind of shell has its rows, the compiler reports the missing
                                 definitions of MISSING_ROWS in these files, and no others

See docs/how-to/add-a-shell.md.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLES = "integrals/shells.h"
FOLDERS = ("base", "integrals", "accumulate", "io", "driver")
ENDINGS = (".c", ".h", ".inc", ".cu", ".cuh", ".py", ".cmake")

# The formulas of a class or a pair, which a new one must provide.
ARITHMETIC = re.compile(r"integrals/(eri/eri_([a-z]{4}|sp)|far/far_[a-z]{2}|pairs/prim_bound)\.h")

def read_tables(root):
    """Letters of the shells, names of pairs and classes."""
    text = (root / TABLES).read_text()
    table = re.search(r"#define FMO_SHELL_TABLE\(X\)((?:.*\\\n)*.*)\n", text).group(1)
    letters = re.findall(r"X\((\w), (\w),", table)
    pairs = re.findall(r"#define FMO_PAIR_ROW_\w+ (\w+), (\w+),", text)
    classes = [(b + k, c + d) for i, (b, c) in enumerate(pairs) for k, d in pairs[: i + 1]]
    return [lower for _, lower in letters], pairs, classes


def patterns(root):
    """(description, regular expression) of everything that follows from the tables."""
    _, pairs, classes = read_tables(root)
    upper = "|".join(c for c, _ in classes)
    lower = "|".join(c for _, c in classes)
    pair = "|".join(p for p, _ in pairs)
    # an angular momentum: l, li, l0, ang_mom, shell->ang_mom, l[row] ...
    l = r"(?:\b(?:\w+(?:->|\.))?(?:\w*ang_mom|l[0-3ijkl]?|L[IJKL])\b(?:\[\w+\])?)"
    return (
        ("a class", rf"FMO_ERI_(?:{upper})\b"),
        ("a class", rf"(?<![A-Za-z0-9])(?:{lower})(?![A-Za-z0-9])"),
        ("a pair", rf"FMO_PAIR_(?:{pair})\b"),
        ("a kind of shell", r"FMO_SHELL_[A-Z]\b"),
        ("a limit of angular momenta", rf"{l}\s*(?:<=|>|==|!=)\s*1\b|{l}\s*(?:<|>=|==|!=)\s*2\b"),
        ("functions of a shell", rf"\b2\s*\*\s*(?:\(\w+\))?(?:[\w\[\]]+(?:->|\.))*{l}"),
        ("functions of a shell", r"\?\s*(?:3\s*:\s*1|1\s*:\s*3)\b"),
        ("letters of shells", r'"sp"\s*\['),
    )


def without_comments(text, ending):
    """The text with comments blanked, so that lines keep their numbers."""
    if ending in (".py", ".cmake"):
        return re.sub(r"#[^\n]*", "", text)
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0)) if m.group(0)[0] == "/" else m.group(0)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def offenders(root):
    """[(path, line number, what, line)] of the files below root."""
    found = []
    rules = [(what, re.compile(rule)) for what, rule in patterns(root)]
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in ENDINGS and path.name != "CMakeLists.txt":
                continue
            if name == TABLES or ARITHMETIC.fullmatch(name):
                continue
            ending = ".cmake" if path.name == "CMakeLists.txt" else path.suffix
            lines = without_comments(path.read_text(), ending).split("\n")
            for number, line in enumerate(lines, 1):
                if line.lstrip().startswith("#include"):
                    continue
                for what, rule in rules:
                    if rule.search(line):
                        found.append((name, number, what, line.strip()))
                        break
    return found


def check_self():
    """Violations that were added are found in code, not in comments; correct lines are not reported."""
    guilty = ("return FMO_ERI_PSPS;", "enum { N = eri_pppp_acc };", 'name = "ppss";',
              "if (c == FMO_PAIR_PP) n++;", "if (shell->ang_mom <= 1) n++;", "if (l == 1) n++;",
              "if (l > 1 && l < 8) n++;", "n = 2 * l + 1;", "n = 2 * b->shell[s].ang_mom + 1;",
              "n = 2 * (size_t)li + 1;", "n = l ? 3 : 1;", "c = FMO_SHELL_P;", "for (l = 0; l < 2; l++)",
              'putchar("sp"[l]);', "/* two */ n = (2 * l[row] + 1);")
    innocent = ("/* FMO_ERI_PSPS */", "/* 2 * l + 1", "and */", "n = 2 * lanes + 1;", "l < 4;",
                '#include "integrals/eri/eri_pppp.h"', "n = fmo_shell_functions(l);",
                "n = FMO_PAIR_NONE;", "stops = oops;", "l = 0;", "if (li == lj) n++;")
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / "integrals").mkdir()
        shutil.copy(ROOT / TABLES, root / TABLES)
        (root / "integrals/planted.c").write_text("\n".join(guilty + innocent) + "\n")
        lines = [number for _, number, _, _ in offenders(root)]
    wrong = sorted(set(lines) ^ set(range(1, len(guilty) + 1)))
    for number in wrong:
        print("self-test: misjudged:", (guilty + innocent)[number - 1])
    return not wrong


def check_files():
    found = offenders(ROOT)
    for name, number, what, line in found:
        print(f"{name}:{number}: {what}, which stands in {TABLES}: {line}")
    return not found


def add_next_shell(root):
    """Rows for the next kind of shell and its pairs, as docs/how-to/add-a-shell.md has them."""
    letters, pairs, _ = read_tables(root)
    l = len(letters)
    new = "spdfghi"[l]
    path = root / TABLES
    text = path.read_text()

    def after(mark, addition):
        nonlocal text
        assert text.count(mark) == 1, mark
        text = text.replace(mark, mark + addition)

    row = re.search(r"#define FMO_SHELL_TABLE\(X\).*?\n\n", text, re.S).group(0).rstrip("\n")
    after(row, f" \\\n    X({new.upper()}, {new}, {l}, {(l + 1) * (l + 2) // 2}, {2 * l + 1})")
    last = pairs[-1][0]
    added = []
    for k, other in enumerate(letters + [new]):
        name = (new + other).upper()
        added.append(name)
        row = re.search(rf"#define FMO_PAIR_ROW_{last} .*", text).group(0)
        after(row, f"\n#define FMO_PAIR_ROW_{name} {name}, {name.lower()}, {l}, {k}, NONE")
        kets = re.search(rf"#define FMO_PAIR_KETS_{last}\(.*?FMO_PAIR_ROW_{last}\)", text, re.S)
        after(kets.group(0), f"\n#define FMO_PAIR_KETS_{name}(X, ...) FMO_PAIR_KETS_{last}(X, "
                             f"__VA_ARGS__) FMO_ERI_ROW(X, __VA_ARGS__, FMO_PAIR_ROW_{name})")
        after(f"    FMO_PAIR_ROW(X, FMO_PAIR_ROW_{last})",
              f" \\\n    FMO_PAIR_ROW(X, FMO_PAIR_ROW_{name})")
        after(f"    FMO_PAIR_KETS_{last}(X, FMO_PAIR_ROW_{last})",
              f" \\\n    FMO_PAIR_KETS_{name}(X, FMO_PAIR_ROW_{name})")
        last = name
    path.write_text(text)
    return new, added


# Files that rows alone change, and the static assertions that may stop each of them. Nothing else
# may: the arithmetic of new classes and pairs follows from the rule.
POWERS = ("FMO_SHELL_REST counts to g shells",)
BOYS = POWERS + ("a row for the highest order of a class",)
RECURSION = BOYS + ("eri_any.h: places in a byte",)
HERMITE = POWERS + ("fmo_hermite_term lacks orders", "fmo_hermite_pairs lacks orders",
                    "FMO_CHARGE_SUMS_BEGIN lacks orders")
MISSING_ROWS = {
    "integrals/eri/eri.c": RECURSION,
    "integrals/boys/boys.c": BOYS,
    "integrals/basis.c": POWERS,
    "integrals/translate.c": POWERS + ("between Cartesian and spherical",),
    "integrals/pairs/shell_pair.c": RECURSION,
    "integrals/one_electron/centres.c": POWERS,
    "integrals/one_electron/one_electron.c": HERMITE,
    "integrals/one_electron/charge_sums.c": HERMITE + BOYS[1:],
    "integrals/one_electron/charge_forces.c": HERMITE + RECURSION[1:],
    "integrals/one_electron/gradient.c": HERMITE,
    "integrals/far/far.h": BOYS,
    "accumulate/cpu/reference.c": RECURSION,
    "accumulate/cpu/pairs.c": RECURSION,
    "accumulate/cpu/split_digest.c": RECURSION,
    "accumulate/cpu/kernel.c": RECURSION,
    "driver/fmo/hybrid.c": POWERS + ("between Cartesian and spherical",),
    "tests/integrals/md.c": RECURSION,
}


def check_compiler(compiler):
    """With one more kind of shell the compiler must ask for the listed parts only."""
    good = True
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        for folder in FOLDERS + ("tests",):
            shutil.copytree(ROOT / folder, root / folder,
                            ignore=shutil.ignore_patterns("data", "fuzz", "build"))
        (root / "include/fmo").mkdir(parents=True)
        for header in (h for depth in ("*.h", "*/*.h") for folder in FOLDERS for h in (root / folder).glob(depth)):
            target = root / "include/fmo" / header.name
            if not target.exists():
                target.symlink_to(header)
        for inc in ("boys_table.inc", "boys_lanes.inc"):
            (root / "include" / inc).write_text("0")
        new, added = add_next_shell(root)
        letters = "spdfghi"
        letters = letters[: letters.index(new) + 1]
        of_class = re.compile(rf"eri_((?=[{letters}]*{new})[{letters}]{{4}})_")
        of_pair = re.compile(rf"fmo_(?:prim_bound|far)_((?=[{letters}]?{new})[{letters}]{{2}})"
                             "(?![a-z])")
        for name, texts in MISSING_ROWS.items():
            command = [compiler, "-std=gnu11", "-fsyntax-only", "-fopenmp", "-fmax-errors=0",
                       "-Werror=implicit-function-declaration", "-DFMO_SIMD_WIDTH=2",
                       "-DFMO_VECTOR_NAME=\"x\"", "-DFMO_CPU_KERNELS=x", "-DFMO_CPU_DIGESTS=y",
                       "-DFMO_CHARGE_KERNELS=z",
                       f"-I{root}", f"-I{root}/include", "-x", "c", str(root / name)]
            if not name.startswith("accumulate") or name.endswith("reference.c"):
                command.remove("-DFMO_SIMD_WIDTH=2")
            result = subprocess.run(command, capture_output=True, text=True)
            errors = [line for line in result.stderr.split("\n") if "error:" in line]
            requested = set()
            for line in errors:
                message = line.split("error:", 1)[1]
                names = of_class.findall(message) + of_pair.findall(message)
                requested.update(names)
                if not names and not any(text in message for text in texts):
                    print(f"{name}: with {new} shells the compiler asks for more than "
                          f"arithmetic: {line}")
                    good = False
            for text in texts:
                if not any(text in line for line in errors):
                    print(f"{name}: no longer refused with: {text}")
                    good = False
            print(f"{name}: {len(errors)} errors")
            if requested:
                print(f"{name}: not by the rule (integrals/eri/eri_md.h): {' '.join(sorted(requested))}")
                good = False
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--compiler", help="check what this C compiler asks for with one more row")
    options = parser.parse_args()
    good = check_self() and check_files()
    if options.compiler:
        good = check_compiler(options.compiler) and good
    print("passed" if good else "failed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
