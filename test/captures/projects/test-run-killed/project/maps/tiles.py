TILE_BYTES = 256 * 256 * 4


def tile_key(zoom, x, y):
    return f"{zoom}/{x}/{y}"


def neighbours(x, y):
    return [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]


def render(zoom, x, y):
    """A plain tile: one byte value everywhere, derived from its place."""
    return bytearray([(zoom * 31 + x * 7 + y) % 255 + 1]) * TILE_BYTES
