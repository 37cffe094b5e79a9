// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Heat spreads on a plate whose rows the ranks share: mpirun -n 4 heat [--check] [WIDTH HEIGHT STEPS]. Draws
// heat.png, or heat.ppm where the program was built without libpng. With --check draws nothing, and compares
// the plate with one that a single process has computed.
//
// A rank needs a row of each neighbour in each step. While these are under way it computes the rows that need
// none of them.

#include <weft/mpi.h>
#include <weft/weft.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#if WEFT_EXAMPLE_HAS_PNG
#include <png.h>
#endif

namespace {

namespace mpi = weft::mpi;

struct Plate {
  int width = 640;
  int height = 480;
  int steps = 500;

  // Returns: the heat of a place at the beginning, from 0 to 1: hot rings. The edge stays cold.
  float heatAt(int x, int y) const {
    const bool isInside = x > 0 && x < width - 1 && y >= 0 && y < height;
    const double distance = std::hypot(x - width / 2, y - height / 2) / height;
    return isInside && std::fmod(distance, 0.25) < 0.1 ? 1 : 0;
  }
};

// Some of the plate's rows, which have the numbers from 0 here, and the row on either side of them.
class Strip {
 public:
  Strip(const Plate& plate, int first, int count)
      : width_(static_cast<size_t>(plate.width)), count_(count), now_(width_ * size_t(count + 2)) {
    for (int y = -1; y <= count; ++y) {
      for (int x = 0; x < plate.width; ++x) {
        row(y)[size_t(x)] = plate.heatAt(x, first + y);
      }
    }
    next_ = now_;
  }

  // One step of a strip between those of the ranks `above` and `below`, or of none (MPI_PROC_NULL).
  void stepWith(int above, int below) {
    const int last = count_ - 1;
    std::array<mpi::Request, 2> top{mpi::world().irecv(row(-1), above), mpi::world().isend(row(0), above)};
    std::array<mpi::Request, 2> bottom{mpi::world().irecv(row(count_), below),
                                       mpi::world().isend(row(last), below)};
    // While these tasks wait, the workers ask MPI, which lets long messages move on, too.
    weft::TaskGroup borders;
    borders.run([&] {
      mpi::waitAll(top);
      compute(0);
    });
    borders.run([&] {
      mpi::waitAll(bottom);
      compute(last);
    });
    weft::parallelFor(1, last, [this](int y) { compute(y); });
    borders.wait();
    now_.swap(next_);
  }

  // One step of a strip that is the whole plate.
  void step() {
    for (int y = 0; y < count_; ++y) {
      compute(y);
    }
    now_.swap(next_);
  }

  std::span<const float> rows() const { return std::span(now_).subspan(width_, width_ * size_t(count_)); }

 private:
  std::span<float> row(int y) { return std::span(now_).subspan(width_ * size_t(y + 1), width_); }

  void compute(int y) {
    constexpr float kRate = 0.2f;
    const float* const above = row(y - 1).data();
    const float* const here = row(y).data();
    const float* const below = row(y + 1).data();
    float* const next = next_.data() + width_ * size_t(y + 1);
    for (size_t x = 1; x + 1 < width_; ++x) {
      next[x] = here[x] + kRate * (above[x] + below[x] + here[x - 1] + here[x + 1] - 4 * here[x]);
    }
  }

  size_t width_;
  int count_;
  std::vector<float> now_;
  std::vector<float> next_;
};

// Returns: the plate after all steps, at rank 0.
std::vector<float> compute(const Plate& plate) {
  const mpi::Communicator& world = mpi::world();
  const int rank = world.rank(), numRanks = world.size();
  const auto firstOf = [&](int r) { return static_cast<int>(int64_t{plate.height} * r / numRanks); };
  Strip strip(plate, firstOf(rank), firstOf(rank + 1) - firstOf(rank));
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < numRanks ? rank + 1 : MPI_PROC_NULL;
  for (int i = 0; i < plate.steps; ++i) {
    strip.stepWith(above, below);
  }
  std::vector<float> all(rank == 0 ? size_t(plate.width) * size_t(plate.height) : 0);
  std::vector<int> counts;
  for (int r = 0; r < numRanks; ++r) {
    counts.push_back((firstOf(r + 1) - firstOf(r)) * plate.width);
  }
  world.gatherv(strip.rows(), all, counts);
  return all;
}

// Returns: whether it is, bit for bit, what a single process computes.
bool check(const Plate& plate, std::span<const float> result) {
  Strip strip(plate, 0, plate.height);
  for (int i = 0; i < plate.steps; ++i) {
    strip.step();
  }
  const bool isRight = std::memcmp(strip.rows().data(), result.data(), result.size_bytes()) == 0;
  std::printf("%s\n", isRight ? "as computed by one process" : "WRONG: not as computed by one process");
  return isRight;
}

using Pixel = std::array<uint8_t, 3>;  // red, green, blue

// From black to red, yellow and white.
Pixel color(float heat) {
  const auto part = [heat](float from) { return uint8_t(255 * std::clamp(3 * heat - from, 0.f, 1.f)); };
  return {part(0), part(1), part(2)};
}

bool save(const Plate& plate, std::span<const float> heat) {
  std::vector<Pixel> pixels(heat.size());
  std::transform(heat.begin(), heat.end(), pixels.begin(), color);
#if WEFT_EXAMPLE_HAS_PNG
  const char* const file = "heat.png";
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(plate.width);
  image.height = static_cast<png_uint_32>(plate.height);
  image.format = PNG_FORMAT_RGB;
  const bool isSaved = png_image_write_to_file(&image, file, 0, pixels.data(), 0, nullptr) != 0;
#else
  const char* const file = "heat.ppm";
  std::FILE* const out = std::fopen(file, "wb");
  bool isSaved = out != nullptr && std::fprintf(out, "P6\n%d %d\n255\n", plate.width, plate.height) > 0;
  isSaved = isSaved && std::fwrite(pixels.data(), sizeof(Pixel), pixels.size(), out) == pixels.size();
  isSaved = (out == nullptr || std::fclose(out) == 0) && isSaved;
#endif
  std::printf("%s: %d x %d pixels%s\n", file, plate.width, plate.height, isSaved ? "" : " NOT written");
  return isSaved;
}

std::optional<Plate> parse(std::span<char*> arguments) {
  Plate plate;
  if (arguments.size() == 3) {
    plate = {std::atoi(arguments[0]), std::atoi(arguments[1]), std::atoi(arguments[2])};
  }
  const bool isGood = (arguments.empty() || arguments.size() == 3) && plate.width > 0 && plate.steps >= 0 &&
                      plate.height / 2 >= mpi::world().size() && plate.width <= INT32_MAX / plate.height;
  return isGood ? std::optional(plate) : std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  const mpi::Environment environment(argc, argv);
  const bool checks = argc > 1 && std::strcmp(argv[1], "--check") == 0;
  const std::optional<Plate> plate = parse(std::span(argv, size_t(argc)).subspan(checks ? 2 : 1));
  const bool isFirst = mpi::world().rank() == 0;
  if (!plate) {
    std::fputs(isFirst ? "usage: heat [--check] [WIDTH HEIGHT STEPS], at least two rows for each rank\n" : "",
               stderr);
    return 2;
  }
  const std::vector<float> heat = compute(*plate);
  return !isFirst || (checks ? check(*plate, heat) : save(*plate, heat)) ? 0 : 1;
}
