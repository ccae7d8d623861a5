step 'Install' 'npm install --no-audit --no-fund'
step 'Test' 'npm test'
