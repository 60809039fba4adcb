// A whole bot: go run bot.go --manager URL [--port N] [--host HOST] [--name NAME] [--data FILE].
// Plays every game. Needs nothing but Go 1.19. Your strategy goes into chooseWord.
package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

type object = map[string]any

// What we have promised and answered in a match. Handed: the opponent's commitment that we were shown.
type match struct {
	Draw, Choice, Nonce, Opponent, Role, Handed string
	Credential                                  string // that the manager has announced of the referee
	Asked                                       bool
	At                                          [2]int // attempt and play
	Calls                                       []object
}

// A game as the manager defines it: docs/games.md. Payoffs are by kind first where a number is drawn.
type game struct {
	Name           string `json:"game_type"`
	Choices, Drawn []string
	Payoffs        object
	Roles          map[string]object
}

func evenOdd() (out game) { // the game of managers that define none
	must(0, json.Unmarshal([]byte(`{"game_type": "even_odd", "choices": ["even", "odd"],
		"drawn": ["odd", "even", "odd", "even", "odd", "even", "odd", "even", "odd", "even"],
		"payoffs": {"even": {"even": {"even": 1, "odd": 3}, "odd": {"even": 0, "odd": 1}},
			"odd": {"even": {"even": 1, "odd": 0}, "odd": {"even": 3, "odd": 1}}}}`), &out))
	return
}

// What is kept in the file: what every message carries, what else the manager gave us, the last 20 matches.
var kept = struct {
	sync.Mutex
	Me      object            `json:"me"`
	Home    map[string]string `json:"home"`
	Matches map[string]*match `json:"matches"`
	Order   []string          `json:"order"` // of the matches, the oldest first
	Game    game              `json:"game"`
}{Me: object{}, Home: map[string]string{}, Matches: map[string]*match{}, Game: evenOdd()}

var manager = flag.String("manager", "http://localhost:8000/mcp", "the league")
var name = flag.String("name", "go_bot", "our name")
var host = flag.String("host", "127.0.0.1", "where others reach us")
var port = flag.Int("port", 0, "where we listen")
var data = flag.String("data", "go_bot.json", "the file with our token and promises")

// The strategy: write your own.
func chooseWord(call object) string {
	return kept.Game.Choices[must(rand.Int(rand.Reader, big.NewInt(int64(len(kept.Game.Choices))))).Int64()]
}

// --- Messages ---

type refusal struct { // a JSON-RPC error
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    object `json:"data"`
}

func refuse(code, name, field, why string) {
	panic(refusal{-32602, why, object{"error_code": code, "error_name": name, "field": "/" + field}})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

func sha(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "|"))))
}

