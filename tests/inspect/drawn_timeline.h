// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/timeline_writer.h"

namespace weft::tests {

using detail::inspect::TimelineArgument;
using detail::inspect::TimelineEvent;
using detail::inspect::TimelineTrack;
using detail::inspect::TimelineWriter;
using detail::inspect::TrackKind;

// Draws the picture as text, and checks what every picture must keep.
class DrawnTimeline final : public TimelineWriter {
 public:
  void begin(const detail::inspect::TimelineHead& head) override {
    EXPECT_FALSE(hasBegun_);
    hasBegun_ = true;
    first_ = head.firstNs;
    program = head.program;
  }

  void addTrack(const TimelineTrack& track) override {
    EXPECT_TRUE(hasBegun_);
    EXPECT_NE(track.id, 0U);
    const auto [place, isNew] = tracks_.try_emplace(track.id);
    EXPECT_TRUE(isNew) << "track " << track.id << " comes twice";
    place->second = {track.kind, std::string(track.name), first_, {}, {}};
    order_.emplace_back(track.order, track.id);
  }

  void beginSlice(const TimelineTrack& track, const TimelineEvent& event) override {
    Track& on = at(track, event.ns);
    EXPECT_NE(track.kind, TrackKind::Counter);
    EXPECT_FALSE(event.name.empty());
    on.open.push_back(on.lines.size());
    on.lines.push_back(line(event, on.open.size(), false));
    EXPECT_EQ(event.arrowOut, 0U);
    arrive(event);
    ++numSlices;
  }

  void endSlice(const TimelineTrack& track, uint64_t ns) override {
    Track& on = at(track, ns);
    if (on.open.empty()) {
      ADD_FAILURE() << "a slice ends on '" << on.name << "' that has not begun";
      return;
    }
    on.lines[on.open.back()].end = ns;
    on.open.pop_back();
  }

  void instant(const TimelineTrack& track, const TimelineEvent& event) override {
    Track& on = at(track, event.ns);
    on.lines.push_back(line(event, on.open.size() + 1, true));
    EXPECT_EQ(event.arrowIn, 0U);
    if (event.arrowOut != 0) {
      EXPECT_TRUE(outs_.emplace(event.arrowOut, event.ns).second) << "an arrow begins twice";
    }
  }

  void counter(const TimelineTrack& track, uint64_t ns, double value) override {
    Track& on = at(track, ns);
    EXPECT_EQ(on.kind, TrackKind::Counter);
    std::ostringstream text;
    text << value;
    on.lines.push_back({ns, ns, 1, text.str(), true});
  }

  void asyncBegin(uint64_t id, uint64_t ns, std::string_view name) override {
    EXPECT_GE(ns, first_);
    asyncs_[{id, std::string(name)}].emplace_back(ns, kOpen);
  }

  void asyncEnd(uint64_t id, uint64_t ns, std::string_view name) override {
    auto& all = asyncs_[{id, std::string(name)}];
    const auto open = std::ranges::find_if(all, [](const auto& slice) { return slice.second == kOpen; });
    if (open == all.end()) {
      ADD_FAILURE() << "an asynchronous slice '" << name << "' ends that has not begun";
      return;
    }
    EXPECT_GE(ns, open->first);
    open->second = ns;
  }

  void end(std::span<const std::string_view> itsNotes) override {
    EXPECT_FALSE(hasEnded);
    hasEnded = true;
    notes.assign(itsNotes.begin(), itsNotes.end());
    for (const auto& [id, track] : tracks_) {
      EXPECT_TRUE(track.open.empty()) << "a slice of '" << track.name << "' does not end";
    }
    for (const auto& [key, slices] : asyncs_) {
      for (const auto& slice : slices) {
        EXPECT_NE(slice.second, kOpen) << "the asynchronous slice '" << key.second << "' does not end";
      }
    }
  }

  // Of a whole picture.
  void checkArrows() const {
    EXPECT_EQ(outs_.size(), ins_.size());
    for (const auto& [id, ns] : ins_) {
      const auto out = outs_.find(id);
      if (out == outs_.end()) {
        ADD_FAILURE() << "arrow " << id << " has no beginning";
      } else {
        EXPECT_LE(out->second, ns) << "arrow " << id;
      }
    }
  }

