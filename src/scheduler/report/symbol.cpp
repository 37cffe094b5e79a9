// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/symbol.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "inspect/arena.h"
#include "inspect/image_names.h"
#include "inspect/images.h"
#include "inspect/text.h"
#include "scheduler/fibers/call_aside.h"

namespace weft::inline v0_1::detail {
namespace {

struct WholeName {
  const void* address;
  size_t size = 0;
  char text[4096];
};

void append(void* context, const char* text, size_t size) {
  auto& name = *static_cast<WholeName*>(context);
  size = std::min(size, sizeof name.text - name.size);
  std::memcpy(name.text + name.size, text, size);
  name.size += size;
}

void write(WholeName& name) {
  inspect::Arena arena;
  inspect::Images images(&arena);
  inspect::ImageNames names(images, &arena);
  inspect::Text out(&append, &name);
  const auto address = reinterpret_cast<inspect::Address>(name.address);
  if (images.readMaps(getpid()) && images.find(address) != nullptr) {
    names.writeTask(out, address);
  }
}

// Copies the name. Where it is too long, the end of the function's name is left out.
void copy(std::string_view name, char (&to)[sizeof Symbol::text]) {
  constexpr size_t kMost = sizeof to - 1;
  constexpr std::string_view kCut = "...";
  std::string_view file;
  if (name.size() > kMost) {
    file = name.substr(std::min(name.rfind(" ("), name.size())).substr(0, kMost / 2);
    name = name.substr(0, kMost - kCut.size() - file.size());
  }
  const int size = static_cast<int>(name.size());
  std::snprintf(to, sizeof to, "%.*s%s%.*s", size, name.data(), file.empty() ? "" : kCut.data(),
                static_cast<int>(file.size()), file.data());
}

}  // namespace

Symbol::Symbol(const void* address) noexcept {
  struct Request {
    const void* address;
    Symbol* symbol;
  } request{address, this};
  const auto nameAside = [](void* argument) {
    const Request& asked = *static_cast<Request*>(argument);
    WholeName name{asked.address, 0, {}};
    try {
      write(name);
    } catch (const std::bad_alloc&) {
      name.size = 0;
    }
    if (name.size == 0) {
      std::snprintf(asked.symbol->text, sizeof asked.symbol->text, "%p", asked.address);
    } else {
      copy({name.text, name.size}, asked.symbol->text);
    }
  };
  callAside(nameAside, &request);
}

}  // namespace weft::inline v0_1::detail
