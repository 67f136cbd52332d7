"""The documents hold together: lines that can be read, links and paths that lead somewhere.

    docs_check.py [FILE.md ...]      all documents of the repository if none is named
    docs_check.py --self-test        whether planted mistakes are found
    docs_check.py --rewrap FILE.md...   paragraphs with a line that is too long, in new lines

Of every .md file: lines of at most 120 characters (tables, code fences and what a link or an address
adds are excepted); relative links resolve, with their #anchors; and so does every path in backticks
that begins with a folder of the repository. Then docs/results/index.py --check; whether each row of
accumulate/tuning.h names a raw file that is there; whether the table of strategies in docs/reference/atomics.md
has the element strategies of accumulate/scatter/scatter.h; and whether each rung of docs/log/ladder.md has
a row in its table, with a raw file, and docs/explanation/performance.md their number. Python 3.9 or newer and
nothing else; messages name file and line.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WIDTH = 120
FOLDERS = "integrals|accumulate|io|driver|tests|docs|datasets|cmake"
SKIPPED = re.compile(r"^(\.git|\.venv.*|build.*|made|__pycache__|.*\.egg-info)$")
RAW = re.compile(r"^(docs/results/\d{4}-.*|docs/log/raw-results\.md)$")  # raw files, and the index of them
MADE = re.compile(r"^(datasets/(made|\.venv)|driver/python/build|docs/html)\b")  # where they are made
EXAMPLES = re.compile(r"/(eri_dsss\.h|scatter_pair2\.cuh)$")  # that readers are told to make

LINK = re.compile(r"\]\(<?([^()\s>]*(?:\([^()\s]*\)[^()\s]*)*)>?(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"(`+)(.+?)\1")
REPOSITORY_PATH = re.compile(r"^(?:%s)/[\w.*/<>{},-]+$" % FOLDERS)


def documents():
    """All .md files, by their paths within the repository."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not SKIPPED.match(f))
        for file in sorted(files):
            if file.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, file), ROOT)


def read(path):
    """Lines of a file: number, text, whether it stands in a code fence."""
    fence = None
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            mark = re.match(r"\s*(```+|~~~+)", line)
            if mark and fence is None:
                fence = mark[1]
                yield number, line, True
            elif mark and line.strip().startswith(fence):
                fence = None
                yield number, line, True
            else:
                yield number, line, fence is not None


