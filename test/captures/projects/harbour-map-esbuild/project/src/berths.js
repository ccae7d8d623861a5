export const berths = [{ name: 'A', taken: true }, { name: 'B', taken: false }];
