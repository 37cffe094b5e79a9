// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A room to chat in: chat_server [port]. The first line that a client sends is its name. Each further line
// goes to everybody. Ctrl-C ends the server.
//
// Each member has a fiber that reads and one that writes. The room is a fiber of its own, which alone knows
// who is in it, so that nothing has to be locked. It waits for nobody: a member whose outbox is full has to
// leave.

#include <weft/io.h>
#include <weft/weft.h>

#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

constexpr size_t kMaxLine = 1000;
constexpr size_t kMaxOutbox = 256;
constexpr std::chrono::minutes kPatience(1);

struct Member {
  explicit Member(weft::io::Socket s) : socket(std::move(s)) {}

  weft::io::Socket socket;
  std::string name;
  weft::Channel<std::shared_ptr<const std::string>> outbox{kMaxOutbox};
  std::stop_source leave;  // ends what its fibers wait for
};
using MemberPointer = std::shared_ptr<Member>;

struct Message {
  MemberPointer from;
  std::string line;
};

class Room {
 public:
  // Without buffers: what was sent has been received, and once the room is closed, nobody comes or speaks.
  const weft::Channel<MemberPointer> coming;
  const weft::Channel<MemberPointer> going;
  const weft::Channel<Message> messages;

  void run(const std::stop_token& stop) {
    bool isOpen = true;
    while (isOpen) {
      weft::select(
          weft::onReceive(coming, [&](std::optional<MemberPointer> member) { admit(member.value()); }),
          weft::onReceive(going, [&](std::optional<MemberPointer> member) { letGo(member.value()); }),
          weft::onReceive(messages, [&](std::optional<Message> message) { pass(message.value()); }),
          weft::onStop(stop, [&] { isOpen = false; }));
    }
  }

 private:
  void admit(const MemberPointer& member) {
    members_.insert(member);
    tellAll("* " + member->name + " has come");
  }

  // Who was too slow has gone already.
  void letGo(const MemberPointer& member) {
    if (members_.erase(member) > 0) {
      member->outbox.close();
      tellAll("* " + member->name + " has gone");
    }
  }

  void pass(const Message& message) { tellAll(message.from->name + ": " + message.line); }

  void tellAll(const std::string& line) {
    const auto text = std::make_shared<const std::string>(line + "\n");
    std::set<MemberPointer> slow;
    for (const MemberPointer& member : members_) {
      if (!member->outbox.trySend(text)) {
        slow.insert(member);
      }
    }
    for (const MemberPointer& member : slow) {
      members_.erase(member);
      member->leave.request_stop();
    }
    for (const MemberPointer& member : slow) {
      tellAll("* " + member->name + " is too slow");
    }
  }

  std::set<MemberPointer> members_;
};

// The lines of a connection, without their ends.
class LineReader {
 public:
  explicit LineReader(weft::io::Socket& socket) : socket_(socket) {}

  // Returns: nothing after the last one, after one that is too long, and where the wait has ended.
  std::optional<std::string> next(const weft::io::Wait& wait) {
    size_t end;
    while ((end = unread_.find('\n')) == unread_.npos) {
      std::byte buffer[512];
      std::error_code error;
      const size_t count = unread_.size() > kMaxLine ? 0 : socket_.recv(buffer, error, wait);
      if (count == 0) {
        return std::nullopt;
      }
      unread_.append(reinterpret_cast<const char*>(buffer), count);
    }
    std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    return line;
  }

 private:
  weft::io::Socket& socket_;
  std::string unread_;
};

void writeOutbox(Member& member) {
  const std::stop_token leave = member.leave.get_token();
  std::error_code error;
  bool isOver = false;
  while (!isOver && !error) {
    weft::select(weft::onReceive(member.outbox,
                                 [&](std::optional<std::shared_ptr<const std::string>> text) {
                                   isOver = !text;
                                   if (text) {
                                     const auto deadline = std::chrono::steady_clock::now() + kPatience;
                                     member.socket.send(std::as_bytes(std::span(**text)), error,
                                                        {.deadline = deadline, .stop = leave});
                                   }
                                 }),
                 weft::onStop(leave, [&] { isOver = true; }));
  }
  member.leave.request_stop();  // nor need anybody read any more
}

void handle(weft::io::Socket socket, const Room& room, const std::stop_token& stop) {
  const auto member = std::make_shared<Member>(std::move(socket));
  const std::stop_token leave = member->leave.get_token();
  const std::stop_callback leaveAtStop(stop, [&] { member->leave.request_stop(); });
  // What waits for a client is to wait in its outbox, and not in the system's buffers too.
  const int bufferSize = 64 * 1024;
  setsockopt(member->socket.fd(), SOL_SOCKET, SO_SNDBUF, &bufferSize, sizeof bufferSize);

  LineReader lines(member->socket);
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::optional<std::string> name = lines.next({.deadline = deadline, .stop = leave});
  if (!name) {
    return;
  }
  member->name = *name;
  if (!room.coming.send(member, stop)) {
    return;
  }
  weft::WaitGroup written(1);
  weft::schedule([=] {
    writeOutbox(*member);
    written.done();
  });
  while (std::optional<std::string> line = lines.next({.stop = leave})) {
    if (!room.messages.send(Message{member, std::move(*line)}, leave)) {
      break;
    }
  }
  // Without a room there is nobody to take leave of.
  if (!room.going.send(member, stop)) {
    member->leave.request_stop();
  }
  written.wait();
}

}  // namespace

int main(int argc, char** argv) {
  const auto port = static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 7778);
  weft::io::Signals interrupts({SIGINT, SIGTERM});  // before there are further threads
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  std::error_code error;
  auto listener = weft::io::Listener::listen(weft::io::Endpoint::parse("127.0.0.1", port), 1024, error);
  if (error) {
    std::fprintf(stderr, "cannot listen on port %d: %s\n", port, error.message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", listener.endpoint().toString().c_str());
  std::fflush(stdout);

  Room room;
  std::stop_source stop;
  weft::WaitGroup ended(2);
  weft::schedule([&, ended] {
    room.run(stop.get_token());
    ended.done();
  });
  std::error_code ofWatch;
  weft::schedule([&, ended] {
    interrupts.next(ofWatch, {.stop = stop.get_token()});
    stop.request_stop();
    ended.done();
  });
  error = weft::io::serve(listener,
                          [&](weft::io::Socket socket) { handle(std::move(socket), room, stop.get_token()); },
                          {.stop = stop.get_token()});
  const bool isStopped = !stop.request_stop();
  ended.wait();
  if (!isStopped || ofWatch) {
    std::fprintf(stderr, "cannot %s: %s\n", isStopped ? "wait for signals" : "accept",
                 (isStopped ? ofWatch : error).message().c_str());
    return 1;
  }
  std::puts("bye");
}
