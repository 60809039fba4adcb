#include "common/transport/link/media_type.h"

#include <iterator>

#include "common/core/text.h"

namespace league::transport::link {

namespace {

constexpr std::size_t kMaxExcerpt = 200;

}  // namespace

std::string_view trim_blanks(std::string_view text) {
  std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string_view only_value(const rpc::HeaderMap& headers, std::string_view name) {
  auto [begin, end] = headers.equal_range(name);
  return begin != end && std::next(begin) == end ? trim_blanks(begin->second) : std::string_view();
}

std::string media_type_of(const rpc::HeaderMap& headers) {
  auto field = rpc::find_header(headers, "content-type");
  return field ? core::lower_case(trim_blanks(field->substr(0, field->find(';')))) : std::string();
}

bool is_json_type(std::string_view media_type) {
  return media_type == kJsonType || media_type.ends_with("+json");
}

bool looks_like_json(std::string_view text) {
  auto begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

std::string excerpt_of(std::string_view text) {
  std::string shown(text.substr(0, kMaxExcerpt));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = c == '\n' || c == '\r' || c == '\t' ? ' ' : '?';
  }
  while (shown.ends_with(' ')) shown.pop_back();
  return shown;
}

}  // namespace league::transport::link
