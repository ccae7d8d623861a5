step 'Build' 'cargo --version
cargo build'
