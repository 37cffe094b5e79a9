// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/chrome_json.h"

#include <charconv>
#include <cmath>

#include "inspect/json_text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// JavaScript holds whole numbers up to 2^53 exactly.
constexpr uint64_t kLargestExact = uint64_t{1} << 53;

}  // namespace

void ChromeJson::quoted(std::string_view text) {
  out_ << '"';
  JsonPieces pieces(text);
  for (std::string_view piece; !(piece = pieces.next()).empty();) {
    out_ << piece;
  }
  out_ << '"';
}

void ChromeJson::member(std::string_view name, std::string_view text) {
  out_ << ",\"" << name << "\":";
  quoted(text);
}

void ChromeJson::signedNumber(int64_t value) {
  if (value < 0) {
    out_ << '-';
  }
  out_.decimal(value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

void ChromeJson::open(char phase, uint32_t row) {
  out_ << (isFirst_ ? "\n" : ",\n") << "{\"ph\":\"" << phase << "\",\"pid\":";
  isFirst_ = false;
  out_.decimal(processId_) << ",\"tid\":";
  out_.decimal(row);
}

// Times are in microseconds.
void ChromeJson::openAt(char phase, uint32_t row, uint64_t ns) {
  open(phase, row);
  const auto digit = [](uint64_t number) { return static_cast<char>('0' + number % 10); };
  out_ << ",\"ts\":";
  out_.decimal(ns / 1000) << '.' << digit(ns / 100) << digit(ns / 10) << digit(ns);
}

void ChromeJson::metadata(uint32_t row, std::string_view what, std::string_view name) {
  open('M', row);
  member("name", what);
  out_ << ",\"args\":{\"name\":";
  quoted(name);
  out_ << "}}";
}

void ChromeJson::begin(const TimelineHead& head) {
  processId_ = head.processId;
  firstNs_ = head.firstNs;
  out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  metadata(0, "process_name", head.program);
}

// Counters are sorted by the viewers, by their names.
void ChromeJson::addTrack(const TimelineTrack& track) {
  if (track.kind == TrackKind::Counter) {
    return;
  }
  metadata(track.id, "thread_name", track.name);
  open('M', track.id);
  member("name", "thread_sort_index");
  out_ << ",\"args\":{\"sort_index\":";
  signedNumber(track.order);
  out_ << "}}";
}

void ChromeJson::describe(const TimelineEvent& event) {
  member("name", event.name);
  member("cat", event.category);
  if (event.arguments.empty()) {
    return;
  }
  out_ << ",\"args\":";
  char before = '{';
  for (const TimelineArgument& argument : event.arguments) {
    out_ << before;
    before = ',';
    quoted(argument.name);
    out_ << ':';
    if (argument.isText) {
      quoted(argument.text);
    } else if (argument.number <= kLargestExact) {
      out_.decimal(argument.number);
    } else {
      (out_ << '"').decimal(argument.number) << '"';
    }
  }
  out_ << '}';
}

void ChromeJson::arrow(char phase, const TimelineTrack& track, uint64_t ns, uint64_t id) {
  openAt(phase, track.id, ns);
  out_ << ",\"name\":\"arrow\",\"cat\":\"weft\",\"id\":\"";
  out_.hex(id) << '"';
  if (phase == 'f') {
    out_ << ",\"bp\":\"e\"";  // it ends at the slice that is open
  }
  out_ << '}';
}

void ChromeJson::arrows(const TimelineTrack& track, const TimelineEvent& event) {
  if (event.arrowIn != 0) {
    arrow('f', track, event.ns, event.arrowIn);
  }
  if (event.arrowOut != 0) {
    arrow('s', track, event.ns, event.arrowOut);
  }
}

void ChromeJson::beginSlice(const TimelineTrack& track, const TimelineEvent& event) {
  openAt('B', track.id, event.ns);
  describe(event);
  out_ << '}';
  arrows(track, event);
}

void ChromeJson::endSlice(const TimelineTrack& track, uint64_t ns) {
  openAt('E', track.id, ns);
  out_ << '}';
}

void ChromeJson::instant(const TimelineTrack& track, const TimelineEvent& event) {
  if (event.arrowIn != 0 || event.arrowOut != 0) {
    beginSlice(track, event);
    endSlice(track, event.ns);
    return;
  }
  openAt('i', track.id, event.ns);
  out_ << ",\"s\":\"t\"";
  describe(event);
  out_ << '}';
}

void ChromeJson::counter(const TimelineTrack& track, uint64_t ns, double value) {
  if (!std::isfinite(value)) {
    return;
  }
  char digits[32];  // the shortest text that is read as this number has at most 24 bytes
  const std::to_chars_result result = std::to_chars(digits, digits + sizeof digits, value);
  openAt('C', 0, ns);
  member("name", track.name);
  out_ << ",\"args\":{\"value\":" << std::string_view(digits, static_cast<size_t>(result.ptr - digits))
       << "}}";
}

void ChromeJson::async(char phase, uint64_t id, uint64_t ns, std::string_view name) {
  openAt(phase, 0, ns);
  out_ << ",\"cat\":\"weft\",\"id\":\"";
  out_.hex(id) << '"';
  member("name", name);
  out_ << '}';
}

void ChromeJson::asyncBegin(uint64_t id, uint64_t ns, std::string_view name) { async('b', id, ns, name); }
void ChromeJson::asyncEnd(uint64_t id, uint64_t ns, std::string_view name) { async('e', id, ns, name); }

void ChromeJson::end(std::span<const std::string_view> notes) {
  for (const std::string_view note : notes) {
    openAt('i', 0, firstNs_);
    out_ << ",\"s\":\"g\"";
    describe({firstNs_, note});
    out_ << '}';
  }
  out_ << "\n],\"otherData\":{";
  for (size_t i = 0; i < notes.size(); ++i) {
    out_ << (i == 0 ? "\"note " : ",\"note ");
    out_.decimal(i + 1) << "\":";
    quoted(notes[i]);
  }
  out_ << "}}\n";
  out_.flush();
}

}  // namespace weft::inline v0_1::detail::inspect
