// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How the threads of a fair::TaskScheduler share out work, sleep, watch for deadlines, and are woken: worker.cpp, dispatcher.h,
// dispatcher.cpp, idle_threads.cpp and quiescence.h of src/fair and dispatcher_lock.h by hand, statement by statement where threads meet;
// each inline bears the name of its function there. For Spin, since the promises are about liveness: under weak fairness all of
//
//   - each posted task runs, as often as it was posted, and the tasks are taken in the order of the posts
//   - a step that has posted its own task keeps it until it returns: the next step comes after that, and after what was posted
//     meanwhile
//   - a task is not left waiting beside an idle thread, nor is a deadline that has come: steps that hold their threads until
//     others have begun do end
//   - one thread at a time has the role, also where one takes it as the only active thread while others join it
//   - a signal is received once, by a task that nobody touches after that
//   - waitEmpty() returns, and only after all that was posted before; stop() returns; what was queued then runs after start(),
//     or comes back by takeBack()
//
// follow from `<> isFinished`, the assertions, and the absence of deadlocks. The memory is sequentially consistent: what
// weaker orders can do to the parts (inbox, block queue, parker, role, state word) is for Relacy. README.md tells how it is
// run. Parameters:
//
//   W         threads
//   SCENARIO  what is posted, see below
//   BUG_...   a bug to find: each `#ifdef` says what it is
//
// Abstracted: a queue's operation is one step, and what is taken out of one and not yet in the next is seen by nobody; a tick
// may be over at any time, and until then nobody sleeps for less; deadlines come in their order, each at any time; what depends
// on measured times (whether a step is long, when to look, when to retire, whether a watcher gives up) happens or not. Due
// tasks have no limit in a row.

#ifndef W
#define W 2
#endif
#ifndef SCENARIO
#define SCENARIO 1
#endif

// Scenarios. NT: tasks. ND: the first so many may have deadlines. MATES: the steps of so many tasks hold their threads until all
// of these have begun. LONG: the step of the last task does not end, and the
// others must run beside it; BUSY: it has begun before all else. ASLEEP: all
// threads are, and the first task waits for its deadline. RERUNS: how often the first task posts itself. CHILD: the first to begin of those that hold their threads
// posts that task. DELAYED: the task posts itself in its step, with a deadline. WAKER, SIGNALLER: somebody wakes up, or signals,
// the first task, which waits for the signal after its deadline. LATE: a second thread posts that task. STOPPED, TAKEN_BACK:
// the scheduler is stopped at any time, and started again, after the tasks have been taken back. LOOKING, SPINNING, RETIRING: threads may look into the front queue
// between steps, look for work busily before they sleep, and retire beside work; left out where there would be too many states.
#if SCENARIO == 1    /* tasks that must run side by side */
#define NT 2
#define MATES 2
#define RETIRING
#define LOOKING
#define SPINNING
#elif SCENARIO == 2  /* a task that goes on and on beside others */
#define NT 2
#define RERUNS 1
#elif SCENARIO == 3  /* a task that waits for one that it has posted */
#define NT 2
#define MATES 2
#define CHILD 1
#define SPINNING
#elif SCENARIO == 4  /* beside a long step, deadlines: the step itself posts the earlier one */
#define NT 3
#define ND 2
#define LONG
#define CHILD 1
#elif SCENARIO == 5  /* a deadline, a wakeup and a signal */
#define NT 1
#define ND 1
#define WAKER
#define SIGNALLER
#elif SCENARIO == 6  /* two posters */
#define NT 2
#define LATE 1
#elif SCENARIO == 7  /* two threads watch for a deadline beside one with a long step */
#define NT 2
#define ND 1
#define LONG
#define BUSY
#elif SCENARIO == 8  /* a long step wakes one of several that sleep, the one that slept until a deadline */
#define NT 2
#define ND 1
#define LONG
#define ASLEEP
#elif SCENARIO == 9  /* stop and start */
#define NT 2
#define ND 1
#define STOPPED
#elif SCENARIO == 10 /* stop, with a task that is woken, takeBack and start */
#define NT 2
#define ND 1
#define WAKER
#define STOPPED
#define TAKEN_BACK
#elif SCENARIO == 11 /* a step that posts itself with a deadline */
#define NT 2
#define ND 1
#define DELAYED 0
#elif SCENARIO == 12 /* a step that posts itself, and then a task that it waits for */
#define NT 2
#define MATES 2
#define RERUNS 1
#define CHILD 1
#endif
#ifndef ND
#define ND 0
#endif
#ifndef MATES
#define MATES 0
#endif
#ifndef RERUNS
#define RERUNS 0
#endif
#define NONE 255
#ifndef CHILD
#define CHILD NONE
#endif
#ifndef LATE
#define LATE NONE
#endif
#ifndef DELAYED
#define DELAYED NONE
#endif
#ifdef BUSY
#define NUM_POSTS (NT - 1)
#else
#define NUM_POSTS NT
#endif
#define isMate(t) ((t) < MATES)

