// A whole bot: node example.mjs --manager http://localhost:8000
import { Player } from "./league_player.js";  // "league-player" once it is installed

const bot = new Player("example_bot");

bot.choose((match) => {  // your strategy: what did this opponent choose last time?
  const last = match.history.filter((one) => one.opponent === match.opponent).at(-1);
  return last?.opponentChoice === "even" ? "odd" : "even";
});

await bot.run();
