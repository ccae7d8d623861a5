step 'Install' 'npm install --no-audit --no-fund'
step 'Build' 'npm run build'
