// A whole Even/Odd bot: go run bot.go --manager URL [--port N] [--host HOST] [--name NAME] [--data FILE]. Needs nothing but Go 1.19.
package main
import ("bytes"; "crypto/hmac"; "crypto/rand"; "crypto/sha256"; "encoding/hex"; "encoding/json"; "flag"; "fmt"; "io"; "net"; "net/http"; "os"; "regexp"; "strings"; "sync"; "time")
type object = map[string]any
type refusal struct { Code int `json:"code"`; Message string `json:"message"`; Data object `json:"data"` }  // a JSON-RPC error
type promise struct { Draw, Choice, Nonce, Opponent, Role, Handed string; Asked bool }  // Handed: the opponent's commitment
var manager, name = flag.String("manager", "http://localhost:8000/mcp", "the league"), flag.String("name", "go_bot", "our name")
var host, port, data = flag.String("host", "127.0.0.1", "where others reach us"), flag.Int("port", 0, "where we listen"), flag.String("data", "go_bot.json", "the file with our token and promises")
var kept = struct { sync.Mutex; Me object; Matches map[string]*promise }{Me: object{}, Matches: map[string]*promise{}}  // who we are, what we have promised
var forms = map[string]string{"protocol": `^league\.v2(\.\d+)?$`, "conversation_id": "(?s)^.{1,100}$", "game_type": "^even_odd$", "role_in_match": "^PLAYER_[AB]$",
	"timestamp": `^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d{8}T\d\d:\d\d:\d\d|\d{8}T\d{6})(\.\d{1,9})?(Z|\+00:00)$`}
