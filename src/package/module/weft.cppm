// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The module `weft`: what weft/weft.h declares. Whoever imports it links weft::weft, as with the header. Macros
// are no part of a module: a file that needs WEFT_DEFER, `defer` or an assertion includes their header as well.
module;

#include <weft/weft.h>

export module weft;

export namespace weft {
using weft::after;
using weft::aligned_storage;
using weft::alignUp;
using weft::Allocation;
using weft::Allocator;
using weft::AnyCase;
using weft::assert_has_bound_scheduler;
using weft::async;
using weft::autoPartitioner;
using weft::Barrier;
using weft::Block2D;
using weft::blocking_call;
using weft::BlockingThreads;
using weft::blocks2D;
using weft::BoundedPool;
using weft::BrokenPromise;
using weft::Channel;
using weft::ChannelClosed;
using weft::ConditionVariable;
using weft::DAG;
using weft::DAGBuilder;
using weft::DAGNodeBuilder;
using weft::defaultExecutor;
using weft::dump;
using weft::dumpOnSignal;
using weft::dumpText;
using weft::Event;
using weft::Executor;
using weft::ExecutorReference;
using weft::fatal;
using weft::Fiber;
using weft::FiberHooks;
using weft::FiberLocal;
using weft::Finally;
using weft::FinallyImpl;
using weft::firstSuccess;
using weft::Future;
using weft::Histogram;
using weft::InlineExecutor;
using weft::inlineExecutor;
using weft::interruptionPoint;
using weft::irange;
using weft::join;
using weft::Latch;
using weft::Loan;
using weft::lock;
using weft::MainLoopExecutor;
using weft::make_finally;
using weft::make_shared_finally;
using weft::makeExceptionalFuture;
using weft::makeReadyFuture;
using weft::mutex;
using weft::NumberIterator;
using weft::NumberRange;
using weft::onAcquire;
using weft::Once;
using weft::onDone;
using weft::onLock;
using weft::onReady;
using weft::onReceive;
using weft::onSend;
using weft::onSignal;
using weft::onStop;
using weft::onTimeout;
using weft::otherwise;
using weft::pageSize;
using weft::parallelAllOf;
using weft::parallelAnyOf;
using weft::parallelCopyIf;
using weft::parallelCountIf;
using weft::parallelExclusiveScan;
using weft::parallelFind;
using weft::parallelFor;
using weft::parallelInvoke;
using weft::parallelize;
using weft::parallelMapReduce;
using weft::parallelMaxElement;
using weft::parallelMerge;
using weft::parallelMinElement;
using weft::parallelNoneOf;
using weft::parallelPipeline;
using weft::parallelReduce;
using weft::parallelScan;
using weft::parallelSort;
using weft::parallelStableSort;
using weft::parallelStage;
using weft::parallelTransform;
using weft::Partition;
using weft::PollBatch;
using weft::PollOptions;
using weft::PollSource;
using weft::Pool;
using weft::PoolExecutor;
using weft::PoolPolicy;
using weft::Promise;
using weft::RecursiveMutex;
using weft::schedule;
using weft::scheduleMany;
using weft::Scheduler;
using weft::select;
using weft::Semaphore;
using weft::serialOutOfOrderStage;
using weft::serialStage;
using weft::setDefaultExecutor;
using weft::setFiberHooks;
using weft::setThreadWaitHandler;
using weft::SharedFuture;
using weft::SharedMutex;
using weft::Signal;
using weft::sleep_for;
using weft::sleep_until;
using weft::Stage;
using weft::StageOrder;
using weft::staticPartitioner;
using weft::StlAllocator;
using weft::StopAfter;
using weft::Task;
using weft::TaskCanceled;
using weft::TaskGroup;
using weft::TaskHandle;
using weft::taskName;
using weft::TaskNotExecuted;
using weft::Thread;
using weft::ThreadExecutor;
using weft::threadExecutor;
using weft::Ticket;
using weft::TimedOut;
using weft::Trace;
using weft::TrackedAllocator;
using weft::UnboundedPool;
using weft::version;
using weft::WaitGroup;
using weft::WaitHandle;
using weft::WaitHandler;
using weft::warn;
using weft::Watchdog;
using weft::whenAll;
using weft::whenAny;
using weft::WhenAnyResult;
using weft::WorkerLocal;
using weft::yield;
}  // namespace weft

export namespace weft::containers {
using weft::containers::deque;
using weft::containers::list;
using weft::containers::map;
using weft::containers::set;
using weft::containers::take;
using weft::containers::unordered_map;
using weft::containers::unordered_set;
using weft::containers::vector;
}  // namespace weft::containers

export namespace weft::fair {
using weft::fair::async;
using weft::fair::Coro;
using weft::fair::CoroTask;
using weft::fair::deadline;
using weft::fair::delay;
using weft::fair::moveTo;
using weft::fair::PendingSignal;
using weft::fair::receiveSignal;
using weft::fair::Self;
using weft::fair::self;
using weft::fair::signalAfter;
using weft::fair::signalFor;
using weft::fair::signalUntil;
using weft::fair::Task;
using weft::fair::TaskScheduler;
using weft::fair::wait;
using weft::fair::yield;
}  // namespace weft::fair

export namespace weft::trace {
using weft::trace::Config;
using weft::trace::counter;
using weft::trace::dump;
using weft::trace::dumpOnSignal;
using weft::trace::isRecording;
using weft::trace::mark;
using weft::trace::Scope;
using weft::trace::start;
using weft::trace::stop;
}  // namespace weft::trace
