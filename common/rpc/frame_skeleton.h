#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/rpc/frame_peek.h"

namespace league::rpc {

/// Keeps the essential part of a JSON text that is too large to be stored, while its bytes arrive:
/// the members of the top-level object, without the content of inner objects and arrays, up to 4
/// KiB. Accepts any bytes of any depth. Not thread-safe.
class FrameSkeleton {
 public:
  void add(std::string_view bytes);
  /// The result of peek_frame for the whole text; kOther if its members alone are too large.
  [[nodiscard]] FramePeek peek() const;

 private:
  void keep(char c);

  std::string kept_;
  std::size_t depth_ = 0;
  bool is_in_string_ = false;
  bool is_escaped_ = false;
  bool is_too_large_ = false;
};

}  // namespace league::rpc
