// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cassert>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

// clang 15 and older cannot compile the views of libstdc++.
#if !defined(__clang__) || __clang_major__ >= 16
#include <ranges>
#define WEFT_TEST_VIEWS
#endif

#include <weft/defer.h>
#include <weft/weft.h>

// Examples of docs/*.md and of the public headers' comments, word for word, and tests that all of them are in
// some test or program of examples/, that they print what the page says, and that the pages name nothing that
// the code does not have.

namespace {

// docs/topology.md

weft::Scheduler::Config onPerformanceCores() { return weft::Scheduler::Config::performanceCores(); }

weft::Scheduler::Config spreadByCache() {
  auto policy = weft::Thread::Affinity::Policy::spread(weft::Thread::Affinity::all());
  return weft::Scheduler::Config::allCores().setWorkerThreadAffinityPolicy(policy);
}

weft::Scheduler::Config withTwoForTheRest() {
  using Affinity = weft::Thread::Affinity;
  auto fast = Affinity::performanceCores();
  auto rest = Affinity::all();
  rest.remove(fast);
  const int numFast = static_cast<int>(fast.count());
  auto policy = Affinity::Policy::groups(
      {{Affinity::Policy::spread(fast), numFast}, {Affinity::Policy::anyOf(std::move(rest)), 2}});
  return weft::Scheduler::Config().setWorkerThreadCount(numFast + 2).setWorkerThreadAffinityPolicy(policy);
}

// docs/scheduler.md

void singleThreaded() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(0));
  weft::Scheduler::Binding bound(scheduler);

  weft::Event ready;
  weft::schedule([=] {
    std::puts("the task runs");
    ready.signal();
  });
  std::puts("a task is queued");
  ready.wait();  // suspends this fiber; another one of the same thread runs the task
  std::puts("the event was signalled");
}

void multiThreaded() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);

  const auto caller = std::this_thread::get_id();
  weft::WaitGroup done(2);
  for (int i = 0; i < 2; ++i) {
    weft::schedule([=] {
      const auto before = std::this_thread::get_id();
      weft::sleep_for(std::chrono::milliseconds(1));  // the thread may run the other task meanwhile
      const bool stayed = before == std::this_thread::get_id();
      std::puts(stayed && before != caller ? "began and ended on the same worker" : "wandered");
      done.done();
    });
  }
  done.wait();
}

// docs/stacks.md

[[maybe_unused]] void lookAtStack() {
  if (weft::Fiber::current()->stackHighWater() > 512 * 1024) {
    std::puts("more than half of the stack");
  }
}

// The headers' comments

void work() {}
void load() {}
void produce() {}
void read() {}
int read(int) { return 1; }
void read(const std::string&) {}
void fetch(const std::string&) {}
void parse(const std::string&) {}
void use(int) {}

#ifdef WEFT_TEST_VIEWS
void manyExample() {
  std::vector<std::string> names = {"a.txt", "b.txt", "c.txt"};
  weft::WaitGroup done(std::ssize(names));
  weft::scheduleMany(names | std::views::transform([&](const std::string& name) {
                       return [&name, done] {
                         read(name);
                         done.done();
                       };
                     }));
  done.wait();
}
#endif

void conditionVariableExample() {
  weft::mutex queueMutex;
  weft::ConditionVariable filled;
  std::deque<int> queue;
  weft::WaitGroup filler(1);
  weft::schedule([&, filler] {
    {
      weft::lock lock(queueMutex);
      queue.push_back(1);
    }
    filled.notify_one();
    filler.done();
  });
  {
    weft::lock lock(queueMutex);
    filled.wait(lock, [&] { return !queue.empty(); });
    use(queue.front());
  }
  filler.wait();
}

void containersExample() {
  weft::TrackedAllocator tracked(weft::Allocator::Default);
  weft::Allocator* const allocator = &tracked;
  weft::containers::vector<std::string, 8> names(allocator);  // up to 8 without an allocation
  weft::containers::map<std::string, int> places(allocator);
  names.push_back("first");
  places[names.back()] = 1;
  EXPECT_EQ(places.size(), names.size());
}

void prefixedDeferExample() {
  weft::WaitGroup wg(1);
  weft::schedule([wg] {
    WEFT_DEFER(wg.done());
    work();
  });
  wg.wait();
}

void deferExample() {
  weft::WaitGroup wg(1);
  weft::schedule([wg] {
    defer(wg.done());
    work();
  });
  wg.wait();
}

void eventExample() {
  weft::Event loaded(weft::Event::Mode::Manual);
  weft::schedule([=] {
    load();
    loaded.signal();
  });
  loaded.wait();
}

void fiberExample() {
  weft::Fiber* consumer = weft::Fiber::current();
  weft::schedule([=] {
    produce();
    consumer->notify();
  });
  consumer->wait();
}

