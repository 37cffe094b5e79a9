// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/chrome_json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory_resource>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hand_made.h"

namespace chrome_json_test {
namespace {

using namespace weft::detail::inspect;

// What the calls write between the file's beginning and its end.
template <class Calls>
std::string eventsOf(const Calls& calls,
                     std::pmr::memory_resource* memory = std::pmr::get_default_resource()) {
  std::string file;
  Text text(&appendTo, &file);
  ChromeJson json(text, memory);
  json.begin({7, "program", 0});
  text.flush();
  file.clear();
  calls(json);
  text.flush();
  return file;
}

constexpr TimelineTrack kRow{3, TrackKind::Fiber, "row", 0, 0};

// A slice that is alone in its file.
std::string slice(uint64_t begin, uint64_t end, std::string_view name) {
  return eventsOf([&](TimelineWriter& json) {
    json.beginSlice(kRow, {begin, name});
    json.endSlice(kRow, end);
  });
}

TEST(ChromeJsonTest, WritesAnObjectWithNotes) {
  std::string file;
  Text text(&appendTo, &file);
  ChromeJson json(text, std::pmr::get_default_resource());
  json.begin({7, "a \"program\"", 1'234'567});
  const std::string_view notes[] = {"first", "second"};
  json.end(notes);
  EXPECT_EQ(
      file,
      "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":7,\"tid\":0,\"name\":\"process_name\","
      "\"args\":{\"name\":\"a \\\"program\\\"\"}},\n"
      "{\"ph\":\"i\",\"pid\":7,\"tid\":0,\"ts\":1234.567,\"s\":\"g\",\"name\":\"first\",\"cat\":\"weft\"},\n"
      "{\"ph\":\"i\",\"pid\":7,\"tid\":0,\"ts\":1234.567,\"s\":\"g\",\"name\":\"second\",\"cat\":\"weft\"}\n"
      "],\"otherData\":{\"note 1\":\"first\",\"note 2\":\"second\"}}\n");
}

TEST(ChromeJsonTest, WritesRowsInTheirOrder) {
  EXPECT_EQ(eventsOf([](TimelineWriter& json) {
              json.addTrack({5, TrackKind::Thread, "main", std::numeric_limits<int32_t>::min(), 4711});
              json.addTrack({6, TrackKind::Counter, "ready", 0, 0});
            }),
            ",\n{\"ph\":\"M\",\"pid\":7,\"tid\":5,\"name\":\"thread_name\",\"args\":{\"name\":\"main\"}},\n"
            "{\"ph\":\"M\",\"pid\":7,\"tid\":5,\"name\":\"thread_sort_index\","
            "\"args\":{\"sort_index\":-2147483648}}");
}

TEST(ChromeJsonTest, WritesMicrosecondsWithThreeDecimals) {
  for (const auto& [ns, expected] : std::vector<std::pair<uint64_t, std::string>>{
           {0, "0.000"},
           {7, "0.007"},
           {1'000, "1.000"},
           {1'020, "1.020"},
           {123'456'789'012'345'678, "123456789012345.678"},
           {std::numeric_limits<uint64_t>::max(), "18446744073709551.615"}}) {
    EXPECT_EQ(slice(0, ns, "run"),
              ",\n{\"ph\":\"X\",\"pid\":7,\"tid\":3,\"ts\":0.000,\"name\":\"run\",\"cat\":\"weft\",\"dur\":" +
                  expected + "}");
  }
}

TEST(ChromeJsonTest, WritesArguments) {
  const TimelineArgument arguments[] = {
      {"where", "a\tb"}, {"count", uint64_t{1} << 53}, {"address", std::numeric_limits<uint64_t>::max()}};
  EXPECT_EQ(eventsOf([&](TimelineWriter& json) {
              json.beginSlice(kRow, {1, "run\xff", "task", arguments});
              json.endSlice(kRow, 4);
            }),
            ",\n{\"ph\":\"X\",\"pid\":7,\"tid\":3,\"ts\":0.001,\"name\":\"run\\ufffd\",\"cat\":\"task\","
            "\"args\":{\"where\":\"a\\u0009b\",\"count\":9007199254740992,"
            "\"address\":\"18446744073709551615\"},\"dur\":0.003}");
}

TEST(ChromeJsonTest, WritesSlicesThatBeginTogetherFromTheOutermostOneOn) {
  EXPECT_EQ(eventsOf([&](TimelineWriter& json) {
              json.beginSlice(kRow, {1, "a"});
              json.beginSlice(kRow, {1, "b"});
              json.instant(kRow, {1, "c", "weft", {}, 9});
              json.endSlice(kRow, 3);
              json.beginSlice(kRow, {3, "d"});
              json.endSlice(kRow, 5);
              json.endSlice(kRow, 6);
            }),
            slice(3, 5, "d") + slice(1, 6, "a") + slice(1, 3, "b") + slice(1, 1, "c") +
                ",\n{\"ph\":\"s\",\"pid\":7,\"tid\":3,\"ts\":0.001,\"name\":\"arrow\",\"cat\":\"weft\","
                "\"id\":\"0x9\"}");
}

TEST(ChromeJsonTest, WritesArrowsAtSlices) {
  const std::string row = ",\"pid\":7,\"tid\":3,\"ts\":0.001";
  EXPECT_EQ(eventsOf([&](TimelineWriter& json) {
              json.beginSlice(kRow, {1, "run", "weft", {}, 255, 16});
              json.endSlice(kRow, 2);
            }),
            slice(1, 2, "run") + ",\n{\"ph\":\"f\"" + row +
                ",\"name\":\"arrow\",\"cat\":\"weft\",\"id\":\"0x10\",\"bp\":\"e\"},\n{\"ph\":\"s\"" + row +
                ",\"name\":\"arrow\",\"cat\":\"weft\",\"id\":\"0xff\"}");
}

TEST(ChromeJsonTest, MakesASliceOfAnInstantWithAnArrow) {
  const std::string row = ",\"pid\":7,\"tid\":3,\"ts\":0.001";
  EXPECT_EQ(eventsOf([&](TimelineWriter& json) { json.instant(kRow, {1, "steal"}); }),
            ",\n{\"ph\":\"i\"" + row + ",\"s\":\"t\",\"name\":\"steal\",\"cat\":\"weft\"}");
  EXPECT_EQ(eventsOf([&](TimelineWriter& json) { json.instant(kRow, {1, "wake", "weft", {}, 9}); }),
            slice(1, 1, "wake") + ",\n{\"ph\":\"s\"" + row +
                ",\"name\":\"arrow\",\"cat\":\"weft\",\"id\":\"0x9\"}");
}

// Begins slices of which one is refused, and ends them all. Returns: whether one was refused.
bool isRefused(TimelineWriter& json, const std::vector<std::string>& names) {
  bool isRefused = false;
  try {
    for (const std::string& name : names) {
      json.beginSlice(kRow, {1, name});
    }
  } catch (const std::bad_alloc&) {
    isRefused = true;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    json.endSlice(kRow, 2);
  }
  return isRefused;
}

TEST(ChromeJsonTest, LacksSlicesForWhichThereIsNoMemory) {
  const std::vector<std::string> names = {"a", std::string(1'000, 'b'), std::string(10'000, 'c')};
  std::vector<bool> refused;
  do {
    weft::tests::ScarceMemory memory;
    const auto calls = [&](TimelineWriter& json) {
      memory.numLeft = static_cast<int>(refused.size());
      refused.push_back(isRefused(json, names));
    };
    const std::string events = eventsOf(calls, &memory);
    std::string expected;
    bool isWhole = true;
    for (const std::string& name : names) {
      isWhole = isWhole && events.find("\"" + name + "\"") != std::string::npos;
      expected += isWhole ? slice(1, 2, name) : "";
    }
    EXPECT_EQ(events.size(), expected.size()) << refused.size();
    EXPECT_TRUE(isWhole || refused.back());
  } while (refused.back() && !HasFailure());
  EXPECT_GT(refused.size(), 4U);
}

TEST(ChromeJsonTest, WritesCountersThatAreFinite) {
  const TimelineTrack counter{6, TrackKind::Counter, "ready", 0, 0};
  const std::string before =
      ",\n{\"ph\":\"C\",\"pid\":7,\"tid\":0,\"ts\":0.002,\"name\":\"ready\","
      "\"args\":{\"value\":";
  const auto written = [&](double value) {
    return eventsOf([&](TimelineWriter& json) { json.counter(counter, 2, value); });
  };
  EXPECT_EQ(written(3), before + "3}}");
  EXPECT_EQ(written(-0.25), before + "-0.25}}");
  EXPECT_EQ(written(std::numeric_limits<double>::max()), before + "1.7976931348623157e+308}}");
  EXPECT_EQ(written(std::numeric_limits<double>::denorm_min()), before + "5e-324}}");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(written(std::numeric_limits<double>::quiet_NaN()), "");
}

TEST(ChromeJsonTest, WritesAsynchronousSlices) {
  EXPECT_EQ(eventsOf([&](TimelineWriter& json) {
              json.asyncBegin(0xabc, 1, "read");
              json.asyncEnd(0xabc, 2, "read");
            }),
            ",\n{\"ph\":\"b\",\"pid\":7,\"tid\":0,\"ts\":0.001,\"cat\":\"weft\",\"id\":\"0xabc\","
            "\"name\":\"read\"},\n"
            "{\"ph\":\"e\",\"pid\":7,\"tid\":0,\"ts\":0.002,\"cat\":\"weft\",\"id\":\"0xabc\","
            "\"name\":\"read\"}");
}

}  // namespace
}  // namespace chrome_json_test
