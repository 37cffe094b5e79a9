# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0
"""The bars that weft is held to: what is divided by what, and how large the ratio may be."""

import statistics


class Bar:
    """`value` over `base` is to be at most `limit`; both are (question, library, workload, workers, metric).

    Without a base the value itself is compared, in `unit`. Without a limit the ratio is shown for comparison.
    `floor` is what the hardware, or a program without a scheduler, needs for the same: see floor_of().
    """

    def __init__(self, name, value, base=None, limit=None, unit="", aim=None):
        self.question = value[0]
        self.name = name
        self.value = value
        self.base = base
        self.limit = limit
        self.unit = unit
        self.aim = aim
        self.floor = floor_of(self)

    @property
    def is_optional(self):
        """Whether it is by a rival that no package has, so that nobody misses it."""
        return bool(self.base) and self.base[1] in OPTIONAL_RIVALS

    @property
    def limit_text(self):
        if self.limit is None:
            return "-"
        text = "%g %s" % (self.limit, self.unit) if self.unit else "%g" % self.limit
        return text + (" (aim %g)" % self.aim if self.aim else "")


def figures_of(question, metric):
    """Returns a short way to name a figure of that question."""
    return lambda library, workload, workers=1: (question, library, workload, workers, metric)


def count(workers):
    return "1 worker" if workers == 1 else "%d workers" % workers


def values_of(where, figures):
    """Returns the measured values of (question, library, workload, workers, metric), or None."""
    return figures.get(tuple(where[:4]), {}).get(where[4])


def ratio(bar, figures, of=statistics.median):
    """Returns the ratio of the medians (without a base: the median), or None where a figure is missing.

    With of=min it is that of the fastest runs, which a disturbed machine changes less.
    """
    value = values_of(bar.value, figures)
    if value is None:
        return None
    if bar.base is None:
        return of(value)
    base = values_of(bar.base, figures)
    if not base or of(base) <= 0:
        return None
    return of(value) / of(base)


def floor_ratio(bar, figures):
    """Returns by how much the value exceeds its floor, or None where either is missing."""
    value, floor = (values_of(where, figures) if where else None for where in (bar.value, bar.floor))
    if not value or not floor or statistics.median(floor) <= 0:
        return None
    return statistics.median(value) / statistics.median(floor)


# Rivals that are built from a folder that the user names (WEFT_RIVAL_MARL).
OPTIONAL_RIVALS = ("marl",)

# {case: the case of another question that it is}. What a question's bars need of another one is measured
# among its own cases, so that both are of one time, and by a name of its own.
BORROWED = {}


def borrow(question, figure):
    """Returns the figure of another question, as measured in this one."""
    origin, library, workload, workers, metric = figure
    case = (question, library, "%s/%s" % (origin, workload), workers)
    BORROWED[case] = figure[:4]
    return case + (metric,)


spawn = figures_of("spawn", "ns_per_task")
switch = figures_of("switch", "ns_per_switch")
TBB_SPAWN = spawn("tbb", "task")
BOOST_YIELD = switch("boost_fiber", "yield")

# The floors: question, metric, how the workload begins, and the figure; the first that matches. A workload or
# a number of workers that is None is that of the bar.
CALL = spawn("floor", "call")
RAW_SWITCH = figures_of("switch", "ns")("raw_weft", "raw/0")
LOCK = figures_of("mutex", "ns_per_lock")("floor", "uncontended")
ADD = figures_of("mutex", "ns_per_lock")("floor", "contended", 2)
FLOORS = (
    ("switch", "ns_per_switch", "yield-frames", figures_of("switch", "ns")("raw_weft", "raw/6")),
    ("switch", "ns_per_switch", "yield", RAW_SWITCH),
    ("event", "ns", "", borrow("event", RAW_SWITCH)),
    ("channel", "ns", "stream-", ("channel", "floor", None, None, "ns")),
    ("channel", "ns", "", borrow("channel", RAW_SWITCH)),
    ("spawn", "ns_per_task", "", CALL),
    ("provider", "ns_per_task", "", figures_of("provider", "ns_per_task")("serial", "provider")),
    ("fib", "ms", "", figures_of("fib", "ms")("serial", "fib")),
    ("skynet", "ms", "", figures_of("skynet", "ms")("serial", "skynet")),
    ("nqueens", "ms", "", figures_of("nqueens", "ms")("serial", "nqueens")),
    ("loop", "ms", "", ("loop", "serial", None, 1, "ms")),
    ("loop", "ns", "", ("loop", "serial", None, 1, "ns")),
    ("sort", "ms", "", ("sort", "std", None, 1, "ms")),
    ("blocked", "reused_ns", "", figures_of("blocked", "touch_ns")("floor", "touch")),
    ("blocked", "signal_ns", "", figures_of("blocked", "touch_ns")("floor", "touch")),
    ("files", "ns_per_read", "cached", figures_of("files", "ns_per_read")("floor", "cached-1")),
    ("files", "ns_per_read", "direct", figures_of("files", "ns_per_read")("floor", "direct-32")),
    ("mutex", "ns_per_lock", "uncontended", LOCK),
    ("mutex", "ns_per_lock", "contended", ADD),
    ("sharedmutex", "ns_per_lock", "mixed", borrow("sharedmutex", ADD)),
    ("sharedmutex", "ns_per_lock", "", borrow("sharedmutex", LOCK)),
    ("idle", "cpu_percent", "", ("idle", "floor", None, 1, "cpu_percent")),
    ("ticket", "ns_per_ticket", "", borrow("ticket", CALL)),
    ("blocking_call", "ns_per_call", "", ("blocking_call", "floor", None, 1, "ns_per_call")),
    ("dag", "ns_per_node", "", ("dag", "floor", None, 1, "ns_per_node")),
    ("dag", "build_ns_per_node", "", ("dag", "floor", None, 1, "build_ns_per_node")),
    ("pool", "ns_per_loan", "contended", borrow("pool", ADD)),
    ("pool", "ns_per_loan", "", borrow("pool", LOCK)),
    ("parallelize", "ns_per_call", "", figures_of("parallelize", "ns_per_call")("floor", "two")),
    ("async", "ns_per_task", "", borrow("async", CALL)),
    ("fair", "ns_per_round_trip", "", figures_of("fair", "ns_per_round_trip")("floor", "line", 2)),
    ("fair", "ns_per_step", "", figures_of("fair", "ns_per_step")("floor", "increment")),
    ("fair", "ns_per_item", "", figures_of("fair", "ns_per_step")("floor", "increment")),
    ("compile", "seconds", "", figures_of("compile", "seconds")("std", "hello")),
    ("request", "p50_us", "", ("request", "floor", None, None, "p50_us")),
    ("request", "cpu_us", "", ("request", "floor", None, None, "cpu_us")),
    ("echo", None, "c", ("echo", "floor", None, 1, None)),  # connections-N, churn
    ("echo", None, "open", ("echo", "floor", None, 1, None)),
    ("marl", "ns", "empty", borrow("marl", CALL)),
    ("marl", "ns", "wait-group", borrow("marl", CALL)),
    ("marl", "ns", "", borrow("marl", RAW_SWITCH)),
    ("work", "ms", "", ("work", "weft", None, None, "ideal_ms")),
)


