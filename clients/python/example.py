"""A whole bot. Start it with: python3 example.py --manager http://localhost:8000"""
from league_player import Player

bot = Player("my-bot")

@bot.choose
def choose(match):
    return "odd" if len(match.meetings) % 2 else "even"

bot.run()
