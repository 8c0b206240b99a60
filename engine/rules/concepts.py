"""A small bilingual thesaurus of everyday life: which words speak of the same field.

It lets "我们的狗" and "the new puppy" meet in a search, at a low weight: a shared field is a hint, never a match.
Chinese words stand with their first two characters, the pair under which the index finds them.
"""

from __future__ import annotations

from functools import cache

from engine.rules.stem import stem

_FIELDS = """
food:
  food meal eat breakfast lunch dinner supper snack dish cuisine cook cooking recipe restaurant cafe kitchen chef
  bake baking pizza pasta noodle rice bread cake cookie dessert chocolate candy fruit apple mango banana
  strawberry vegetable salad soup meat beef pork chicken fish seafood sushi sausage bacon cheese egg sandwich
  burger barbecue grill delicious tasty yummy flavor hungry spicy sweet
  食物 美食 吃饭 吃了 好吃 早餐 午餐 午饭 晚餐 晚饭 零食 菜肴 做饭 烹饪 食谱 餐厅 饭馆 厨房 蛋糕 甜点 巧克 糖果
  水果 苹果 芒果
  香蕉 草莓 蔬菜 沙拉 火锅 牛肉 猪肉 鸡肉 海鲜 寿司 香肠 培根 奶酪 芝士 鸡蛋 三明 汉堡 烧烤 冰淇 披萨 面条 米饭
  面包 饼干 美味
  味道 口味 饿了 吐司 饺子 月饼 汤圆 粽子
drink:
  drink coffee tea juice beer wine milk water cocktail soda whisky cup
  喝了 饮料 咖啡 喝茶 茶叶 果汁 啤酒 红酒 牛奶 奶茶 可乐 喝酒
music:
  music song sing singing singer concert band album melody guitar piano violin drum clarinet instrument orchestra
  choir musician playlist symphony jazz rock perform
  音乐 歌曲 唱歌 歌手 演唱 乐队 专辑 旋律 吉他 钢琴 小提 乐器 合唱 交响 爵士 摇滚 听歌 演奏 弹琴
art:
  art artist paint painting draw drawing sketch sculpture pottery craft museum gallery exhibition color photo
  photography camera design canvas watercolor
  艺术 画画 绘画 美术 油画 水彩 素描 雕塑 陶艺 手工 博物 画廊 展览 颜色 摄影 拍照 照片 相机 设计 画家
dance:
  dance dancing dancer ballet stage performance performer costume show audience theater drama
  跳舞 舞蹈 芭蕾 舞台 表演 演出 服装 观众 话剧 戏剧
book:
  book read reading novel story author writer library poem poetry literature fiction write writing essay journal
  diary
  书籍 读书 看书 阅读 小说 故事 作者 作家 图书 诗歌 文学 写作 日记 绘本 一本
film:
  movie film cinema tv show series cartoon animation actor actress episode documentary watch director
  电影 影片 影院 电视 动画 卡通 演员 剧集 纪录 导演 动漫
game:
  game gaming gamer console chess puzzle toy lego card play player tournament
  游戏 玩具 象棋 围棋 拼图 积木 扑克 桌游 捉迷 乐高
sport:
  sport football soccer basketball baseball tennis badminton volleyball swim swimming run running marathon race
  gym workout exercise yoga cycling bike skate skating ski skiing surf surfing hockey golf athlete coach team
  training fitness match ball
  运动 体育 足球 篮球 棒球 网球 羽毛 排球 游泳 跑步 马拉 赛跑 健身 锻炼 瑜伽 骑车 自行 滑冰 滑雪 冲浪 教练 球队
  训练 比赛 乒乓
  跳绳
contest:
  win winner won competition contest champion championship medal trophy award prize victory compete honor
  certificate achievement success score
  获胜 赢得 比赛 竞赛 冠军 奖牌 奖杯 获奖 奖项 第一 胜利 荣誉 证书 成就 成功 优胜 得奖 满分
fail:
  fail failure lose lost defeat mistake miss wrong flunk disappoint
  失败 输了 输掉 错误 失误 犯错 落选 没考 不及 搞砸 失望
school:
  school class classroom student teacher lesson course homework exam test grade math science english study learn
  education university college campus degree classmate professor tutor
  学校 课堂 教室 学生 老师 同学 课程 作业 考试 测验 成绩 数学 科学 英语 学习 教育 大学 校园 学位 教授 上课 功课
  班级 期末
work:
  work job office company boss colleague coworker career business project meeting client employee salary interview
  resume startup manager deadline promotion hire profession
  工作 公司 办公 老板 同事 职业 事业 项目 会议 客户 员工 工资 薪水 面试 简历 创业 经理 加班 升职 上班
money:
  money pay price cost budget finance financial bank invest investment saving save buy purchase shop shopping
  store sale expensive cheap loan debt tax spend income
  钱包 付款 价格 费用 预算 财务 金融 银行 投资 存钱 储蓄 购买 购物 商店 便宜 贷款 债务 税务 花钱 收入 买了
family:
  family mother father parent brother sister sibling son daughter child baby grandmother grandfather uncle aunt
  cousin husband wife spouse relative home
  家人 家庭 妈妈 母亲 爸爸 父亲 父母 哥哥 弟弟 姐姐 妹妹 兄弟 姐妹 儿子 女儿 孩子 宝宝 奶奶 爷爷 外婆 外公 叔叔
  阿姨 表哥 丈夫
  妻子 亲戚
friend:
  friend buddy pal mate companion friendship hangout neighbor together
  朋友 好友 伙伴 友谊 邻居 一起 同伴
romance:
  date dating boyfriend girlfriend partner marry marriage wedding love romance relationship engaged propose
  divorce breakup anniversary
  约会 男友 女友 恋人 结婚 婚礼 爱情 恋爱 求婚 离婚 分手 纪念 男朋 女朋 喜欢
animal:
  animal pet dog puppy cat kitten bird fish rabbit hamster horse cow elephant penguin lion tiger bear monkey zoo
  aquarium turtle snake insect butterfly wildlife vet guinea pig
  动物 宠物 小狗 狗狗 小猫 猫咪 小鸟 金鱼 兔子 仓鼠 大象 企鹅 狮子 老虎 猴子 熊猫 水族 乌龟 昆虫 蝴蝶 养狗 养猫
nature:
  nature park forest tree flower garden plant mountain river lake sea ocean beach island hike hiking camp camping
  outdoor picnic sunset sunrise star sky shell scenery grass leaf waterfall trail kite
  自然 公园 森林 大树 树木 花朵 鲜花 花园 植物 高山 爬山 河流 湖边 大海 海边 海滩 沙滩 岛屿 徒步 露营 户外 野餐
  日落 日出 星星
  天空 贝壳 风景 草地 树叶 瀑布 风筝 向日 种花
weather:
  weather rain rainy snow snowy sun sunny wind windy storm cold hot warm cloud umbrella temperature snowman
  rainbow thunder
  天气 下雨 雨天 下雪 雪人 太阳 晴天 刮风 暴雨 寒冷 炎热 温暖 乌云 雨伞 气温 彩虹 打雷
travel:
  travel trip journey vacation holiday tour tourist visit flight airport plane train hotel passport visa luggage
  itinerary abroad destination city country cruise explore adventure sightseeing
  旅行 旅游 旅程 度假 假期 游客 参观 航班 机场 飞机 火车 酒店 护照 签证 行李 行程 国外 目的 城市 国家 自驾 探险
  景点 出国
vehicle:
  car bus bike bicycle motorcycle truck drive driver driving road traffic accident taxi subway park parking
  vehicle
  汽车 公交 摩托 卡车 开车 司机 驾驶 道路 交通 车祸 出租 地铁 停车 堵车
celebrate:
  birthday party celebrate celebration festival christmas halloween easter thanksgiving gift present surprise
  carnival ceremony parade balloon firework decorate guest invite
  生日 派对 庆祝 聚会 节日 圣诞 万圣 复活 感恩 新年 春节 中秋 礼物 惊喜 典礼 游行 气球 烟花 装饰 客人 邀请 过年
clothes:
  clothes clothing wear dress shirt skirt shoe hat coat jacket suit fashion outfit style pants sock jewelry
  necklace costume
  衣服 穿着 裙子 衬衫 鞋子 帽子 外套 西装 时尚 打扮 裤子 袜子 首饰 项链 服装 新衣 校服 服饰
home:
  house apartment room bedroom kitchen furniture bed sofa clean cleaning tidy laundry garden rent decorate move
  household chore
  房子 公寓 房间 卧室 厨房 家具 打扫 清洁 整理 洗衣 租房 搬家 家务 装修
health:
  health healthy sick ill illness disease doctor hospital nurse medicine pain hurt injury injured headache fever
  cold cough surgery recover recovery diet weight sleep rest therapy medical broken bleed
  健康 生病 疾病 医生 医院 护士 吃药 疼痛 受伤 头痛 发烧 感冒 咳嗽 手术 恢复 康复 减肥 体重 睡眠 休息 治疗 摔倒
  流血 肚子
mind:
  stress stressed anxiety anxious depressed depression mental counseling therapist meditate meditation relax calm
  pressure overwhelmed burnout mood emotion mindfulness
  压力 焦虑 抑郁 心理 咨询 冥想 放松 平静 情绪 心情 崩溃 紧张
happy:
  happy happiness joy joyful glad delighted excited excitement cheerful fun enjoy pleased thrilled wonderful smile
  laugh
  开心 高兴 快乐 喜悦 幸福 兴奋 激动 愉快 满足 欢乐 笑了 超级 有趣
sad:
  sad sadness cry tear unhappy upset sorrow grief lonely heartbroken miss depressed disappointed disappointment
  regret
  难过 伤心 悲伤 哭了 流泪 沮丧 孤独 心碎 失望 失落 遗憾 后悔 委屈 想念 不开
angry:
  angry anger mad furious annoyed irritated quarrel argue argument fight frustrated hate unfair bully
  生气 愤怒 恼火 烦躁 吵架 争吵 打架 讨厌 不公 欺负 气愤 发火 抢走
fear:
  afraid fear scared scary frightened terrified horror nervous worry worried panic ghost nightmare dark anxious
  害怕 恐惧 吓到 可怕 恐怖 紧张 担心 惊慌 噩梦 黑暗 胆小 惊吓 鬼屋
pride:
  proud pride confident confidence praise praised applause admire recognition encourage encouragement compliment
  自豪 骄傲 自信 表扬 称赞 鼓掌 掌声 认可 鼓励 夸奖 赞美
surprise:
  surprise surprised amazing amazed unexpected shocked wow astonished incredible
  惊讶 惊喜 意外 震惊 不敢 吃惊 没想 竟然
disgust:
  disgusting gross dirty smelly nasty rotten yuck messy
  恶心 肮脏 难闻 臭味 腐烂 脏乱 反感 厌恶
tech:
  computer laptop phone software app code coding program programming internet website online robot ai data server
  bug technology device tablet digital screen
  电脑 手机 软件 应用 代码 编程 程序 网络 网站 在线 机器 人工 数据 服务 科技 设备 平板 数字 屏幕
help:
  volunteer charity donate donation help community shelter homeless support fundraiser nonprofit rescue care kind
  志愿 慈善 捐款 帮助 社区 收容 支持 救助 关爱 爱心 帮忙 照顾
belief:
  church religion religious god faith pray spiritual temple bible belief
  教堂 宗教 信仰 上帝 祈祷 寺庙 佛教
lost:
  lose lost missing disappear forget forgot steal stolen broken break
  丢失 丢了 弄丢 不见 忘记 忘了 被偷 弄坏 坏了 摔坏 打碎
pet:
  pet dog puppy pup cat kitten hamster turtle rabbit parrot goldfish leash breed adopt kennel doggy doggie paw
  宠物 小狗 狗狗 小猫 猫咪 仓鼠 金鱼 鹦鹉 养狗 养猫 遛狗
instrument:
  instrument guitar piano violin drum flute clarinet cello saxophone ukulele trumpet harmonica keyboard
  乐器 吉他 钢琴 小提 大提 架子 笛子 长笛 古筝 二胡 口琴 琵琶
country:
  country nation abroad overseas foreign england britain uk london scotland ireland france paris spain barcelona
  madrid italy rome germany berlin sweden norway finland denmark switzerland austria poland russia turkey greece
  egypt japan tokyo kyoto china beijing shanghai korea seoul india thailand vietnam singapore australia canada
  toronto mexico brazil argentina usa america hawaii california florida europe asia africa
  国家 国外 外国 中国 日本 东京 韩国 美国 英国 伦敦 法国 巴黎 德国 意大 西班 俄罗 印度 泰国 越南 新加 澳大 加拿
  墨西 巴西 欧洲
  亚洲 非洲 北京 上海 广州 深圳 香港 台湾
color:
  color red blue green yellow purple pink orange black white brown grey golden silver bright
  颜色 红色 蓝色 绿色 黄色 紫色 粉色 橙色 黑色 白色 灰色 金色
child:
  child baby toddler kid teen teenager boy girl son daughter youth grandchild nephew niece parenting
  孩子 小孩 儿童 宝宝 婴儿 少年 男孩 女孩 儿子 女儿 孙子 孙女 侄子
workout:
  exercise workout gym yoga pilates run jog weight lift training fitness marathon stretch cardio muscle strength
  锻炼 健身 瑜伽 跑步 慢跑 举重 马拉 拉伸 有氧 肌肉 力量
watersport:
  swim swimming surf surfing kayak kayaking sail sailing dive diving snorkel boat canoe paddle pool wave
  游泳 冲浪 皮划 划船 帆船 潜水 泳池 海浪
dessert:
  dessert cake cookie pie pastry cupcake brownie chocolate candy donut pudding sweet bake muffin
  甜点 甜品 蛋糕 饼干 冰淇 巧克 糖果 布丁 烘焙
fruit:
  fruit apple banana mango orange strawberry grape peach pear watermelon berry lemon
  水果 苹果 香蕉 芒果 橙子 草莓 葡萄 桃子 西瓜 樱桃 柠檬
meal:
  breakfast lunch dinner supper brunch meal dine restaurant cook menu
  早餐 早饭 午餐 午饭 晚餐 晚饭 做饭 聚餐 餐厅 菜单
fantasy:
  fantasy magic wizard dragon fairy hobbit potter superhero hero monster alien
  奇幻 魔法 巫师 魔术 童话 科幻 超级 怪兽 外星 精灵
death:
  death die dead funeral grief mourn lose memorial widow
  去世 死亡 死了 逝世 葬礼 过世 悼念 病逝 遗产
birth:
  born birth pregnant pregnancy newborn due
  出生 怀孕 生下 诞生 新生
disaster:
  disaster flood fire storm hurricane earthquake emergency evacuate rescue destroy
  灾难 洪水 火灾 台风 地震 紧急 救援
politics:
  politics political election campaign vote mayor government policy council candidate law rights protest
  政治 选举 投票 市长 政府 政策 法律 权利 抗议
military:
  military army navy soldier veteran war serve deploy
  军队 军人 士兵 战争 当兵 退伍
identity:
  lgbtq lgbt transgender trans gay queer pride gender identity inclusive acceptance equality
  性别 同性 身份 平等 包容
media:
  instagram facebook twitter tiktok youtube blog vlog post video channel follower podcast livestream content
  subscribe
  视频 博客 直播 频道 粉丝 播客 微博 微信 抖音 朋友
shop:
  store shop boutique brand product customer sell sale clothing order delivery business market
  商店 店铺 开店 品牌 产品 顾客 出售 订单 快递 市场 网购
learn:
  learn study practice improve skill course class tutorial workshop training teach lesson knowledge language
  学习 练习 提高 技能 课程 培训 教程 知识 学会 进步 语言 英语
goal:
  goal plan dream target ambition achieve progress milestone resolution hope wish aim aspire
  目标 计划 梦想 理想 愿望 打算 进展 实现
habit:
  habit routine daily schedule morning bedtime everyday regularly
  习惯 作息 日常 日程 每天 早起 早睡 定期
prefer:
  prefer preference like love favorite enjoy hate dislike interest hobby passion fond
  喜欢 爱好 偏好 最爱 讨厌 兴趣 热爱 不喜
request:
  need require requirement must should constraint condition request demand
  需要 要求 必须 条件 请求 需求
budget:
  budget price cost fee expense saving bill rent salary income dollar cheap expensive afford
  预算 价格 费用 开支 账单 房租 工资 收入 便宜 多少
schedule:
  schedule appointment meeting deadline calendar date time postpone delay reschedule reminder
  日程 预约 会议 截止 日历 推迟 延期 提醒 时间
document:
  document report file draft email letter template checklist form contract note summary list
  文件 报告 草稿 邮件 信件 模板 清单 表格 合同 笔记 总结
code:
  code program software app bug deploy server database api test release version repository branch feature
  framework
  代码 程序 软件 应用 部署 服务 数据 接口 测试 发布 版本 仓库 分支 功能 框架
sleep:
  sleep asleep bed insomnia nap tired exhausted fatigue rest dream wake awake
  睡觉 睡眠 失眠 午睡 疲惫 疲劳 累了 休息 做梦 起床 困了
injury:
  injury injure hurt ankle knee back wrist sprain wound cut bruise fall fracture
  受伤 扭伤 摔倒 摔伤 骨折 伤口 脚踝 膝盖 流血 划伤
conflict:
  argue argument fight quarrel conflict disagree misunderstanding apologize apology forgive blame
  争吵 吵架 打架 冲突 误会 道歉 原谅 责怪 矛盾
alone:
  alone lonely loneliness isolated miss homesick ignore excluded abandoned
  孤独 孤单 寂寞 想家 想念 独自 冷落 一个
brave:
  brave courage overcome fear challenge confident dare persist effort
  勇敢 勇气 克服 挑战 自信 坚持 努力 敢于
nervous:
  nervous stage interview presentation speech exam anxious stress pressure audience
  紧张 上台 演讲 面试 考试 焦虑 压力 观众 发言
"""


@cache
def concepts() -> dict[str, tuple[str, ...]]:
    """Return, for each index term of the thesaurus (a stem or a character pair), the fields that it speaks of."""
    found: dict[str, list[str]] = {}
    field = ""
    for word in _FIELDS.split():
        if word.endswith(":"):
            field = word[:-1]
            continue
        term = stem(word) if word.isascii() else word[:2]
        if field not in found.setdefault(term, []):
            found[term].append(field)
    return {term: tuple(fields) for term, fields in found.items()}
