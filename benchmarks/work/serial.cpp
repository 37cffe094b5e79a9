// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "problem.h"

namespace {

template <class Program>
class InOrder {
 public:
  InOrder(Program& program, const work::Dependencies&) : program_(program) {}
  void run() { work::runInOrder(program_); }

 private:
  Program& program_;
};

template <class Program>
void run(bench::Run& r) {
  work::measure<InOrder<Program>, Program>(r);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "work", "serial",
                        {{"frame", {1}, run<work::Frame>}, {"build", {1}, run<work::Build>}});
}
