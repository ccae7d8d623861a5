step 'Install' 'python3 -m venv .venv && .venv/bin/pip install --quiet --disable-pip-version-check robotframework==7.1'
step 'Test' '.venv/bin/python -m robot --consolecolors off --output NONE --log NONE --report NONE tests'
