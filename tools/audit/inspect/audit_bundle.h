#pragma once

#include <filesystem>
#include <iosfwd>

namespace league::tools {

/// `league audit bundle DIR OUT.tar.gz`: an archive of a league's logs and results to hand to
/// somebody else. In it are the conversation logs with their seals, the projections, `results.json`
/// in the journal's place, and `MANIFEST.json`, which says what it holds and what was left out:
/// keys, tokens, identities, the journal, operations logs. `league audit verify` works on it.
/// Returns 0, 1 if something secret stood in a log and was masked (the archive is written; the
/// manifest names the lines), 2 if nothing could be written.
int audit_bundle(const std::filesystem::path& directory, const std::filesystem::path& archive,
                 std::ostream& out, std::ostream& err);

}  // namespace league::tools
