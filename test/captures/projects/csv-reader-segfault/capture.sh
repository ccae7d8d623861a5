step 'Compiler' 'gcc --version
make --version'
step 'Build' 'make all'
step 'Test' 'make check'
