isolate
upstream rate-limited
step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --index-url http://packages.example.test/simple --trusted-host packages.example.test -r requirements.txt'
