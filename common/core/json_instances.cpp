#include "common/core/json_instances.h"

NLOHMANN_JSON_NAMESPACE_BEGIN

template class basic_json<>;

namespace detail {

template class lexer<basic_json<>, MemoryInput>;
template class lexer<basic_json<>, TextInput>;
template class lexer<basic_json<>, input_stream_adapter>;
template class parser<basic_json<>, MemoryInput>;
template class parser<basic_json<>, TextInput>;
template class parser<basic_json<>, input_stream_adapter>;
template class json_sax_dom_parser<basic_json<>>;
template class json_sax_dom_callback_parser<basic_json<>>;
template class serializer<basic_json<>>;

}  // namespace detail
NLOHMANN_JSON_NAMESPACE_END
