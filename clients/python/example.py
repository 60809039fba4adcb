"""A whole bot: python3 example.py [--manager URL] [--serve PORT] [--name NAME] [--data FILE] [--code CODE]."""
from league_player import Player

bot = Player("my-bot")

@bot.choose
def choose(match):
    return "odd" if len(match.meetings) % 2 else "even"

bot.run()
