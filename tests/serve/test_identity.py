"""Who and where: workspaces by git's main folder, names on one line, nothing from arguments."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from engine.model.enums import Origin
from engine.serve.identity import CLIENT_INFO, Identity, client_name, peer_of, workspace_named, workspace_of


def git(*arguments: str, cwd: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=cwd,
        check=True,
        capture_output=True,
        env=environment | {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_ALLOW_PROTOCOL": "file"},
    )


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "one" / "proj"
    folder.mkdir(parents=True)
    git("init", "-q", cwd=folder)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=folder)
    return folder


def test_a_folder_inside_belongs_to_the_repositorys_main_folder(repo: Path) -> None:
    inner = repo / "src" / "deep"
    inner.mkdir(parents=True)
    assert workspace_of(inner) == workspace_of(repo) == str(repo)


def test_worktrees_of_one_repository_share_a_workspace(repo: Path, tmp_path: Path) -> None:
    git("worktree", "add", "-q", str(tmp_path / "tree"), cwd=repo)
    assert workspace_of(tmp_path / "tree") == str(repo)


def test_two_repositories_of_one_name_do_not(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "two" / "proj"
    other.mkdir(parents=True)
    git("init", "-q", cwd=other)
    assert workspace_of(other) != workspace_of(repo)


def test_worktrees_of_a_bare_repository_share_it(repo: Path, tmp_path: Path) -> None:
    git("clone", "-q", "--bare", str(repo), str(tmp_path / "bare.git"), cwd=tmp_path)
    for name in ("a", "b"):
        git("worktree", "add", "-q", "-b", name, str(tmp_path / name), cwd=tmp_path / "bare.git")
    assert workspace_of(tmp_path / "a") == workspace_of(tmp_path / "b") == str(tmp_path / "bare.git")


def test_a_submodule_is_a_workspace_of_its_own(repo: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git("init", "-q", cwd=outer)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo), "sub", cwd=outer)
    assert workspace_of(outer / "sub") == str(outer / "sub")


def test_a_link_leads_to_the_same_workspace(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    assert workspace_of(tmp_path / "link") == str(repo)


def test_outside_of_git_there_is_none_unless_named(tmp_path: Path) -> None:
    assert workspace_of(tmp_path) is None
    assert workspace_of(tmp_path, named=True) == str(tmp_path)
    assert workspace_of(tmp_path / "gone") is None


def test_hosts_name_folders_by_path_or_uri(repo: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "a folder ü"
    spaced.mkdir()
    assert workspace_named(str(repo)) == str(repo)
    assert workspace_named(spaced.as_uri()) == str(spaced)
    for bad in ("", "proj", "../x", "https://example.org/x", "/a\0b"):
        assert workspace_named(bad) is None


def test_a_git_file_that_says_nothing_still_marks_the_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /nowhere")
    assert workspace_of(tmp_path) == str(tmp_path)
    (tmp_path / ".git").write_bytes(b"\xff\xfe")
    assert workspace_of(tmp_path) == str(tmp_path)


def test_the_clients_name_is_cleaned() -> None:
    assert client_name({"name": "claude-code", "version": "2"}) == "claude-code"
    assert client_name({"name": "a\nb" + "x" * 100}) == "a b" + "x" * 61
    for nothing in (None, {}, {"name": 5}, "x", []):
        assert client_name(nothing) == ""


def test_meta_of_a_request_wins_over_the_connection(tmp_path: Path) -> None:
    identity = Identity("conn-1", name="shell", workspace="/w")
    plain = identity.caller({})
    assert (plain.origin, plain.actor, plain.session, plain.workspace) == (Origin.AGENT, "shell", "conn-1", "/w")
    meta = {"memdeck/session": "s", "memdeck/workspace": str(tmp_path), CLIENT_INFO: {"name": "bot"}}
    named = identity.caller(meta)
    assert (named.actor, named.session, named.workspace) == ("bot", "s", str(tmp_path))
    odd = identity.caller({"memdeck/session": 5, "memdeck/workspace": "relative", CLIENT_INFO: 3})
    assert odd == plain


def test_the_kernel_names_the_peer() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        peer = peer_of(ours)
    assert (peer.uid, peer.pid) == (os.getuid(), os.getpid())
    assert peer.folder == Path.cwd() or peer.folder is None
