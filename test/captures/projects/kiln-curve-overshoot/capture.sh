step 'Build' 'cmake -S . -B build > build.log && cmake --build build'
step 'Test' 'ctest --test-dir build --output-on-failure'
