// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Downloads pages by libcurl: curl_pages [FIBERS [SECONDS]] <URLS. Standard input has a URL on each line.
// Some fibers (8) download one page after another, and keep connections. So many downloads run at the same
// time, even on one thread. Prints the status and size of each page. One may take some seconds (30).

#include <weft/io.h>
#include <weft/weft.h>

#include <curl/curl.h>
#include <poll.h>
#include <sys/epoll.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
constexpr weft::io::TimePoint kNever = weft::io::TimePoint::max();

// Transfers of one fiber, one at a time. libcurl may use several sockets for one. They are in an epoll, whose
// descriptor is ready when one of them is.
class Downloader {
 public:
  explicit Downloader(long seconds) {
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &Downloader::watch);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &Downloader::setTimer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
    const auto drop = [](const char*, size_t size, size_t count, void*) { return size * count; };
    curl_easy_setopt(easy_.get(), CURLOPT_WRITEFUNCTION, +drop);
    curl_easy_setopt(easy_.get(), CURLOPT_NOSIGNAL, 1L);  // since there are several threads
    curl_easy_setopt(easy_.get(), CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy_.get(), CURLOPT_TIMEOUT, seconds);
  }

  // Prints the status and size of the page. Returns: what is wrong, or CURLE_OK.
  CURLcode download(const std::string& url) {
    curl_easy_setopt(easy_.get(), CURLOPT_URL, url.c_str());
    curl_multi_add_handle(multi_.get(), easy_.get());  // sets the timer, which begins the transfer
    for (int numRunning = 1; numRunning > 0;) {
      std::error_code error;  // timed_out, usually: it is not looked at
      weft::io::waitFor(epoll_.get(), POLLIN, error, {.deadline = timer_});
      epoll_event events[8];
      const int numReady = epoll_wait(epoll_.get(), events, 8, 0);
      for (int i = 0; i < numReady; ++i) {  // 0: libcurl looks what the socket is ready for
        curl_multi_socket_action(multi_.get(), events[i].data.fd, 0, &numRunning);
      }
      if (Clock::now() >= timer_) {
        timer_ = kNever;
        curl_multi_socket_action(multi_.get(), CURL_SOCKET_TIMEOUT, 0, &numRunning);
      }
    }
    int numMessages;
    const CURLcode result = curl_multi_info_read(multi_.get(), &numMessages)->data.result;
    curl_multi_remove_handle(multi_.get(), easy_.get());
    if (result == CURLE_OK) {
      long status = 0;
      curl_off_t size = 0;
      curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
      curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T, &size);
      std::printf("%ld %lld %s\n", status, static_cast<long long>(size), url.c_str());
    }
    return result;
  }

 private:
  static int watch(CURL*, curl_socket_t fd, int what, void* self, void*) {
    const int epoll = static_cast<Downloader*>(self)->epoll_.get();
    const unsigned int events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
    epoll_event event{.events = events, .data = {.fd = fd}};
    epoll_ctl(epoll, EPOLL_CTL_DEL, fd, nullptr);
    return what == CURL_POLL_REMOVE ? 0 : epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  }
  static int setTimer(CURLM*, long ms, void* self) {
    static_cast<Downloader*>(self)->timer_ = ms < 0 ? kNever : Clock::now() + std::chrono::milliseconds(ms);
    return 0;
  }
  weft::io::UniqueFd epoll_{epoll_create1(EPOLL_CLOEXEC)};
  weft::io::TimePoint timer_ = kNever;
  std::unique_ptr<CURLM, decltype([](CURLM* multi) { curl_multi_cleanup(multi); })> multi_{curl_multi_init()};
  std::unique_ptr<CURL, decltype([](CURL* easy) { curl_easy_cleanup(easy); })> easy_{curl_easy_init()};
};

}  // namespace

int main(int argc, char** argv) {
  const long seconds = argc > 2 ? std::atol(argv[2]) : 30;
  std::vector<std::string> urls;
  for (std::string line; std::getline(std::cin, line);) {
    urls.push_back(line);
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  std::atomic<size_t> next{0}, numFailed{0};
  weft::TaskGroup fibers;
  for (int i = 0; i < (argc > 1 ? std::atoi(argv[1]) : 8); ++i) {
    fibers.run([&] {
      Downloader downloader(seconds);
      for (size_t url = next++; url < urls.size(); url = next++) {
        if (const CURLcode error = downloader.download(urls[url]); error != CURLE_OK) {
          std::fprintf(stderr, "%s: %s\n", urls[url].c_str(), curl_easy_strerror(error));
          ++numFailed;
        }
      }
    });
  }
  fibers.wait();
  return numFailed == 0 ? 0 : 1;
}
