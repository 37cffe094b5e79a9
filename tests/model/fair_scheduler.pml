// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// How the threads of a fair::TaskScheduler share out work, sleep, and are woken: src/fair_worker.cpp and
// src/fair_idle.cpp by hand, statement by statement where threads meet; each inline bears the name of its
// function there. For Spin, since the promises are about liveness: under weak fairness all of
//
//   - each posted task runs, as often as it was posted, and with one thread in the order of the posts
//   - a task is not left waiting beside an idle thread: steps that hold their threads until others have begun
//     do end
//   - one thread at a time has the role
//   - waitEmpty() returns, and only after all that was posted before; stop() returns
//
// follow from `<> isFinished`, the assertions, and the absence of deadlocks. The memory is sequentially
// consistent: what weaker orders can do to the parts (inbox, block queue, parker, state word) is for Relacy.
// README.md tells how it is run. Parameters:
//
//   W         threads
//   SCENARIO  what is posted, see below
//   BUG       a bug to find, 1 to 6; 0 for none
//
// Abstracted: a queue's operation is one step, and what is taken out of one and not yet in the next is seen
// by nobody; a tick may be over at any time; one deadline, which comes at any time; what depends on measured
// times (whether a step is long, when to look, when to retire, whether a watcher gives up) happens or not.

#ifndef W
#define W 2
#endif
#ifndef SCENARIO
#define SCENARIO 1
#endif
#ifndef BUG
#define BUG 0
#endif

// Scenarios. MATES: the steps of so many tasks hold their threads until all of them have begun. RERUNS: how
// often the first task posts itself. CHILD: the first task posts the last. DEADLINE: the last task waits for
// its deadline. WAKER: somebody wakes it, while that may come. LATE: so many tasks are posted by a second
// thread. LOOKING, SPINNING, RETIRING: threads may look into the front queue between steps, look for work busily before
// they sleep, and retire beside work; left out where there would be too many states.
#if SCENARIO == 1   /* tasks that must run side by side */
#define NT 2
#define MATES 2
#define RETIRING
#define LOOKING
#define SPINNING
#elif SCENARIO == 2 /* a task that goes on and on beside others */
#define NT 2
#define RERUNS 1
#elif SCENARIO == 3 /* a task that waits for one that it has posted */
#define NT 2
#define MATES 2
#define CHILD
#define SPINNING
#elif SCENARIO == 4 /* a step that is only over once a deadline has been met */
#define NT 2
#define MATES 2
#define DEADLINE
#define LOOKING
#elif SCENARIO == 5 /* a deadline and a wakeup */
#define NT 1
#define DEADLINE
#define WAKER
#elif SCENARIO == 6 /* two posters */
#define NT 2
#define LATE 1
#endif
#ifndef MATES
#define MATES 0
#endif
#ifndef RERUNS
#define RERUNS 0
#endif
#ifndef LATE
#define LATE 0
#endif
#ifdef CHILD
#define POSTED (NT - 1)
#else
#define POSTED (NT - LATE)
#endif
#define NONE 255
#define isMate(t) ((t) < MATES)
#ifdef DEADLINE
#define hasDeadline(t) ((t) == NT - 1)
#else
#define hasDeadline(t) false
#endif

// Queues.
chan front = [NT] of { byte };
byte mark;                         // 1 + the thread whose mark the front queue bears
chan taken = [NT] of { byte };     // what the role has in its hands
chan backlog = [NT] of { byte };   // guarded by the role
bool hasBacklog;
chan ready = [NT] of { byte };
chan due = [NT] of { byte };
bool role;
byte numHolders;

// The task with a deadline.
bool isDeadlineOver;
bool isDeadlineTaken;              // by the role, out of the front queue
bool isInHeap, isAwaited;          // guarded by the role
bool earliest, armed;              // whether there is one
bool isWaiting, isWoken;           // its state word

// Idling.
chan lock = [W + 1] of { byte };   // its holder, then those who wait for it
byte idle[W];                      // guarded by lock: a stack of 1 + the thread
byte numIdle;                      // guarded by lock
byte watcher, marked;              // guarded by lock: 1 + the thread
byte numActive = W;
byte numRunning = W;               // guarded by lock
bool isUnwatched, isStopping, isSpinning;
bool hasStepped;                   // since the watcher looked
bool isEmptyAwaited;               // guarded by lock
bool isEmptied, isStopped;
bool permit[W];