// Times: now, TICK (some time soon), the earlier deadline, the later one, NEVER.
#define TICK 0
#define EARLIER 1
#define LATER 2
#define NEVER 3
#if ND
#define hasDeadline(t) ((t) < ND && deadline[t] != NONE)
#define hasWaits (inHeap[0] || inHeap[ND - 1])
#ifdef BUG_awaitedIsForgotten /* a task whose waker has yet to push it does not count */
#define hasAwaited false
#else
#define hasAwaited (isAwaited[0] || isAwaited[ND - 1])
#endif
#else
#define hasDeadline(t) false
#define hasWaits false
#define hasAwaited false
#endif

// Queues.
chan front = [NT] of { byte };
byte mark;                         // 1 + the thread whose mark the front queue bears
chan taken = [NT] of { byte };     // what the role has in its hands
chan backlog = [NT] of { byte };   // guarded by the role
bool hasBacklog;
chan ready = [NT] of { byte };
chan due = [NT] of { byte };
bool held, lone;                   // the role
byte numHolders;

// The tasks with deadlines.
byte now;
byte earliest = NEVER, armed = NEVER;
#if ND
byte deadline[ND];
bool isTaken[ND];                  // by the role, out of the front queue
bool inHeap[ND], isAwaited[ND];    // guarded by the role
bool isWaiting[ND], isWoken[ND];   // its state word
#endif
#ifdef SIGNALLER
bool isSignaled;                   // the same of the first task
bool isGone;                       // it has received the signal
#endif

#define isQueuedNow (hasBacklog || len(front) != 0 || len(ready) != 0 || len(due) != 0)

// Idling.
chan lock = [W + 1] of { byte };   // its holder, then those who wait for it
byte idle[W];                      // guarded by lock: a stack of 1 + the thread
byte numIdle;                      // guarded by lock
byte watcher, marked;              // guarded by lock: 1 + the thread
byte numActive = W;
byte numRunning = W;               // guarded by lock
bool hasNoWatcher, isStopping, isSpinning;
bool hasStepped;                   // since the watcher looked
bool isEmptyAwaited;               // guarded by lock
bool isEmptied, isStopped;
bool permit[W];

#define NONE_HELD 0
#define ALONE 1
#define BESIDE_OTHERS 2
#ifdef SIGNALLER
#define isWokenOrSignaled(d) (isWoken[d] || isSignaled)
#else
#define isWokenOrSignaled(d) isWoken[d]
#endif

// What the properties are about.
byte numBegun[NT];
byte numOver;
byte lastTaken = NONE;
#if RERUNS
bool isInStep;                     // the first task
#endif
bool areLatePosted;
#ifdef LONG
#define isFinished (numOver == NT - 1)
#else
bool isFinished;
#endif

// First come, first served: so weak fairness is enough.
inline lockIt() {
  lock!self;
  lock?[eval(self)]
}
inline unlockIt() { lock?eval(self) }

// ---- the front queue and the queues behind it

