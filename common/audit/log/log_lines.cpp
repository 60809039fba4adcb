#include "common/audit/log/log_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{64} << 10;

}  // namespace

LogLines::LogLines(core::FileDescriptor in, bool is_packed, Limits limits)
    : in_(std::move(in)), limits_(limits) {
  if (is_packed) unpacker_.emplace(limits.content);
}

bool LogLines::read_more() {
  if (!unpacker_) return read_into(text_);
  const std::size_t before = text_.size();
  while (text_.size() == before && !has_ended_) {
    if (packed_at_ == packed_.size()) {
      packed_.clear();
      packed_at_ = 0;
      if (!read_into(packed_)) {  // the member is not complete
        is_damaged_ = true;
        return false;
      }
    }
    std::string_view rest = std::string_view(packed_).substr(packed_at_);
    auto ended = unpacker_->step(rest, kPiece, text_);
    packed_at_ = packed_.size() - rest.size();
    if (!ended) {
      is_damaged_ = true;
      return false;
    }
    has_ended_ = *ended;
  }
  if (has_ended_ && !is_end_checked_) {
    is_end_checked_ = true;
    std::string behind;
    if (packed_at_ < packed_.size() || read_into(behind)) is_damaged_ = true;
  }
  return text_.size() > before && !is_damaged_;
}

bool LogLines::read_into(std::string& to) {
  const std::size_t before = to.size();
  to.resize(before + kPiece);
  ssize_t size = 0;
  do {
    size = ::read(in_.get(), to.data() + before, kPiece);
  } while (size < 0 && errno == EINTR);
  if (size < 0) is_damaged_ = true;
  to.resize(before + static_cast<std::size_t>(size > 0 ? size : 0));
  return size > 0;
}

std::unique_ptr<LogLines> LogLines::open(const fs::path& path, Limits limits) {
  const fs::path present = present_path(path);
  const bool is_packed = present.extension() == ".gz";
  const auto begin = [&]() -> std::unique_ptr<LogLines> {
    core::FileDescriptor in(::open(present.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.is_open()) return nullptr;
    return std::unique_ptr<LogLines>(new LogLines(std::move(in), is_packed, limits));
  };
  if (is_packed) {
    auto test = begin();
    if (!test) return nullptr;
    std::string_view line;
    Next next = Next::kLine;
    while (next == Next::kLine) next = test->next(line);
    if (next == Next::kTooLong || next == Next::kDamaged) return nullptr;
  }
  return begin();
}

LogLines::Next LogLines::next(std::string_view& line) {
  while (true) {
    const std::size_t end = text_.find('\n', searched_);
    if (end != std::string::npos) {
      line = std::string_view(text_).substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      return line.size() > limits_.line ? Next::kTooLong : Next::kLine;
    }
    text_.erase(0, std::exchange(begin_, 0));
    searched_ = text_.size();
    if (text_.size() > limits_.line) return Next::kTooLong;
    if (read_more()) continue;
    if (is_damaged_) return Next::kDamaged;
    line = text_;
    return line.empty() ? Next::kEnd : Next::kPart;
  }
}

}  // namespace league::audit::log