// What the properties are about.
byte numBegun[NT];
byte numOver;
byte lastBegun = NONE;
bool areLatePosted;
bool isFinished;

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
inline hasQueued(r) {
  r = hasBacklog;
  r = r || len(front) != 0;
  r = r || len(ready) != 0;
#ifdef DEADLINE
  r = r || len(due) != 0
#endif
}
inline hasWork(r) {
  hasQueued(r);
#ifdef DEADLINE
  r = r || (earliest && isDeadlineOver)
#endif
}

inline tryTakeRole(r) {
#if BUG == 1 /* the role is looked at and taken in two steps */
  r = !role;
  if
  :: r -> role = true
  :: else
  fi;
#else
  atomic {
    r = !role;
    role = true
  }
#endif
  if
  :: atomic { r -> numHolders++; assert(numHolders == 1) }
  :: else
  fi
}
inline leaveRole() { atomic { numHolders--; role = false } }

inline publishEarliest() {
#ifdef DEADLINE
  earliest = isInHeap
#else
  skip
#endif
}
inline expire() {
#ifdef DEADLINE
  if
  :: isInHeap && isDeadlineOver ->
     isInHeap = false;
     if
     :: atomic { isWaiting && !isWoken -> isWaiting = false };
        due!(NT - 1)
     :: else -> isAwaited = true
     fi
  :: else
  fi;
  publishEarliest()
#else
  skip
#endif
}
// Whether the one in hand goes into the backlog.
inline mustRun(t, r) {
#ifdef DEADLINE
  r = true;
  if
  :: hasDeadline(t) ->
     isAwaited = false;
     isInHeap = false;
     if
     :: isDeadlineOver
     :: else ->
        atomic {
          r = isWaiting || isWoken;
          isWaiting = !r
        }
        isInHeap = !r
     fi
  :: else
  fi
#else
  r = true
#endif
}
inline appendBacklog() {
  d_step {
    do
    :: len(taken) != 0 -> taken?it; backlog!it
    :: else -> break
    od;
    it = NONE;
    hasBacklog = len(backlog) != 0
  }
}
inline intake() {
  if
  :: len(front) == 0 && !isInHeap
  :: else ->
     d_step {
       do
       :: len(front) != 0 ->
          front?it;
          if
          :: hasDeadline(it) -> isDeadlineTaken = true
          :: else -> taken!it
          fi
       :: else -> break
       od;
       it = NONE
     }
#ifdef DEADLINE
     if
     :: isDeadlineTaken ->
        isDeadlineTaken = false;
        mustRun((NT - 1), ok);
        if
        :: ok -> taken!(NT - 1)
        :: else
        fi
     :: else
     fi;
#endif
     appendBacklog();
     expire()
  fi
}
inline accept(t) {
  mustRun(t, ok);
  if
  :: ok -> taken!t; appendBacklog()
  :: else
  fi;
  expire()
}
inline popBacklog(t) {
  d_step {
    t = NONE;
    if
    :: len(backlog) != 0 -> backlog?t
    :: else
    fi;
    hasBacklog = len(backlog) != 0
  }
}
inline pop(queue, t) {
  d_step {
    ok = false;
    t = NONE;
    if
    :: len(queue) != 0 -> queue?t
    :: else
    fi
  }
}
inline dispatch(t) {
  if
  :: len(backlog) == 0 -> intake()
  :: else
  fi;
  pop(due, t);
  if
  :: t == NONE -> pop(ready, t)
  :: else
  fi;
  if
  :: t == NONE ->
     popBacklog(t);
     if
     :: len(backlog) != 0 && numActive != 1 ->
        d_step {
          do
          :: len(backlog) != 0 -> backlog?it; taken!it
          :: else -> break
          od;
          it = NONE;
          hasBacklog = false
        }
        d_step {
          do
          :: len(taken) != 0 -> taken?it; ready!it
          :: else -> break
          od;
          it = NONE
        }
     :: else
     fi
  :: else
  fi
}
inline takeNext(t) {
  pop(due, t);
  if
  :: t == NONE -> pop(ready, t)
  :: else
  fi;
  if
  :: t == NONE ->
     hasWork(ok);
     if
     :: ok ->
        tryTakeRole(ok);
        if
        :: ok -> dispatch(t); leaveRole()
        :: else
        fi
     :: else
     fi
  :: else
  fi
}
inline look() {
  if
  :: (earliest && isDeadlineOver) || len(front) != 0 ->
     tryTakeRole(ok);
     if
     :: ok -> intake(); leaveRole()
     :: else
     fi
  :: else
  fi
}
inline requeue(t) {
  hasQueued(ok);
  if
  :: !isStopping && !ok -> task = t; t = NONE
  :: else ->
     ok = !isStopping && numActive == 1 && (len(front) == 0 || !hasBacklog);
     if
     :: ok -> tryTakeRole(ok)
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
        leaveRole()
     :: else ->
        pushFront(t, owed);
        t = NONE;
        owesMark = owesMark || owed != 0;
        owed = 0
     fi
  fi
}

