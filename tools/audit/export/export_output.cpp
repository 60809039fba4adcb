#include "tools/audit/export/export_output.h"

#include <fstream>
#include <system_error>

#include "common/rpc/json_text.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHead = 64UL * 1024;
constexpr const char* kDraftSuffix = ".export";

core::Error output_error(const fs::path& path, const std::string& why) {
  return {core::ErrorCode::kInternalError, path.string() + " " + why, ""};
}

core::Result<void> check(const OutputFile& file, const OutputOptions& options) {
  std::error_code failed;
  auto status = fs::symlink_status(file.path, failed);
  if (status.type() == fs::file_type::not_found) return {};
  if (status.type() != fs::file_type::regular) {
    return output_error(file.path,
                        "already exists and is not a file: move it away, or choose another --out");
  }
  if (options.may_overwrite) return {};
  // An empty file contains nothing that could be lost.
  if (fs::file_size(file.path, failed) == 0 || file.is_ours(file.path)) return {};
  return output_error(file.path,
                      "already exists and does not come from a league with this name: move it "
                      "away, choose another --out, or add --force to overwrite it");
}

}  // namespace

core::Result<void> write_output(const std::vector<OutputFile>& files,
                                const OutputOptions& options) {
  for (const auto& file : files) {
    if (auto free = check(file, options); !free) return free;
  }
  for (const auto& file : files) {
    std::error_code failed;  // the draft reports the error
    fs::create_directories(file.path.parent_path(), failed);
    auto draft = core::DraftFile::create(file.path, {.suffix = kDraftSuffix});
    if (!draft) return draft.error();
    if (auto written = file.write(*draft); !written) return written;
    if (auto done = draft->commit(core::Flush::kLater); !done) return done;
  }
  return {};
}

std::function<core::Result<void>(core::DraftFile&)> text_of(std::string text) {
  return [text = std::move(text)](core::DraftFile& draft) { return draft.write(text); };
}

std::string head_of_file(const fs::path& file) {
  std::string head(kHead, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  return head;
}

bool is_file_of_league(const fs::path& file, std::string_view league_id) {
  // This is only the beginning of the file, so it cannot be parsed. Its formatting may vary, so
  // blanks are ignored.
  std::string plain = head_of_file(file);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '\n'; });
  std::string member = "\"league_id\":";
  rpc::append_json_string(member, league_id);
  return plain.starts_with('{') && plain.find("\"schema_version\":\"") != std::string::npos &&
         plain.find(member) != std::string::npos;
}

}  // namespace league::tools::auditor