def floor_of(bar):
    """Returns the figure that is its floor, or None."""
    if bar.base and (bar.base[1] in ("floor", "serial") or bar.base[4] == "ideal_ms"):
        return bar.base
    _, _, workload, workers, metric = bar.value
    for question, of_metric, begin, (*where, floor_workload, floor_workers, floor_metric) in FLOORS:
        if question == bar.question and of_metric in (metric, None) and workload.startswith(begin):
            return (*where, workload if floor_workload is None else floor_workload,
                    workers if floor_workers is None else floor_workers, floor_metric or metric)
    return None



def switch_bars():
    for workload in ("yield", "yield-frames"):
        for workers in (1, 0):
            yield Bar("%s, %s, by Boost.Fiber's" % (workload, count(workers)),
                      switch("weft", workload, workers), switch("boost_fiber", workload), 0.3)
    raw = figures_of("switch", "ns")
    for depth in (0, 2, 6, 14):
        workload = "raw/%d" % depth
        yield Bar("raw switch under %d frames, by fcontext's" % depth,
                  raw("raw_weft", workload), raw("raw_fcontext", workload))


def event_bars():
    event = figures_of("event", "ns")
    boost_yield = borrow("event", BOOST_YIELD)
    for workers in (1, 0):
        yield Bar("Event ping-pong on one thread, %s, a switch by Boost.Fiber's yield" % count(workers),
                  event("weft", "ping-pong", workers), boost_yield, 0.4, aim=0.35)
    yield Bar("the same, by Boost.Fiber's condition variable",
              event("weft", "ping-pong"), event("boost_fiber", "ping-pong"))
    yield Bar("the same between two tasks that run one function, by Boost.Fiber's yield",
              event("weft", "ping-pong-alike"), boost_yield)
    across = figures_of("event_across", "ns_per_round_trip")
    yield Bar("Event round trip across 2 workers, by a cache line's",
              across("weft", "round-trip", 2), across("floor", "cache-line", 2), 5, aim=3)


def channel_bars():
    channel = figures_of("channel", "ns")
    go = channel("go", "ping-pong")
    for workers in (1, 0):
        yield Bar("unbuffered channel ping-pong on one thread, %s, a switch by Go's" % count(workers),
                  channel("weft", "ping-pong", workers), go, 0.35)
    yield Bar("the same, by Boost.Fiber's", channel("weft", "ping-pong"), channel("boost_fiber", "ping-pong"))
    for capacity in (1024, 128):
        workload = "stream-%d" % capacity
        yield Bar("stream through a buffer of %d, 2 workers, by Go's with GOMAXPROCS=2" % capacity,
                  channel("weft", workload, 2), channel("go", workload, 2), 0.5)
        yield Bar("the same, 1 worker, by Go's", channel("weft", workload), channel("go", workload))
    for workers in (1, 2):
        yield Bar("select over two channels, %s, by Go's" % count(workers),
                  channel("weft", "select", workers), channel("go", "select", workers))


