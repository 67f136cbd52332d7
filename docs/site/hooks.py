"""What MkDocs does not do by itself: pages for files outside docs/, MathJax, the API pages.

A document may link to any file of the repository. Files outside docs/, and code within it, get pages
under source/: Markdown as it is, code highlighted, folders as lists; links are rewritten to them, so
that MkDocs checks all links. FMO_DOCS_API names the folder of Doxygen's pages, which become api/.
"""

import importlib.util
import os
import posixpath
import re

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"(\]\(<?)([^()\s>#]+(?:\([^()\s]*\)[^()\s>#]*)*)")
FENCE = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$|(?<!`)(`+)(?!`).+?(?<!`)\2(?!`)", re.M | re.S)
LEXERS = {".c": "c", ".h": "c", ".cu": "cuda", ".cuh": "cuda", ".py": "python", ".sh": "sh", ".json": "json",
          ".cmake": "cmake", "CMakeLists.txt": "cmake", ".yml": "yaml"}
MATHJAX = re.compile(r"tex-chtml-full\.js$|output/chtml/fonts/woff-v2/.*\.woff$")
LARGEST_PAGE = 200_000  # characters; larger files, and what is no text, are copied


def in_docs(path):
    """The path within docs/ of a file that MkDocs takes as it is, or None."""
    code = os.path.splitext(path)[1] in LEXERS and not path.startswith("docs/results/2")
    return path[5:] if path.startswith("docs/") and not code and not os.path.isdir(os.path.join(ROOT, path)) else None


def place(path):
    """Where the site has a path of the repository: of a folder, where it has its README or list."""
    whole = os.path.join(ROOT, path)
    if os.path.isdir(whole):
        readme = posixpath.join(path, "README.md")
        return place(readme) if os.path.isfile(os.path.join(ROOT, readme)) else f"source/{path}/folder.md"
    if in_docs(path):
        return in_docs(path)
    return f"source/{path}" + ("" if path.endswith(".md") or text_of(path) is None else ".md")


def text_of(path):
    """The text of a file that can have a page, or None."""
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read(LARGEST_PAGE + 1)
    except UnicodeDecodeError:
        return None
    return text if len(text) <= LARGEST_PAGE else None


def origin(src_uri):
    """The path in the repository of a page with links, or None."""
    if not src_uri.startswith("source/"):
        return "docs/" + src_uri
    path = src_uri.removeprefix("source/")
    return path if os.path.isfile(os.path.join(ROOT, path)) else None


def targets(text, path):
    """The paths in the repository that a document links to, as found by LINK outside of code."""
    for _, target in LINK.findall(FENCE.sub("", text)):
        if not re.match(r"[a-z]+:", target):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def page_text(path):
    """Markdown of the page for a path outside docs/, or None if it is to be copied."""
    whole = os.path.join(ROOT, path)
    hidden = "---\nsearch: {exclude: true}\nhide: [navigation, toc]\n---\n\n"
    if os.path.isdir(whole):
        names = sorted(n + "/" * os.path.isdir(os.path.join(whole, n)) for n in os.listdir(whole) if n[0] != ".")
        return f"{hidden}# {path}/\n\n" + "".join(f"- `{name}`\n" for name in names)
    text = text_of(path)
    if text is None or path.endswith(".md"):
        return text
    name = os.path.basename(path)
    lexer = LEXERS.get(name) or LEXERS.get(os.path.splitext(name)[1], "text")
    return f"{hidden}# {path}\n\n~~~~~~{lexer}\n{text.rstrip()}\n~~~~~~\n"


def add_sources(files, config):
    """Pages for all that documents, and the Markdown files among these pages, link to."""
    waiting = ["CHANGELOG.md"]
    for file in files.documentation_pages():
        waiting += targets(file.content_string, origin(file.src_uri))
    while waiting:
        path = waiting.pop()
        if not os.path.exists(os.path.join(ROOT, path)) or files.get_file_from_path(place(path)):
            continue  # what is missing MkDocs reports
        if in_docs(path):
            continue
        if os.path.isdir(os.path.join(ROOT, path)) and os.path.isfile(os.path.join(ROOT, path, "README.md")):
            path += "/README.md"
        text = page_text(path)
        if text is None:
            files.append(File.generated(config, place(path), abs_src_path=os.path.join(ROOT, path)))
            continue
        files.append(File.generated(config, place(path), content=text))
        if path.endswith(".md"):
            waiting += targets(text, path)


def add_folder(files, config, folder, uri, chosen=re.compile("")):
    """Copies the files of a folder below uri."""
    for where, _, names in os.walk(folder):
        for name in names:
            relative = os.path.relpath(os.path.join(where, name), folder)
            if chosen.search(relative):
                files.append(File.generated(config, f"{uri}/{relative}", abs_src_path=os.path.join(where, name)))


def on_files(files, config):
    """All files that are not in docs/."""
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("style.css", "mathematics.js", "iframe-worker.js"):
        files.append(File.generated(config, f"assets/{name}", abs_src_path=os.path.join(here, name)))
    spec = importlib.util.find_spec("mathjax")
    add_folder(files, config, os.path.join(os.path.dirname(spec.origin), "static", "mathjax", "es5"), "assets/mathjax",
               MATHJAX)
    api = os.environ.get("FMO_DOCS_API", "")
    if not os.path.isfile(os.path.join(api, "files.html")):
        raise PluginError("FMO_DOCS_API must name the folder of the API pages: cmake --build build --target docs-api")
    add_folder(files, config, api, "api")
    add_sources(files, config)
    return files


def on_page_markdown(markdown, page, **_):
    """Links to files outside docs/ become links to their pages; the log comes last in what a search finds."""
    if page.file.src_uri.startswith("log/"):
        page.meta.setdefault("search", {"boost": 0.2})
    path = origin(page.file.src_uri)
    if path is None:
        return markdown

    def link(found):
        if re.match(r"[a-z]+:", found[2]):
            return found[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))
        if not os.path.exists(os.path.join(ROOT, target)):
            return found[0]
        return found[1] + posixpath.relpath(place(target), posixpath.dirname(page.file.src_uri))

    parts, end = [], 0
    for code in FENCE.finditer(markdown):
        parts += [LINK.sub(link, markdown[end:code.start()]), code[0]]
        end = code.end()
    return "".join(parts) + LINK.sub(link, markdown[end:])
