#include "tools/audit/inspect/audit_commands.h"

#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <vector>

#include "common/audit/log/log_archive.h"
#include "common/audit/log/packed_log.h"
#include "common/core/clock.h"
#include "common/core/crypto.h"
#include "tools/audit/facts/journal.h"
#include "tools/audit/inspect/audit_text.h"
#include "tools/audit/inspect/bundle_redactor.h"
#include "tools/audit/rules/bundle.h"

extern char** environ;  // NOLINT(readability-identifier-naming): the system's name

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
using core::Result;
using nlohmann::ordered_json;

core::Error bundle_error(const std::string& text) {
  return {core::ErrorCode::kInternalError, text, {}};
}

const std::vector<LeftOut>& left_out() {
  static const std::vector<LeftOut> kList = {
      {"keys", "data/agents/, data/**/*.key", "tokens and private keys"},
      {"journal", "data/journal/",
       "it holds nonces and the seeds of matches that are not over; data/results.json has its "
       "results and the other seeds"},
      {"operations", "logs/**/*.stderr.log", "operations logs are about the machine"},
      {"others", "links, and all files of other kinds", "nobody knows what is in them"}};
  return kList;
}

std::vector<std::string> names_left_out() {
  std::vector<std::string> names;
  for (const LeftOut& one : left_out()) names.push_back(one.name);
  return names;
}

/// A temporary directory next to the archive, removed by the destructor.
class StagingDirectory {
 public:
  explicit StagingDirectory(const fs::path& archive) : root_(archive.string() + ".partial") {
    fs::remove_all(root_, error_);
    fs::create_directories(bundle(), error_);
  }
  ~StagingDirectory() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  StagingDirectory(const StagingDirectory&) = delete;
  StagingDirectory& operator=(const StagingDirectory&) = delete;

  [[nodiscard]] bool is_ready() const { return !error_; }
  [[nodiscard]] const fs::path& root() const { return root_; }
  [[nodiscard]] fs::path bundle() const { return root_ / "league-bundle"; }

 private:
  fs::path root_;
  std::error_code error_;
};

class Bundle {
 public:
  Bundle(fs::path from, fs::path to, const BundleRedactor& redactor)
      : from_(std::move(from)), to_(std::move(to)), redactor_(redactor) {}

  /// Seals are copied first, so that a log that grows meanwhile reaches at least as far as its
  /// seal.
  Result<void> add_logs() {
    for (const char* ending : {".seal.json", ".jsonl", ".jsonl.gz"}) {
      if (auto added = add_all("logs", {ending}); !added) return added;
    }
    return {};
  }

  Result<void> add_projections() {
    for (const char* folder : {"data/leagues", "data/matches", "data/players"}) {
      if (auto added = add_all(folder, {".json", ".csv", ".html"}); !added) return added;
    }
    return {};
  }

  Result<void> add_results() {
    auto kept = read_kept_league(from_ / "data");
    if (!kept) return kept.error();
    if (!*kept) return {};
    return write("data/results.json", results_json(**kept).dump(1) + "\n");
  }

  Result<void> add_manifest(core::UtcTimestamp now) {
    const std::string manifest = schema::object_to_text([&](schema::Fields& a) {
      a.required("format", std::string_view("league.bundle"), "version", 1, "created", now, "files",
                 files_, "redacted_lines", redacted_, "left_out", left_out());
    });
    return write("MANIFEST.json", ordered_json::parse(manifest).dump(1) + "\n");
  }

  [[nodiscard]] std::size_t files() const { return files_.size(); }
  [[nodiscard]] const std::vector<MaskedLine>& redacted_lines() const { return redacted_; }

 private:
  Result<void> add_all(const fs::path& folder, const std::vector<std::string>& endings) {
    std::error_code error;
    std::vector<fs::path> found;
    fs::recursive_directory_iterator end;
    for (fs::recursive_directory_iterator it(from_ / folder, error); !error && it != end;
         it.increment(error)) {
      // A bundle contains only one league, so archived ones are skipped.
      if (audit::log::is_archive(*it, from_ / folder)) it.disable_recursion_pending();
      std::string name = it->path().filename().string();
      bool is_wanted = std::ranges::any_of(
          endings, [&](const std::string& ending) { return name.ends_with(ending); });
      if (is_wanted && it->symlink_status().type() == fs::file_type::regular)
        found.push_back(it->path().lexically_relative(from_));
    }
    std::ranges::sort(found);
    for (const fs::path& file : found) {
      if (auto copied = copy(file); !copied) return copied;
    }
    return {};
  }

