step 'Install' 'npm ci'
step 'Test' 'npm test'
step 'Lint' 'npm run lint'
