#include "tools/audit/verify/verify_manifest.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/core/crypto.h"
#include "common/schema/parse_json.h"
#include "tools/audit/evidence/audit_text.h"
#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/evidence/verify_evidence.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMostTold = 200;

std::string shortened(const std::string& text) { return printable(text, kMostTold); }

class ManifestCheck {
 public:
  ManifestCheck(const fs::path& directory, const std::set<std::string>& without, Findings& findings)
      : directory_(directory),
        file_((directory / "MANIFEST.json").string()),
        without_(without),
        findings_(findings) {}

  std::vector<std::string> run() {
    std::error_code error;
    if (!fs::exists(file_, error)) return {};
    auto manifest = schema::parse_json(bytes_of(file_));
    if (!manifest || !manifest->is_object()) {
      findings_.faults.push_back({file_, 0, "bundle.differs", "it is not a JSON object"});
      return {};
    }
    if (manifest->contains("files")) check_files((*manifest)["files"]);
    std::vector<std::string> told;
    const json& left_out = field_at(*manifest, "left_out");
    if (!left_out.is_array()) return told;
    for (const json& entry : left_out) told.push_back(take_left_out(entry));
    return told;
  }

 private:
  /// What the caller can write after --without: the entry's own name, otherwise its agent's id,
  /// otherwise its text.
  [[nodiscard]] static std::string name_of(const json& entry) {
    if (const auto& name = text_at(entry, "name"); !name.empty()) return name;
    if (const auto& agent = text_at(entry, "agent"); !agent.empty()) return id_of(agent);
    return text_at(entry, "what");
  }

  [[nodiscard]] bool is_named(const json& entry) const {
    const std::string& what = text_at(entry, "what");
    if (without_.contains(name_of(entry)) || without_.contains(what)) return true;
    return std::ranges::any_of(without_, [&](const std::string& id) {
      const std::string path = id == "journal"          ? "data/journal"
                               : id == "league_manager" ? "logs/league"
                                                        : "logs/agents/" + id_of(id) + ".log.jsonl";
      return what.find(path) != std::string::npos;
    });
  }

  std::string take_left_out(const json& entry) {
    const std::string what = shortened(text_at(entry, "what"));
    const std::string name = shortened(name_of(entry));
    std::string text = (what.empty() ? name : what) + " (" + shortened(text_at(entry, "why")) + ")";
    if (!is_named(entry))
      findings_.missing.push_back({file_, 0, "bundle.left_out",
                                   "the bundle leaves out " + text +
                                       ". Ask whoever packed it for that, or use --without " +
                                       (name.empty() ? "its name" : name)});
    return text;
  }

  void check_files(const json& files) {
    std::map<std::string, std::string> listed;
    for (const json& one : files.is_array() ? files : json::array())
      listed[text_at(one, "path")] = text_at(one, "sha256");
    std::set<std::string> present;
    std::error_code error;
    for (fs::recursive_directory_iterator it(directory_, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file(error))
        present.insert(it->path().lexically_relative(directory_).string());
    }
    for (const std::string& path : present) {
      if (path == "MANIFEST.json") continue;
      auto known = listed.find(path);
      if (known == listed.end()) {
        miss(path, "the bundle's MANIFEST.json does not list this file");
      } else if (core::to_hex(core::sha256(bytes_of(directory_ / path))) != known->second) {
        findings_.faults.push_back(
            {(directory_ / path).string(), 0, "bundle.differs",
             "it is not the file that MANIFEST.json lists: its digest is another one"});
      }
    }
    for (const auto& [path, digest] : listed) {
      if (!present.contains(path)) miss(path, "MANIFEST.json lists it, but it is not there");
    }
  }

  void miss(const std::string& path, const std::string& text) {
    findings_.missing.push_back({(directory_ / shortened(path)).string(), 0, "bundle.file",
                                 text + ". Ask whoever packed the bundle for the whole of it"});
  }

  const fs::path& directory_;
  const std::string file_;
  const std::set<std::string>& without_;
  Findings& findings_;
};

}  // namespace

std::vector<std::string> check_manifest(const fs::path& directory,
                                        const std::set<std::string>& without, Findings& findings) {
  return ManifestCheck(directory, without, findings).run();
}

std::string verify_command(const std::string& directory, const std::vector<std::string>& names) {
  std::string command = "league audit verify " + directory;
  for (const std::string& name : names)
    command += (&name == names.data() ? " --without " : ",") + name;
  return command;
}

}  // namespace league::tools::auditor