var required = map[string]string{"handle_game_invitation": "match_id game_type role_in_match opponent_id", "choose_parity": "match_id", "notify_match_result": "match_id"}
func chooseWord(call object) string { return []string{"even", "odd"}[randomHex()[0] % 2] }  // the game: write your own
func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05Z") }
func must[T any](value T, err error) T { if err != nil { panic(err) }; return value }
func sha(parts ...string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "|")))) }
func mac(key, text string) string { hash := hmac.New(sha256.New, []byte(key)); hash.Write([]byte(text)); return string(hash.Sum(nil)) }
func randomHex() string { bytes := make([]byte, 32); must(rand.Read(bytes)); return hex.EncodeToString(bytes) }
func text(call object, field string) string { value, _ := call[field].(string); return value }
func refuse(code, name, field, why string) { panic(refusal{-32602, "Invalid params: " + why, object{"error_code": code, "error_name": name, "field": "/" + field}}) }
func message(kind string, call, fields object) object {  // goes back to the conversation and match of its call
	out := object{"protocol": "league.v2", "message_type": kind, "sender": "player:" + text(kept.Me, "player_id"), "timestamp": now()}
	for _, field := range []string{"conversation_id", "round_id", "match_id"} { if call[field] != nil { out[field] = call[field] } }
	for _, part := range []object{kept.Me, fields} { for field, value := range part { if value != "" { out[field] = value } } }
	return out
}
func check(call object, method string) {
	for _, field := range strings.Fields("protocol message_type sender timestamp conversation_id " + required[method]) {
		if call[field] == nil { refuse("E003", "MISSING_REQUIRED_FIELD", field, field + " is missing") }
		if !regexp.MustCompile(forms[field]).MatchString(text(call, field)) { refuse("E023", "INVALID_FIELD_VALUE", field, field + " has no allowed value") }
	}
	digits := strings.NewReplacer("-", "", "+00:00", "", ":", "", "Z", "").Replace(text(call, "timestamp"))
	if _, err := time.Parse("20060102T150405", digits); err != nil { refuse("E021", "INVALID_TIMESTAMP", "timestamp", "there is no such time") }
	shown, match, token := text(call, "auth_token"), text(call, "match_id"), text(kept.Me, "auth_token")
	isRight := match == "" && shown == token  // from the manager; a referee shows what only we and the manager can compute
	for n := 1; match != "" && n <= 16; n++ { isRight = isRight || shown == fmt.Sprintf("%x", mac(token, fmt.Sprintf("%s#%d", match, n))) }
	if token == "" || shown == "" || !isRight { refuse("E012", "AUTH_TOKEN_INVALID", "auth_token", "auth_token is missing or wrong") }
}
func save() { must(0, os.WriteFile(*data + ".new", must(json.Marshal(&kept)), 0o600)); must(0, os.Rename(*data + ".new", *data)) }  // before we send what binds us
func join(call object) object {
	match, draw, bound, mine := text(call, "match_id"), text(call, "draw_commitment"), "", kept.Matches[text(call, "match_id")]
	if mine == nil || mine.Draw != draw || mine.Asked && mine.Handed == "" {  // else it is a repetition and gets the same promise
		mine = &promise{draw, chooseWord(call), randomHex(), text(call, "opponent_id"), text(call, "role_in_match"), "", false}
		kept.Matches[match] = mine; save()
	}
	if draw != "" { bound = sha(draw, match, text(kept.Me, "player_id"), mine.Choice, mine.Nonce) } else { mine.Nonce = "" }
	return message("GAME_JOIN_ACK", call, object{"arrival_timestamp": now(), "accept": true, "choice_commitment": bound})
}
func choose(call object) object {
	mine := kept.Matches[text(call, "match_id")]
	if mine == nil { mine = &promise{Choice: chooseWord(call)} }
	if context, _ := call["context"].(object); !mine.Asked { mine.Asked, mine.Handed = true, text(context, "opponent_commitment") }
	kept.Matches[text(call, "match_id")] = mine; save()
	return message("CHOOSE_PARITY_RESPONSE", call, object{"parity_choice": mine.Choice, "choice_nonce": mine.Nonce})
}
func judge(call object, mine *promise) (wrong any) {  // the result has to follow from the promised seed and from what both have bound themselves to
	defer func() { wrong = recover() }()
	match, result, number, winner := text(call, "match_id"), call["game_result"].(object), 0, ""
	if mine == nil || mine.Draw == "" || result["status"] == "TECHNICAL_LOSS" { return nil }
	choices, bound, nonces, a, b := result["choices"].(object), call["choice_commitments"].(object), call["choice_nonces"].(object), text(kept.Me, "player_id"), mine.Opponent
	seed, demand := string(must(hex.DecodeString(text(call, "draw_proof")))), func(holds bool, why string) { if !holds { panic(why) } }
	demand(sha(seed + match) == mine.Draw, "another seed was promised")
	demand(choices[a] == mine.Choice && nonces[a] == mine.Nonce && text(bound, b) == mine.Handed, "my choice or the opponent's commitment was another one")
	for id, one := range bound { demand(sha(mine.Draw, match, id, text(choices, id), text(nonces, id)) == one, "a commitment is not opened") }
	if mine.Handed == "" { delete(nonces, b) }  // only the nonces of commitments count
	if mine.Role == "PLAYER_B" { a, b = b, a }
	parts := strings.Join([]string{match, text(choices, a), text(choices, b), text(nonces, a), text(nonces, b)}, "|")
	for i := 0; number == 0; i++ { for _, byte := range []byte(mac(seed, fmt.Sprint(parts, "|", i))) { if byte < 250 && number == 0 { number = int(byte) % 10 + 1 } } }
	if choices[a] != choices[b] { winner = map[bool]string{true: a, false: b}[choices[a] == []string{"even", "odd"}[number % 2]] }
	demand(result["drawn_number"] == float64(number) && text(result, "winner_player_id") == winner, fmt.Sprint("the number is ", number))
	return nil
}
func gameOver(call object) object {
	if why := judge(call, kept.Matches[text(call, "match_id")]); why != nil {  // the dispute goes to the manager and stays open
		query := object{"query_type": "DISPUTE_MATCH", "query_params": object{"match_id": call["match_id"], "reason": fmt.Sprint(why)}}
		go post("league_query", message("LEAGUE_QUERY", call, query))
		refuse("E035", "INVALID_RESULT", "game_result", fmt.Sprint("the result does not follow: ", why))
	}
	delete(kept.Matches, text(call, "match_id"))
	return news(call)
}
func news(object) object { return object{"status": "ok", "player_id": text(kept.Me, "player_id")} }
var handlers = map[string]func(object) object{"handle_game_invitation": join, "choose_parity": choose, "notify_match_result": gameOver, "get_player_state": news,
	"notify_round": news, "update_standings": news, "notify_round_completed": news, "notify_league_completed": news, "notify_league_error": news, "notify_game_error": news}
