// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dag.h>

#include <sstream>
#include <string>
#include <string_view>

#include "with_scheduler.h"

namespace weft {
namespace {

TEST(DAGDotTest, ShowsNamesNumbersAndEdgesBeforeAndAfterBuild) {
  DAG<>::Builder builder;
  const auto load = builder.root().then([] {}).setName("load");
  const auto middle = load.then([] {});
  builder.node([] {}, {load, middle}).setName("old").setName("save");
  const std::string expected =
      "digraph dag {\n"
      "  n0 [label=\"root\", shape=box];\n"
      "  n1 [label=\"load\"];\n"
      "  n2 [label=\"node 2\"];\n"
      "  n3 [label=\"save\"];\n"
      "  n0 -> n1;\n"
      "  n1 -> n2;\n"
      "  n1 -> n3;\n"
      "  n2 -> n3;\n"
      "}\n";
  EXPECT_EQ(builder.dot(), expected);
  EXPECT_EQ(builder.build()->dot(), expected);
  EXPECT_EQ(DAG<>::Builder().build()->dot(), "digraph dag {\n  n0 [label=\"root\", shape=box];\n}\n");
}

TEST(DAGDotTest, DrawsTheEdgesOfAChoiceDashed) {
  DAG<>::Builder builder;
  const auto left = builder.node([] {}), right = builder.node([] {});
  builder.choice([] { return 0; }, {right, left}, {builder.root()}).then([] {});
  for (int i = 0; i < 2; ++i) {
    const std::string text = i == 0 ? builder.dot() : builder.build()->dot();
    for (const char* line :
         {"n3 [label=\"node 3\", shape=diamond];\n", "n3 -> n2 [style=dashed, label=\"0\"];\n",
          "n3 -> n1 [style=dashed, label=\"1\"];\n", "n3 -> n4;\n", "n0 -> n3;\n"}) {
      EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
  }
}

TEST(DAGDotTest, ShowsWhatBuildWouldRefuse) {
  DAG<>::Builder builder;
  const auto one = builder.node([] {});
  builder.addDependency(one, one);
  EXPECT_NE(builder.dot().find("n1 -> n1;"), std::string::npos);
}

TEST(DAGDotTest, EscapesWhatGraphvizWouldReadOtherwise) {
  DAG<>::Builder builder;
  builder.root().then([] {}).setName(std::string_view("a \"b\" \\N\nc\0;", 12));
  EXPECT_NE(builder.dot().find("n1 [label=\"a \\\"b\\\" \\\\N\\nc;\"];"), std::string::npos) << builder.dot();
}

class DAGPageTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(DAGPageTest);

struct Frame {
  void cull() { numVisible = 3; }
  bool isNight() const { return true; }
  void light() { light_ = 1; }
  void shade() { light_ = 2; }
  void draw() { numDrawn = numVisible + light_; }
  int numVisible = 0, numDrawn = 0;
  int light_ = 0;
};

TEST_P(DAGPageTest, TheExampleOfThePageDrawsItsFrame) {
  Frame frame;
  std::stringstream file;

  weft::DAG<Frame&>::Builder builder;
  auto cull = builder.root().then([](Frame& f) { f.cull(); }).setName("cull");
  auto light = builder.node([](Frame& f) { f.light(); }).setName("light");
  auto shade = builder.node([](Frame& f) { f.shade(); }).setName("shade");
  builder.choice([](Frame& f) { return f.isNight() ? 0 : 1; }, {light, shade}, {cull}).setName("night?");
  builder.node([](Frame& f) { f.draw(); }, {light, shade}).setName("draw");
  auto dag = builder.build();
  file << dag->dot();

  dag->run(frame);
  EXPECT_EQ(frame.numDrawn, 4);
  EXPECT_NE(file.str().find("night?"), std::string::npos);
}

}  // namespace
}  // namespace weft
