#include "common/transport/front/response_head.h"

#include <string_view>

namespace league::transport::front {
namespace {

/// The first header line that begins with `field`, which includes the line end before it; npos if
/// there is none.
std::size_t find_field(const std::string& response, std::size_t begin, std::string_view field) {
  const std::size_t at = response.find(field, begin);
  return at < response.find("\r\n\r\n", begin) ? at : std::string::npos;
}

void erase_field(std::string& response, std::size_t begin, std::string_view field) {
  const std::size_t at = find_field(response, begin, field);
  if (at == std::string::npos) return;
  response.erase(at, response.find("\r\n", at + 2) - at);
}

}  // namespace

void correct_head(std::string& response, std::size_t begin) {
  erase_field(response, begin, "\r\nAccept-Ranges:");
  const bool is_event_stream =
      find_field(response, begin, "\r\nContent-Type: text/event-stream") != std::string::npos;
  if (is_event_stream) erase_field(response, begin, "\r\nContent-Length:");
}

}  // namespace league::transport::front
