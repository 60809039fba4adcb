#include "common/transport/client/url_reference.h"

#include <algorithm>
#include <string>

#include "common/core/text.h"

namespace league::transport::client {

namespace {

constexpr std::size_t kMaxReference = 2048;

core::Error refuse_reference(const link::Endpoint& base, std::string_view reference,
                             std::string_view why) {
  std::string shown(reference.substr(0, core::kShownLength));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return {
      core::ErrorCode::kEndpointNotAllowed,
      "the URL \"" + shown + "\" that " + base.url() + " named is not used: " + std::string(why),
      {}};
}

/// `http` or `https`, whatever the scheme of the transport.
std::string_view web_scheme(std::string_view scheme) {
  auto plus = scheme.find('+');
  return plus == std::string_view::npos ? scheme : scheme.substr(plus + 1);
}

/// RFC 3986 §5.2.4.
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    auto end = std::min(path.find('/', 1), path.size());
    auto segment = path.substr(0, end);
    path.remove_prefix(end);
    bool is_last = path.empty();
    if (segment == "/.." || segment == "/.") {
      if (segment == "/..") out.erase(std::min(out.rfind('/'), out.size()));
      if (is_last) out += '/';
    } else {
      out += segment;
    }
  }
  return out.empty() ? "/" : out;
}

std::string path_beside(const link::Endpoint& base, std::string_view reference) {
  std::string_view path = std::string_view(base.path).substr(0, base.path.find('?'));
  auto query = std::min(reference.find('?'), reference.size());
  std::string merged;
  if (query > 0 && reference[0] == '/') {
    merged = reference.substr(0, query);
  } else if (query > 0) {
    merged =
        std::string(path.substr(0, path.rfind('/') + 1)) + std::string(reference.substr(0, query));
  } else {
    merged = path;
  }
  return without_dots(merged) + std::string(reference.substr(query));
}

bool is_same_origin(const link::Endpoint& base, std::string_view scheme,
                    std::string_view authority) {
  std::string host = base.host.find(':') == std::string::npos ? base.host : "[" + base.host + "]";
  bool is_default = base.port == (web_scheme(base.scheme) == "https" ? 443 : 80);
  std::string named = core::lower_case(authority);
  return core::lower_case(scheme) == web_scheme(base.scheme) &&
         (named == base.authority() || (is_default && named == host));
}

}  // namespace

core::Result<link::Endpoint> resolve_reference(const link::Endpoint& base,
                                               std::string_view reference) {
  bool is_printable =
      std::all_of(reference.begin(), reference.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (reference.empty() || reference.size() > kMaxReference || !is_printable) {
    return refuse_reference(base, reference, "it must be 1 to 2048 characters of printable ASCII");
  }
  reference = reference.substr(0, reference.find('#'));
  std::string_view scheme = web_scheme(base.scheme);
  auto colon = reference.find(':');
  if (colon < reference.find_first_of("/?")) {
    scheme = reference.substr(0, colon);
    reference.remove_prefix(colon + 1);
    if (!reference.starts_with("//")) {
      return refuse_reference(base, reference, "its scheme is not http or https");
    }
  }
  link::Endpoint out = base;
  if (reference.starts_with("//")) {
    reference.remove_prefix(2);
    auto end = std::min(reference.find_first_of("/?"), reference.size());
    auto authority = reference.substr(0, end);
    if (!is_same_origin(base, scheme, authority)) {
      return refuse_reference(base, std::string(scheme) + "://" + std::string(authority),
                              "it leads to another origin");
    }
    reference.remove_prefix(end);
    out.path =
        reference.starts_with('/') ? path_beside(base, reference) : "/" + std::string(reference);
    return out;
  }
  out.path = path_beside(base, reference);
  return out;
}

}  // namespace league::transport::client
