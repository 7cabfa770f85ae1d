"""Word lists of the extractive researcher: function words, irregular forms, synonyms, negation."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    "a an the this that these those and or but nor so yet if then than as of at by for from "
    "in into "
    "on onto to toward towards with within without about above across after against along among "
    "around before behind below beneath beside between beyond during except near off out over past "
    "per since through throughout till under until up upon via i me my we us our you your he him "
    "his she her it its they them their who whom whose which what when where why how whether is am "
    "are was were be been being do does did doing done have has had having can could may "
    "might must "
    "shall should will would not no never any some each every either neither all both few "
    "more most "
    "other others such only own same too very just also again further here there once ever even "
    "regarding concerning terms whereas versus vs "
    "still much many several let lets please s t d ll re ve m don doesn didn isn aren wasn weren "
    "won cannot anyone anybody anything someone somebody something everyone everybody else"
)
GERMAN = _words(
    "der die das den dem des ein eine einen einem einer eines und oder aber sondern doch "
    "wenn als ob "
    "weil dass daß zu zum zur von vom im am an auf aus bei beim mit nach seit vor für fur durch um "
    "gegen ohne über uber unter zwischen bis in ins ich du er sie es wir ihr ihn ihm uns euch sein "
    "seine seiner seinen mein dein unser wer wen wem wessen was wann wo woher wohin warum wieso "
    "weshalb wie welche welcher welches welchen welchem ist sind war waren wird werden "
    "wurde wurden "
    "worden bin bist hat haben hatte hatten kann können konnen könnte darf dürfen durfen muss "
    "müssen mussen soll sollen sollte nicht kein keine keinen keiner nie auch nur noch schon sehr "
    "heißt heissen heißen so da dort hier man sich viel viele vielen pro je"
)
ROMANCE = _words(
    "le la les un une des du de et ou mais donc est sont etait était été ete sera que qui "
    "quoi dont "
    "où ou quand comment pourquoi combien quel quelle quels quelles ce cette ces il elle ils elles "
    "on nous vous se sa son ses leur leurs dans sur sous avec sans pour par aux au en ne pas plus "
    "el los las una uno unos unas y o pero es son fue era eran ser del al con sin para por "
    "como qué "
    "que quién quien cuándo cuando dónde donde cuánto cuanto cuántos cuantos cuántas cuantas cuál "
    "cual su sus se lo no hay a fueron é e il lo gli uno di che chi dove perché quanto quanti sono"
)
STOP_WORDS = ENGLISH | GERMAN | ROMANCE

# Function words of languages written without spaces: they cut a run of characters into its words.
UNSPACED_STOPS = (
    "什么时候 为什么 怎么样 有多少 多少 什么 甚么 怎么 怎样 如何 哪里 哪儿 哪个 哪些 哪年 "
    "何时 何处 为何 是否 请问 以及 并且 或者 因为 所以 由于 多久 多长 我们 他们 它们 这个 那个 "
    "可以 必须 多高 多远 多深 多重 多宽 多快 多大 "
    "谁 几 吗 呢 吧 的 是 了 在 和 与 及 有 被 于 其 该 这 那 也 都 就 对 把 从 到 "
    "为 由 以 之 而 或"
).split()

# Words that carry a question without being its subject; they weigh little in coverage.
WEAK = _words(
    "kind type sort main name call use way work happen mean tell describe explain list give say "
    "state know make get many much long thing example purpose important different various certain "
    "currently current today available possible exact exactly information detail fact come see "
    "look find new first time case number amount value need become consider involve concern "
    "provide "
    "include located compare completely entirely fully relative usually normally exactly"
)

IRREGULAR = {
    form: base
    for base, forms in {
        "build": "built", "keep": "kept", "hold": "held", "pay": "paid", "light": "lit",
        "run": "ran", "sell": "sold", "buy": "bought", "make": "made", "write": "wrote written",
        "draw": "drew drawn", "send": "sent", "begin": "began begun", "grow": "grew grown",
        "lead": "led", "win": "won", "give": "gave given", "take": "took taken",
        "choose": "chose chosen", "speak": "spoke spoken", "lose": "lost", "teach": "taught",
        "meet": "met", "spend": "spent", "man": "men", "woman": "women", "child": "children",
        "foot": "feet", "know": "knew known", "bring": "brought", "leave": "left",
        "become": "became", "fall": "fell fallen", "break": "broke broken", "drive": "drove driven",
        "fly": "flew flown", "rise": "rose risen", "tell": "told", "think": "thought",
        "catch": "caught", "sink": "sank sunk", "throw": "threw thrown", "wear": "wore worn",
        "die": "died dies dying", "lie": "lying", "say": "said", "analysis": "analyses",
        "use": "used uses using", "bear": "born borne", "datum": "data",
        "strong": "strength", "choice": "choices",
    }.items()
    for form in forms.split()
}  # fmt: skip

# Stems count as one word inside a line. General English only: nothing of any one subject.
SYNONYMS = tuple(
    line.split()
    for line in """
