#pragma once

namespace league::agent::host {

/// Whether a program may draw at the descriptor: it is a terminal, and TERM does not say that the
/// terminal can only print lines.
[[nodiscard]] bool may_draw(int fd);
/// Whether a program may also use colours there, which NO_COLOR forbids (https://no-color.org).
[[nodiscard]] bool may_colour(int fd);

}  // namespace league::agent::host
