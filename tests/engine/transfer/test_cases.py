"""Memory directories as found in the wild: each case's README.yaml says what a right import gives (S72)."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from engine.transfer.frontmatter import file_bytes
from engine.transfer.plan import ImportPlan, ParsedMemory, Planned

CASES = Path(__file__).parents[2] / "cases"
DIRECTORIES = ("en-lantern", "en-fernhouse", "zh-zhiyuan", "zh-xiaozhan", "vi-xuongnhan", "messy-falk")
FALK = "projects/C--Users-Ren-Falk/memory"
REN = "projects/-home-ren-notes/memory"
Case = Callable[[str], ImportPlan]


def expected(name: str) -> dict:
    return yaml.safe_load((CASES / name / "README.yaml").read_text(encoding="utf-8"))


def memory(plan: ImportPlan, path: str) -> ParsedMemory:
    return next(item for item in plan.memories if item.source_path == path)


def report(plan: ImportPlan, kind: str) -> list[str]:
    return [problem.file for problem in plan.problems if problem.kind == kind]


def found_links(plan: ImportPlan, form: str = "wiki") -> tuple[int, list[tuple[str, str]]]:
    links = [(item.source_path, link) for item in plan.memories for link in item.links if link.form == form]
    return len(links), [(path, link.target) for path, link in links if link.resolved is None]


@pytest.mark.parametrize("name", DIRECTORIES)
def test_every_file_is_taken_or_has_a_line(case: Case, name: str) -> None:
    plan = case(name)
    files = {
        os.path.relpath(os.path.join(folder, file), CASES / name)
        for folder, _, names in os.walk(CASES / name)
        for file in names
    } - {"README.yaml"}
    accounted = {item.source_path for item in plan.memories} | {item.file for item in plan.problems}
    accounted |= {entry.file for entry in plan.index}
    assert files <= accounted
    assert plan.files == expected(name)["files"]["total"] == len(files)


@pytest.mark.parametrize("name", DIRECTORIES)
def test_every_line_of_the_expected_report_is_there(case: Case, name: str) -> None:
    plan = case(name)
    for line in expected(name)["gives"]["report"]:
        found = [item for item in plan.problems if (item.file, item.kind) == (line["file"], line["kind"])]
        assert found, line
        if line["kind"] in ("dangling_link", "dangling_index"):
            assert len(found) == line.get("count", 1), line
        if line["kind"] == "index_prose":
            assert sum(piece.file == line["file"] for piece in plan.prose) == line["count"]


@pytest.mark.parametrize("name", ["en-lantern", "en-fernhouse", "zh-zhiyuan", "messy-falk"])
def test_types_are_counted_as_the_case_says(case: Case, name: str) -> None:
    plan = case(name)
    assert plan.by_type() == expected(name)["gives"]["by_type"]


@pytest.mark.parametrize("name", DIRECTORIES)
def test_files_come_back_byte_for_byte(case: Case, name: str) -> None:
    for item in case(name).memories:
        if item.state is not Planned.HELD:
            data = file_bytes(item.header_text, item.body, item.eol, item.bom, item.encoding, item.raw)
            assert data == (CASES / name / item.source_path).read_bytes()


@pytest.mark.parametrize("name", [*DIRECTORIES, "odd"])
def test_no_byte_of_a_secret_is_in_a_plan(case: Case, name: str) -> None:
    plan = case(name)
    for secret in ("Example-Only-2026", "tok_example_000", "4111 1111 1111 1111"):
        assert secret not in repr(plan)


def test_lantern(case: Case) -> None:
    plan = case("en-lantern")
    assert len(plan.memories) == 24
    assert plan.by_state() == {"active": 23, "held": 1}
    held = memory(plan, "reference_servers.md")
    assert [(spot.line, spot.kind) for spot in held.secrets] == [(8, "password")]
    assert "password: [redacted: password]" in held.body
    assert [item.line for item in plan.problems if (item.file, item.kind) == ("MEMORY.md", "secret")] == [7]
    assert (len(plan.index), plan.lost_entries(), plan.prose) == (24, (), ())
    assert found_links(plan) == (
        9,
        [
            ("project_codebase_gotchas.md", "seed-without-slots"),
            ("project_search_scope.md", "reader-privacy-levels"),
        ],
    )
    links = {link.target: link.resolved for item in plan.memories for link in item.links}
    assert links["dev-workflow"] == "feedback_dev_workflow.md"
    assert links["opening-hours"] == "project_opening_hours.md"
    assert links["receipt-numbers"] == "project_receipt_numbers.md"
    assert links["project_search_scope#Deferred"] == "project_search_scope.md"
    dated = {item.source_path for item in plan.memories if item.dated_by != "file"}
    assert len(dated) == 3 and "project_bugs_2026_05_09.md" not in dated
    kept = [item for item in plan.memories if "originSessionId" in dict(item.extra.get("metadata", {}))]
    assert len(kept) == 12 and all(item.extra["metadata"]["node_type"] == "memory" for item in kept)
    assert (
        "One word in every layer; the screen gives way, not the server"
        in memory(plan, "feedback_slot_is_the_word.md").hooks
    )


def test_fernhouse(case: Case) -> None:
    plan = case("en-fernhouse")
    assert plan.by_state() == {"active": 15, "archived": 2, "superseded": 1}
    old = memory(plan, "watering-window.md")
    assert (old.state, old.superseded_by) == (Planned.SUPERSEDED, "watering-window-v2.md")
    assert memory(plan, "watering-window-v2.md").supersedes == ("watering-window.md",)
    assert {item.source_path for item in plan.memories if item.state is Planned.ARCHIVED} == {
        "archive/old-proxy-setup.md",
        "archive/epic-12.md",
    }
    calendar = memory(plan, "release-calendar.md")
    assert calendar.valid_from == 1775059200000  # 2026-04-02 at UTC+8
    assert calendar.valid_to is None
    assert calendar.extra["importance"] == 3
    assert memory(plan, "seed-lot-codes.md").extra["recall_count"] == 7
    for path, name in expected("en-fernhouse")["gives"]["names_made_up"].items():
        assert memory(plan, path).name == name
    stack = memory(plan, "stack-decision.md")
    assert (stack.type, stack.type_word) == ("project", "decision")
    assert memory(plan, "labels-before-beds.md").tags == ("beds", "labels", "active", "p1")
    assert memory(plan, "bench-names-change.md").tags == ("benches", "naming", "log")
    assert memory(plan, "bench-names-change.md").aliases == ("bench renumbering", "cite the plate")
    assert memory(plan, "bench-names-change.md").hooks == ("cite the plate",)
    assert memory(plan, "chart-drawn-too-early.md").tags == ("area/ui", "type/gotcha")
    glossary = memory(plan, "sensor-glossary.md")
    assert glossary.aliases == ("plate names", "传感器铭牌")
    assert glossary.description.startswith("what the short names on the sensor plates mean - the first letter")
    assert glossary.description.endswith("and why K7 is missing")
    assert (len(plan.index), len(plan.lost_entries())) == (16, 0)
    assert [piece.what for piece in plan.prose] == ["text", "text", "comment"]
    assert any("lichen" in piece.text for piece in plan.prose)
    assert found_links(plan) == (2, [("demo-house.md", "feedback-demo-seeding")])
    related = found_links(plan, "related")
    assert related == (3, [("demo-house.md", "feedback-demo-seeding")])
    assert "[short name]" not in repr(plan.memories)


def test_zhiyuan(case: Case) -> None:
    plan = case("zh-zhiyuan")
    written = expected("zh-zhiyuan")["written"]
    assert len(plan.memories) == 18
    assert len(plan.index) == 25
    assert [entry.target for entry in plan.lost_entries()] == written["index_entries"]["dangling"]
    assert ("纸鸢 退信当天处理", "退回来的不过夜") in {(it.title, it.hook) for it in plan.lost_entries()}
    assert report(plan, "unlisted") == written["index_entries"]["unlisted"]
    total, dangling = found_links(plan)
    assert (total, dangling) == (6, [(it["file"], it["target"]) for it in written["wikilinks"]["dangling"]])
    assert memory(plan, "feedback_zy_holiday_cutoff.md").description == "节前截单: 邮局停收前一天 # 加急也算"
    prices = memory(plan, "project_zy_price_list.md")
    assert prices.description == "2026-05-28 价目定稿并已挂牌:8 枚邮花 = 1 元、明信片 24 枚/张、代写 10 枚/次"
    assert (prices.name, prices.state) == ("zy-price-list-2026-05-28", Planned.ACTIVE)
    assert sum("originSessionId" in item.extra for item in plan.memories) == 11
    assert all(item.dated_by == "file" for item in plan.memories)


def test_xiaozhan(case: Case) -> None:
    plan = case("zh-xiaozhan")
    persona = [item for item in plan.memories if item.persona]
    assert {item.source_path for item in persona} == {"SOUL.md", "IDENTITY.md"}
    assert ("名字", "小栈") in memory(plan, "IDENTITY.md").attributes
    others = [item for item in plan.memories if not item.persona]
    assert len([item for item in others if item.source_path.startswith("memory/")]) == 12
    assert {item.source_path for item in others if "/" not in item.source_path} == {"MEMORY.md", "USER.md"}
    assert memory(plan, "USER.md").type == "user"
    assert plan.by_type() == {"reference": 15, "user": 1}
    assert sum(item.dated_by == "name" for item in plan.memories) == 9
    assert memory(plan, "memory/2026-03-17.md").dated_at == 1773676800000  # midnight at UTC+8
    assert memory(plan, "memory/research/播音板方案.md").dated_by == "file"
    assert memory(plan, "memory/2026-03-20_notes.md").name == "随手"
    assert memory(plan, "memory/2026-03-19-0512.md").state is Planned.QUARANTINED
    assert memory(plan, "memory/2026-03-19.md").state is Planned.ACTIVE
    long_term = memory(plan, "MEMORY.md")
    assert long_term.name == "MEMORY.md - 小栈的长期记忆" and len(long_term.parts) == 6
    assert len(memory(plan, "memory/learnings.md").headings) == 4


def test_xuongnhan(case: Case) -> None:
    plan = case("vi-xuongnhan")
    skills = [item for item in plan.memories if item.source_path.startswith("skills/")]
    assert (len(plan.memories) - len(skills), len(skills)) == (21, 3)
    assert all(item.type == "reference" for item in skills)
    assert plan.by_type() == {"feedback": 7, "project": 5, "reference": 8 + 3, "user": 1}
    technique = memory(plan, "technique_doi_giay.md")
    assert (technique.type, technique.type_word) == ("reference", "technique")
    assert memory(plan, "technique_cat_nghieng.md").type == "reference"
    assert [piece.what for piece in plan.prose] == ["rule"] * 4 + ["preference"] * 3
    assert plan.prose[-2].text == r"- Thư mục gốc: `D:\Cong Cu\`"
    assert (len(plan.index), plan.lost_entries()) == (19, ())
    assert report(plan, "unlisted") == sorted(expected("vi-xuongnhan")["written"]["index_entries"]["unlisted"])
    assert sum("originSessionId" in item.extra for item in plan.memories) == 15
    assert memory(plan, "project_quet_ma_bước5.md").hooks == ("Quét mã bước 5: giấy bóng, bỏ đèn",)


def test_xuongnhan_copied_by_a_system_that_decomposes_names(case: Case, tmp_path: Path) -> None:
    from engine.transfer.markdown_dir import plan_directory

    case("vi-xuongnhan")
    root = tmp_path / "vi-xuongnhan"
    for place in list(root.rglob("*.md")):
        place.rename(place.with_name(unicodedata.normalize("NFD", place.name)))
    plan = plan_directory(root)
    assert plan.lost_entries() == ()


def test_falk(case: Case) -> None:
    plan = case("messy-falk")
    assert len(plan.memories) == 21
    assert plan.by_kind() == {"episode": 2, "note": 19}
    places = {(item.workspace, item.source_path.split("/")[0]) for item in plan.memories}
    assert places == {("C--Users-Ren-Falk", "projects"), ("-home-ren-notes", "projects"), (None, "vault")}
    assert sum(item.workspace == "C--Users-Ren-Falk" for item in plan.memories) == 13
    assert memory(plan, f"{FALK}/procedural/feedback.md").name != memory(plan, f"{REN}/feedback.md").name
    words = {item.type_word: item.type.value for item in plan.memories if item.type_word}
    mapped = {"procedural": "feedback", "episodic": "project", "semantic": "reference"}
    assert words == {**mapped, "feedback": "feedback", "user": "user"}
    parts = memory(plan, f"{FALK}/procedural/feedback.md").parts
    assert [part.heading.partition(": ")[2] for part in parts] == [
        "scripts-not-found",
        "locked-database",
        "push-hangs",
        "null-payee",
    ]
    assert f"{FALK}/procedural/feedback.md" in report(plan, "multi")
    assert memory(plan, f"{FALK}/procedural/feedback.md").extra["trigger"][-2] is None
    week = memory(plan, f"{FALK}/episodic/2026-04-05-wip.md")
    assert week.tags == ("c:", "users", "ren falk", "projects", "tidepool", "ledger")
    assert week.extra["decay-after"] == "2026-04-19" and week.state is Planned.ACTIVE
    assert memory(plan, f"{FALK}/semantic/user.md").bom
    assert memory(plan, f"{FALK}/procedural/shell.md").eol == "\r\n"
    index = f"{FALK}/MEMORY.md"
    assert sum(entry.file == index for entry in plan.index) == 12
    assert [entry.target for entry in plan.lost_entries()] == ["episodic/2026-03-29-wip.md"]
    assert found_links(plan) == (4, [("vault/Areas/About me.md", "lab notes")])
    assert memory(plan, "vault/Inbox/读书 笔记.md").links[0].resolved == "vault/Areas/Goals.md"
    assert memory(plan, "vault/Inbox/读书 笔记.md").tags == ("阅读",)
    assert memory(plan, "vault/Ideas/🧑‍🔬 lab notes.md").tags == ("idea", "printing/double")
    cafe = memory(plan, "vault/Areas/Café & croissants ☕.md")
    assert (cafe.tags, cafe.aliases) == (("place", "people/club-2"), ("the café", "Café"))
    assert memory(plan, "vault/Areas/Goals.md").body.startswith("# 🎯 Goals\n\n---\n")
