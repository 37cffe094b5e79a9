// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/thread.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "fake_machine.h"
#include "os/text_file.h"
#include "os/topology.h"

namespace {

using weft::Thread;
using weft::detail::NumberList;
using weft::detail::Processor;
using weft::detail::Topology;
using weft::tests::FakeMachine;
using weft::tests::indicesOf;
using Numbers = std::vector<int>;

Numbers numbersIn(const std::string& text, uint32_t end = 8192) {
  Numbers result;
  NumberList(text, end).forEach([&](uint32_t number) { result.push_back(static_cast<int>(number)); });
  return result;
}

TEST(NumberListTest, HasNumbersAndRanges) {
  EXPECT_EQ(numbersIn("0-3,8,10-11\n"), (Numbers{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(numbersIn("7"), Numbers{7});
  EXPECT_EQ(numbersIn("\n"), Numbers{});
  EXPECT_EQ(NumberList("5-6,9", 100).lowest(), 5U);
}

TEST(NumberListTest, LeavesOutWhatIsBeyondTheEnd) {
  EXPECT_EQ(numbersIn("1-4294967295", 4), (Numbers{1, 2, 3}));
  EXPECT_EQ(numbersIn("2,4,5-7", 4), Numbers{2});
}

TEST(NumberListTest, KnowsWhatItContains) {
  const NumberList list("2-3,8,10-11", 100);
  for (const uint32_t number : {2U, 3U, 8U, 10U, 11U}) {
    EXPECT_TRUE(list.contains(number)) << number;
  }
  for (const uint32_t number : {0U, 1U, 4U, 7U, 9U, 12U, 4'000'000'000U}) {
    EXPECT_FALSE(list.contains(number)) << number;
  }
}

TEST(NumberListTest, IsEmptyWhereTheTextIsNoList) {
  for (const char* text : {"", "x", ",1", "1,,2", "3-1", "1-", "-1", "1-2-3", "1 2", "2,1", "1,1", "0-3:2",
                           "4294967296", "0-4294967296", "99999999999999999999", "0xf", "1,2x"}) {
    EXPECT_TRUE(NumberList(text, 8192).empty()) << text;
  }
}

TEST(TextFileTest, IsReadUpToALimit) {
  const weft::tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/file";
  weft::tests::writeFile(path, std::string(10'000, 'x'));
  EXPECT_EQ(weft::detail::readFile(path).size(), 10'000U);
  for (const size_t most : {0U, 1U, 4'096U, 5'000U, 10'000U}) {
    EXPECT_EQ(weft::detail::readFile(path, most).size(), most);
  }
  EXPECT_EQ(weft::detail::readFile(path + "/none"), "");
  EXPECT_EQ(weft::detail::readFile(folder.path()), "");
}

class TopologyTest : public testing::Test {
 protected:
  Topology read(int numProcessors) const {
    return {machine.root(), FakeMachine::processors(0, numProcessors)};
  }

  // The distance between two processors, which are their numbers, since all are usable.
  static uint32_t distance(const Topology& topology, size_t a, size_t b) {
    const uint32_t there = topology.distance(topology.processors().at(a), topology.processors().at(b));
    EXPECT_EQ(topology.distance(topology.processors().at(b), topology.processors().at(a)), there);
    return there;
  }

  static Numbers efficient(const Topology& topology) {
    Numbers result;
    for (const Processor& processor : topology.processors()) {
      if (processor.isEfficient) {
        result.push_back(processor.index);
      }
    }
    return result;
  }

  static void expectFlat(const Topology& topology, size_t numProcessors) {
    ASSERT_EQ(topology.processors().size(), numProcessors);
    for (const Processor& processor : topology.processors()) {
      EXPECT_EQ(processor.core, processor.index);
      EXPECT_EQ(processor.cache, topology.processors()[0].index);
      EXPECT_EQ(processor.node, 0);
      EXPECT_FALSE(processor.isEfficient);
    }
  }

  FakeMachine machine;
};

TEST_F(TopologyTest, ALaptopHasCoresOfTwoKinds) {
  machine.beLaptop();
  const Topology laptop = read(16);
  EXPECT_EQ(efficient(laptop), (Numbers{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(laptop.processors()[7].core, 6);
  EXPECT_EQ(laptop.processors()[9].core, 9);
  EXPECT_EQ(laptop.processors()[15].cache, 0);
  EXPECT_EQ(distance(laptop, 3, 3), Topology::kItself);
  EXPECT_EQ(distance(laptop, 6, 7), Topology::kSameCore);
  EXPECT_EQ(distance(laptop, 5, 6), Topology::kSameCache);
  EXPECT_EQ(indicesOf(performanceCores(laptop, weft::Allocator::Default)), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_F(TopologyTest, AServerHasNodesAtDistancesOfFirmware) {
  machine.beServer();
  const Topology server = read(32);
  EXPECT_EQ(server.processors()[13].node, 3);
  EXPECT_EQ(server.processors()[23].node, 1);
  EXPECT_EQ(server.processors()[21].core, 5);
  EXPECT_EQ(server.processors()[31].cache, 12);
  EXPECT_EQ(distance(server, 2, 18), Topology::kSameCore);
  EXPECT_EQ(distance(server, 2, 19), Topology::kSameCache);
  EXPECT_EQ(distance(server, 2, 5), 12U);
  EXPECT_EQ(distance(server, 2, 31), 32U);
  EXPECT_EQ(efficient(server), Numbers{});
}

TEST_F(TopologyTest, CoreComplexesAreCachesOfOneNode) {
  machine.beComplexes();
  const Topology complexes = read(64);
  EXPECT_EQ(complexes.processors()[31].cache, 28);
  EXPECT_EQ(complexes.processors()[32].cache, 0);
  EXPECT_EQ(distance(complexes, 1, 33), Topology::kSameCore);
  EXPECT_EQ(distance(complexes, 1, 35), Topology::kSameCache);
  EXPECT_EQ(distance(complexes, 1, 4), Topology::kSameNode);
}

TEST_F(TopologyTest, APhoneTellsCapacities) {
  machine.bePhone();
  const Topology phone = read(8);
  EXPECT_EQ(efficient(phone), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(distance(phone, 0, 7), Topology::kSameCache);
}

TEST_F(TopologyTest, FrequenciesTellTheKindsWhereNothingElseDoes) {
  const auto setFrequencies = [&](const std::vector<std::string>& texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      machine.write("/system/cpu/cpu" + std::to_string(i) + "/cpufreq/cpuinfo_max_freq", texts[i]);
    }
  };
  setFrequencies({"5100000\n", "5100000\n", "3300000\n", "3300000\n"});
  EXPECT_EQ(efficient(read(4)), (Numbers{2, 3}));
  setFrequencies({"5100000\n", "4900000\n", "4700000\n", ""});
  EXPECT_EQ(efficient(read(4)), Numbers{}) << "some cores are favoured";
  setFrequencies({"99999999999999999999", "-5", "9223372036854775807", "fast"});
  EXPECT_EQ(efficient(read(4)), Numbers{});
}

TEST_F(TopologyTest, AProcessThatHasEfficiencyCoresOnlyHasOneKind) {
  machine.beLaptop();
  const Topology topology(machine.root(), FakeMachine::processors(8, 4));
  EXPECT_EQ(efficient(topology), Numbers{});
  EXPECT_EQ(performanceCores(topology, weft::Allocator::Default).count(), 4U);
}

TEST_F(TopologyTest, FrequenciesDoNotPartCoresThatAreAllNoPerformanceCores) {
  machine.beLaptop();
  for (int i = 8; i < 16; ++i) {
    machine.write("/system/cpu/cpu" + std::to_string(i) + "/cpufreq/cpuinfo_max_freq",
                  i < 14 ? "3800000\n" : "2500000\n");
  }
  EXPECT_EQ(efficient(Topology(machine.root(), FakeMachine::processors(8, 8))), Numbers{});
}

TEST_F(TopologyTest, OnlyUsableProcessorsCount) {
  machine.beServer();
  const Topology topology(machine.root(), FakeMachine::processors(18, 4));
  ASSERT_EQ(topology.processors().size(), 4U);
  EXPECT_EQ(topology.processors()[0].index, 18);
  EXPECT_EQ(topology.processors()[0].core, 18) << "processor 2 may not be used";
  EXPECT_EQ(topology.processors()[1].cache, 18);
  EXPECT_EQ(distance(topology, 0, 2), 12U);
}

TEST_F(TopologyTest, AContainerWithoutSysIsFlat) {
  expectFlat(read(4), 4);
  EXPECT_EQ(distance(read(4), 0, 3), Topology::kSameCache);
  EXPECT_EQ(read(0).processors().size(), 0U);
}

TEST_F(TopologyTest, OlderNamesOfFilesAreKnown) {
  for (int i = 0; i < 4; ++i) {
    machine.write("/system/cpu/cpu" + std::to_string(i) + "/topology/thread_siblings_list",
                  i < 2 ? "0-1\n" : "2-3\n");
  }
  EXPECT_EQ(distance(read(4), 2, 3), Topology::kSameCore);
  EXPECT_EQ(distance(read(4), 1, 2), Topology::kSameCache);
}

TEST_F(TopologyTest, CoresOfTwoPackagesMayHaveOneNumber) {
  for (int i = 0; i < 4; ++i) {
    const std::string path = "/system/cpu/cpu" + std::to_string(i) + "/topology/";
    machine.write(path + "physical_package_id", i < 2 ? "0\n" : "1\n");
    machine.write(path + "core_id", i % 2 == 0 ? "0\n" : "1\n");
  }
  const Topology topology = read(4);
  EXPECT_EQ(topology.processors()[2].core, 2);
  EXPECT_EQ(distance(topology, 0, 1), Topology::kSameCache);
  EXPECT_EQ(distance(topology, 0, 2), Topology::kSameNode) << "no cache is told, so each package has one";
}

TEST_F(TopologyTest, ACacheOfTwoNodesCountsAsTwo) {
  machine.setOnlineNodes("0-1");
  machine.addNode(0, "0-1", "10 12");
  machine.addNode(1, "2-3", "12 10");
  for (int i = 0; i < 4; ++i) {
    machine.addCpu({i, 0, i, std::to_string(i), "0-3"});
  }
  const Topology topology = read(4);
  EXPECT_EQ(topology.processors()[1].cache, 0);
  EXPECT_EQ(topology.processors()[3].cache, 2);
  EXPECT_EQ(distance(topology, 1, 2), 12U);
}

TEST_F(TopologyTest, NodesHaveGapsAndTheLongerWayCounts) {
  machine.setOnlineNodes("1,8");
  machine.addNode(1, "0", "10 30");
  machine.addNode(8, "1", "40 10");
  const Topology topology = read(2);
  EXPECT_EQ(topology.processors()[1].node, 8);
  EXPECT_EQ(distance(topology, 0, 1), 40U);
}

TEST_F(TopologyTest, DistancesThatMakeNoSenseAreReplaced) {
  for (const char* text : {"", "10", "10 x", "10 0", "10 9", "10 -12", "10 256", "10 99999999999999999999"}) {
    machine.setOnlineNodes("0-1");
    machine.addNode(0, "0", text);
    machine.addNode(1, "1", "11 10");
    EXPECT_EQ(distance(read(2), 0, 1), Topology::kOtherNode) << text;
  }
}

TEST_F(TopologyTest, DistancesToNodesWithoutUsableProcessorsAreSkipped) {
  machine.beServer();
  machine.addNode(0, "0-3", "10 90");
  machine.addNode(3, "12-15", "");
  const Thread::Core ends[] = {FakeMachine::processors(0, 1)[0], FakeMachine::processors(12, 1)[0]};
  const Topology topology(machine.root(), Thread::Affinity(std::span<const Thread::Core>(ends)));
  EXPECT_EQ(distance(topology, 0, 1), Topology::kOtherNode);
}

TEST_F(TopologyTest, CachesOfInstructionsDoNotCount) {
  for (int i = 0; i < 4; ++i) {
    machine.addCpu({i, 0, i, std::to_string(i), i < 2 ? "0-1" : "2-3"});
    const std::string deepest = "/system/cpu/cpu" + std::to_string(i) + "/cache/index3";
    machine.write(deepest + "/level", "4\n");
    machine.write(deepest + "/type", "Instruction\n");
    machine.write(deepest + "/shared_cpu_list", "0-3\n");
  }
  EXPECT_EQ(distance(read(4), 0, 1), Topology::kSameCache);
  EXPECT_EQ(distance(read(4), 1, 2), Topology::kSameNode);
}

TEST_F(TopologyTest, GarbageIsAFlatMachine) {
  const std::string huge(1'000'000, '7');
  for (const std::string& text :
       {std::string("\0\xff\n", 3), std::string("-1"), huge, std::string(",9"), std::string("nonsense\n")}) {
    machine.setOnlineNodes(text);
    machine.addNode(0, text, text);
    machine.write("/cpu_core/cpus", text);
    for (int i = 0; i < 3; ++i) {
      const std::string path = "/system/cpu/cpu" + std::to_string(i);
      for (const char* name :
           {"/topology/physical_package_id", "/topology/core_id", "/topology/core_cpus_list",
            "/cache/index0/level", "/cache/index0/type", "/cache/index0/shared_cpu_list", "/cpu_capacity",
            "/cpufreq/cpuinfo_max_freq"}) {
        machine.write(path + name, text);
      }
    }
    expectFlat(read(3), 3);
  }
}

TEST_F(TopologyTest, AListWithoutItsOwnProcessorIsNotBelieved) {
  for (int i = 0; i < 4; ++i) {
    machine.addCpu({i, 0, i, "6-7", "6-7"});
  }
  expectFlat(read(4), 4);
}

TEST_F(TopologyTest, FoldersInPlaceOfFilesAreNothing) {
  for (const char* path : {"/system/node/online", "/cpu_core/cpus", "/system/cpu/cpu0/cpu_capacity",
                           "/system/cpu/cpu0/cache/index0/level"}) {
    std::filesystem::create_directories(machine.devices() + path);
  }
  expectFlat(read(2), 2);
}

TEST_F(TopologyTest, AsManyProcessorsAsAnAffinityHoldsAreRead) {
  machine.setOnlineNodes("0-4000000000");
  machine.addNode(1023, "0-4000000000", "10");
  const Topology topology(machine.root(), FakeMachine::processors(0, 8192));
  ASSERT_EQ(topology.processors().size(), 8192U);
  EXPECT_EQ(topology.processors()[8191].node, 1023);
}

TEST_F(TopologyTest, ThisMachineIsRead) {
  const Thread::Affinity all = Thread::Affinity::all();
  const Topology topology("", all);
  ASSERT_EQ(topology.processors().size(), all.count());
  for (const Processor& a : topology.processors()) {
    EXPECT_LE(a.core, a.index);
    EXPECT_LE(a.cache, a.index);
    for (const Processor& b : topology.processors()) {
      EXPECT_EQ(topology.distance(a, b) == Topology::kItself, a.index == b.index);
    }
  }
  EXPECT_GE(performanceCores(topology, weft::Allocator::Default).count(), 1U);
}

}  // namespace