def spawn_bars():
    names = {
        "task": "WaitGroup by value, from a task",
        "task-counter": "counter by reference, from a task",
        "task-thousand": "counter by reference, from a task, a thousand at a time",
        "outside": "WaitGroup by value, from outside",
        "outside-counter": "counter by reference, from outside",
        "many": "counter by reference, by scheduleMany() from a task",
        "outside-many": "counter by reference, by scheduleMany() from outside",
    }
    limits = [("task", 1, 0.7, 0.45), ("task", 2, 0.7, None),
              ("task-counter", 1, 0.5, 0.42), ("task-counter", 2, 0.7, None),
              ("task-thousand", 1, 0.27, None), ("task-thousand", 2, None, None),
              ("outside", 1, 0.25, None), ("outside", 2, 0.25, None),
              ("outside-counter", 1, 0.25, 0.15), ("outside-counter", 2, 0.25, 0.15),
              ("many", 1, None, None), ("many", 2, None, None),
              ("outside-many", 1, None, None), ("outside-many", 2, None, None)]
    for workload, workers, limit, aim in limits:
        against = "outside" if workload.startswith("outside") else "task"
        yield Bar("%s, %s, by oneTBB's" % (names[workload], count(workers)),
                  spawn("weft", workload, workers), spawn("tbb", against, workers), limit, aim=aim)
    for workers in (1, 2):
        yield Bar("TaskGroup::run from a task, %s, by oneTBB's" % count(workers),
                  spawn("weft", "group", workers), spawn("tbb", "task", workers), 0.35)
    for workload, what in (*names.items(), ("group", "TaskGroup::run from a task")):
        if workload != "task-thousand":
            yield Bar("%s, 1 worker, by 64 MB written and read" % what,
                      spawn("weft", workload), spawn("floor", "memory"))
    provider = figures_of("provider", "ns_per_task")
    for workers in (1, 2, 4, 8):
        yield Bar("one provider, %s, by oneTBB's" % count(workers),
                  provider("weft", "provider", workers), provider("tbb", "provider", workers))


def fork_join_bars():
    fib = figures_of("fib", "ms")
    for workers in (1, 2):
        yield Bar("fib(30), %s, by oneTBB's" % count(workers),
                  fib("weft", "fib", workers), fib("tbb", "fib", workers), 0.75)
    for workers in (0, 1, 2):
        yield Bar("fib(30), %s, peak resident memory" % count(workers),
                  ("fib", "weft", "fib", workers, "peak_rss_kib"), None, 16384, "KiB")
    for workload, limits in (("join", (0.10, None)), ("group", (0.2, None))):
        for workers, limit in zip((1, 2), limits):
            yield Bar("fib(30) by %s, %s, by oneTBB's" % (workload, count(workers)),
                      fib("weft", workload, workers), fib("tbb", "fib", workers), limit)
    yield Bar("fib(30) by join, 2 workers, by that with 1", fib("weft", "join", 2), fib("weft", "join", 1), 0.541)
    skynet, nqueens, matmul = (figures_of(question, "ms") for question in ("skynet", "nqueens", "matmul"))
    for workload, limits in (("join", (0.25, 0.25)), ("group", (0.33, 0.3))):
        for workers, limit in zip((1, 2), limits):
            yield Bar("skynet by %s, %s, by oneTBB's" % (workload, count(workers)),
                      skynet("weft", workload, workers), skynet("tbb", "skynet", workers), limit)
    for workload, limits in (("join", (1.10, 0.56)), ("group", (1.15, 0.60))):
        for workers, limit, aim in zip((1, 2), limits, (1.03, 0.53)):
            yield Bar("nqueens by %s, %s, by a serial program's" % (workload, count(workers)),
                      nqueens("weft", workload, workers), nqueens("serial", "nqueens"), limit, aim=aim)
    for workload, limit in (("join", 1.15), ("group", 1.25)):
        yield Bar("nqueens by %s, 1 worker, by a serial program that stores its children" % workload,
                  nqueens("weft", workload), nqueens("floor", "stored"), limit)
    for workload in ("join", "group"):
        for workers, limit, aim in ((1, 1.03, 1.02), (2, 0.53, 0.52)):
            yield Bar("matmul by %s, %s, by a serial program's" % (workload, count(workers)),
                      matmul("weft", workload, workers), matmul("serial", "matmul"), limit, aim=aim)
    for question, figure in (("nqueens", nqueens), ("matmul", matmul)):
        for workload in ("join", "group"):
            yield Bar("%s by %s, 2 workers, by two threads that share the serial program" % (question, workload),
                      figure("weft", workload, 2), figure("floor", "halves", 2))
    for question, other in (("skynet", "tbb"), ("nqueens", "tbb"), ("nqueens", "serial")):
        figure = figures_of(question, "ms")
        for workers in (1, 2):
            yield Bar("%s, %s, by %s's" % (question, count(workers), other),
                      figure("weft", question, workers),
                      figure(other, question, 1 if other == "serial" else workers))


