# league_embed_files(TARGET FUNCTION qualified::function HEADER header.h FILES ...) makes the texts of FILES available to
# TARGET through the function that HEADER declares; they are embedded again whenever one of them changes. The second half
# of this file is the script that the build runs.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(league_embed_files target)
    cmake_parse_arguments(ARG "" "FUNCTION;HEADER" "FILES" ${ARGN})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
    list(JOIN ARG_FILES "|" joined)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${ARG_FUNCTION} -DHEADER=${ARG_HEADER} "-DFILES=${joined}"
              -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
      DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
      COMMENT "Embedding files into ${target}"
      VERBATIM)
    # A library of its own, since long texts are quickly compiled without the headers that other sources share.
    add_library(${target}_embedded STATIC ${output})
    target_link_libraries(${target}_embedded PRIVATE league_options)
    target_link_libraries(${${target}_COMPILED} PUBLIC ${target}_embedded)
  endfunction()
  return()
endif()

string(REPLACE "|" ";" FILES "${FILES}")
set(rows "")
list(LENGTH FILES count)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    EmbeddedFile{\"${name}\", R\"EMBEDDED(${text})EMBEDDED\"},\n")
endforeach()
string(REGEX REPLACE "::[^:]*$" "" namespace ${FUNCTION})
string(REGEX REPLACE "^.*::" "" function ${FUNCTION})
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\n#include <array>\n\nnamespace ${namespace} {\n\nstatic constexpr std::array<EmbeddedFile, ${count}> kFiles{\n${rows}};\n
std::span<const EmbeddedFile> ${function}() { return kFiles; }\n\n}  // namespace ${namespace}\n")