void finallyExample() {
  std::ofstream file;
  auto closer = weft::make_finally([&] { file.close(); });
}

void memoryExample() {
  struct Counting : weft::Allocator {
    weft::Allocation allocate(const weft::Allocation::Request& request) override {
      ++count;
      return weft::Allocator::Default->allocate(request);
    }
    void free(const weft::Allocation& allocation) override { weft::Allocator::Default->free(allocation); }
    std::atomic<int> count = 0;
  };
  Counting counting;
  auto number = counting.make_unique<int>(1);
  EXPECT_EQ(counting.count, 1);

  weft::TrackedAllocator allocator(weft::Allocator::Default);
  {
    auto object = allocator.make_unique<int>(1);
  }
  assert(allocator.stats().numAllocations() == 0);
}

void stlAllocatorExample() {
  weft::Allocator* allocator = weft::Allocator::Default;
  std::vector<int, weft::StlAllocator<int>> numbers{weft::StlAllocator<int>(allocator)};
  numbers.push_back(1);
}

void mutexExample() {
  int total = 0;
  const int file = 0;
  weft::mutex mutex;
  {
    weft::lock lock(mutex);
    total += read(file);  // may suspend
  }
  EXPECT_EQ(total, 1);
}

void schedulerExample() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  weft::WaitGroup done(1);
  weft::schedule([=] {
    work();
    done.done();
  });
  done.wait();
}

void semaphoreExample() {
  const std::string url;
  weft::Semaphore connections(8);
  const auto permit = connections.hold();  // until the end of the scope, also after an exception
  fetch(url);
}

void limitExample() {
  const std::vector<std::string> urls(3);
  weft::TaskGroup group(weft::TaskGroup::Limit{8});
  for (const std::string& url : urls) {
    group.run([&url] { fetch(url); });  // of a million addresses, eight are tasks at a time
  }
  group.wait();
}

void permitExample() {
  weft::Semaphore places(8);
  weft::schedule([permit = places.hold()] { work(); });
}

void sleepExample() { weft::sleep_for(std::chrono::milliseconds(5)); }

void taskExample() {
  auto file = std::make_unique<std::string>();
  weft::Task task([file = std::move(file)] { parse(*file); });
  weft::schedule(std::move(task));
}

void threadExample() {
  auto affinity = weft::Thread::Affinity::all();
  weft::Thread thread(std::move(affinity), [] {
    weft::Thread::setName("reader");
    read();
  });
  thread.join();
}

void waitGroupExample() {
  const std::vector<std::string> paths(3);
  weft::WaitGroup files;
  for (const auto& path : paths) {
    files.add();
    weft::schedule([=] {
      read(path);
      files.done();
    });
  }
  files.wait();
}

namespace fs = std::filesystem;

const fs::path kRoot = WEFT_TEST_SOURCE_DIR;

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(file) << "cannot read " << path;
  return text.str();
}

std::vector<fs::path> filesIn(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    if (entry.path().extension() == extension) {
      files.push_back(entry.path());
    }
  }
  return files;
}

const std::vector<fs::path> kPages = {kRoot / "docs/architecture.md", kRoot / "docs/scheduler.md",
                                      kRoot / "docs/stacks.md",       kRoot / "docs/topology.md",
                                      kRoot / "docs/waiting.md",      kRoot / "docs/which.md"};

// Returns: the fenced blocks of a page that are marked with `language`.
std::vector<std::string> blocks(const fs::path& page, const std::string& language) {
  std::vector<std::string> result;
  const std::string text = contents(page), fence = "```" + language + "\n";
  for (size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    result.push_back(text.substr(at, text.find("```", at) - at));
  }
  return result;
}

// Returns: the code of docs/llms.txt: its program, and each of its mistakes without the wrong lines.
std::vector<std::string> piecesOfLlms() {
  std::vector<std::string> pieces;
  const std::regex mistake("// \\d+\\. .*");
  for (const auto& block : blocks(kRoot / "docs/llms.txt", "cpp")) {
    std::istringstream lines(block);
    pieces.emplace_back();
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_match(line, mistake) && !pieces.back().empty()) {
        pieces.emplace_back();
      }
      if (line.find("  // wrong: ") == std::string::npos) {
        pieces.back() += line + "\n";
      }
    }
  }
  return pieces;
}

// Returns: a page without its fenced blocks.
std::string prose(const fs::path& page) {
  std::istringstream text(contents(page));
  std::string result;
  bool isFenced = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) {
      isFenced = !isFenced;
    } else if (!isFenced) {
      result += line + "\n";
    }
  }
  return result;
}

