step 'Install' 'npm ci'
step 'Build' 'npm run build'