  // Each `ready` is on the row of a fiber, right behind a wait, and lasts for a microsecond.
  // Returns: how many there are.
  uint64_t checkReady() const {
    uint64_t numReady = 0;
    for (const auto& [id, track] : tracks_) {
      for (size_t i = 0; i < track.lines.size(); ++i) {
        const Line& line = track.lines[i];
        if (line.text != "ready") {
          continue;
        }
        ++numReady;
        EXPECT_EQ(track.kind, TrackKind::Fiber);
        EXPECT_GE(line.end, line.begin + 1'000);
        size_t before = i;
        while (before != 0 && track.lines[before - 1].isInstant) {
          --before;
        }
        const Line wait = before != 0 ? track.lines[before - 1] : Line();
        const bool isBehind = wait.text.starts_with("waits") &&
                              wait.end + (wait.end == wait.begin ? 0 : 1) >= line.begin &&
                              wait.end <= line.begin && wait.depth == line.depth;
        EXPECT_TRUE(isBehind) << "on '" << track.name << "' at " << line.begin;
      }
    }
    return numReady;
  }

  std::string text() {
    std::ranges::sort(order_);
    std::ostringstream out;
    for (const auto& [order, id] : order_) {
      const Track& track = tracks_.at(id);
      out << track.name << '\n';
      for (const Line& line : track.lines) {
        out << std::string(2 * line.depth, ' ') << line.begin;
        line.isInstant ? out : out << '-' << line.end;
        out << ' ' << line.text << '\n';
      }
    }
    for (const auto& [key, slices] : asyncs_) {
      for (const auto& slice : slices) {
        out << "async " << slice.first << '-' << slice.second << ' ' << key.second << ' ' << key.first
            << '\n';
      }
    }
    return out.str();
  }

  bool hasEnded = false;
  uint64_t numSlices = 0;
  std::string program;
  std::vector<std::string> notes;

 private:
  struct Line {
    uint64_t begin;
    uint64_t end;
    size_t depth;
    std::string text;
    bool isInstant;
  };
  struct Track {
    TrackKind kind = TrackKind::Thread;
    std::string name;
    uint64_t time = 0;
    std::vector<size_t> open;  // indices in `lines`
    std::vector<Line> lines;
  };

  Track& at(const TimelineTrack& track, uint64_t ns) {
    const auto found = tracks_.find(track.id);
    if (found == tracks_.end()) {
      ADD_FAILURE() << "track " << track.id << " has not been added";
      return tracks_[track.id];
    }
    EXPECT_EQ(track.kind, found->second.kind);
    EXPECT_GE(ns, found->second.time) << "the time of '" << found->second.name << "' goes back";
    found->second.time = ns;
    return found->second;
  }

  static Line line(const TimelineEvent& event, size_t depth, bool isInstant) {
    std::ostringstream out;
    out << event.name;
    for (const TimelineArgument& argument : event.arguments) {
      out << " | " << argument.name << ' ';
      argument.isText ? out << argument.text : out << argument.number;
    }
    if (event.arrowOut != 0) {
      out << " =>" << event.arrowOut;
    }
    if (event.arrowIn != 0) {
      out << " <=" << event.arrowIn;
    }
    return {event.ns, event.ns, depth, out.str(), isInstant};
  }

  void arrive(const TimelineEvent& event) {
    if (event.arrowIn != 0) {
      EXPECT_TRUE(ins_.emplace(event.arrowIn, event.ns).second) << "an arrow ends twice";
    }
  }

  static constexpr uint64_t kOpen = ~uint64_t{0};  // in place of the time of an end

  bool hasBegun_ = false;
  uint64_t first_ = 0;
  std::map<uint32_t, Track> tracks_;
  std::vector<std::pair<int32_t, uint32_t>> order_;
  std::map<std::pair<uint64_t, std::string>, std::vector<std::pair<uint64_t, uint64_t>>> asyncs_;
  std::map<uint64_t, uint64_t> outs_;
  std::map<uint64_t, uint64_t> ins_;
};

}  // namespace weft::tests
