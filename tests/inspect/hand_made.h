// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "inspect/names.h"
#include "inspect/snapshot.h"
#include "inspect/text.h"

// Snapshots that are made by hand, and names for what they name.
namespace weft::tests {

using detail::inspect::Address;

// Addresses of code: tasks have the letters, frames of the program are below kWeft, those of weft above.
inline constexpr Address kWeft = 0x9000;
inline constexpr Address kAcquire = kWeft + 0x100;
inline constexpr Address kBlock = kWeft + 0x200;
inline constexpr Address kSuspend = kWeft + 0x300;
inline constexpr Address kRunTask = kWeft + 0x400;
inline constexpr Address kFiberBase = kWeft + 0x500;
inline constexpr Address kParallelFor = kWeft + 0x600;
inline constexpr Address kServe = 0x3412;
inline constexpr Address kMain = 0x2000;
inline constexpr Address kLambda = 0x4000;

class FakeNames final : public detail::inspect::Names {
 public:
  bool isStripped = false;

  void writeTask(detail::inspect::Text& out, Address code) override { out << static_cast<char>(code); }
  void writeFrame(detail::inspect::Text& out, Address pc) override {
    writeFunctionAt(out, pc);
    out << "+0x2 (server+";
    out.hex(pc) << ')';
  }
  void writeFunctionAt(detail::inspect::Text& out, Address pc) override {
    if (pc > 'A' && pc <= 'Z' + 1) {
      out << static_cast<char>(pc - 1);  // a task
      return;
    }
    static const std::map<Address, std::string> names = {
        {kAcquire, "weft::Semaphore::acquire()"},
        {kBlock, "weft::block()"},
        {kSuspend, "weft::suspend()"},
        {kRunTask, "weft_run_task"},
        {kFiberBase, "weft::fiberBase()"},
        {kParallelFor, "weft::parallelFor()"},
        {kServe, "serve(Connection&)"},
        {kMain, "main"},
        {kLambda, "main::{lambda()#2}::operator()"},
    };
    const auto found = names.find(pc);
    out << (isStripped || found == names.end() ? "??" : found->second);
  }
  bool isOfWeft(Address pc) override { return !isStripped && pc >= kWeft; }
};

struct HandMade {
  explicit HandMade(std::pmr::memory_resource* memory = std::pmr::get_default_resource()) : snapshot(memory) {
    snapshot.processId = 4711;
  }

  void scheduler(Address address, uint64_t numInjected = 0) {
    snapshot.schedulers.push_back({address, numInjected, static_cast<uint32_t>(snapshot.workers.size()), 0});
  }

  // Of the last scheduler. A bound thread has the id -1.
  detail::inspect::Worker& worker(int32_t id, int32_t threadId) {
    detail::inspect::Worker worker;
    worker.scheduler = static_cast<uint32_t>(snapshot.schedulers.size() - 1);
    worker.id = id;
    worker.threadId = threadId;
    worker.state = detail::inspect::Worker::State::Asleep;
    worker.firstFiber = static_cast<uint32_t>(snapshot.fibers.size());
    snapshot.workers.push_back(worker);
    ++snapshot.schedulers.back().numWorkers;
    return snapshot.workers.back();
  }

  // Of the last worker. The next call invalidates the reference.
  detail::inspect::Fiber& fiber(uint32_t id, char task, detail::inspect::Fiber::State state) {
    detail::inspect::Fiber fiber;
    fiber.id = id;
    fiber.worker = static_cast<uint32_t>(snapshot.workers.size() - 1);
    fiber.task = static_cast<Address>(task);
    fiber.state = state;
    snapshot.fibers.push_back(fiber);
    ++snapshot.workers.back().numFibers;
    return snapshot.fibers.back();
  }

  detail::inspect::Fiber& main() {
    detail::inspect::Fiber& fiber = this->fiber(0, '\0', detail::inspect::Fiber::State::Running);
    fiber.isMain = true;
    return fiber;
  }

  void block(detail::inspect::Fiber& fiber, std::string_view what, Address object,
             std::chrono::nanoseconds blockedFor, const std::vector<Address>& frames = {}) {
    fiber.state = detail::inspect::Fiber::State::Blocked;
    fiber.what = name(what);
    fiber.object = object;
    fiber.blockedFor = blockedFor;
    fiber.firstFrame = static_cast<uint32_t>(snapshot.frames.size());
    fiber.numFrames = static_cast<uint32_t>(frames.size());
    snapshot.frames.insert(snapshot.frames.end(), frames.begin(), frames.end());
    ++snapshot.workers[fiber.worker].numBlocked;
  }

  detail::inspect::Fiber& blocked(uint32_t id, char task, std::string_view what, Address object,
                                  std::chrono::nanoseconds blockedFor,
                                  const std::vector<Address>& frames = {}) {
    detail::inspect::Fiber& fiber = this->fiber(id, task, detail::inspect::Fiber::State::Blocked);
    block(fiber, what, object, blockedFor, frames);
    return fiber;
  }

  uint32_t name(std::string_view what) {
    for (uint32_t i = 0; i < snapshot.names.size(); ++i) {
      if (snapshot.names[i] == what) {
        return i;
      }
    }
    snapshot.names.emplace_back(what);
    return static_cast<uint32_t>(snapshot.names.size() - 1);
  }

  detail::inspect::Snapshot snapshot;
};

// What `write` writes to a Text.
template <class Write>
std::string textOf(const Write& write) {
  std::string all;
  {
    detail::inspect::Text text(
        [](void* to, const char* piece, size_t size) { static_cast<std::string*>(to)->append(piece, size); },
        &all);
    write(text);
  }
  return all;
}

// Memory that refuses one request.
class ScarceMemory final : public std::pmr::memory_resource {
 public:
  int numLeft = -1;  // requests that it serves before that one; negative: it serves all

 private:
  void* do_allocate(size_t size, size_t alignment) override {
    if (numLeft-- == 0) {
      throw std::bad_alloc();
    }
    return std::pmr::new_delete_resource()->allocate(size, alignment);
  }
  void do_deallocate(void* memory, size_t size, size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, size, alignment);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace weft::tests
