step 'Install' 'npm ci'
step 'Test' 'npm test'
