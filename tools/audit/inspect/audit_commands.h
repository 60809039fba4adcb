#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "common/audit/log/conversation.h"

namespace league::tools::auditor {

/// How the audit commands print.
struct AuditOutput {
  bool json = false;  ///< one object for machines instead of the text
  bool colour = false;  ///< only for a terminal
};

/// Prints on `err` what could not be read of the logs in `directory`; false if there are none.
[[nodiscard]] bool has_logs(const audit::log::LogSearch& search,
                            const std::filesystem::path& directory, std::ostream& err);

/// `league audit show DIR CONVERSATION_ID`: the conversation from the logs of all roles, in order.
/// Returns 0, 1 if there is no such conversation, 2 if DIR holds no logs. The result goes to `out`,
/// everything else to `err`.
int audit_show(const std::filesystem::path& directory, const std::string& conversation_id,
               AuditOutput options, std::ostream& out, std::ostream& err);

/// `league audit log DIR AGENT`: the messages to a player or referee, its answers and what was
/// wrong with them, from the logs of the others, since third-party agents keep no conversation log.
/// `who` is an id (`P01`, `REF01`), a sender or a display name. Returns 0 if nothing was wrong, 1
/// if something was or it appears in no log, 2 if DIR holds no logs.
int audit_log(const std::filesystem::path& directory, const std::string& who, AuditOutput options,
              std::ostream& out, std::ostream& err);

/// The records to find; an empty member matches everything.
struct FindQuery {
  std::string player = {};  ///< or referee: `P01`, `REF01`, on either side
  std::string type = {};  ///< `CHOOSE_PARITY_CALL`
  std::string error = {};  ///< `E004`; `any`: everything that was refused or failed
  std::string match = {};  ///< `R1M1`
  std::string since =
      {};  ///< timestamps as the log has them, or their beginnings: `2025-01-15T10:30`
  std::string until = {};
  bool hearsay = false;  ///< also what somebody else sent in the name of `player`
};

/// `league audit find`: one line per record that matches, in the order of time. Returns 0, 1 if
/// there is none, 2 if a time has another format or DIR contains no logs.
int audit_find(const std::filesystem::path& directory, const FindQuery& query, AuditOutput options,
               std::ostream& out, std::ostream& err);

struct ExplainOptions {
  AuditOutput output = {};
  std::filesystem::path html = {};  ///< a file to write the page to; empty: text on `out`
};

/// `league audit explain DIR MATCH|CONVERSATION`: a sequence diagram of the messages from the logs
/// of all roles, with both clocks, and then conclusions: the result and whose fault a technical
/// loss was, repeated calls, leniencies, messages of which only one side has a record, and the
/// differences between the clocks. A match that was assigned several times has several
/// conversations; one that the manager ended without a referee has none. Returns 0, 1 if there is
/// no such match or conversation, 2 if DIR holds no logs or the file cannot be written.
int audit_explain(const std::filesystem::path& directory, const std::string& what,
                  const ExplainOptions& options, std::ostream& out, std::ostream& err);

/// `league audit bundle DIR OUT.tar.gz`: an archive of a league's logs and results to share with
/// others. It contains the conversation logs with their seals, the projections, `results.json`
/// instead of the journal, and `MANIFEST.json`, which lists the content and what was left out:
/// keys, tokens, identities, the journal, operations logs. `league audit verify` works on it.
/// Returns 0, 1 if a log contained a secret, which was masked (the archive is written; the manifest
/// names the lines), 2 if nothing could be written.
int audit_bundle(const std::filesystem::path& directory, const std::filesystem::path& archive,
                 std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
