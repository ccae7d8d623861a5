export const legend = { river: 'River', road: 'Road' };
