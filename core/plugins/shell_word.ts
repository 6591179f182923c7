/** A word as it can be pasted into a shell. */

/** For a POSIX shell. */
export function shellWord(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", () => `'\\''`)}'`;
}