def anchors(path):
    """The anchors that GitHub gives the headings of a document."""
    found = set()
    for _, line, fenced in read(path):
        heading = None if fenced else re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            text = re.sub(r"\]\([^)]*\)", "]", heading[1]).lower()
            slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
            name, number = slug, 0
            while name in found:
                number += 1
                name = f"{slug}-{number}"
            found.add(name)
        found.update(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", line))
    return found


def braces(path):
    """a/{b,c}.h as a/b.h and a/c.h."""
    inner = re.search(r"\{([^{}]*)\}", path)
    if not inner:
        return [path]
    return [p for part in inner[1].split(",")
            for p in braces(path[:inner.start()] + part + path[inner.end():])]


def exists(path):
    """True for a file, a folder, or a pattern that has one; <name> and NAME stand for anything."""
    pattern = re.sub(r"<\w+>|NAME", "*", path)
    return all(glob.glob(os.path.join(ROOT, p.rstrip("/"))) for p in braces(pattern))


def too_long(line):
    """True if a line is too long even without what its links and addresses add."""
    bare = re.sub(r"https?://[^\s)>]+", "", re.sub(r"\]\([^)]*\)", "]", line))
    return len(bare) > WIDTH and not line.lstrip().startswith("|")


ATOM = re.compile(r"(`+)(?:(?!\1).)+?\1|\$[^$]+\$|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)")
ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+")
NOT_FIRST = re.compile(r"[-+*=>#|]|\d+[.)]|#+|=+|-+")  # words that mean something in a line's beginning


def flow(text, first, rest, width=WIDTH - 4):
    """Lines of a paragraph: code, formulas and links in one piece."""
    words = ATOM.sub(lambda found: found[0].replace(" ", "\0"), text).split()
    lines = [first + words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) > width and not NOT_FIRST.fullmatch(word):
            lines.append(rest + word)
        else:
            lines[-1] += " " + word
    return [line.replace("\0", " ") for line in lines]


def rewrap(path):
    """Paragraphs and items of a list with a line that is too long get new lines; nothing else."""
    lines, block = [], []

    def end():
        if any(len(line) > WIDTH for line in block):
            item = ITEM.match(block[0])
            first = item[0] if item else re.match(r"\s*", block[0])[0]
            block[:] = flow(" ".join(block)[len(first):], first, " " * len(first))
        lines.extend(block)
        block.clear()

    for _, line, fenced in read(path):
        code = not block and line.startswith("    ") and not ITEM.match(line)
        if fenced or code or not line.strip() or re.match(r"\s*[|#<>]", line):
            end()
            lines.append(line)
        else:
            if ITEM.match(line):
                end()
            block.append(line)
    end()
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def check_links(path, line, known):
    """Messages about the links of a line."""
    for target in LINK.findall(line):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        whole = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
        if not os.path.exists(os.path.join(ROOT, whole)):
            yield f"link to {target}: no such file"
        elif anchor and whole.endswith(".md"):
            if whole not in known:
                known[whole] = anchors(whole)
            if anchor not in known[whole]:
                yield f"link to {target}: no such heading"


def check_paths(line):
    """Messages about the paths in backticks of a line."""
    for _, code in CODE.findall(line):
        for word in code.split():
            word = word.rstrip(".,:;")
            if REPOSITORY_PATH.match(word) and not exists(word) and not (
                    MADE.match(word) or EXAMPLES.search(word)):
                yield f"`{word}`: no such file"


def check(path, known):
    """Messages about a document."""
    for number, line, fenced in read(path):
        messages = []
        if not fenced:
            if too_long(line):
                messages.append(f"{len(line)} characters, at most {WIDTH}")
            messages += check_links(path, re.sub(CODE, "", line), known)
            messages += check_paths(line)
        for message in messages:
            yield f"{path}:{number}: {message}"


TUNING, SCATTER = "accumulate/tuning.h", "accumulate/scatter/scatter.h"
STRATEGIES = "docs/reference/atomics.md"
ROW = re.compile(r"\bX\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\")*)\)", re.S)


def rows(path):
    """Rows X(...) of a table in a C file: number of the line, parts; strings in one piece."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    for found in ROW.finditer(text):
        row = re.sub(r'"\s*\\?\s*"', "", found[1].replace("\\\n", " "))
        parts = [p.strip().strip('"') for p in re.findall(r'(?:"[^"]*"|[^,"])+', row)]
        yield text.count("\n", 0, found.start()) + 1, parts


def check_tuning():
    """Messages about rows of tuning.h without a source."""
    for number, parts in rows(TUNING):
        if len(parts) < 4 or parts[0] == "name":
            continue
        source = parts[3].split(" ")[0]
        if parts[3] != "not measured" and not (
                source.startswith("docs/results/") and os.path.isfile(os.path.join(ROOT, source))):
            yield f"{TUNING}:{number}: {parts[0]}: no such file: {parts[3]}"


def check_strategies():
    """Messages if the table of strategies is not that of scatter.h, but for `auto` and the like."""
    wanted = [parts[2] for _, parts in rows(SCATTER)
              if len(parts) > 3 and parts[3] == "FMO_SCATTER_ELEMENT"]
    lines = [line for _, line, fenced in read(STRATEGIES) if not fenced]
    begin = next((n for n, line in enumerate(lines) if line.startswith("| `--scatter` |")), None)
    found = []
    for line in lines[begin + 2:] if begin is not None else ():
        if not line.startswith("|"):
            break
        found.append(line.split("|")[1].strip().strip("`"))
    for name in sorted(set(wanted) ^ set(found)):
        yield f"{STRATEGIES}: table of strategies: " + (
            f"`{name}` is missing" if name in wanted else f"no strategy `{name}` in {SCATTER}")


LADDER, RUNGS_COUNTED = "docs/log/ladder.md", "docs/explanation/performance.md"


def check_ladder():
    """Messages about rungs without a row or a raw file, and about their number."""
    rows_of, rungs = {}, []
    for _, line, fenced in read(LADDER):
        row = re.match(r"\| \[(\d+)\]\(#rung-\d+\)", line)
        heading = re.match(r"### Rung (\d+)$", line)
        if row and not fenced:
            rows_of[row[1]] = line
        if heading and not fenced:
            rungs.append(heading[1])
    for rung in rungs:
        if "](../results/" not in rows_of.get(rung, ""):
            yield f"{LADDER}: rung {rung} has no " + ("raw file" if rung in rows_of else "row")
    for number, line, _ in read(RUNGS_COUNTED):
        counted = re.match(r"(\d+) steps, or \*rungs\*", line)
        if counted and int(counted[1]) != len(rungs):
            yield f"{RUNGS_COUNTED}:{number}: {counted[1]} rungs of {len(rungs)}"


PLANTED = """# A heading, `code` and (more)
[here](#a-heading-code-and-more) [there](b.md#two) [two again](b.md#two-1) `docs/b.md` `docs/<x>.md`
[nowhere](c.md)
[no heading](b.md#three)
`docs/c.md` `tests/{x,y}.c`
%s
[%s](https://example.org/%s)
| %s |
```
[not looked at](c.md) %s
```
""" % ((" ".join(["word"] * 25),) + ("x", "x" * 130) + ("cell " * 30, "word " * 30))
FOUND = ["3: link to c.md: no such file", "4: link to b.md#three: no such heading",
         "5: `docs/c.md`: no such file", "5: `tests/{x,y}.c`: no such file",
         "6: 124 characters, at most 120"]
RESULTS = "docs/results"
PLANTED_TUNING = f'''/* X(name, value, what it is, raw results) */
    X(a, 1, "what, (and) why", "{RESULTS}/a.txt 3") X(b, 1 << 2, "x, " \\
      "y", "not measured")
    X(c, 1, "z", "{RESULTS}/b.txt")
    X(d, 1, "z", "-")
'''
PLANTED_SCATTER = '''X(with, E, "auto", FMO_SCATTER_CHOICE, t)
X(with, E, "one", FMO_SCATTER_ELEMENT, t) X(with, E, "two", FMO_SCATTER_ELEMENT, t)
'''
PLANTED_ATOMICS = "| `--scatter` | who |\n|---|---|\n| `one` | x |\n| `three` | x |\n\n| `four` |\n"
FOUND_BESIDE = [f"{TUNING}:4: c: no such file: {RESULTS}/b.txt", f"{TUNING}:5: d: no such file: -",
                f"{STRATEGIES}: table of strategies: no strategy `three` in {SCATTER}",
                f"{STRATEGIES}: table of strategies: `two` is missing",
                f"{LADDER}: rung 2 has no raw file", f"{LADDER}: rung 3 has no row",
                f"{RUNGS_COUNTED}:1: 2 rungs of 3"]
PLANTED_LADDER = ("| [1](#rung-1) | x | [a](" "../results/a.txt) |\n| [2](#rung-2) | x | a |\n\n"
                  "### Rung 1\n### Rung 2\n### Rung 3\n")


def self_test():
    """Exit code 1 unless exactly the planted mistakes are found."""
    global ROOT
    with tempfile.TemporaryDirectory() as ROOT:
        for name, text in (("docs/a.md", PLANTED), (TUNING, PLANTED_TUNING),
                           ("docs/b.md", "## Two\n```\n## Three\n```\n## Two\n"),
                           (f"{RESULTS}/a.txt", ""), (SCATTER, PLANTED_SCATTER),
                           (STRATEGIES, PLANTED_ATOMICS), (LADDER, PLANTED_LADDER),
                           (RUNGS_COUNTED, "2 steps, or *rungs*\n")):
            os.makedirs(os.path.dirname(os.path.join(ROOT, name)), exist_ok=True)
            with open(os.path.join(ROOT, name), "w", encoding="utf-8") as file:
                file.write(text)
        found = [m for path in documents() for m in check(path, {})]
        found += [*check_tuning(), *check_strategies(), *check_ladder()]
    wanted = [f"docs/a.md:{line}" for line in FOUND] + FOUND_BESIDE
    for message in sorted(set(found) ^ set(wanted)):
        print(("not found: " if message in wanted else "found: ") + message)
    return 0 if found == wanted else 1


def main():
    """Exit code 1 if anything was found."""
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:2] == ["--rewrap"]:
        for path in sys.argv[2:]:
            rewrap(os.path.relpath(os.path.abspath(path), ROOT))
        return 0
    chosen = [os.path.relpath(os.path.abspath(f), ROOT) for f in sys.argv[1:]]
    known, found, files = {}, [], 0
    for path in chosen or documents():
        if not RAW.match(path):
            files += 1
            found += check(path, known)
    if not chosen:
        found += [*check_tuning(), *check_strategies(), *check_ladder()]
    for message in found:
        print(message)
    code = 0
    if not chosen:
        code = subprocess.run([sys.executable, os.path.join(ROOT, "docs", "results", "index.py"),
                               "--check"], check=False).returncode
    print(f"{files} documents, {len(found)} findings")
    return 1 if found or code else 0


if __name__ == "__main__":
    sys.exit(main())
