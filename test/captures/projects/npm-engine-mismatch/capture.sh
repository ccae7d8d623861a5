step 'Versions' 'node --version
npm --version'
step 'Install' 'npm ci'
