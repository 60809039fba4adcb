#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "common/core/file_descriptor.h"
#include "common/core/result.h"
#include "tools/bench/bench_code.h"

namespace league::tools::bench {

/// Looks a thousand times a second which code each processor executes, outside the kernel, in
/// processes that this thread starts between start() and the destructor. Uses Linux's
/// perf_event_open. Not thread-safe.
class CodeSampler {
 public:
  /// Fails with kInternalError and the system's reason if the system does not permit it.
  [[nodiscard]] static core::Result<CodeSampler> start();
  CodeSampler(CodeSampler&&) noexcept = default;
  CodeSampler& operator=(CodeSampler&&) = delete;
  ~CodeSampler() = default;

  /// Takes in what was seen since the last call; must be called every few seconds, because the
  /// buffers are small.
  void collect();
  /// Forgets what was seen in `pid`.
  void restart(pid_t pid);
  /// What was seen in `pid`, which must be alive, since restart().
  [[nodiscard]] WorkCounts work_of(pid_t pid);

 private:
  /// The buffer of one processor, which the kernel fills.
  class Buffer {
   public:
    Buffer(core::FileDescriptor event, void* memory) : event_(std::move(event)), memory_(memory) {}
    Buffer(Buffer&& other) noexcept;
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer();

    template <typename Sample>
    void drain(Sample sample);

   private:
    core::FileDescriptor event_;
    void* memory_;
  };

  CodeSampler() = default;

  std::vector<Buffer> buffers_;
  std::map<pid_t, std::map<std::uint64_t, std::uint64_t>> seen_;
  CodeMap code_;
};

}  // namespace league::tools::bench
