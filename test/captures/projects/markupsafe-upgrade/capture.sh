step 'Install' 'python3 -m venv .venv
.venv/bin/pip install -v -r requirements.txt
.venv/bin/pip freeze'
step 'Test' '.venv/bin/python -m pytest -v'
