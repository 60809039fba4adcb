"""`league bus-config` and the real broker: every agent may do what it must, and nothing with others' subjects."""

import json
import stat
import subprocess
import unittest

import support_path  # noqa: F401
from bus_config import LEAGUE, BusConfigTest
from nats_client import SERVER, Broker, NatsClient, NatsError, NoResponders

JOURNAL, BEAT = f"mcp.journal.{LEAGUE}.1", f"mcp.journal.{LEAGUE}.beat"
NEWS = f"mcp.events.{LEAGUE}.round_announcement"
ENTRIES, EVENTS = f"LEAGUE_STREAM_1_{LEAGUE}", f"LEAGUE_EVENTS_{LEAGUE}"


class TheCommand(BusConfigTest):
    def test_what_it_makes_is_for_its_owner_alone(self):
        made = self.made("--players", 2, "--referees", 1)
        self.assertEqual(sorted(made["credentials"]), ["manager", "operator", "player01", "player02", "referee01"])
        for path in [*made["servers"], made["users"], *made["credentials"].values()]:
            self.assertEqual(stat.S_IMODE((self.directory / path).stat().st_mode), 0o600, path)
        who = json.loads((self.directory / made["credentials"]["player02"]).read_text())
        self.assertEqual((who["url"], who["user"], who["league_id"]), ("nats://127.0.0.1:4222", "player02", LEAGUE))
        self.assertRegex(who["password"], "^[0-9a-f]{32}$")
        self.assertRegex(who["session"], "^[0-9a-f]{32}$")
        self.assertNotIn(who["password"], (self.directory / made["users"]).read_text())

    def test_a_file_of_agents(self):
        (self.directory / "agents.txt").write_text("player alpha 0123456789abcdef\nreferee whistle # fair\n")
        made = self.made("--agents", "agents.txt")
        self.assertEqual(sorted(made["credentials"]), ["alpha", "manager", "operator", "whistle"])
        self.assertEqual(json.loads((self.directory / made["credentials"]["alpha"]).read_text())["session"],
                         "0123456789abcdef")

    def test_refusals_say_what_to_do(self):
        self.bus_config("--players", 1)
        self.assertIn("--force", self.bus_config("--players", 1, code=2).stderr)
        self.bus_config("--players", 1, "--force")
        (self.directory / "agents.txt").write_text("player good\nplayer ../bad\n")
        self.assertIn("agents.txt, line 2", self.bus_config("--agents", "agents.txt", "--dir", "b", code=2).stderr)
        self.assertIn("--players", self.bus_config(code=2).stderr)
        self.bus_config("--players", 1, "--tls-cert", "c.pem", "--dir", "c", code=2)
        self.bus_config("--players", 1, "--listen", "nats://host:1", "--dir", "c", code=2)
        refused = self.bus_config("--players", 1, "--broker-version", "new", "--dir", "c", code=2)
        self.assertIn("is not a version such as 2.10.27", refused.stderr)
        self.assertIn("unencrypted", self.bus_config("--players", 1, "--listen", "10.0.0.1", "--dir", "d").stderr)

    def test_where_it_listens_and_where_it_is_reached(self):
        made = self.made("--players", 1, "--listen", "0.0.0.0:4222", "--public", "broker:14222")
        who = json.loads((self.directory / made["credentials"]["player01"]).read_text())
        self.assertEqual(who["url"], "nats://broker:14222")
        self.assertIn('listen: "0.0.0.0:4222"', (self.directory / made["servers"][0]).read_text())
        self.assertIn("--public", self.bus_config("--players", 1, "--listen", "0.0.0.0:4222", "--dir", "b", code=2).stderr)

    def configured(self, *options):
        """What the command says for a broker with streams, and the broker's configuration."""
        done = self.bus_config("--players", 1, "--jetstream", "kept", "--force", *options)
        return done, (self.directory / "bus" / "server.conf").read_text()

    def test_a_broker_that_can_flushes_before_it_acknowledges(self):
        done, written = self.configured("--broker-version", "2.10.27")
        self.assertIn("sync_interval: always", written)
        self.assertIn("2.10.27", done.stdout)
        self.assertNotIn("note:", done.stderr)
        done, written = self.configured("--broker-version", "2.9.25")
        self.assertNotIn("sync_interval", written)
        notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
        self.assertEqual(len(notes), 1, done.stderr)
        self.assertIn("nats-server 2.9.25 acknowledges a message before its disk has it", notes[0])
        self.assertIn("the leading manager itself is flushed in any case", notes[0])
        made = self.made("--players", 1, "--broker-version", "2.10.0", "--jetstream", "kept", "--dir", "b")
        self.assertEqual((made["broker_version"], made["flushes_messages"]), ("2.10.0", True))
        self.assertNotIn("note:", self.bus_config("--players", 1, "--dir", "c").stderr, "it has no streams")

    @unittest.skipUnless(SERVER, "nats-server is not installed")
    def test_without_a_version_the_installed_broker_is_asked(self):
        said = subprocess.run([SERVER, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
        version = said.strip().removeprefix("nats-server: v").split("-")[0]
        made = self.made("--players", 1, "--jetstream", "kept")
        major, minor = map(int, version.split(".")[:2])
        self.assertEqual((made["broker_version"], made["flushes_messages"]), (version, (major, minor) >= (2, 10)))

    def test_it_says_the_next_command(self):
        self.assertIn("nats-server -c bus/server.conf", self.bus_config("--players", 1).stdout)
        self.assertIn("league bus-config --players", self.bus_config("--help").stdout)
        cluster = ["--players", 1, "--cluster", "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3"]
        self.assertIn("replicas = 3", self.bus_config(*cluster, "--jetstream", "kept", "--dir", "three").stdout)
        self.assertNotIn("replicas", self.bus_config(*cluster, "--dir", "without").stdout)


@unittest.skipUnless(SERVER, "nats-server is not installed")
class TheBroker(BusConfigTest):
    def setUp(self):
        super().setUp()
        self.config = self.made("--players", 2, "--referees", 2, "--jetstream", "streams")
        self.broker = Broker(self.directory, "-c", self.directory / self.config["servers"][0])
        self.addCleanup(self.broker.stop)
        for name in ("manager", "operator", "player01", "player02", "referee01", "referee02"):
            setattr(self, name, self.client(name))
        self.keeper = self.client("manager", at_streams=True)

    def session(self, name):
        return json.loads((self.directory / self.config["credentials"][name]).read_text())["session"]

    def client(self, name, **options):
        client = NatsClient.of(self.directory / self.config["credentials"][name], self.broker.port, **options)
        self.addCleanup(client.close)
        return client

    def discovery(self, name):
        return f"mcp.discovery.{self.session(name)}"

    def subject(self, name, side):
        return f"mcp.session.{self.session(name)}.{side}"

    def ask(self, asker, subject, answerer, heard):
        """`asker` asks at `subject`, `answerer` answers what comes by `heard`."""
        inbox = f"_INBOX.{self.session(self.name_of(asker))}.one"
        answers = asker.sub(inbox)
        asker.pub(subject, b"question", inbox)
        asker.flush()
        message = heard.next()
        answerer.pub(message.reply, b"answer")
        self.assertEqual(answerer.refusals(), [])
        self.assertEqual(answers.next().data, b"answer")
        answers.end()

    def name_of(self, client):
        return next(name for name in self.config["credentials"] if getattr(self, name) is client)

    def test_what_agents_must_do(self):
        discovery = self.manager.sub("mcp.discovery.*", "manager." + LEAGUE)
        entrance = self.manager.sub("mcp.session.*.in")
        self.manager.flush()
        for name in ("player01", "referee01", "operator"):
            agent = getattr(self, name)
            out = agent.sub(self.subject(name, "out"))
            news = agent.sub(f"mcp.events.{LEAGUE}.>")
            agent.flush()
            self.ask(agent, self.discovery(name), self.manager, discovery)
            self.ask(agent, self.subject(name, "in"), self.manager, entrance)
            self.ask(self.manager, self.subject(name, "out"), agent, out)
            self.manager.pub(f"mcp.events.{LEAGUE}.ROUND_ANNOUNCEMENT", b"news")
            self.manager.flush()
            self.assertEqual(news.next().data, b"news")
            self.assertEqual(agent.refusals(), [])
        out = self.player02.sub(self.subject("player02", "out"))
        self.player02.flush()
        self.ask(self.referee01, self.subject("player02", "out"), self.player02, out)
        attached = self.referee01.sub("mcp.session.*.attached")
        self.referee01.flush()
        self.manager.pub(self.subject("player02", "attached"))
        self.manager.flush()
        self.assertEqual(attached.next().reply, "", "nothing to answer")
        self.assertEqual(self.manager.refusals() + self.referee01.refusals(), [])

    def make_stream(self, name, *subjects, **more):
        answer = self.keeper.request(f"$JS.API.STREAM.CREATE.{name}", {
            "name": name, "subjects": subjects, "storage": "memory", **more}).json()
        self.assertNotIn("error", answer)

    def make_all(self):
        """All the streams of a league, with something in each; their names."""
        self.make_stream(ENTRIES, JOURNAL)
        self.make_stream(EVENTS, f"mcp.events.{LEAGUE}.>")
        for subject in (JOURNAL, NEWS):
            self.assertIn("seq", self.keeper.request(subject, b"{}").json())
        return [ENTRIES, EVENTS]

    def state(self, stream):
        return self.keeper.request(f"$JS.API.STREAM.INFO.{stream}").json()["state"]

    def test_what_is_published_once_is_heard_in_the_league(self):
        self.make_stream(f"LEAGUE_EVENTS_{LEAGUE}", f"mcp.events.{LEAGUE}.>")
        heard = [getattr(self, name).sub(f"mcp.events.{LEAGUE}.>") for name in ("player01", "referee01", "operator")]
        for subscription in heard:
            subscription.client.flush()
        self.assertIn("seq", self.keeper.request(NEWS, b"news").json())
        for subscription in heard:
            event = subscription.next()
            self.assertEqual((event.subject, event.data), (NEWS, b"news"))
            if event.reply:  # where the broker tells the manager that it is kept; in the league nobody is there
                subscription.client.pub(event.reply, b'{"stream": "X", "seq": 99}')
                subscription.client.flush()
            self.assertEqual(subscription.waiting(), 0, "once")

    def test_nobody_forges_the_brokers_word(self):
        """Who hears an event may answer it; but not to the one who waits for the broker's word."""
        reply = f"{self.keeper.inbox}.stored"
        word, news = self.keeper.sub(reply), self.player01.sub(f"mcp.events.{LEAGUE}.>")
        self.player01.flush()
        self.keeper.pub(NEWS, b"news", reply)
        event = news.next()
        for client in (self.player01, self.player02, self.manager):
            client.pub(event.reply or reply, b'{"stream": "X", "seq": 99}')
            client.flush()
        self.keeper.flush()
        self.assertEqual([message.data for message in word.messages if message.status != "503"], [])

    def test_only_managers_write_the_journal(self):
        """Nor does anybody else take part in the choice of the leader, which the heartbeats decide."""
        self.make_all()
        heard = self.keeper.sub(BEAT)
        self.keeper.flush()
        at_streams = self.client("operator", at_streams=True)
        self.assertEqual(at_streams.request(f"$JS.API.STREAM.INFO.{ENTRIES}").json()["state"]["last_seq"], 1)
        for client in (self.player01, self.referee01, self.operator, at_streams):
            for subject in (JOURNAL, f"mcp.journal.{LEAGUE}.2", BEAT):
                client.pub(subject, b"forged")
                self.assertIn("Permissions Violation for Publish", " ".join(client.refusals()))
        self.manager.pub(BEAT, b"in the league's account nobody listens")
        self.manager.flush()
        self.assertEqual((self.state(ENTRIES)["last_seq"], heard.waiting()), (1, 0))
        self.keeper.pub(BEAT, b"{}")
        self.assertEqual(heard.next().data, b"{}")
        self.assertEqual(self.keeper.refusals(), [])

    def test_only_managers_read_the_journal(self):
        """It holds the seeds of draws to come."""
        self.make_all()
        for name in ("player02", "referee02", "operator"):
            self.refuses_to_hear(getattr(self, name), JOURNAL, BEAT, f"mcp.journal.{LEAGUE}.>", "mcp.journal.>")
            self.refuses_to_say(getattr(self, name), JOURNAL, BEAT, f"$JS.API.STREAM.MSG.GET.{ENTRIES}",
                                f"$JS.API.DIRECT.GET.{ENTRIES}", f"$JS.API.CONSUMER.CREATE.{ENTRIES}",
                                f"$JS.API.CONSUMER.CREATE.{ENTRIES}.mine.{JOURNAL}",
                                f"$JS.API.CONSUMER.MSG.NEXT.{ENTRIES}.any")
        overheard = self.manager.sub("mcp.>")  # in the league nothing of it is heard, whoever listens
        self.manager.flush()
        self.keeper.request(JOURNAL, b"{}")
        self.keeper.pub(BEAT, b"{}")
        self.keeper.flush()
        self.assertEqual(overheard.waiting(), 0)

    def refuses_to_hear(self, client, *subjects):
        for subject in subjects:
            for queue in ("", "group"):
                client.sub(subject, queue)
                refused = client.refusals()
                self.assertEqual(len(refused), 1, f"{self.name_of(client)} hears {subject}")
                self.assertIn("Permissions Violation for Subscription", refused[0])

    def refuses_to_say(self, client, *subjects):
        for subject in subjects:
            for reply in ("", "_INBOX.x.y", subject):
                client.pub(subject, b"forged", reply)
                refused = client.refusals()
                self.assertEqual(len(refused), 1, f"{self.name_of(client)} speaks at {subject}")
                self.assertIn("Permissions Violation for Publish", refused[0])

    def test_nobody_hears_what_is_for_others(self):
        for name in ("player02", "referee02", "operator"):
            client = getattr(self, name)
            self.refuses_to_hear(client, "mcp.>", ">", "*", "_INBOX.>", "_INBOX.*", "_INBOX.*.>", "mcp.session.>",
                                 "mcp.session.*.out", "mcp.session.*.in", "mcp.discovery", "mcp.*", "*.session.>",
                                 "mcp.discovery.*", self.discovery(name), "$SYS.>", "$JS.>", "$KV.>",
                                 self.subject(name, "in"))
            for other in ("player01", "referee01", "manager"):
                self.refuses_to_hear(client, self.subject(other, "in"), self.subject(other, "out"),
                                     f"_INBOX.{self.session(other)}.>", f"_INBOX.{self.session(other)}.one")
        for name in ("player02", "referee02"):
            self.refuses_to_hear(getattr(self, name), "mcp.events.>", "mcp.events.other_league.>")

    def test_nobody_speaks_for_others(self):
        for name in ("player02", "referee02", "operator"):
            self.refuses_to_say(getattr(self, name), self.subject("player01", "in"), self.subject("referee01", "in"),
                                f"_INBOX.{self.session('player01')}.one", f"_INBOX.{self.session('manager')}.one",
                                f"mcp.events.{LEAGUE}.ROUND_ANNOUNCEMENT", "mcp.anything", "$KV.league.lease",
                                "$SYS.REQ.SERVER.PING")
        for name in ("player02", "operator"):
            self.refuses_to_say(getattr(self, name), "mcp.discovery", self.discovery("player01"),
                                self.discovery("referee01"), "mcp.discovery.new-session",
                                *(self.subject(other, "out") for other in self.config["credentials"]))

    def test_nobody_of_the_league_touches_streams(self):
        for stream in self.make_all():
            requests = [f"$JS.API.STREAM.{verb}.{stream}" for verb in ("DELETE", "PURGE", "UPDATE", "INFO", "MSG.GET")]
            requests += [f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.mine", f"$JS.API.CONSUMER.CREATE.{stream}",
                         f"$JS.API.CONSUMER.MSG.NEXT.{stream}.any", f"$JS.ACK.{stream}.any.1.1.1.1.0"]
            for client in (self.player02, self.referee02, self.operator):
                self.refuses_to_say(client, *requests, "$JS.API.INFO", "$JS.API.STREAM.CREATE.MINE")
        at_streams = self.client("operator", at_streams=True)
        self.assertNotIn("error", at_streams.request(f"$JS.API.STREAM.INFO.{EVENTS}").json())

    def test_an_answer_only_where_it_was_asked_for(self):
        out = self.player02.sub(self.subject("player02", "out"))
        self.player02.flush()
        asked = f"_INBOX.{self.session('referee01')}.asked"
        self.refuses_to_say(self.player02, asked)
        answers = self.referee01.sub(asked)
        self.referee01.pub(self.subject("player02", "out"), b"?", asked)
        self.referee01.flush()
        self.assertEqual(out.next().reply, asked)
        for number in range(20):
            self.player02.pub(asked, b"%d" % number)
        self.assertEqual(len(self.player02.refusals()), 4, "16 for events and the answer")
        self.assertEqual(answers.waiting(), 16)
        self.refuses_to_say(self.player02, asked + "2", asked + ".x")
        self.refuses_to_say(self.player01, asked)

    def test_many_questions_at_once(self):
        out = self.player02.sub(self.subject("player02", "out"))
        self.player02.flush()
        inbox = f"_INBOX.{self.session('manager')}."
        answers = self.manager.sub(inbox + ">")
        for number in range(5000):
            self.manager.pub(self.subject("player02", "out"), b"?", inbox + str(number))
        self.manager.flush()
        self.assertEqual(out.waiting(), 5000)
        for message in out.messages:
            self.player02.pub(message.reply, b"!")
        self.assertEqual(self.player02.refusals(), [])
        self.assertEqual(answers.waiting(), 5000)

    def test_no_referee_allows_itself_more(self):
        """The broker lets answer at the reply subject of what one gets; so nobody may send itself anything."""
        for name in ("referee01", "referee02"):
            getattr(self, name).sub(self.subject(name, "out"))
            getattr(self, name).flush()
        for to in ("referee01", "referee02"):
            self.referee01.pub(self.subject(to, "out"), b"", JOURNAL)
            self.assertEqual(len(self.referee01.refusals()), 1)
        self.refuses_to_say(self.referee01, JOURNAL)
        self.refuses_to_say(self.referee02, JOURNAL)

    def test_only_with_the_password(self):
        for user, password in ((None, None), ("player01", ""), ("player01", "0" * 32), ("nobody", "x"), ("", "")):
            with self.assertRaises(NatsError):
                NatsClient(self.broker.port, user, password)
        who = json.loads((self.directory / self.config["credentials"]["player01"]).read_text())
        for user in ("player02", "manager/streams"):
            with self.assertRaises(NatsError):
                NatsClient(self.broker.port, user, who["password"])

    def test_nobody_there_is_said_at_once(self):
        with self.assertRaises(NoResponders):
            self.player01.request(self.discovery("player01"))


if __name__ == "__main__":
    unittest.main()
