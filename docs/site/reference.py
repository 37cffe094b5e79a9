#!/usr/bin/python3
# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pages of the reference from the public headers: one page for each header.

    reference.py ROOT FOLDER    writes FOLDER/*.md

libclang says what is declared where, and what is public. Signature and comment are the header's own text. A
declaration's comment is the `//` lines right above it, or behind it on its last line. Declarations without a
blank line or a comment between them share the comment of the first one. Ends with an error if a public name
has no comment.
"""

import pathlib
import re
import sys

import clang.cindex
from clang.cindex import AccessSpecifier, CursorKind, TokenKind, TranslationUnit

CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE,
           CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
             CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION}
OTHERS = {CursorKind.ENUM_DECL, CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPE_ALIAS_TEMPLATE_DECL, CursorKind.VAR_DECL,
          CursorKind.FIELD_DECL, CursorKind.CONCEPT_DECL}
SHOWN = CLASSES | FUNCTIONS | OTHERS
# What each comment may say after what a declaration does.
LABELS = ("Requires?", "Returns?", "Gives", "Errors", "Throws", "Memory ordering", "Lifetime", "Threads")


class Entry:
    """Declarations that share a comment. `members` are the entries of a class."""

    def __init__(self, name, kind, line, space=""):
        self.name, self.kind, self.line, self.space = name, kind, line, space
        self.signatures, self.comment, self.members, self.enumerators = [], [], [], []
        self.is_special = True  # until a declaration is added that is not


class Header:
    """The lines of a header."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text(encoding="utf-8").split("\n")

    def comment_above(self, line):
        """Returns the `//` lines that end right above the line (counted from 1)."""
        above = line - 2
        if re.match(r"#(if|else)", self.lines[above]):  # the comment stands above the #if
            while not self.lines[above].startswith("#if"):
                above -= 1
            above -= 1
        first = above
        while first >= 0 and re.match(r"\s*//", self.lines[first]):
            first -= 1
        return [re.sub(r"^\s*// ?", "", text).rstrip() for text in self.lines[first + 1:above + 1]]

    def comment_above_macro(self, line):
        """As comment_above(), or above an #if, or above the macro of the line before."""
        above = line - 1
        while above > 1 and re.match(r"#if |#define WEFT_", self.lines[above - 1]):
            above -= 1
        return self.comment_above(line) or self.comment_above(above + 1)

    def introduction(self, entities):
        """Returns the comment that belongs to the header: it stands before the first entity, and above none."""
        first = min((entity.line for entity in entities), default=len(self.lines))
        for number in range(self.lines.index("#pragma once") + 1, first):
            is_end = self.lines[number - 1].startswith("//") and not self.lines[number].startswith("//")
            if is_end and re.match(r"$|#include|#if|namespace", self.lines[number]):
                return self.comment_above(number + 1)
        return []

    def comment_behind(self, line):
        match = re.search(r"[;,{\w)]\s+// (?!NOLINT)(.*)$", self.lines[line - 1])
        return [match.group(1)] if match else []


def first_line(header, cursor):
    """Returns the line on which the declaration begins, `template`, `requires` and attributes included."""
    line = cursor.extent.start.line
    while re.match(r"\s*(template\s*<|requires\b|\[\[)", header.lines[line - 2]) and \
            not header.lines[line - 2].rstrip().endswith((";", "}")):
        line -= 1
    return line


def signature(header, cursor):
    """Returns the declaration's own text without body, initialisers and what only a compiler reads."""
    start = first_line(header, cursor)
    text = "\n".join(header.lines[start - 1:cursor.extent.end.line + 1])
    if cursor.kind in FUNCTIONS or cursor.kind in CLASSES:
        text = until_body(text, cursor.kind in CLASSES)
    else:
        text = until_semicolon(text)
    text = re.sub(r"//.*", "", text)
    if re.search(r"^#", text, re.MULTILINE):  # a value that depends on the system
        text = text[:text.index(" =")]
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    lines = without_attributes([line[indent:] for line in lines])
    return "\n".join(lines).rstrip(" ;") + ("" if cursor.kind in CLASSES else ";")


def without_attributes(lines):
    """Drops what only a compiler reads. Lines that are aligned with the one before move along."""
    out, moved = [], 0
    for line in lines:
        shorter = re.sub(r"\bWEFT_(EXPORT|OWN|\w*INLINE|\w*CAPABILITY(\([^()]*\))?)(?!\w) ?|\[\[[^\]]*\]\] ?", "", line)
        shorter = re.sub(r" WEFT_(NO_THREAD_SAFETY_ANALYSIS|\w*(ACQUIRE|RELEASE)\w*\([^()]*\))", "", shorter)
        if len(line) - len(line.lstrip()) > moved + 4:
            shorter = shorter[moved:]
        else:
            moved = 0 if shorter.endswith(line.lstrip()[:8]) else len(line) - len(shorter.lstrip())
        if shorter.strip():
            out.append(shorter.rstrip())
    return out


