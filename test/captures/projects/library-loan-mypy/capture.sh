step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --quiet mypy==1.11.2'
step 'Types' '.venv/bin/mypy --strict library'
