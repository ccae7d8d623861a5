import yaml


def load_rota(path):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)
