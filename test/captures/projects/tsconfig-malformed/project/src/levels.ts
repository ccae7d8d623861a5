export const levels: readonly number[] = [1.2, 3.4]
