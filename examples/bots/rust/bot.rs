// A bot on its standard streams, for the endpoint stdio:./bot. Build: rustc -O bot.rs. No crates.
// It plays every game, no more: it checks nothing, does not commit to its choices and gives no receipts,
// because whoever starts it could answer in its name.
use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// The value after `"name":`, as it stands in the JSON text: a string without its quotes, or a number.
fn field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let rest = json.split_once(&format!("\"{name}\""))?.1.trim_start().strip_prefix(':')?.trim_start();
    match rest.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => rest.split(|c: char| !(c.is_ascii_digit() || c == '-')).next().filter(|one| !one.is_empty()),
    }
}

/// The id as it has to be echoed: with its quotes where it has some.
fn id(json: &str) -> String {
    let rest = json.split_once("\"id\"").map_or("", |(_, rest)| rest);
    let is_text = rest.trim_start_matches([' ', ':']).starts_with('"');
    match field(json, "id") {
        Some(text) if is_text => format!("\"{text}\""),
        Some(number) => number.to_string(),
        None => "null".to_string(),
    }
}

/// The present time: 2025-01-15T10:30:00Z.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (day, rest) = (seconds / 86_400, seconds % 86_400);
    let z = day + 719_468; // days since 0000-03-01, Howard Hinnant's algorithm
    let of_era = z % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let month_day = of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = (if month < 10 { month + 3 } else { month - 9 }, year_of_era + z / 146_097 * 400);
    let year = if month <= 2 { year + 1 } else { year };
    format!("{year:04}-{month:02}-{month_day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// The words from which the call lets us choose; those of Even/Odd if it says nothing.
fn choices(call: &str) -> Vec<&str> {
    let list = call.split_once("\"choices\"").map_or("", |(_, rest)| rest.trim_start_matches([' ', ':']));
    let told = list.strip_prefix('[').and_then(|rest| rest.split(']').next());
    let words = told.filter(|one| one.contains('"')).unwrap_or(r#""even","odd""#);
    words.split('"').skip(1).step_by(2).collect()
}

/// The strategy: write your own. The choice follows from the match, so that a repeated call gets it again.
fn choose<'a>(words: &[&'a str], match_id: &str) -> &'a str {
    words[match_id.bytes().map(usize::from).sum::<usize>() % words.len()]
}

fn main() {
    let mut player = String::from("P01");
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(given) = field(&line, "player_id") {
            player = given.to_string();
        }
        let (id, match_id) = (id(&line), field(&line, "match_id").unwrap_or(""));
        let message = |kind: &str, more: String| {
            let conversation = field(&line, "conversation_id").unwrap_or("");
            let from = format!(r#""sender":"player:{player}","player_id":"{player}""#);
            let about = format!(r#""conversation_id":"{conversation}","match_id":"{match_id}""#);
            let head = format!(r#""protocol":"league.v2","message_type":"{kind}","timestamp":"{}""#, now());
            format!(r#""result":{{{head},{from},{about},{more}}}"#)
        };
        let answer = match field(&line, "method").unwrap_or("") {
            "handle_game_invitation" => {
                message("GAME_JOIN_ACK", format!(r#""arrival_timestamp":"{}","accept":true"#, now()))
            }
            "choose_parity" => {
                let choice = choose(&choices(&line), match_id);
                message("CHOOSE_PARITY_RESPONSE", format!(r#""parity_choice":"{choice}""#))
            }
            "ping" | "update_standings" => String::from(r#""result":{"status":"ok"}"#),
            method if method.starts_with("notify_") => String::from(r#""result":{"status":"ok"}"#),
            _ => String::from(r#""error":{"code":-32601,"message":"Method not found"}"#),
        };
        println!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#);
        let _ = io::stdout().flush();
    }
}
