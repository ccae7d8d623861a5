step 'Install' 'python3 -m venv .venv
.venv/bin/pip install -r requirements.txt'
step 'Test' '.venv/bin/python -m pytest'
