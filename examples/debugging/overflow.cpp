// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This program overflows the stack of a task, since a recursion never ends. docs/debugging.md explains what
// it prints.

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

struct Folder {
  Folder* parent = nullptr;
  int numFiles = 0;
};

int countFiles(const Folder& folder) {
  const int above = folder.parent != nullptr ? countFiles(*folder.parent) : 0;
  return above + folder.numFiles;
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);

  Folder root{nullptr, 1}, link{&root, 1};
  root.parent = &link;  // the mistake: the folders are a circle
  weft::WaitGroup done(1);
  weft::schedule([&, done] {
    countFiles(link);
    done.done();
  });
  done.wait();
}
