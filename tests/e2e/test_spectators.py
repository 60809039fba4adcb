"""Many who watch a league (at night thousands): news reach all within a second, their death harms nobody, and calls are as quick as ever."""

import asyncio
import resource
import socket
import threading
import time
import unittest
from urllib.parse import urlsplit

import spectator_load
import support_path  # noqa: F401
from league_testing import IS_NIGHTLY, LeagueTest, limits, rpc
from spectators import SocketSpectator, StreamSpectator, gather_crowd

CROWD = 2000 if IS_NIGHTLY else 500  # of each kind


class Spectators(LeagueTest):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < 2 * CROWD + 200:
            self.skipTest("this system allows too few open files")

    def test_a_crowd_of_each_kind(self):
        manager = self.start_manager(4, 1)
        where = urlsplit(manager.url)
        streams = [StreamSpectator(where.hostname, where.port) for _ in range(CROWD)]
        sockets = [SocketSpectator(where.hostname, where.port) for _ in range(CROWD)]
        asyncio.run(self.watch_league(manager, streams, sockets))

    def test_the_measuring_of_their_cost(self):
        alone, watched = spectator_load.play(6, 0), spectator_load.play(6, 40)
        self.assertGreater(alone["rate"], 0)
        self.assertEqual((watched["lost"], watched["matches"]), (0, 15), "who watches has seen every match")

    async def watch_league(self, manager, streams, sockets):
        await gather_crowd(streams + sockets)
        # Rounds of one and a half seconds: half of the crowd is gone between the first table and the second.
        self.start_referee(manager)
        self.start_players(manager, 4, "slow:1500")
        await self.until(lambda: all(s.arrivals for s in streams + sockets), "the first table has reached everybody")
        self.assert_close_together(streams + sockets, 0)
        stay, go = (streams[::2] + sockets[::2]), (streams[1::2] + sockets[1::2])
        for spectator in go:
            spectator.vanish()
        before = min(len(s.arrivals) for s in stay)
        await self.until(lambda: all(len(s.arrivals) > before for s in stay), "the next table has reached those who stay")
        self.assert_close_together(stay, before)
        self.assertEqual([s for s in stay if s.lost], [], "nobody who stays was cut off")
        status = await asyncio.to_thread(self.wait_until_over, manager, 30)
        self.assertEqual(status["technical_losses"], 0)

    async def until(self, condition, what, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"not within {seconds} s: {what}")
            await asyncio.sleep(0.02)

    def assert_close_together(self, spectators, which):
        times = [s.arrivals[which] for s in spectators]
        self.assertLess(max(times) - min(times), 3.0, f"from the first to the last of {len(times)}")

    def test_a_call_is_answered_beside_forty_streams_and_idle_connections(self):
        manager = self.start_manager(2, 1, limits=limits())
        where = urlsplit(manager.url)
        streams = [StreamSpectator(where.hostname, where.port) for _ in range(40)]
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(gather_crowd(streams), loop).result(30)
            idle = [socket.create_connection((where.hostname, where.port)) for _ in range(400)]
            took = []
            for _ in range(200):
                begun = time.monotonic()
                self.assertEqual(rpc(manager.url, "get_league_status").status, 200)
                took.append(time.monotonic() - begun)
            for connection in idle:
                connection.close()
            self.assertLess(sorted(took)[-20], 0.05, "some may meet a busy machine")
            self.assertEqual([s for s in streams if s.lost], [])
        finally:
            loop.call_soon_threadsafe(lambda: [s.vanish() for s in streams])
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


if __name__ == "__main__":
    unittest.main()
