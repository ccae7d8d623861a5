step 'Install' 'npm ci --no-audit'
step 'Format' 'npm run format:check'
