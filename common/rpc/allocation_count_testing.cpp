#include "common/rpc/allocation_count_testing.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> count{0};
}  // namespace

// In a file of its own: inlined into a test, the compiler takes new and delete for a mismatched
// pair.
void* operator new(std::size_t size) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace league::testing {

std::size_t allocation_count() { return count.load(std::memory_order_relaxed); }

}  // namespace league::testing
