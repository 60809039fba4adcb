#include "referee/files/match_files.h"

#include "common/agent/runtime/log.h"

namespace league::referee::files {

core::Result<std::unique_ptr<MatchFiles>> MatchFiles::open(
    std::filesystem::path data, agent::runtime::ProjectionWriter& writer) {
  std::error_code ignored;  // the draft reports the error
  std::filesystem::create_directories(data / "matches", ignored);
  auto draft = core::DraftFile::create(data / "matches" / "referee");
  if (!draft) return draft.error();
  return std::unique_ptr<MatchFiles>(new MatchFiles(std::move(data), writer));
}

void MatchFiles::publish(const std::shared_ptr<const MatchRecord>& record) {
  auto path = match_file(data_, record->head().league_id, record->head().match_id);
  if (!path)
    return agent::runtime::log::warn("a match file cannot be written: {}", path.error().message);
  writer_.update({.path = *path}, [record, file = *path](core::DraftFile& draft) {
    if (!has_later_attempt(file, record->head().attempt)) return draft.write(record->json());
    draft.discard();
    return core::Result<void>();
  });
}

}  // namespace league::referee::files
