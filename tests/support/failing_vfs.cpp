#include "tests/support/failing_vfs.h"

#include <sqlite3.h>

#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace league::testing {
namespace {

/// SQLite's view of an open file; the system's own object stands right behind it.
struct OpenFile {
  sqlite3_file base;
  sqlite3_io_methods methods;
  FailingVfs* owner;
  bool is_log;

  [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

OpenFile* opened(sqlite3_file* file) { return reinterpret_cast<OpenFile*>(file); }

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  OpenFile* open = opened(file);
  auto* real = open->real();
  if (open->is_log && open->owner->takes(FailingVfs::Fault::kDiskFull)) return SQLITE_FULL;
  if (open->is_log && open->owner->takes(FailingVfs::Fault::kTornWrite)) {
    (void)real->pMethods->xWrite(real, bytes, size / 2, offset);
    return SQLITE_IOERR_WRITE;
  }
  return real->pMethods->xWrite(real, bytes, size, offset);
}

int sync(sqlite3_file* file, int flags) {
  OpenFile* open = opened(file);
  if (open->is_log) open->owner->count_sync();
  if (open->is_log && open->owner->takes(FailingVfs::Fault::kSyncError)) return SQLITE_IOERR_FSYNC;
  return open->real()->pMethods->xSync(open->real(), flags);
}

/// Passes everything else on to the real file.
template <auto Member, typename... Arguments>
int pass(sqlite3_file* file, Arguments... arguments) {
  auto* real = opened(file)->real();
  return (real->pMethods->*Member)(real, arguments...);
}

template <auto Member, typename... Arguments>
void pass_nothing(sqlite3_file* file, Arguments... arguments) {
  auto* real = opened(file)->real();
  (real->pMethods->*Member)(real, arguments...);
}

sqlite3_io_methods methods_over(const sqlite3_io_methods& real) {
  sqlite3_io_methods all{};
  all.iVersion = real.iVersion < 2 ? real.iVersion : 2;
  all.xClose = pass<&sqlite3_io_methods::xClose>;
  all.xRead = pass<&sqlite3_io_methods::xRead, void*, int, sqlite3_int64>;
  all.xWrite = write;
  all.xTruncate = pass<&sqlite3_io_methods::xTruncate, sqlite3_int64>;
  all.xSync = sync;
  all.xFileSize = pass<&sqlite3_io_methods::xFileSize, sqlite3_int64*>;
  all.xLock = pass<&sqlite3_io_methods::xLock, int>;
  all.xUnlock = pass<&sqlite3_io_methods::xUnlock, int>;
  all.xCheckReservedLock = pass<&sqlite3_io_methods::xCheckReservedLock, int*>;
  all.xFileControl = pass<&sqlite3_io_methods::xFileControl, int, void*>;
  all.xSectorSize = pass<&sqlite3_io_methods::xSectorSize>;
  all.xDeviceCharacteristics = pass<&sqlite3_io_methods::xDeviceCharacteristics>;
  all.xShmMap = pass<&sqlite3_io_methods::xShmMap, int, int, int, void volatile**>;
  all.xShmLock = pass<&sqlite3_io_methods::xShmLock, int, int, int>;
  all.xShmBarrier = pass_nothing<&sqlite3_io_methods::xShmBarrier>;
  all.xShmUnmap = pass<&sqlite3_io_methods::xShmUnmap, int>;
  return all;
}

}  // namespace

struct FailingVfs::Registration {
  sqlite3_vfs vfs;
  sqlite3_vfs* real;
  FailingVfs* owner;

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* self = static_cast<Registration*>(vfs->pAppData);
    auto* open = opened(file);
    open->base.pMethods = nullptr;
    int code = self->real->xOpen(self->real, name, open->real(), flags, out);
    if (code != SQLITE_OK) return code;
    open->owner = self->owner;
    open->is_log = name != nullptr && std::string_view(name).ends_with("-wal");
    open->methods = methods_over(*open->real()->pMethods);
    open->base.pMethods = &open->methods;
    return code;
  }
};

FailingVfs::FailingVfs(std::string name)
    : name_(std::move(name)), registration_(new Registration{}) {
  auto* real = sqlite3_vfs_find(nullptr);
  registration_->real = real;
  registration_->owner = this;
  // All but `open` works on paths and does not look at its first argument.
  registration_->vfs = *real;
  registration_->vfs.pNext = nullptr;
  registration_->vfs.zName = name_.c_str();
  registration_->vfs.pAppData = registration_;
  registration_->vfs.szOsFile = static_cast<int>(sizeof(OpenFile)) + real->szOsFile;
  registration_->vfs.xOpen = Registration::open;
  if (sqlite3_vfs_register(&registration_->vfs, 0) != SQLITE_OK)
    throw std::runtime_error("SQLite does not take the file layer " + name_);
}

FailingVfs::~FailingVfs() {
  sqlite3_vfs_unregister(&registration_->vfs);
  delete registration_;
}

void FailingVfs::fail(Fault fault, int after) {
  remaining_ = after;
  fault_ = fault;
}

bool FailingVfs::takes(Fault fault) { return fault_ == fault && remaining_-- <= 0; }

}  // namespace league::testing
