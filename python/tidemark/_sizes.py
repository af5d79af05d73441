"""Sizes in text, as the commands read and print them: K, KB and KiB are all 1024."""

from __future__ import annotations

import re
from fractions import Fraction

_LETTERS = "KMGTPE"
_SIZE = re.compile(r"[ \t]*(?:(0x[0-9a-f]+)|([0-9]+(?:\.[0-9]+)?))[ \t]*(?:([kmgtpe])(?:i?b)?|b)?[ \t]*", re.IGNORECASE)


def parse_size(text: str | int) -> int:
    """The bytes of "4096", "64K", "1.5 GiB" or "0x1000", or of a number. ValueError says what is wrong."""
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise ValueError(f"{text} is not a size: it is negative")
        return text
    match = _SIZE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(f"{text!r} is not a size; write for example 4096, 64KiB or 1.5GiB")
    hexadecimal, decimal, unit = match.groups()
    number = Fraction(int(hexadecimal, 16)) if hexadecimal else Fraction(decimal)
    size = number * 1024 ** (_LETTERS.index(unit.upper()) + 1 if unit else 0)
    if size.denominator != 1:
        raise ValueError(f"{text!r} is not a whole number of bytes")
    if size >= 1 << 64:
        raise ValueError(f"{text!r} is larger than any memory")
    return int(size)


def format_size(size: float) -> str:
    """"1.50 GiB", "1464 KiB", "32 B", "-2 MiB"; nan is "unknown"."""
    if size != size:
        return "unknown"
    bytes = abs(int(size))
    unit = min(max(bytes.bit_length() - 1, 0) // 10, len(_LETTERS))
    one = 1 << 10 * unit
    # A whole number of the next smaller unit is shown exactly while it stays readable.
    if unit > 1 and bytes % one and bytes % (one >> 10) == 0 and bytes // (one >> 10) < 10000:
        unit, one = unit - 1, one >> 10
    name = f"{_LETTERS[unit - 1]}iB" if unit else "B"
    text = f"{bytes // one} {name}" if bytes % one == 0 else f"{bytes / one:.2f} {name}"
    return f"-{text}" if size < 0 else text
