"""A small network as a BIF file, and how tests read such files."""

import re
from pathlib import Path

import pytest

import serape
from serape.networks import Network, bif_reader, read_bif

SMALL = """\
network small {
}
variable rain {
  type discrete [ 2 ] { no, yes };
}
variable grass {
  type discrete [ 3 ] { dry, damp, wet };
}
probability ( rain ) {
  table 0.8, 0.2;
}
probability ( grass | rain ) {
  (no) 0.7, 0.2, 0.1;
  (yes) 0.1, 0.3, 0.6;
}
"""


def parsed(folder: Path, text: str | bytes, missing: bif_reader.MissingNumbers = "error") -> Network:
    path = folder / "network.bif"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_bif(path, missing=missing)


def refused(folder: Path, text: str | bytes) -> str:
    with pytest.raises(serape.DataError) as caught:
        parsed(folder, text)
    message = str(caught.value)
    assert message.startswith(str(folder / "network.bif"))
    assert "\n" not in message
    assert len(message) < 600 + len(str(folder))
    return message


def line_of(message: str) -> int:
    found = re.search(r", line (\d+): ", message)
    assert found is not None, message
    return int(found[1])


def declared(*names: str, levels: str = "x, y") -> str:
    return "".join(f"variable {name} {{ type discrete {{ {levels} }}; }}\n" for name in names)


SAME_AS_SMALL = {
    "comments": SMALL.replace(";", "; // a { comment ; }").replace("{\n", "{ /* one\n * of } two lines */\n"),
    "comments between words": SMALL.replace(" ", " /**/ "),
    "a comment after a number": SMALL.replace("0.1;", "0.1// no space\n;"),
    "one line": SMALL.replace("\n", " "),
    "Windows line ends": SMALL.replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + SMALL,
    "no final line end": SMALL.rstrip(),
    "quoted names": re.sub(r"\b(rain|grass|no|yes|dry|damp|wet|small)\b", r'"\1"', SMALL),
    "no commas": SMALL.replace(",", " "),
    "no commas, quoted": re.sub(r"\b(rain|grass|no|yes|dry|damp|wet)\b", r'"\1"', SMALL).replace(",", " "),
    "no bar": SMALL.replace("|", ","),
    "neither bar nor commas": SMALL.replace("|", " ").replace(",", " "),
    "tight": SMALL.replace(" | ", "|").replace(", ", ",").replace(" {", "{").replace("( ", "(").replace(" )", ")"),
    "no counts": re.sub(r"\[ \d \]", "", SMALL),
    "upper case": re.sub("network|variable|type discrete|probability|table", lambda m: m[0].upper(), SMALL),
    "semicolons after blocks": SMALL.replace("}\n", "};\n"),
    "commas at the end": SMALL.replace("yes }", "yes, }").replace("0.1;", "0.1,;"),
    "exponents": SMALL.replace("0.8, 0.2", "8e-1, +2.0E-01").replace("0.7", ".7"),
    "properties": SMALL.replace(
        "{\n", '{\n  property position = (1, 2);\n property "a; } b" ; property note = 5" pipe\n;'
    )
    + "property last;",
    "a property with braces": SMALL.replace(
        "variable rain {", "variable rain { property shape = {1, {2}};".replace("{2}", "2")
    ),
    "a property without its semicolon": SMALL.replace(
        "small {\n", 'small {\n property Source = "x"\n property size = (1);\n'
    ),
    "a property with an address": SMALL.replace("variable rain {", "variable rain { property see = http://x.org/y;"),
    "probabilities before variables": SMALL[SMALL.index("probability") :] + SMALL[: SMALL.index("probability")],
    "rows in another order": SMALL.replace("  (no) 0.7, 0.2, 0.1;\n", "").replace(
        "0.6;\n", "0.6;\n  (no) 0.7, 0.2, 0.1;\n"
    ),
    "a default row": SMALL.replace("(no) 0.7", "default 0.7"),
    "a default row at the end": SMALL.replace("(no) 0.7, 0.2, 0.1;", "").replace("0.6;", "0.6; default 0.7 0.2 0.1;"),
    "a table, child slowest": re.sub(r"\(no\).*;\n.*;", "table 0.7, 0.1, 0.2, 0.3, 0.1, 0.6;", SMALL),
    "a table, child fastest": re.sub(r"\(no\).*;\n.*;", "table 0.7, 0.2, 0.1, 0.1, 0.3, 0.6;", SMALL),
    "an empty label": SMALL.replace("table 0.8", "() 0.8"),
    "a noisy MAX of one parent, all rows given": SMALL.replace("(no)", "property function max; (no)"),
}
