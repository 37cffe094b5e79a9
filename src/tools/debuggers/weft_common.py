# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""What the commands for gdb and lldb have in common: reads the schedulers of a process, and lists them.

Knows no debugger: that is given as a Target. Needs no debug information: the library has a table of offsets,
to which an ELF note leads (src/inspect/layout.h). src/inspect does the same for the program `weft`.
"""

import bisect
import collections
import struct

MAGIC = b"weftlay\n"
VERSION = 2
HEADER = struct.Struct("<8s4I16s4Q")  # LayoutTable
ENTRY = struct.Struct("<40sQ")  # LayoutEntry
NOTE = struct.Struct("<3I8si")  # sizes and type, "weft", the distance to the table
MOST = 1 << 16  # schedulers, threads, slabs: more would be a sign of damage
MARK = 1  # in place of a node: the owner of an inbox sleeps, or a node is not linked yet
MANY_FIBERS = 50  # from so many on, fibers are listed in groups
MOST_CYCLES, MOST_OF_CYCLE = 4, 16  # deadlocks, and fibers of one, that are told


class Error(Exception):
    """What a command says in place of its answer."""


class Target:
    """What a debugger provides."""

    def read(self, address, size):
        """Returns: bytes of the process. Raises Error where there is no memory."""
        raise NotImplementedError

    def notes(self):
        """Returns: the addresses and sizes of the sections .note.weft of all mapped files."""
        raise NotImplementedError

    def symbol(self, address):
        """Returns: the demangled name of the function at the address, or ""."""
        raise NotImplementedError

    def now(self):
        """Returns: the monotonic clock of the process in nanoseconds, or None for a core file."""
        raise NotImplementedError

    def thread(self, thread_id):
        """Returns: the debugger's number of the system's thread, or None."""
        raise NotImplementedError

    def architecture(self):
        """Returns: the debugger's name of the processor."""
        raise NotImplementedError

    def integer(self, address, size, signed=False):
        return int.from_bytes(self.read(address, size), "little", signed=signed)

    def word(self, address):
        return self.integer(address, 8)

    def text(self, address):
        found = b""
        while len(found) < 64 and b"\0" not in found:
            found += self.read(address + len(found), 1)
        return found.split(b"\0")[0].decode("utf-8", "replace")


class Layout:
    """A table of offsets, by their names."""

    def __init__(self, target, address):
        magic, version, entry_size, count, pointer_size, release, *pointers = HEADER.unpack(
            target.read(address, HEADER.size)
        )
        if magic != MAGIC:
            raise Error("there is no table of offsets at %#x" % address)
        if version != VERSION or entry_size != ENTRY.size or pointer_size != 8 or count > 4096:
            name = release.split(b"\0")[0].decode("ascii", "replace")
            raise Error("the program has weft %s: use the commands of that release" % name)
        self.schedulers, self.first_reading, entries, _ = pointers
        data = target.read(entries, count * ENTRY.size)
        named = ENTRY.iter_unpack(data)
        self.offsets = {name.split(b"\0")[0].decode("ascii"): value for name, value in named}

    def __getitem__(self, name):
        try:
            return self.offsets[name]
        except KeyError:
            raise Error("the program's weft does not say where %s lies" % name) from None


def layouts(target):
    """Returns: the tables of all copies of weft in the process."""
    found = []
    for begin, size in dict.fromkeys(target.notes()):  # gdb tells a file of a remote target twice
        for note in range(begin, begin + size - NOTE.size + 1, NOTE.size):
            name_size, content_size, kind, name, distance = NOTE.unpack(target.read(note, NOTE.size))
            if (name_size, content_size, kind, name) == (5, 4, 1, b"weft\0\0\0\0"):
                found.append(Layout(target, note + NOTE.size - 4 + distance))
    return found


class Record:
    """A piece of memory with members at offsets."""

    def __init__(self, data, start=0):
        self.data, self.start = data, start

    def at(self, offset, size=8, signed=False):
        begin = self.start + offset
        return int.from_bytes(self.data[begin : begin + size], "little", signed=signed)


