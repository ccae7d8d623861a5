step 'Render labels' 'awk -f src/labels.awk src/prices.csv'
step 'Package' './ci/package.sh'
