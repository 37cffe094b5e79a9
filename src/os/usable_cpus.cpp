// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "os/environment.h"
#include "os/text_file.h"
#include "weft/debug.h"
#include "weft/thread.h"

// A process's cgroup may grant it fewer processors than the machine has. /proc/self/cgroup has the path of
// its group within a hierarchy; /proc/self/mountinfo tells where that is mounted, and from which path on. The
// quota is in cpu.max there (v2), or in cpu.cfs_quota_us and cpu.cfs_period_us (v1).
namespace weft::inline v0_1::detail {
namespace {

bool hasOption(std::string_view list, std::string_view option) {
  while (!list.empty()) {
    if (cut(list, ",") == option) {
      return true;
    }
  }
  return false;
}

// Replaces the \ooo sequences by which mountinfo writes blanks.
std::string unescape(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned int code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 1] + 3, code, 8).ptr == &text[i + 1] + 3) {
      result += static_cast<char>(code);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

struct Hierarchy {
  std::string mountPoint;
  std::string mountRoot;  // the path within the hierarchy that is mounted there
};

Hierarchy findHierarchy(std::string_view mountinfo, bool isV2) {
  while (!mountinfo.empty()) {
    std::string_view end = cut(mountinfo, "\n");
    std::string_view start = cut(end, " - ");
    for (int skipped = 0; skipped < 3; ++skipped) {
      cut(start, " ");
    }
    const std::string_view root = cut(start, " ");
    const std::string_view point = cut(start, " ");
    const std::string_view type = cut(end, " ");
    cut(end, " ");
    if (isV2 ? type == "cgroup2" : type == "cgroup" && hasOption(end, "cpu")) {
      return {unescape(point), unescape(root)};
    }
  }
  return {};
}

// Returns: the path of this process's group in the hierarchy, or nothing where it is in none.
std::string groupPath(std::string_view cgroups, bool isV2) {
  while (!cgroups.empty()) {
    std::string_view path = cut(cgroups, "\n");
    const std::string_view id = cut(path, ":");
    const std::string_view controllers = cut(path, ":");
    if (isV2 ? id == "0" && controllers.empty() : hasOption(controllers, "cpu")) {
      return std::string(path);
    }
  }
  return {};
}

// Returns: the processors granted to one group, rounded up; 0 for no limit.
unsigned int quotaOf(const std::string& directory, bool isV2) {
  long long quota = -1;
  long long period = -1;
  if (isV2) {
    const std::string text = readFile(directory + "/cpu.max");
    std::string_view rest = text;
    quota = leadingNumber(cut(rest, " "));
    period = leadingNumber(rest);
  } else {
    quota = leadingNumber(readFile(directory + "/cpu.cfs_quota_us"));
    period = leadingNumber(readFile(directory + "/cpu.cfs_period_us"));
  }
  if (quota <= 0 || period <= 0) {
    return 0;
  }
  const long long cpus = quota / period + (quota % period != 0 ? 1 : 0);
  return static_cast<unsigned int>(std::min(cpus, 1'000'000LL));
}

unsigned int stricter(unsigned int a, unsigned int b) { return a == 0 || b == 0 ? a + b : std::min(a, b); }

unsigned int quotaIn(const std::string& root, bool isV2) {
  const Hierarchy hierarchy = findHierarchy(readFile(root + "/proc/self/mountinfo"), isV2);
  std::string group = groupPath(readFile(root + "/proc/self/cgroup"), isV2);
  if (hierarchy.mountPoint.empty() || group.empty()) {
    return 0;
  }
  if (const std::string& above = hierarchy.mountRoot; above != "/") {
    // In a container that sees the machine's paths, its own group is mounted, and none outside can be seen.
    const bool isInside = group == above || group.starts_with(above + "/");
    group = isInside ? group.substr(above.size()) : std::string();
  }
  if (group.find("/..") != std::string::npos) {
    group.clear();
  }
  unsigned int quota = 0;
  for (;;) {
    quota = stricter(quota, quotaOf(root + hierarchy.mountPoint + group, isV2));
    if (group.empty()) {
      return quota;
    }
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

// Returns: the value of WEFT_NUM_THREADS; 0 where it is not set or makes no sense.
unsigned int numThreadsWished() {
  const char* const text = environmentVariable("WEFT_NUM_THREADS");
  if (text == nullptr) {
    return 0;
  }
  const std::string_view value = text;
  unsigned int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number >= 1 && number <= 4096) {
    return number;
  }
  WEFT_WARN(
      "the environment variable WEFT_NUM_THREADS is \"%.100s\", which is ignored. "
      "Set it to a number from 1 to 4096.",
      text);
  return 0;
}

}  // namespace

unsigned int cgroupCpuQuota(const char* root) { return stricter(quotaIn(root, true), quotaIn(root, false)); }

unsigned int numUsableCpus(size_t numAvailable) {
  if (const unsigned int wished = numThreadsWished(); wished != 0) {
    return wished;
  }
  return stricter(std::max(static_cast<unsigned int>(numAvailable), 1U), cgroupCpuQuota(""));
}

unsigned int numUsableCpus() { return numUsableCpus(Thread::Affinity::all().count()); }

}  // namespace weft::inline v0_1::detail
