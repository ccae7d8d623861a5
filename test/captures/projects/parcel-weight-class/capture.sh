step 'Test' 'cargo test --locked --no-fail-fast'
