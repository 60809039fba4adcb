# `league gateway` and `league call`: what speaks MCP as a client, for people and for other clients.
league_library(league_tools_gateway
  SOURCES bus_link.cpp event_durable_reader.cpp event_feed_reader.cpp event_line.cpp gateway.cpp gateway_credential.cpp gateway_headers.cpp gateway_link.cpp gateway_machine.cpp gateway_program.cpp
          gateway_sessions.cpp gateway_sse.cpp mcp_access.cpp tool_arguments.cpp
  DEPS league_agent league_audit league_mcp_client league_transport league_dep_json
  PRIVATE_DEPS league_dep_cli11 league_schema league_tools_up)
league_test(league_gateway_test
  SOURCES event_line_test.cpp gateway_credential_test.cpp gateway_headers_test.cpp gateway_machine_test.cpp gateway_test.cpp tool_arguments_test.cpp
  DEPS league_tools_gateway)
