#include "bus/standby/replication_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "bus/standby/json_digest.h"
#include "common/core/private_file.h"

namespace league::league_manager::stream {
namespace {

using nlohmann::json;

/// The number of a directory, which a copy does not have.
std::uint64_t number_of(const std::filesystem::path& directory) {
  struct stat found {};
  return ::stat(directory.c_str(), &found) == 0 ? found.st_ino : 0;
}

std::string new_name(core::RandomSource& random) {
  std::array<char, 64> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  return std::string(host.data()) + "-" + core::to_hex(random.bytes<2>());
}

Knowledge knowledge_of(const json& in) {
  Knowledge read;
  in.at("stream").get_to(read.incarnation);
  in.at("term").get_to(read.term);
  in.at("leader").get_to(read.leader);
  in.at("acknowledged").get_to(read.acknowledged.sequence);
  read.acknowledged.digest = digest_of(in.at("digest"));
  in.at("kept").get_to(read.kept);
  in.at("members").get_to(read.members);
  return read;
}

}  // namespace

core::Result<ReplicationFile> ReplicationFile::open(std::filesystem::path file,
                                                    core::RandomSource& random) {
  ReplicationFile opened;
  opened.file_ = std::move(file);
  opened.name_ = new_name(random);
  auto text = core::read_private_file(opened.file_, std::size_t{1} << 20);
  if (!text) return text.error();
  if (!*text) return opened;
  try {
    const json in = json::parse(**text);
    opened.knowledge_ = knowledge_of(in);
    if (in.at("directory") == number_of(opened.file_.parent_path())) {
      in.at("name").get_to(opened.name_);
    } else {  // the original may have more than its copy
      opened.knowledge_.members.push_back(in.at("name").get<std::string>());
      std::ranges::sort(opened.knowledge_.members);
    }
  } catch (const std::exception& problem) {
    return core::Error{core::ErrorCode::kInternalError,
                       opened.file_.string() + " is damaged (" + problem.what() +
                           "): move it away, and what this manager knew of the others is read "
                           "from their stream",
                       ""};
  }
  return opened;
}

core::Result<void> ReplicationFile::write(const Knowledge& knowledge) const {
  const json out = {{"name", name_},
                    {"directory", number_of(file_.parent_path())},
                    {"stream", knowledge.incarnation},
                    {"term", knowledge.term},
                    {"leader", knowledge.leader},
                    {"acknowledged", knowledge.acknowledged.sequence},
                    {"digest", core::to_hex(knowledge.acknowledged.digest)},
                    {"kept", knowledge.kept},
                    {"members", knowledge.members}};
  return core::write_private_file(file_, out.dump(2) + "\n");
}

}  // namespace league::league_manager::stream
