# One INTERFACE target of ours per library. Each is looked for as a CMake package or with pkg-config. Third-party headers
# are SYSTEM, so that our warnings stay ours.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED)

function(league_dependency name)
  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE ${ARGN})
endfunction()

# Fails if `target` does not exist, and names the distribution's package that has it.
function(league_require target package)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "${package} is missing. Run scripts/setup, or install it.")
  endif()
endfunction()

# cpp-httplib: Debian ships a pkg-config file whose compile definitions are part of the library's ABI.
find_package(httplib QUIET CONFIG)
if(NOT TARGET httplib::httplib)
  pkg_check_modules(CPPHTTPLIB QUIET IMPORTED_TARGET cpp-httplib>=0.11)
endif()
if(TARGET httplib::httplib)
  league_dependency(league_dep_httplib httplib::httplib Threads::Threads)
else()
  league_require(PkgConfig::CPPHTTPLIB libcpp-httplib-dev)
  league_dependency(league_dep_httplib PkgConfig::CPPHTTPLIB OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
endif()

find_package(nlohmann_json 3.11 QUIET CONFIG)
league_require(nlohmann_json::nlohmann_json nlohmann-json3-dev)
league_dependency(league_dep_json nlohmann_json::nlohmann_json)

find_package(date QUIET CONFIG)
league_require(date::date libhowardhinnant-date-dev)
league_dependency(league_dep_date date::date)

# Headers of packages that scripts/setup unpacks here, since they ask for far more than headers.
list(APPEND CMAKE_PREFIX_PATH "${CMAKE_SOURCE_DIR}/build/packages/usr")

# valijson's package has no version file: asking for a version would fail. Its target has a namespace in later versions only.
find_package(valijson QUIET CONFIG)
if(TARGET ValiJSON::valijson)
  league_dependency(league_dep_valijson ValiJSON::valijson)
else()
  league_require(valijson libvalijson-dev)
  league_dependency(league_dep_valijson valijson)
endif()

# toml++: headers only, and only the reader of configuration files sees them.
find_package(tomlplusplus QUIET CONFIG)
league_require(tomlplusplus::tomlplusplus libtomlplusplus-dev)
league_dependency(league_dep_toml tomlplusplus::tomlplusplus)

# Boost.Asio and Boost.Beast: only common/transport sees them, and common/transport/link compiles them. SSL streams need OpenSSL.
find_package(Boost 1.81 REQUIRED)  # the first with cancellation slots for coroutines
league_dependency(league_dep_boost Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_compile_definitions(league_dep_boost INTERFACE BOOST_ASIO_NO_DEPRECATED BOOST_ERROR_CODE_HEADER_ONLY
                           BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION)

find_package(simdjson QUIET CONFIG)
league_require(simdjson::simdjson libsimdjson-dev)
league_dependency(league_dep_simdjson simdjson::simdjson)

find_package(CLI11 QUIET CONFIG)
league_require(CLI11::CLI11 libcli11-dev)
league_dependency(league_dep_cli11 CLI11::CLI11)

find_package(spdlog QUIET CONFIG)
league_require(spdlog::spdlog libspdlog-dev)
league_dependency(league_dep_spdlog spdlog::spdlog)

league_dependency(league_dep_openssl OpenSSL::Crypto)

# Unicode's tables, for people's names: only common/core/utf8.cpp sees them.
pkg_check_modules(UTF8PROC QUIET IMPORTED_TARGET libutf8proc>=2.2)
league_require(PkgConfig::UTF8PROC libutf8proc-dev)
league_dependency(league_dep_utf8proc PkgConfig::UTF8PROC)

# The journal's stream, packed, and closed segments of conversation logs.
find_package(ZLIB REQUIRED)
league_dependency(league_dep_zlib ZLIB::ZLIB)

# The programs' allocator. JSON documents are many small blocks, made on one thread and freed on another; glibc's malloc
# spends a sixth of a league on that. The sanitizers bring their own, and the programs run without one.
pkg_check_modules(JEMALLOC QUIET IMPORTED_TARGET jemalloc>=5)
if(LEAGUE_SANITIZER)
  league_dependency(league_dep_allocator)
elseif(TARGET PkgConfig::JEMALLOC)
  # Nothing in the programs names it, so without this the linker would leave it out.
  league_dependency(league_dep_allocator -Wl,--push-state,--no-as-needed PkgConfig::JEMALLOC -Wl,--pop-state)
else()
  message(STATUS "jemalloc (libjemalloc-dev) is missing: the programs take the C library's malloc, and are slower")
  league_dependency(league_dep_allocator)
endif()

# SQLiteCpp's package names the SQLite library without a path to it.
find_package(SQLite3 QUIET)
find_package(SQLiteCpp QUIET CONFIG)
league_require(SQLiteCpp libsqlitecpp-dev)
if(TARGET SQLite::SQLite3)
  league_dependency(league_dep_sqlite SQLiteCpp SQLite::SQLite3)
else()
  league_dependency(league_dep_sqlite SQLiteCpp)
endif()

if(LEAGUE_BUILD_TESTS)
  find_package(GTest QUIET CONFIG)
  league_require(GTest::gtest_main libgtest-dev)
  league_dependency(league_dep_gtest GTest::gtest_main GTest::gmock)
  find_package(rapidcheck QUIET CONFIG)
  league_require(rapidcheck librapidcheck-dev)
  league_dependency(league_dep_rapidcheck rapidcheck)
endif()
if(LEAGUE_BUILD_BENCHMARKS)
  find_package(benchmark QUIET CONFIG)
  league_require(benchmark::benchmark libbenchmark-dev)
  league_dependency(league_dep_benchmark benchmark::benchmark)
endif()
