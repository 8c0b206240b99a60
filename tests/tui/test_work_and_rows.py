"""Reads that replace one another, writes in order, and a list of a million rows."""

from __future__ import annotations

import threading
import time
from array import array

import pytest
from textual.app import App

from engine.model.errors import MemdeckError
from tests.tui.factories import memory
from tests.tui.harness import Walk
from tui.widgets.memory_table import MemoryTable
from tui.widgets.row_table import PAGE, RowTable
from tui.work import Work

pytestmark = pytest.mark.anyio


class SlowEngine:
    """Reads for a while unless interrupted, as a database does."""

    def __init__(self):
        self.stopped = threading.Event()
        self.asked = []

    def interrupt(self):
        self.stopped.set()

    def read(self, name, seconds=0.3):
        self.asked.append(name)
        self.stopped.clear()
        if self.stopped.wait(seconds):
            raise MemdeckError("internal", "interrupted", "ask again")
        return name


async def test_a_newer_read_interrupts_and_only_its_answer_is_delivered():
    engine, answers, failures = SlowEngine(), [], []
    app = App()
    async with app.run_test() as pilot:
        work = Work(app, engine, failures.append)
        begin = time.monotonic()
        for text in ("a", "ab", "abc"):
            work.read(app, "filter", lambda text=text: engine.read(text), answers.append)
            await pilot.pause(0.05)
        await app.workers.wait_for_complete()
        assert answers == ["abc"]
        assert failures == []
        assert time.monotonic() - begin < 0.9


async def test_what_an_interrupt_hit_by_the_way_is_asked_again():
    engine, answers = SlowEngine(), []
    app = App()
    async with app.run_test() as pilot:
        work = Work(app, engine, pytest.fail)
        work.read(app, "rows", lambda: engine.read("rows"), answers.append)
        work.read(app, "filter", lambda: engine.read("old"), answers.append)
        await pilot.pause(0.05)
        work.read(app, "filter", lambda: engine.read("new", 0.01), answers.append)
        await app.workers.wait_for_complete()
        assert sorted(answers) == ["new", "rows"]
        assert engine.asked.count("rows") == 2


async def test_writes_keep_their_order_and_a_refusal_stops_none():
    done, failures = [], []
    app = App()
    async with app.run_test():
        work = Work(app, SlowEngine(), failures.append)

        def write(number):
            time.sleep(0.03 if number % 2 else 0.0)
            if number == 2:
                raise MemdeckError("locked", "mem-2 is locked", "")
            return number

        for number in range(6):
            work.write(lambda number=number: write(number), done.append)
        await app.workers.wait_for_complete()
        assert done == [0, 1, 3, 4, 5]
        assert [error.code for error in failures] == ["locked"]
        assert work.writes_waiting == 0


class Million(App):
    """A list of a million memories that are made when they are asked for."""

    def __init__(self):
        super().__init__()
        self.pages = []

    def compose(self):
        yield MemoryTable(id="rows")

    def on_mount(self):
        table = self.query_one(MemoryTable)
        table.show(array("q", range(1_000_000, 0, -1)))
        table.focus()

    def on_row_table_rows_wanted(self, wanted: RowTable.RowsWanted):
        self.pages.append(wanted.page)
        wanted.table.fill(wanted, [memory(id, f"第 {id} 条") for id in wanted.ids])


async def test_a_million_rows_hydrate_only_what_is_seen():
    app = Million()
    async with app.run_test(size=(120, 36)) as pilot:
        walk, table = Walk(app, pilot), app.query_one(MemoryTable)
        await walk.settle(0.05)
        assert table.current.description == "第 1000000 条"
        table.cursor = 999_999
        await walk.settle(0.05)
        assert table.current.description == "第 1 条"
        assert table.scroll_offset.y == 1_000_000 - table.size.height
        table.cursor = 500_000
        await walk.settle(0.05)
        assert len(set(app.pages)) <= 6
        assert all(strip.cell_length == table.size.width for strip in table.render_lines(table.size.region))
        table.mark_ids(range(1, 1001))
        table.show(array("q", range(500_100, 0, -1)))
        assert table.current_id == 500_000
        assert len(table.marks) == 1000
        assert PAGE == 128


async def test_a_write_is_never_interrupted():
    engine, done = SlowEngine(), []
    app = App()
    async with app.run_test() as pilot:
        work = Work(app, engine, pytest.fail)
        work.write(lambda: engine.read("write", 0.2), done.append)
        for _ in range(3):
            work.read(app, "filter", lambda: time.sleep(0.02), lambda _: None)
            await pilot.pause(0.01)
        await app.workers.wait_for_complete()
        assert done == ["write"]
