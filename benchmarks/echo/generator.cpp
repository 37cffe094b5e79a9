// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The client of all the servers: bench_echo_generator PORT CONNECTIONS KIND MILLISECONDS PID, where KIND is
// the workload without its number. Puts the server, the process PID, on the first processor and itself on the
// last one, where it does not sleep, so that it answers at once, but for stalls. Prints its figures, each
// with its name. Ends with 1 if a message does not come back as it was.

#include <arpa/inet.h>
#include <sys/epoll.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "../common/placement.h"
#include "problem.h"

namespace {

// Counts of times, each in a bin that is at most 1 part in 256 wide.
class Histogram {
 public:
  void add(int64_t ns) {
    bins_[binOf(static_cast<uint64_t>(ns < 0 ? 0 : ns))]++;
    count_++;
  }
  uint64_t count() const { return count_; }

  // Returns: in microseconds; the share `p` (0 to 1) of the times is below.
  double percentileUs(double p) const {
    const auto wanted = static_cast<uint64_t>(p * static_cast<double>(count_));
    uint64_t sum = 0;
    for (size_t bin = 0; bin < bins_.size(); bin++) {
      sum += bins_[bin];
      if (sum > wanted) {
        return static_cast<double>(beginOf(bin)) * 1e-3;
      }
    }
    return 0;
  }

 private:
  static constexpr int kBits = 8;

  // Numbers below 2 * 2^kBits have a bin each; above, each power of two has 2^kBits of them.
  static size_t binOf(uint64_t ns) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - kBits - 1);
    return (static_cast<size_t>(shift) << kBits) + (ns >> shift);
  }
  static uint64_t beginOf(size_t bin) {
    const size_t power = bin >> kBits;
    return power < 2 ? bin : (bin - ((power - 1) << kBits)) << (power - 1);
  }

  std::vector<uint64_t> bins_ = std::vector<uint64_t>(size_t{1} << (kBits + 6));
  uint64_t count_ = 0;
};

struct Connection {
  int fd = -1;
  uint64_t sent = 0;  // messages
  int64_t sentNs = 0;
  bool isWaiting = false;  // for a reply
  int64_t dueNs = 0;       // of its next message, where each has its time
  size_t received = 0;     // bytes of the message that is on its way
  std::array<unsigned char, echo::kMessageBytes> message{};
  std::array<unsigned char, echo::kMessageBytes> reply{};
};

class Generator {
 public:
  Generator(uint16_t port, int count, const std::string& kind, pid_t server)
      : isChurn_(kind == "churn"),
        isOpen_(kind == "open"),
        stalls_(kind == "stalls"),
        server_(server),
        connections_(static_cast<size_t>(count)) {
    if (!stalls_) {
      placement_.emplace(server);
    }
    address_.sin_family = AF_INET;
    address_.sin_port = htons(port);
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (Connection& connection : connections_) {
      open(connection);
    }
  }

  void run(int milliseconds) {
    const int64_t window = int64_t{milliseconds} * 1'000'000;
    const int64_t begin = bench::nowNs();
    for (Connection& connection : connections_) {
      if (isOpen_) {
        connection.dueNs = begin + kOpenIntervalNs * (&connection - connections_.data());
      } else {
        send(connection, begin);
      }
    }
    runUntil(begin + window / 5);
    times_ = Histogram();
    const double cpuBegin = bench::cpuSecondsOf(server_);
    const int64_t from = bench::nowNs();
    const int64_t to = runUntil(from + window);
    const double cpu = bench::cpuSecondsOf(server_) - cpuBegin;
    print(static_cast<double>(to - from), cpu * 1e9);
    finish();
  }

 private:
  static constexpr int kEvents = 256;
  static constexpr int64_t kOpenIntervalNs = 50'000;

  void open(Connection& connection) {
    connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bench::check(connection.fd >= 0, "socket");
    bench::check(connect(connection.fd, reinterpret_cast<sockaddr*>(&address_), sizeof address_) == 0,
                 "connect");
    echo::setNoDelay(connection.fd);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    bench::check(epoll_ctl(epoll_, EPOLL_CTL_ADD, connection.fd, &event) == 0, "epoll_ctl");
  }