// ---- idling, with the lock

inline publishIdle() { isUnwatched = numIdle != 0 && watcher == 0 }
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
  d_step { numActive++; armed = false }
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
// What the thread sleeps for: never, a tick, or the deadline.
inline sleepUntilDeadline() { d_step { armed = earliest; isTick = false; isTimed = earliest } }
inline sleepUntilTick() { d_step { armed = earliest; isTick = true; isTimed = false } }
inline wakeIfEmpty() {
  ok = false;
  if
  :: numActive == 0 ->
     hasQueued(ok);
     ok = !ok && !isInHeap && !isAwaited
  :: else
  fi;
  if
  :: atomic { ok && isEmptyAwaited -> isEmptyAwaited = false; isEmptied = true }
  :: else
  fi
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
  :: !isUnwatched && !owesMark
  :: else ->
     owesMark = false;
     hasQueued(ok);
     if
     :: ok || (earliest && !armed) -> appointWatcher()
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
     fi
  fi
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
  :: isRetiring -> ok = isLast
  :: else -> hasWork(ok)
  fi;
  stays = !ok && !isStopping;
  isTick = false;
  isTimed = false;
#if BUG == 3 /* the last one sleeps without having looked at the front queue */
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
  if
  :: stays ->
     enterIdle();
     if
     :: isLast ->
        watcher = 0;
        sleepUntilDeadline();
#if BUG != 2 /* nobody tells that it is empty */
        wakeIfEmpty()
#endif
#if BUG != 4 /* nobody watches */
     :: !isLast && watcher == 0 -> beginWatch(w + 1); sleepUntilTick()
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
  sleepUntilTick();
  if
  :: true // the tick is still short, or something is queued
  :: !isQueued ->
     leaveMark(w, ok);
     if
     :: ok ->
        watcher = 0;
#if BUG == 6 /* somebody was between taking a task and looking at isUnwatched */
        sleepUntilDeadline()
#endif
     :: else
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
    isTick = false;
    isTimed = false
  }
  if
  :: !stays
  :: stays && numActive == 0 ->
     if
     :: watcher == w + 1 -> watcher = 0
     :: else
     fi;
     if
     :: marked == w + 1 || mark == 0 -> takeMark(stays); sleepUntilDeadline()
     :: else
     fi
  :: stays && numActive != 0 && watcher == w + 1 -> watchOn()
  :: else ->
     if
     :: watcher == 0 && mark == 0 -> beginWatch(w + 1); sleepUntilTick()
     :: !(watcher == 0 && mark == 0) && marked == w + 1 -> sleepUntilDeadline()
     :: else
     fi
  fi;
  isQueued = false;
  if
  :: !stays -> leaveIdle()
  :: else
  fi;
  publishIdle();
  unlockIt()
}
inline park() {
  if
  :: atomic { permit[w] -> permit[w] = false }
  :: isTick
  :: isTimed && isDeadlineOver
  fi;
  d_step { isTick = false; isTimed = false }
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
     do
     :: stays -> park(); staysIdle()
     :: else -> break
     od
  fi
}
inline exitThread() {
  lockIt();
  numActive--;
  numRunning--;
  wakeIfEmpty();
  if
  :: numRunning == 0 -> isStopped = true
  :: else
  fi;
  unlockIt()
}

