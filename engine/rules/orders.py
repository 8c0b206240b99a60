"""The table of orders that `injection` looks for, in English, Chinese, Japanese, Korean and Vietnamese (C7).

Every pattern is written for lower-case text and starts at its verb. `begin` says where that verb may stand: an order
opens a clause or follows "please", "you must" and the like, so that "the linter ignores previous results" and "never
ignore previous instructions" are no orders.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Order(NamedTuple):
    """One sort of order: only a text with a hint from every group in `needs` meets the pattern.

    The first group is looked up in every text, so it is short and shared between orders where possible.
    """

    kind: str
    needs: tuple[frozenset[str], ...]
    begin: re.Pattern[str] | None
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when first needed: a process that lives for one call needs few of them."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.MULTILINE)


_EN = re.compile(
    r"(?:\A|[\n.!?:;,(\[{<>*_`\"'“‘«「『|/\\—–-]|\b(?:please|now|then|and|also|just|but|so|must|should|shall|will|"
    r"you(?:\s+(?:need|have|are|ought))?\s+to|kindly|immediately|first|instead|strictly|always|assistant|ai|agent|claude|"
    r"chatgpt))\s*\Z"
)
# 会, 能, 被 or 不要 before the verb make it a description or its opposite.
_ZH = re.compile(
    r"(?:\A|[\n\s。！？：；，、（(【\[「『“”\"'*_`>|.!?:;,-]|请你?|請你?|现在|現在|立即|立刻|马上|馬上|务必|務必|必须|必須|并且?|然后|"
    r"接着|直接|你[要得]|应该|應該|需要|给我|先|就|全部|统统|麻烦|助手|模型|ai|智能体|你|您)\s*\Z"
)

_OLD = (
    r"(?:previous(?:ly)?|prior|earlier|preceding|above|foregoing|past|old|existing|original|initial|system|developer|"
    r"safety)"
)
_RULES = (
    r"(?:instructions?|prompts?|rules|directions|directives|guidelines|guardrails|commands?|orders|constraints|"
    r"restrictions|policies|programming|system\s+messages?|messages|context|training)\b"
)
_UNDO = (
    r"\b(?:ignore|disregard|forget|override|bypass|discard|dismiss|disobey|overlook|do\s+not\s+(?:follow|obey)|"
    r"stop\s+following)\s+"
)
_UNDO_HINTS = "ignore, disregard, forget, override, bypass, discard, dismiss, obey, overlook, follow"
_TOLD = r"(?:you\s+(?:were|have\s+been|are|got|received)|given|told|that\s+came)"
_USER = r"(?:the\s+|your\s+)?(?:user|human|owner|operator)\b"
_SECRET = r"(?:tokens?|secrets?|credentials?|passwords?|api[\s_-]?keys?|private\s+keys?|\.env)\b"
_SYSTEM_PROMPT = r"(?:\w+\s+)?system\s+(?:prompt|message|instructions)"

_ZH_UNDO = (
    r"(?:忽略|无视|無視|忘记|忘記|忘掉|抛开|不要理会|不要遵守|不必遵守|不要执行|不用管|别管|别理会|绕过|推翻|丢弃|作废)[掉了]?"
)
_ZH_OLD = (
    r"(?:之前|以前|先前|上面|以上|上述|前面|此前|前述|原有|原来|原先|系统|系統|你的|你收到|所有|一切|全部|任何|开发者|開發者)"
)
_ZH_RULES = r"(?:指令|指示|提示词?|规则|規則|命令|要求|设定|設定|限制|约束|約束|规定|系统消息|人设)"
_ZH_USER = r"(?:用户|用戶|主人|使用者|人类)"
_TARGET = r"(?:https?://|ftp://|www\.|[\w.+-]+@[\w-]+\.\w)"


def _order(kind: str, begin: re.Pattern[str] | None, needs: str, *patterns: str) -> Order:
    groups = tuple(frozenset(group.split(", ")) for group in needs.split(" & "))
    return Order(kind, groups, begin, "|".join(patterns))


ORDERS = (
    _order(
        "override",
        _EN,
        _UNDO_HINTS,
        rf"{_UNDO}(?:\w+\s+){{0,4}}?{_OLD}\s+(?:[\w-]+\s+){{0,3}}?{_RULES}",
        rf"{_UNDO}(?:all\s+)?(?:of\s+)?your\s+(?:\w+\s+){{0,2}}{_RULES}",
        rf"{_UNDO}(?:all|any|every)\s+(?:of\s+)?(?:the\s+|these\s+|those\s+)?"
        r"(?:instructions?|prompts?|guidelines|guardrails|safety\s+\w+)\b",
        rf"{_UNDO}(?:\w+\s+){{0,3}}?{_RULES}\s+(?:\w+\s+)?(?:above|before|{_TOLD})",
        rf"{_UNDO}(?:everything|anything|all|what(?:ever)?)\s+(?:that\s+(?:is|was)\s+|that\s+)?(?:written\s+|said\s+)?"
        rf"(?:above|before|prior|previously|so\s+far|earlier|you|{_TOLD})",
    ),
    _order(
        "override",
        _ZH,
        "忽略, 无视, 無視, 忘, 抛开, 不要, 不必, 不用管, 别, 绕过, 推翻, 丢弃, 作废"
        " & 指令, 指示, 提示, 规则, 規則, 命令, 要求, 设定, 設定, 限制, 约束, 約束, 规定, 系统消息, 人设"
        ", 内容, 信息, 话, 話",
        rf"{_ZH_UNDO}[^。！？\n]{{0,8}}?{_ZH_OLD}[^。！？\n]{{0,8}}?{_ZH_RULES}",
        rf"{_ZH_UNDO}(?:之前|以上|上面|此前)的?(?:所有|全部|一切)的?(?:内容|對話|对话|信息|话)",
    ),
    _order(
        "override",
        None,
        "忘, 忽略, 作废, 丢弃, 抛开 & 把, 将, 將",
        rf"[把将將]{_ZH_OLD}[^。！？\n]{{0,6}}?{_ZH_RULES}[^。！？\n]{{0,3}}?(?:忘掉|忘了|忽略|作废|丢弃|抛开)",
    ),
    _order(
        "override",
        None,
        "無視, 忘れ, 무시, 잊, bỏ qua",
        r"(?:以前|これまで|上記|前|今まで|すべて|全て)の[^。\n]{0,8}?(?:指示|命令|ルール|プロンプト)[はを][^。\n]{0,6}?"
        r"(?:無視(?:して|しろ|せよ|しなさい)|忘れ(?:て|ろ|なさい))",
        r"(?:이전|위|앞|지금까지)[의에]?\s*(?:모든\s*)?(?:지시|명령|지침|규칙)(?:사항)?[을를은는]?\s*(?:모두\s*|전부\s*)?"
        r"(?:무시(?:해|하세요|하라)|잊(?:어|으))",
        r"(?:^|[.!?:;,]\s*)(?:hãy\s+)?bỏ\s+qua\s+(?:(?:mọi|tất\s+cả|các|những)\s+){0,2}"
        r"(?:hướng\s+dẫn|chỉ\s+dẫn|chỉ\s+thị|lệnh|quy\s+tắc)\s+(?:trước|ở\s+trên|phía\s+trên|cũ)",
    ),
    _order(
        "role",
        None,
        " now, longer, free & you",
        r"\byou(?:\s+are|['’]re)\s+now\s+(?:dan\b(?!['’]s)|(?:an?\s+|the\s+|in\s+)?(?:\w+\s+)?(?:unrestricted|jailbroken|"
        r"uncensored|unfiltered|evil|hacker|developer\s+mode|god\s+mode|different\s+(?:ai|assistant|model)|"
        r"new\s+(?:ai|assistant|persona)))",
        r"\byou(?:\s+are|['’]re)\s+(?:now\s+)?(?:no\s+longer\s+(?:bound|restricted|required\s+to\s+follow|an?\s+ai)|"
        r"free\s+(?:from|of)\s+(?:all\s+|any\s+|your\s+)?(?:restrictions|rules|limits|guidelines))",
        r"\bdo\s+anything\s+now\b",
        r"\bfrom\s+now\s+on,?\s+you\s+(?:must\s+|will\s+|shall\s+|should\s+|are\s+to\s+|have\s+to\s+|only\s+)*"
        r"(?:obey|comply|serve|answer\s+(?:only\s+)?to\s+me|do\s+(?:whatever|everything|exactly\s+what|as)\s+i\b|"
        r"follow\s+(?:only\s+)?(?:my|these|the\s+following)\s+(?:\w+\s+)?(?:orders?|instructions?|commands?))",
    ),
    _order(
        "role",
        _EN,
        "act as, pretend & dan, unrestricted, jailbroken, uncensored, no ",
        r"\b(?:act\s+as|pretend\s+(?:to\s+be|you\s+are|that\s+you\s+are|you\s+have))\s+(?:an?\s+)?(?:dan\b|unrestricted|"
        r"jailbroken|uncensored|no\s+(?:rules|restrictions|limits|guidelines))",
    ),
    _order(
        "role",
        None,
        "你现在, 你現在, 从现在, 從現在, 不再受",
        r"你[现現]在是(?:一[个個名])?\s*(?:dan\b|[^。！？\n]{0,8}?(?:没有(?:任何)?限制|不受(?:任何)?限制|无限制|越狱|开发者模式))",
        r"[从從][现現]在(?:开始|開始|起)[，,]?\s*你?(?:必须|必須|只能|要|将|都要|得)?[^。！？\n]{0,4}?"
        r"(?:服从|服從|听从|聽從|听命|无条件|绝对服从|扮演\s*dan)",
        r"你(?:已经)?不再受[^。！？\n]{0,8}?(?:限制|约束|规则)",
    ),
    _order("role", _ZH, "模式 & 越狱, 无限制, 开发者, dan", r"(?:进入|切换到|开启)(?:越狱|无限制|开发者|dan)模式"),
    _order(
        "obedience",
        _EN,
        "obey",
        r"\bobey\s+(?:it|them|me)\b",
        r"\bobey\s+(?:all|every|these|the\s+following|any)\s+(?:\w+\s+)?(?:instructions?|orders?|commands?)",
    ),
    _order(
        "system_prompt",
        None,
        "system, 系统, 系統",
        r"^[\W_]{0,6}(?:new\s+|updated\s+|begin\s+)?system\s+(?:prompt|instructions?|message|override)\W{0,3}[:：](?!\W*\d)",
        r"^[\W_]{0,6}(?:新的?)?系[统統](?:提示词?|指令|消息)\W{0,3}[:：](?!\W*\d)",
    ),
    _order(
        "system_prompt",
        _EN,
        "system & prompt, message, instructions"
        " & reveal, leak, dump, exfiltrate, print, show, repeat, output, display, tell",
        rf"\b(?:reveal|leak|dump|exfiltrate)\s+(?:me\s+)?(?:your|the)\s+{_SYSTEM_PROMPT}",
        rf"\b(?:print|show|repeat|output|display|tell)\s+(?:me\s+)?your\s+{_SYSTEM_PROMPT}",
    ),
    _order(
        "system_prompt",
        _ZH,
        "你 & 你的系统, 你的初始指令",
        r"(?:泄露|输出|打印|重复|告诉我|公开)\s*(?:出)?你的(?:系统提示词?|系统指令|初始指令)",
    ),
    _order(
        "role_tag",
        None,
        "<system, </system, <sys>, <</sys, inst], <|",
        r"</?\s*system(?:[_-]?(?:prompt|message|instructions?|reminder))?\s*>",
        r"<</?sys>>|(?<!\w)\[/?inst\]",
        r"<\|\s*(?:im_start|im_end|system|assistant|user|endoftext|start_header_id|end_header_id|eot_id|begin_of_text)\s*\|>",
    ),
    _order(
        "secrecy",
        _EN,
        "user, human, owner, operator & tell, inform, alert, mention, reveal, disclose, let"
        " & not, n't, n’t, dont, never",
        rf"\b(?:do\s+not|don['’]?t|never)\s+(?:ever\s+)?(?:tell|inform|alert|mention\s+(?:this|it|that)\s+to|"
        rf"(?:reveal|disclose)\s+(?:this|it|that)\s+to|let)\s+{_USER}"
        r"(?!['’]s|\s+(?:to|how|where|what\s+to|wait|interface|group))",
    ),
    _order(
        "secrecy",
        None,
        "user, human, owner, operator & without",
        rf"\bwithout\s+(?:telling|informing|alerting|notifying)\s+{_USER}",
        rf"\bwithout\s+{_USER}(?:['’]s\s+knowledge|\s+(?:noticing|knowing))",
    ),
    _order(
        "secrecy",
        _EN,
        "user, human, owner, operator & hide, keep, conceal",
        rf"\b(?:hide|keep|conceal)\s+(?:this|it|that)\s+(?:secret\s+|hidden\s+)?from\s+{_USER}(?!['’]s|\s+interface)",
    ),
    _order(
        "secrecy",
        None,
        "用户, 用戶, 主人, 使用者, 人类",
        rf"(?:不要|别|別|切勿|请勿|勿|不得|不许|禁止|千万别)(?:告诉|告訴|告知|透露给|泄露给){_ZH_USER}(?![去要自应該该的怎如])",
        rf"(?:不要|别|別|切勿|不能|不许)让{_ZH_USER}(?:知道|发现|察觉|看到这)",
        rf"[对對]{_ZH_USER}(?:保密|隐瞒|隱瞞)|(?:瞒着|背着|瞞著){_ZH_USER}",
    ),
    _order(
        "exfiltration",
        _EN,
        "://, www., @ & send, post, upload, forward, mail, exfiltrate, transmit, leak, copy, deliver, curl",
        r"\b(?:send|post|upload|forward|e?mail|exfiltrate|transmit|leak|copy|deliver|curl)\s[^.!?\n]{0,80}?"
        rf"(?:contents?\s+of|{_SECRET}|ssh|cookies|environment\s+variables|chat\s+(?:history|log)|conversation|"
        rf"system\s+prompt|memor(?:y|ies))[^!?\n]{{0,80}}?\s(?:to|at|via|into)\s+{_TARGET}",
    ),
    _order(
        "exfiltration",
        _EN,
        " me  & token, secret, credential, password, key, .env & send, give, show, tell, mail, forward, hand, read",
        r"\b(?:send|give|show|tell|e?mail|forward|hand|read)\s+(?:to\s+)?me\s+(?:the\s+|your\s+|all\s+(?:the\s+|your\s+)?|"
        rf"every\s+)(?:[\w.-]+\s+){{0,2}}?{_SECRET}",
    ),
    _order(
        "exfiltration",
        None,
        "://, @ & 把, 将, 將",
        r"[把将將][^。！？\n]{0,60}?(?:的(?:全部|所有)?(?:内容|內容)|密钥|密鑰|令牌|密码|密碼|凭证|token|聊天记录|"
        r"对话记录|记忆|环境变量|系统提示)[^。！？\n]{0,20}?"
        rf"(?:发送|发|上传|提交|传|转发|發送|上傳|傳|轉發)[到至给給往]?\s*{_TARGET}",
    ),
    _order(
        "exfiltration",
        _ZH,
        "给我 & 密钥, 令牌, 密码, 凭证, token",
        r"把?(?:你的|所有|全部)?[^。！？\n]{0,10}?(?:密钥|令牌|密码|凭证|token)(?:文件)?(?:发|发送|交|传)给我",
    ),
)
