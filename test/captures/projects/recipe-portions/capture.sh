step 'Install' 'python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check behave==1.2.6'
step 'Test' '.venv/bin/python -m behave --no-color'
