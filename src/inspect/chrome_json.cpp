// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/chrome_json.h"

#include <charconv>
#include <cmath>
#include <new>
#include <utility>

#include "inspect/json_text.h"

namespace weft::inline v0_1::detail::inspect {
namespace {

// JavaScript holds whole numbers up to 2^53 exactly.
constexpr uint64_t kLargestExact = uint64_t{1} << 53;

void writeQuoted(Text& out, std::string_view text) {
  out << '"';
  JsonPieces pieces(text);
  for (std::string_view piece; !(piece = pieces.next()).empty();) {
    out << piece;
  }
  out << '"';
}

void writeMember(Text& out, std::string_view name, std::string_view text) {
  out << ",\"" << name << "\":";
  writeQuoted(out, text);
}

void writeSigned(Text& out, int64_t value) {
  if (value < 0) {
    out << '-';
  }
  out.decimal(value < 0 ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

void writeMicroseconds(Text& out, uint64_t ns) {
  const auto digit = [](uint64_t number) { return static_cast<char>('0' + number % 10); };
  out.decimal(ns / 1000) << '.' << digit(ns / 100) << digit(ns / 10) << digit(ns);
}

void describe(Text& out, const TimelineEvent& event) {
  writeMember(out, "name", event.name);
  writeMember(out, "cat", event.category);
  if (event.arguments.empty()) {
    return;
  }
  out << ",\"args\":";
  char before = '{';
  for (const TimelineArgument& argument : event.arguments) {
    out << before;
    before = ',';
    writeQuoted(out, argument.name);
    out << ':';
    if (argument.isText) {
      writeQuoted(out, argument.text);
    } else if (argument.number <= kLargestExact) {
      out.decimal(argument.number);
    } else {
      (out << '"').decimal(argument.number) << '"';
    }
  }
  out << '}';
}

// Appends what `write` writes to `kept`. Returns: false if there is no memory; then `kept` is as it was.
template <class Write>
bool keepText(std::pmr::string& kept, const Write& write) {
  struct Output {
    std::pmr::string& kept;
    bool isWhole = true;
  };
  const size_t before = kept.size();
  Output output{kept};
  {
    Text text(
        [](void* to, const char* bytes, size_t size) {
          auto* const self = static_cast<Output*>(to);
          try {
            self->kept.append(bytes, size);
          } catch (const std::bad_alloc&) {
            self->isWhole = false;
          }
        },
        &output);
    write(text);
  }
  if (!output.isWhole) {
    kept.resize(before);
  }
  return output.isWhole;
}

}  // namespace

void ChromeJson::open(Text& out, char phase, uint32_t row) {
  out << (isFirst_ ? "\n" : ",\n") << "{\"ph\":\"" << phase << "\",\"pid\":";
  isFirst_ = false;
  out.decimal(processId_) << ",\"tid\":";
  out.decimal(row);
}

void ChromeJson::openAt(Text& out, char phase, uint32_t row, uint64_t ns) {
  open(out, phase, row);
  out << ",\"ts\":";
  writeMicroseconds(out, ns);
}

void ChromeJson::metadata(uint32_t row, std::string_view what, std::string_view name) {
  open(out_, 'M', row);
  writeMember(out_, "name", what);
  out_ << ",\"args\":{\"name\":";
  writeQuoted(out_, name);
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
  open(out_, 'M', track.id);
  writeMember(out_, "name", "thread_sort_index");
  out_ << ",\"args\":{\"sort_index\":";
  writeSigned(out_, track.order);
  out_ << "}}";
}

void ChromeJson::arrow(Text& out, char phase, uint32_t row, uint64_t ns, uint64_t id) {
  openAt(out, phase, row, ns);
  out << ",\"name\":\"arrow\",\"cat\":\"weft\",\"id\":\"";
  out.hex(id) << '"';
  if (phase == 'f') {
    out << ",\"bp\":\"e\"";  // it ends at the slice around it
  }
  out << '}';
}

void ChromeJson::beginSlice(const TimelineTrack& track, const TimelineEvent& event) {
  if (free_ == kNothing) {
    slices_.emplace_back(slices_.get_allocator().resource());
    free_ = static_cast<uint32_t>(slices_.size() - 1);
  }
  OpenSlice& slice = slices_[free_];
  slice.text.clear();  // of a slice for which there was no memory
  const auto write = [&](Text& out) {
    openAt(out, 'X', track.id, event.ns);
    describe(out, event);
  };
  if (!keepText(slice.text, write)) {
    throw std::bad_alloc();
  }
  slice.ns = event.ns;
  slice.arrowOut = event.arrowOut;
  slice.arrowIn = event.arrowIn;
  uint32_t& top = tops_.try_emplace(track.id, kNothing).first->second;
  const uint32_t opened = std::exchange(free_, slice.below);
  slice.below = std::exchange(top, opened);
}

// The order of the file counts where times are equal: a slice comes before its arrows, and before the slices
// in it.
void ChromeJson::writeSlice(Text& out, uint32_t row, const OpenSlice& slice, uint64_t end) {
  out << slice.text << ",\"dur\":";
  writeMicroseconds(out, end - slice.ns);
  out << '}';
  if (slice.arrowIn != 0) {
    arrow(out, 'f', row, slice.ns, slice.arrowIn);
  }
  if (slice.arrowOut != 0) {
    arrow(out, 's', row, slice.ns, slice.arrowOut);
  }
  out << slice.inner;
}

void ChromeJson::endSlice(const TimelineTrack& track, uint64_t ns) {
  const auto top = tops_.find(track.id);
  if (top == tops_.end() || top->second == kNothing) {
    return;  // there was no memory when it began
  }
  OpenSlice& slice = slices_[top->second];
  OpenSlice* const outer = slice.below != kNothing ? &slices_[slice.below] : nullptr;
  const auto write = [&](Text& out) { writeSlice(out, track.id, slice, ns); };
  if (outer == nullptr || outer->ns != slice.ns || !keepText(outer->inner, write)) {
    write(out_);
  }
  slice.text.clear();
  slice.inner.clear();
  const uint32_t closed = std::exchange(top->second, slice.below);
  slice.below = std::exchange(free_, closed);
}

void ChromeJson::instant(const TimelineTrack& track, const TimelineEvent& event) {
  if (event.arrowIn != 0 || event.arrowOut != 0) {
    beginSlice(track, event);
    endSlice(track, event.ns);
    return;
  }
  openAt(out_, 'i', track.id, event.ns);
  out_ << ",\"s\":\"t\"";
  describe(out_, event);
  out_ << '}';
}

void ChromeJson::counter(const TimelineTrack& track, uint64_t ns, double value) {
  if (!std::isfinite(value)) {
    return;
  }
  char digits[32];  // the shortest text that is read as this number has at most 24 bytes
  const std::to_chars_result result = std::to_chars(digits, digits + sizeof digits, value);
  openAt(out_, 'C', 0, ns);
  writeMember(out_, "name", track.name);
  out_ << ",\"args\":{\"value\":" << std::string_view(digits, static_cast<size_t>(result.ptr - digits))
       << "}}";
}

void ChromeJson::async(char phase, uint64_t id, uint64_t ns, std::string_view name) {
  openAt(out_, phase, 0, ns);
  out_ << ",\"cat\":\"weft\",\"id\":\"";
  out_.hex(id) << '"';
  writeMember(out_, "name", name);
  out_ << '}';
}

void ChromeJson::asyncBegin(uint64_t id, uint64_t ns, std::string_view name) { async('b', id, ns, name); }
void ChromeJson::asyncEnd(uint64_t id, uint64_t ns, std::string_view name) { async('e', id, ns, name); }

void ChromeJson::end(std::span<const std::string_view> notes) {
  for (const std::string_view note : notes) {
    openAt(out_, 'i', 0, firstNs_);
    out_ << ",\"s\":\"g\"";
    describe(out_, {firstNs_, note});
    out_ << '}';
  }
  out_ << "\n],\"otherData\":{";
  for (size_t i = 0; i < notes.size(); ++i) {
    out_ << (i == 0 ? "\"note " : ",\"note ");
    out_.decimal(i + 1) << "\":";
    writeQuoted(out_, notes[i]);
  }
  out_ << "}}\n";
  out_.flush();
}

}  // namespace weft::inline v0_1::detail::inspect
