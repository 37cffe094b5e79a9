// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "os/topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <system_error>

#include "os/text_file.h"

namespace weft::inline v0_1::detail {
namespace {

// No file makes the reader use more memory than these allow.
constexpr size_t kMostBytes = size_t{64} * 1024;  // a list of 8192 processors fits
constexpr uint32_t kMaxProcessors = 8192;         // Linux's own limits
constexpr uint32_t kMaxNodes = 1024;
constexpr int kMaxCaches = 16;

// A processor is an efficiency core if it has less than this part of the strongest one's capacity. The middle
// ones of three kinds have more.
constexpr long long kPercentOfCapacity = 60;
// Or of its frequency, where capacities are not told. Equal cores differ by a tenth, if some are favoured.
constexpr long long kPercentOfFrequency = 75;

std::string textOf(const std::string& path) { return readFile(path, kMostBytes); }
NumberList processorsIn(const std::string& path) { return {textOf(path), kMaxProcessors}; }

// Returns: the list of those that share something with the processor; empty where the file does not have it.
NumberList sharersIn(const std::string& path, uint16_t index) {
  NumberList list = processorsIn(path);
  return list.contains(index) ? list : NumberList("", kMaxProcessors);
}

// Gives a thing the number of the first processor that names it by this key.
class Names {
 public:
  using Key = std::array<long long, 3>;
  uint16_t of(const Key& key, uint16_t index) { return names_.try_emplace(key, index).first->second; }

