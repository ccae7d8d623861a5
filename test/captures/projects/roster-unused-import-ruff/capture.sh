step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --quiet ruff==0.6.9'
step 'Lint' '.venv/bin/ruff check .'
