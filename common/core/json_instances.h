#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

// Explicit instantiations of the parts of nlohmann::json that most sources need, compiled in
// json_instances.cpp instead of in each source. This saves a fifth of the compile time of a source
// that reads or writes JSON. Included only by the precompiled headers, so nothing depends on it.
NLOHMANN_JSON_NAMESPACE_BEGIN

extern template class basic_json<>;

namespace detail {

using MemoryInput = iterator_input_adapter<const char*>;
using TextInput = iterator_input_adapter<std::string::const_iterator>;
extern template class lexer<basic_json<>, MemoryInput>;
extern template class lexer<basic_json<>, TextInput>;
extern template class lexer<basic_json<>, input_stream_adapter>;
extern template class parser<basic_json<>, MemoryInput>;
extern template class parser<basic_json<>, TextInput>;
extern template class parser<basic_json<>, input_stream_adapter>;
extern template class json_sax_dom_parser<basic_json<>>;
extern template class json_sax_dom_callback_parser<basic_json<>>;
extern template class serializer<basic_json<>>;

}  // namespace detail
NLOHMANN_JSON_NAMESPACE_END
