STEP_ENV=(RUST_BACKTRACE=1)
step 'Test' 'cargo test'
