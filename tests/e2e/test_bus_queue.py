"""The queue of matches on a message bus: referees come for them, die, and are asked what they may not have."""

import json
import shutil
import signal
import unittest

import support_path  # noqa: F401
from league_testing import rpc, wait_until
from nats_broker import NatsBroker
from nats_client import NatsClient
import test_bus
from test_bus import MATCHES, PLAYERS, REFEREES, UNHURRIED, said


class QueueTest(test_bus.BusTest):
    def setUp(self):
        super().setUp()
        self.broker.close()
        self.streams = self.directory / "streams"
        self.broker = NatsBroker(jetstream_dir=self.streams).start()
        self.addCleanup(self.broker.close)

    def records_of(self, agent_id):
        """What the log of an agent holds, as text: programs are to be stopped before."""
        return (self.logs / "agents" / f"{agent_id}.log.jsonl").read_text()

    def token_of(self, agent_id):
        for file in (self.directory / "agents" / "agents").glob("*.json"):
            text = file.read_text()
            if f'"{agent_id}"' in text:
                return json.loads(text)["auth_token"]
        raise AssertionError(f"no token of {agent_id}")


class TakingMatches(QueueTest):
    def test_referees_come_for_their_matches(self):
        manager, referees, _ = self.start_league("random")
        self.assert_whole(manager)
        for referee in referees:
            records = self.records_of(referee.id)
            self.assertIn('"message_type":"claim_match"', records)
            self.assertNotIn('"message_type":"ROUND_ANNOUNCEMENT"', records, "nothing was given to it")
        played = {event["referee"] for event in self.events("MATCH_REPORTED")}
        self.assertEqual(played, set(range(REFEREES)), "both are free, so both play")

    def test_a_referee_that_never_comes_back(self):
        self.patience_of_pings()
        manager, referees, _ = self.start_league("slow:200")
        self.wait_for_matches(4)
        wait_until(lambda: self.open_matches(0), 10, "the referee plays")
        referees[0].program.kill()
        interrupted = self.open_matches(0)
        self.assert_whole(manager)
        reported = {event["match"]: event for event in self.events("MATCH_REPORTED")}
        for match in interrupted:
            self.assertEqual((reported[match]["attempt"], reported[match]["referee"]), (2, 1))

    def patience_of_pings(self):
        league = {**self.patience["league"], "referee_ping_failures": 5}
        self.patience = {**self.patience, "league": league}

    def open_matches(self, referee):
        reported = {event["match"] for event in self.events("MATCH_REPORTED")}
        return {event["match"] for event in self.events("MATCH_ASSIGNED") if event["referee"] == referee} - reported

    def test_the_broker_loses_what_it_had_acknowledged(self):
        manager, _, _ = self.start_league("slow:60")
        self.wait_for_matches(6)
        self.broker.kill()
        shutil.rmtree(self.streams)
        self.broker.start()
        self.assert_whole(manager, seconds=60)

    def test_the_manager_dies(self):
        manager, referees, _ = self.start_league("slow:60")
        self.wait_for_matches(6)
        manager.program.kill()
        manager = self.manager_again()
        self.assert_whole(manager)


class WithoutTheQueue(QueueTest):
    patience = {**test_bus.PATIENT, "bus": {**test_bus.PATIENT["bus"], "queue_wait_ms": 60_000}}

    def test_matches_are_given_out_until_it_works_again(self):
        manager, referees, _ = self.start_league("slow:500")
        self.wait_for_matches(2)
        client = NatsClient(self.broker.port)
        work = f"mcp.work.{manager.id}"
        # In its place stands a stream that takes no match.
        self.call(client, f"STREAM.DELETE.LEAGUE_WORK_{manager.id}", {})
        self.call(client, "STREAM.CREATE.FULL", {"name": "FULL", "subjects": [work], "storage": "memory",
                                                 "max_msgs_per_subject": 0, "max_bytes": 1, "discard": "new"})
        self.wait_until_said(manager, "so they are given out until it does", 20)
        self.wait_for_matches(len(self.events("MATCH_REPORTED")) + 6)
        self.call(client, "STREAM.DELETE.FULL", {})
        self.wait_until_said(manager, "the queue of matches works again", 30)
        claimed = self.claims()
        wait_until(lambda: self.claims() > claimed, 20, "referees come for their matches again")
        client.close()
        self.assert_whole(manager)
        given = [referee.id for referee in referees if '"message_type":"ROUND_ANNOUNCEMENT"' in
                 self.records_of(referee.id)]
        self.assertTrue(given, "they were given out meanwhile")

    def test_a_manager_that_is_there_before_its_broker(self):
        self.broker.kill()
        manager = self.start_manager()
        self.wait_until_said(manager, "so they are assigned until it does", 5)
        self.broker.start()
        for i in range(REFEREES):
            self.start_referee(manager, name=f"whistle{i}")
        self.start_players(manager, PLAYERS, "slow:300")
        self.wait_until_said(manager, "the queue of matches works again", 30)
        wait_until(lambda: self.claims() > 0, 20, "referees come for their matches")
        self.assert_whole(manager)

    def call(self, client, subject, request):
        answer = client.request(f"$JS.API.{subject}", json.dumps(request).encode()).json()
        self.assertNotIn("error", answer)

    def claims(self):
        """How many matches referees have come for."""
        logs = (self.logs / "agents").glob("REF*.log.jsonl")
        return sum("YOURS" in line for file in logs for line in file.read_text().splitlines())


