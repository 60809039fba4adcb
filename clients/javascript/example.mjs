// A whole bot. Start it with: node example.mjs --manager http://localhost:8000
import { Player } from "./league_player.js";

const bot = new Player("my-bot");

bot.choose((match) => (match.meetings.length % 2 ? "odd" : "even"));

await bot.run();
