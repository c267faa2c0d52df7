"""HdrHistogram's V2 encoding, read without the program under test: what a merged result must say, from the lines of its shares."""

import base64
import json
import math
import re
import struct
import zlib
from collections import Counter

OUTER, INNER = 0x1C849304, 0x1C849303
LINE = re.compile(r"^threadcount/share/2 (\d+)/(\d+) (\d+) ([0-9a-f]{8}) (.*)$")


def ends(logs):
    """The last line of each share, from logs in any order and with lines more than once. Checksums must be right."""
    found = {}
    for line in (line for log in logs for line in log.splitlines()):
        parts = LINE.match(line)
        if parts:
            index, count, number, checksum, text = parts.groups()
            assert zlib.crc32(f"{index}/{count} {number} {text}".encode()) == int(checksum, 16), line[:80]
            message = json.loads(text)
            if "end" in message:
                found[int(index)] = message["end"]
    return [found[index] for index in sorted(found)]


def counts(text):
    """How many of each value, by the highest value that is not kept apart from it."""
    outer = base64.b64decode(text)
    cookie, length = struct.unpack_from(">II", outer)
    assert cookie & ~0xF0 == OUTER and length == len(outer) - 8, (hex(cookie), length)
    inner = zlib.decompress(outer[8:])
    cookie, length, offset, digits, lowest, _highest, _ratio = struct.unpack_from(">IIIIQQd", inner)
    assert cookie & ~0xF0 == INNER and offset == 0 and length == len(inner) - 40, (hex(cookie), offset, length)
    unit = int(math.log2(lowest))
    half = 1 << (math.ceil(math.log2(2 * 10 ** digits)) - 1)
    found, index, at = Counter(), 0, 40
    while at < len(inner):
        number, at = zigzag(inner, at)
        if number < 0:
            index -= number
        else:
            found[highest_value(index, half, unit)] += number
            index += 1
    return +found


def zigzag(data, at):
    """A number of 7 bits a byte, of which the ninth byte has 8; the lowest bit is the sign."""
    value, shift = 0, 0
    for count in range(9):
        byte = data[at]
        at += 1
        value |= (byte if count == 8 else byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return (value >> 1) ^ -(value & 1), at


def highest_value(index, half, unit):
    bucket = index // half - 1
    within = index % half + half
    if bucket < 0:
        bucket, within = 0, within - half
    return ((within + 1) << (bucket + unit)) - 1


def quantile(recorded, share):
    """The value that this share of all recorded ones does not exceed."""
    wanted, so_far = max(1, math.ceil(share * recorded.total())), 0
    for value in sorted(recorded):
        so_far += recorded[value]
        if so_far >= wanted:
            return value
    raise AssertionError("an empty histogram")
