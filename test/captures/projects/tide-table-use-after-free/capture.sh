step 'Build' 'make'
step 'Smoke test' './build/tides harbour.csv'
