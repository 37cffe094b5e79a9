// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Keeps values by their keys: kv_server [PORT]. A client sends lines, "SET KEY VALUE" or "GET KEY", and gets
// a line for each: "OK", "VALUE ...", "NONE" or "ERROR". It may send many before it reads. Each connection is
// a plain loop on its own fiber. A SharedMutex lets many of them read at the same time. Ctrl-C and SIGTERM
// end the server. kv_load is its load generator.

#include <weft/io.h>
#include <weft/weft.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace {

struct Store {
  weft::SharedMutex mutex;
  std::unordered_map<std::string, std::string> values;
};

// Returns: what stands before the first space, which it removes from the line.
std::string takeWord(std::string_view& line) {
  const std::string word(line.substr(0, line.find(' ')));
  line.remove_prefix(std::min(word.size() + 1, line.size()));
  return word;
}

std::string answer(std::string_view line, Store& store) {
  const std::string command = takeWord(line), key = takeWord(line);
  if (command == "GET") {
    const std::shared_lock lock(store.mutex);
    const auto found = store.values.find(key);
    return found == store.values.end() ? "NONE\n" : "VALUE " + found->second + "\n";
  }
  if (command != "SET" || key.empty()) {
    return "ERROR\n";
  }
  const std::unique_lock lock(store.mutex);
  store.values.insert_or_assign(key, line);
  return "OK\n";
}

// Answers until the client closes, sends a line that is too long, or a stop comes.
void handle(weft::io::Socket socket, Store& store, const std::stop_token& stop) {
  constexpr size_t kMaxLine = 64 * 1024;
  socket.setNoDelay();
  std::byte buffer[4096];
  std::string unread;
  std::error_code error;
  while (const size_t count = unread.size() > kMaxLine ? 0 : socket.recv(buffer, error, {.stop = stop})) {
    unread.append(reinterpret_cast<const char*>(buffer), count);
    std::string replies;  // to all lines that have come, in one call
    size_t begin = 0;
    for (size_t end; (end = unread.find('\n', begin)) != unread.npos; begin = end + 1) {
      replies += answer(std::string_view(unread).substr(begin, end - begin), store);
    }
    unread.erase(0, begin);
    socket.send(std::as_bytes(std::span(replies)), error, {.stop = stop});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 7779);
  weft::io::Signals interrupts({SIGINT, SIGTERM});  // before there are further threads
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  std::error_code error, ofWatch;
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", port), 1024, error);
  if (error) {
    std::fprintf(stderr, "kv_server: cannot listen: %s\n", error.message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", listener.endpoint().toString().c_str());
  std::fflush(stdout);

  Store store;
  std::stop_source stop;
  const std::stop_token token = stop.get_token();
  weft::Future<void> watch = weft::async([&] {
    interrupts.next(ofWatch, {.stop = token});
    stop.request_stop();
  });
  const auto handler = [&](weft::io::Socket socket) { handle(std::move(socket), store, token); };
  error = weft::io::serve(listener, handler, {.stop = token});
  const bool isStopped = !stop.request_stop();
  watch.get();  // what it refers to is about to be destroyed
  if (!isStopped || ofWatch) {
    std::fprintf(stderr, "kv_server: %s\n", (isStopped ? ofWatch : error).message().c_str());
    return 1;
  }
  std::puts("bye");
}
