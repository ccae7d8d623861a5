def scaled(grams: int, portions: int, wanted: int) -> int:
    return grams // portions * wanted
