#!/bin/sh
# A bot on its standard streams, for the endpoint stdio:bot.sh; needs sh, sed and date.
# It plays every game, no more: it checks nothing, does not commit to its choices and gives no receipts,
# because whoever starts it could answer in its name.
field() { printf '%s' "$2" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p'; }
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
reply() { # ID MESSAGE_TYPE CALL FIELDS
  printf '{"jsonrpc":"2.0","id":%s,"result":{"protocol":"league.v2","message_type":"%s",' "$1" "$2"
  printf '"sender":"player:%s","timestamp":"%s",' "$player" "$(now)"
  printf '"conversation_id":"%s","match_id":"%s","player_id":"%s",%s}}\n' \
    "$(field conversation_id "$3")" "$(field match_id "$3")" "$player" "$4"
}
set -f # words are no patterns of file names
player=P01
while IFS= read -r call; do
  id=$(printf '%s' "$call" | sed -n 's/.*"id" *: *\(-\{0,1\}[0-9][0-9]*\|"[^"]*"\) *[,}].*/\1/p')
  method=$(field method "$call")
  given=$(field player_id "$call")
  [ -z "$given" ] || player=$given
  case $method in
    handle_game_invitation)
      reply "$id" GAME_JOIN_ACK "$call" "\"arrival_timestamp\":\"$(now)\",\"accept\":true" ;;
    choose_parity) # the choice follows from the match, so that a repeated call gets it again
      words=$(printf '%s' "$call" | sed -n 's/.*"choices" *: *\[\([^]]*\)\].*/\1/p' | sed 's/[",]/ /g')
      set -- ${words:-even odd}
      number=$(field match_id "$call" | sed 's/[^0-9]//g')
      shift $((1$number % $#))
      choice=$1
      reply "$id" CHOOSE_PARITY_RESPONSE "$call" "\"parity_choice\":\"$choice\"" ;;
    ping | notify_* | update_standings) printf '{"jsonrpc":"2.0","id":%s,"result":{"status":"ok"}}\n' "$id" ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such tool"}}\n' "${id:-null}" ;;
  esac
done
