step 'Versions' 'cargo --version
rustc --version'
step 'Build' 'cargo build --locked --verbose'
