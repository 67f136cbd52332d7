#!/usr/bin/env python3
"""Makes ELF files run with a glibc older than that of the machine where they were linked.

    older_glibc.py 2.28 FILE...

A linker binds each function to its newest version, such as pthread_create of glibc 2.34, although
older ones have the same function under an older version. Here such references lose their version,
so that the loader takes what there is. A function that no older glibc has is an error.
"""

from __future__ import annotations

import re
import struct
import sys
from pathlib import Path

_STRINGS, _SYMBOLS, _VERSYM, _VERDEF, _VERNEED, _DYNAMIC = 3, 11, 0x6FFFFFFF, 0x6FFFFFFD, 0x6FFFFFFE, 6
NEEDED, SONAME = 1, 14  # tags of the dynamic section
_UNVERSIONED = 1


class ElfError(Exception):
    """Not a file that can be changed; the message names it."""


def _number(version: str) -> tuple[int, ...] | None:
    """2.34 of GLIBC_2.34; None for other names."""
    found = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)*)", version)
    return tuple(map(int, found[1].split("."))) if found else None


def _hash(name: bytes) -> int:
    """The hash of a version's name (System V ABI)."""
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


class Elf:
    """Dynamic symbols and their versions in a 64-bit little-endian file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = bytearray(path.read_bytes())
        if self.data[:6] != b"\x7fELF\2\1":
            raise ElfError(f"{path}: not a 64-bit little-endian ELF file")
        table, = struct.unpack_from("<Q", self.data, 40)
        size, count = struct.unpack_from("<HH", self.data, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", self.data, table + k * size) for k in range(count)]
        self.section = {head[1]: head for head in reversed(heads) if head[1] != _STRINGS}
        link = self.section[_SYMBOLS][6] if _SYMBOLS in self.section else 0
        self.strings = heads[link][4:6]  # offset, size

    def text(self, offset: int) -> str:
        """A name of the dynamic string table."""
        begin = self.strings[0] + offset
        return self.data[begin:self.data.index(0, begin)].decode()

    def dynamic(self, tag: int) -> list[str]:
        """The names of a tag, such as those of the needed libraries."""
        head = self.section.get(_DYNAMIC)
        pairs = struct.iter_unpack("<QQ", self.data[head[4]:head[4] + head[5]]) if head else []
        return [self.text(value) for key, value in pairs if key == tag]

    def symbols(self) -> list[tuple[str, bool, int, int]]:
        """(name, defined, index of its version, where that index stands) of all dynamic symbols."""
        head, versions = self.section.get(_SYMBOLS), self.section.get(_VERSYM)
        if not head or not versions:
            return []
        found = []
        for k in range(1, head[5] // 24):
            name, _, _, place = struct.unpack_from("<IBBH", self.data, head[4] + 24 * k)
            at = versions[4] + 2 * k
            found.append((self.text(name), place != 0, struct.unpack_from("<H", self.data, at)[0] & 0x7FFF, at))
        return found

    def needs(self) -> list[tuple[str, str, int, int]]:
        """(library, version, its index, where it stands) of all versions that the file needs."""
        found, head = [], self.section.get(_VERNEED)
        at = head[4] if head else 0
        while at:
            _, count, library, first, following = struct.unpack_from("<HHIII", self.data, at)
            one = at + first
            for _ in range(count):
                _, _, index, name, step = struct.unpack_from("<IHHII", self.data, one)
                found.append((self.text(library), self.text(name), index, one))
                one += step
            at = at + following if following else 0
        return found

    def provides(self) -> dict[int, str]:
        """The versions that the file defines, by index."""
        found, head = {}, self.section.get(_VERDEF)
        at = head[4] if head else 0
        while at:
            _, _, index, _, _, names, following = struct.unpack_from("<HHHHIII", self.data, at)
            found[index] = self.text(struct.unpack_from("<I", self.data, at + names)[0])
            at = at + following if following else 0
        return found


def newest_glibc(path: Path) -> tuple[int, ...]:
    """The newest version of glibc that a file needs."""
    return max((number for _, version, _, _ in Elf(path).needs() if (number := _number(version))), default=(0,))


def _system_library(name: str) -> Path:
    """A library of this machine's glibc, by where the loader found libc."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        libc = next(line.split()[-1] for line in maps if re.search(r"/libc[.-].*so", line))
    return Path(libc).parent / name


def _old_functions(library: Path, limit: tuple[int, ...]) -> set[str]:
    """The functions of a library that had a version up to the limit."""
    elf = Elf(library)
    versions = elf.provides()
    return {name for name, defined, index, _ in elf.symbols()
            if defined and (number := _number(versions.get(index, ""))) and number <= limit}


def lower(path: Path, limit: tuple[int, ...], libraries: Path | None = None) -> list[str]:
    """Removes the versions above the limit; returns the names of the functions. libraries: a folder with the
    glibc that was linked; this machine's if None."""
    elf = Elf(path)
    needs = elf.needs()
    new = {index: (library, at) for library, version, index, at in needs
           if (number := _number(version)) and number > limit}
    old = [(version, library) for library, version, _, _ in needs
           if (number := _number(version)) and number <= limit]
    changed, known = [], {}
    for name, defined, index, at in elf.symbols():
        if defined or index not in new:
            continue
        library = new[index][0]
        if library not in known:
            known[library] = _old_functions(libraries / library if libraries else _system_library(library), limit)
        if name not in known[library]:
            raise ElfError(f"{path}: {name}: no glibc up to {'.'.join(map(str, limit))} has it")
        struct.pack_into("<H", elf.data, at, _UNVERSIONED)
        changed.append(name)
    for library, at in new.values():
        # every library of glibc has its first version, which another of the file's needs names
        first = min(old, key=lambda pair: _number(pair[0]) or (), default=None)
        if first is None:
            raise ElfError(f"{path}: needs no old version of {library} that could take the place of the new one")
        offset = bytes(elf.data[elf.strings[0]:sum(elf.strings)]).index(b"\0" + first[0].encode() + b"\0") + 1
        struct.pack_into("<I", elf.data, at, _hash(first[0].encode()))
        struct.pack_into("<I", elf.data, at + 8, offset)
    if changed or new:
        path.write_bytes(elf.data)
    return changed


def main() -> int:
    """Command line."""
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    for name in sys.argv[2:]:
        try:
            changed = lower(Path(name), tuple(map(int, sys.argv[1].split("."))))
        except (ElfError, OSError) as reason:
            print(f"older_glibc: {reason}", file=sys.stderr)
            return 1
        print(f"{name}: {', '.join(changed) or 'nothing to do'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
