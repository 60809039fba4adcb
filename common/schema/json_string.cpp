#include "common/schema/json_string.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace league::schema {
namespace {

bool needs_no_escape(char byte) {
  auto value = static_cast<unsigned char>(byte);
  return value >= 0x20 && value < 0x7f && byte != '"' && byte != '\\';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  // Escapes, non-ASCII text and invalid UTF-8 are rare; the library handles them.
  if (!std::all_of(text.begin(), text.end(), needs_no_escape)) {
    out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace league::schema
