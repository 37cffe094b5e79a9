// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/perfetto_trace.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <memory_resource>
#include <set>
#include <string>
#include <string_view>

#include "hand_made.h"
#include "inspect/byte_reader.h"
#include "inspect/protobuf_writer.h"

namespace perfetto_trace_test {
namespace {

using namespace weft::detail::inspect;

// The fields that are messages, each by its way from the file on.
const std::set<std::string> kMessages = {".1",    ".1.6",    ".1.6.1",  ".1.11",   ".1.11.4",
                                         ".1.12", ".1.12.1", ".1.12.2", ".1.12.3", ".1.12.29",
                                         ".1.59", ".1.60",   ".1.60.3", ".1.60.4", ".1.60.8"};

// Returns: the fields as text, such as "8:17 11{9:1 23'run'}".
std::string fieldsOf(std::string_view bytes, const std::string& way) {
  ByteReader reader(bytes.data(), bytes.size(), 0);
  std::string text;
  while (reader.left() != 0 && reader.isOk()) {
    const uint64_t key = reader.unsignedLeb();
    const std::string field = std::to_string(key / 8);
    text += (text.empty() ? "" : " ") + field;
    if (key % 8 == 0) {
      text += ':' + std::to_string(reader.unsignedLeb());
    } else if (key % 8 == 1) {
      uint64_t number = 0;
      for (int i = 0; i < 8; ++i) {  // the lowest byte comes first
        number |= uint64_t{reader.get<uint8_t>()} << 8 * i;
      }
      text += '#' + std::to_string(number);
    } else {
      const uint64_t size = reader.unsignedLeb();
      const auto* begin = reinterpret_cast<const char*>(reader.bytes());
      reader.skip(size);
      const std::string_view inside(begin, reader.isOk() ? static_cast<size_t>(size) : 0);
      const std::string inner = way + '.' + field;
      text +=
          kMessages.contains(inner) ? '{' + fieldsOf(inside, inner) + '}' : '\'' + std::string(inside) + '\'';
    }
  }
  return text + (reader.isOk() ? "" : " cut off");
}

// The packets that the calls write after those of the file's beginning.
template <class Calls>
std::string packetsOf(const Calls& calls,
                      std::pmr::memory_resource* memory = std::pmr::get_default_resource()) {
  std::string file;
  Text text(&appendTo, &file);
  PerfettoTrace trace(text, memory);
  trace.begin({7, "program", 1000});
  text.flush();
  file.clear();
  calls(trace);
  text.flush();
  return fieldsOf(file, "");
}

std::string eventAt(uint64_t ns, const std::string& fields) {
  return "1{8:" + std::to_string(ns) + " 10:1 13:2 11{" + fields + "}}";
}

std::string descriptor(const std::string& fields) { return "1{8:1000 10:1 13:2 60{" + fields + "}}"; }

// `field`: of the interned data.
std::string interned(int field, int number, const std::string& text) {
  return "1{10:1 13:2 12{" + std::to_string(field) + "{1:" + std::to_string(number) + " 2'" + text + "'}}} ";
}

constexpr TimelineTrack kRow{3, TrackKind::Fiber, "row", -2, 0};
constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();

TEST(ProtobufWriterTest, WritesNumbersOfAllSizes) {
  std::string bytes;
  {
    Text text(&appendTo, &bytes);
    ProtobufWriter out(&text);
    out.number(1, 0);
    out.number(15, 127);
    out.number(16, 128);
    out.number(2047, kMax);
    out.signedNumber(2, -1);
    out.fixed64(3, 0x0123456789abcdef);
  }
  EXPECT_EQ(bytes, std::string_view("\x08\x00"
                                    "\x78\x7f"
                                    "\x80\x01\x80\x01"
                                    "\xf8\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                    "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                                    "\x19\xef\xcd\xab\x89\x67\x45\x23\x01",
                                    2 + 2 + 4 + 12 + 11 + 9));
}

TEST(ProtobufWriterTest, WritesTheSizesOfWhatIsLong) {
  const std::string name(100'000, 'x');
  std::string bytes;
  {
    Text text(&appendTo, &bytes);
    ProtobufWriter(&text).message(1, [&](ProtobufWriter& packet) {
      packet.message(11, [&](ProtobufWriter& event) {
        event.text(23, name);
        event.number(9, 1);
      });
    });
  }
  EXPECT_EQ(fieldsOf(bytes, ""), "1{11{23'" + name + "' 9:1}}");
}

TEST(ProtobufWriterTest, ReplacesWhatIsNoUtf8) {
  std::string bytes;
  {
    Text text(&appendTo, &bytes);
    ProtobufWriter(&text).text(1, "a\xff\xc3\xa4\xe2\x82");
  }
  EXPECT_EQ(bytes,
            "\x0a\x0c"
            "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(PerfettoTraceTest, BeginsWithItsClockItsProcessAndGroupsOfRows) {
  std::string file;
  Text text(&appendTo, &file);
  PerfettoTrace trace(text, std::pmr::get_default_resource());
  trace.begin({7, "program", 1000});
  trace.end({});
  EXPECT_EQ(fieldsOf(file, ""), "1{8:1000 58:3 10:1 13:1 59{58:3} 6{1{1:3 2:1000} 2:3}} " +
                                    descriptor("1:4294967296 3{1:7 6'program'} 11:3") + " " +
                                    descriptor("1:4294967297 5:4294967296 2'Notes' 11:3 12:0") + " " +
                                    descriptor("1:4294967298 5:4294967296 2'Counters' 11:3 12:1") + " " +
                                    descriptor("1:4294967299 5:4294967296 2'Fibers' 11:3 12:2"));
}

TEST(PerfettoTraceTest, DescribesRows) {
  EXPECT_EQ(packetsOf([](TimelineWriter& trace) {
              trace.addTrack({5, TrackKind::Thread, "main", 1, 4711});
              trace.addTrack(kRow);
              trace.addTrack({6, TrackKind::Counter, "ready", 0, 0});
            }),
            descriptor("1:5 12:1 4{1:7 2:4711 5'main'}") + " " +
                descriptor("1:3 12:" + std::to_string(kMax - 1) + " 5:4294967299 2'row' 15:2") + " " +
                descriptor("1:6 12:0 5:4294967298 2'ready' 15:2 8{}"));
}

TEST(PerfettoTraceTest, WritesEventsWithArgumentsAndArrows) {
  const TimelineArgument arguments[] = {{"where", "a"}, {"count", kMax}};
  EXPECT_EQ(packetsOf([&](TimelineWriter& trace) {
              trace.beginSlice(kRow, {2000, "run", "task", arguments, 0, 9});
              trace.instant(kRow, {2001, "wake", "task", {}, kMax, 0});
              trace.endSlice(kRow, kMax);
            }),
            interned(1, 1, "task") + interned(2, 2, "run") + interned(3, 3, "where") + interned(29, 4, "a") +
                interned(3, 5, "count") +
                eventAt(2000, "9:1 11:3 3:1 10:2 4{1:3 17:4} 4{1:5 3:" + std::to_string(kMax) + "} 48#9") +
                " " + interned(2, 6, "wake") + eventAt(2001, "9:3 11:3 3:1 10:6 47#" + std::to_string(kMax)) +
                " " + eventAt(kMax, "9:2 11:3"));
}

TEST(PerfettoTraceTest, WritesATextOnceForEachUse) {
  const TimelineArgument argument("run", "run");
  EXPECT_EQ(packetsOf([&](TimelineWriter& trace) {
              trace.instant(kRow, {2000, "run", "run", {&argument, 1}});
              trace.instant(kRow, {2001, "run", "run", {&argument, 1}});
            }),
            interned(1, 1, "run") + interned(2, 1, "run") + interned(3, 1, "run") + interned(29, 1, "run") +
                eventAt(2000, "9:3 11:3 3:1 10:1 4{1:1 17:1}") + " " +
                eventAt(2001, "9:3 11:3 3:1 10:1 4{1:1 17:1}"));
}

TEST(PerfettoTraceTest, WritesTextsInFullForWhichThereIsNoMemory) {
  const TimelineArgument argument("where", "a");
  const auto calls = [&](TimelineWriter& trace) {
    trace.instant(kRow, {2000, "run", "task", {&argument, 1}});
  };
  EXPECT_EQ(packetsOf(calls, std::pmr::null_memory_resource()),
            eventAt(2000, "9:3 11:3 22'task' 23'run' 4{10'where' 6'a'}"));
  weft::tests::ScarceMemory memory;
  memory.numLeft = 0;
  EXPECT_EQ(packetsOf(calls, &memory), interned(2, 1, "run") + interned(3, 2, "where") +
                                           interned(29, 3, "a") +
                                           eventAt(2000, "9:3 11:3 22'task' 10:1 4{1:2 17:3}"));
}

TEST(PerfettoTraceTest, WritesCountersThatAreFinite) {
  const TimelineTrack counter{6, TrackKind::Counter, "ready", 0, 0};
  for (const double value : {0.0, -1.5, std::numeric_limits<double>::max()}) {
    EXPECT_EQ(packetsOf([&](TimelineWriter& trace) { trace.counter(counter, 2000, value); }),
              eventAt(2000, "9:4 11:6 44#" + std::to_string(std::bit_cast<uint64_t>(value))));
  }
  EXPECT_EQ(packetsOf([&](TimelineWriter& trace) {
              trace.counter(counter, 2000, std::numeric_limits<double>::infinity());
              trace.counter(counter, 2000, std::numeric_limits<double>::quiet_NaN());
            }),
            "");
}

TEST(PerfettoTraceTest, GivesAsynchronousSlicesRowsOfTheirOwn) {
  const auto written = [](uint64_t id, const char* name) {
    return packetsOf([&](TimelineWriter& trace) { trace.asyncEnd(id, 2000, name); });
  };
  EXPECT_EQ(written(1, "read"), written(1, "read"));
  EXPECT_NE(written(1, "read"), written(2, "read"));
  EXPECT_NE(written(1, "read"), written(1, "write"));
  const std::string end = written(1, "read");
  const std::string row = end.substr(end.find("11:") + 3, end.find('}') - end.find("11:") - 3);
  EXPECT_EQ(packetsOf([](TimelineWriter& trace) { trace.asyncBegin(1, 1500, "read"); }),
            descriptor("1:" + row + " 5:4294967296 2'read'") + " " + interned(1, 1, "weft") +
                interned(2, 2, "read") + eventAt(1500, "9:1 11:" + row + " 3:1 10:2"));
}

TEST(PerfettoTraceTest, ShowsNotesAtTheBeginning) {
  const std::string_view notes[] = {"first"};
  EXPECT_EQ(packetsOf([&](TimelineWriter& trace) { trace.end(notes); }),
            interned(1, 1, "weft") + interned(2, 2, "first") + eventAt(1000, "9:3 11:4294967297 3:1 10:2"));
}

}  // namespace
}  // namespace perfetto_trace_test
