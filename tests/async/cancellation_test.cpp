// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/cancellation.h>

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

namespace weft {
namespace {

TEST(InterruptionPointTest, ReturnsWhileNobodyAskedToStop) {
  std::stop_source source;
  EXPECT_NO_THROW(interruptionPoint(source.get_token()));
  EXPECT_NO_THROW(interruptionPoint(std::stop_token()));
}

TEST(InterruptionPointTest, ThrowsTaskCanceledOnceSomebodyAskedToStop) {
  std::stop_source source;
  source.request_stop();
  try {
    interruptionPoint(source.get_token());
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_NE(dynamic_cast<const TaskCanceled*>(&error), nullptr);
    EXPECT_NE(std::string(error.what()).find("stop"), std::string::npos);
  }
}

struct Tile {
  bool isRendered = false;
};
void render(Tile& tile) { tile.isRendered = true; }

TEST(InterruptionPointTest, TheExampleInTheHeader) {
  std::vector<Tile> tiles(3);
  std::stop_source source;
  const std::stop_token token = source.get_token();
  for (Tile& tile : tiles) {
    weft::interruptionPoint(token);
    render(tile);
  }
  EXPECT_TRUE(tiles.back().isRendered);
}

}  // namespace
}  // namespace weft
