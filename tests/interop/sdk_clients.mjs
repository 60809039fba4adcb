// The official TypeScript SDK as a client of one of our servers: sdk_clients.mjs URL [ROLE]
// URL: http://…/mcp, sse+http://…/sse, ws://…/mcp or stdio:COMMAND. ROLE: player or manager.
import { strict as assert } from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import WebSocket from 'ws';

globalThis.WebSocket ??= WebSocket;

function transportFor(url) {
  if (url.startsWith('stdio:')) {
    const [command, ...args] = url.slice('stdio:'.length).split(' ');
    return new StdioClientTransport({ command, args, stderr: 'ignore' });
  }
  if (url.startsWith('ws')) return new WebSocketClientTransport(new URL(url));
  if (url.startsWith('sse+')) return new SSEClientTransport(new URL(url.slice('sse+'.length)));
  return new StreamableHTTPClientTransport(new URL(url));
}

const [url, role = 'player'] = process.argv.slice(2);
const client = new Client({ name: 'interop', version: '1.0.0' }, { capabilities: {} });
await client.connect(transportFor(url));
assert.match(client.getServerVersion().name, /^league-/);
await client.ping();

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'ping'));
assert.ok(tools.every((tool) => tool.inputSchema.type === 'object' && tool.outputSchema.type === 'object'));
const ping = await client.callTool({ name: 'ping', arguments: {} });
assert.equal(ping.structuredContent.status, 'ok');
const refused = await client.callTool({ name: tools.find((tool) => tool.name !== 'ping' && tool.inputSchema.required).name,
  arguments: { message_type: 'NONSENSE' } });
assert.equal(refused.isError, true);
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /-32602/);

if (role === 'manager') {
  const standings = await client.callTool({ name: 'get_standings', arguments: {} });
  assert.ok(Array.isArray(standings.structuredContent.standings));
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri === 'league://standings'));
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((one) => one.uriTemplate).sort(),
    ['league://match/{match_id}', 'league://round/{round}']);
  await client.subscribeResource({ uri: 'league://standings' });
  const { contents } = await client.readResource({ uri: 'league://standings' });
  assert.ok(JSON.parse(contents[0].text).league_id);
  await client.unsubscribeResource({ uri: 'league://standings' });
} else {
  const state = await client.callTool({ name: 'get_player_state', arguments: {} });
  assert.equal(typeof state.structuredContent.open_matches, 'number');
}
const { prompts } = await client.listPrompts();
assert.deepEqual(prompts.map((prompt) => prompt.name), role === 'manager' ? ['play_a_match', 'why_did_i_lose'] : []);
await client.close();
console.log(`ok ${url}`);
process.exit(0);
