#include "common/rpc/frame_skeleton.h"

namespace league::rpc {
namespace {

constexpr std::size_t kMostKept = 4096;

}  // namespace

void FrameSkeleton::keep(char c) {
  // The content of inner objects and arrays does not matter for the frame.
  if (depth_ > 1) return;
  if (kept_.size() >= kMostKept) {
    is_too_large_ = true;
  } else {
    kept_ += c;
  }
}

void FrameSkeleton::add(std::string_view bytes) {
  for (char c : bytes) {
    if (is_in_string_) {
      keep(c);
      is_in_string_ = is_escaped_ || c != '"';
      is_escaped_ = !is_escaped_ && c == '\\';
      continue;
    }
    bool closes = c == '}' || c == ']';
    if (closes && depth_ > 0) --depth_;
    keep(c);
    if (c == '{' || c == '[') ++depth_;
    is_in_string_ = c == '"';
  }
}

FramePeek FrameSkeleton::peek() const { return is_too_large_ ? FramePeek{} : peek_frame(kept_); }

}  // namespace league::rpc
