from __future__ import annotations

import re
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rules.cards import luhn
from engine.rules.secrets import Span, find_secrets, line_of, redact

CASES = Path(__file__).parents[2] / "cases"
ANY_TEXT = st.text(st.characters(), max_size=80)
B62 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx4\nabcd/efg+hij==\n-----END RSA PRIVATE KEY-----"
UNIONPAY = next(n for n in map(str, range(6222021234567890120, 6222021234567890130)) if luhn(n))

# kind, text before the secret, the secret, text after it
SECRETS = [
    ("api_key", "api_key=", "sk-abcdefghij0123456789", ""),
    ("api_key", "api_key=", "sk-" + "a" * 20, ""),
    ("api_key", "the key sk is ", "sk-proj-" + B62, " for ci"),
    ("api_key", "use ", "sk-ant-api03-" + B62, "."),
    ("api_key", "密钥是", "sk-" + B62[:32], "，别外传"),
    ("aws_key", "", "AKIAIOSFODNN7EXAMPLE", ""),
    ("github_token", "x ", "ghp_" + B62[:36], "\n"),
    ("github_token", "x ", "github_pat_11ABCDEFG0_" + B62, ""),
    ("gitlab_token", "", "glpat-" + B62[:20], ""),
    ("slack_token", "", "xoxb-123456789012-abcdefGHIJ", ""),
    ("slack_webhook", "https://", "hooks.slack.com/services/T0000AAAA/B0000BBBB/" + B62[:24], ""),
    ("discord_webhook", "https://", "discord.com/api/webhooks/123456789012345678/" + B62, ""),
    ("telegram_token", "", "1234567890:AA" + B62[:33], ""),
    ("google_key", "", "AIzaSy" + B62[:33], ""),
    ("npm_token", "//registry/:_authToken=", "npm_" + B62[:36], ""),
    ("pypi_token", "", "pypi-AgEIcHlwaS5vcmc" + B62, ""),
    ("huggingface_token", "", "hf_" + B62[:34], ""),
    ("sendgrid_key", "", "SG." + B62[:22] + "." + B62[:43], ""),
    ("stripe_key", "", "sk_live_" + B62[:24], ""),
    ("stripe_key", "", "rk_test_" + B62[:24], ""),
    ("shopify_token", "", "shpat_" + HEX[:32], ""),
    ("vault_token", "", "hvs." + B62[:24], ""),
    ("databricks_token", "", "dapi" + HEX[:32], ""),
    ("aliyun_key", "AccessKeyId: ", "LTAI" + B62[:20], ""),
    ("azure_key", "AccountName=x;", "AccountKey=" + B62 + B62 + "==", ";End"),
    ("age_key", "", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2, ""),
    ("jwt", "cookie ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", ""),
    ("private_key", "key:\n", PEM, "\nend"),
    ("private_key", "", PEM.replace("RSA ", "OPENSSH "), ""),
    ("private_key", "json ", PEM.replace("\n", "\\n"), '"}'),
    ("private_key", "", PEM.replace("BEGIN RSA", "BEG\nIN\u200b RSA").replace("PRIVATE", "PRI VATE"), ""),
    ("private_key", "cut off: ", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg", ""),
    ("connection_string", "postgres://app:", "s3cr3tpw", "@db.example.org:5432/x"),
    ("connection_string", "mongodb+srv://root:", "p@ssw0rd!", "@c0.example.net/?retry=1"),
    ("connection_string", "redis://:", "hunter2abc", "@cache:6379"),
    ("basic_auth_url", "clone https://robin:", "Tr0ub4dor&3", "@git.example.org/r.git"),
    ("bearer_token", "Authorization: Bearer ", B62[:30], ""),
    ("password", "Authorization: Basic ", "cm9iaW46aHVudGVyMg==", ""),
    ("password", "curl -u robin:", "hunter2x", " https://example.org"),
    ("password", "password: ", "Example-Only-2026!", ""),
    ("password", "first password = ", "Example-Only-2026!", "\n"),
    ("password", "password=", "hunter2", ""),
    ("password", "Password is ", "Tr0ub4dor&3", "."),
    ("password", "the password for the wiki is ", "blue42horse", ", tell nobody"),
    ("password", "DB_PASS=", "correcthorse", "\nPORT=1"),
    ("password", '{"password": "', "letmein", '", "user": "x"}'),
    ("password", '{\\"password\\":\\"', "hunter2x", '\\"}'),
    ("password", "passwd: ", "849302", ""),
    ("password", "set the admin password to ", "winter2026!", " today"),
    ("password", "mysql --password ", "qwerty12", " -h db"),
    ("password", "密码：", "abc12345", "，请保密"),
    ("password", "WiFi密码是", "fengche2024", "。"),
    ("password", "数据库密码改成了", "Abc@1234", ""),
    ("password", "登录口令为 ", "x9k2m4", ""),
    ("password", "密码（测试机）：", "839201", ""),
    ("password", "mật khẩu: ", "xuong2026!", ""),
    ("password", "mật khẩu là ".replace("ậ", "a\u0323\u0302"), "xuong2026!", ""),
    ("password", "パスワードは", "sakura88", "です"),
    ("password", "비밀번호: ", "seoul2024!", ""),
    ("password", "пароль: ", "qwerty77", ""),
    ("password", "Passwort: ", "geheim123", ""),
    ("api_key", "api_key: ", "9f8e7d6c5b4a3210", ""),
    ("api_key", "X-API-Key: ", "Zk3pQ9vT1mLs", ""),
    ("api_key", "AWS_ACCESS_KEY=", "wJalrXUtnFEMIK7MDENGbPxRfiCYzKEY", ""),
    ("secret", "aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY", ""),
    ("secret", "client_secret: ", "Qx7-9fK2_mPz4Rt8", ""),
    ("secret", "密钥：", "f3a9c1d27be84d06", ""),
    ("token", "token in the old file: `", "tok_example_0000000000000000000000", "`"),
    ("token", "?access_token=", "abcd1234efgh5678", ""),
    ("token", "令牌 = ", "abcd1234efgh5678", ""),
    ("token", "token: ", "550e8400-e29b-41d4-a716-446655440000", ""),
    ("card_number", "card ", "4111 1111 1111 1111", ""),
    ("card_number", "", "4111111111111111", ""),
    ("card_number", "卡号", UNIONPAY, "，"),
    ("card_number", "card ", "4111 1111 1111 1111", " 12/27 123"),
    ("card_number", "row 12 ", "4111-1111-1111-1111", " 12 2027"),
    ("card_number", "amex ", "3782-822463-10005", "!"),
    ("card_number", "", "5555.5555.5555.4444", ""),
    ("card_number", "", "5 5 5 5 5 5 5 5 5 5 5 5 4 4 4 4", ""),
    ("card_number", "卡：", "４１１１　１１１１ １１１１ １１１１".replace("\u3000", " "), ""),
    ("card_number", "", "4111\u200b1111\u200b1111\u200b1111", ""),
    ("card_number", "old visa ", "4222222222222", ""),
    ("pin", "PIN: ", "4821", ""),
    ("api_key", "ａｐｉ_key＝", "ｓｋ－ａｂｃｄｅｆｇｈｉｊ０１２３４５６７８９", ""),
    ("password", "pass\u200bword: ", "hun\u200bter2", ""),
    ("github_token", "", "ghp\u2060_" + B62[:36], ""),
]


@pytest.mark.parametrize(("kind", "before", "secret", "after"), SECRETS)
def test_a_secret_is_found_whole_and_redacted(kind: str, before: str, secret: str, after: str) -> None:
    text = before + secret + after
    spans = find_secrets(text)
    assert [span.kind for span in spans] == [kind]
    assert spans[0].start <= len(before) and spans[0].end >= len(before + secret)
    clean = redact(text, spans)
    assert f"[redacted: {kind}]" in clean and secret not in clean
    assert find_secrets(clean) == ()


CLEAN = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixed it",
    "uuid 550e8400-e29b-41d4-a716-446655440000",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "order 4000000000000002, order number: 4111111111111111, 订单号：4111111111111111",
    "ISBN 978-3-16-148410-0 and 9780306406157",
    "call +49 1512 3456789 or 138 0013 8000 or +1 (415) 555-2671",
    "1700000000000 and 1732924800123 ms, 2026-11-29T08:00:00.000Z",
    "token budget: 1400",
    "tokens: 1400, max_tokens=4096, token_count: 12345678, 5e3 tokens",
    "password: (see vault)",
    "password policy: at least 12 characters",
    "password length: 12, password: 12 characters, password: 1200 chars",
    "密码规则：至少12位",
    "密码：见保险箱",
    "密码至少8位，令牌每30天轮换，密钥由运维保管",
    "密码：8-16位字母和数字",
    "api_key=${API_KEY} token=$TOKEN secret=${{ secrets.NPM_TOKEN }} password=%PASSWORD%",
    "api_key: <your-token>, token=<paste token here>, password: your-password-here",
    "password: xxxx, api_key=sk-xxxxxxxxxxxxxxxxxxxx, token: ********, secret: …",
    "const token = process.env.TOKEN; api_key = os.environ[\"API_KEY\"]; key = os.getenv('API_KEY')",
    "password = get_password(user), token = self.token, secret: settings.SECRET_KEY, api_key=api_key",
    "password: str, token: string, secret: None, password = null, api_key: Optional[str] = None",
    "password: required; token: optional; secret: hidden; password = \"password\"",
    "Password: stored in 1Password, token: JWT, secret: HS256, passwords: bcrypt, password: argon2id",
    "token: one line in `~/.config/scanner/token`; token: /run/secrets/app_token1",
    "The secret: never salt the water. Secret Santa: at Robin's, 18:30",
    "The tokenizer: o200k_base; token vocabulary: cl100k_base; token: o200k_base",
    "secretary: Ms Lee 2026, passport: renew in 2027, passenger: seat 12A",
    "12 pass, 0 fail; pass: 1204 fail: 3; All tests pass = good",
    "PIN 13 drives the led; pin: 21; GPIO PIN: 13",
    "postgres://localhost:5432/app and http://host:8080/path@2x.png and https://u:${PW}@h.org",
    "https://user:password@example.org is the form; ssh git@example.org:robin/repo.git",
    "Use Bearer token authentication; Authorization: Bearer <token>",
    "div.sk-text-repr-fallback sk-container-id-1 task-management-system-for-all-teams",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBg\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJtQ robin@desk",
    "forgot password: ask Robin; reset-password: /users/reset; token refresh: every 3600 s",
    "版本 4.1.1.1.1.1.1.1.1.1.1.1.1.1 years 2019 2020 2021 2022 2023 2024",
    "0.4111111111111111 x4111111111111111 4111111111111111abc 41111111111111110000000000",
    "1234 5678 9012 3456 7890, account 4929-1111-2222-3333-4444",
    "token: q3-roadmap-draft-2, secret ingredient: paprika, password manager: Bitwarden",
    "口令：立正。令牌环网络。密钥长度：4096位",
    "if token == expected_token: pass\nelse: secret = load(path)",
    "pass `result_type=` explicitly; pass ``appauthor=False``; shrink_pass: ShrinkPass; the --password options can",
    "token: EventLoopToken, private_key: SSHPrivateKeyTypes, key_password=key_password, token == \"#bygroup\"",
    "user said: the password is wrong, the password was changed yesterday",
]  # fmt: skip