def until_semicolon(text):
    depth = 0
    for at, char in enumerate(text):
        depth += (char in "({[") - (char in ")}]")
        if char == ";" and depth == 0:
            return text[:at]
    return text


def until_body(text, is_class):
    """Returns the text up to the body, initialisers or base classes. A body begins a line, or ends one."""
    depth, in_expression, seen_parameters = 0, 0, False
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        in_expression += (char == "{" and in_expression > 0) - (char == "}" and in_expression > 0)
        seen_parameters |= char == ")" and depth == 0
        if depth or in_expression:
            continue
        before = text[:at]
        if char == "{" and re.search(r"requires\s*(\([^()]*\) )?$", before):
            in_expression = 1
        elif char in "{;":
            return before
        elif char == ":" and ":" not in (text[at - 1], text[at + 1]) and (is_class or seen_parameters):
            base = re.match(r": (public [\w:]+) \{", text[at:])
            return before.rstrip() + (" : " + base.group(1) if base and is_class and "detail" not in base.group(1) else "")
    return text


def is_deleted(cursor):
    tokens = [token.spelling for token in cursor.get_tokens()] if cursor.kind in FUNCTIONS else []
    return tokens[-2:] == ["=", "delete"] or tokens[-3:] == ["=", "delete", ";"]


def is_special(cursor):
    """Returns whether everybody knows what the member does: copy, move or destroy."""
    if cursor.kind == CursorKind.DESTRUCTOR:
        return True
    if cursor.kind in (CursorKind.CONSTRUCTOR, CursorKind.FUNCTION_TEMPLATE):
        return cursor.is_copy_constructor() or cursor.is_move_constructor() or cursor.is_default_constructor()
    return cursor.spelling in ("operator=", "operator==", "operator!=", "what")


def is_message(header, cursor):
    """Returns whether the overload exists only to say, when it is compiled, what is wrong with a call."""
    text = "\n".join(header.lines[cursor.extent.start.line - 1:cursor.extent.end.line])
    return cursor.kind in FUNCTIONS and re.search(r"\{\s*(static_assert\([^;]*kAlwaysFalse|detail::assertF(airStep|irstArgument))", text)


def is_public(cursor):
    return cursor.access_specifier in (AccessSpecifier.PUBLIC, AccessSpecifier.INVALID)


def declarations(header, scope):
    """Yields what is declared for users, in order."""
    for cursor in scope.get_children():
        if not cursor.location.file or cursor.location.file.name != str(header.path):
            continue
        if cursor.kind == CursorKind.NAMESPACE:
            if cursor.spelling != "detail":
                yield from declarations(header, cursor)
        elif cursor.kind == CursorKind.FRIEND_DECL:
            yield from (child for child in cursor.get_children()
                        if child.kind in FUNCTIONS and child.semantic_parent.spelling != "detail")
        elif cursor.kind in SHOWN and is_public(cursor) and not is_message(header, cursor) and not is_deleted(cursor):
            is_forward = cursor.kind in CLASSES and not cursor.is_definition()
            is_guide = cursor.spelling.startswith("<deduction guide")
            if cursor.spelling and not is_forward and not is_guide and "unnamed" not in cursor.spelling:
                yield cursor


def entries(header, scope):
    """Returns the entries of a namespace or a class."""
    found, end, seen = [], -1, set()
    for cursor in declarations(header, scope):
        start = first_line(header, cursor)
        place = (start, cursor.spelling)
        if place in seen or not belongs(header, cursor, scope):
            continue
        seen.add(place)
        comment = header.comment_above(start) or header.comment_behind(cursor.extent.end.line)
        shares = found and not comment and start <= end + 1 and cursor.kind not in CLASSES
        if not shares:
            found.append(Entry(cursor.spelling, cursor.kind, start, space_of(cursor)))
            found[-1].comment = comment
        entry = found[-1]
        entry.signatures.append(signature(header, cursor))
        entry.is_special &= is_special(cursor)
        end = cursor.extent.end.line
        if cursor.kind in CLASSES:
            entry.members = entries(header, cursor)
            end = -1
        elif cursor.kind == CursorKind.ENUM_DECL:
            entry.enumerators = [(child.spelling, " ".join(header.comment_behind(child.extent.end.line)
                                                           or header.comment_above(child.extent.start.line)))
                                 for child in cursor.get_children()]
    return found