inline pushFront(t, owed) {
  atomic {
    owed = 0;
    if
    :: mark != 0 -> owed = mark; mark = 0
    :: else
    fi;
    front!t
  }
}
inline wakeMarked(owed) {
  if
  :: atomic { owed != 0 -> permit[owed - 1] = true; owed = 0 }
  :: else
  fi
}
inline push(t) { pushFront(t, owed); wakeMarked(owed) }
inline tryPark(who, r) {
  atomic {
    r = len(front) == 0 && mark == 0;
    if
    :: r -> mark = who + 1
    :: else
    fi
  }
}
inline cancelPark(who) {
  atomic {
    if
    :: mark == who -> mark = 0
    :: else
    fi
  }
}
// In one step: the queues between which something is on its way are as empty as if looked at one after the other.
inline hasQueued(r) { r = isQueuedNow }
inline hasWork(r) { r = isQueuedNow || now >= earliest }

// The role: DispatcherLock.
inline tryTake(r) {
  hold = NONE_HELD;
  if
  :: numActive == 1 ->
     lone = true;
#ifdef BUG_loneLooksOnce /* at the count of active threads, before it says that it is alone */
     hold = ALONE
#else
     if
     :: numActive == 1 -> hold = ALONE
     :: else -> lone = false
     fi
#endif
  :: else
  fi;
  if
  :: hold == NONE_HELD ->
#ifdef BUG_roleInTwoSteps /* looked at, and taken */
     r = held;
     held = true;
#else
     atomic {
       r = held;
       held = true
     }
#endif
     if
     :: r
#ifdef BUG_loneIsOverlooked /* by a thread that joins the one that was alone */
     :: !r -> hold = BESIDE_OTHERS
#else
     :: !r && !lone -> hold = BESIDE_OTHERS
     :: !r && lone -> held = false
#endif
     fi
  :: else
  fi;
  r = hold != NONE_HELD;
  if
  :: atomic { r -> numHolders++; assert(numHolders == 1) }
  :: else
  fi
}
inline leave() {
  numHolders--;
  if
#ifdef BUG_roleIsKept /* the one who was alone leaves it as those do who were not */
  :: atomic { hold != NONE_HELD -> held = false; hold = NONE_HELD }
#else
  :: atomic { hold == ALONE -> lone = false; hold = NONE_HELD }
  :: atomic { hold == BESIDE_OTHERS -> held = false; hold = NONE_HELD }
#endif
  fi
}