@pytest.mark.parametrize("text", CLEAN)
def test_ordinary_text_passes(text: str) -> None:
    assert find_secrets(text) == ()


def _case_files() -> list[Path]:
    return [p for p in sorted(CASES.rglob("*")) if p.is_file() and p.suffix != ".yaml"]


def test_the_case_directories_hold_exactly_the_known_secrets() -> None:
    found = {}
    for path in _case_files():
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if spans := find_secrets(text):
            found[path.relative_to(CASES).as_posix()] = [(line_of(text, s.start), s.kind) for s in spans]
    assert found == {
        "en-lantern/MEMORY.md": [(7, "password")],
        "en-lantern/reference_servers.md": [(8, "password")],
        "odd/secrets_in_body.md": [(7, "password"), (8, "token"), (9, "card_number")],
    }


def test_several_secrets_in_one_text_are_all_redacted() -> None:
    text = f"user a, password: hunter2x\n{PEM}\ncard 4111 1111 1111 1111 token=ghp_{B62[:36]}"
    clean = redact(text, find_secrets(text))
    assert clean == (
        "user a, password: [redacted: password]\n[redacted: private_key]\n"
        "card [redacted: card_number] token=[redacted: github_token]"
    )


@given(st.lists(st.sampled_from([b + s + a for _, b, s, a in SECRETS]) | ANY_TEXT, max_size=4))
def test_no_span_survives_redaction(pieces: list[str]) -> None:
    text = "\n".join(pieces)
    spans = find_secrets(text)
    clean = redact(text, spans)
    assert all(0 <= s.start < s.end <= len(text) for s in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert len(re.findall(r"\[redacted: \w+\]", clean)) >= len(spans)
    assert sum(s.end - s.start for s in spans) + len(redact(text, spans)) == len(text) + sum(
        len(f"[redacted: {s.kind}]") for s in spans
    )
    assert find_secrets(clean) == ()


@given(ANY_TEXT, st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=5))
def test_redact_takes_any_spans(text: str, ranges: list[tuple[int, int]]) -> None:
    spans = [Span(min(a, b, len(text)), min(max(a, b), len(text)), "x") for a, b in ranges]
    covered = {i for s in spans for i in range(s.start, s.end)}
    kept = "".join(ch for i, ch in enumerate(text) if i not in covered)
    assert redact(text, spans).replace("[redacted: x]", "") == kept.replace("[redacted: x]", "")


def test_line_of() -> None:
    assert [line_of("a\nb\n\nc", pos) for pos in (0, 1, 2, 4, 5)] == [1, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "unit",
    ["password: ", "token for a b c ", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----\n", "eyJ", "eyJabcdefgh.",
     "4111 ", "1", "https://a:", "curl -u ", "sk-a", "密码是", "set password ", "a\u0301", "\u200b"],
)  # fmt: skip
def test_a_long_text_is_read_once(unit: str) -> None:
    started = time.process_time()
    find_secrets(unit * (100_000 // len(unit)))
    assert time.process_time() - started < 2
