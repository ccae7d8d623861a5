step 'Versions' 'cmake --version
g++ --version'
step 'Configure' 'cmake -S . -B build -DCMAKE_BUILD_TYPE=Release'
step 'Build' 'cmake --build build'