inline publishBacklog() { hasBacklog = len(backlog) != 0 }
#if ND
inline expireOne(d) {
  if
  :: d < ND && inHeap[d] && now >= deadline[d] ->
     inHeap[d] = false;
     if
     :: atomic { isWaiting[d] && !isWokenOrSignaled(d) -> isWaiting[d] = false };
        due!d
     :: else -> isAwaited[d] = true
     fi
  :: else
  fi
}
inline publishEarliest() {
  d_step {
    it = NEVER;
    if
    :: inHeap[0] -> it = deadline[0]
    :: else
    fi;
    if
    :: inHeap[ND - 1] && deadline[ND - 1] < it -> it = deadline[ND - 1]
    :: else
    fi;
    earliest = it;
    it = NONE
  }
}
inline expire() {
  expireOne(0);
#if ND > 1
  expireOne(1);
#endif
  publishEarliest()
}
inline forgetWait(t) { d_step { isAwaited[t] = false; inHeap[t] = false } }
// Whether the one with a deadline in hand goes into the backlog.
inline isReady(t, r) {
  forgetWait(t);
  // tryWait()
  atomic {
#ifdef BUG_waitsThoughWoken /* what woke it before it was looked at is overlooked */
    r = false;
#else
    r = isWokenOrSignaled(t);
#endif
    isWaiting[t] = !r
  }
  inHeap[t] = !r;
  if
  :: r && now >= deadline[t] -> r = false; due!t
  :: else
  fi
}
inline takenIn(t) {
  if
  :: isTaken[t] ->
     isTaken[t] = false;
     isReady(t, ok);
     if
     :: ok -> taken!t
     :: else
     fi
  :: else
  fi
}
#else
inline expire() { skip }
#endif
inline appendTaken() {
  d_step {
    do
    :: len(taken) != 0 -> taken?it; backlog!it
    :: else -> break
    od;
    it = NONE
  }
}
inline intake() {
  if
  :: len(front) == 0 && !hasWaits
  :: else ->
     d_step {
       do
       :: len(front) != 0 ->
          front?it;
          if
#if ND
          :: hasDeadline(it) -> isTaken[it] = true
#endif
          :: else -> taken!it
          fi
       :: else -> break
       od;
#ifdef BUG_newestFirst /* what comes out of a stack is not reversed */
       if
       :: len(taken) == 2 -> taken?it; taken!it
       :: else
       fi;
#endif
       it = NONE
     }
#if ND
     takenIn(0);
#endif
#if ND > 1
     takenIn(1);
#endif
     appendTaken();
     publishBacklog();
     expire()
  fi
}
inline accept(t) {
#if ND
  ok = true;
  if
  :: hasDeadline(t) -> isReady(t, ok)
  :: else
  fi;
  if
  :: ok -> backlog!t; publishBacklog()
  :: else
  fi;
  expire()
#else
  backlog!t;
  publishBacklog()
#endif
}
// Tasks are taken in the order of their posts, those apart that are posted by others, or again, or wait.
inline checkOrder(t) {
  if
  :: t == NONE || (RERUNS != 0 && t == 0) || t == LATE || t == CHILD || t < ND
#ifdef TAKEN_BACK
  :: true
#endif
  :: else -> assert(lastTaken == NONE || t > lastTaken); lastTaken = t
  fi
}
inline pop(queue, t) {
  d_step {
    t = NONE;
    if
    :: len(queue) != 0 -> queue?t
    :: else
    fi;
    checkOrder(t)
  }
}
inline popQueued(t) {
#if ND
  pop(due, t);
#endif
  if
  :: t == NONE -> pop(ready, t)
  :: else
  fi
}
inline dispatch(t) {
  if
  :: len(backlog) == 0 -> intake()
  :: else
  fi;
  popQueued(t);
  if
  :: t != NONE -> publishBacklog()
  :: t == NONE && len(backlog) == 0
  :: else ->
     pop(backlog, t);
     if
     :: len(backlog) != 0 && numActive != 1 ->
        // refillReady()
        d_step {
          do
          :: len(backlog) != 0 -> backlog?it; taken!it
          :: else -> break
          od;
          it = NONE
        }
        d_step {
          do
          :: len(taken) != 0 -> taken?it; ready!it
          :: else -> break
          od;
          it = NONE
        }
     :: else
     fi;
     publishBacklog()
  fi
}
// takeAlone() is a short form of it: what it looks at with the lock, and then takes, is what dispatch() does.
inline takeNext(t) {
  popQueued(t);
  if
  :: t == NONE ->
     hasWork(ok);
     if
     :: ok ->
        tryTake(ok);
        if
        :: ok -> dispatch(t); leave()
        :: else
        fi
     :: else
     fi
  :: else
  fi
}
inline look() {
  if
  :: now >= earliest || len(front) != 0 ->
     tryTake(ok);
     if
     :: ok -> intake(); leave()
     :: else
     fi
  :: else
  fi
}
inline requeue(t) {
  hasQueued(ok);
  if
  // isNext()
  :: !isStopping && !hasDeadline(t) && !ok && (numActive == 1 || !(held || lone)) -> task = t; t = NONE
  :: else ->
     ok = !isStopping && numActive == 1 && (len(front) == 0 || !hasBacklog);
     if
     :: ok -> tryTake(ok)
     :: else
     fi;
     if
     :: ok ->
        if
        :: len(front) != 0 -> intake()
        :: else
        fi;
        accept(t);
        t = NONE;
        dispatch(task);
        leave()
     :: else ->
        pushFront(t, owed);
        t = NONE;
        owesMark = owesMark || owed != 0;
        owed = 0
     fi
  fi
}

// ---- idling, with the lock

