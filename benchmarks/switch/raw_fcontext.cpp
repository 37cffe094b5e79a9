// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <boost/context/detail/fcontext.hpp>

#include <memory>

#include "raw.h"

namespace {

namespace ctx = boost::context::detail;

[[noreturn]] void otherSide(ctx::transfer_t from) {
  auto& visits = *static_cast<int64_t*>(from.data);
  for (;;) {
    visits++;
    from = ctx::jump_fcontext(from.fctx, nullptr);
  }
}

void raw(benchmark::State& state) {
  auto stack = std::make_unique<char[]>(switching::kRawStackSize);
  ctx::fcontext_t other =
      ctx::make_fcontext(stack.get() + switching::kRawStackSize, switching::kRawStackSize, otherSide);
  int64_t visits = 0;
  switching::measureRaw(state, visits, [&] { other = ctx::jump_fcontext(other, &visits).fctx; });
}

BENCHMARK(raw)->Arg(0)->Arg(2)->Arg(6)->Arg(14);

}  // namespace

int main(int argc, char** argv) { return bench::microMain(argc, argv); }
