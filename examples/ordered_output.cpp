// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Prints the prime factors of numbers: ordered_output [NUMBER...]. The numbers are taken apart at the same
// time, some take a thousand times as long as others, and yet the lines come in the order of the arguments.
// Each task has a ticket, and waits until all earlier tickets are done. Their group bounds how many tasks
// there are, however many numbers.

#include <weft/weft.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr int kTasksAtATime = 64;

// Returns: 0 if the text is no positive number of 64 bits.
uint64_t parse(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::string factorize(uint64_t number) {
  std::string line = std::to_string(number) + ":";
  uint64_t rest = number;
  for (uint64_t divisor = 2; divisor <= rest / divisor; ++divisor) {
    for (; rest % divisor == 0; rest /= divisor) {
      line += " " + std::to_string(divisor);
    }
  }
  if (rest > 1) {
    line += " " + std::to_string(rest);
  }
  return line;
}

void printFactors(const std::vector<uint64_t>& numbers) {
  weft::Ticket::Queue order;
  weft::TaskGroup group(weft::TaskGroup::Limit{kTasksAtATime});
  for (const uint64_t number : numbers) {
    group.run([number, ticket = order.take()] {
      const std::string line = factorize(number);
      ticket.wait();
      std::puts(line.c_str());  // one task at a time is here, in the order of take()
      ticket.done();
    });
  }
  group.wait();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<uint64_t> numbers;
  for (int i = 1; i < argc; ++i) {
    numbers.push_back(parse(argv[i]));
    if (numbers.back() == 0) {
      std::fprintf(stderr, "ordered_output: '%s' is no number from 1 to %ju\n", argv[i], UINTMAX_MAX);
      return 2;
    }
  }
  if (numbers.empty()) {
    numbers = {999'999'999'989, 64, 99'999'999'977, 97, 600'851'475'143, 1, 1'000'036'000'099, 30'030};
  }
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  printFactors(numbers);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::perror("ordered_output: cannot write");
    return 1;
  }
}
