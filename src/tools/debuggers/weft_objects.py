# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""Tells weft's objects in words, for the printers of gdb and the summaries of lldb.

Knows no debugger: an object is given as a Value. Needs debug information.
"""

import re

import weft_common


class Value:
    """What a debugger provides: a value of the process. Each function raises weft_common.Error."""

    def __getitem__(self, member):
        """Returns: a member, also one of a base class."""
        raise NotImplementedError

    def number(self):
        """Returns: an integer, or the address that a pointer holds."""
        raise NotImplementedError

    def pointee(self, type_name=None):
        """Returns: what a pointer leads to, as an object of that type if one is named."""
        raise NotImplementedError

    def is_class(self):
        raise NotImplementedError

    def type_name(self):
        """Returns: the name of the type, without aliases."""
        raise NotImplementedError

    def template_argument(self):
        """Returns: the name of the first one, "void" for void."""
        raise NotImplementedError

    def text(self):
        """Returns: the value as the debugger prints it."""
        raise NotImplementedError

    def target(self):
        """Returns: a weft_common.Target."""
        raise NotImplementedError


def member_of(value, *names):
    """Returns: the one of these members that the value has: the standard libraries call it differently."""
    for name in names[:-1]:
        try:
            return value[name]
        except weft_common.Error:
            continue
    return value[names[-1]]


def bare(value):
    """Returns: the number or pointer in a std::atomic, of libstdc++ or libc++."""
    while value.is_class():
        value = member_of(value, "_M_i", "_M_b", "_M_p", "__a_", "__a_value", "value_")
    return value.number()


def num_waiters(wait_list):
    count, waiter = 0, wait_list["first_"]
    while waiter.number() and count < 1000000:
        count, waiter = count + 1, waiter.pointee()["next"]
    return count


def waiters(count):
    return ", %s" % weft_common.counted(count, "waiter") if count else ""


def state_of(handle):
    """Returns: what the handle refers to, or None if it was moved from."""
    state = handle["state_"]["state_"]
    return None if "::movedFrom" in handle.target().symbol(state.number()) else state.pointee()


def task(value):
    node = value["node_"]
    if not node.number():
        return "an empty Task"
    function = node.pointee()["invoke"].number()
    return "Task %s" % (weft_common.shorten(value.target().symbol(function)) or "%#x" % function)


def event(value):
    state = state_of(value)
    if state is None:
        return "an Event that was moved from"
    word = state["core"]["word_"]
    bits = bare(word["bits"])
    count = 1 if bits > 7 else num_waiters(word["list"])
    is_signalled = bits <= 7 and bits & 4
    return "Event %s%s" % ("signalled" if is_signalled else "not signalled", waiters(count))


def wait_group(value):
    state = state_of(value)
    if state is None:
        return "a WaitGroup that was moved from"
    core = state["core"]
    count = num_waiters(core["word_"]["list"]) + (1 if bare(core["first_"]) else 0)
    return "WaitGroup at %d%s" % (bare(core["word_"]["bits"]) // 4, waiters(count))


def mutex(value):
    word = value["core_"]["word_"]
    count = waiters(num_waiters(word["list"]))
    owner = bare(value["owner_"])
    if not bare(word["bits"]) & 4:
        return "mutex, free" + count
    try:
        snapshot = weft_common.Snapshot(value.target())
        found = snapshot.at_scope(owner)
        who = "fiber %s, task %s" % (found.name, snapshot.task_name(found)) if found else "another thread"
    except weft_common.Error:
        who = "%#x" % owner
    return "mutex, held by %s%s" % (who, count)


def channel(value):
    state = state_of(value)
    if state is None:
        return "a Channel that was moved from"
    tail, head = bare(state["tail_"]["word_"]), bare(state["head_"]["word_"])
    text = "Channel with %d of %d" % (max(tail // 8 - head // 8, 0), state["capacity_"].number())
    text += ", closed" if tail & 4 else ""
    for name in ("sender", "receiver"):
        count = num_waiters(state[name + "s_"])
        if count:
            text += ", %s wait%s" % (weft_common.counted(count, name), "s" if count == 1 else "")
    return text


def future(value):
    name = "SharedFuture" if "::SharedFuture<" in value.type_name() else "Future"
    state = value["core_"]["state_"]
    if not state.number():
        return "a %s without a state" % name
    if not bare(state.pointee()["word"]["word_"]) & 1:
        return "%s, not ready" % name
    result = value.template_argument()
    outcome = state.pointee("weft::v0_1::detail::FutureState<%s>" % result)["outcome"]
    exception = outcome["exception_"]["exception_"]
    if member_of(exception, "_M_exception_object", "__ptr_").number():
        return "%s, ready with an exception" % name
    return "%s, ready%s" % (name, "" if result == "void" else result_of(outcome))


def promise(value):
    state = value["state_"]
    if not state.number():
        return "a Promise without a state"
    return "Promise, %s" % ("kept" if bare(state.pointee()["word"]["word_"]) & 1 else "not kept")


def result_of(outcome):
    """Returns: the value, if it is one of a std::optional of libstdc++ or libc++."""
    for path in (("_M_payload", "_M_payload", "_M_value"), ("__val_",)):
        value = outcome["result_"]["kept_"]
        try:
            for member in path:
                value = value[member]
            return " with %s" % value.text()
        except weft_common.Error:
            continue
    return ""


WORDS = (
    (r"^weft::v0_1::Task$", task),
    (r"^weft::v0_1::Event$", event),
    (r"^weft::v0_1::WaitGroup$", wait_group),
    (r"^weft::v0_1::mutex$", mutex),
    (r"^weft::v0_1::Channel<.*>$", channel),
    (r"^weft::v0_1::(Shared)?Future<.*>$", future),
    (r"^weft::v0_1::Promise<.*>$", promise),
)


def has_words(type_name):
    return any(re.match(pattern, type_name) for pattern, _ in WORDS)


def words(value):
    """Returns: one line about an object whose type has_words()."""
    try:
        name = value.type_name()
        return next(tell for pattern, tell in WORDS if re.match(pattern, name))(value)
    except weft_common.Error as error:
        return "<%s>" % error
