/** The lines of a text table as their cells: one scene a line, bars between the cells. */
export const scenes = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