cost price fee charge tariff expense
begin start commence
end finish stop terminate
build construct erect
buy purchase acquire
retain keep preserve
delete remove erase
allow permit authorise authorize
forbid prohibit ban
tall high height
long length
wide width
deep depth
heavy weigh weight
old age
fast speed quick
far distance
large big size
require need necessary mandatory benötigen braucht
establish founded found create
error fault failure fail
population inhabitant resident
vehicle car automobile
doctor physician
film movie
company firm
write author autor auteur verfasser
show display
change modify alter
salary wage
yearly annual annually
monthly month
default standardwert voreinstellung
daily day
weekly week
located location situated
open opening opened
licence license lizenz licencia licenza
centre center
programme program
catalogue catalog
organise organize
recognise recognize
""".strip().splitlines()
)

# What words of scripts without spaces say in English: they are met by either.
UNSPACED_WORDS = {
    word: english
    for english, words in {
        "license": "许可证 许可协议 授权协议 ライセンス",
        "version": "版本 バージョン",
        "author": "作者 著者 作者名",
        "maintainer": "维护者 メンテナー",
        "install": "安装 インストール",
        "require": "需要 要求 依赖 必要",
        "support": "支持 サポート 対応",
        "default": "默认 缺省 デフォルト",
        "price": "价格 费用 料金 価格",
        "use": "使用 采用 利用",
        "open": "开放 开门 开馆",
        "population": "人口",
        "height": "高度 高さ",
        "length": "长度 長さ",
        "weight": "重量 重さ",
        "speed": "速度",
        "temperature": "温度 気温",
        "build": "建造 建成 修建 建設",
        "founded": "成立 创立 创建 設立",
        "director": "主任 馆长 馆長 所長 院长",
        "documentation": "文档 文檔 ドキュメント",
        "command": "命令 コマンド",
        "member": "成员 会員",
        "number": "数量",
        "difference": "区别 差异 不同 違い",
        "main": "主要",
        "reason": "原因 理由",
        "setting": "设置 配置 設定",
        "file": "文件 ファイル",
        "remove": "删除 移除 削除",
        "update": "更新 升级",
        "name": "名称 名字 名前",
        "purpose": "用途 目的",
    }.items()
    for word in words.split()
}

NEGATIONS = _words(
    "not no never cannot without neither nor none nobody nothing isn't aren't wasn't weren't don't "
    "doesn't didn't won't can't couldn't shouldn't wouldn't mustn't hasn't haven't hadn't "
    "nicht kein "
    "keine keinen keinem keiner nie niemals ohne pas jamais aucun aucune sans nunca ningún ninguna"
)
UNSPACED_NEGATIONS = ("不", "没", "未", "无", "非", "ない", "ません")

# Pairs that deny each other the way `not` does.
ANTONYMS = (
    ("allow", "forbid"),
    ("enabled", "disabled"),
    ("required", "optional"),
    ("supported", "unsupported"),
    ("true", "false"),
    ("safe", "unsafe"),
    ("possible", "impossible"),
    ("legal", "illegal"),
    ("included", "excluded"),
)

# Words that say *which* of several values is meant: two values under different ones do not clash.
QUALIFIERS = _words(
    "minimum maximum min max least most average mean median typical typically total single "
    "double adult adults child children senior seniors student students summer winter "
    "spring autumn "
    "weekday weekdays weekend weekends night day monday tuesday wednesday thursday friday saturday "
    "sunday north south east west northern southern eastern western upper lower inner outer first "
    "second third fourth last next previous former original originally initial initially new old "
    "planned estimated projected expected actual proposed gross net before after until male female "
    "men women import export peak off-peak daily weekly monthly yearly annual annually morning "
    "evening afternoon internal external left right high low additional extra optional temporary "
    "permanent trial paid free beta mean-time early late urban rural indoor outdoor front rear "
    "return one-way domestic foreign international national regional local individual combined "
    "mindestens höchstens maximal minimal durchschnittlich erste zweite dritte"
)
BOUNDS = _words(
    "least most over under above below exceed exceeding exceeds fewer less more than up"
)
APPROXIMATIONS = _words(
    "about approximately around nearly almost roughly circa ca some estimated ungefähr etwa rund "
    "environ unos aproximadamente"
)
CALENDAR = _words(
    "january february march april may june july august september october november december monday "
    "tuesday wednesday thursday friday saturday sunday spring summer autumn winter"
)

# How questions are built: the words that ask, help a verb, stand for a person, or join a noun.
ASKING = _words(
    "who whom whose what which when where why how whether wer wen wem wessen was wann wo "
    "woher wohin warum wieso weshalb wie welche welcher welches welchen welchem combien quand "
    "comment pourquoi qui quel quelle quels quelles que quoi cuanto cuanta cuantos cuantas "
    "cuando donde quien quienes como cual"
)
AUXILIARIES = _words(
    "is are was were do does did can could should must may will would has have had ist sind "
    "war waren wird werden wurde wurden hat haben hatte kann muss darf soll est sont etait a "
    "ont peut doit es son fue eran ha han puede debe"
)
PERSONAL = _words("i you we one ich du wir man je tu nous vous on yo se")
OF_WORDS = _words("of von des vom de du del della di")
# Nouns that say what sort of thing a name names, and no more.
CLASS_NOUNS = _words(
    "package packages library libraries module modules command commands project projects "
    "program programme tool tools function functions method class software framework plugin "
    "variable option setting parameter file document paket bibliothek modul befehl projekt "
    "programm funktion paquet bibliotheque commande projet paquete biblioteca comando "
    "proyecto"
)
