#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/rpc/frame_peek.h"

namespace league::rpc {

/// What is left of a JSON text that is too large to be kept, while its bytes pass by: the members
/// of the top-level object, without what is inside of their objects and arrays, as far as 4 KiB go.
/// Any bytes, any depth. Not thread-safe.
class FrameSkeleton {
 public:
  void add(std::string_view bytes);
  /// As peek_frame of the whole text; kOther where its members alone are too large.
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