func answer(body []byte) (out object) {
	var frame struct { ID json.RawMessage; Method string; Params object }
	defer func() { if why := recover(); why != nil { out = object{"jsonrpc": "2.0", "id": frame.ID, "error": why} } }()
	if !json.Valid(body) { panic(refusal{-32700, "Parse error", nil}) }
	if json.Unmarshal(body, &frame); frame.Method == "" { panic(refusal{-32600, "Invalid Request", nil}) }
	if frame.Method == "ping" { return object{"jsonrpc": "2.0", "id": frame.ID, "result": object{"status": "ok"}} }
	if handlers[frame.Method] == nil { panic(refusal{-32601, "Method not found", nil}) }
	kept.Lock(); defer kept.Unlock(); check(frame.Params, frame.Method)
	return object{"jsonrpc": "2.0", "id": frame.ID, "result": handlers[frame.Method](frame.Params)}
}
func post(method string, params object) (frame struct { Result object }, err error) {
	body := must(json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
	reply, err := (&http.Client{Timeout: 10 * time.Second}).Post(*manager, "application/json", bytes.NewReader(body))
	if err == nil { err = json.NewDecoder(reply.Body).Decode(&frame) }
	return
}
func register(address string) {  // shows the token of before, so that we come back as who we were; tries until the manager answers
	nonce, meta := randomHex(), object{"display_name": *name, "version": "1.0.0", "game_types": []string{"even_odd"}, "protocol_version": "2.1.0", "contact_endpoint": address}
	fields := object{"conversation_id": "conv" + nonce, "player_meta": meta, "registration_nonce": nonce}
	frame, err := post("register_player", message("LEAGUE_REGISTER_REQUEST", nil, fields))
	if err != nil { time.AfterFunc(2 * time.Second, func() { register(address) }); return }
	for _, key := range []string{"status", "player_id", "reason", "error_description"} { if text, is := frame.Result[key].(string); is { fmt.Print(text, " ") } }; fmt.Println()
	if frame.Result["status"] != "ACCEPTED" { os.Exit(1) }
	kept.Lock(); defer kept.Unlock()
	for _, field := range []string{"player_id", "auth_token", "league_id"} { if one := text(frame.Result, field); one != "" { kept.Me[field] = one } }
	save()
}
func main() {
	flag.Parse(); kept.Me["player_id"] = regexp.MustCompile(`\W`).ReplaceAllString(*name, "_")
	if bytes, err := os.ReadFile(*data); err == nil { must(0, json.Unmarshal(bytes, &kept)) }
	listener := must(net.Listen("tcp", fmt.Sprint(map[bool]string{true: *host}[*host == "127.0.0.1"], ":", *port))); go register(fmt.Sprintf("http://%s:%d/mcp", *host, listener.Addr().(*net.TCPAddr).Port))
	panic(http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		writer.Header().Set("Content-Type", "application/json")
		must(writer.Write(must(json.Marshal(answer(must(io.ReadAll(http.MaxBytesReader(writer, request.Body, 1 << 20))))))))
	})))
}
