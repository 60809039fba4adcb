#pragma once

#include <span>
#include <string_view>

namespace league::envelope {

/// A file of schemas/ as it was when the library was built.
struct EmbeddedFile {
  std::string_view name;  ///< `game_invitation.schema.json`
  std::string_view text;
};

/// All of them, in no order. Written by cmake/embed_files.cmake.
[[nodiscard]] std::span<const EmbeddedFile> embedded_schemas();

}  // namespace league::envelope