class Fiber:
    """A fiber: `state` is "runs", "waits", "ready" or "idle"."""

    def __init__(self, worker, address, record, layout):
        self.worker, self.address, self.scope = worker, address, address
        self.id = record.at(layout["Fiber.id"], 4)
        self.task = record.at(layout["Fiber.task"])
        self.stack_pointer = record.at(layout["Fiber.stackPointer"])
        self.stack_base = record.at(layout["Fiber.stackBase"])
        self.stack_top = self.stack_base + record.at(layout["Fiber.stackSize"]) if self.stack_base else 0
        self.blocked_on = record.at(layout["Fiber.blockedOn"])
        self.object = record.at(layout["Fiber.blockedObject"])
        self.since = record.at(layout["Fiber.since"], 4)
        self.what, self.waited, self.owner, self.holder = "", 0, 0, None
        self.is_main = self.is_current = False
        is_woken = self.blocked_on and record.at(layout["Fiber.isWoken"], 1)
        is_woken = is_woken or record.at(layout["Fiber.isQueued"], 1)
        self.state = "ready" if is_woken else "waits" if self.blocked_on else "idle"

    @property
    def name(self):
        return "%s:%d" % (self.worker.short_name, self.id)

    @property
    def is_outside_of_tasks(self):
        return self.is_main and self.task == 0

    @property
    def has_saved_registers(self):
        """Whether `stack_pointer` leads to its frames."""
        is_suspended = not self.is_current or self.worker.is_idle
        return is_suspended and self.stack_pointer != 0 and self.state != "idle"

    @property
    def is_listed(self):
        if self.state in ("idle", "waits") or self.task:
            return self.state != "idle"
        return self.worker.id < 0 and self.is_main


class Worker:
    """A worker: `state` is "busy", "searches" or "sleeps"."""

    def __init__(self, scheduler, address, record, layout):
        self.scheduler, self.address = scheduler, address
        self.id = record.at(layout["Worker.id"], 4, signed=True)
        self.thread_id = record.at(layout["Worker.threadId"], 4)
        self.is_idle = bool(record.at(layout["Worker.isIdle"], 1))
        is_asleep = record.at(layout["Worker.isParked"], 1)
        self.state = "sleeps" if is_asleep else "searches" if self.is_idle else "busy"
        self.num_ready = self.num_blocked = 0
        self.num_idle = record.at(layout["Worker.numIdle"])
        self.num_queued = record.at(layout["Worker.pinnedLifo"]) + record.at(layout["Worker.pinnedFifo"])
        self.num_timers = record.at(layout["Worker.numTimers"], 4)
        self.until_timer = None
        self.looked_at = record.at(layout["Worker.lookedAt"], 4)
        self.busy_for = 0
        self.inbox = record.at(layout["Worker.inbox"])
        self.fibers = []

    @property
    def short_name(self):
        return str(self.id if self.id >= 0 else self.thread_id)

    def count_fibers(self):
        """The worker's own counters count a fiber that was woken as one that waits until it runs."""
        states = collections.Counter(fiber.state for fiber in self.fibers)
        self.num_ready, self.num_blocked = states["ready"], states["waits"]

    @property
    def running(self):
        return next((fiber for fiber in self.fibers if fiber.is_current), None)


class Scheduler:
    def __init__(self, address, num_injected, layout):
        self.address, self.num_injected, self.layout, self.workers = address, num_injected, layout, []


class Clock:
    """Tells ticks of the process as times, by two readings of both clocks."""

    def __init__(self, first, last, now, shift):
        ticks, elapsed = last[0] - first[0], last[1] - first[1]
        rate = elapsed / ticks if elapsed >= 1_000_000 and ticks > 0 else 0.4
        self.nanoseconds = last[1] if now is None else max(now, last[1])
        self._ticks = (last[0] + int((self.nanoseconds - last[1]) / rate)) >> shift
        self._unit = rate * (1 << shift)

    def since(self, then):
        passed = (self._ticks - then) & 0xFFFFFFFF
        return int(passed * self._unit) if passed < 1 << 31 else 0


