step 'Compiler' 'g++ --version'
step 'Build' 'ulimit -v 300000
ulimit -v
make libtides.a'
