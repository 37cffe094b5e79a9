// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Fetches the URLs that standard input lists, one a line, at most fifty at a time: fetch [SECONDS]. All have
// to be done after that many seconds (30 by default); what is not done then has failed. Prints how many were
// fetched, and what was wrong with the others. Plain HTTP only, and redirections are not followed.

#include <weft/io.h>
#include <weft/weft.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

namespace {

constexpr int kAtATime = 50;

struct Url {
  std::string host, port = "80", path = "/";
};

// Of http://HOST[:PORT][/PATH]. Returns: whether it is one.
bool parse(std::string_view text, Url& url) {
  constexpr std::string_view kScheme = "http://";
  if (!text.starts_with(kScheme)) {
    return false;
  }
  text.remove_prefix(kScheme.size());
  if (const size_t slash = text.find('/'); slash != text.npos) {
    url.path = text.substr(slash);
    text = text.substr(0, slash);
  }
  if (const size_t colon = text.rfind(':'); colon != text.npos) {
    url.port = text.substr(colon + 1);
    text = text.substr(0, colon);
  }
  url.host = text;
  return !url.host.empty() && !url.port.empty();
}

// The first of the host's addresses that answers.
weft::io::Socket connect(const Url& url, std::error_code& error, const weft::io::Wait& wait) {
  weft::io::Socket socket;
  for (const weft::io::Endpoint& endpoint : weft::io::resolve(url.host, url.port, error, wait)) {
    socket = weft::io::Socket::connect(endpoint, error, wait);
    if (!error) {
      break;
    }
  }
  return socket;
}

// What is read of a reply: its status and length are looked at, and the body is counted.
struct Reply {
  std::string head;
  uint64_t bodySize = 0;

  // Takes bytes in the order in which they come.
  void take(std::string_view bytes) {
    if (isHeadComplete()) {
      bodySize += bytes.size();
      return;
    }
    head += bytes;
    if (const size_t end = head.find("\r\n\r\n"); end != head.npos) {
      bodySize = head.size() - (end + 4);
      head.resize(end + 4);
    }
  }

  bool isHeadComplete() const { return head.ends_with("\r\n\r\n"); }
  bool isOk() const { return head.starts_with("HTTP/1.1 200 ") || head.starts_with("HTTP/1.0 200 "); }

  // Without a length, the end of the connection is the end of the body.
  bool isBodyComplete() const {
    constexpr std::string_view kName = "\r\ncontent-length: ";
    const auto isAlike = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    const auto name = std::search(head.begin(), head.end(), kName.begin(), kName.end(), isAlike);
    uint64_t size = bodySize;
    if (name != head.end()) {
      std::from_chars(&*name + kName.size(), head.data() + head.size(), size);
    }
    return size == bodySize;
  }
};

// Returns: what is wrong, or "".
std::string fetch(const Url& url, const weft::io::Wait& wait, std::atomic<uint64_t>& numBytes) {
  constexpr size_t kMaxHead = 64 * 1024;
  std::error_code error;
  weft::io::Socket socket = connect(url, error, wait);
  const std::string request =
      "GET " + url.path + " HTTP/1.0\r\nHost: " + url.host + ":" + url.port + "\r\n\r\n";
  if (!error) {
    socket.send(std::as_bytes(std::span(request)), error, wait);
  }
  Reply reply;
  std::array<std::byte, 16384> buffer;
  while (!error && (reply.isHeadComplete() || reply.head.size() < kMaxHead)) {
    const size_t count = socket.recv(buffer, error, wait);
    if (count == 0) {
      break;
    }
    reply.take({reinterpret_cast<const char*>(buffer.data()), count});
  }
  if (error) {
    return error.message();
  }
  if (!reply.isOk()) {
    return "the answer is '" + reply.head.substr(0, reply.head.find('\r')) + "'";
  }
  if (!reply.isHeadComplete() || !reply.isBodyComplete()) {
    return "the reply is cut off";
  }
  numBytes += reply.bodySize;
  return {};
}

struct Totals {
  std::atomic<int> numFetched{0}, numFailed{0};
  std::atomic<uint64_t> numBytes{0};
};

void fetchLine(const std::string& line, const weft::io::Wait& wait, Totals& totals) {
  Url url;
  const std::string wrong = parse(line, url) ? fetch(url, wait, totals.numBytes) : "this is no http:// URL";
  if (wrong.empty()) {
    totals.numFetched++;
  } else {
    totals.numFailed++;
    std::fprintf(stderr, "%s: %s\n", line.c_str(), wrong.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::chrono::milliseconds limit(argc > 1 ? static_cast<int64_t>(std::atof(argv[1]) * 1e3) : 30'000);
  const weft::io::Wait wait{.deadline = std::chrono::steady_clock::now() + limit};
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  Totals totals;
  weft::Semaphore slots(kAtATime);
  weft::WaitGroup done;
  for (std::string line; std::getline(std::cin, line);) {
    slots.acquire();  // before there is a task, so that those who wait for their turn take no stack
    done.add();
    weft::schedule([=, &wait, &totals] {
      fetchLine(line, wait, totals);
      slots.release();
      done.done();
    });
  }
  done.wait();
  std::printf("%d fetched, %d failed, %llu bytes\n", totals.numFetched.load(), totals.numFailed.load(),
              static_cast<unsigned long long>(totals.numBytes.load()));
  return totals.numFailed == 0 ? 0 : 1;
}