class ScopeIndex:
    """Finds fibers by what locks know of their holders: the scopes of tasks."""

    def __init__(self, fibers):
        self._by_scope = {fiber.scope: fiber for fiber in fibers}
        with_stack = (fiber for fiber in fibers if fiber.stack_base)
        self._by_stack = sorted(with_stack, key=lambda fiber: fiber.stack_base)
        self._bases = [fiber.stack_base for fiber in self._by_stack]

    def find(self, scope):
        """Returns: the fiber, or None."""
        found = self._by_scope.get(scope)
        if found is None:
            # The scope of a task in place lies on the stack of the fiber that runs it.
            i = bisect.bisect_right(self._bases, scope) - 1
            found = self._by_stack[i] if i >= 0 and scope < self._by_stack[i].stack_top else None
        return found


class Snapshot:
    """All schedulers of the process, as it lies still."""

    def __init__(self, target):
        self.target = target
        self.schedulers = []
        self._names = {}
        self._num_waiters = None
        found = layouts(target)
        if not found:
            raise Error("this program has no weft, or one that is too old")
        for layout in found:
            CopyReader(self, layout).read()
        self._scopes = ScopeIndex(self.fibers)
        for fiber in self.fibers:
            if fiber.owner:
                fiber.holder = self.at_scope(fiber.owner)

    @property
    def workers(self):
        return [worker for scheduler in self.schedulers for worker in scheduler.workers]

    @property
    def fibers(self):
        return [fiber for worker in self.workers for fiber in worker.fibers]

    def task_name(self, fiber):
        if fiber.task == 0:
            return "(own code)"
        if fiber.task not in self._names:
            name = self.target.symbol(fiber.task)
            self._names[fiber.task] = shorten(name) if name else "%#x" % fiber.task
        return self._names[fiber.task]

    def num_waiters(self, awaited_object, what):
        """Returns: how many fibers wait for the object in the call that is named `what`."""
        if self._num_waiters is None:
            waiting = (fiber for fiber in self.fibers if fiber.state == "waits")
            self._num_waiters = collections.Counter((fiber.object, fiber.what) for fiber in waiting)
        return self._num_waiters[awaited_object, what]

    def member(self, fiber, name, size=8):
        """Returns: a number in the object for which the fiber waits, by its name in the table of offsets."""
        return self.target.integer(fiber.object + fiber.worker.scheduler.layout[name], size)

    def find(self, text):
        """Returns: the fiber that `text` names: N, W:N, or an address. Raises Error if there is not one."""
        try:
            found = list(filter(chooser(text), self.fibers))
        except ValueError:
            raise Error("%s is no fiber: give a number, WORKER:NUMBER, or an address" % text) from None
        if not found:
            raise Error("there is no fiber %s" % text)
        in_use = [fiber for fiber in found if fiber.is_listed]
        found = in_use or found
        if len(found) > 1:
            choices = ", ".join("%s (%#x)" % (fiber.name, fiber.address) for fiber in found[:20])
            raise Error("%d fibers are called %s: %s" % (len(found), text, choices))
        return found[0]

    def at_scope(self, scope):
        """Returns: the fiber whose task locks know by `scope`, or None."""
        return self._scopes.find(scope)


def chooser(text):
    """Returns: a function that tells whether a fiber is what `text` names."""
    if text.startswith("0x"):
        address = int(text, 16)
        return lambda fiber: fiber.address == address
    worker, colon, number = text.rpartition(":")
    chosen = int(number)
    if colon:
        int(worker)
    return lambda fiber: fiber.id == chosen and (not colon or fiber.worker.short_name == worker)


