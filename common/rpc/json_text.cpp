#include "common/rpc/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace league::rpc {
namespace {

bool is_plain(char byte) {
  auto value = static_cast<unsigned char>(byte);
  return value >= 0x20 && value < 0x7f && byte != '"' && byte != '\\';
}

}  // namespace

void append_json(std::string& out, const nlohmann::json& value) {
  out += value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_json_string(std::string& out, std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), is_plain)) {
    append_json(out, nlohmann::json(text));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

}  // namespace league::rpc
