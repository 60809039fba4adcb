#include "tests/conformance_server/fixture.h"

namespace league::testing {

void add_fixture(const FixtureParts& parts) {
  add_tools(parts);
  add_streaming_tools(parts);
  add_input_required(parts);
  add_resources(parts);
  add_prompts(parts);
}

}  // namespace league::testing
