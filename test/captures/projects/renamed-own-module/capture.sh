step 'Install' 'npm ci --no-audit --loglevel verbose'
step 'Test' 'npm test'
