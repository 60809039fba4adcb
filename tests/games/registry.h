#pragma once

#include "game/registry.h"

namespace league::testing {

/// The games of the product and those of the tests. Lives as long as the process.
[[nodiscard]] const game::Registry& games_with_tests();

}  // namespace league::testing
