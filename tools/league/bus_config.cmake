# `league bus-config`: a broker's configuration. Passwords are stored as bcrypt hashes where crypt(3) makes them.
league_library(league_tools_bus_config
  SOURCES bus_config.cpp bus_config_files.cpp bus_config_permissions.cpp bus_config_roster.cpp
          bus_config_users.cpp
  DEPS league_core league_transport
  PRIVATE_DEPS league_dep_json)
find_library(LEAGUE_CRYPT_LIBRARY crypt)
find_path(LEAGUE_CRYPT_HEADERS crypt.h)
if(LEAGUE_CRYPT_LIBRARY AND LEAGUE_CRYPT_HEADERS)
  target_link_libraries(league_tools_bus_config PRIVATE ${LEAGUE_CRYPT_LIBRARY})
  target_compile_definitions(league_tools_bus_config PRIVATE LEAGUE_HAS_CRYPT)
endif()
league_test(league_bus_config_test
  SOURCES bus_config_test.cpp
  DEPS league_tools_bus_config league_dep_json)
