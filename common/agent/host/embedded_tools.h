#pragma once

#include "common/envelope/embedded_schemas.h"

namespace league::agent {

using envelope::EmbeddedFile;

/// The files of schemas/tools/, in no order. Written by cmake/embed_files.cmake.
[[nodiscard]] std::span<const EmbeddedFile> embedded_tools();

}  // namespace league::agent
