step 'Install' 'npm install --no-audit --no-fund'
step 'Bundle' 'npx esbuild src/main.js --bundle --outfile=dist/main.js'
