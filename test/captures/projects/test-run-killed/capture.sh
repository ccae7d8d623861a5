step 'Set up' 'python3 -m venv .venv
.venv/bin/pip install -r requirements.txt'
limit_memory $((256 * 1024 * 1024))
step 'Test' '.venv/bin/python -m pytest -v'
