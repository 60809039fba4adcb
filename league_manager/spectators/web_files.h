#pragma once

#include <span>
#include <string_view>

namespace league::league_manager::spectators {

/// A file of web/ as it was when the library was built.
struct EmbeddedFile {
  std::string_view name;  ///< `index.html`
  std::string_view text;
};

/// All of them, in no order. Written by cmake/embed_files.cmake.
[[nodiscard]] std::span<const EmbeddedFile> web_files();

}  // namespace league::league_manager::spectators
