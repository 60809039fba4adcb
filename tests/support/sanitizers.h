#pragma once

namespace league::testing {

// Whether this program was built with a sanitizer, which takes several times the time of the code
// itself. gcc defines a macro, clang has a feature.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kHasThreadSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kHasThreadSanitizer = __has_feature(thread_sanitizer);
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kHasAddressSanitizer = true;
#elif defined(__has_feature)
inline constexpr bool kHasAddressSanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif

inline constexpr bool kHasSanitizer = kHasThreadSanitizer || kHasAddressSanitizer;

}  // namespace league::testing
