step 'Set up' 'python -m venv .venv
.venv/bin/pip install -r requirements.txt'
step 'Test' '.venv/bin/python -m pytest -v --junitxml=reports/pytest.xml'
