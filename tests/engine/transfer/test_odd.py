"""One oddity per file: what odd/README.yaml says that each gives."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from engine.model.errors import MemdeckError
from engine.transfer.detect import detect, plan_import
from engine.transfer.frontmatter import edit, file_bytes, parse, render
from engine.transfer.markdown_dir import plan_directory
from engine.transfer.plan import ImportPlan, ParsedMemory, Planned

ODD = Path(__file__).parents[2] / "cases" / "odd"
CAFE = unicodedata.normalize("NFD", "project_café_menu.md")
COMPASS = "🧭 compass & notes (old).md"

TAKEN: dict[str, tuple[str, str, set[str]]] = {
    # file: (type, name, kinds of the report's lines)
    "basic_memory_note.md": ("reference", "ferry timetable", {"mapped", "no_description", "dangling_link"}),
    "bom_frontmatter.md": ("reference", "BOM first", set()),
    "bom_title_only.md": ("reference", "Alpha page", {"dangling_link"}),
    "closed_with_six_dashes.md": ("feedback", "Closing slip", {"yaml", "no_description"}),
    "crlf.md": ("project", "Windows lines", set()),
    "date_forms.md": ("project", "date-forms", {"date"}),
    "date_only_updated.md": ("project", "rota-archived", set()),
    "gbk_bytes.md": ("reference", "gbk-note", {"encoding"}),
    "leading_blank_line.md": ("reference", "after-a-blank-line", set()),
    "many_in_one_file.md": ("feedback", "solutions", {"multi"}),
    "mixed_eol.md": ("reference", "Mixed lines", set()),
    "never_closed.md": ("project", "never-closed", {"yaml"}),
    "nul_bytes.md": ("project", "nul-in-body", {"nul_bytes"}),
    "one_foreign_byte_pair.md": ("reference", "Stage list", {"encoding"}),
    "only_frontmatter.md": ("reference", "no-body", set()),
    "plain_note_no_frontmatter.md": ("reference", "suggested commands", set()),
    CAFE: ("project", "Café menu", set()),
    "project_type_says_feedback.md": ("feedback", "prefix-and-type-differ", set()),
    "prose_supersedes.md": ("project", "prices-2026-05-28", {"dangling_link"}),
    "rule_not_frontmatter.md": ("reference", "Starts with a rule", set()),
    "sage_full.md": ("user", "待办习惯", set()),
    "secrets_in_body.md": ("reference", "first-account", {"secret"}),
    "session_dump_with_orders.md": ("reference", "Session: 2026-03-19 05:12:40 UTC", {"injection"}),
    "supersedes_forms.md": ("feedback", "rule-v2", {"dangling_link"}),
    "type_in_two_places.md": ("user", "two-types", {"type_conflict"}),
    "type_technique.md": ("reference", "paper-change", {"mapped"}),
    "user_left_handed.md": ("reference", "left-handed", {"no_type"}),
    "wikilinks_every_form.md": ("reference", "wikilinks", {"dangling_link"}),
    "yaml_at_sign.md": ("project", "who-does-it", {"yaml"}),
    "yaml_block_scalar.md": ("reference", "long-description", set()),
    "yaml_colon_space.md": ("feedback", "Order of things in a view file — state last", {"yaml"}),
    "yaml_colon_tag.md": ("project", "yaml_colon_tag", {"yaml_value", "mapped", "no_description"}),
    "yaml_duplicate_keys.md": ("feedback", "twice", {"duplicate_key"}),
    "yaml_empty_name.md": ("feedback", "yaml_empty_name", set()),
    "yaml_escaped_quotes.md": ("feedback", "quoted-description", set()),
    "yaml_hash_tags.md": ("feedback", "Words first", {"yaml", "no_description"}),
    "yaml_multiline_plain.md": ("feedback", "where-to-look-first", set()),
    "yaml_space_hash.md": ("project", "issue-number-in-text", {"yaml"}),
    "yaml_tab_indent.md": ("project", "tab-indent", {"yaml"}),
    "yaml_text_after_quote.md": ("feedback", '"fine" in one word = commit + merge + push', {"yaml"}),
    "yaml_two_brackets.md": ("reference", "close-a-slot", {"yaml"}),
    "部署_注意事项.md": ("feedback", "部署 注意事项", set()),
    COMPASS: ("reference", "🧭 Where things are", {"dangling_link", "embed"}),
}
SKIPPED = {
    "date_placeholder.md": "skipped",
    "empty.md": "skipped",
    "huge_over_512KiB.md": "too_big",
    "type_placeholder_list.md": "skipped",
    "yaml_braces_placeholder.md": "skipped",
}
GRAPHS = ("graph_from_entity.jsonl", "graph_no_type_epoch.jsonl", "graph_observation_objects.jsonl")
"""Graphs are files of their own (see test_graph.py); in a folder of Markdown they are skipped by name."""

REFUSED = {
    "graph_labels_properties.jsonl": "labels and properties",
    "not_a_graph_memory.json": "chat program",
    "event_log_memory.jsonl": "event log",
    "claude_export_memories.json": "Claude export of memories",
    "claude_export_conversations.json": "Claude export of conversations",
    "chatgpt_export_conversations.json": "ChatGPT export",
}


@pytest.fixture
def plan(case: Callable[[str], ImportPlan]) -> ImportPlan:
    return case("odd")


@pytest.fixture
def memory(plan: ImportPlan) -> Callable[[str], ParsedMemory]:
    return lambda path: next(item for item in plan.memories if item.source_path == path)


def kinds(plan: ImportPlan, path: str) -> set[str]:
    return {problem.kind for problem in plan.problems if problem.file == path}


def recovered(plan: ImportPlan, path: str) -> str:
    return " ".join(problem.recovered for problem in plan.problems if problem.file == path)


def test_every_file_of_the_folder_has_its_expectation() -> None:
    told = {
        entry["file"].removesuffix(" (NFD)") for entry in yaml.safe_load((ODD / "README.yaml").read_text())["cases"]
    }
    known = {*TAKEN, *SKIPPED, *REFUSED, *GRAPHS, "index_dangling.md"}
    assert {unicodedata.normalize("NFC", path) for path in known} == told


@pytest.mark.parametrize("path", TAKEN)
def test_taken(plan: ImportPlan, memory: Callable[[str], ParsedMemory], path: str) -> None:
    kind, name, lines = TAKEN[path]
    item = memory(path)
    assert (item.type, item.name) == (kind, name)
    assert kinds(plan, path) == lines
    if item.state is not Planned.HELD:
        data = file_bytes(item.header_text, item.body, item.eol, item.bom, item.encoding, item.raw)
        assert data == (ODD / path).read_bytes()


@pytest.mark.parametrize("path", SKIPPED)
def test_skipped(plan: ImportPlan, path: str) -> None:
    assert all(item.source_path != path for item in plan.memories)
    assert [(it.kind, bool(it.message)) for it in plan.problems if it.file == path] == [(SKIPPED[path], True)]


@pytest.mark.parametrize("path", REFUSED)
def test_refused_in_one_line_that_names_the_form(path: str) -> None:
    with pytest.raises(MemdeckError) as refused:
        plan_import(ODD / path)
    assert REFUSED[path] in refused.value.message and "\n" not in refused.value.message
    assert refused.value.code == "invalid_argument" and refused.value.hint
    assert detect(ODD / path) == refused.value.params["form"]


def test_skipped_json_says_what_it_is(plan: ImportPlan) -> None:
    why = {problem.file: problem.message for problem in plan.problems if problem.kind == "skipped"}
    for path, form in {**REFUSED, **dict.fromkeys(GRAPHS, "knowledge graph")}.items():
        assert form in why[path]


def test_size_is_named(plan: ImportPlan) -> None:
    assert next(it.message for it in plan.problems if it.kind == "too_big").startswith("585363 bytes")


def test_texts_are_whole(memory: Callable[[str], ParsedMemory]) -> None:
    descriptions = {
        "yaml_colon_space.md": "Order in the file ViewState: the class first, then state, then events",
        "yaml_space_hash.md": "The export is blocked by ticket #12 and by the missing stamp #7",
        "yaml_block_scalar.md": "Two lines that belong to one sentence.",
        "yaml_duplicate_keys.md": "second description, added by a merge",
        "yaml_multiline_plain.md": "how to find a key that the office has lost - the drawer nobody opened since "
        "spring comes first, not the whole desk, and it takes a minute",
        "yaml_escaped_quotes.md": "When the owner says \"look at X\", read X first — \\path\\kept, 100 % 'verbatim'",
        "gbk_bytes.md": "用另一种编码存下来的笔记",
    }
    assert {path: memory(path).description for path in descriptions} == descriptions
    assert "值班表" in memory("gbk_bytes.md").body
    assert "(required — see below)" in memory("one_foreign_byte_pair.md").body
    assert "rest of the line" in memory("nul_bytes.md").body
    assert "Text that must not be lost." in memory("never_closed.md").body
    assert memory("rule_not_frontmatter.md").body.startswith("---\n\n# Starts")
    assert "Second part: with a colon." in memory("rule_not_frontmatter.md").body
    assert memory("only_frontmatter.md").body == ""
    assert memory("bom_title_only.md").bom and memory("bom_frontmatter.md").bom
    assert (memory("crlf.md").eol, memory("mixed_eol.md").eol) == ("\r\n", "mixed")
    assert memory("yaml_empty_name.md").made_up == ("name",)


def test_labels(plan: ImportPlan, memory: Callable[[str], ParsedMemory]) -> None:
    tags = {
        "yaml_hash_tags.md": ("print", "words", "p1"),
        "yaml_at_sign.md": ("printer", "@desk-team/print"),
        "yaml_colon_tag.md": ("c:", "users", "ren falk", "projects"),
        "closed_with_six_dashes.md": ("Slips",),
        "sage_full.md": ("项目", "待办"),
        "basic_memory_note.md": ("domain", "ferry"),
    }
    assert {path: memory(path).tags for path in tags} == tags
    sage = memory("sage_full.md")
    assert (sage.aliases, sage.baseline, sage.baseline_priority) == (("待办", "todo", "清单"), True, 10)
    assert memory("yaml_at_sign.md").extra["assignee"] == "@desk"
    assert memory("yaml_two_brackets.md").extra["argument-hint"] == "[slot-id] [reason]"
    assert memory("type_technique.md").type_word == "technique"
    assert "first description" in recovered(plan, "yaml_duplicate_keys.md")
    assert "print, words, p1" in recovered(plan, "yaml_hash_tags.md")


def test_dates(plan: ImportPlan, memory: Callable[[str], ParsedMemory]) -> None:
    forms = memory("date_forms.md")
    assert (forms.updated_at, forms.created_at) == (1777623600000, 1765008000000)
    assert forms.extra["date_updated"] == "2026/05/16" and forms.extra["last_verified"] == "16.06.2026"
    assert [it.line for it in plan.problems if it.kind == "date"] == [8, 9]
    assert memory("date_only_updated.md").updated_at == 1781107200000  # midnight at UTC+8
    assert memory("yaml_escaped_quotes.md").updated_at == 1784718308420
    assert memory("yaml_tab_indent.md").updated_at is not None
    assert memory("crlf.md").dated_by == "file"


def test_supersession_needs_a_key_and_a_target(plan: ImportPlan, memory: Callable[[str], ParsedMemory]) -> None:
    rule = memory("supersedes_forms.md")
    assert (rule.state, rule.supersedes, rule.superseded_by) == (Planned.ACTIVE, (), None)
    missing = [it.message for it in plan.problems if it.file == "supersedes_forms.md"]
    assert len(missing) == 2 and "rule.md" in missing[0] and "rule_draft.md" in missing[1]
    assert memory("prose_supersedes.md").state is Planned.ACTIVE


def test_links(memory: Callable[[str], ParsedMemory]) -> None:
    links = memory("wikilinks_every_form.md").links
    wiki = {link.target: link.resolved for link in links if link.form == "wiki"}
    assert wiki == {
        "yaml_space_hash": "yaml_space_hash.md",
        "issue-number-in-text": "yaml_space_hash.md",
        "crlf.md": "crlf.md",
        "date-forms": "date_forms.md",
        "type-says-feedback": "project_type_says_feedback.md",
        "wikilinks_every_form#Below": "wikilinks_every_form.md",
        "crlf": "crlf.md",
        "sub/crlf": None,
        "gone-since-2026": None,
        "research": None,
    }
    plain = {link.target: link.resolved for link in links if link.form == "markdown"}
    assert plain == {"yaml_space_hash.md": "yaml_space_hash.md", "missing.md": None, "../outside.md": None}
    compass = {(link.form, link.target): link.resolved for link in memory(COMPASS).links}
    assert compass == {
        ("wiki", "部署_注意事项"): "部署_注意事项.md",
        ("wiki", "no such page"): None,
        ("wiki", "project_café_menu#Prices"): CAFE,
        ("embed", "plan.png"): None,
    }


def test_index_by_another_name(plan: ImportPlan) -> None:
    targets = [entry.target for entry in plan.index]
    assert (len(targets), len(set(targets))) == (12, 11)
    assert len({entry.resolved for entry in plan.index if entry.resolved}) == 8
    lost = [entry.target for entry in plan.lost_entries()]
    assert lost == ["feedback_gone.md", "{module}_project.md", "../USER.md"]
    assert [piece.what for piece in plan.prose] == ["text", "text", "text", "rule"]
    assert {"index_prose", "dangling_index"} <= kinds(plan, "index_dangling.md")


def test_notes_with_observations_and_relations(memory: Callable[[str], ParsedMemory]) -> None:
    note = memory("basic_memory_note.md")
    first, *_ = note.observations
    assert len(note.observations) == 3
    assert (first.category, first.text, first.tags, first.context) == (
        "fact",
        "The first boat leaves at 05:40",
        ("ferry", "morning"),
        "winter: 06:10",
    )
    assert [(link.relation, link.target) for link in note.links] == [
        ("part_of", "Harbour board"),
        ("relates_to", "Tide table"),
        ("", "Ölpumpe"),
    ]
    assert note.extra["도메인명"] == "ferry"
    assert note.extra["service"] == {"North | South | Shared | common": None}


def test_held_back_and_quarantined(memory: Callable[[str], ParsedMemory]) -> None:
    held = memory("secrets_in_body.md")
    assert held.state is Planned.HELD
    assert [(spot.line, spot.kind) for spot in held.secrets] == [(7, "password"), (8, "token"), (9, "card_number")]
    assert held.raw is None and "clerk@example.org" in held.body
    assert memory("session_dump_with_orders.md").state is Planned.QUARANTINED


@pytest.mark.parametrize("path", [*TAKEN, *SKIPPED])
def test_an_edit_changes_one_line(path: str) -> None:
    """Every other line of the file keeps its bytes (S8)."""
    data = (ODD / path).read_bytes()
    document = parse(data)
    assert render(edit(document, {})) == data
    if not document.header or document.raw:
        return
    again = render(edit(document, {"purpose": "理由: 过期 # 附带"}))
    assert parse(again).header == {**document.header, "purpose": "理由: 过期 # 附带"}
    end = b"\r\n" if document.eol == "\r\n" else b"\n"
    left = data.split(end)
    for line in again.split(end):
        if line in left:
            left.remove(line)
        else:
            assert line.startswith(b"purpose: ")
    assert left == []


def test_a_single_file_is_a_directory_of_one() -> None:
    plan = plan_directory(ODD / "crlf.md")
    assert [item.source_path for item in plan.memories] == ["crlf.md"]