def loop_bars():
    large = skewed = figures_of("loop", "ms")
    small = figures_of("loop", "ns")
    for workers, limit in ((1, 0.4), (2, 0.8)):
        yield Bar("a loop over 10 M floats, %s, by OpenMP's" % count(workers),
                  large("weft", "large", workers), large("openmp", "large", workers), 1.03)
        yield Bar("a region of 1,024 floats, %s, by OpenMP's" % count(workers),
                  small("weft", "small", workers), small("openmp", "small", workers), limit)
        for rival in ("openmp", "tbb"):
            yield Bar("a loop whose work lies at its end, %s, by %s's" % (count(workers), rival),
                      skewed("weft", "skewed", workers), skewed(rival, "skewed", workers))
        yield Bar("a sum by a value for each thread, %s, by oneTBB's" % count(workers),
                  small("weft", "local", workers), small("tbb", "local", workers))
        yield Bar("a sum by a value for each thread, %s, by one atomic" % count(workers),
                  small("weft", "local", workers), small("weft", "atomic", workers))


def sort_bars():
    sort = figures_of("sort", "ms")
    for workers in (1, 2):
        # 0.95 x the speed.
        yield Bar("sorting 10 M random numbers, %s, by oneTBB's" % count(workers),
                  sort("weft", "random", workers), sort("tbb", "random", workers), 1.05)
        yield Bar("the same, stable, %s, by the standard library's" % count(workers),
                  sort("weft", "stable", workers), sort("std", "stable"))


def blocked_bars():
    first, reused, signal = (figures_of("blocked", name) for name in ("first_ns", "reused_ns", "signal_ns"))
    yield Bar("first create and block, by a guard and a touched page",
              first("weft", "blocked"), first("floor", "guard-and-touch"), 1.25)
    yield Bar("create and block, reused, by Boost.Fiber's",
              reused("weft", "blocked"), reused("boost_fiber", "blocked"), 0.25)
    yield Bar("create and block, reused, by Boost.Fiber's with pooled stacks",
              reused("weft", "blocked"), reused("boost_fiber", "blocked-pooled"), 1, aim=0.35)
    yield Bar("signal and finish, by Boost.Fiber's with pooled stacks",
              signal("weft", "blocked"), signal("boost_fiber", "blocked-pooled"), 0.6)
    touch = figures_of("blocked", "touch_ns")("floor", "touch")
    yield Bar("create and block, reused, by a touch of its block and stack", reused("weft", "blocked"), touch)
    yield Bar("signal and finish, by a touch of its block and stack", signal("weft", "blocked"), touch)
    yield Bar("signal and finish, by Boost.Fiber's",
              signal("weft", "blocked"), signal("boost_fiber", "blocked"), 0.4)
    for workload in ("blocked", "million"):
        for metric, limit, name in (("resident_bytes", 4400, "resident memory a fiber"),
                                    ("page_table_bytes", None, "page tables a fiber"),
                                    ("left_bytes", 440, "resident memory a fiber when all is over")):
            yield Bar("%s (%s)" % (name, workload), figures_of("blocked", metric)("weft", workload),
                      None, limit, "bytes")


def mutex_bars():
    lock = figures_of("mutex", "ns_per_lock")
    yield Bar("uncontended, by std::mutex's", lock("weft", "uncontended"), lock("std", "uncontended"), 0.8)
    yield Bar("2 workers x 8 fibers, by std::mutex's with 16 threads",
              lock("weft", "contended", 2), lock("std", "contended", 2), 1)
    shared = figures_of("sharedmutex", "ns_per_lock")
    for workload, workers in (("read", 1), ("write", 1), ("mixed", 2)):
        yield Bar("shared, %s, by std::shared_mutex's" % workload,
                  shared("weft", workload, workers), shared("std", workload, workers))


def machine_bars():
    idle = figures_of("idle", "cpu_percent")
    for workload, limit in (("idle", 0.05), ("rate-100", 1), ("rate-1000", 10)):
        yield Bar("processor time, %s" % workload, idle("weft", workload, 2), None, limit, "%")
    latency = figures_of("latency", "p50_ns")
    for workers in (1, 2):
        yield Bar("schedule() outside until the start, p50, %s, by a futex wake" % count(workers),
                  latency("weft", "outside", workers), latency("floor", "futex-wake"), 1.3)
    for metric in ("p50_ns", "p99_ns"):
        beside = figures_of("latency", metric)
        for workers in (1, 2):
            yield Bar("the same beside a thread that computes on each processor, %s, %s, by a futex wake" % (
                metric[:3], count(workers)), beside("weft", "beside-hogs", workers), beside("floor", "beside-hogs"), 1.5)
    create = figures_of("create", "us")
    for workload, limit in (("create", 1.5), ("create-use", None)):
        yield Bar("a scheduler of 2 workers (%s), by 2 threads" % workload,
                  create("weft", workload, 2), create("floor", "threads", 2), limit)
    seconds = figures_of("compile", "seconds")
    yield Bar("#include <weft/weft.h>, hello world", seconds("weft", "hello"), None, 2, "s")


