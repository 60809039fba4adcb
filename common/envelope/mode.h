#pragma once

namespace league::envelope {

/// How deviations by bots in the wild are treated (protocol §9): `open` accepts them and notes each
/// by name, `strict` refuses them.
enum class Mode { kOpen, kStrict };

}  // namespace league::envelope
