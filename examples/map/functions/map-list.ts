/** Lists some files. How many attempts of each fail, and how, stands beside its name: it is an example. */
export async function handler() {
  return {
    files: [
      { name: 'north.csv', lines: 120, failingAttempts: 0 },
      { name: 'east.csv', lines: 80, failingAttempts: 1 },
      { name: 'south.csv', lines: 0, failingAttempts: 9 },
      { name: 'west.csv', lines: 45, failingAttempts: 0 },
      { name: 'centre.csv', lines: 5, failingAttempts: 0 },
    ],
  };
}