def poll_source_bars():
    cpu, p50, p99, rate = (figures_of("poll_source", metric)
                           for metric in ("cpu_percent", "p50_us", "p99_us", "ns_per_request"))
    for waiters, limit in ((1, 3), (16, 3), (1000, 5)):
        workload = "idle-%d" % waiters
        yield Bar("processor time while %d wait, 2 workers" % waiters, cpu("weft", workload, 2), None, limit, "%")
    for other in ("idle-1000", "idle-1000-nap"):
        yield Bar("processor time while 1000 wait, by a polling thread's%s" % (" with naps" * other.endswith("nap")),
                  cpu("weft", "idle-1000", 2), cpu("std", other))
    # An eighth of the time that the request takes, a millisecond at most, and the wake.
    for us, limit in ((1, 3), (20, 8), (100, 25), (1000, 250), (10000, 1300)):
        yield Bar("how late after a request of %d us, p50, idle workers" % us,
                  p50("weft", "late-%d" % us, 2), None, limit, "us")
        yield Bar("how late after a request of %d us, p99, idle workers" % us,
                  p99("weft", "late-%d" % us, 2), None, None, "us")
        yield Bar("how late after a request of %d us, p50, beside tasks that keep the workers busy" % us,
                  p50("weft", "late-%d-busy" % us, 2), None, None, "us")
    for us in (20, 100, 1000):
        for rival, what in (("late-%d", ""), ("late-%d-nap", " with naps")):
            yield Bar("how late after a request of %d us, p50, by a polling thread's%s" % (us, what),
                      p50("weft", "late-%d" % us, 2), p50("std", rival % us))
    for waiters in (1, 16, 1024):
        workload = "rate-%d" % waiters
        for workers in (1, 2):
            # One waiter gains nothing from sharing a thread.
            for rival, what, limit in (("std", "a polling thread's", None if waiters == 1 else 1),
                                       ("boost_fiber", "Boost.Fiber's yields", None),
                                       ("floor", "as many threads that test", None)):
                yield Bar("%d wait for requests of 20 us, %s, by %s" % (waiters, count(workers), what),
                          rate("weft", workload, workers), rate(rival, workload), limit)


def ticket_bars():
    ticket = figures_of("ticket", "ns_per_ticket")
    tbb_spawn = borrow("ticket", TBB_SPAWN)
    for workers in (1, 0, 2):
        yield Bar("ticket lane, %s, by oneTBB's spawn" % count(workers),
                  ticket("weft", "lane", workers), tbb_spawn, 1.3 if workers == 1 else None)
        yield Bar("ticket continuations, %s, by oneTBB's spawn" % count(workers),
                  ticket("weft", "continuation", workers), tbb_spawn)


def blocking_call_bars():
    call = figures_of("blocking_call", "ns_per_call")
    for workload, workers in (("one", 1), ("one", 0), ("many", 1)):
        who = "%s, %s" % (workload, count(workers)) if workers else "%s, nothing bound" % workload
        yield Bar("blocking_call (%s), by a thread made and joined" % who,
                  call("weft", workload, workers), call("floor", workload), 0.3)
        yield Bar("blocking_call (%s), by std::async's" % who,
                  call("weft", workload, workers), call("std", workload))


def dag_bars():
    node, build = (figures_of("dag", metric) for metric in ("ns_per_node", "build_ns_per_node"))
    for workload in ("deep", "wide", "diamond"):
        for workers in (1, 2):
            yield Bar("DAG of a million nodes (%s), %s, by oneTBB's flow graph" % (workload, count(workers)),
                      node("weft", workload, workers), node("tbb", workload, workers), 0.5)
        yield Bar("making that DAG (%s), by oneTBB's flow graph" % workload,
                  build("weft", workload), build("tbb", workload))


def pool_bars():
    loan = figures_of("pool", "ns_per_loan")
    for workload in ("bounded", "unbounded"):
        yield Bar("a loan (%s), by a vector under std::mutex" % workload, loan("weft", workload), loan("std", "bounded"))
    yield Bar("16 borrowers of 2 objects, by 16 threads with std::mutex",
              loan("weft", "contended", 2), loan("std", "contended", 2))


def parallelize_bars():
    call = figures_of("parallelize", "ns_per_call")
    tbb_spawn = borrow("parallelize", TBB_SPAWN)
    for workers in (1, 0, 2):
        yield Bar("parallelize of two empty functions, %s, by oneTBB's spawn" % count(workers),
                  call("weft", "two", workers), tbb_spawn, 4 if workers == 1 else None)
    for workers in (1, 2):
        yield Bar("the same, %s, by oneTBB's parallel_invoke" % count(workers),
                  call("weft", "two", workers), call("tbb", "two", workers))


def async_bars():
    task = figures_of("async", "ns_per_task")
    for workers in (1, 2):
        yield Bar("async + get of an empty task, %s, by oneTBB's run + wait of one" % count(workers),
                  task("weft", "one", workers), task("tbb", "one", workers), 0.5)
    yield Bar("the same, by std::async's deferred", task("weft", "one"), task("std", "one"))
    yield Bar("with a number as its result, by oneTBB's", task("weft", "value"), task("tbb", "one"))
    yield Bar("with one continuation, by oneTBB's", task("weft", "then"), task("tbb", "one"))