func mac(key string, parts ...any) []byte {
	hash := hmac.New(sha256.New, []byte(key))
	for i, part := range parts {
		fmt.Fprint(hash, strings.Repeat("|", min(i, 1)), part)
	}
	return hash.Sum(nil)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func randomHex() string {
	bytes := make([]byte, 32)
	must(rand.Read(bytes))
	return hex.EncodeToString(bytes)
}

func text(call object, field string) string { value, _ := call[field].(string); return value }

func number(call object, field string, missing int) int {
	if value, isNumber := call[field].(float64); isNumber {
		return int(value)
	}
	return missing
}

// Goes back to the conversation and match of its call. A field that is empty is left out.
func message(kind string, call, fields object) object {
	out := object{"protocol": "league.v2", "message_type": kind, "timestamp": now()}
	out["sender"] = "player:" + text(kept.Me, "player_id")
	for _, field := range []string{"conversation_id", "round_id", "match_id"} {
		if call[field] != nil {
			out[field] = call[field]
		}
	}
	for _, part := range []object{kept.Me, fields} {
		for field, value := range part {
			if value != "" {
				out[field] = value
			}
		}
	}
	return out
}

var required = map[string]string{
	"handle_game_invitation": "match_id game_type role_in_match opponent_id",
	"choose_parity":          "match_id",
	"notify_match_result":    "match_id",
}
var forms = map[string]*regexp.Regexp{
	"protocol":        regexp.MustCompile(`^league\.v2(\.\d+)?$`),
	"message_type":    regexp.MustCompile(`^\w{1,40}$`),
	"conversation_id": regexp.MustCompile("(?s)^.{1,100}$"),
	"role_in_match":   regexp.MustCompile("^PLAYER_[AB]$"),
	"timestamp": regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d{8}T\d\d:\d\d:\d\d|\d{8}T\d{6})` +
		`(\.\d{1,9})?(Z|\+00:00)$`),
}

func checkMessage(call object, method string) {
	fields := "protocol message_type sender timestamp conversation_id " + required[method]
	for _, field := range strings.Fields(fields) {
		value, isText := call[field].(string)
		if call[field] == nil {
			refuse("E003", "MISSING_REQUIRED_FIELD", field, field+" is missing")
		}
		if form := forms[field]; !isText || form != nil && !form.MatchString(value) {
			refuse("E023", "INVALID_FIELD_VALUE", field, field+" has no allowed value")
		}
	}
	if one := call["game_type"]; one != nil && one != kept.Game.Name {
		refuse("E028", "GAME_TYPE_NOT_SUPPORTED", "game_type", "the game is "+kept.Game.Name)
	}
	digits := strings.NewReplacer("-", "", "+00:00", "", ":", "", "Z", "").Replace(text(call, "timestamp"))
	if _, err := time.Parse("20060102T150405", digits); err != nil {
		refuse("E021", "INVALID_TIMESTAMP", "timestamp", "there is no such time")
	}
}

// The attempt at a match that the call's credential proves; the manager shows our token, and its calls have
// none. A referee shows what only we and the manager can compute.
func checkCaller(call object) int {
	shown, match, token := text(call, "auth_token"), text(call, "match_id"), text(kept.Me, "auth_token")
	if token != "" && match == "" && hmac.Equal([]byte(shown), []byte(token)) {
		return 0
	}
	for n := 1; token != "" && match != "" && n <= 16; n++ {
		if hmac.Equal([]byte(shown), []byte(fmt.Sprintf("%x", mac(token, fmt.Sprint(match, "#", n))))) {
			return n
		}
	}
	hashed := "none"
	if shown != "" {
		hashed = "token:" + sha(shown)
	}
	if mine := kept.Matches[match]; mine != nil && mine.Credential == hashed {
		return 1 // a third party's referee, of which the manager has announced what it shows
	}
	refuse("E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong")
	return 0
}

// --- Playing ---

func save() { // before anything leaves that binds us
	must(0, os.WriteFile(*data+".new", must(json.Marshal(&kept)), 0o600))
	must(0, os.Rename(*data+".new", *data))
}

func matchOf(id string) *match {
	if kept.Matches[id] == nil {
		kept.Matches[id] = &match{Calls: []object{}}
		if kept.Order = append(kept.Order, id); len(kept.Order) > 20 {
			delete(kept.Matches, kept.Order[0])
			kept.Order = kept.Order[1:]
		}
	}
	return kept.Matches[id]
}

func announced(call object) object { // the manager promises the seed of each match
	rows, _ := call["matches"].([]any)
	for _, row := range rows {
		one, _ := row.(object)
		isOurs := one["player_A_id"] == kept.Me["player_id"] || one["player_B_id"] == kept.Me["player_id"]
		if isOurs {
			mine := matchOf(text(one, "match_id"))
			if mine.Draw == "" {
				mine.Draw = text(one, "draw_commitment")
			}
			mine.Credential = text(one, "referee_credential")
		}
	}
	return news(call)
}

func join(call object, mine *match, at [2]int) (string, object, []any) {
	id, draw, bound := text(call, "match_id"), text(call, "draw_commitment"), ""
	if draw == "" && mine.Credential != "" && mine.Credential != "match" {
		mine.Draw = "" // a third party's referee need not know the seed, and then nobody commits
	}
	if (mine.Draw != "" || mine.Nonce != "") && mine.Draw != draw {
		refuse("E040", "COMMITMENT_MISMATCH", "draw_commitment", "another seed was promised")
	}
	if at[0] < mine.At[0] || at[0] == mine.At[0] && at[1] < mine.At[1] {
		refuse("E033", "STALE_ATTEMPT", "context", "a later attempt has begun")
	}
	isShownAlone := mine.Asked && mine.Handed == ""
	if mine.Nonce == "" || isShownAlone && at != mine.At { // else the same promise again
		*mine = match{Draw: draw, Choice: chooseWord(call), Nonce: randomHex(), Calls: mine.Calls,
			Opponent: text(call, "opponent_id"), Role: text(call, "role_in_match"), Credential: mine.Credential}
	}
	mine.At = at
	if draw != "" {
		bound = sha(draw, id, text(kept.Me, "player_id"), mine.Choice, mine.Nonce)
	}
	return "GAME_JOIN_ACK", object{"accept": true, "choice_commitment": bound}, []any{"JOIN", true, bound}
}

func choose(call object, mine *match, at [2]int) (string, object, []any) {
	context, _ := call["context"].(object)
	theirs, nonce := text(context, "opponent_commitment"), ""
	if at != mine.At && (mine.Nonce != "" || kept.Home["receipt_key"] != "") {
		refuse("E031", "MATCH_NOT_OPEN", "context", "I was not invited to this attempt")
	}
	if mine.Choice == "" { // without an invitation we are bound to nothing
		mine.Choice = chooseWord(call)
	}
	if mine.Asked && mine.Handed != theirs {
		dispute(call, "I was handed two commitments of my opponent")
		refuse("E040", "COMMITMENT_MISMATCH", "context/opponent_commitment", "there was another one")
	}
	mine.Handed, mine.Asked = theirs, true
	if mine.Draw != "" {
		nonce = mine.Nonce
	}
	fields := object{"parity_choice": mine.Choice, "choice_nonce": nonce}
	return "CHOOSE_PARITY_RESPONSE", fields, []any{"CHOICE", mine.Choice, nonce, theirs}
}

var handlers = map[string]func(object, *match, [2]int) (string, object, []any){
	"handle_game_invitation": join, "choose_parity": choose}

// Answers a call of a match, with a receipt: only we and the manager can make one, so a referee cannot report
// what we have not said. The calls are noted for get_match_record, which the manager asks if a referee says
// that we have failed.
func play(method string, call object, attempt int) object {
	id, begin := text(call, "match_id"), time.Now()
	mine := matchOf(id)
	context, _ := call["context"].(object)
	at := [2]int{attempt, number(context, "play", 0)}
	note := object{"message_type": call["message_type"], "attempt": attempt, "play": at[1], "at": now()}
	mine.Calls = append(mine.Calls[len(mine.Calls)-min(len(mine.Calls), 31):], note)
	defer save()
	defer func() {
		note["answered_at"], note["answer_ms"] = now(), time.Since(begin).Milliseconds()
		if why := recover(); why != nil {
			if refused, isRefusal := why.(refusal); isRefusal {
				note["refused"], note["caller_fault"] = refused.Data["error_code"], true
				note["reason"] = refused.Message
			}
			panic(why)
		}
	}()
	if number(context, "attempt", attempt) != attempt {
		refuse("E023", "INVALID_FIELD_VALUE", "context/attempt", "not what the credential proves")
	}
	kind, fields, said := handlers[method](call, mine, at)
	key := kept.Home["receipt_key"]
	if key != "" && context["attempt"] != nil {
		about := []any{said[0], kept.Home["league_key"], id, at[0], at[1], mine.Draw}
		fields["receipt"] = fmt.Sprintf("%x", mac(key, append(about, said[1:]...)...))
	}
	for field, value := range fields {
		note[field] = value
	}
	if key != "" { // a referee never sees our token
		token := text(kept.Me, "auth_token")
		fields["auth_token"] = fmt.Sprintf("%x", mac(token, "answer", fmt.Sprint(id, "#", attempt)))
	}
	if kind == "GAME_JOIN_ACK" {
		fields["arrival_timestamp"] = now()
	} else if mine.Handed != "" {
		note["opponent_commitment"] = mine.Handed
	}
	return message(kind, call, fields)
}

func matchRecord(call object) object {
	token, shown := text(kept.Me, "auth_token"), text(call, "auth_token")
	if token == "" || !hmac.Equal([]byte(token), []byte(shown)) {
		refuse("E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is not my own")
	}
	calls := []object{}
	if mine := kept.Matches[text(call, "match_id")]; mine != nil {
		calls = mine.Calls
	}
	return object{"match_id": call["match_id"], "player_id": kept.Me["player_id"], "calls": calls}
}

// --- Results ---

func drawNumber(size int, seed string, parts ...any) int {
	for i := 0; ; i++ {
		for _, byte := range mac(seed, append(parts[:len(parts):len(parts)], i)...) {
			if int(byte) < 256-256%size {
				return int(byte)%size + 1
			}
		}
	}
}

func points(role string, own, other string, drawn int) float64 {
	payoffs := kept.Game.Payoffs
	if kept.Game.Roles != nil {
		payoffs = kept.Game.Roles[role]
	}
	if drawn > 0 {
		payoffs = payoffs[kept.Game.Drawn[drawn-1]].(object)
	}
	return payoffs[own].(object)[other].(float64)
}

// What is false in a result: it follows from the promised seed and from what both have bound themselves to.
func judge(call, result object, mine *match) (wrong any) {
	defer func() {
		if why := recover(); why != nil {
			wrong = why
		}
	}()
	demand := func(holds bool, why string) {
		if !holds {
			panic(why)
		}
	}
	choices, bound := result["choices"].(object), call["choice_commitments"].(object)
	nonces, id := call["choice_nonces"].(object), text(call, "match_id")
	self, other := text(kept.Me, "player_id"), mine.Opponent
	seed := string(must(hex.DecodeString(text(call, "draw_proof"))))
	demand(mine.Nonce != "" && mine.Asked, "I was not asked for a choice")
	demand(sha(seed+id) == mine.Draw, "another seed was promised")
	demand(choices[self] == mine.Choice && nonces[self] == mine.Nonce, "I did not choose that")
	demand(text(bound, other) == mine.Handed, "the opponent's commitment is another one")
	demand(bound[self] != nil, "my commitment is missing")
	for player, one := range bound {
		opened := sha(mine.Draw, id, player, text(choices, player), text(nonces, player))
		demand(opened == one, "the commitment of "+player+" is not opened")
	}
	if mine.Handed == "" {
		delete(nonces, other) // only the nonces of commitments count
	}
	a, b, winner := self, other, ""
	if mine.Role == "PLAYER_B" {
		a, b = other, self
	}
	ofA, ofB, drawn, told := text(choices, a), text(choices, b), 0, fmt.Sprint(nil)
	if size := len(kept.Game.Drawn); size > 0 {
		drawn = drawNumber(size, seed, id, ofA, ofB, text(nonces, a), text(nonces, b))
		told = fmt.Sprint(drawn)
	}
	lead := points("PLAYER_A", ofA, ofB, drawn) - points("PLAYER_B", ofB, ofA, drawn)
	if lead != 0 {
		winner = map[bool]string{true: a, false: b}[lead > 0]
	}
	isRight := text(result, "winner_player_id") == winner && fmt.Sprint(result["drawn_number"]) == told
	demand(isRight, fmt.Sprintf("the number is %s, the winner %q", told, winner))
	return nil
}

func dispute(call object, why string) { // goes to the manager and stays open
	query := object{"query_type": "DISPUTE_MATCH"}
	query["query_params"] = object{"match_id": call["match_id"], "reason": why}
	go post("league_query", message("LEAGUE_QUERY", call, query))
}

func gameOver(call object) object {
	result, mine := call["game_result"].(object), kept.Matches[text(call, "match_id")]
	if mine == nil {
		return news(call)
	}
	if result["status"] != "TECHNICAL_LOSS" {
		if mine.Draw == "" {
			return news(call)
		}
		if why := judge(call, result, mine); why != nil {
			dispute(call, fmt.Sprint(why))
			refuse("E035", "INVALID_RESULT", "game_result", fmt.Sprint("the result does not follow: ", why))
		}
	} else if kept.Home["receipt_key"] != "" && result["winner_player_id"] != kept.Me["player_id"] {
		slowest := 0
		for _, one := range mine.Calls {
			slowest = -min(-slowest, -number(one, "answer_ms", 0))
		}
		if slowest < 5000 {
			dispute(call, fmt.Sprintf("I got %d calls and answered each within %d ms", len(mine.Calls), slowest))
		}
	}
	return news(call)
}

// --- JSON-RPC ---

func news(object) object { return object{"status": "ok", "player_id": text(kept.Me, "player_id")} }

var methods = map[string]func(object) object{
	"notify_match_result": gameOver, "notify_round": announced, "get_player_state": news,
	"update_standings": news, "notify_round_completed": news, "notify_league_completed": news,
	"notify_league_error": news, "notify_game_error": news}

func result(method string, params object) object {
	kept.Lock()
	defer kept.Unlock()
	handler := methods[method]
	switch {
	case method == "ping":
		return news(nil)
	case method == "get_match_record":
		return matchRecord(params)
	case handler == nil && handlers[method] == nil:
		panic(refusal{-32601, "Method not found", nil})
	}
	checkMessage(params, method)
	attempt := checkCaller(params)
	if handler == nil {
		return play(method, params, attempt)
	}
	return handler(params)
}

func answer(body []byte) (out object) {
	var frame struct {
		ID     json.RawMessage
		Method string
		Params object
	}
	defer func() {
		if why := recover(); why != nil {
			if _, isRefusal := why.(refusal); !isRefusal {
				why = refusal{-32602, fmt.Sprint(why), nil}
			}
			out = object{"jsonrpc": "2.0", "id": frame.ID, "error": why}
		}
	}()
	if !json.Valid(body) {
		panic(refusal{-32700, "Parse error", nil})
	}
	if json.Unmarshal(body, &frame); frame.Method == "" {
		panic(refusal{-32600, "Invalid Request", nil})
	}
	return object{"jsonrpc": "2.0", "id": frame.ID, "result": result(frame.Method, frame.Params)}
}

func post(method string, params object) (frame struct{ Result object }, err error) {
	body := must(json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
	direct := &http.Transport{DisableKeepAlives: true} // whatever HTTP_PROXY says
	client := http.Client{Timeout: 10 * time.Second, Transport: direct}
	reply, err := client.Post(*manager, "application/json", bytes.NewReader(body))
	if err == nil {
		defer reply.Body.Close()
		if json.NewDecoder(reply.Body).Decode(&frame); frame.Result == nil {
			err = fmt.Errorf("%s without a result", reply.Status)
		}
	}
	return
}

// Shows the token and nonce of before, so that we come back as who we were, and get our receipt_key. Tries
// until the manager answers.
func register(address string, isFirst bool) {
	if kept.Home["registration_nonce"] == "" {
		kept.Home["registration_nonce"] = randomHex()
	}
	meta := object{"display_name": *name, "version": "1.0.0", "game_types": []string{"even_odd"},
		"receipts": true, "protocol_version": "2.1.0", "contact_endpoint": address, "game_definitions": true}
	fields := object{"conversation_id": "conv" + randomHex(), "player_meta": meta,
		"registration_nonce": kept.Home["registration_nonce"]}
	frame, err := post("register_player", message("LEAGUE_REGISTER_REQUEST", nil, fields))
	if err != nil {
		if isFirst {
			fmt.Fprintf(os.Stderr, "%s: %v; trying again every 2 s\n", *manager, err)
		}
		time.AfterFunc(2*time.Second, func() { register(address, false) })
		return
	}
	for _, key := range []string{"status", "player_id", "reason", "error_description"} {
		if text := text(frame.Result, key); text != "" {
			fmt.Print(text, " ")
		}
	}
	fmt.Println()
	if frame.Result["status"] != "ACCEPTED" {
		os.Exit(1)
	}
	kept.Lock()
	defer kept.Unlock()
	for _, field := range []string{"player_id", "auth_token", "league_id"} {
		kept.Me[field] = frame.Result[field]
	}
	for _, field := range []string{"receipt_key", "league_key"} {
		if value := text(frame.Result, field); value != "" {
			kept.Home[field] = value
		}
	}
	var told game
	if json.Unmarshal(must(json.Marshal(frame.Result["game"])), &told) == nil && len(told.Choices) > 0 {
		kept.Game = told
	}
	save()
}

func main() {
	flag.Parse()
	kept.Me["player_id"] = regexp.MustCompile(`\W`).ReplaceAllString(*name, "_")
	if bytes, err := os.ReadFile(*data); err == nil {
		must(0, json.Unmarshal(bytes, &kept))
	}
	listenAt := map[bool]string{true: *host}[*host == "127.0.0.1"] // else at all addresses
	listener := must(net.Listen("tcp", fmt.Sprint(listenAt, ":", *port)))
	go register(fmt.Sprintf("http://%s:%d/mcp", *host, listener.Addr().(*net.TCPAddr).Port), true)
	serve := func(writer http.ResponseWriter, request *http.Request) {
		body := must(io.ReadAll(http.MaxBytesReader(writer, request.Body, 1<<20)))
		writer.Header().Set("Content-Type", "application/json")
		must(writer.Write(must(json.Marshal(answer(body)))))
	}
	panic(http.Serve(listener, http.HandlerFunc(serve)))
}