class CopyReader:
    """Reads the schedulers of one copy of weft."""

    def __init__(self, snapshot, layout):
        self.snapshot, self.target, self.layout = snapshot, snapshot.target, layout
        self.cores = self._list(self.target.word(layout.schedulers), layout["Listed.older"])
        self.texts = {}

    def _list(self, first, offset_of_next):
        found = []
        while first > MARK and len(found) < MOST:
            found.append(first)
            first = self.target.word(first + offset_of_next)
        return found

    def read(self):
        layout = self.layout
        cores = [listed - layout["Scheduler.listed"] for listed in self.cores]
        workers = [(core, address) for core in cores for address in self._workers(core)]
        readings = [self._reading(address + layout["Worker.lastReading"]) for _, address in workers]
        first = self._reading(layout.first_reading)
        last = max(readings, key=lambda reading: reading[1], default=first)
        last = max(first, last, key=lambda reading: reading[1])
        self.clock = Clock(first, last, self.target.now(), layout["Clock.shift"])
        by_core = {}
        for core in cores:
            address = self.target.word(core + layout["Scheduler.object"])
            by_core[core] = Scheduler(address, self._num_injected(core), layout)
            self.snapshot.schedulers.append(by_core[core])
        for core, address in workers:
            self._add_worker(by_core[core], address)
        started = [worker for scheduler in by_core.values() for worker in scheduler.workers]
        self._mark_woken(started)
        for worker in started:
            worker.count_fibers()

    def _reading(self, address):
        return (
            self.target.word(address + self.layout["Reading.ticks"]),
            self.target.word(address + self.layout["Reading.nanoseconds"]),
        )

    def _workers(self, core):
        layout = self.layout
        count = min(self.target.integer(core + layout["Scheduler.numWorkers"], 4), MOST)
        first = self.target.word(core + layout["Scheduler.workers"])
        started = [self.target.word(first + 8 * i) for i in range(count)] if first else []
        bound = self._list(self.target.word(core + layout["Scheduler.firstBound"]), layout["Bound.next"])
        return [worker for worker in started if worker] + [each + layout["Bound.worker"] for each in bound]

    def _num_injected(self, core):
        """As SegmentedQueue::size()."""
        layout = self.layout
        position = self.target.word(core + layout["Scheduler.tail"])
        segment = self.target.word(core + layout["Scheduler.oldest"])
        overflow = self.target.word(core + layout["Scheduler.overflow"])
        if segment == 0:
            return overflow
        shift, size = layout["Segment.lapShift"], layout["Segment.size"]
        tail = (position >> shift) * size + (position & ((1 << shift) - 1))
        index = self.target.integer(segment + layout["Segment.index"], 4)
        head = self.target.word(segment + layout["Segment.begin"]) + min(index, size)
        return overflow + max(tail - head, 0)

    def _add_worker(self, scheduler, address):
        layout = self.layout
        record = Record(self.target.read(address, layout["Worker.size"]))
        worker = Worker(scheduler, address, record, layout)
        worker.busy_for = self.clock.since(worker.looked_at)
        letters = self._list(record.at(layout["Worker.letters"]), layout["Letter.next"])
        worker.num_queued += len(letters)  # tasks that others have placed on the worker
        deque = record.at(layout["Worker.deque"])
        if deque:
            bottom = self.target.integer(deque + layout["Deque.bottom"], 8, signed=True)
            top = self.target.integer(deque + layout["Deque.top"], 8, signed=True)
            worker.num_queued += max(bottom - top, 0)
        if worker.num_timers:
            deadline = self.target.integer(record.at(layout["Worker.timers"]), 8, signed=True)
            worker.until_timer = deadline - self.clock.nanoseconds
        scope = record.at(layout["Worker.mainScope"])
        if scope:
            block = address + layout["Worker.main"]
            main = self._add_fiber(worker, block, Record(record.data, layout["Worker.main"]))
            main.is_main, main.scope = True, scope
        self._add_slabs(worker, record.at(layout["Worker.slabs"]))
        self._set_states(worker, record.at(layout["Worker.current"]))
        scheduler.workers.append(worker)

    def _add_slabs(self, worker, first):
        layout = self.layout
        size = layout["Fiber.size"]
        for slab in self._list(first, layout["Slab.next"]):
            count = min(self.target.integer(slab + layout["Slab.numUsed"], 4), layout["Slab.size"])
            blocks = slab + layout["Slab.blocks"]
            data = self.target.read(blocks, count * size) if count else b""
            for i in range(count):
                record = Record(data, i * size)
                is_own = record.at(layout["Fiber.worker"]) == worker.address
                if is_own and record.at(layout["Fiber.stackBase"]):
                    self._add_fiber(worker, blocks + i * size, record)

    def _add_fiber(self, worker, address, record):
        fiber = Fiber(worker, address, record, self.layout)
        worker.fibers.append(fiber)
        if fiber.blocked_on:
            if fiber.blocked_on not in self.texts:
                self.texts[fiber.blocked_on] = self.target.text(fiber.blocked_on)
            fiber.what = self.texts[fiber.blocked_on]
            fiber.waited = self.clock.since(fiber.since)
            fiber.owner = self._owner(fiber)
        return fiber

    def _owner(self, fiber):
        # A RecursiveMutex begins with the mutex on which it stands.
        if fiber.what in ("mutex", "RecursiveMutex"):
            return self.target.word(fiber.object + self.layout["mutex.owner"])
        if fiber.what == "SharedMutex":
            return self.target.word(fiber.object + self.layout["SharedMutex.owner"])
        return 0

    def _set_states(self, worker, current):
        for fiber in worker.fibers:
            fiber.is_current = fiber.address == current
            if fiber.is_current:
                runs_code = worker.id < 0 if fiber.is_main else fiber.task != 0
                if worker.state == "busy" and not fiber.blocked_on and runs_code:
                    fiber.state = "runs"
            elif not fiber.blocked_on and fiber.task:
                fiber.state = "ready"  # it has yielded
        running = worker.running
        if worker.state == "busy" and (running is None or running.state != "runs"):
            worker.state = "searches"

    def _mark_woken(self, workers):
        """An inbox lists fibers that other threads have woken. Their worker does not know of them yet.

        A notice of placed tasks may stand among them. It is no fiber."""
        by_address = {fiber.address: fiber for worker in workers for fiber in worker.fibers}
        for worker in workers:
            inbox = worker.inbox
            for _ in range(len(by_address) + 1):
                if inbox <= MARK:
                    break
                fiber = by_address.get(inbox)
                if fiber is not None and fiber.state == "waits":
                    fiber.state = "ready"
                inbox = self.target.word(inbox + self.layout["Fiber.inboxNext"])