// Returns: the examples in a header's comments: paragraphs that are indented by three blanks.
std::vector<std::string> examples(const fs::path& header) {
  std::vector<std::string> result;
  std::istringstream text(contents(header));
  bool isInside = false;
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    const bool isExample = std::regex_match(line, match, std::regex(" *//   ( *\\S.*)"));
    if (isExample) {
      if (!isInside) {
        result.emplace_back();
      }
      result.back() += match[1].str() + "\n";
    }
    isInside = isExample;
  }
  return result;
}

// Returns: `text` without what its layout is made of, which is tighter on a page than in a test: white space
// and braces.
std::string withoutLayout(std::string text) {
  std::erase_if(text,
                [](char c) { return std::isspace(static_cast<unsigned char>(c)) || c == '{' || c == '}'; });
  return text;
}

std::string outputOf(void (*example)()) {
  testing::internal::CaptureStdout();
  example();
  return testing::internal::GetCapturedStdout();
}

TEST(DocsExamplesTest, ExamplesPrintWhatThePageSays) {
  const auto printed = blocks(kRoot / "docs/scheduler.md", "text");
  ASSERT_EQ(printed.size(), 2u);
  EXPECT_EQ(outputOf(singleThreaded), printed[0]);
  EXPECT_EQ(outputOf(multiThreaded), printed[1]);
}

TEST(DocsExamplesTest, ExamplesOfHeadersRun) {
  schedulerExample();
  for (const int numWorkers : {0, 2}) {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(numWorkers));
    weft::Scheduler::Binding bound(scheduler);
    for (void (*example)() : {conditionVariableExample, containersExample, deferExample, eventExample,
                              fiberExample, finallyExample, memoryExample, stlAllocatorExample, mutexExample,
                              prefixedDeferExample, limitExample, permitExample, semaphoreExample,
                              sleepExample, taskExample, threadExample, waitGroupExample}) {
      example();
    }
  }
}

#ifdef WEFT_TEST_VIEWS
TEST(DocsExamplesTest, ManyTasksOfARangeRun) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);
  manyExample();
}
#endif

TEST(DocsExamplesTest, WorkersArePlacedByTheShapeOfTheMachine) {
  for (const auto& config : {onPerformanceCores(), spreadByCache(), withTwoForTheRest()}) {
    weft::Scheduler scheduler(config);
    weft::WaitGroup done(config.workerThread.count);
    for (int i = 0; i < config.workerThread.count; ++i) {
      scheduler.enqueueOn(i, weft::Task([done] { done.done(); }));
    }
    done.wait();
  }
}

TEST(DocsExamplesTest, ExamplesAreThoseOfThePagesAndHeaders) {
  std::string tests;
  for (const char* folder : {"examples", "tests"}) {
    for (const auto& test : filesIn(folder, ".cpp")) {
      tests += withoutLayout(contents(test));
    }
  }
  size_t numExamples = 0;
  for (const auto& page : filesIn("docs", ".md")) {
    for (const auto& block : blocks(page, "cpp")) {
      ++numExamples;
      EXPECT_NE(tests.find(withoutLayout(block)), std::string::npos) << page << " has what no test has:\n"
                                                                     << block;
    }
  }
  EXPECT_GE(numExamples, 9u);
  const auto pieces = piecesOfLlms();
  EXPECT_EQ(pieces.size(), 11u);
  for (const auto& piece : pieces) {
    EXPECT_NE(tests.find(withoutLayout(piece)), std::string::npos) << "docs/llms.txt has what no test has:\n"
                                                                   << piece;
  }
  numExamples = 0;
  for (const auto& header : filesIn("include/weft", ".h")) {
    if (header.string().find("/detail/") != std::string::npos || header.filename() == "debug.h") {
      continue;  // debug.h's is a line of weft itself
    }
    for (const auto& example : examples(header)) {
      ++numExamples;
      EXPECT_NE(tests.find(withoutLayout(example)), std::string::npos) << header << " has what no test has:\n"
                                                                       << example;
    }
  }
  EXPECT_GE(numExamples, 21u);
}

// Returns: a source without the comment about its licence.
std::string withoutLicence(const std::string& source) {
  EXPECT_TRUE(source.starts_with("// Copyright"));
  return source.substr(source.find("\n\n") + 2);
}

// tests/examples runs the programs, and compares what they print with their .expected files.
TEST(DocsExamplesTest, StepsOfTheTutorialShowTheirProgramsAndWhatThesePrint) {
  size_t numSteps = 0;
  for (const auto& page : filesIn("docs/tutorial", ".md")) {
    const std::string step = page.stem();
    if (step == "index") {
      EXPECT_EQ(blocks(page, "cmake"), blocks(kRoot / "README.md", "cmake"));
      continue;
    }
    ++numSteps;
    const auto programs = blocks(page, "cpp"), printed = blocks(page, "text");
    ASSERT_EQ(programs.size(), 1u) << page;
    ASSERT_EQ(printed.size(), 1u) << page;
    EXPECT_EQ(programs[0], withoutLicence(contents(kRoot / "examples/tutorial" / (step + ".cpp"))));
    EXPECT_EQ(printed[0], contents(kRoot / "tests/examples" / ("tutorial_" + step + ".expected")));
  }
  EXPECT_EQ(numSteps, filesIn("examples/tutorial", ".cpp").size());
}

