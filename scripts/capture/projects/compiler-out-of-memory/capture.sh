step 'Compiler' 'g++ --version'
step 'Build' 'ulimit -v 300000
ulimit -a | grep -i virtual
make libtides.a'
