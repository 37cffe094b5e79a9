// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inspect/memory.h"
#include "inspect/names.h"
#include "inspect/recording.h"
#include "inspect/timeline_writer.h"

namespace weft::inline v0_1::detail::inspect {

// Writes what a process has recorded as a picture, from TimelineWriter::begin() to end():
//
// - A track of each thread: which task runs there, and when the thread looks for work or sleeps.
// - Below it a track of each of its fibers that the recording tells of: its tasks from begin to end, and in
//   them what they wait for, the tasks in place, and what the program marks.
// - An arrow from each wake to the slice with which the fiber goes on.
// - A curve of each counter, and the asynchronous slices.
//
// The slices of a track nest, and its times never go back, whatever the events are. What began before the
// recording, or before what is overwritten, begins with it; what has not ended ends with it.
//
// `memory`: that of the process, for the texts that events name by their addresses. Takes memory from the
// resource of the recording, in proportion to its fibers, switches, wakes, counted values and asynchronous
// slices. Where that has none left, the picture says so and lacks the rest.
void writeTimeline(const Recording& recording, Names& names, const Memory& memory, TimelineWriter& writer);

}  // namespace weft::inline v0_1::detail::inspect