def fair_bars():
    step = figures_of("fair", "ns_per_step")
    trip = figures_of("fair", "ns_per_round_trip")
    item = figures_of("fair", "ns_per_item")
    p99 = figures_of("fair", "p99_us")
    increment = step("floor", "increment")
    for workload, what, limits in (("nano-1", "10 M tasks, a step each", (3, 2.5, 2.5)),
                                   ("nano-10", "5 M tasks, ten steps each", (2, 3, 2))):
        for threads, limit in zip((1, 2, 5), limits):
            yield Bar("fair: %s, %s, by the trivial scheduler's" % (what, count(threads)),
                      step("weft", workload, threads), step("std", workload, threads), round(1 / limit, 3))
            yield Bar("the same by Asio's",
                      step("weft", workload, threads), step("asio", workload, threads))
    for workload, what in (("micro-1", "500,000 tasks, a step of 0.5 us each"),
                           ("heavy-20", "30,000 tasks, twenty steps of 4 us each")):
        for threads in (1, 2, 5):
            yield Bar("fair: %s, %s, by the trivial scheduler's" % (what, count(threads)),
                      step("weft", workload, threads), step("std", workload, threads))
    for threads, limit in ((1, 5), (2, 8)):
        yield Bar("fair: a thousand tasks that yield, %s, by an atomic increment" % count(threads),
                  step("weft", "yield-thousand", threads), increment, limit)
    yield Bar("fair: ping-pong by signal, 1 worker, by an atomic increment",
              trip("weft", "pingpong", 1), increment, 20)
    yield Bar("fair: ping-pong by signal, 2 workers, by a cache line's round trip",
              trip("weft", "pingpong", 2), trip("floor", "line", 2), 5)
    for workload, limit in (("queue-busy", 6), ("queue-sleep", 9)):
        for consumers in (1, 2, 5, 6, 10):
            yield Bar("block queue, %d consumers, %s when empty, by a list under a mutex" % (consumers, workload[6:]),
                      item("weft", workload, consumers), item("std", workload, consumers),
                      round(1 / limit, 3) if consumers == 6 else None)
    for senders in (1, 2, 5):
        yield Bar("front queue, %d senders, by a list under a mutex" % senders,
                  item("weft", "front", senders), item("std", "front", senders), 0.5 if senders == 5 else None)
    yield Bar("Signal, a round trip, by mutex, condition variable and flag",
              trip("weft", "signal", 2), trip("std", "signal", 2))
    for threads in (1, 2):
        yield Bar("fair: lateness of a 10 ms timer beside a batch, %s, p99" % count(threads),
                  p99("weft", "timer-batch", threads), limit=1000, unit="us")
    yield Bar("fair: lateness of random deadlines, idle, p99, by a futex wait's",
              p99("weft", "lateness-idle", 1), p99("floor", "lateness-idle", 1), 2)
    yield Bar("fair: a task that waits, with 48 bytes of callable",
              figures_of("fair", "bytes_per_task")("weft", "parked", 2), limit=144, unit="bytes")
    yield Bar("fair: processor time when idle", figures_of("fair", "percent_of_a_core")("weft", "idle", 2),
              limit=0.05, unit="%")


def request_bars():
    p50, cpu = (figures_of("request", metric) for metric in ("p50_us", "cpu_us"))
    kinds = (("burst-16x5/hops-2", 2), ("burst-16x2/hops-1", 2), ("burst-2x10/hops-2", 2),
             ("burst-1x20/hops-1", 1), ("burst-1x20/hops-1", 2))
    for kind, workers in kinds:
        for gap in (0, 10, 20, 50, 100, 200, 500, 1000):
            workload = "gap-%d/%s" % (gap, kind)
            what = "requests, %s, %s" % (workload.replace("/", ", "), count(workers))
            isDense, isSparse = gap <= 100, gap >= 500
            for rival in ("std", "tbb", "openmp"):
                name = {"std": "a spinning pool", "tbb": "oneTBB", "openmp": "OpenMP"}[rival]
                yield Bar("%s, p50, by %s's" % (what, name), p50("weft", workload, workers),
                          p50(rival, workload, workers), 1.1 if isDense else None)
                yield Bar("%s, processor time, by %s's" % (what, name), cpu("weft", workload, workers),
                          cpu(rival, workload, workers),
                          1 if isDense else 0.2 if isSparse and rival == "std" else None)
            yield Bar("%s, p50, by a chain of futex wakes" % what, p50("weft", workload, workers),
                      p50("floor", workload, workers), 1.3 if isSparse else None)
    slow = figures_of("request", "slow_percent")
    for burst in (2, 4, 8, 16):
        workload = "gap-0/burst-%dx0/hops-2/native" % burst
        yield Bar("requests by a queue's own thread, %d tasks, slow blocks" % burst, slow("weft", workload, 2),
                  None, 2, "%")


