import { DatabaseSync } from 'node:sqlite';

/** Holds a lock of a file, taken by the SQL it is given, until its standard input ends. */
const [path = '', begin = 'BEGIN EXCLUSIVE'] = process.argv.slice(2);
const database = new DatabaseSync(path, { timeout: 5_000 });
database.exec(begin);
console.log('locked');
process.stdin.resume().on('end', () => {
  database.exec('COMMIT');
  console.log('released');
});
