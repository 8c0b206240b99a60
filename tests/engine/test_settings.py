"""Settings: one table, four layers, and names of profiles that cannot leave their directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import settings as s
from engine.model.errors import MemdeckError


def at(
    stored: dict[str, object] | None = None, env: dict[str, str] | None = None, config: Path | None = None
):
    """Return settings that look at nothing but what the test gives."""
    return s.Settings(lambda: stored or {}, env=env or {}, config_path=config)


def test_stored_wins_over_environment_over_file_over_default(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("recall.limit: 7\n")
    env = {"MEMDECK_RECALL_LIMIT": "8"}
    assert at().info("recall.limit").origin == "default"
    for given_, expected in (
        (at(config=config), (7, "file")),
        (at(env=env, config=config), (8, "env")),
        (at({"recall.limit": 9}, env, config), (9, "stored")),
    ):
        info = given_.info("recall.limit")
        assert (info.value, info.origin) == expected
        assert given_.number("recall.limit") == expected[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("  ", 10),
        ("", 10),
        ("many", 10),
        ("1.5", 10),
        ("999", 30),
        ("-4", 1),
        ("0", 1),
        (" 12 ", 12),
        ("十", 10),
    ],
)
def test_environment_is_clamped_and_illegal_falls_back(text: str, value: int) -> None:
    assert at(env={"MEMDECK_RECALL_LIMIT": text}).get("recall.limit") == value


@pytest.mark.parametrize("value", [999, 0, "many", "", None, True, 3.5, [], "9" * 40])
def test_panel_refuses_what_does_not_fit_and_names_the_range(value: object) -> None:
    with pytest.raises(MemdeckError) as refused:
        s.check("recall.limit", value)
    assert refused.value.code == "invalid_argument"
    assert "1 to 30" in refused.value.hint


def test_panel_accepts_what_fits() -> None:
    assert s.check("recall.limit", "30") == 30
    assert s.check("admission.noise", "OFF") is False
    assert s.check("review.agents", "All") == "all"
    assert s.check("review.agents", False) == "off"


@pytest.mark.parametrize("name", ["admission.noise", "review.agents"])
def test_words_outside_the_choice_are_refused(name: str) -> None:
    with pytest.raises(MemdeckError):
        s.check(name, "sometimes")


def test_a_stored_value_that_no_longer_fits_falls_through() -> None:
    info = at({"recall.limit": 999}, {"MEMDECK_RECALL_LIMIT": "7"}).info("recall.limit")
    assert (info.value, info.origin) == (7, "env")


def test_unknown_setting_is_an_error_in_one_line() -> None:
    with pytest.raises(MemdeckError) as refused:
        at().get("recall.limits")
    assert "recall.limits" in refused.value.message


def test_a_value_for_the_next_start_is_shown_as_pending() -> None:
    stored: dict[str, object] = {}
    opened = s.Settings(lambda: stored, env={"MEMDECK_WRITER_DEADLINE_MS": "700"})
    stored["writer.deadline_ms"] = 1200
    info = opened.info("writer.deadline_ms")
    assert (info.value, info.origin, info.pending) == (700, "env", 1200)
    assert s.Settings(lambda: stored, env={}).number("writer.deadline_ms") == 1200


def test_a_setting_without_restart_changes_at_once() -> None:
    stored: dict[str, object] = {}
    opened = s.Settings(lambda: stored, env={"MEMDECK_RECALL_LIMIT": "7"})
    stored["recall.limit"] = 12
    assert (opened.get("recall.limit"), opened.info("recall.limit").pending) == (12, None)


def test_config_takes_dotted_and_nested_names(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("admission:\n  noise: off\n  secret: 'on'\nrecall.limit: 3\nreview.agents: off\n")
    read = at(config=config)
    assert read.notes == ()
    assert read.flag("admission.noise") is False
    assert read.flag("admission.secret") is True
    assert read.word("review.agents") == "off"
    assert read.number("recall.limit") == 3


def test_config_notes_what_it_does_not_take(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("recall.limit: 99\nread.max_bytes: huge\n颜色: 红\n1: 2\n")
    read = at(config=config)
    assert read.get("recall.limit") == 30
    assert read.get("read.max_bytes") == 8192
    for word, note in zip(("30", "huge", "颜色", "1"), read.notes, strict=True):
        assert word in note


def test_legacy_thresholds_are_accepted_with_a_note(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("assimilate: 0.55\noverlap: 0.42\ncommunity: 0.3\nmaxClusterSize: 8\nrecall.limit: 4\n")
    read = at(config=config)
    assert len(read.notes) == 4
    assert all("accepted and ignored" in note for note in read.notes)
    assert read.get("recall.limit") == 4


@pytest.mark.parametrize(
    "content", [b"a: [", b"\xff\xfe\x00", b"- 1\n- 2\n", b"just text", b"x: 2026-13-45\n\t"]
)
def test_a_broken_config_changes_nothing_and_says_so(tmp_path: Path, content: bytes) -> None:
    config = tmp_path / "config.yaml"
    config.write_bytes(content)
    read = at(config=config)
    assert read.notes and "\n" not in read.notes[0]
    assert read.get("recall.limit") == 10


def test_a_missing_or_empty_config_is_normal(tmp_path: Path) -> None:
    assert at(config=tmp_path / "config.yaml").notes == ()
    (tmp_path / "config.yaml").write_text("# nothing set\n")
    assert at(config=tmp_path / "config.yaml").notes == ()


@pytest.mark.parametrize("setting", s.SCHEMA.values(), ids=list(s.SCHEMA))
def test_every_default_is_legal(setting: s.Setting) -> None:
    assert s.check(setting.name, setting.default) == setting.default


def test_list_shows_every_setting_in_order() -> None:
    assert [info.name for info in at().all()] == list(s.SCHEMA)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans(), st.lists(st.integers())))
def test_no_value_whatever_breaks_a_reader(value: object) -> None:
    for setting in s.SCHEMA.values():
        taken = s.lenient(setting, value)
        assert taken is None or s.check(setting.name, taken) == taken


# --- profiles ---


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "a\\b", ".hidden", "-x", "a\n", "a\0b", "x" * 65, "C:", "e\u0301te"],
)
def test_profile_names_cannot_be_paths(name: str) -> None:
    with pytest.raises(MemdeckError):
        s.default_store(name, {})


@pytest.mark.parametrize("name", ["default", "work", "工作", "a.b-c_d", "7"])
def test_profile_is_one_directory_below_the_root(tmp_path: Path, name: str) -> None:
    assert s.default_store(name, {"MEMDECK_HOME": str(tmp_path)}) == tmp_path / name


def test_store_variable_stands_in_for_the_default_profile_only(tmp_path: Path) -> None:
    env = {"MEMDECK_HOME": str(tmp_path / "home"), "MEMDECK_STORE": str(tmp_path / "other")}
    assert s.default_store(env=env) == tmp_path / "other"
    assert s.default_store("work", env) == tmp_path / "home" / "work"
    assert s.default_store(env={**env, "MEMDECK_STORE": "  "}) == tmp_path / "home" / "default"


def test_profiles_lists_stores_and_always_the_default(tmp_path: Path) -> None:
    env = {"MEMDECK_HOME": str(tmp_path)}
    assert s.profiles(env) == [("default", tmp_path / "default", False)]
    for name in ("work", "empty", ".trash"):
        (tmp_path / name).mkdir()
    for name in ("work", ".trash"):
        (tmp_path / name / "memory.db").touch()
    assert s.profiles(env) == [("default", tmp_path / "default", False), ("work", tmp_path / "work", True)]


def test_an_unknown_home_is_refused_in_one_line() -> None:
    with pytest.raises(MemdeckError) as refused:
        s.default_store(env={"MEMDECK_STORE": "~nobody-of-that-name/x"})
    assert "\n" not in refused.value.message
