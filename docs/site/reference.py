#!/usr/bin/python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pages of the reference from the public headers: one page for each header.

    reference.py ROOT FOLDER    writes FOLDER/*.md

Ends with an error if a public name has no comment.
"""

import itertools
import pathlib
import re
import sys

import headers

# What a comment may say after what a declaration does.
LABEL = re.compile(r"(Requires?|Returns?|Gives|Errors|Memory ordering|Lifetime|Threads): (.*)")
CALL_OR_QUALIFIED_NAME = re.compile(
    r"((?:\w+(?:<[\w:, ]*>)?(?:::|\.|->))*~?\w+(?:<[\w:, ]+>)?\((?:[^()\s]|, )*\)"
    r"|\w+(?:<[\w:, ]*>)?(?:::\w+)+(?:<[\w:, ]*>)?)")


def escaped(text):
    """Returns a line of a comment as Markdown: calls and qualified names as code, nothing as HTML."""
    def outside_of_code(text, change):
        parts = re.split(r"(`[^`]*`)", text)
        parts[::2] = map(change, parts[::2])
        return "".join(parts)

    text = outside_of_code(text, lambda part: CALL_OR_QUALIFIED_NAME.sub(r"`\1`", part))
    return outside_of_code(text, lambda part: re.sub(r"([<*\[\]])", r"\\\1", part))


def prose(comment):
    """Yields the lines of a comment without code as Markdown."""
    before = ""
    for line in comment:
        label = LABEL.match(line)
        if label:
            line = "**%s:** %s" % (label.group(1), escaped(label.group(2)))
            yield ""
        else:
            if line and before and line.startswith("- ") != before.startswith("- "):
                yield ""  # a list begins or ends
            line = escaped(line)
        yield line
        before = line


def markdown(comment, link):
    """Yields the lines of a comment as Markdown. Indented ones are code."""
    after_code = []
    for is_code, lines in itertools.groupby(comment, key=lambda line: line.startswith("  ")):
        if is_code:
            yield from ["", "```cpp", *(line[2:] for line in lines), "```"]
            after_code = [""]
        else:
            yield from [*after_code, *map(link, prose(lines))]


def section(entry, level, link, scope):
    """Yields the lines of an entry."""
    first, *others = entry.names()
    rest = others if len(others) < 8 else others[:2]
    title = ", ".join("`%s`" % name for name in [entry.space + scope + first, *rest])
    yield from ["", "#" * level + " " + title + (" and others" if len(rest) < len(others) else "")]
    yield from ["", "```cpp", *entry.signatures, "```"]
    if entry.comment:
        yield from ["", *markdown(entry.comment, link)]
    if entry.enumerators:
        yield from ["", "| value | |", "|---|---|"]
        yield from ("| `%s` | %s |" % (name, link(escaped(text))) for name, text in entry.enumerators)
    yield from sections(entry.members, level + 1, link, entry.space + scope + entry.name + "::")


def sections(found, level, link, scope=""):
    """Yields the lines of entries. Data members that follow each other are shown as the header shows them."""
    def is_member(entry):
        return scope and entry.kind in headers.VARIABLES

    for is_data, group in itertools.groupby(found, key=is_member):
        if is_data:
            yield from ["", "```cpp"]
            for entry in group:
                yield from ["// " + line for line in entry.comment] + entry.signatures
            yield "```"
            continue
        for entry in group:
            if entry.comment or not entry.is_special:
                yield from section(entry, min(level, 4), link, scope)


def linkable(pages):
    """Returns the pages of names that mean one thing: "io::read", and (space, name) if no member has it."""
    def members(found):
        for entry in found:
            yield from (member.name for member in entry.members)
            yield from members(entry.members)
    taken = {name for _, found in pages for name in members(found)}
    places = {}
    for header, found in pages:
        for entry in found:
            for name in entry.names():
                if entry.space:
                    places[entry.space + name] = header.page
                if name not in taken or (entry.kind in headers.CLASSES and name[0].isupper()):
                    places[(entry.space, name)] = header.page
    return places


def linker(header, found, places):
    """Returns what links, in a text, names of other headers, and pages that a comment names."""
    spaces = sorted({"", *(entry.space for entry in found)}, reverse=True)

    def to_page(match):
        name = match.group(2)
        keys = [name, *((space, name) for space in spaces)]
        place = next((places[key] for key in keys if key in places), None)
        is_variable = match.group() == "`%s`" % name and name.islower()
        if place is None or place == header.page or is_variable:
            return match.group()
        return "[%s](%s.md)" % (match.group(), place)

    def link(text):
        text = re.sub(r"\bdocs/([\w/]+\.md)", r"[\1](../\1)", text)
        return re.sub(r"`(weft::)?((?:\w+::)?\w+)(\(\))?`", to_page, text)
    return link


def page(header, found, places):
    """Yields the lines of a header's page."""
    link = linker(header, found, places)
    yield from ["# %s" % header.name, "", "```cpp", "#include <%s>" % header.name, "```"]
    introduction = header.introduction([entry for entry in found if entry.kind is not None])
    if introduction:
        yield from ["", *markdown(introduction, link)]
    yield from sections(found, 2, link)


def index(pages):
    """Yields the lines of the page that lists the others."""
    yield from ["# Reference", "", "Every public name, by header. `weft/weft.h` includes all but "
                "`weft/asio.h`, `weft/io.h`, `weft/mpi.h` and `weft/defer.h`.", "", "| header | names |", "|---|---|"]
    for header, found in pages:
        names = dict.fromkeys("`%s`" % (entry.space + name) for entry in found for name in entry.names())
        yield "| [%s](%s.md) | %s |" % (header.name, header.page, ", ".join(names))
    yield from ["", "```{toctree}", ":hidden:", "", *(header.page for header, _ in pages), "```"]


def undocumented(header, found, scope=""):
    for entry in found:
        if not entry.comment and not entry.is_special:
            yield "%s:%d: %s%s has no comment" % (header.path, entry.line, scope, entry.name)
        yield from undocumented(header, entry.members, entry.name + "::")


def write(path, lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    pages = headers.read(root / "include")
    places = linkable(pages)
    folder.mkdir(parents=True, exist_ok=True)
    for header, found in pages:
        write(folder / (header.page + ".md"), page(header, found, places))
    write(folder / "index.md", index(pages))
    missing = [line for header, found in pages for line in undocumented(header, found)]
    if missing:
        sys.exit("\n".join(missing))


if __name__ == "__main__":
    main()
