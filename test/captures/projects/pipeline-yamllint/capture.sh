step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --quiet yamllint==1.35.1'
step 'Lint' '.venv/bin/yamllint --strict config'
