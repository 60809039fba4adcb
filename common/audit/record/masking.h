#pragma once

#include <string>
#include <string_view>

namespace league::audit::record {

/// True for the name of a field whose value is a credential: ignoring case, `_` and `-`, the name
/// contains one of the words of the table in masking.cpp (`token`, `credential`, `operatorkey`,
/// `drawseed`, ...). False for the hash of a token (`player_A_token_hash`), and for
/// `contact_email`, which is not a credential either but is masked all the same.
[[nodiscard]] bool is_secret_key(std::string_view key);

/// Appends `raw` to `out` with every credential cut to its first 8 characters and `...` (half of a
/// short one is kept, and nothing of registration codes and e-mail addresses). Works on bytes, so
/// `raw` need not be valid JSON. It finds
///  * the values of secret keys, in JSON, in JSON inside JSON strings at any depth
///    (`\"auth_token\":\"...\"`, `\u0022...`), with escaped characters in the key, in Python's
///    notation and as `key=value`;
///  * everything that looks like a token of this project (`tok_...`), anywhere.
/// Linear in the length of `raw`. Thread-safe. Source: protocol §8, `docs/audit.md`.
void append_masked(std::string_view raw, std::string& out);

/// The same as a new text.
[[nodiscard]] std::string mask_secrets(std::string_view raw);

/// The same for a text in which secrets should already be masked: cut values stay as they are.
[[nodiscard]] std::string mask_again(std::string_view masked);

}  // namespace league::audit::record
