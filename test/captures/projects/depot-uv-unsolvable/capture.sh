step 'Install' 'python3 -m venv .venv
.venv/bin/pip install --quiet uv==0.4.18'
step 'Resolve' '.venv/bin/uv pip compile --no-cache requirements.in'
