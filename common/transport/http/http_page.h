#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/transport/link/message_handler.h"

namespace league::transport::http {

/// A GET or HEAD request for a page that has passed the EdgeRules.
struct PageRequest {
  std::string_view name;  ///< the rest of the path, if the page serves everything below its path
  std::optional<std::string_view> last_event_id;  ///< of a client that resumes a stream
};

/// The answer of a page.
struct HttpPage {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Replaces all of the above: the connection becomes an event stream.
  std::optional<link::StreamAcceptance> stream = std::nullopt;
};
/// Called from several threads at once; must not block.
using PageHandler = std::function<HttpPage(const PageRequest&)>;

/// A page to be served with GET.
struct Page {
  std::string path;  ///< one that ends with `/` serves what is below it; `/` itself only `/`
  PageHandler handler;

  [[nodiscard]] bool is_folder() const { return path.size() > 1 && path.back() == '/'; }
  /// Whether `asked` is the path of this page.
  [[nodiscard]] bool is_at(std::string_view asked) const {
    return is_folder() ? asked.starts_with(path) && asked.size() > path.size() : asked == path;
  }
};

}  // namespace league::transport::http
