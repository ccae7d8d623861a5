from letters.render import invitation


def test_names_the_guest():
    assert invitation("Mina", "the harvest fair").startswith("Dear Mina,")
