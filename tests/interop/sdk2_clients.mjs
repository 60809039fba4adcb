// The client of the TypeScript SDK's second version: sdk2_clients.mjs URL MODE, where MODE says how it finds the revision
// (`auto`: 2026-07-28 first; `legacy`: the handshake).
import { strict as assert } from 'node:assert';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode] = process.argv.slice(2);
const client = new Client({ name: 'interop', version: '2.0.0' }, { capabilities: {}, versionNegotiation: { mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
assert.ok(client.getServerVersion().name);
const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'ping'));
const ping = await client.callTool({ name: 'ping', arguments: {} });
assert.equal(ping.structuredContent.status, 'ok');
assert.equal(client.getNegotiatedProtocolVersion() === '2026-07-28', mode === 'auto', client.getNegotiatedProtocolVersion());
await client.close();
console.log(`ok ${url} ${mode}`);
process.exit(0);
