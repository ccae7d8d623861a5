from planner.rota import load_rota


def test_loads_the_kitchen():
    assert load_rota("data/rota.yaml")["kitchen"] == ["Ana", "Bo"]
