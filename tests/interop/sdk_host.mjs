// A chat program of the official TypeScript SDK: it joins a league and plays it to its end, and the person at it makes the
// choices (elicitation).
import { strict as assert } from 'node:assert';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import WebSocket from 'ws';

globalThis.WebSocket ??= WebSocket;

const [url] = process.argv.slice(2);
const client = new Client({ name: 'chat', version: '1.0.0' }, { capabilities: { elicitation: {} } });
let questions = 0;
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  ++questions;
  return { action: 'accept', content: { choice: params.requestedSchema.properties.choice.enum[0] } };
});
await client.connect(url.startsWith('ws') ? new WebSocketClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name),
  ['await_turn', 'get_league_status', 'get_standings', 'join_league', 'my_results', 'ping', 'play']);

const use = async (name, args, options) => {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args }, undefined, options);
  assert.ok(!isError, content?.[0]?.text);
  return structuredContent;
};
const joined = await use('join_league', { display_name: `chat over ${url.split(':')[0]}` });
console.log(`ready ${joined.player_id}`);
let progress = 0;
for (let told = joined; told.state !== 'over';) {
  told = await use('await_turn', { ask_person: true }, { onprogress: () => ++progress });
  if (told.state === 'choose') await use('play', { choice: told.choices[0] });
}
const mine = await use('my_results', {});
assert.equal(mine.played, 2);
assert.ok(mine.results.every((row) => row.your_choice === 'even'), JSON.stringify(mine));
assert.equal(questions, 2);
await client.close();
console.log(`ok ${url}`);
process.exit(0);