# Words.


def shorten(name):
    """Returns: a demangled name without what weft puts around a task, and without the version."""
    for wrapper in ("weft::v0_1::detail::FunctionNode<", "weft::v0_1::detail::TaskGroupCore::GroupTask<"):
        end = name.rfind(">::invoke")
        if name.startswith(wrapper) and end >= len(wrapper):
            name = name[len(wrapper) : end]
    return name.replace("weft::v0_1::", "weft::")


def duration(nanoseconds):
    count = max(nanoseconds, 0)
    for name, size, end in (
        ("us", 1000, 1000),
        ("ms", 10**6, 1000),
        ("s", 10**9, 120),
        ("min", 60 * 10**9, 120),
        ("h", 3600 * 10**9, 48),
        ("days", 86400 * 10**9, None),
    ):
        if end is None or count // size < end:
            break
    whole, tenth = count // size, count % size // (size // 10)
    return "%d%s %s" % (whole, ".%d" % tenth if whole < 10 and tenth else "", name)


def counted(count, noun):
    return "%s %s%s" % (format(count, ","), noun, "" if count == 1 else "s")


def is_descriptor(fiber):
    return fiber.what.startswith("io::")


def has_object(fiber):
    if is_descriptor(fiber):
        return fiber.object & 0xFFFFFFFF < 1 << 31
    return fiber.object != 0 and fiber.what != "sleep" and not fiber.what.startswith("Fiber::")


def object_name(fiber):
    """Returns: what the fiber waits for."""
    if not has_object(fiber):
        return fiber.what
    if is_descriptor(fiber):
        return "%s, fd %d" % (fiber.what, fiber.object & 0xFFFFFFFF)
    return "%s %#x" % (fiber.what, fiber.object)


def count_of(snapshot, fiber):
    shift = fiber.worker.scheduler.layout["WaitWord.shift"]
    return " (count %s)" % format(snapshot.member(fiber, fiber.what + ".word", 4) >> shift, ",")


def arrivals_at(snapshot, fiber):
    layout = fiber.worker.scheduler.layout
    arrivals = snapshot.member(fiber, "Barrier.word") & (1 << layout["Barrier.phaseShift"]) - 1
    return " (%s still to arrive)" % format(arrivals >> layout["WaitWord.shift"], ",")


def mode_of(snapshot, fiber):
    return " (not signalled, Mode::%s)" % ("Manual" if snapshot.member(fiber, "Event.isManual", 1) else "Auto")


def readers_of(snapshot, fiber):
    shift = fiber.worker.scheduler.layout["SharedMutex.readerShift"]
    num_readers = snapshot.member(fiber, "SharedMutex.word") >> shift
    return " (held by %s)" % counted(num_readers, "reader") if num_readers else ""


