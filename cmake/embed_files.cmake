# league_embed_files(TARGET FUNCTION qualified::function HEADER header.h FILES ... [SCRIPT page.js MODULES ...]) makes the
# texts of FILES available to TARGET through the function that HEADER declares; they are embedded again whenever one of
# them changes. SCRIPT is the JavaScript modules MODULES in one classic script, which begins with app.js: browsers load
# no modules from a disk. The second half of this file is the script that the build runs.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(league_embed_files target)
    cmake_parse_arguments(ARG "" "FUNCTION;HEADER;SCRIPT" "FILES;MODULES" ${ARGN})
    set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
    list(JOIN ARG_FILES "|" files)
    list(JOIN ARG_MODULES "|" modules)
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${ARG_FUNCTION} -DHEADER=${ARG_HEADER} "-DFILES=${files}"
              -DSCRIPT=${ARG_SCRIPT} "-DMODULES=${modules}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
      DEPENDS ${ARG_FILES} ${ARG_MODULES} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
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
string(REPLACE "|" ";" MODULES "${MODULES}")

# Each module becomes a function that returns what it exports and runs when it is first imported.
if(SCRIPT)
  set(script "// The page of a league: the modules of web/ in one script.\n(() => {\n'use strict';\nconst made = {};
const use = (name) => (made[name] ??= modules[name]());\nconst modules = {\n")
  foreach(file IN LISTS MODULES)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(REGEX MATCHALL "\nexport (async function|function|const|class) [A-Za-z0-9_]+" exports "\n${text}")
    list(TRANSFORM exports REPLACE "^.* " "")
    list(JOIN exports ", " exports)
    string(REGEX REPLACE "(^|\n)import ({[^}]*}) from './([a-z_]+\\.js)';" "\\1const \\2 = use('\\3');" text "${text}")
    string(REGEX REPLACE "(^|\n)export (async function|function|const|class) " "\\1\\2 " text "${text}")
    if("\n${text}" MATCHES "\n(import|export)[ {*]")
      message(FATAL_ERROR "${file}: only \"import {...} from './name.js';\" and exports of declarations can be embedded")
    endif()
    string(APPEND script "'${name}': () => {\n${text}return {${exports}};\n},\n")
  endforeach()
  get_filename_component(directory ${OUTPUT} DIRECTORY)
  file(WRITE ${directory}/${SCRIPT} "${script}};\nuse('app.js');\n})();\n")
  list(APPEND FILES ${directory}/${SCRIPT})
endif()

set(rows "")
list(LENGTH FILES count)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} text)
  string(APPEND rows "    EmbeddedFile{\"${name}\", R\"EMBEDDED(${text})EMBEDDED\"},\n")
endforeach()
string(REGEX REPLACE "::[^:]*$" "" namespace ${FUNCTION})
string(REGEX REPLACE "^.*::" "" function ${FUNCTION})
# The standard asks of compilers only 65,536 characters in a literal; gcc and clang take any number.
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\n#include <array>\n\n#ifdef __clang__
#pragma clang diagnostic ignored \"-Woverlength-strings\"\n#endif\n\nnamespace ${namespace} {\n\nstatic constexpr std::array<EmbeddedFile, ${count}> kFiles{\n${rows}};\n
std::span<const EmbeddedFile> ${function}() { return kFiles; }\n\n}  // namespace ${namespace}\n")
