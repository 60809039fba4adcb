#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace league::core {

/// The value of the nearest rank at `share` (0 to 1) of `sorted`, which is not empty. Thread-safe.
template <typename T>
[[nodiscard]] const T& percentile(const std::vector<T>& sorted, double share) {
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace league::core