  // A reset leaves no port in TIME_WAIT: they would run out.
  void reopen(Connection& connection) {
    const linger reset{1, 0};
    setsockopt(connection.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(connection.fd);
    open(connection);
  }

  void send(Connection& connection, int64_t now) {
    connection.sent++;
    std::memcpy(connection.message.data(), &connection.sent, sizeof connection.sent);
    connection.message[echo::kStallByte] = stalls_ && ++numSent_ % 100 == 0;
    const Connection* const self = &connection;
    std::memcpy(connection.message.data() + connection.message.size() - sizeof self, &self, sizeof self);
    connection.received = 0;
    connection.sentNs = now;
    connection.isWaiting = true;
    numOnTheWay_++;
    const ssize_t size =
        ::send(connection.fd, connection.message.data(), connection.message.size(), MSG_NOSIGNAL);
    bench::check(size == static_cast<ssize_t>(connection.message.size()), "send");
  }

  // Returns: whether the reply is complete.
  bool receive(Connection& connection) {
    unsigned char* const to = connection.reply.data() + connection.received;
    const ssize_t size = recv(connection.fd, to, connection.reply.size() - connection.received, MSG_DONTWAIT);
    bench::check(size > 0, "recv");
    connection.received += static_cast<size_t>(size);
    if (connection.received < connection.reply.size()) {
      return false;
    }
    bench::check(connection.reply == connection.message, "a message comes back as it was");
    connection.isWaiting = false;
    numOnTheWay_--;
    return true;
  }

  // Calls f(connection, now) for each reply that is there.
  template <class F>
  int64_t takeReplies(F&& f) {
    epoll_event events[kEvents];
    const int count = epoll_wait(epoll_, events, kEvents, maySleep() ? 100 : 0);
    for (int i = 0; i < count; i++) {
      auto& connection = *static_cast<Connection*>(events[i].data.ptr);
      if (receive(connection)) {
        const int64_t now = bench::nowNs();
        if (connection.message[echo::kStallByte] == 0) {
          times_.add(now - connection.sentNs);
        }
        f(connection, now);
      }
    }
    return bench::nowNs();
  }

  bool maySleep() const { return !isOpen_ && !(placement_ && placement_->isAlone()); }

  // Sends what is due on connections that wait for no reply.
  void sendDue(int64_t now) {
    for (Connection& connection : connections_) {
      if (!connection.isWaiting && connection.dueNs <= now) {
        send(connection, connection.dueNs);
        connection.dueNs += kOpenIntervalNs * static_cast<int64_t>(connections_.size());
      }
    }
  }

  // At least until the first reply. Returns: when it was over.
  int64_t runUntil(int64_t end) {
    int64_t now = bench::nowNs();
    while (now < end || times_.count() == 0) {
      if (isOpen_) {
        sendDue(now);
        now = takeReplies([](Connection&, int64_t) {});
        continue;
      }
      now = takeReplies([this](Connection& connection, int64_t receivedNs) {
        if (isChurn_) {
          reopen(connection);
          receivedNs = bench::nowNs();
        }
        send(connection, receivedNs);
      });
    }
    return now;
  }

  void finish() {
    while (numOnTheWay_ > 0) {
      takeReplies([](Connection&, int64_t) {});
    }
    for (const Connection& connection : connections_) {
      close(connection.fd);
    }
  }

  void print(double ns, double cpuNs) const {
    const auto count = static_cast<double>(times_.count());
    std::printf("ns_per_request %.6g\nrequests_per_s %.6g\n", ns / count, count / ns * 1e9);
    std::printf("p50_us %.6g\np99_us %.6g\np999_us %.6g\n", times_.percentileUs(0.5),
                times_.percentileUs(0.99), times_.percentileUs(0.999));
    std::printf("cpu_ns %.6g\nbusy_percent %.6g\n", cpuNs / count, 100 * cpuNs / ns);
  }

  std::optional<bench::Placement> placement_;
  const bool isChurn_, isOpen_, stalls_;
  const pid_t server_;
  const int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  sockaddr_in address_{};
  std::vector<Connection> connections_;
  uint64_t numSent_ = 0;
  int numOnTheWay_ = 0;
  Histogram times_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: %s PORT CONNECTIONS connections|churn|open|stalls MILLISECONDS PID\n",
                 argv[0]);
    return 2;
  }
  const auto port = static_cast<uint16_t>(std::atoi(argv[1]));
  Generator generator(port, std::atoi(argv[2]), argv[3], std::atoi(argv[5]));
  generator.run(std::atoi(argv[4]));
}
