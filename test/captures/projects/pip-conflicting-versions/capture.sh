step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --progress-bar off -r requirements.txt'