def echo_bars():
    time, cpu, p50, p99 = (figures_of("echo", metric) for metric in ("ns_per_request", "cpu_ns", "p50_us", "p99_us"))
    for connections in (64, 256, 1024):
        workload = "connections-%d" % connections
        what = "echo, %d connections" % connections
        # 0.85 x, 1.1 x, 1.2 x, 1.5 x, 0.4 x and 0.8 x the requests a second.
        yield Bar("%s, time a request, by an epoll loop's" % what,
                  time("weft", workload), time("floor", workload), 1.176, aim=1.053)
        yield Bar("%s, processor time a request, by an epoll loop's" % what,
                  cpu("weft", workload), cpu("floor", workload), 1.2, aim=1)
        yield Bar("%s, p99, by an epoll loop's" % what, p99("weft", workload), p99("floor", workload),
                  1.5 if connections > 64 else None, aim=1.15 if connections > 64 else None)
        yield Bar("%s, time a request, by Asio's coroutines" % what,
                  time("weft", workload), time("asio", workload), 0.909, aim=0.769)
        yield Bar("%s, time a request, by Go's with GOMAXPROCS=1" % what,
                  time("weft", workload), time("go", workload), 0.833, aim=0.714)
        yield Bar("%s, time a request, by Boost.Fiber's over Boost.Asio" % what,
                  time("weft", workload), time("boost_fiber", workload), 0.667, aim=0.5)
        # Each read and each write is a wake across threads there, and a write two: see docs/asio.md.
        yield Bar("%s, by useFiber, time a request, by Asio's coroutines" % what,
                  time("use_fiber", workload), time("asio", workload), 2.5)
        yield Bar("%s, by useFiber, polled by the worker, time a request, by Asio's coroutines" % what,
                  time("use_fiber_polled", workload), time("asio", workload), 1.11, aim=1)
        for library, what in (("uring_poll", "polls"), ("uring", "receives"), ("uring_multishot", "multishot receives")):
            yield Bar("epoll loop, %d connections, processor time a request, by io_uring's %s" % (connections, what),
                      cpu("floor", workload), cpu(library, workload))
    one = "connections-1"
    yield Bar("echo, 1 connection, p50, by an epoll loop's", p50("weft", one), p50("floor", one), 1.15, aim=1.03)
    yield Bar("echo, 1 connection, processor time a request, by an epoll loop's", cpu("weft", one), cpu("floor", one))
    yield Bar("echo, 10,000 connections, time a request, by an epoll loop's",
              time("weft", "connections-10000"), time("floor", "connections-10000"))
    yield Bar("echo, 20,000 a second, p50, by an epoll loop's", p50("weft", "open-64"), p50("floor", "open-64"))
    yield Bar("echo, 20,000 a second, p99, by an epoll loop's", p99("weft", "open-64"), p99("floor", "open-64"))
    yield Bar("beside stalls, 2 workers, p99, by Asio's coroutines in one context",
              p99("weft", "stalls", 2), p99("asio", "stalls", 2), 0.7, aim=0.4)
    yield Bar("connect, one echo, close: time, by an epoll loop's",
              time("weft", "churn"), time("floor", "churn"), 1.25, aim=1.053)


def files_bars():
    time = figures_of("files", "ns_per_read")
    # 0.7 x, 0.95 x and 1.0 x the reads a second.
    yield Bar("4 KiB reads from memory, one at a time, by a loop of pread",
              time("weft", "cached-1"), time("floor", "cached-1"), 1.43, aim=1.11)
    yield Bar("4 KiB reads from memory, 16 at a time, by a loop around io_uring",
              time("weft", "cached-16"), time("uring", "cached-16"), 1.43, aim=1.11)
    yield Bar("the same, by fio's with io_uring", time("weft", "cached-16"), time("fio", "cached-16"), 1.43, aim=1.11)
    yield Bar("4 KiB reads with O_DIRECT, 32 at a time, by a loop around io_uring",
              time("weft", "direct-32"), time("uring", "direct-32"), 1.053, aim=1)
    yield Bar("the same, by fio's with io_uring", time("weft", "direct-32"), time("fio", "direct-32"), 1.053, aim=1)
    yield Bar("the same, by 32 threads with pread",
              time("weft", "direct-32"), time("floor", "direct-32"), 1, aim=0.833)


def http_bars():
    time, cpu = figures_of("http", "ns_per_request"), figures_of("http", "cpu_ns")
    for workload, what in (("small-64", "1,000 bytes"), ("large-16", "300,000 bytes")):
        # 1.5 x the requests a second.
        yield Bar("HTTP, a file of %s, time a request, by Go's net/http with GOMAXPROCS=1" % what,
                  time("weft", workload), time("go", workload), 0.667, aim=0.4)
        yield Bar("the same, processor time a request", cpu("weft", workload), cpu("go", workload))


def work_bars():
    time = figures_of("work", "ms")
    ideal = figures_of("work", "ideal_ms")
    for workload, name in (("frame", "a frame of 200 systems"), ("build", "a build of 1,000 steps")):
        for workers in (1, 2):
            yield Bar("%s, %s, by oneTBB's flow graph" % (name, count(workers)),
                      time("weft", workload, workers), time("tbb", workload, workers), 1.02, aim=1)
            yield Bar("%s, %s, by the ideal" % (name, count(workers)),
                      time("weft", workload, workers), ideal("weft", workload, workers))


def tree_bars():
    time = figures_of("tree", "ms")
    for workers in (1, 2):
        for rival, name, limit in (("tbb", "oneTBB's", 1.05), ("go", "Go's", 1), ("xargs", "find's and as many wc's", 1)):
            yield Bar("lines, words and bytes of 6,000 files, %s, by %s" % (count(workers), name),
                      time("weft", "tree", workers), time(rival, "tree", workers), limit)


def gzip_bars():
    time = figures_of("gzip", "ms")
    for workers in (1, 2):
        for rival, limit in (("pigz", 1.05), ("tbb", None)):
            yield Bar("compressing 150 files, %s, by %s's" % (count(workers), {"tbb": "oneTBB"}.get(rival, rival)),
                      time("weft", "gzip", workers), time(rival, "gzip", workers), limit)