def values_of(snapshot, fiber):
    layout = fiber.worker.scheduler.layout
    capacity = snapshot.member(fiber, "Channel.capacity")
    head, tail = snapshot.member(fiber, "Channel.head"), snapshot.member(fiber, "Channel.tail")
    count = min(max((tail >> layout["Channel.shift"]) - (head >> layout["Channel.shift"]), 0), capacity)
    text = "%s of %s" % (format(count, ","), counted(capacity, "value")) if capacity else "no buffer"
    opposite = "receive" if fiber.what == "Channel::send" else "send"
    if tail & layout["Channel.closed"]:
        text += ", closed"
    elif snapshot.num_waiters(fiber.object, "Channel::" + opposite) == 0:
        text += "; no fiber waits to " + opposite
    return " (%s)" % text


# As src/inspect/object_reader.cpp and phrases.cpp.
STATES = {
    "WaitGroup": count_of,
    "Latch": count_of,
    "Barrier": arrivals_at,
    "Event": mode_of,
    "SharedMutex": readers_of,
    "Channel::receive": values_of,
    "Channel::send": values_of,
}


def awaited(snapshot, fiber):
    """Returns: what the waiting fiber waits for, and what that holds."""
    state = STATES.get(fiber.what)
    try:
        return object_name(fiber) + (state(snapshot, fiber) if state else "")
    except Error:
        return object_name(fiber)  # the object's memory cannot be read


def holder(snapshot, fiber):
    """Returns: who holds the lock that the fiber waits for, as an end of its line."""
    if fiber.owner == 0:
        return ""
    if fiber.holder is None:
        return "; held by a thread or task that weft does not know"
    if fiber.holder is fiber:
        return "; held by the waiting fiber itself"
    if fiber.holder.state == "idle":
        return "; held by a task that has ended without unlocking it"
    return "; held by fiber %s, task %s" % (fiber.holder.name, snapshot.task_name(fiber.holder))


def lock_cycles(snapshot):
    """Returns: lists of fibers. Each waits for a lock that the next one holds, the last one for the first's."""
    position = {fiber: i for i, fiber in enumerate(snapshot.fibers)}
    found, visits = [], {}
    for begin in position:
        fiber = begin
        while fiber is not None and fiber not in visits:
            visits[fiber] = begin
            # A fiber that was woken to try again, and has not had its turn, waits for the lock as before.
            fiber = fiber.holder if fiber.state in ("waits", "ready") else None
        # A fiber of an earlier visit has been looked at with all that it leads to.
        if fiber is not None and visits[fiber] is begin:
            cycle = [fiber]
            while cycle[-1].holder is not fiber:
                cycle.append(cycle[-1].holder)
            first = cycle.index(min(cycle, key=position.get))
            found.append(cycle[first:] + cycle[:first])
    return found


def deadlocks(snapshot):
    """Returns: lines that tell the cycles of fibers that wait for locks. The process must stand still."""
    cycles = lock_cycles(snapshot)
    lines = []
    for cycle in cycles[:MOST_CYCLES]:
        if len(cycle) == 1:
            who = "a fiber waits for a lock that it holds itself"
        else:
            who = "%s wait for locks of each other" % counted(len(cycle), "fiber")
        lines.append("deadlock: %s, and only a time limit or a stop could end that:" % who)
        for i, fiber in enumerate(cycle[:MOST_OF_CYCLE]):
            wait = "holds %s and waits for %s, for %s" % (
                object_name(cycle[i - 1]), awaited(snapshot, fiber), duration(fiber.waited))
            lines.append("  %s, %s" % (name_and_code(snapshot, fiber), wait))
        if len(cycle) > MOST_OF_CYCLE:
            lines.append("  and " + counted(len(cycle) - MOST_OF_CYCLE, "more fiber"))
    left = cycles[MOST_CYCLES:]
    if left:
        count = counted(sum(map(len, left)), "fiber")
        lines.append("%s, %s in all" % (counted(len(left), "more deadlock"), count))
    return lines


def thread_name(target, worker):
    number = target.thread(worker.thread_id)
    known = "thread %s (LWP %%d)" % number if number is not None else "LWP %d"
    return known % worker.thread_id