  /// Copies one file, which fits into memory since it is at most one segment of a log. A compressed
  /// segment is stored uncompressed, because the bundle itself is compressed.
  Result<void> copy(const fs::path& name) {
    const fs::path plain = name.extension() == ".gz" ? fs::path(name).replace_extension() : name;
    if (plain != name && fs::exists(to_ / plain)) return {};
    std::istringstream unpacked;
    std::ifstream file;
    const bool is_packed = audit::log::present_path(from_ / plain) != from_ / plain;
    if (is_packed) {
      auto read = audit::log::read_log_file(from_ / plain);
      if (!read) return bundle_error((from_ / name).string() + " cannot be read, or is damaged");
      unpacked.str(std::move(*read));
    } else {
      file.open(from_ / plain, std::ios::binary);
    }
    std::istream& in = is_packed ? static_cast<std::istream&>(unpacked) : file;
    if (!in) return bundle_error((from_ / name).string() + " cannot be read");
    std::string content;
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
      ++number;
      if (!in.eof()) line += '\n';
      std::string clean = redactor_.redacted(line);
      if (clean != line) redacted_.push_back({plain.string(), number});
      content += clean;
    }
    return write(plain, content);
  }

  Result<void> write(const fs::path& name, const std::string& content) {
    fs::create_directories((to_ / name).parent_path());
    std::ofstream out(to_ / name, std::ios::binary);
    out << content;
    out.close();
    if (!out) return bundle_error((to_ / name).string() + " cannot be written");
    files_.push_back({name.string(), content.size(), core::to_hex(core::sha256(content))});
    return {};
  }

  fs::path from_;
  fs::path to_;
  const BundleRedactor& redactor_;
  std::vector<ListedFile> files_;
  std::vector<MaskedLine> redacted_;
};

/// Packs with the system's tar, without the names of the operator and of the machine's directories.
Result<void> pack(const fs::path& root, const fs::path& archive) {
  bool zip = archive.extension() == ".gz" || archive.extension() == ".tgz";
  std::vector<std::string> words{
      "tar",         "--owner=0",          "--group=0",      "--numeric-owner",
      "--mode=a+r",  zip ? "-czf" : "-cf", archive.string(), "-C",
      root.string(), "league-bundle"};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (::posix_spawnp(&child, "tar", nullptr, nullptr, arguments.data(), environ) != 0)
    return bundle_error("the program tar cannot be started; install it");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return bundle_error("tar could not write " + archive.string());
  return {};
}

Result<void> fill(Bundle& bundle, const fs::path& root, const fs::path& archive) {
  if (auto added = bundle.add_logs(); !added) return added;
  if (bundle.files() == 0) return bundle_error("there are no conversation logs to pack");
  if (auto added = bundle.add_projections(); !added) return added;
  if (auto added = bundle.add_results(); !added) return added;
  if (auto added = bundle.add_manifest(core::SystemClock().utc_now()); !added) return added;
  fs::path unfinished = root / "archive";
  unfinished += archive.extension();
  if (auto packed = pack(root, unfinished); !packed) return packed;
  std::error_code error;
  fs::rename(unfinished, archive, error);
  if (error) return bundle_error(archive.string() + " cannot be written: " + error.message());
  return {};
}

}  // namespace

int audit_bundle(const fs::path& directory, const fs::path& archive, std::ostream& out,
                 std::ostream& err) {
  if (fs::exists(archive)) {
    err << archive.string() << " already exists; choose another name\n";
    return 2;
  }
  auto redactor = BundleRedactor::for_data(directory / "data");
  if (!redactor) {
    err << redactor.error().message << '\n';
    return 2;
  }
  StagingDirectory staging(archive);
  if (!staging.is_ready()) {
    err << staging.root().string() << " cannot be created\n";
    return 2;
  }
  Bundle bundle(directory, staging.bundle(), *redactor);
  if (auto filled = fill(bundle, staging.root(), archive); !filled) {
    err << filled.error().message << '\n';
    return 2;
  }
  out << archive.string() << ": " << bundle.files() << " files; its MANIFEST.json lists them "
      << "and what was left out. To verify it, unpack it and say that you know what is left out:\n "
         " "
      << verify_command("league-bundle", names_left_out()) << '\n';
  const auto& redacted = bundle.redacted_lines();
  if (redacted.empty()) return 0;
  err << redacted.size() << (redacted.size() == 1 ? " line" : " lines")
      << " contained secrets; these are now masked, so the hashes of such lines can no longer be "
      << "checked. The first: " << redacted[0].file << ':' << redacted[0].line
      << "; MANIFEST.json lists all of them\n";
  return 1;
}

}  // namespace league::tools::auditor