class Claims(QueueTest):
    def setUp(self):
        super().setUp()
        self.manager, self.referees, self.players = self.start_league("slow:3000")
        wait_until(lambda: len(self.events("MATCH_ASSIGNED")) == 4, 10, "the first round is played")

    def claim(self, **arguments):
        return rpc(self.manager.url, "claim_match", arguments).json["result"]

    def test_are_the_referees_own(self):
        player = self.players[0].id
        for code, sender, token in (("E011", "referee:REF01", ""), ("E012", "referee:REF01", "tok_ref01_wrong"),
                                    ("E012", "referee:REF01", self.token_of("REF02")),
                                    ("E013", "referee:REF99", self.token_of("REF01")),
                                    ("E013", f"player:{player}", self.token_of(player))):
            answer = self.claim(sender=sender, auth_token=token, claims=[{"match_id": "R1M1"}])
            self.assertEqual(answer["error_code"], code, answer)
            self.assertNotIn("matches", answer)

    def test_say_what_becomes_of_each_match(self):
        owners = {event["match"]: event["referee"] for event in self.events("MATCH_ASSIGNED")}
        own = next(match for match, referee in owners.items() if referee == 0)
        others = next((match for match, referee in owners.items() if referee == 1), None)
        claims = [{"match_id": own, "attempt": 1}, {"match_id": "R7M1"}, {"match_id": "R99M99"}]
        if others:
            claims.append({"match_id": others, "attempt": 1})
        answer = self.claim(sender="referee:REF01", auth_token=self.token_of("REF01"), claims=claims)
        self.assertEqual(answer["verdicts"][own], "YOURS")
        self.assertEqual([match["attempt"] for match in answer["matches"]], [1], "the same attempt, not another one")
        self.assertEqual((answer["verdicts"]["R7M1"], answer["verdicts"]["R99M99"]), ("OVER", "OVER"))
        if others:
            self.assertEqual(answer["verdicts"][others], "HELD")

    def test_take_back_nothing_of_others(self):
        owners = {event["match"]: event["referee"] for event in self.events("MATCH_ASSIGNED")}
        foreign = [match for match, referee in owners.items() if referee == 1]
        self.claim(sender="referee:REF01", auth_token=self.token_of("REF01"), refused=foreign)
        self.assertEqual(self.events("MATCH_RELEASED"), [])

    def test_are_checked(self):
        token = self.token_of("REF01")
        for claims in ("R1M1", [7], [{"match_id": 7}], [{"match_id": "R1M1", "attempt": 0}],
                       [{"match_id": "R1M1", "attempt": "one"}], [{"match_id": "R1M1"}] * 1001):
            answer = self.claim(sender="referee:REF01", auth_token=token, claims=claims)
            self.assertEqual(answer["error_code"], "E023", claims)


class Silence(QueueTest):
    patience = UNHURRIED

    def test_is_a_state_of_the_agent(self):
        manager, _, players = self.start_league("slow:100")
        frozen = players[0].program.process
        frozen.send_signal(signal.SIGSTOP)
        self.addCleanup(frozen.send_signal, signal.SIGCONT)
        self.wait_until_said(manager, "is silent on the bus")
        wait_until(lambda: self.changes("SUSPENDED"), 5, "the journal says so")
        frozen.send_signal(signal.SIGCONT)
        self.wait_until_said(manager, "is back on the bus")
        wait_until(lambda: set(self.changes("ACTIVE")) >= {(agent, "HEARD_AGAIN") for agent, reason in
                                                           self.changes("SUSPENDED") if reason == "SILENT"}, 5,
                   "they are active again")
        self.assertIn("SILENT", {reason for _, reason in self.changes("SUSPENDED")})
        status = self.wait_until_over(manager)
        self.assertEqual(status["matches_completed"], MATCHES)
        self.assertNotIn("REF", " ".join(agent for agent, _ in self.changes("SUSPENDED")))
        self.assertIn("is back", said(manager))

    def changes(self, state):
        return [(event["agent"], event["reason"]) for event in self.events("AGENT_STATE_CHANGED")
                if event["to"] == state]


if __name__ == "__main__":
    unittest.main()
