"""A small bilingual thesaurus of everyday life: which words speak of the same field.

It lets "我们的狗" and "the new puppy" meet in a search, at a low weight: a shared field is a hint, never a match.
Chinese words stand with their first two characters, the pair under which the index finds them.
"""

from __future__ import annotations

from functools import cache

from engine.rules.stem import stem

_FIELDS = """
food:
  food meal eat breakfast lunch dinner supper snack dish cuisine cook cooking recipe restaurant cafe
  kitchen chef bake baking pizza pasta noodle rice bread cake cookie dessert chocolate candy fruit apple
  mango banana strawberry vegetable salad soup meat beef pork chicken fish seafood sushi sausage bacon
  cheese egg sandwich burger barbecue grill ice-cream delicious tasty yummy flavor hungry spicy sweet
  食物 美食 吃饭 吃了 好吃 早餐 午餐 午饭 晚餐 晚饭 零食 菜肴 做饭 烹饪 食谱 餐厅 饭馆
  厨房 蛋糕 甜点 巧克 糖果 水果 苹果 芒果 香蕉 草莓 蔬菜 沙拉 火锅 牛肉 猪肉 鸡肉 海鲜
  寿司 香肠 培根 奶酪 芝士 鸡蛋 三明 汉堡 烧烤 冰淇 披萨 面条 米饭 面包 饼干 美味 味道
  口味 饿了 吐司 饺子 月饼 汤圆 粽子
drink:
  drink coffee tea juice beer wine milk water cocktail soda whisky cup
  喝了 饮料 咖啡 喝茶 茶叶 果汁 啤酒 红酒 牛奶 奶茶 可乐 喝酒
music:
  music song sing singing singer concert band album melody guitar piano violin drum clarinet instrument
  orchestra choir musician playlist symphony jazz rock perform
  音乐 歌曲 唱歌 歌手 演唱 乐队 专辑 旋律 吉他 钢琴 小提 乐器 合唱 交响 爵士 摇滚 听歌
  演奏 弹琴
art:
  art artist paint painting draw drawing sketch sculpture pottery craft museum gallery exhibition color
  photo photography camera design canvas watercolor
  艺术 画画 绘画 美术 油画 水彩 素描 雕塑 陶艺 手工 博物 画廊 展览 颜色 摄影 拍照 照片
  相机 设计 画家
dance:
  dance dancing dancer ballet stage performance performer costume show audience theater drama
  跳舞 舞蹈 芭蕾 舞台 表演 演出 服装 观众 话剧 戏剧
book:
  book read reading novel story author writer library poem poetry literature fiction write writing essay
  journal diary
  书籍 读书 看书 阅读 小说 故事 作者 作家 图书 诗歌 文学 写作 日记 绘本 一本
film:
  movie film cinema tv show series cartoon animation actor actress episode documentary watch director
  电影 影片 影院 电视 动画 卡通 演员 剧集 纪录 导演 动漫
game:
  game gaming gamer console chess puzzle toy lego card video-game play player cs:go tournament board-game
  hide-and-seek
  游戏 玩具 象棋 围棋 拼图 积木 扑克 桌游 捉迷 乐高
sport:
  sport football soccer basketball baseball tennis badminton volleyball swim swimming run running marathon
  race gym workout exercise yoga cycling bike skate skating ski skiing surf surfing hockey golf athlete
  coach team training fitness match ball
  运动 体育 足球 篮球 棒球 网球 羽毛 排球 游泳 跑步 马拉 赛跑 健身 锻炼 瑜伽 骑车 自行
  滑冰 滑雪 冲浪 教练 球队 训练 比赛 乒乓 跳绳
contest:
  win winner won competition contest champion championship medal trophy award prize first-place victory
  compete honor certificate achievement success score
  获胜 赢得 比赛 竞赛 冠军 奖牌 奖杯 获奖 奖项 第一 胜利 荣誉 证书 成就 成功 优胜 得奖
  满分
fail:
  fail failure lose lost defeat mistake miss wrong bad-grade flunk disappoint
  失败 输了 输掉 错误 失误 犯错 落选 没考 不及 搞砸 失望
school:
  school class classroom student teacher lesson course homework exam test grade math science english study
  learn education university college campus degree classmate professor tutor
  学校 课堂 教室 学生 老师 同学 课程 作业 考试 测验 成绩 数学 科学 英语 学习 教育 大学
  校园 学位 教授 上课 功课 班级 期末
work:
  work job office company boss colleague coworker career business project meeting client employee salary
  interview resume startup manager deadline promotion hire profession
  工作 公司 办公 老板 同事 职业 事业 项目 会议 客户 员工 工资 薪水 面试 简历 创业 经理
  加班 升职 上班
money:
  money pay price cost budget finance financial bank invest investment saving save buy purchase shop
  shopping store sale expensive cheap loan debt tax spend income
  钱包 付款 价格 费用 预算 财务 金融 银行 投资 存钱 储蓄 购买 购物 商店 便宜 贷款 债务
  税务 花钱 收入 买了
family:
  family mother father parent brother sister sibling son daughter child baby grandmother grandfather uncle
  aunt cousin husband wife spouse relative home
  家人 家庭 妈妈 母亲 爸爸 父亲 父母 哥哥 弟弟 姐姐 妹妹 兄弟 姐妹 儿子 女儿 孩子 宝宝
  奶奶 爷爷 外婆 外公 叔叔 阿姨 表哥 丈夫 妻子 亲戚
friend:
  friend buddy pal mate companion friendship hangout neighbor together
  朋友 好友 伙伴 友谊 邻居 一起 同伴
romance:
  date dating boyfriend girlfriend partner marry marriage wedding love romance relationship engaged
  propose divorce breakup anniversary
  约会 男友 女友 恋人 结婚 婚礼 爱情 恋爱 求婚 离婚 分手 纪念 男朋 女朋 喜欢她 喜欢他
animal:
  animal pet dog puppy cat kitten bird fish rabbit hamster horse cow elephant penguin lion tiger bear
  monkey zoo aquarium turtle snake insect butterfly wildlife vet guinea pig
  动物 宠物 小狗 狗狗 小猫 猫咪 小鸟 金鱼 兔子 仓鼠 大象 企鹅 狮子 老虎 猴子 熊猫 动物园
  水族 乌龟 昆虫 蝴蝶 养狗 养猫
nature:
  nature park forest tree flower garden plant mountain river lake sea ocean beach island hike hiking camp
  camping outdoor picnic sunset sunrise star sky shell scenery grass leaf waterfall trail kite
  自然 公园 森林 大树 树木 花朵 鲜花 花园 植物 高山 爬山 河流 湖边 大海 海边 海滩 沙滩
  岛屿 徒步 露营 户外 野餐 日落 日出 星星 天空 贝壳 风景 草地 树叶 瀑布 风筝 向日 种花
weather:
  weather rain rainy snow snowy sun sunny wind windy storm cold hot warm cloud umbrella temperature
  snowman rainbow thunder
  天气 下雨 雨天 下雪 雪人 太阳 晴天 刮风 暴雨 寒冷 炎热 温暖 乌云 雨伞 气温 彩虹 打雷
travel:
  travel trip journey vacation holiday tour tourist visit flight airport plane train hotel passport visa
  luggage itinerary abroad destination city country road-trip cruise explore adventure sightseeing
  旅行 旅游 旅程 度假 假期 游客 参观 航班 机场 飞机 火车 酒店 护照 签证 行李 行程 国外
  目的 城市 国家 自驾 探险 景点 出国
vehicle:
  car bus bike bicycle motorcycle truck drive driver driving road traffic accident taxi subway park
  parking vehicle
  汽车 公交 摩托 卡车 开车 司机 驾驶 道路 交通 车祸 出租 地铁 停车 堵车
celebrate:
  birthday party celebrate celebration festival christmas halloween easter thanksgiving new-year gift
  present surprise carnival ceremony parade balloon firework decorate guest invite
  生日 派对 庆祝 聚会 节日 圣诞 万圣 复活 感恩 新年 春节 中秋 礼物 惊喜 典礼 游行 气球
  烟花 装饰 客人 邀请 过年
clothes:
  clothes clothing wear dress shirt skirt shoe hat coat jacket suit fashion outfit style pants sock
  jewelry necklace costume
  衣服 穿着 裙子 衬衫 鞋子 帽子 外套 西装 时尚 打扮 裤子 袜子 首饰 项链 服装 新衣 校服
  服饰
home:
  house apartment room bedroom kitchen furniture bed sofa clean cleaning tidy laundry garden rent decorate
  move household chore
  房子 公寓 房间 卧室 厨房 家具 打扫 清洁 整理 洗衣 租房 搬家 家务 装修
health:
  health healthy sick ill illness disease doctor hospital nurse medicine pain hurt injury injured headache
  fever cold cough surgery recover recovery diet weight sleep rest therapy medical broken bleed
  健康 生病 疾病 医生 医院 护士 吃药 疼痛 受伤 头痛 发烧 感冒 咳嗽 手术 恢复 康复 减肥
  体重 睡眠 休息 治疗 摔倒 流血 肚子
mind:
  stress stressed anxiety anxious depressed depression mental counseling therapist meditate meditation
  relax calm pressure overwhelmed burnout mood emotion mindfulness
  压力 焦虑 抑郁 心理 咨询 冥想 放松 平静 情绪 心情 崩溃 紧张
happy:
  happy happiness joy joyful glad delighted excited excitement cheerful fun enjoy pleased thrilled
  wonderful smile laugh
  开心 高兴 快乐 喜悦 幸福 兴奋 激动 愉快 满足 欢乐 笑了 超级开 有趣
sad:
  sad sadness cry tear unhappy upset sorrow grief lonely heartbroken miss depressed disappointed
  disappointment regret
  难过 伤心 悲伤 哭了 流泪 沮丧 孤独 心碎 失望 失落 遗憾 后悔 委屈 想念 不开
angry:
  angry anger mad furious annoyed irritated quarrel argue argument fight frustrated hate unfair bully
  生气 愤怒 恼火 烦躁 吵架 争吵 打架 讨厌 不公 欺负 气愤 发火 抢走
fear:
  afraid fear scared scary frightened terrified horror nervous worry worried panic ghost nightmare dark
  anxious
  害怕 恐惧 吓到 可怕 恐怖 紧张 担心 惊慌 噩梦 黑暗 胆小 惊吓 鬼屋
pride:
  proud pride confident confidence praise praised applause admire recognition encourage encouragement
  compliment
  自豪 骄傲 自信 表扬 称赞 鼓掌 掌声 认可 鼓励 夸奖 赞美
surprise:
  surprise surprised amazing amazed unexpected shocked wow astonished incredible
  惊讶 惊喜 意外 震惊 不敢相 吃惊 没想 竟然
disgust:
  disgusting gross dirty smelly nasty rotten yuck messy
  恶心 肮脏 难闻 臭味 腐烂 脏乱 反感 厌恶
tech:
  computer laptop phone software app code coding program programming internet website online robot ai data
  server bug technology device tablet digital screen
  电脑 手机 软件 应用 代码 编程 程序 网络 网站 在线 机器 人工 数据 服务器 科技 设备 平板
  数字 屏幕
help:
  volunteer charity donate donation help community shelter homeless support fundraiser nonprofit rescue
  care kind
  志愿 慈善 捐款 帮助 社区 收容 支持 救助 关爱 爱心 帮忙 照顾
belief:
  church religion religious god faith pray spiritual temple bible belief
  教堂 宗教 信仰 上帝 祈祷 寺庙 佛教
lost:
  lose lost missing disappear forget forgot steal stolen broken break
  丢失 丢了 弄丢 不见 忘记 忘了 被偷 弄坏 坏了 摔坏 打碎
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
