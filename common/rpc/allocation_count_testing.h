#pragma once

#include <cstddef>

namespace league::testing {

/// How many times this test program has called operator new. Thread-safe.
[[nodiscard]] std::size_t allocation_count();

}  // namespace league::testing