 private:
  std::map<Key, uint16_t> names_;
};

// What of a key is a list, a number of the system's, or the processor itself.
enum : long long { kByList, kByNumber, kByItself };

Names::Key coreKey(const std::string& cpu, uint16_t index, long long package) {
  for (const char* name : {"/topology/core_cpus_list", "/topology/thread_siblings_list"}) {
    if (const NumberList list = sharersIn(cpu + name, index); !list.empty()) {
      return {kByList, list.lowest(), 0};
    }
  }
  const long long core = leadingNumber(textOf(cpu + "/topology/core_id"));
  return core >= 0 ? Names::Key{kByNumber, package, core} : Names::Key{kByItself, index, 0};
}

Names::Key cacheKey(const std::string& cpu, const Processor& processor, long long package) {
  long long deepest = 0;
  std::string found;
  for (int i = 0; i < kMaxCaches; ++i) {
    const std::string cache = cpu + "/cache/index" + std::to_string(i);
    const long long level = leadingNumber(textOf(cache + "/level"));
    if (level > deepest && !textOf(cache + "/type").starts_with("Instruction")) {
      deepest = level;
      found = cache;
    } else if (level < 0 && i > 0) {
      break;
    }
  }
  if (deepest > 0) {
    if (const NumberList list = sharersIn(found + "/shared_cpu_list", processor.index); !list.empty()) {
      return {kByList, list.lowest(), processor.node};
    }
  }
  return {kByNumber, package, processor.node};
}

// Returns: the numbers from 10 to 255 in a line of distances; 0 in place of others.
std::vector<uint8_t> distancesIn(std::string_view text, size_t most) {
  std::vector<uint8_t> distances;
  text = cut(text, "\n");
  while (!text.empty() && distances.size() < most) {
    const std::string_view part = cut(text, " ");
    uint8_t number = 0;
    if (!part.empty()) {
      std::from_chars(part.data(), part.data() + part.size(), number);
      distances.push_back(number >= 10 ? number : 0);
    }
  }
  return distances;
}

}  // namespace

Topology::Topology(const std::string& root, const Thread::Affinity& usable) {
  for (size_t i = 0; i < usable.count(); ++i) {
    Processor processor;
    processor.index = usable[i].pthread.index;
    processors_.push_back(processor);
  }
  const std::string devices = root + "/sys/devices";
  readNodes(devices + "/system/node");
  readShared(devices + "/system/cpu");
  readKinds(devices);
}

void Topology::readNodes(const std::string& folder) {
  std::vector<uint16_t> online;
  NumberList(textOf(folder + "/online"), kMaxNodes).forEach([&](uint32_t node) {
    online.push_back(static_cast<uint16_t>(node));
  });
  for (const uint16_t node : online) {
    const NumberList list = processorsIn(folder + "/node" + std::to_string(node) + "/cpulist");
    for (Processor& processor : processors_) {
      processor.node = list.contains(processor.index) ? node : processor.node;
    }
  }
  for (const Processor& processor : processors_) {
    nodes_.push_back(processor.node);
  }
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  readDistances(folder, online);
}

void Topology::readDistances(const std::string& folder, const std::vector<uint16_t>& online) {
  distances_.resize(nodes_.size() * nodes_.size());
  for (size_t from = 0; from < nodes_.size(); ++from) {
    const std::string text = textOf(folder + "/node" + std::to_string(nodes_[from]) + "/distance");
    const std::vector<uint8_t> row = distancesIn(text, online.size());
    for (size_t i = 0; i < row.size(); ++i) {
      const auto to = std::lower_bound(nodes_.begin(), nodes_.end(), online[i]);
      if (to != nodes_.end() && *to == online[i]) {
        distances_[from * nodes_.size() + static_cast<size_t>(to - nodes_.begin())] = row[i];
      }
    }
  }
}

void Topology::readShared(const std::string& folder) {
  Names cores;
  Names caches;
  for (Processor& processor : processors_) {
    const std::string cpu = folder + "/cpu" + std::to_string(processor.index);
    const long long package = leadingNumber(textOf(cpu + "/topology/physical_package_id"));
    processor.core = cores.of(coreKey(cpu, processor.index, package), processor.index);
    processor.cache = caches.of(cacheKey(cpu, processor, package), processor.index);
  }
}

void Topology::readKinds(const std::string& devices) {
  const auto mark = [&](const auto& isEfficient) {
    for (size_t i = 0; i < processors_.size(); ++i) {
      processors_[i].isEfficient = isEfficient(i);
    }
  };
  const NumberList strong = processorsIn(devices + "/cpu_core/cpus");
  const bool isHybrid = std::any_of(processors_.begin(), processors_.end(), [&](const Processor& processor) {
    return strong.contains(processor.index);
  });
  if (!strong.empty()) {
    // A process that may use no performance core has cores of one kind.
    mark([&](size_t i) { return isHybrid && !strong.contains(processors_[i].index); });
    return;
  }
  std::vector<long long> values(processors_.size());
  const auto readAll = [&](const char* name) {
    long long largest = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const long long value =
          leadingNumber(textOf(devices + "/system/cpu/cpu" + std::to_string(processors_[i].index) + name));
      values[i] = value < 1'000'000'000'000 ? value : -1;
      largest = std::max(largest, values[i]);
    }
    return largest;
  };
  long long percent = kPercentOfCapacity;
  long long largest = readAll("/cpu_capacity");
  if (largest == 0) {
    percent = kPercentOfFrequency;
    largest = readAll("/cpufreq/cpuinfo_max_freq");
  }
  mark([&](size_t i) { return values[i] > 0 && values[i] * 100 < largest * percent; });
}

uint32_t Topology::fromNode(uint16_t from, uint16_t to) const {
  const auto at = [&](uint16_t node) {
    return static_cast<size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
  };
  const uint32_t given = distances_[at(from) * nodes_.size() + at(to)];
  return given != 0 ? given : kOtherNode;
}

uint32_t Topology::distance(const Processor& a, const Processor& b) const {
  if (a.node != b.node) {
    return std::max(fromNode(a.node, b.node), fromNode(b.node, a.node));
  }
  if (a.index == b.index) {
    return kItself;
  }
  return a.core == b.core ? kSameCore : a.cache == b.cache ? kSameCache : kSameNode;
}

Thread::Affinity performanceCores(const Topology& topology, Allocator* allocator) {
  std::vector<Thread::Core, StlAllocator<Thread::Core>> cores(allocator);
  for (const Processor& processor : topology.processors()) {
    if (!processor.isEfficient) {
      Thread::Core core;
      core.pthread.index = processor.index;
      cores.push_back(core);
    }
  }
  return {cores, allocator};
}

}  // namespace weft::inline v0_1::detail
