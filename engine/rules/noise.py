"""Lines without substance: acknowledgements, laughter, greetings, bare punctuation, heartbeats (C7, S13)."""

from __future__ import annotations

import re

from engine.rules.textnorm import INVISIBLE, fold

# A text longer than this says something, whatever words it is made of.
_LONGEST = 80

_WORDS = r"""
    o+k+(?:a+y+|ey|i+e*)? | kk? | y | n | ye+s+ | yeah+ | ye[ap]+ | yup+ | no+ | nope | nah | sure(?:\ thing)?
    | right | thanks(?:\ (?:a\ lot|so\ much|again|a\ million|everyone|all))?
    | thank(?:\ )?(?:you|u)(?:\ (?:so|very)\ much)? | th?n?x | thks? | tks | ty(?:sm)? | cheers | much\ appreciated
    | no\ (?:problem|worries|prob) | np | yw | you\ re\ welcome | h+m+ | m+h+m+ | m+ | u+h+ | u+m+ | e+r+m* | a+h+
    | o+h+ | wow+ | (?:ha){2,}h? | (?:he){2,} | lo+l+ | lmao | rofl | hi{2,} | great | nice(?:\ one)? | cool
    | awesome | perfect | good | good\ (?:job|work|one|idea|point) | well\ done | fine | all\ good | got\ it
    | i\ (?:see|understand|agree|know) | understood | noted | roger(?:\ that)? | copy\ that | ack(?:nowledged)?
    | will\ do | sounds\ good | makes\ sense | looks\ good | lgtm | go\ ahead | go\ on | continue | carry\ on
    | done | agreed | hi+(?:\ there)? | hello+(?:\ there)? | hey+(?:\ there)? | yo | bye+
    | good\ ?(?:bye|morning|night|evening|afternoon) | see\ you(?:\ later)? | please | pls | and | so | then | very
    | indeed | exactly | absolutely | of\ course | alright | heart\ ?beat | keep\ ?alive
    | still\ (?:alive|here|running) | ping+ | pong | no\ ?reply | no\ ?op
    | nothing\ (?:new|to\ (?:report|do|add|say)) | no\ (?:news|updates?|changes?|new\ messages) | dạ | ạ | vâng
    | ừ+m? | cảm\ ơn(?:\ (?:bạn|anh|chị|em|nhiều))? | được(?:\ rồi)? | gracias | merci | danke(?:\ schön)? | gern
"""
_SIGNS = r"""
    好(?:的|吧|啊|呀|呢|嘞|滴|哒|耶|了)? | 行(?:吧|啊|的|了)? | 可以(?:的|了)? | 没问题 | 沒問題 | 没事(?:了|的)?
    | 没关系 | 收到(?:了|啦)? | 了解(?:了|です|しました)? | 明白(?:了)? | 知道(?:了|啦)? | 懂(?:了)? | 清楚了?
    | 同意 | 是的?(?:呢|啊)? | 对(?:的|啊|呀|呢)? | 不是 | 不用(?:了|谢)? | 谢谢(?:你|您|啦|了|大家)?
    | 謝謝(?:你|您|啦|了|大家)? | 多谢(?:了)? | 感谢(?:您|你)? | 感謝 | 谢(?:了|啦|过)? | 辛苦(?:了|啦)? | 客气了?
    | 不客气 | 嗯 | 恩恩 | 哦 | 噢 | 喔 | 啊 | 呃 | 额 | 唉 | 哎(?:呀)? | 嘿 | 哈 | 呵 | 嘻 | 嘎 | 哇(?:塞)? | 呀
    | 吧 | 呢 | 了 | 啦 | 你好(?:啊|呀)? | 您好 | 大家好 | 早(?:上好|安)? | 晚(?:上好|安) | 再见 | 拜拜
    | 在(?:吗|么|不在) | 有人吗 | 不错 | 很好 | 太好了 | 真棒 | 太棒了 | 厉害 | 完美 | 牛 | 赞 | 加油 | 继续
    | 完成(?:了)? | 搞定(?:了)? | 好了 | 已阅 | 已读 | 心跳(?:正常|检测)? | 无事可报 | 一切正常
    | 没有新(?:消息|情况) | 暂无(?:更新|消息)? | 哈喽 | 嗨 | はい | うん | ええ | いいえ | 承知(?:しました|です)?
    | わかりました | 分かりました | ありがとう(?:ございます|ございました)? | どうも | お疲れ様(?:です|でした)?
    | おはよう(?:ございます)? | こんにちは | なるほど | そうですね | オッケー | 草 | 笑 | 네 | 예 | 응 | 아니요
    | 넵 | 알겠습니다 | 알겠어요? | 감사합니다 | 고마워(?:요)? | 고맙습니다 | 안녕(?:하세요)? | 좋아요?
    | [ㅋㅎㅇㅠ\u110f\u1112\u110b\u1172]
"""
_LETTER = "0-9a-z\u00e0-\u024f\u1ea0-\u1eff"
# Words end at a letter boundary, and signs are atomic: no text makes the pattern try again and again.
_NOISE = re.compile(rf"(?:(?:{_WORDS})(?![{_LETTER}])\ *|(?>{_SIGNS})\ *)+", re.VERBOSE)
_WHOLE = frozenset({"666", "+1"})
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:z|[+-]\d\d:?\d\d)?)?|\b\d\d:\d\d(?::\d\d)?\b"
)
_NOT_WORD = re.compile(rf"[\W_{INVISIBLE}]+")


def is_noise(text: str) -> bool:
    """Tell whether `text` has no substance to remember: empty, signs only, or acknowledgements only (S13).

    Short facts (`用户24岁`, `I'm vegan`, `Port 8080`) are not noise.
    """
    if len(text) > _LONGEST:
        return not any(ch.isalnum() for ch in text)
    folded = fold(text).strip()
    if folded in _WHOLE:
        return True
    words = _NOT_WORD.sub(" ", _STAMP.sub(" ", folded) if "heart" in folded or "心跳" in folded else folded).strip()
    return not words or _NOISE.fullmatch(words) is not None
