step 'Build' 'make clean
make'
