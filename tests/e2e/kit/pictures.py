# SPDX-License-Identifier: Apache-2.0
"""Pictures for tests, made by hand: no library is needed to write a PNG."""
import base64
import random
import struct
import zlib

JPEG = base64.b64decode(  # 16 x 8, half red, half blue
    "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxOUlNSMj5aYVpQYEpR"
    "Uk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCAAIABADASIAAhEB"
    "AxEB/8QAHwAAAQUBAQEBAQEAAAAAAAAAAAECAwQFBgcICQoL/8QAtRAAAgEDAwIEAwUFBAQAAAF9AQIDAAQRBRIhMUEGE1FhByJxFDKBkaEII0KxwRVS"
    "0fAkM2JyggkKFhcYGRolJicoKSo0NTY3ODk6Q0RFRkdISUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqDhIWGh4iJipKTlJWWl5iZmqKjpKWmp6ipqrKz"
    "tLW2t7i5usLDxMXGx8jJytLT1NXW19jZ2uHi4+Tl5ufo6erx8vP09fb3+Pn6/8QAHwEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQoL/8QAtREAAgEC"
    "BAQDBAcFBAQAAQJ3AAECAxEEBSExBhJBUQdhcRMiMoEIFEKRobHBCSMzUvAVYnLRChYkNOEl8RcYGRomJygpKjU2Nzg5OkNERUZHSElKU1RVVldYWVpj"
    "ZGVmZ2hpanN0dXZ3eHl6goOEhYaHiImKkpOUlZaXmJmaoqOkpaanqKmqsrO0tba3uLm6wsPExcbHyMnK0tPU1dbX2Nna4uPk5ebn6Onq8vP09fb3+Pn6"
    "/9oADAMBAAIRAxEAPwDn6wqKK9jhP/l9/wBu/wDtx73E3/Lr/t79D//Z")
WEBP = base64.b64decode(
    "UklGRj4AAABXRUJQVlA4IDIAAACQAQCdASoQAAgAAoBCJaACdLoAA5gA/vJ///rVf/+Fa/7sF2B/6rP/vYEh/72A9wAAAA==")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, more=b"", noise=False, said=None):
    """noise: such that it can't be packed. said: another size than it has."""
    if noise:
        rows = random.Random(width * height).randbytes(height * (1 + 3 * width))
        rows = b"".join(b"\0" + rows[i * 3 * width:(i + 1) * 3 * width] for i in range(height))
    else:
        rows = b"".join(b"\0" + bytes((y % 256, 80, 160)) * width for y in range(height))
    head = struct.pack(">IIBBBBB", *(said or (width, height)), 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + more + chunk(b"IDAT", zlib.compress(rows, 1 if noise else 9)) + chunk(b"IEND", b""))