def table(rows):
    """Returns: lines with columns of even width, but for the last."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]) - 1)]
    return ["  ".join([*map(str.ljust, row, widths), row[-1]]).rstrip() for row in rows]


# Commands: each returns lines. Its documentation is its help.


def fibers(snapshot, arguments):
    """List the fibers: weft fibers [all]

    One line a fiber: WORKER:NUMBER (in place of a worker's number, that of a bound thread), what it does,
    since when, what it waits for, its task. More than 50 fibers are listed in groups, without `all`."""
    if arguments not in ([], ["all"]):
        raise Error("usage: weft fibers [all]")
    listed = [fiber for fiber in snapshot.fibers if fiber.is_listed]
    listed.sort(key=lambda fiber: fiber.is_outside_of_tasks)  # who looks for a fault begins with the tasks
    if not listed:
        return ["no fiber is in use"]
    lines = deadlocks(snapshot)
    if len(listed) > MANY_FIBERS and not arguments:
        return lines + groups(snapshot, listed)
    rows = [("FIBER", "STATE", "SINCE", "WAITS FOR", "TASK")]
    for fiber in listed:
        waits = fiber.state == "waits"
        since, wanted = (duration(fiber.waited), awaited(snapshot, fiber)) if waits else ("-", "-")
        task = snapshot.task_name(fiber) + (holder(snapshot, fiber) if waits else "")
        rows.append((fiber.name, fiber.state, since, wanted, task))
    return lines + table(rows)


def groups(snapshot, listed):
    """Returns: a line for all fibers that do the same, with the one that has done it longest."""
    alike = {}
    for fiber in listed:
        alike.setdefault((fiber.state, fiber.what, fiber.task), []).append(fiber)

    def order(item):
        members = item[1]
        return members[0].is_outside_of_tasks, -len(members)

    rows = [("FIBERS", "STATE", "SINCE", "WAIT FOR", "FOR EXAMPLE", "TASK")]
    for (state, what, _), members in sorted(alike.items(), key=order):
        first = max(members, key=lambda fiber: fiber.waited)
        objects = {fiber.object for fiber in members}
        waits = state == "waits"
        wanted = "-"
        if waits:
            is_one = len(objects) == 1
            wanted = awaited(snapshot, first) if is_one else "%s (%d of them)" % (what, len(objects))
        since = duration(first.waited) if waits else "-"
        rows.append((format(len(members), ","), state, since, wanted, first.name, snapshot.task_name(first)))
    return table(rows) + ["`weft fibers all` lists each fiber."]


def activity(snapshot, worker):
    if worker.state == "sleeps":
        return "sleeps"
    if worker.state == "searches":
        return "looks for work"
    running = worker.running
    text = "runs its own code" if running.is_outside_of_tasks else "runs task %s on fiber %s" % (
        snapshot.task_name(running), running.name)
    is_awaited = worker.num_ready + worker.num_queued + worker.num_blocked != 0
    if worker.busy_for >= 10**9 and (is_awaited or not running.is_outside_of_tasks):
        text += "; has not looked after other fibers for " + duration(worker.busy_for)
    return text


def workers(snapshot, arguments):
    """List the workers, their threads, and what they run: weft workers"""
    refuse(arguments)
    lines = []
    for scheduler in snapshot.schedulers:
        lines.append("scheduler %#x" % scheduler.address)
        for worker in scheduler.workers:
            name = "worker %d, " % worker.id if worker.id >= 0 else "bound "
            thread = thread_name(snapshot.target, worker)
            lines.append("  %s%s: %s" % (name, thread, activity(snapshot, worker)))
    return lines or ["there is no scheduler"]


def queues(snapshot, arguments):
    """List how much the workers have to do: weft queues"""
    refuse(arguments)
    lines = []
    for scheduler in snapshot.schedulers:
        injected = counted(scheduler.num_injected, "task")
        lines.append("scheduler %#x: %s queued for any worker" % (scheduler.address, injected))
        rows = [("  WORKER", "READY", "QUEUED", "BLOCKED", "IDLE", "TIMERS", "NEXT TIMER")]
        for worker in scheduler.workers:
            timer = worker.until_timer
            next_timer = "-" if timer is None else "in " + duration(timer) if timer > 0 else "due"
            fiber_counts = (worker.num_blocked, worker.num_idle)
            numbers = (worker.num_ready, worker.num_queued, *fiber_counts, worker.num_timers)
            name = "worker %d" % worker.id if worker.id >= 0 else "bound thread %d" % worker.thread_id
            rows.append(("  " + name, *map(str, numbers), next_timer))
        lines += table(rows)
    return lines or ["there is no scheduler"]


def name_and_code(snapshot, fiber):
    code = "the code of its thread" if fiber.is_outside_of_tasks else "without a task"
    return "fiber %s, %s" % (fiber.name, "task " + snapshot.task_name(fiber) if fiber.task else code)


def refuse(arguments):
    if arguments:
        raise Error("this command takes no arguments")


# The commands that print nothing but what they read.
LISTS = {"fibers": fibers, "workers": workers, "queues": queues}


def headline(snapshot, fiber):
    """Returns: what is to be said of one fiber."""
    text = name_and_code(snapshot, fiber)
    if fiber.state == "waits":
        does = "sleeps" if fiber.what == "sleep" else "waits for " + awaited(snapshot, fiber)
        text += ", %s, for %s%s" % (does, duration(fiber.waited), holder(snapshot, fiber))
    elif fiber.state == "ready":
        text += ", may go on, and waits for its turn"
    return text


class Switch:
    """How a processor's switch of fibers saves registers: src/osfiber_asm."""

    def __init__(self, saved, size, sp, pc, link=None, address_bits=64):
        # `saved` lies from the saved stack pointer upwards, in a frame of `size` bytes. `link` is the register
        # in which a call leaves its return address, if it does.
        self.saved, self.size, self.sp, self.pc, self.link = saved, size, sp, pc, link
        self.address_bits = address_bits

    def code_address(self, address):
        """Returns: a return address without its signature."""
        return address & ((1 << self.address_bits) - 1)


# By the beginnings of what debuggers call the processors.
SWITCHES = {
    ("i386:x86-64", "x86_64"): Switch(("r15", "r14", "r13", "r12", "rbx", "rbp", "rip"), 56, "rsp", "rip"),
    # A signature begins at bit 48: Linux maps nothing above unless a program asks for it.
    ("aarch64", "arm64"): Switch(
        ("x29", "pc", *("x%d" % i for i in range(19, 29))), 160, "sp", "pc", link="x30", address_bits=48
    ),
}


def switch_of(name):
    """Returns: the Switch of the processor that the debugger calls so. Raises Error if it is not known."""
    for beginnings, switch in SWITCHES.items():
        if name.startswith(beginnings):
            return switch
    raise Error("where fibers of %s keep their registers is not known" % name)


# At the saved stack pointer, where the build has WEFT_UCONTEXT: kUcontextMark of src/os/osfiber_backend.h.
UCONTEXT_MARK = int.from_bytes(b"ucontext", "little")


def saved_registers(snapshot, fiber):
    """Returns: the registers of a suspended fiber. Raises Error, which says where to look, if it is none."""
    if fiber.state == "idle":
        raise Error("fiber %s has no task" % fiber.name)
    if not fiber.has_saved_registers:
        thread = thread_name(snapshot.target, fiber.worker)
        does = "runs on" if fiber.state == "runs" else "has waited last on"
        raise Error("fiber %s %s %s, whose own backtrace shows it" % (fiber.name, does, thread))
    target, switch = snapshot.target, switch_of(snapshot.target.architecture())
    registers = {name: target.word(fiber.stack_pointer + 8 * i) for i, name in enumerate(switch.saved)}
    registers[switch.pc] = switch.code_address(registers[switch.pc])
    if registers[switch.pc] == 0 and target.word(fiber.stack_pointer) == UCONTEXT_MARK:
        raise Error("fiber %s has no frames: this build uses ucontext" % fiber.name)
    if registers[switch.pc] == 0:
        raise Error("the stack of fiber %s is not in the core file" % fiber.name)
    registers[switch.sp] = fiber.stack_pointer + switch.size
    if switch.link:
        registers[switch.link] = registers[switch.pc]  # as the switch has returned
    return registers