inline publishIdle() { hasNoWatcher = numIdle != 0 && watcher == 0 }
inline enterIdle() { d_step { idle[numIdle] = w + 1; numIdle++; numActive-- } }
inline leaveIdle() {
  d_step {
    it = 0;
    do
    :: idle[it] != w + 1 -> it++
    :: else -> break
    od;
    do
    :: it + 1 < numIdle -> idle[it] = idle[it + 1]; it++
    :: else -> break
    od;
    numIdle--;
    idle[numIdle] = 0;
    it = NONE;
    if
    :: watcher == w + 1 -> watcher = 0
    :: else
    fi
  }
  if
  :: atomic { marked == w + 1 -> cancelPark(marked); marked = 0 }
  :: else
  fi;
  numActive++;
  armed = NEVER
}
inline leaveMark(who, r) {
  atomic {
    tryPark(who, r);
    if
    :: r -> marked = who + 1
    :: else
    fi
  }
  if
  :: atomic { !r -> r = mark != 0 }
  :: else
  fi
}
inline takeMark(r) {
  if
  :: atomic { marked != 0 -> cancelPark(marked); marked = 0 }
  :: else
  fi;
  atomic {
    tryPark(w, r);
    if
    :: r -> marked = w + 1
    :: else
    fi
  }
}
inline beginWatch(who) { d_step { watcher = who; hasStepped = false } }
inline sleepUntil(time) {
  d_step {
    armed = (time < earliest -> time : earliest);
    until = armed
  }
}
inline isEmptyLocked(r) {
  r = false;
  if
  :: numActive == 0 -> hasQueued(r); r = !r && !hasWaits && !hasAwaited
  :: else
  fi
}
inline wakeIfEmpty() {
  isEmptyLocked(ok);
  if
  :: atomic { ok && isEmptyAwaited -> isEmptyAwaited = false; isEmptied = true }
  :: else
  fi;
  ok = false
}
inline appointWatcher() {
  lockIt();
  if
  :: numIdle != 0 && watcher == 0 ->
     it = idle[numIdle - 1];
     beginWatch(it);
     publishIdle();
     unlockIt();
     atomic { permit[it - 1] = true; it = NONE }
  :: else -> unlockIt()
  fi
}
inline seeToTheIdle() {
  if
  :: !hasNoWatcher && !owesMark
  :: else ->
     owesMark = false;
     isUnarmed = earliest < armed;
#ifdef BUG_deadlineSeenToNowAndThen /* after long steps, or once a millisecond: the next step may be long */
     if
     :: isUnarmed = false
     :: true
     fi;
#endif
     hasQueued(ok);
     if
     :: ok || isUnarmed -> appointWatcher()
     :: else ->
        if
        :: mark == 0 ->
           lockIt();
           ok = numIdle == 0 || watcher != 0;
           if
           :: ok
           :: else -> it = idle[numIdle - 1] - 1; leaveMark(it, ok); it = NONE
           fi;
           unlockIt();
           if
           :: ok
           :: else -> appointWatcher()
           fi
        :: else
        fi
     fi;
     isUnarmed = false
  fi;
  ok = false
}
// `ok`: whether it saw some work.
inline spin() {
  atomic {
    ok = isSpinning;
    isSpinning = true
  }
  if
  :: ok -> hasWork(ok)
  :: else ->
     if
     :: mark != 0 ->
        lockIt();
        if
        :: marked != 0 -> cancelPark(marked)
        :: else
        fi;
        unlockIt()
     :: else
     fi;
     hasWork(ok);
     ok = ok || isStopping;
     isSpinning = false
  fi
}
// `stays`: whether it is idle now.
inline beginIdle() {
  lockIt();
  isLast = numActive == 1;
  if
  :: isStopping -> ok = true
  :: else ->
     if
     :: isRetiring -> ok = isLast
     :: else -> hasWork(ok)
     fi
  fi;
  stays = !ok;
#ifdef BUG_lastLooksNotIntoFront /* before it sleeps */
  if
  :: stays && isLast -> tryPark(w, ok); marked = (ok -> w + 1 : marked)
  :: else
  fi;
#else
  if
  :: stays && isLast -> takeMark(stays)
  :: else
  fi;
#endif
  ok = false;
  if
  :: stays ->
     enterIdle();
     until = NEVER;
     if
     :: isLast ->
        watcher = 0;
        sleepUntil(NEVER);
#ifndef BUG_nobodyTellsThatItIsEmpty
        wakeIfEmpty()
#endif
#ifndef BUG_nobodyWatches
     :: !isLast && watcher == 0 -> beginWatch(w + 1); sleepUntil(TICK)
#endif
     :: else
     fi;
     publishIdle()
  :: else
  fi;
  isLast = false;
  unlockIt()
}
inline watchOn() {
  if
  :: sleepUntil(TICK) // the tick is still short, or something is queued
  :: !isQueued ->
     leaveMark(w, ok);
     if
     :: ok ->
        watcher = 0;
#ifdef BUG_noTickAfterTheMark /* somebody was between taking a task and looking at hasNoWatcher */
        sleepUntil(NEVER)
#else
        sleepUntil(TICK)
#endif
     :: else -> sleepUntil(TICK)
     fi
  fi
}
inline staysIdle() {
  lockIt();
  hasWork(isQueued);
  atomic {
    stays = !isStopping;
    if
    :: stays && isQueued ->
       if
       :: stays = false
       :: watcher == w + 1 && numActive != 0 && hasStepped // and all steps were short
       fi
    :: else
    fi;
    hasStepped = (watcher == w + 1 -> false : hasStepped);
    until = NEVER
  }
  if
  :: !stays
  :: stays && numActive == 0 ->
     if
     :: watcher == w + 1 -> watcher = 0
     :: else
     fi;
     if
     :: marked == w + 1 || mark == 0 -> takeMark(stays); sleepUntil(NEVER)
     :: else
     fi
  :: stays && numActive != 0 && watcher == w + 1 -> watchOn()
  :: else ->
     ok = mark != 0;
     if
     :: watcher == 0 && !ok -> beginWatch(w + 1); sleepUntil(TICK)
#ifdef BUG_onlyTheMarkedSleepsUntilTheDeadline /* but it may sleep already, for ever */
     :: !(watcher == 0 && !ok) && marked == w + 1 -> sleepUntil(NEVER)
#else
     :: watcher == 0 && ok -> sleepUntil(NEVER)
#endif
     :: else
     fi
  fi;
  ok = false;
  isQueued = false;
  if
  :: !stays -> until = NEVER; leaveIdle()
  :: else
  fi;
  publishIdle();
  unlockIt()
}
inline park() {
  if
  :: atomic { permit[w] -> permit[w] = false }
  :: now >= until
  fi
}
inline sleep() {
  do
  :: stays -> park(); staysIdle()
  :: else -> break
  od
}
inline waitForWork() {
  ok = false;
  if
#ifdef SPINNING
  :: !isRetiring -> spin()
#endif
  :: else
  fi;
  if
  :: ok
  :: else ->
     beginIdle();
     sleep()
  fi
}
inline exitThread() {
  lockIt();
  numActive--;
  numRunning--;
  if
  :: numRunning == 0 -> isStopped = true
  :: else
  fi;
  wakeIfEmpty();
  unlockIt()
}

