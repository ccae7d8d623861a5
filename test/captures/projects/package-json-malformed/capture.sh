step 'Install' 'node --version
npm install'
