"""Words for the local extraction: what every text has, and nouns of work and life that cut longer phrases."""

from __future__ import annotations

_STOP = """
a an the this that these those there here i me my mine myself we us our ours you your yours he him his she her hers
it its they them their theirs who whom whose which what when where why how is am are was were be been being have has
had having do does did doing done will would shall should can could may might must ought and or but nor so yet if
then than because as while until unless although though since whether of at by for with about against between into
through during before after above below to from up down in out on off over under again further once upon within
without toward via per not no any some all each every both either neither few more most much many such other another
same own only just too very also still even ever never always often really quite rather almost already maybe perhaps
please ok okay hi hello hey yes yeah oh well thing things something anything everything nothing let lets let's get
got getting go going gone went come came make makes made making tell told know knew think thought want wanted wants
need needs needed like help helps use used using uses try tried trying keep keeps put take takes took give gives
gave say says said ask asks asked look looks see saw seen show shows show find found work works worked run runs ran
start started stop stopped now today yesterday tomorrow later soon first next last new old good bad great nice right
wrong sure thanks thank sorry bit lot kind sort way one two three time times day days week month year hour minute
back able since i'm i've i'd i'll you're you've you'd you'll he's she's it's we're we've they're that's there's
what's who's where's don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't
haven't hasn't hadn't cannot us etc e.g i.e add added adding change changed changing set update updated write wrote
written read explain described describe create created fix fixed fixing check checked checking done finish finished
big small long short high low many several tôi tao mình bạn anh chị em chúng ta họ nó và hoặc nhưng nếu thì là có
không của cho với từ đến ở trong ngoài trên dưới này kia đó gì nào sao đã đang sẽ được bị muốn cần hãy một các những
rất cũng chỉ
"""

STOP_WORDS = frozenset(_STOP.split())
"""Words that say little of what a text is about."""

_FUNCTION = """
的 了 吗 呢 吧 啊 呀 嘛 着 过 地 得 是 在 有 和 与 及 或 跟 就 都 也 还 又 再 很 太 更 最 会 能 可 要 想 把 被 让 给
对 从 到 向 往 为 以 因 由 于 而 且 但 却 则 若 如 并 等 之 其 这 那 哪 某 每 各 我 你 您 他 她 它 们 谁 请 帮 个 些
一下 一点 一些 一个 一起 什么 怎么 怎样 如何 为什么 为何 多少 几个 哪里 哪些 这个 那个 这些 那些 这样 那样 这里 那里
我们 你们 他们 她们 咱们 大家 自己 可以 能够 应该 需要 必须 已经 正在 现在 刚才 今天 昨天 明天 上次 下次 以后 以前
之前 之后 时候 然后 最后 首先 其次 接着 而且 但是 因为 所以 如果 或者 以及 还是 就是 不是 没有 不要 不能 不会 不用
不行 觉得 认为 知道 希望 打算 准备 开始 继续 看看 看一下 请问 请你 请帮 帮我 帮忙 告诉 麻烦 非常 特别 真的 其实 可能
当然 一定 大概 好像 似乎 关于 对于 根据 通过 按照 由于 为了 喜欢 进行 使用 利用 采用 有点 有些 比较 不太 还有 没 不
去 来 说 做 用 看
"""
FUNCTION_WORDS = frozenset(_FUNCTION.split())
"""What holds Chinese sentences together; phrases end there."""

_NOTHING = """
好的 好吧 谢谢 多谢 你好 您好 再见 不对 对的 没错 是的 可以 不行 怎么办 为什么 没问题 知道了 明白了 收到 继续 开始
完成 一下 理解错 理解错了 错了 不是 太好了 很好 不错 辛苦 抱歉 对不起 没关系 东西 问题 事情 情况 时候 方面 内容 地方
办法 样子 意思 感觉
"""
PHRASES_OF_NOTHING = frozenset(_NOTHING.split())
"""Whole phrases that name nothing."""

_NOUNS = """
系统 模块 服务 接口 数据 数据库 网关 证书 配置 部署 回滚 监控 日志 缓存 队列 脚本 代码 代码评审 评审 测试 单元测试
用例 重构 登录 权限 认证 令牌 密钥 加密 备份 恢复 迁移 同步 索引 查询 检索 搜索 排序 分页 前端 后端 客户端 服务器
浏览器 页面 界面 按钮 表单 框架 组件 依赖 版本 发布 上线 分支 合并 冲突 提交 仓库 容器 镜像 集群 节点 磁盘 内存 网络
端口 域名 代理 防火墙 负载 性能 并发 延迟 超时 重试 异常 报错 错误 故障 告警 调试 编译 构建 流水线 文档 手册 说明书
需求 方案 设计 架构 算法 模型 训练 向量 标签 标签库 标签池 记忆 知识库 图谱 智能体 助手 提示词 对话 会话 摘要 概览
项目 计划 任务 进度 里程碑 会议 周会 周报 日报 月报 报告 汇报 预算 合同 报价 订单 发票 报销 客户 供应商 团队 同事
领导 面试 简历 招聘 绩效 工资 出差 机票 酒店 签证 行程 旅行 旅游 搬家 租房 装修 房租 医院 体检 医生 手术 药物 健康
饮食 减肥 睡眠 健身 跑步 游泳 瑜伽 学校 老师 学生 课程 作业 考试 论文 毕业 留学 英语 日语 数学 编程 书籍 小说 电影
音乐 吉他 钢琴 摄影 相机 游戏 宠物 小狗 小猫 孩子 父母 妈妈 爸爸 朋友 女儿 儿子 生日 婚礼 春节 礼物 晚餐 早餐 午餐
菜谱 咖啡 火锅 超市 快递 手机 电脑 键盘 显示器 打印机 汽车 地铁 停车 保险 贷款 股票 基金 投资 理财 税务 印刷 排版
字体 海报 封面 纸张 油墨 样书 书店 出版社 编辑 翻译 文案 广告 营销 品牌 用户 画像 活动 直播 视频 音频 图片 图标 颜色
主题 布局 动画 天气 新闻 续期 过期 风格 偏好 习惯 决定 规则 原则 流程 步骤 模板 清单 目录 路径 文件 文件夹 变量 函数
类型 参数 字段 表结构 事务 触发器 主键
"""
NOUNS = frozenset(_NOUNS.split())
"""Words that stand for themselves inside a longer phrase."""