def space_of(cursor):
    """Returns the namespace within weft, as "io::", of what is no member."""
    parent = cursor.semantic_parent
    is_inner = parent and parent.kind == CursorKind.NAMESPACE and parent.spelling not in ("weft", "v0_1")
    if parent and parent.kind in CLASSES and cursor.lexical_parent.kind == CursorKind.NAMESPACE:
        return space_of(parent) + parent.spelling + "::"  # a class that is defined outside of its class
    return parent.spelling + "::" if is_inner else ""


def belongs(header, cursor, scope):
    """Returns whether the declaration is no definition of a member outside of its class."""
    parent = cursor.semantic_parent
    return parent is None or cursor.kind not in FUNCTIONS or parent.kind not in CLASSES or scope.kind in CLASSES


def macros(header):
    """Returns entries of the macros that the header leaves to its users: those with a comment."""
    found = []
    for number, text in enumerate(header.lines, 1):
        match = re.match(r"#\s*define ((WEFT_\w+\b(?<!_)|defer)(\([^)]*\))?)", text)
        comment = header.comment_above_macro(number) if match else []
        if comment and not any(entry.name == match.group(2) for entry in found):
            found.append(Entry(match.group(2), None, number))
            found[-1].signatures, found[-1].comment, found[-1].is_special = [match.group(1)], comment, False
    return found


def escaped(text):
    """Returns a line of a comment as Markdown: calls and qualified names as code, nothing as HTML."""
    parts = re.split(r"(`[^`]*`)", text)
    for index in range(0, len(parts), 2):
        part = re.sub(r"((?:\w+(?:<[\w:, ]*>)?(?:::|\.|->))*~?\w+(?:<[\w:, ]+>)?\((?:[^()\s]|, )*\)|\w+(?:<[\w:, ]*>)?(?:::\w+)+(?:<[\w:, ]*>)?)",
                      r"`\1`", parts[index])
        inner = re.split(r"(`[^`]*`)", part)
        inner[::2] = [re.sub(r"([<*\[\]])", r"\\\1", piece) for piece in inner[::2]]
        parts[index] = "".join(inner)
    return "".join(parts)


def markdown(comment, link):
    """Returns the text of a comment as Markdown."""
    out, is_code = [], False
    for line in comment:
        starts_code = re.match(r"  +\S", line) and not re.match(r"  +\S", out[-1] if out and not is_code else "")
        if line.startswith("  ") and (is_code or starts_code):
            if not is_code:
                out += ["", "```cpp"]
            is_code = True
            out.append(line[2:])
            continue
        if is_code:
            out += ["```", ""]
            is_code = False
        match = re.match(r"(%s): (.*)" % "|".join(LABELS), line)
        if match:
            out += ["", "**%s:** %s" % (match.group(1), link(escaped(match.group(2))))]
        else:
            if line and out and out[-1] and bool(re.match(r"[-*] ", line)) != bool(re.match(r"[-*] ", out[-1])):
                out.append("")  # a list begins or ends
            out.append(link(("- " if line[:2] in ("- ", "* ") else "") + escaped(line[2:] if line[:2] in ("- ", "* ") else line)))
    return "\n".join(out + (["```"] if is_code else []))


def write_entry(entry, level, out, link, scope=""):
    names = all_names(entry)
    rest = names[1:] if len(names) <= 8 else names[1:3]
    title = ", ".join("`%s`" % name for name in [entry.space + scope + names[0], *rest])
    title += " and others" if len(rest) < len(names) - 1 else ""
    out += ["", "%s %s" % ("#" * level, title), "", "```cpp", *entry.signatures, "```"]
    if entry.comment:
        out += ["", markdown(entry.comment, link)]
    if entry.enumerators:
        out += ["", "| value | |", "|---|---|"]
        out += ["| `%s` | %s |" % (name, link(escaped(text))) for name, text in entry.enumerators]
    write_entries(entry.members, level + 1, out, link, entry.space + scope + entry.name + "::")


def write_entries(found, level, out, link, scope=""):
    """Data members of a class that follow each other are shown as the header shows them."""
    fields = []
    for entry in [*found, None]:
        if scope and entry and entry.kind in (CursorKind.FIELD_DECL, CursorKind.VAR_DECL):
            fields += ["// " + line for line in entry.comment] + entry.signatures
            continue
        if fields:
            out += ["", "```cpp", *fields, "```"]
            fields = []
        if entry and (entry.comment or not entry.is_special):
            write_entry(entry, min(level, 4), out, link, scope)


def all_names(entry):
    name = entry.name.split("<")[0] if entry.name != "operator<" else entry.name
    return list(dict.fromkeys([name, *names_of(entry)]))


def names_of(entry):
    for text in entry.signatures:
        alias = re.search(r"\busing (\w+) =", text)
        if alias:
            yield alias.group(1)
        match = re.search(r"(operator\s*(?:\(\)|[^\s(]+)|~?\w+)\s*\(", re.sub(r"^template\s*<.*?>\n", "", text))
        if match and entry.kind in FUNCTIONS and match.group(1) not in ("requires", "explicit", "noexcept"):
            yield match.group(1)


