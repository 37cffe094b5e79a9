# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that what the parallel algorithms cannot run over, write to or sort gets one error, which says what to write:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

set(program "
#include <iterator>
#if !defined(__clang__) || __clang_major__ > 15
#include <ranges>
inline constexpr auto endless = std::views::iota(0);
#else
struct Endless {
  const int* begin() const;
  std::unreachable_sentinel_t end() const;
};
inline constexpr Endless endless;
#endif
#include <string>
#include <vector>
#include <weft/channel.h>
#include <weft/parallel.h>
inline std::vector<int> numbers(3);
inline std::vector<std::string*> pointers(3);
inline std::vector<bool> bits(3);
inline weft::Channel<std::string> channel;
struct Joined {  // as std::views::transform(f) | std::views::join, where f returns ranges
  struct Iterator {
    using iterator_concept = std::input_iterator_tag;
    using value_type = int;
    using difference_type = std::ptrdiff_t;
    int operator*() const;
    Iterator& operator++();
    void operator++(int);
    bool operator==(const Iterator&) const;
  };
  Iterator begin();
  Iterator end();
} joined;
inline const auto append = [](std::vector<int> to, const auto&) { return to; };
struct Printer {  // as a std::ostream_iterator
  using iterator_category = std::output_iterator_tag;
  using value_type = void;
  using difference_type = void;
  using pointer = void;
  using reference = void;
  Printer& operator=(int) { return *this; }
  Printer& operator*() { return *this; }
  Printer& operator++() { return *this; }
};
struct Const {
  Const(const Const&) = default;
  Const(int x) : value(x) {}
  Const operator+(const Const& other) const { return value + other.value; }
  const int value;
};
struct Moved {
  Moved(Moved&&) = default;
  Moved& operator=(Moved&&) = default;
  Moved(int x);
  Moved operator+(const Moved&) const;
};
struct None { void schedule(int); } none;
struct Own { void schedule(weft::TaskHandle task) const; };
inline const Own own;
inline const std::stop_token token;
void use() { BODY }
")

set(warnings)
include(${CMAKE_CURRENT_LIST_DIR}/one_error.cmake)

check("weft::parallelFor(weft::irange(0, 3).begin(), weft::irange(0, 3).end(), [](int) {});
  weft::parallelScan(bits, numbers.begin());
  (void)weft::parallelReduce(bits, 0);
  (void)weft::parallelReduce(numbers, 0L);" OK)

set(ends "a range that begins with a number ends with one")
check("weft::parallelFor(0, numbers.end(), [](std::string) {});" "${ends}")

set(forward "weft's parallel algorithms need forward iterators at least")
check("weft::parallelFor(joined, [](int) {});" "${forward}")
check("weft::parallelFor(joined.begin(), joined.end(), [](int) {});" "${forward}")
check("weft::parallelFor(channel, [](std::string&) {});" "${forward}")
check("weft::parallelFor(weft::autoPartitioner(channel, 1), [](std::string&) {});" "${forward}")
check("(void)weft::parallelReduce(channel, std::string());" "${forward}")
check("weft::parallelScan(joined, numbers.begin());" "${forward}")
check("weft::parallelTransform(numbers, joined, numbers.begin(), std::plus<>());" "${forward}")
check("weft::parallelTransform(numbers.begin(), numbers.end(), joined.begin(), numbers.begin(), std::plus<>());" "${forward}")

set(end "split a range, and so need its end: this one is endless")
check("weft::parallelFor(endless, [](int) {});" "${end}")
check("weft::parallelFor(endless.begin(), endless.end(), [](int) {});" "${end}")
check("(void)weft::parallelReduce(endless, 0);" "${end}")
check("weft::parallelTransform(numbers, endless, numbers.begin(), std::plus<>());" "${end}")
check("weft::parallelTransform(numbers.begin(), numbers.end(), endless.begin(), numbers.begin(), std::plus<>());" OK)

set(places "weft's parallel algorithms write through forward iterators")
check("weft::parallelScan(numbers, std::back_inserter(numbers));" "${places}")
check("weft::parallelScan(numbers.begin(), numbers.end(), Printer());" "${places}")
check("weft::parallelExclusiveScan(numbers, Printer(), 0);" "${places}")
check("weft::parallelTransform(numbers, Printer(), std::negate<>());" "${places}")
set(noBits "weft's parallel algorithms do not write to a vector<bool>")
check("weft::parallelScan(bits, bits.begin(), std::logical_or<>());" "${noBits}")
check("weft::parallelTransform(numbers, bits.begin(), [](int x) { return x > 0; });" "${noBits}")
check("weft::parallelScan(numbers, pointers.begin());" "cannot be assigned to the elements of its output")

set(byThemselves "do not convert to it by themselves. Write parallelMapReduce")
check("(void)weft::parallelReduce(numbers, std::vector<int>(), append);" "${byThemselves}")
check("(void)weft::parallelReduce({3, 7, 9}, std::vector<int>(), append);" "${byThemselves}")
check("(void)weft::parallelMapReduce(numbers, std::vector<int>(), std::negate<>(), append);" "${byThemselves}")
check("(void)weft::parallelReduce(numbers, 0, [](int, int) { return std::string(); });" "returns what converts to the type")
set(assigned "this type cannot be assigned, as one with a const member. Give it an operator=")
check("(void)weft::parallelReduce(numbers, Const(0));" "${assigned}")
check("(void)weft::parallelMapReduce(numbers, Const(0), std::negate<>());" "${assigned}")
check("weft::parallelScan(std::vector<Const>(), numbers.begin());" "${assigned}")
check("weft::parallelExclusiveScan(numbers, numbers.begin(), Const(0));" "${assigned}")
check("weft::parallelExclusiveScan(numbers, numbers.begin(), Moved(0));" "a scan copies values of the type of `init`")
check("weft::parallelExclusiveScan(numbers, numbers.begin(), std::string());" "these do not convert to it by themselves")
check("(void)weft::parallelReduce(numbers, Moved(0));" OK)

set(element "the function of a parallel algorithm is called with an element of the range")
check("weft::parallelFor(numbers, [] {});" "${element}")
check("weft::parallelFor(0, 3, [](std::string) {});" "${element}")
check("weft::parallelTransform(numbers, [](int x) { return x; }, numbers.begin());" "${element}")
check("weft::parallelTransform(numbers, numbers, numbers.begin(), [](int) { return 1; });" "${element}")
check("(void)weft::parallelMapReduce(numbers, 0, [] { return 1; });" "${element}")
set(begins "a parallel algorithm begins with a range, or its two ends")
check("weft::parallelFor([](int) {}, numbers);" "${begins}")
check("weft::parallelFor(none, numbers, [](int) {});" "${begins}")
check("weft::parallelSort([](int, int) { return true; }, numbers);" "${begins}")
check("(void)weft::parallelReduce(none, numbers, 0);" "${begins}")
set(twoValues "reduce cannot be called with two values of the type of .init.")
check("(void)weft::parallelReduce(numbers, 0, [](int) { return 1; });" "${twoValues}")
check("(void)weft::parallelReduce(numbers, std::plus<>(), 0);" "${twoValues}")
check("(void)weft::parallelReduce(numbers, 0, std::stop_token());" "${twoValues}")
check("(void)weft::parallelMapReduce(numbers, 0, std::negate<>(), [](int) { return 1; });" "${twoValues}")
check("int array[3] = {}; (void)weft::parallelReduce(array, array + 3, 0);
  (void)weft::parallelReduce(array, 0, std::plus<>());
  weft::parallelSort(array, array + 3);
  weft::parallelSort(array, std::greater<>());" OK)

set(less "call less.a, b. with two elements that are const, and it returns a bool")
check("weft::parallelSort(numbers, [](int) { return true; });" "${less}")
check("weft::parallelStableSort(numbers.begin(), numbers.end(), [](int, int) { return std::string(); });" "${less}")
check("struct None {}; std::vector<None> all; weft::parallelSort(all);" "${less}")
check("weft::parallelSort(numbers, std::stop_token());" "${less}")

set(tells "the predicate of a parallel algorithm tells whether it is true of an element")
set(text "[](int) { return std::string(); }")
check("(void)weft::parallelFind(numbers, ${text});" "${tells}")
check("(void)weft::parallelAnyOf(numbers, ${text});" "${tells}")
check("(void)weft::parallelAllOf({1, 2}, ${text});" "${tells}")
check("(void)weft::parallelNoneOf(0, 9, ${text});" "${tells}")
check("(void)weft::parallelCountIf(numbers, ${text});" "${tells}")
check("(void)weft::parallelFind(numbers, [] { return true; });" "${element}")
check("(void)weft::parallelAllOf(numbers, [] { return true; });" "${element}")
check("(void)weft::parallelCountIf(numbers, [] { return true; });" "${element}")
check("(void)weft::parallelFind(joined, [](int) { return true; });" "${forward}")
check("(void)weft::parallelAnyOf(endless, [](int) { return true; });" "${end}")
check("(void)weft::parallelFind(0, numbers.end(), [](int) { return true; });" "${ends}")
check("(void)weft::parallelFind(none, numbers, [](int) { return true; });" "${begins}")
set(outlived "this parallel algorithm returns an iterator, which would point into a temporary range")
check("(void)weft::parallelFind(std::vector<int>(3), [](int) { return true; });" "${outlived}")
check("(void)weft::parallelMinElement(std::vector<int>(3));" "${outlived}")
set(minLess "parallelMinElement.range, less. and parallelMaxElement.range, less. call less.a, b.")
check("(void)weft::parallelMinElement(numbers, [](int) { return true; });" "${minLess}")
check("struct None {}; std::vector<None> all; (void)weft::parallelMaxElement(all);" "${minLess}")
check("(void)weft::parallelMinElement(joined);" "${forward}")

set(stages "the stages of a parallelPipeline.. are made by serialStage.f.")
set(source "the first stage of a parallelPipeline.. is called without arguments, and must return a std::optional")
set(further "a stage of a parallelPipeline.. cannot be called with what the stage before returns")
set(numbers "weft::serialStage([] { return std::optional<int>(1); })")
check("weft::parallelPipeline(4, [] { return 1; });" "${stages}")
check("weft::parallelPipeline(4, std::stop_token());" "a parallelPipeline.. needs at least one stage")
check("weft::parallelPipeline(4, ${numbers}, std::stop_token(), weft::parallelStage([](int) {}));" "${stages}")
check("weft::parallelPipeline(4);" "a parallelPipeline.. needs at least one stage")
check("weft::parallelPipeline(4, weft::serialStage([] { return 1; }));" "${source}")
check("weft::parallelPipeline(4, weft::serialStage([](int) { return std::optional<int>(); }));" "${source}")
check("weft::parallelPipeline(4, ${numbers}, weft::parallelStage([](std::string) {}));" "${further}")
check("weft::parallelPipeline(4, ${numbers}, weft::parallelStage([](int) {}), weft::serialStage([] {}));"
  "must return the input of the next stage")
check("weft::parallelPipeline(${numbers}, weft::parallelStage([](int) {}));" "begins with the number of items")
check("weft::parallelPipeline(4u, ${numbers}, weft::parallelStage([](int&&) { return 1; }), weft::serialStage([](int) {}));" OK)

check("weft::parallelMerge(joined, numbers, numbers.begin());" "parallelMerge.. needs random-access iterators")
check("weft::parallelMerge(numbers, numbers, std::back_inserter(numbers));" "${places}")
check("weft::parallelMerge(numbers, numbers, bits.begin());" "${noBits}")
check("weft::parallelMerge(numbers, numbers, numbers.begin(), [](int) { return true; });" "parallelMerge.first, second, out, less. calls less.b, a.")
check("weft::parallelMerge(weft::autoPartitioner(numbers), numbers, numbers.begin());" "take no partitioner")
check("weft::parallelMerge(none, numbers, numbers, numbers.begin());" "${begins}")

set(all "[](int) { return true; }")
check("weft::parallelCopyIf(numbers, numbers.begin(), ${text});" "${tells}")
check("weft::parallelCopyIf(numbers, numbers.begin(), [] { return true; });" "${element}")
check("weft::parallelCopyIf(joined, numbers.begin(), ${all});" "${forward}")
check("weft::parallelCopyIf(numbers, std::back_inserter(numbers), ${all});" "${places}")
check("weft::parallelCopyIf(numbers, bits.begin(), ${all});" "${noBits}")
check("weft::parallelCopyIf(numbers, pointers.begin(), ${all});" "cannot be assigned to the elements of its output")
check("weft::parallelCopyIf(none, numbers, numbers.begin(), ${all});" "${begins}")

set(objects "parallelSort\\(\\) and parallelStableSort\\(\\) need elements that are objects of their own")
check("weft::parallelSort(bits);" "${objects}")
check("weft::parallelStableSort(bits.begin(), bits.end());" "${objects}")

set(bools "weft's parallel algorithms do not count from one bool to another")
check("weft::parallelFor(false, true, [](bool) {});" "${bools}")
check("(void)weft::parallelReduce(false, true, 0);" "${bools}")
check("weft::parallelScan(false, true, numbers.begin());" "${bools}")
check("weft::parallelFor(0, true, [](int) {}); weft::parallelFor({false, true}, [](bool) {});" OK)

set(noToken "this parallel algorithm takes no stop token")
check("(void)weft::parallelCountIf(numbers, ${all}, token);" "${noToken}")
check("(void)weft::parallelCountIf(own, numbers, ${all}, token);" "${noToken}")
check("(void)weft::parallelCountIf(numbers.begin(), numbers.end(), ${all}, std::stop_token());" "${noToken}")
check("(void)weft::parallelCountIf(0, 9, ${all}, token);" "${noToken}")
check("(void)weft::parallelMinElement(numbers, std::less<>(), token);" "${noToken}")
check("(void)weft::parallelMaxElement(numbers.begin(), numbers.end(), std::less<>(), token);" "${noToken}")
check("(void)weft::parallelMinElement(own, numbers, std::less<>(), token);" "${noToken}")
check("(void)weft::parallelMaxElement(numbers, token);" "${minLess}")
check("weft::parallelMerge(numbers, numbers, numbers.begin(), std::less<>(), token);" "${noToken}")
check("weft::parallelMerge(own, numbers, numbers, numbers.begin(), std::less<>(), token);" "${noToken}")
check("weft::parallelCopyIf(numbers, numbers.begin(), ${all}, token);" "${noToken}")
check("weft::parallelCopyIf(own, numbers, numbers.begin(), ${all}, token);" "${noToken}")
