// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dag.h>

#include <string>
#include <string_view>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace weft
