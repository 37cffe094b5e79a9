# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare for their users, with the comments.

libclang says what is declared where, and what is public. Signature and comment are the header's own text. A
declaration's comment is the `//` lines right above it, or behind it on its last line. Declarations without a
blank line or a comment between them share the comment of the first one.
"""

import pathlib
import re
import textwrap

import clang.cindex
from clang.cindex import AccessSpecifier, CursorKind

STUBS = pathlib.Path(__file__).with_name("stubs")  # for <mpi.h>
CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE,
           CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
FUNCTIONS = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.CXX_METHOD,
             CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR, CursorKind.CONVERSION_FUNCTION}
VARIABLES = {CursorKind.VAR_DECL, CursorKind.FIELD_DECL}
SHOWN = CLASSES | FUNCTIONS | VARIABLES | {
    CursorKind.ENUM_DECL, CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPE_ALIAS_TEMPLATE_DECL,
    CursorKind.CONCEPT_DECL}

# What only a compiler reads.
ATTRIBUTE = re.compile(r"\bWEFT_(EXPORT|OWN|\w*INLINE|\w*CAPABILITY(\([^()]*\))?)(?!\w) ?|\[\[[^\]]*\]\] ?"
                       r"| WEFT_(NO_THREAD_SAFETY_ANALYSIS|\w*(ACQUIRE|RELEASE)\w*\([^()]*\))")
# An overload that is deleted, or that exists only to say what is wrong with a call.
REFUSED = re.compile(r"= delete;|"
                     r"\{\s*(static_assert\([^;]*kAlwaysFalse|detail::assert(FairStep|FirstArgument|NoArguments|NoStopToken))")
MACRO = re.compile(r"#\s*define ((WEFT_\w+\b(?<!_)|defer)(\([^)]*\))?)")
KEYWORDS = ("explicit", "noexcept", "requires")  # what a parenthesis may follow that is no function's name


class Entry:
    """Declarations that share a comment. `members` are the entries of a class."""

    def __init__(self, name, kind, line, comment, space=""):
        self.name, self.kind, self.line, self.comment, self.space = name, kind, line, comment, space
        self.signatures, self.members, self.enumerators = [], [], []
        self.is_special = True  # until a declaration is added that is not

    def names(self):
        """Returns the names of all declarations, without repetitions."""
        found = [self.name]
        for text in self.signatures:
            found += re.findall(r"\busing (\w+) =", text)
            match = re.search(r"(operator\s*(?:\(\)|[^\s(]+)|~?\w+)\s*\(", text)
            if match and self.kind in FUNCTIONS and match.group(1) not in KEYWORDS:
                found.append(match.group(1))
        return list(dict.fromkeys(found))


class Header:
    """The lines of a header, counted from 1."""

    def __init__(self, include, path):
        self.path, self.name = path, path.relative_to(include)
        self.page = "_".join(self.name.with_suffix("").parts[1:])
        self.lines = path.read_text(encoding="utf-8").split("\n")

    def text(self, cursor):
        """Returns what is declared, with its indentation."""
        start, end = cursor.extent.start, cursor.extent.end
        *lines, last = self.lines[start.line - 1:end.line]
        return "\n".join([*lines, last[:end.column - 1]])

    def comment_above(self, line):
        """Returns the `//` lines that end right above the line."""
        above = line - 2
        if re.match(r"#(if|else)", self.lines[above]):  # the comment stands above the #if
            while not self.lines[above].startswith("#if"):
                above -= 1
            above -= 1
        first = above
        while first >= 0 and re.match(r"\s*//", self.lines[first]):
            first -= 1
        comment = [re.sub(r"^\s*// ?", "", text).rstrip() for text in self.lines[first + 1:above + 1]]
        return comment if any(comment) else []

    def comment_above_macro(self, line):
        """Returns what comment_above() does, or the comment above the #if or the macros before this one."""
        above = line - 1
        while above > 1 and re.match(r"#if |#define WEFT_", self.lines[above - 1]):
            above -= 1
        return self.comment_above(line) or self.comment_above(above + 1)

    def comment_behind(self, line):
        match = re.search(r"[;,{\w)]\s+// (?!NOLINT)(.*)$", self.lines[line - 1])
        return [match.group(1)] if match else []

    def introduction(self, entities):
        """Returns the comment of the header itself: it stands before the first entity, and above none."""
        first = min((entity.line for entity in entities), default=len(self.lines))
        for number in range(self.lines.index("#pragma once") + 1, first):
            is_end = self.lines[number - 1].startswith("//") and not self.lines[number].startswith("//")
            if is_end and re.match(r"$|#include|#if|namespace", self.lines[number]):
                return self.comment_above(number + 1)
        return []


def signature(header, cursor):
    """Returns the declaration's own text without body, initialisers and what only a compiler reads."""
    text = header.text(cursor)
    if cursor.kind in CLASSES | FUNCTIONS:
        text = until_body(text)
    text = re.sub(r"//.*", "", text)
    if re.search(r"^#", text, re.MULTILINE):  # a value that depends on the system
        text = text[:text.index(" =")]
    lines = without_attributes(line for line in textwrap.dedent(text).split("\n") if line.strip())
    return "\n".join(lines).rstrip(" ;") + ("" if cursor.kind in CLASSES else ";")


