// A player of the official TypeScript SDK, on the standard streams: an MCP server with two tools, and nothing of the league.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'sdk-player', version: '1.0.0' });

server.registerTool('handle_game_invitation', {
  description: 'Is there a match to play?',
  inputSchema: { match_id: z.string(), game_type: z.string() },
  outputSchema: { accept: z.boolean() },
}, async ({ match_id: match }) => {
  console.error(`invited to ${match}`);
  return { content: [{ type: 'text', text: 'gladly' }], structuredContent: { accept: true } };
});

server.registerTool('choose_parity', {
  description: 'Even or odd?',
  inputSchema: { match_id: z.string(), player_id: z.string() },
}, async ({ match_id: match }) => {
  console.error(`chooses in ${match}`);
  return { content: [{ type: 'text', text: JSON.stringify({ parity_choice: 'even' }) }] };
});

await server.connect(new StdioServerTransport());
console.error('connected');
