"""Write the golden file: texts and the ids that transformers 4.57.6 gives them on a built-in
vocabulary.

    python tests/parity/golden/make.py            # needs transformers==4.57.6

The texts are sentences in many scripts and seeded mixtures of words, special tokens and awkward
characters. Their characters were assigned before Unicode 13, so every Python that trietok supports
agrees about them.
"""

from __future__ import annotations

import json
import pathlib
import random

HERE = pathlib.Path(__file__).parent
VOCAB = HERE.parents[2] / "vocab"
MODELS = ("trietok-en", "trietok-multi", "trietok-zh")

SENTENCES = """
The quick brown fox jumps over the lazy dog.
It's a state-of-the-art tokenizer, isn't it? Yes: 100%!
We, the people of the United States, in order to form a more perfect union...
CALL ME ISHMAEL. Some years ago--never mind how long precisely--
e-mail: someone@example.org; see also <b>bold</b> & "quotes" ‘curly’ “ones” — and – dashes…
naïve café coöperate façade jalapeño Ångström Dvořák İstanbul straße ſtop
ΟΔΥΣΣΕΥΣ Οδυσσεύς ΣΑΣ σας
Съешь ещё этих мягких французских булок, да выпей чаю.
敏捷的棕色狐狸跳过懒狗。豈更車 𠀀𪜀々〇
いろはにほへと ちりぬるを。カタカナ ﾊﾝｶｸ
다람쥐 헌 쳇바퀴에 타고파 각
صِف خَلقَ خَودِ كَمِثلِ الشَمسِ إِذ بَزَغَت
עטלף אבק נס דרך מזגן שהתפוצץ כי חם
ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण
เป็นมนุษย์สุดประเสริฐเลิศคุณค่า
👩‍👩‍👧 👍🏽 🇺🇳 ☃ ♥️ x²+y²≠z² ½ ™ ﬁ
$100 €50 £20 ¥10 #hashtag @user a_b_c ~/path `code` ^caret |pipe| {brace}
http://example.org/a?b=c&d=e#f
[CLS] The people [SEP] [MASK] [UNK] [PAD] [cls] [ CLS ] [CLS][CLS] x[MASK]y [MAS [unused0]
""".strip().splitlines()

PIECES = [
    *"the people united states government of America A AN and un able ing s ' ' n't".split(),
    *"[CLS] [SEP] [MASK] [PAD] [UNK] [MASK [cls] ##ing ## # a.b.c 1,000.00 2020-12-31".split(),
    *[
        "é",
        "e\u0301",
        "É",
        "\u212b",
        *"Σ ς İ ı ß ﬁ 각".split(),
        "가\u11a8",
        *"中豈あ한\u0301",
    ],
    *[
        *"\x00\x07\x0b\x0c\x1c\x1f\x7f\x85\xa0\xad\u1680\u180e\u2003",
    ],
    *[
        *"\u200b\u200d\u2028\u2029\u202e\u3000\ufeff\ufffd\ue000\ud800\udc00",
    ],
    *[
        "\t",
        "\n",
        "\r",
        "\r\n",
        "  ",
        *". , ! ? - — … 。 ， 「 € ^ `".split(),
        "\u037e",
    ],
    "[CL\x00S]",
    "z" * 99,
    "q" * 101,
    "antidisestablishmentarianism",
]


def texts() -> list[str]:
    rng = random.Random(20)
    mixtures = []
    for _ in range(330):
        separator = rng.choice(["", "", " ", " ", "\t"])
        mixtures.append(separator.join(rng.choices(PIECES, k=rng.randrange(1, 12))))
    return ["", " ", *SENTENCES, *mixtures]


def main() -> None:
    from transformers import BertTokenizer

    for model in MODELS:
        tokenizer = BertTokenizer.from_pretrained(VOCAB / model)
        with open(HERE / f"{model}.jsonl", "w", encoding="ascii", newline="\n") as file:
            for text in texts():
                file.write(json.dumps({"text": text, "input_ids": tokenizer.encode(text)}) + "\n")


if __name__ == "__main__":
    main()
