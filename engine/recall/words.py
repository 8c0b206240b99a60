"""Words that say little about what a question is after, in English and Chinese."""

from __future__ import annotations

from engine.rules.stem import stem

_STOP = """
a an the this that these those there here i me my mine myself we us our ours ourselves you your yours
yourself yourselves he him his himself she her hers herself it its itself they them their theirs themselves
who whom whose which what when where why how am is are was were be been being have has had having do does
did doing done will would shall should can could may might must ought and or but nor so yet if then than
because as while until unless although though since whether of at by for with about against between into
through during before after above below to from up down in out on off over under again further once upon
within without toward towards via per not no any some all each every both either neither few more most much
many such other another same own only just too very also still even ever never always often really quite
rather almost already maybe perhaps s t d ll m re ve don don't doesn't didn't isn't aren't wasn't weren't
won't wouldn't can't couldn't shouldn't haven't hasn't hadn't i'm i've i'd i'll you're you've you'd you'll
he's she's it's we're we've they're they've that's there's what's who's where's when's how's let's get got
getting go going gone went come came make made tell told know knew think thought want wanted please ok okay
hi hello hey yes yeah oh well thing things something anything everything nothing
"""

_VAGUE = """
right now back like need start begin alright absolutely sure thank thanks sorry good great nice bit lot kind
sort type way let try use mean mention discuss talk regard currently able definitely honestly basically seem
keep put take give say ask look see exactly perfect cool awesome glad feel today soon later first next last
step new ready especially specific actually around truly simply quickly slowly finally recently lately
probably likely possibly literally obviously clearly certainly particularly generally usually mostly pretty
kinda gonna wanna gotta big small little old long short high low easy hard main major important different
similar certain various several whole full real best better bad worse fine fun happy sad love enjoy hope
wish wonder guess suppose believe hear watch people person man woman guy everyone someone anyone everybody
somebody one two previous time day tonight yesterday tomorrow week moment minute point part piece place case
fact idea reason matter work help happen become remain stay leave move turn bring hold set run show call
answer question reply speak chat describe explain provide offer include involve consider decide choose
remember forget recall remind stuff issue situation example detail information option approach add continue
wait stop finish end complete share send check sound follow stick focus handle figure
"""

_VAGUE_PAIRS = """
什么 怎么 怎样 如何 哪些 哪个 哪里 哪种 为何 为什 么时 时候 是什 是谁 有什 有哪 哪一 一个 一种 一些 这个 那个
这些 那些 我们 你们 他们 她们 可以 能够
应该 需要 因为 所以 但是 而且 如果 或者 以及 还是 就是 不是 没有 已经 现在 觉得 知道 认为 感觉 真的 非常 特别
一下 一点 多少 几个 曾经 过吗 的吗 了吗
是吗 你还 还记 记得 我的 你的 他的 的是 了什 么样 样的 的名 名字 叫什 这样 那样 然后 不过 其实 可能 当然 一定
很多 好的 谢谢 请问 告诉 诉我 推荐 荐过
给我 我给 和你 跟你 我和 你说 说过 提到 到过 喜欢 最喜 感到 一起 总是 有时 最近 事情 东西 时间 今天 有点 这么
那么 这种 那种 希望 想要 想到 试过 明白
理解 听起 起来 看起 听说 还有 只是 似乎 也许 或许 确实 真正 当时 之前 之后 后来 开始 继续 别人 大家 有人 每个
每天 所有 任何 其他 其它 方面 情况 问题
办法 方法 不同 一样 一直 比较 更加 越来 有没 能会 会有 出来 进去 下去 过来 帮助 找到 看到 听到 做到 得到 常的
十分 有些 许多 第一 一次 一边 主要 关于
对于 由于 根据 属于 具有 包括 通过 进行 成为 作为 称为 以上 以下 其中 之一
"""

STOP_WORDS = frozenset(_STOP.split())
"""Words that every question has: articles, pronouns, auxiliaries, prepositions and greetings. Not searched for."""

VAGUE_TERMS = frozenset(map(stem, _VAGUE.split())) | frozenset(_VAGUE_PAIRS.split())
"""Terms that fill talk: they order what other terms found."""

VAGUE_CHARACTERS = frozenset(
    "的了吗呢吧啊是在有和就不都也我你他她它们这那个一什么怎哪很会要能可以没还对说到与及为被把让给从向于之其"
)
"""Characters that are mostly grammar."""
