#include "common/audit/log/log_lines.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "common/core/compression.h"
#include "common/core/file_descriptor.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{64} << 10;

}  // namespace

struct LogLines::State {
  State(core::FileDescriptor file, bool is_packed, Limits given)
      : in(std::move(file)), limits(given) {
    if (is_packed) unpacker.emplace(limits.content);
  }

  /// Appends the next bytes of the content to `text`; false at the end, and where it is damaged.
  bool read_more() {
    if (!unpacker) return read_into(text);
    const std::size_t before = text.size();
    while (text.size() == before && !has_ended) {
      if (packed_at == packed.size()) {
        packed.clear();
        packed_at = 0;
        if (!read_into(packed)) {  // the member is not complete
          is_damaged = true;
          return false;
        }
      }
      std::string_view rest = std::string_view(packed).substr(packed_at);
      auto ended = unpacker->step(rest, kPiece, text);
      packed_at = packed.size() - rest.size();
      if (!ended) {
        is_damaged = true;
        return false;
      }
      has_ended = *ended;
    }
    if (has_ended && !is_end_checked) {
      is_end_checked = true;
      std::string behind;
      if (packed_at < packed.size() || read_into(behind)) is_damaged = true;
    }
    return text.size() > before && !is_damaged;
  }

  bool read_into(std::string& to) {
    const std::size_t before = to.size();
    to.resize(before + kPiece);
    ssize_t size = 0;
    do {
      size = ::read(in.get(), to.data() + before, kPiece);
    } while (size < 0 && errno == EINTR);
    if (size < 0) is_damaged = true;
    to.resize(before + static_cast<std::size_t>(size > 0 ? size : 0));
    return size > 0;
  }

  core::FileDescriptor in;
  Limits limits;
  std::optional<core::Decompressor> unpacker;
  std::string packed;  ///< read, and decompressed up to `packed_at`
  std::size_t packed_at = 0;
  bool has_ended = false;  ///< the compressed content
  bool is_end_checked = false;
  bool is_damaged = false;
  std::string text;  ///< content that was read
  std::size_t begin = 0;  ///< of the next line in it
  std::size_t searched = 0;  ///< up to here it has no line feed
};

LogLines::LogLines(std::unique_ptr<State> state) : state_(std::move(state)) {}
LogLines::~LogLines() = default;

std::unique_ptr<LogLines> LogLines::open(const fs::path& path, Limits limits) {
  const fs::path present = present_path(path);
  const bool is_packed = present.extension() == ".gz";
  const auto begin = [&]() -> std::unique_ptr<LogLines> {
    core::FileDescriptor in(::open(present.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.is_open()) return nullptr;
    return std::unique_ptr<LogLines>(
        new LogLines(std::make_unique<State>(std::move(in), is_packed, limits)));
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
  State& state = *state_;
  while (true) {
    const std::size_t end = state.text.find('\n', state.searched);
    if (end != std::string::npos) {
      line = std::string_view(state.text).substr(state.begin, end - state.begin);
      state.begin = state.searched = end + 1;
      return line.size() > state.limits.line ? Next::kTooLong : Next::kLine;
    }
    state.text.erase(0, std::exchange(state.begin, 0));
    state.searched = state.text.size();
    if (state.text.size() > state.limits.line) return Next::kTooLong;
    if (state.read_more()) continue;
    if (state.is_damaged) return Next::kDamaged;
    line = state.text;
    return line.empty() ? Next::kEnd : Next::kPart;
  }
}

}  // namespace league::audit::log
