step 'Install' 'npm ci --no-audit --no-fund'
step 'Test' 'npm test'
