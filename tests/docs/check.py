"""Checks of documents beyond those of the site's build (docs/site): widths of lines, paths, and a table.

    check.py [FILE.md ...]      all documents of the repository if none is named
    check.py --rewrap FILE.md...   paragraphs with a line that is too long, in new lines

Of every .md file: lines of at most 120 characters (tables, code fences and what a link or an address
adds are excepted), and every path in backticks that begins with a folder of the repository exists.
Then docs/results/index.py --check, and whether the table of strategies in docs/reference/atomics.md has
the element strategies of accumulate/scatter/scatter.h, whether rows of the tables of tuning constants
name raw files, and whether the sections of pages that comments name exist (docs/.../page.md, "Section").
Links are checked by the target docs-site.
Python 3.9 or newer and nothing else; messages name file and line.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH = 120
FOLDERS = "integrals|accumulate|io|driver|tests|docs|datasets|cmake"
SKIPPED = re.compile(r"^(\.git|\.venv.*|build.*|made|__pycache__|.*\.egg-info)$")
RAW = re.compile(r"^(docs/results/\d{4}-.*|docs/log/raw-results\.md)$")  # raw files, and the index of them
MADE = re.compile(r"^(datasets/(made|\.venv)|driver/python/build|docs/html)\b")  # where they are made
EXAMPLES = re.compile(r"/(eri_dsss\.h|scatter_pair2\.cuh)$")  # that readers are told to make

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


def braces(path):
    """a/{b,c}.h as a/b.h and a/c.h."""
    inner = re.search(r"\{([^{}]*)\}", path)
    if not inner:
        return [path]
    return [p for part in inner[1].split(",")
            for p in braces(path[:inner.start()] + part + path[inner.end():])]


def exists(path):
    """True for a file, a folder, or a pattern that matches one; <name> and NAME match anything."""
    pattern = re.sub(r"<\w+>|NAME", "*", path)
    return all(glob.glob(os.path.join(ROOT, p.rstrip("/"))) for p in braces(pattern))


def too_long(line):
    """True if a line is too long even without what its links and addresses add."""
    bare = re.sub(r"https?://[^\s)>]+", "", re.sub(r"\]\([^)]*\)", "]", line))
    return len(bare) > WIDTH and not line.lstrip().startswith("|")


ATOM = re.compile(r"(`+)(?:(?!\1).)+?\1|\$[^$]+\$|!?\[(?:[^\[\]]|\[[^\]]*\])*\]\([^)]*\)")
ITEM = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+")
NOT_FIRST = re.compile(r"[-+*=>#|]|\d+[.)]|#+|=+|-+")  # words with a meaning at the beginning of a line


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


def check_paths(line):
    """Messages about the paths in backticks of a line."""
    for _, code in CODE.findall(line):
        for word in code.split():
            word = word.rstrip(".,:;")
            if REPOSITORY_PATH.match(word) and not exists(word) and not (
                    MADE.match(word) or EXAMPLES.search(word)):
                yield f"`{word}`: no such file"


def check(path):
    """Messages about a document."""
    for number, line, fenced in read(path):
        messages = []
        if not fenced:
            if too_long(line):
                messages.append(f"{len(line)} characters, at most {WIDTH}")
            messages += check_paths(line)
        for message in messages:
            yield f"{path}:{number}: {message}"


SCATTER = "accumulate/scatter/scatter.h"
STRATEGIES = "docs/reference/atomics.md"
ROW = re.compile(r'\bX\(\w+, \w+, "([\w-]+)", FMO_SCATTER_ELEMENT')


def check_strategies():
    """Messages if the table of strategies is not that of scatter.h, but for `auto` and the like."""
    with open(os.path.join(ROOT, SCATTER), encoding="utf-8") as file:
        expected = ROW.findall(file.read())
    lines = [line for _, line, fenced in read(STRATEGIES) if not fenced]
    begin = next((n for n, line in enumerate(lines) if line.startswith("| `--scatter` |")), None)
    found = []
    for line in lines[begin + 2:] if begin is not None else ():
        if not line.startswith("|"):
            break
        found.append(line.split("|")[1].strip().strip("`"))
    for name in sorted(set(expected) ^ set(found)):
        yield f"{STRATEGIES}: table of strategies: " + (
            f"`{name}` is missing" if name in expected else f"no strategy `{name}` in {SCATTER}")


TUNING = ("accumulate/tuning.h", "integrals/tuning.h", "driver/base/tuning.h",
          "driver/scf/tuning.h")
TUNED = re.compile(r'\bX\((\w+),[^,"]+,\s*((?:"[^"]*"\s*)+),\s*"([^"]*)"\)')


def check_tuning():
    """Messages if a row of a table of tuning constants names neither a raw file nor "not measured"."""
    for path in TUNING:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read().replace("\\\n", " ")
        rows = TUNED.findall(text)
        written = len(re.findall(r"\bX\(\w+, *[^,\s)]", text)) - text.count("X(name, value")
        if not rows or len(rows) != written:
            yield f"{path}: {len(rows)} of {written} rows are X(name, value, description, raw results)"
        for name, _, source in rows:
            if source != "not measured" and not os.path.isfile(
                    os.path.join(ROOT, source.split(" ")[0])):
                yield f"{path}: {name}: neither a raw file nor \"not measured\": {source}"


SECTION = re.compile(r'\b(docs/[\w/-]+\.md), "([^"]+)"')
TITLE = re.compile(r"^(?:#+ (.*)|\*\*(.*?)\.?\*\*.*)$", re.MULTILINE)


def titles(path):
    """Headings of a page, and the bold words that begin a paragraph; empty without that page."""
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return {(one or other).replace("$", "") for one, other in TITLE.findall(file.read())}
    except OSError:
        return set()


def check_sections():
    """Messages about comments of the sources that name a section which its page does not have."""
    for folder in FOLDERS.split("|"):
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*"), recursive=True):
            if re.search(r"\.(c|h|cu|cuh|inc)$", path):
                with open(path, encoding="utf-8") as file:
                    text = re.sub(r"\n\s*\* ?", " ", file.read())  # comments in one line
                for page, section in SECTION.findall(text):
                    if section not in titles(page):
                        yield f'{os.path.relpath(path, ROOT)}: {page} has no section "{section}"'


def main():
    """Exit code 1 if anything was found."""
    if sys.argv[1:2] == ["--rewrap"]:
        for path in sys.argv[2:]:
            rewrap(os.path.relpath(os.path.abspath(path), ROOT))
        return 0
    chosen = [os.path.relpath(os.path.abspath(f), ROOT) for f in sys.argv[1:]]
    found, files = [], 0
    for path in chosen or documents():
        if not RAW.match(path):
            files += 1
            found += check(path)
    if not chosen:
        found += check_strategies()
        found += check_tuning()
        found += check_sections()
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
