// The player of sdk_player.mjs as a server of Streamable HTTP with sessions, which it keeps in memory: sdk_player_http.mjs PORT
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

const sessions = new Map();

function newPlayer() {
  const server = new McpServer({ name: 'sdk-player', version: '1.0.0' });
  server.registerTool('handle_game_invitation', { inputSchema: { match_id: z.string() }, outputSchema: { accept: z.boolean() } },
    async () => ({ content: [{ type: 'text', text: 'gladly' }], structuredContent: { accept: true } }));
  server.registerTool('choose_parity', { inputSchema: { match_id: z.string() } }, async ({ match_id: match }) => {
    console.log(`chooses in ${match}`);
    return { content: [{ type: 'text', text: JSON.stringify({ parity_choice: 'even' }) }] };
  });
  return server;
}

async function transportFor(id, body) {
  if (sessions.has(id)) return sessions.get(id);
  if (id || !isInitializeRequest(body)) return null;
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID, onsessioninitialized: (name) => sessions.set(name, transport) });
  await newPlayer().connect(transport);
  console.log('initialized');
  return transport;
}

createServer(async (request, response) => {
  let text = '';
  for await (const piece of request) text += piece;
  const body = text ? JSON.parse(text) : undefined;
  const transport = await transportFor(request.headers['mcp-session-id'], body);
  if (transport) return transport.handleRequest(request, response, body);
  // As the SDK's own examples, and npm's servers, refuse a session that they do not know.
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null,
    error: { code: -32000, message: 'Bad Request: No valid session ID provided' } }));
}).listen(Number(process.argv[2]), '127.0.0.1');