// ---- steps

inline enqueue(t) {
#if W == 1
  if
  :: len(front) == 0 -> accept(t)
  :: else -> push(t)
  fi
#else
  push(t)
#endif
}
inline begin(t) {
  d_step {
    numBegun[t]++;
#if RERUNS
    if
    :: t == 0 ->
       assert(!isInStep);
       isInStep = true;
#if CHILD != NONE
       assert(numBegun[0] == 1 || numBegun[CHILD] != 0)
#endif
    :: else
    fi;
#endif
    hasStepped = (watcher != 0);
#if ND
    if
    :: t < ND ->
       deadline[t] = NONE;
       isWaiting[t] = false;
       isWoken[t] = false;
#ifdef BUG_signalEndsWithTheWait /* whether it was received or not */
       isSignaled = false
#endif
    :: else
    fi
#endif
  }
}
inline end(t) {
#ifdef LONG
  if
  :: t == NT - 1 -> false
  :: else
  fi;
#endif
  if
  :: W > 1 && isMate(t) -> (numBegun[0] != 0 && (MATES < 2 || numBegun[1] != 0))
  :: else
  fi;
#if ND
  if
#ifdef SIGNALLER
  :: !isSignaled -> deadline[0] = NEVER; reposted = 0
  :: isSignaled -> isSignaled = false; isGone = true; numOver++
#else
  :: t == DELAYED && numBegun[t] == 1 -> deadline[t] = EARLIER; reposted = t
  :: else -> numOver++
#endif
  fi;
#else
#if RERUNS
  isInStep = isInStep && t != 0;
#endif
  if
#ifdef BUG_ownPostIsNotKept
  :: t == 0 && numBegun[0] <= RERUNS
#else
  :: t == 0 && numBegun[0] <= RERUNS -> reposted = t
#endif
  :: else -> numOver++
  fi;
#endif
  t = NONE
}
inline step(t) {
  begin(t);
#ifdef BUG_ownPostIsNotKept /* but queued before what the step posts next */
  if
  :: t == 0 && numBegun[0] <= RERUNS -> enqueue(t)
  :: else
  fi;
#endif
#if CHILD != NONE
  if
#ifdef LONG
  :: t == NT - 1 -> enqueue(CHILD)
#else
  :: t == 0 && numBegun[0] == 1 -> enqueue(CHILD)
#endif
  :: else
  fi;
#endif
  end(t)
}