// Adds the identifiers in `text`.
void collectWords(const std::string& text, std::set<std::string>& words) {
  const std::regex word("[A-Za-z_][A-Za-z0-9_]*");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), word); it != std::sregex_iterator(); ++it) {
    words.insert(it->str());
  }
}

// Returns: what `pattern`'s first group matches, everywhere in `text`.
std::string all(const std::string& text, const char* pattern) {
  std::string result;
  const std::regex regex(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex); it != std::sregex_iterator(); ++it) {
    result += (*it)[1].str() + "\n";
  }
  return result;
}

// Returns: the second cells of the rows of all tables.
std::string middleColumns(const std::string& page) {
  const std::regex row("\\|[^|]*\\|([^|]*)\\|.*");
  std::istringstream text(page);
  std::string result;
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) {
      result += match[1].str() + "\n";
    }
  }
  return result;
}

// docs/parallel.md, and its picture

struct Frame {
  void cull() { numVisible = 3; }
  bool isNight() const { return true; }
  void light() { light_ = 1; }
  void shade() { light_ = 2; }
  void draw() { numDrawn = numVisible + light_; }
  int numVisible = 0, numDrawn = 0;
  int light_ = 0;
};

TEST(DocsExamplesTest, TheGraphOfThePageIsTheOneOfThePicture) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  const weft::Scheduler::Binding bound(scheduler);
  Frame frame;
  std::stringstream file;

  weft::DAG<Frame&>::Builder builder;
  auto cull = builder.root().then([](Frame& f) { f.cull(); }).setName("cull");
  auto light = builder.node([](Frame& f) { f.light(); }).setName("light");
  auto shade = builder.node([](Frame& f) { f.shade(); }).setName("shade");
  builder.choice([](Frame& f) { return f.isNight() ? 0 : 1; }, {light, shade}, {cull}).setName("night?");
  builder.node([](Frame& f) { f.draw(); }, {light, shade}).setName("draw");
  auto dag = builder.build();
  file << dag->dot();

  dag->run(frame);
  EXPECT_EQ(frame.numDrawn, 4);
  EXPECT_EQ(file.str(), contents(kRoot / "docs/images/dag_frame.dot"));
  const std::string picture = contents(kRoot / "docs/images/dag_frame.svg");
  for (const char* label : {"root", "cull", "night?", "0", "1", "light", "shade", "draw"}) {
    EXPECT_NE(picture.find(std::string(">") + label + "</text>"), std::string::npos) << label;
  }
}

TEST(DocsExamplesTest, PagesAndFlowchartsNameOnlyWhatTheCodeHas) {
  // Names of other things: folders, the system's functions, options of tools.
  std::set<std::string> known = {"alloca", "cfenv",    "layers",   "include", "mlockall",
                                 "py",     "rdynamic", "signalfd", "src",     "ulimit"};
  for (const char* folder : {"include", "src"}) {
    for (const char* extension : {".h", ".cpp"}) {
      for (const auto& file : filesIn(folder, extension)) {
        collectWords(contents(file), known);
        known.insert(file.stem());
      }
    }
  }
  std::vector<std::pair<fs::path, std::string>> codes;
  // tests/named_tests.py looks at the names of tests.
  const std::regex test("`\\w+Test(\\.\\w+(\\.\\.\\.)?)?`");
  for (const auto& page : kPages) {
    codes.emplace_back(page, all(std::regex_replace(prose(page), test, ""), "`([^`]+)`"));
  }
  const fs::path comingFrom = kRoot / "docs/coming_from.md";
  codes.emplace_back(comingFrom, all(middleColumns(prose(comingFrom)), "`([^`]+)`"));
  for (const auto& image : filesIn("docs/images", ".svg")) {
    if (image.stem() == "dag_frame") {  // drawn by Graphviz, without code
      continue;
    }
    codes.emplace_back(image, all(contents(image), "<tspan class=\"c\">([^<]*)</tspan>"));
  }
  EXPECT_GE(codes.size(), 8u);
  for (const auto& [file, code] : codes) {
    std::set<std::string> words;
    collectWords(code, words);
    EXPECT_FALSE(words.empty()) << file;
    for (const auto& word : words) {
      EXPECT_TRUE(known.contains(word))
          << file << " names " << word << ", which is nowhere in include or src";
    }
  }
}

}  // namespace
