step 'Install' 'npm install --no-audit --no-fund'
step 'Lint styles' 'npx stylelint "css/*.css"'