proctype Thread(byte w) {
  byte self = w;
  byte task = NONE;
  byte reposted = NONE;
  byte it = NONE;
  byte until = NEVER;
  byte owed, hold;
  bool ok, stays, isLast, isQueued, isRetiring, owesMark, isUnarmed;
#ifdef ASLEEP
  until = (w == 0 -> EARLIER : NEVER);
  stays = true;
  sleep();
#endif
#ifdef BUSY
  if
  :: w == 0 -> task = NT - 1; step(task)
  :: else
  fi;
#endif
  do
  :: // next()
#ifdef LOOKING
     if
     :: look()
     :: true
     fi;
#endif
     if
     :: reposted != NONE -> requeue(reposted)
     :: else
     fi;
#ifdef RETIRING
     if
     :: isRetiring = true // it has found itself among threads with short steps
     :: true
     fi;
#endif
     do
     :: task != NONE || isStopping -> break
     :: else ->
        if
        :: !isRetiring -> takeNext(task)
        :: else
        fi;
        if
        :: task != NONE -> break
        :: else
        fi;
        hasWork(ok);
        if
        :: !isRetiring && ok // rounds, so many that another must have had the role in one of them
        :: !isRetiring && ok && numHolders != 0 -> isRetiring = true; waitForWork(); isRetiring = false
        :: isRetiring || !ok -> waitForWork(); isRetiring = false
        fi
     od;
     ok = false;
     isRetiring = false;
     if
     :: task == NONE -> break
     :: else
     fi;
#ifndef BUG_nobodySeesToTheIdle /* work that is queued beside a long step is nobody's */
     seeToTheIdle();
#endif
     step(task)
  od;
  exitThread()
}

// ---- the others

proctype Clock() {
  now = EARLIER;
#if ND > 1
  now = LATER
#endif
}

#ifdef WAKER
proctype Waker() {
  byte owed;
  bool ok;
  // wakeup()
  atomic {
    ok = isWaiting[0] && !isWokenOrSignaled(0);
    isWoken[0] = true
  }
  if
  :: ok -> push(0)
  :: else
  fi
}
#endif
#ifdef SIGNALLER
proctype Signaller() {
  byte owed;
  bool ok;
#ifdef BUG_flagThenWakeup /* instead of both in one step */
  isSignaled = true;
  assert(!isGone);
  isWoken[0] = true;
  ok = isWaiting[0];
#else
  atomic {
    ok = isWaiting[0] && !isWokenOrSignaled(0);
    assert(!isGone);
    isSignaled = true
  }
#endif
  if
  :: ok -> assert(!isGone); push(0)
  :: else
  fi
}
#endif