def undocumented(header, found, scope=""):
    for entry in found:
        if not entry.comment and not entry.is_special:
            yield "%s:%d: %s%s has no comment" % (header.path, entry.line, scope, entry.name)
        yield from undocumented(header, entry.members, entry.name + "::")


def public_headers(include):
    """Returns the headers that users include, those of the concepts first."""
    headers = [path for path in sorted((include / "weft").rglob("*.h")) if "detail" not in path.parts]
    return [path for path in headers if path.name not in ("weft.h", "export.h", "tsa.h", "sanitizers.h")]


def parse(include, paths):
    """Returns what libclang makes of a file that includes the headers."""
    arguments = ["-xc++", "-std=c++20", "-I%s" % include, "-DWEFT_ASIO_BOOST=0"]
    text = "".join("#include <%s>\n" % path.relative_to(include) for path in paths)
    unit = clang.cindex.Index.create().parse("user.cpp", arguments, [("user.cpp", text)])
    broken = [str(message) for message in unit.diagnostics if message.severity >= clang.cindex.Diagnostic.Error]
    if broken:
        raise SystemExit("\n".join(broken))
    return unit


def main():
    root, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    include = root / "include"
    paths = public_headers(include)
    spaces = [cursor for cursor in parse(include, paths).cursor.get_children()
              if cursor.kind == CursorKind.NAMESPACE and cursor.spelling == "weft"]
    pages = {}
    for path in paths:
        header = Header(path)
        found = [entry for space in spaces for entry in entries(header, space)]
        pages[path] = (header, found + macros(header))
    missing = [line for header, found in pages.values() for line in undocumented(header, found)]
    places = linkable(include, pages)
    folder.mkdir(parents=True, exist_ok=True)
    for path, (header, found) in pages.items():
        write_page(include, path, found, folder, places)
    write_index(include, pages, folder)
    for line in missing:
        print(line, file=sys.stderr)
    sys.exit(1 if missing else 0)


def linkable(include, pages):
    """Returns the pages of the names that mean one thing: "io::read", and (space, name) if no member has it."""
    def members(found):
        for entry in found:
            yield from (member.name for member in entry.members)
            yield from members(entry.members)
    taken = {name for _, found in pages.values() for name in members(found)}
    places = {}
    for path, (_, found) in pages.items():
        for entry in found:
            for name in all_names(entry):
                if entry.space:
                    places[entry.space + name] = page_name(include, path)
                if name not in taken or (entry.kind in CLASSES and name[0].isupper()):
                    places[(entry.space, name)] = page_name(include, path)
    return places


def page_name(include, path):
    return "_".join(path.relative_to(include / "weft").with_suffix("").parts)


def anchor(name):
    return re.sub(r"[^\w-]", "", name.lower())


def write_page(include, path, found, folder, places):
    page = page_name(include, path)

    spaces = sorted({"", *(entry.space for entry in found)}, reverse=True)

    def link(text):
        """Links names of other headers, and the pages that a comment names."""
        text = re.sub(r"\bdocs/([\w/]+\.md)", r"[\1](../\1)", text)

        def to_page(match):
            name = match.group(2)
            place = next((places[key] for key in [name, *((space, name) for space in spaces)] if key in places), None)
            is_variable = match.group(0) == "`%s`" % name and name.islower()
            if place is None or place == page or is_variable:
                return match.group(0)
            return "[%s](%s.md)" % (match.group(0), place)
        return re.sub(r"`(weft::)?((?:\w+::)?\w+)(\(\))?`", to_page, text)

    name = path.relative_to(include)
    out = ["# %s" % name, "", "```cpp", "#include <%s>" % name, "```"]
    introduction = Header(path).introduction([entry for entry in found if entry.kind is not None])
    out += ["", markdown(introduction, link)] if introduction else []
    write_entries(found, 2, out, link)
    (folder / (page + ".md")).write_text("\n".join(out) + "\n", encoding="utf-8")


def write_index(include, pages, folder):
    out = ["# Reference", "", "Every public name, by header. `weft/weft.h` includes all but `weft/asio.h`, `weft/io.h` and "
           "`weft/defer.h`.", "", "| header | names |", "|---|---|"]
    for path, (_, found) in pages.items():
        page = page_name(include, path)
        names = list(dict.fromkeys(entry.space + name for entry in found for name in all_names(entry)))
        out.append("| [%s](%s.md) | %s |" % (path.relative_to(include), page, ", ".join("`%s`" % name for name in names)))
    out += ["", "```{toctree}", ":hidden:", ""] + [page_name(include, path) for path in pages] + ["```"]
    (folder / "index.md").write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
