// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/thread.h>

#include <string>
#include <vector>

#include "temporary_folder.h"

namespace weft::tests {

// A tree of files that stands for /sys of another machine.
class FakeMachine {
 public:
  // What a processor's files say.
  struct Cpu {
    int index = 0;
    int package = 0;
    int core = 0;                // within the package
    std::string siblings;        // processors of the core
    std::string lastLevelCache;  // processors that share it
    int level = 3;               // that cache's
  };

  const std::string& root() const { return folder_.path(); }
  std::string devices() const { return root() + "/sys/devices"; }

  void write(const std::string& path, const std::string& text) const { writeFile(devices() + path, text); }

  void addCpu(const Cpu& cpu) const {
    const std::string path = "/system/cpu/cpu" + std::to_string(cpu.index);
    write(path + "/topology/physical_package_id", std::to_string(cpu.package) + "\n");
    write(path + "/topology/core_id", std::to_string(cpu.core) + "\n");
    write(path + "/topology/core_cpus_list", cpu.siblings + "\n");
    addCache(path + "/cache/index0", 1, "Data", cpu.siblings);
    addCache(path + "/cache/index1", 1, "Instruction", cpu.siblings);
    addCache(path + "/cache/index2", cpu.level, "Unified", cpu.lastLevelCache);
  }

  // `distances`: from this node to each that is online.
  void addNode(int node, const std::string& cpus, const std::string& distances) const {
    const std::string path = "/system/node/node" + std::to_string(node);
    write(path + "/cpulist", cpus + "\n");
    write(path + "/distance", distances + "\n");
  }
  void setOnlineNodes(const std::string& nodes) const { write("/system/node/online", nodes + "\n"); }

  // 4 nodes on 2 sockets, each with 4 cores of 2 processors and a cache. As usual, a core's second processor
  // has a number of the second half: 0 and 16 are of one core.
  void beServer() const {
    setOnlineNodes("0-3");
    const char* const distances[] = {"10 12 32 32", "12 10 32 32", "32 32 10 12", "32 32 12 10"};
    for (int node = 0; node < 4; ++node) {
      const std::string cpus = range(4 * node, 4) + "," + range(4 * node + 16, 4);
      addNode(node, cpus, distances[node]);
      for (int i = 0; i < 8; ++i) {
        const int core = 4 * node + i % 4;
        const std::string siblings = std::to_string(core) + "," + std::to_string(core + 16);
        addCpu({core + (i < 4 ? 0 : 16), node / 2, core % 8, siblings, cpus});
      }
    }
  }

  // A laptop: 4 performance cores of 2 processors (0 to 7), and 8 efficiency cores (8 to 15) in two modules.
  // All of them share the last level.
  void beLaptop() const {
    for (int cpu = 0; cpu < 16; ++cpu) {
      const bool isStrong = cpu < 8;
      addCpu({cpu, 0, cpu * 2, isStrong ? range(cpu & ~1, 2) : std::to_string(cpu), "0-15"});
    }
    write("/cpu_core/cpus", "0-7\n");
    write("/cpu_atom/cpus", "8-15\n");
  }

  // A processor of 8 core complexes, each 4 cores of 2 processors with a cache of their own, in one node.
  void beComplexes() const {
    setOnlineNodes("0");
    addNode(0, "0-63", "10");
    for (int cpu = 0; cpu < 64; ++cpu) {
      const int core = cpu % 32;
      const std::string siblings = std::to_string(core) + "," + std::to_string(core + 32);
      const int first = core & ~3;
      addCpu({cpu, 0, core, siblings, range(first, 4) + "," + range(first + 32, 4)});
    }
  }

  // A phone: 4 little cores, 3 middle ones and a big one. It tells capacities, and nothing of caches.
  void bePhone() const {
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string path = "/system/cpu/cpu" + std::to_string(cpu);
      write(path + "/topology/physical_package_id", "0\n");
      write(path + "/topology/core_id", std::to_string(cpu) + "\n");
      write(path + "/topology/core_cpus_list", std::to_string(cpu) + "\n");
      write(path + "/cpu_capacity", cpu < 4 ? "250\n" : cpu < 7 ? "744\n" : "1024\n");
    }
  }

  // Returns: the processors from `first` on, `count` of them.
  static Thread::Affinity processors(int first, int count) {
    std::vector<Thread::Core> cores;
    for (int i = first; i < first + count; ++i) {
      Thread::Core core;
      core.pthread.index = static_cast<uint16_t>(i);
      cores.push_back(core);
    }
    return Thread::Affinity(cores);
  }

 private:
  static std::string range(int first, int count) {
    return std::to_string(first) + "-" + std::to_string(first + count - 1);
  }

  void addCache(const std::string& path, int level, const std::string& type, const std::string& cpus) const {
    write(path + "/level", std::to_string(level) + "\n");
    write(path + "/type", type + "\n");
    write(path + "/shared_cpu_list", cpus + "\n");
  }

  const TemporaryFolder folder_;
};

// Returns: the numbers of the processors.
inline std::vector<int> indicesOf(const Thread::Affinity& affinity) {
  std::vector<int> result;
  for (size_t i = 0; i < affinity.count(); ++i) {
    result.push_back(affinity[i].pthread.index);
  }
  return result;
}

}  // namespace weft::tests
