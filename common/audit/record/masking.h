#pragma once

#include <string>
#include <string_view>

namespace league::audit::record {

/// True for the name of a field whose value is a credential: it contains, whatever the case and
/// without `_` and `-`, one of the words of the table in masking.cpp (`token`, `credential`,
/// `operatorkey`, `drawseed`, ...). The hash of a token (`player_A_token_hash`) is none, and
/// `contact_email`, which is masked all the same, is none either.
[[nodiscard]] bool is_secret_key(std::string_view key);

/// Appends `raw` to `out` with every credential cut to its first 8 characters and `...` (of a short
/// one half is kept, of registration codes and e-mail addresses nothing). Works on bytes, so it
/// needs no valid JSON. Found are
///  * the values of secret keys, in JSON, in JSON inside JSON strings at any depth
///  (`\"auth_token\":\"...\"`,
///    `\u0022...`), with escaped characters in the key, in Python's notation and as `key=value`;
///  * everything that looks like a token of this project (`tok_...`), at any place.
/// Linear in the length of `raw`. Thread-safe. Source: protocol §8, `docs/audit.md`.
void append_masked(std::string_view raw, std::string& out);

/// The same as a new text.
[[nodiscard]] std::string mask_secrets(std::string_view raw);

/// The same for a text in which secrets should already be masked: cut values stay as they are.
[[nodiscard]] std::string mask_again(std::string_view masked);

}  // namespace league::audit::record