def without_attributes(lines):
    """Drops what only a compiler reads. Lines that are aligned with the one before move along."""
    kept, moved = [], 0
    for line in lines:
        shorter = ATTRIBUTE.sub("", line)
        if len(line) - len(line.lstrip()) > moved + 4:
            shorter = shorter[moved:]
        else:
            moved = len(line) - len(shorter)
        if shorter.strip():
            kept.append(shorter.rstrip())
    return kept


def until_body(text):
    """Returns the text up to the body or the initialisers. Of base classes it keeps a public one."""
    depth = 0  # of parentheses, and of braces of expressions
    for at, char in enumerate(text):
        before = text[:at]
        if char in "([" or (char == "{" and (depth or re.search(r"requires\s*(\([^()]*\) )?$", before))):
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif depth == 0 and char in "{;":
            return before
        elif depth == 0 and char == ":" and ":" not in (text[at - 1], text[at + 1]):
            base = re.match(r": public (?![\w:]*detail)[\w:]+(?= \{)", text[at:])
            return before.rstrip() + (" " + base.group() if base else "")
    return text


def is_special(cursor):
    """Returns whether everybody knows what the member does: copy, move or destroy."""
    if cursor.kind == CursorKind.CONSTRUCTOR:
        return cursor.is_copy_constructor() or cursor.is_move_constructor() or cursor.is_default_constructor()
    return cursor.kind == CursorKind.DESTRUCTOR or \
        cursor.spelling in ("operator=", "operator==", "operator!=", "what")


def is_for_users(header, cursor):
    if cursor.kind not in SHOWN or cursor.access_specifier not in (AccessSpecifier.PUBLIC,
                                                                   AccessSpecifier.INVALID):
        return False
    if cursor.kind in CLASSES:
        return cursor.is_definition()
    if cursor.kind in FUNCTIONS:
        is_outside_of_class = cursor.semantic_parent != cursor.lexical_parent
        lines = header.lines[cursor.extent.start.line - 1:cursor.extent.end.line]
        return not is_outside_of_class and not REFUSED.search("\n".join(lines))
    return True


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
        elif is_for_users(header, cursor):
            yield cursor


def space_of(cursor):
    """Returns the namespace within weft, as "io::", of what is no member."""
    parent = cursor.semantic_parent
    if parent.kind in CLASSES and cursor.lexical_parent.kind == CursorKind.NAMESPACE:
        return space_of(parent) + parent.spelling + "::"  # a class that is defined outside of its class
    is_inner = parent.kind == CursorKind.NAMESPACE and parent.spelling not in ("weft", "v0_1")
    return parent.spelling + "::" if is_inner else ""


def entries(header, scope):
    """Returns the entries of a namespace or a class."""
    found, last_start, end = [], 0, 0
    for cursor in declarations(header, scope):
        start = cursor.extent.start.line
        comment = header.comment_above(start) or header.comment_behind(cursor.extent.end.line)
        if start == last_start:
            found[-1].signatures.pop()  # the last variable of a declaration has the text of all
        elif comment or start > end + 1 or not found:
            name = re.sub(r"<\w.*", "", cursor.spelling)
            found.append(Entry(name, cursor.kind, start, comment, space_of(cursor)))
        entry, last_start, end = found[-1], start, cursor.extent.end.line
        entry.signatures.append(signature(header, cursor))
        entry.is_special &= is_special(cursor)
        if cursor.kind in CLASSES:
            entry.members = entries(header, cursor)
        elif cursor.kind == CursorKind.ENUM_DECL:
            entry.enumerators = [(child.spelling, " ".join(header.comment_behind(child.extent.end.line)))
                                 for child in cursor.get_children()]
    return found


def macros(header):
    """Returns entries of the macros that the header leaves to its users: those with a comment."""
    found = {}
    for number, text in enumerate(header.lines, 1):
        match = MACRO.match(text)
        comment = header.comment_above_macro(number) if match else []
        if comment and match.group(2) not in found:
            entry = found[match.group(2)] = Entry(match.group(2), None, number, comment)
            entry.signatures, entry.is_special = [match.group(1)], False
    return list(found.values())


def parse(include, paths):
    """Returns the namespaces `weft` of a file that includes the headers."""
    arguments = ["-xc++", "-std=c++20", "-I%s" % include, "-isystem%s" % STUBS, "-DWEFT_ASIO_BOOST=0", "-DWEFT_DOCS"]
    text = "".join("#include <%s>\n" % path.relative_to(include) for path in paths)
    unit = clang.cindex.Index.create().parse("user.cpp", arguments, [("user.cpp", text)])
    broken = [str(message) for message in unit.diagnostics
              if message.severity >= clang.cindex.Diagnostic.Error]
    if broken:
        raise SystemExit("\n".join(broken))
    return [cursor for cursor in unit.cursor.get_children()
            if cursor.kind == CursorKind.NAMESPACE and cursor.spelling == "weft"]


def read(include):
    """Returns (header, its entries) of each header that users include, those of the concepts first."""
    paths = [path for path in sorted((include / "weft").rglob("*.h")) if "detail" not in path.parts]
    paths = [path for path in paths if path.name not in ("weft.h", "export.h", "tsa.h", "sanitizers.h")]
    spaces = parse(include, paths)
    found = [Header(include, path) for path in paths]
    return [(header, [entry for space in spaces for entry in entries(header, space)] + macros(header))
            for header in found]
