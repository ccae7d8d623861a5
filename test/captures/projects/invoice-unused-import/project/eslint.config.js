import js from '@eslint/js'

export default [js.configs.recommended, { rules: { eqeqeq: 'error', 'no-console': 'warn' }, languageOptions: { globals: { console: 'readonly' } } }]
