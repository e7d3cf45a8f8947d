"""Small tables in the shape in which the corpora of the ready-made maps are published; texts are our own."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.data.builders import write


def csv_text(header: Sequence[str], *rows: Sequence[Any], delimiter: str = ",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return out.getvalue()


def isear(folder: Path) -> Path:
    """As `isear.csv` of the Python loader of the data set: bars, an empty last column, broken line breaks."""
    lines = (
        "ID|SEX|EMOT|INTS|Field1|MYKEY|SIT|STATE|",
        "11|1|1|4|joy|0011|When the exam was over and á the sun was out.|1|",
        "11|1|5|2|disgust|0012|Mould in my «best» cup.|1|",
        "12|2|4|3|sadness|0021|[ No response.]|1|",
        "12|2|7|1|guilt|0022|I forgot my brother's birthday.|1|",
        "13|2|7|0|guilt|0032|I told my friend a lie.|1|",
        "13|2|6|0|shame|0031|[ Never felt the emotion.]|1|",
    )
    return write(folder / "isear.csv", "\n".join(lines))


def crowd_envent(folder: Path) -> Path:
    header = (
        "round_number",
        "emotion",
        "text_id",
        "prolific_id",
        "generated_text",
        "hidden_emo_text",
        "intensity",
    )
    return write(folder / "crowd-enVent_generation.tsv", csv_text(
        header,
        ("round-1", "pride", 7, "p1", "I felt … when my son 🎓 said \"thanks\".", "x", 5),
        ("round-1", "no-emotion", 8, "p2", "I filled the kettle.", "x", ""),
        ("round-1", "surprise", 9, "p2", "A parcel came.", "x", 3),
        ("round-1", "fear", 10, "p1", "The lift stopped between two floors.", "x", 2),
        delimiter="\t",
    ))  # fmt: skip


def empathetic(folder: Path) -> Path:
    """Not quoted: a comma is `_comma_`, and a quotation mark is one."""
    lines = (
        "conv_id,utterance_idx,context,prompt,speaker_idx,utterance,selfeval,tags",
        'hit:0_conv:1,1,terrified,I was alone,3,I heard steps_comma_ and "nobody" was there,5|5|5_2|2|5,',
        "hit:0_conv:1,2,terrified,I was alone,0,How awful! When?,5|5|5_2|2|5,",
        "hit:0_conv:1,3,terrified,I was alone,3,Last night,5|5|5_2|2|5,",
        "hit:0_conv:1,4,terrified,I was alone,0,Are you safe now?,5|5|5_2|2|5",
        "hit:0_conv:1,5,terrified,I was alone,3,yes,5|5|5_2|2|5,",
        "hit:1_conv:3,1,nostalgic,old toys,4,I found my bear,5|5|5_2|2|5,",
        "hit:2_conv:5,1,proud,my garden,5,My first tomatoes 🍅,5|5|5_2|2|5,,Well done_comma_ you!|Oh?",
    )
    return write(folder / "train.csv", "\n".join(lines))


def worry(folder: Path) -> Path:
    names = ("anger", "disgust", "fear", "anxiety", "sadness", "happiness", "relaxation", "desire")
    return write(folder / "rwwd_full.csv", csv_text(
        ("", "worry", "chosen_emotion", *names, "text_long", "text_short"),
        (1, 9, "Anxiety", 6, 7, 3, 9, 5, 1, 1, 1, "First line,\nsecond line.", "Stay in."),
        (2, 2, "Relaxation", 1, 1, 1, 2, 2, 5, 8, 1, "Nothing much changes for me.", "Fine."),
        (3, 5, "Happiness", 1, 1, 1, 2, 2, 6, 6, 1, "My children are at home.", "Good."),
    ))  # fmt: skip


def lines(path: Path, *rows: Any) -> Path:
    return write(path, "".join(f"{json.dumps(row)}\n" for row in rows))


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def helpsteer3(folder: Path) -> Path:
    def row(preference: int, one: str, two: str, *chat: dict[str, Any]) -> dict[str, Any]:
        judged = [{"score": preference, "reasoning": "clearer", "feedback_1": "", "feedback_2": ""}]
        return {
            "domain": "general", "language": "english", "context": list(chat), "response1": one,
            "response2": two, "overall_preference": preference, "individual_preference": judged,
        }  # fmt: skip

    chat = (said("user", "Hallo"), said("assistant", "Hallo! Was gibt es?"), said("user", "Mir ist kalt."))
    return lines(
        folder / "train.jsonl",
        row(-2, "Nimm eine Decke.", "Aha.", *chat),
        row(0, "a", "b", said("user", "c")),
        row(1, "Nein.", "Ja, gern.", said("system", "Sei knapp."), said("user", "Darf ich?")),
        row(3, "same", "same", said("user", "d")),
    )


def arena(folder: Path) -> Path:
    """Rows as in the release of 33,000 chats, and one as in that of 140,000, whose contents are lists."""

    def row(winner: str, a: list[Any], b: list[Any]) -> dict[str, Any]:
        return {"question_id": "q", "model_a": "m1", "model_b": "m2", "winner": winner, "judge": "user_1",
                "conversation_a": a, "conversation_b": b, "turn": 1, "language": "English"}  # fmt: skip

    def part(text: str) -> list[dict[str, Any]]:
        return [{"type": "text", "text": text, "image": None, "mimeType": None}]

    asked = said("user", "Is it rude to leave early? 🥳")
    return lines(
        folder / "arena.jsonl",
        row("model_b", [asked, said("assistant", "Yes.")], [asked, said("assistant", "Not if you say bye.")]),
        row("tie (bothbad)", [asked, said("assistant", "1")], [asked, said("assistant", "2")]),
        row("model_a", [said("user", part("سؤال")), said("assistant", part("جواب"))],
            [said("user", part("سؤال")), said("assistant", part("لا"))]),
        row("model_a", [asked, said("assistant", "x"), said("user", "ok"), said("assistant", "y")],
            [asked, said("assistant", "z"), said("user", "ok"), said("assistant", "w")]),
    )  # fmt: skip
