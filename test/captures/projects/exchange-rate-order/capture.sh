step 'Set up' 'python -m venv .venv
.venv/bin/pip install -r requirements.txt'
step 'Test' '.venv/bin/python -m pytest -v --randomly-seed=4711'
