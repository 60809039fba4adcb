#pragma once

#include <filesystem>
#include <iosfwd>

namespace league::tools::auditor {

/// `league audit bundle DIR OUT.tar.gz`: an archive of a league's logs and results to share with
/// others. It contains the conversation logs with their seals, the projections, `results.json`
/// instead of the journal, and `MANIFEST.json`, which lists the content and what was left out:
/// keys, tokens, identities, the journal, operations logs. `league audit verify` works on it.
/// Returns 0, 1 if a log contained a secret, which was masked (the archive is written; the manifest
/// names the lines), 2 if nothing could be written.
int audit_bundle(const std::filesystem::path& directory, const std::filesystem::path& archive,
                 std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