// ---- steps

inline allMatesBegun(r) {
  d_step {
    it = 0;
    r = true;
    do
    :: it < MATES -> r = r && numBegun[it] != 0; it++
    :: else -> break
    od;
    it = NONE
  }
}
inline enqueue(t) {
#if W == 1
  if
  :: len(front) == 0 -> accept(t)
  :: else -> pushFront(t, owed); wakeMarked(owed)
  fi
#else
  pushFront(t, owed);
  wakeMarked(owed)
#endif
}
inline step(t) {
  d_step {
    assert(W > 1 || lastBegun == NONE || t > lastBegun || hasDeadline(t) || RERUNS != 0 || LATE != 0);
    lastBegun = t;
    numBegun[t]++;
    hasStepped = true;
    if
    :: hasDeadline(t) -> isWaiting = false; isWoken = false
    :: else
    fi
  }
#ifdef CHILD
  if
  :: t == 0 -> enqueue((NT - 1))
  :: else
  fi;
#endif
  if
  :: W > 1 && isMate(t) -> (numBegun[0] != 0 && (MATES < 2 || numBegun[1] != 0))
  :: else
  fi;
  if
  :: t == 0 && numBegun[0] <= RERUNS -> reposted = t
  :: else -> numOver++
  fi;
  t = NONE
}

proctype Thread(byte w) {
  byte self = w;
  byte task = NONE;
  byte reposted = NONE;
  byte it = NONE;
  byte owed;
  bool ok, stays, isLast, isQueued, isRetiring, owesMark, isTick, isTimed;
  do
  :: // next()
#ifdef LOOKING
     if
     :: look()
     :: true
     fi;
#endif
#if RERUNS
     if
     :: reposted != NONE -> requeue(reposted)
     :: else
     fi;
#endif
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
        :: !isRetiring && ok // rounds
        :: !isRetiring && ok -> isRetiring = true; waitForWork(); isRetiring = false
        :: isRetiring || !ok -> waitForWork(); isRetiring = false
        fi
     od;
     ok = false;
     isRetiring = false;
     if
     :: task == NONE -> break
     :: else
     fi;
#if BUG != 5 /* work that is queued beside a long step is nobody's */
     seeToTheIdle();
#endif
     ok = false;
     step(task)
  od;
  exitThread()
}

// ---- the others

proctype Clock() { isDeadlineOver = true }

proctype Waker() {
  byte owed;
  bool ok;
  atomic {
    ok = isWaiting && !isWoken;
    isWoken = true
  }
  if
  :: ok -> pushFront((NT - 1), owed); wakeMarked(owed)
  :: else
  fi
}

proctype LatePoster() {
  byte owed;
  pushFront((NT - 1), owed);
  wakeMarked(owed);
  areLatePosted = true
}

inline isEmptyLocked(r) {
  r = false;
  if
  :: numActive == 0 -> hasQueued(r); r = !r && !isInHeap && !isAwaited
  :: else
  fi
}

init {
  byte self = W;
  byte i, owed;
  bool ok;
  atomic {
    i = 0;
    do
    :: i < W -> run Thread(i); i++
    :: else -> break
    od;
#ifdef DEADLINE
    run Clock();
#endif
#ifdef WAKER
    run Waker();
#endif
#if LATE
    run LatePoster();
#endif
    i = 0
  }
  do
  :: i < POSTED -> pushFront(i, owed); wakeMarked(owed); i++
  :: else -> break
  od;
#if LATE
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
  // stop()
  lockIt();
  isStopping = true;
  i = 0;
  do
  :: i < numIdle -> permit[idle[i] - 1] = true; i++
  :: else -> break
  od;
  unlockIt();
  isStopped;
  assert(numActive == 0 && len(front) == 0);
  isFinished = true
}

ltl ends { <> isFinished }
