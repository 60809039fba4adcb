// A complete Even/Odd bot for Node.js, nothing to install: node player.mjs [MANAGER_URL [NAME]]
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";

const [manager = "http://localhost:8000/mcp", name = "node_bot"] = process.argv.slice(2);
let me = { player_id: name }; // after the registration also auth_token and league_id

// A reply goes back to the conversation of its call.
const message = (messageType, { conversation_id, round_id, match_id }, fields) => ({
  protocol: "league.v2", message_type: messageType, sender: `player:${me.player_id}`,
  timestamp: new Date().toISOString(), ...me, conversation_id, round_id, match_id, ...fields,
});

// The choice of each match is made when we are invited. We bind ourselves to it without showing it; a repeated
// invitation gets the same promise, unless we have shown our choice to an opponent who is not bound.
const promises = {};
const choose = () => Math.random() < 0.5 ? "even" : "odd";

function promise({ match_id, draw_commitment }) {
  if (!draw_commitment) return {};
  const known = promises[match_id];
  const isSame = known?.draw_commitment === draw_commitment && !known.shownAlone;
  const mine = isSame ? known : { draw_commitment, choice: choose(), nonce: randomBytes(32).toString("hex") };
  promises[match_id] = mine;
  const text = [draw_commitment, match_id, me.player_id, mine.choice, mine.nonce].join("|");
  return { choice_commitment: createHash("sha256").update(text).digest("hex") };
}

function reveal({ match_id, context }) { // the whole game: say "even" or "odd", with the nonce of the promise
  const mine = promises[match_id];
  if (!mine) return { parity_choice: choose() };
  mine.shownAlone = !context?.opponent_commitment;
  return { parity_choice: mine.choice, choice_nonce: mine.nonce };
}

const replies = {
  handle_game_invitation: (call) =>
    message("GAME_JOIN_ACK", call, { arrival_timestamp: call.timestamp, accept: true, ...promise(call) }),
  choose_parity: (call) => message("CHOOSE_PARITY_RESPONSE", call, reveal(call)),
  notify_match_result: (call) => {
    delete promises[call.match_id];
    return { status: "ok" };
  },
  notify_league_completed: (call) => {
    console.log("the champion is", call.champion.display_name);
    return { status: "ok" };
  },
};

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const { id, method, params } = JSON.parse(body);
  const result = replies[method]?.(params) ?? { status: "ok" }; // everything else is news
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
});

server.listen(0, "127.0.0.1", async () => {
  const meta = { display_name: name, version: "1.0.0", game_types: ["even_odd"],
                 contact_endpoint: `http://127.0.0.1:${server.address().port}/mcp` };
  const params = message("LEAGUE_REGISTER_REQUEST", { conversation_id: "convregister" }, { player_meta: meta });
  const response = await fetch(manager, {
    method: "POST", headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "register_player", params }),
  });
  const { result } = await response.json();
  if (result?.status !== "ACCEPTED") {
    console.error("not accepted:", JSON.stringify(result));
    process.exit(1);
  }
  me = { player_id: result.player_id, auth_token: result.auth_token, league_id: result.league_id };
  console.log("registered as", me.player_id);
});
