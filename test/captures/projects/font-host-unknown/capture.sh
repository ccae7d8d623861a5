step 'Check poster' 'grep -c "<text>" poster.svg'
step 'Fetch fonts' './scripts/fetch-fonts.sh'
