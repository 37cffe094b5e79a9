// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Draws the Mandelbrot set: mandelbrot [FILE]. A task for each row; meanwhile the main thread shows the
// progress on a terminal. The picture is a PNG where the program was built with libpng, and a PPM otherwise.

#include <weft/weft.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <vector>

#if WEFT_EXAMPLE_HAS_PNG
#include <png.h>
#endif

namespace {

constexpr int kWidth = 1024, kHeight = 768, kMaxIterations = 300;

using Pixel = std::array<uint8_t, 3>;  // red, green, blue

Pixel color(std::complex<double> c) {
  std::complex<double> z;
  int n = 0;
  for (; n < kMaxIterations && std::norm(z) < 16; ++n) {
    z = {z.real() * z.real() - z.imag() * z.imag() + c.real(), 2 * z.real() * z.imag() + c.imag()};
  }
  if (n == kMaxIterations) {
    return {0, 0, 0};
  }
  // The logarithms blend the bands of equal n into each other.
  const double t = std::sqrt((n + 1 - std::log2(std::log(std::norm(z)) / 2)) / kMaxIterations);
  const auto wave = [t](double phase) { return uint8_t(127.5 - 127.5 * std::cos(6.283 * (t + phase))); };
  return {wave(0.0), wave(0.1), wave(0.25)};
}

void drawRow(int y, Pixel* row) {
  constexpr double kScale = 3.2 / kWidth;
  for (int x = 0; x < kWidth; ++x) {
    row[x] = color({x * kScale - 2.2, (y - kHeight / 2) * kScale});
  }
}

std::vector<Pixel> draw() {
  std::vector<Pixel> pixels(size_t{kWidth} * kHeight);
  std::atomic<int> rowsDone{0};
  weft::WaitGroup unfinished(kHeight);
  weft::Event finished;
  for (int y = 0; y < kHeight; ++y) {
    weft::schedule([&, y, unfinished, finished] {
      drawRow(y, &pixels[size_t{kWidth} * static_cast<size_t>(y)]);
      rowsDone.fetch_add(1, std::memory_order_relaxed);  // a number to be shown, no more
      if (unfinished.done()) {
        finished.signal();
      }
    });
  }
  const bool isTerminal = isatty(STDERR_FILENO) != 0;
  while (!finished.wait_for(std::chrono::milliseconds(50))) {
    if (isTerminal) {
      std::fprintf(stderr, "\r%3d %%", 100 * rowsDone.load(std::memory_order_relaxed) / kHeight);
    }
  }
  std::fputs(isTerminal ? "\r100 %\n" : "", stderr);
  return pixels;
}

#if WEFT_EXAMPLE_HAS_PNG
constexpr const char* kDefaultFile = "mandelbrot.png";

bool save(const char* file, const std::vector<Pixel>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = kWidth;
  image.height = kHeight;
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, file, 0, pixels.data(), 0, nullptr) == 0) {
    std::fprintf(stderr, "mandelbrot: %s: %s\n", file, image.message);
    return false;
  }
  return true;
}
#else
constexpr const char* kDefaultFile = "mandelbrot.ppm";

bool save(const char* file, const std::vector<Pixel>& pixels) {
  std::FILE* out = std::fopen(file, "wb");
  bool good = out != nullptr && std::fprintf(out, "P6\n%d %d\n255\n", kWidth, kHeight) > 0;
  good = good && std::fwrite(pixels.data(), sizeof(Pixel), pixels.size(), out) == pixels.size();
  good = (out == nullptr || std::fclose(out) == 0) && good;
  if (!good) {
    std::perror(file);
  }
  return good;
}
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    std::fprintf(stderr, "usage: mandelbrot [FILE]\n");
    return 2;
  }
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);
  const char* file = argc == 2 ? argv[1] : kDefaultFile;
  if (!save(file, draw())) {
    return 1;
  }
  std::printf("%s: %d x %d pixels\n", file, kWidth, kHeight);
}
