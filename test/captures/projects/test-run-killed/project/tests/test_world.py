from maps.tiles import TILE_BYTES, render


def test_one_tile_is_filled():
    assert len(render(1, 0, 0)) == TILE_BYTES


def test_whole_country_renders_at_zoom_twelve():
    tiles = {(x, y): render(12, x, y) for x in range(64) for y in range(64)}
    assert sum(len(tile) for tile in tiles.values()) == 4096 * TILE_BYTES
