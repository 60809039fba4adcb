#pragma once

#include <type_traits>
#include <utility>

#include "common/core/result.h"

namespace league::core {

/// Moves the value of `result` to `place`; or returns the error, and leaves `place` as it is.
template <typename T>
Result<void> assign(T& place, std::type_identity_t<Result<T>> result) {
  if (!result) return std::move(result).error();
  place = *std::move(result);
  return {};
}

}  // namespace league::core
