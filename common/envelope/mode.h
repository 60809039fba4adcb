#pragma once

namespace league::envelope {

/// How deviations of bots in the wild are met (protocol §9): `open` accepts them and notes each by
/// name, `strict` refuses them.
enum class Mode { kOpen, kStrict };

}  // namespace league::envelope