proctype LatePoster() {
  byte owed;
  push(LATE);
  areLatePosted = true
}

inline startIt() {
  atomic {
    numRunning = W;
    numActive = W;
    isStopping = false;
    isStopped = false;
    i = 0;
    do
    :: i < W -> run Thread(i); i++
    :: else -> break
    od;
    i = 0
  }
}
inline stopIt() {
  lockIt();
  isStopping = true;
#ifndef BUG_stopWakesNobody
  i = 0;
  do
  :: i < numIdle -> permit[idle[i] - 1] = true; i++
  :: else -> break
  od;
  i = 0;
#endif
  unlockIt();
  isStopped && len(lock) == 0; // and the threads have ended
  assert(numActive == 0)
}
#ifdef TAKEN_BACK
inline takeFront() {
  d_step {
    do
    :: len(front) != 0 ->
       front?it;
       if
       :: it == 0 -> forgetWait(0)
       :: else
       fi;
       taken!it
    :: else -> break
    od;
    it = NONE
  }
}
inline drain(queue) {
  do
  :: len(queue) != 0 -> queue?it; taken!it
  :: else -> break
  od
}
// All of the tasks, and posts them again.
inline takeBack() {
  lockIt();
  numActive++;
  unlockIt();
  d_step { drain(due); drain(ready); drain(backlog); publishBacklog(); it = NONE }
  takeFront();
  if
  :: inHeap[0] ->
     inHeap[0] = false;
     if
     :: atomic { isWaiting[0] && !isWoken[0] -> isWaiting[0] = false; taken!0 }
     :: else -> isAwaited[0] = true
     fi
  :: else
  fi;
#ifndef BUG_takenBackWithoutTheClaimed /* whose waker has yet to push it */
  do
  :: isAwaited[0] -> len(front) != 0; takeFront()
  :: else -> break
  od;
#endif
  publishEarliest();
  assert(len(taken) + numOver == NT && !hasWaits && len(front) == 0);
  do
  :: len(taken) != 0 ->
     taken?it;
     if
     :: it == 0 -> deadline[0] = EARLIER
     :: else
     fi;
     push(it)
  :: else -> it = NONE; break
  od;
  lockIt();
  numActive--;
  wakeIfEmpty();
  unlockIt()
}
#endif

init {
  byte self = W;
  byte i, owed;
  byte it = NONE;
  bool ok;
  atomic {
#if ND
    deadline[0] = (DELAYED == 0 -> NONE : (ND == 1 -> EARLIER : LATER));
#endif
#if ND > 1
    deadline[1] = EARLIER;
#endif
    startIt();
#ifdef ASLEEP
    numActive = 0;
    do
    :: numIdle < W -> idle[numIdle] = W - numIdle; numIdle++
    :: else -> break
    od;
    hasNoWatcher = true;
    mark = 1;
    marked = 1;
    inHeap[0] = true;
    isWaiting[0] = true;
    earliest = EARLIER;
    armed = EARLIER;
    i = 1;
#endif
#if ND
    run Clock();
#endif
#ifdef WAKER
    run Waker();
#endif
#ifdef SIGNALLER
    run Signaller();
#endif
#if LATE != NONE
    run LatePoster()
#endif
  }
#ifdef LONG
  atomic
#endif
  {
    do
    :: i < NUM_POSTS && (i == LATE || i == CHILD) -> i++
    :: i < NUM_POSTS && i != LATE && i != CHILD -> push(i); i++
    :: else -> i = 0; break
    od;
  }
#ifdef STOPPED
  stopIt();
#ifdef TAKEN_BACK
  takeBack();
#endif
  startIt();
#endif
#ifndef LONG
#if LATE != NONE
  areLatePosted;
#endif
  // waitEmpty()
  lockIt();
  isEmptyLocked(ok);
  isEmptyAwaited = !ok;
  unlockIt();
  if
  :: !ok -> isEmptied
  :: else
  fi;
  assert(numOver == NT);
  stopIt();
  assert(len(front) == 0);
  isFinished = true
#endif
}

ltl ends { <> isFinished }