def bimodal_bars():
    for metric, name in (("short_p50_us", "p50"), ("short_p99_us", "p99"), ("short_p999_us", "p99.9")):
        time = figures_of("bimodal", metric)
        for workers in (1, 2):
            what = "short requests beside long ones, %s, %s" % (count(workers), name)
            yield Bar("%s, where long ones yield, by that where not" % what, time("weft", "yield", workers),
                      time("weft", "plain", workers), 0.5 if name == "p50" else None)
            # At p99.9 a machine that others use shows what they take, not how the worker chooses.
            yield Bar("%s, where few long ones compute at a time and yield, by that where not" % what,
                      time("weft", "limited", workers), time("weft", "plain", workers),
                      None if name == "p99.9" else 0.5)
            yield Bar("%s, the same by oneTBB's tasks that enqueue their rest" % what,
                      time("weft", "limited", workers), time("tbb", "yield", workers))


def mpi_bars():
    rivals = (("polling", 1, "MPI_Isend and a test after each sixteen rows"), ("openmp", 2, "OpenMP beside MPI_Sendrecv"))
    time = {metric: figures_of("mpi", metric) for metric in ("step_ms", "tenth_ms", "most_ms")}
    yield Bar("a step whose messages take 500 us, by one with a tenth of that, whose messages take no time",
              time["step_ms"]("weft", "heat"), time["tenth_ms"]("weft", "heat"), 1)
    for library, workers, name in rivals:
        yield Bar("the same by %s" % name,
                  time["step_ms"](library, "heat", workers), time["tenth_ms"](library, "heat", workers))
    answers = figures_of("mpi", "ns_per_message")
    for pairs, limit in ((1, 2), (16, 1.43), (1024, 1.43)):
        workload = "answers-%d" % pairs
        yield Bar("a message of %s that answer each other on fibers, by MPI's blocking calls" % ("two" if pairs == 1 else "%d pairs" % pairs),
                  answers("weft", workload), answers("blocking", workload), limit)
    yield Bar("processor time while 1,000 fibers wait for messages",
              figures_of("mpi", "cpu_percent")("weft", "idle-1000"), None, 5, "%")
    yield Bar("the method: MPI_Sendrecv hides none, so that nine tenths of the 500 us show in a step, at least",
              time["most_ms"]("blocking", "heat"), time["step_ms"]("blocking", "heat"), 1)


def ranking_bars():
    time = figures_of("ranking", "ms")
    for workload in ("fib", "skynet", "nqueens", "matmul"):
        for workers in (1, 2):
            yield Bar("%s in the ranking's size, %s, by oneTBB's" % (workload, count(workers)),
                      time("weft", workload, workers), time("tbb", workload, workers))
    for workers in (1, 2):
        yield Bar("skynet by TaskGroup in the ranking's size, %s, by that by join" % count(workers),
                  time("weft", "skynet-group", workers), time("weft", "skynet", workers))
    yield Bar("100,000 requests over 20 connections, by Asio's coroutines",
              time("weft", "sockets", 2), time("asio", "sockets", 2), 1)


def marl_bars():
    # marl's figures in ns with 0, 1 and 2 workers, where oneTBB's spawn took 80: weft is to need at most a
    # quarter; with 0 workers, and for the empty task with 1 worker, half.
    marl = {"empty": (36, 119, 236), "wait-group": (66, 259, 433), "event-chain": (150, 776, 1900),
            "baton": (258, 446, 412), "ticket": (290, 960, 3281)}
    figure = figures_of("marl", "ns")
    tbb_spawn = borrow("marl", TBB_SPAWN)
    for workload, figures in marl.items():
        for workers, ns in enumerate(figures):
            share = 0.5 if workers == 0 or (workload, workers) == ("empty", 1) else 0.25
            yield Bar("marl's %s, %s, by oneTBB's spawn" % (workload, count(workers)),
                      figure("weft", workload, workers), tbb_spawn, round(share * ns / 80, 3))
            yield Bar("marl's %s, %s, by marl's" % (workload, count(workers)),
                      figure("weft", workload, workers), figure("marl", workload, workers), share)


GROUPS = (switch_bars, event_bars, channel_bars, spawn_bars, fork_join_bars, loop_bars, sort_bars, blocked_bars,
          mutex_bars, machine_bars, poll_source_bars, ticket_bars, blocking_call_bars, dag_bars, pool_bars,
          parallelize_bars, async_bars, fair_bars, request_bars, echo_bars, files_bars, http_bars, work_bars,
          tree_bars, gzip_bars, bimodal_bars, mpi_bars, marl_bars, ranking_bars)
BARS = [bar for group in GROUPS for bar in group()]

# {case: the metrics that bars need of it}
METRICS = {}
for _bar in BARS:
    for _where in filter(None, (_bar.value, _bar.base)):
        METRICS.setdefault(_where[:4], set()).add(_where[4])


def keys_of_limits():
    """Returns the cases without which a bar with a limit cannot be judged."""
    return {where[:4] for bar in BARS if bar.limit is not None for where in (bar.value, bar.base) if where}
