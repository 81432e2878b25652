// Reads an exported Parquet with DuckDB, and compares it with the JSON Lines of the same
// export, row by row and column by column.
//
//	cd DIR # of scripts/peers.sh
//	node scripts/peers/parquet.mjs pages.parquet pages.jsonl
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [table, lines] = process.argv.slice(2);
if (!lines) {
  console.error('usage: node scripts/peers/parquet.mjs pages.parquet pages.jsonl');
  process.exit(2);
}
const found = createRequire(process.cwd() + '/').resolve('@duckdb/node-api');
const duckdb = await import(pathToFileURL(found));
const { DuckDBInstance } = duckdb.default ?? duckdb;
const db = await (await DuckDBInstance.create()).connect();
const rows = await db.stream(`select * from read_parquet('${table.replaceAll("'", "''")}')`);
const names = rows.columnNames();

// batches yields the rows of the table, a chunk of them in memory at a time.
async function* batches() {
  for (let chunk = await rows.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await rows.fetchChunk()) {
    yield* chunk.getRows();
  }
}

let n = 0, bad = 0;
const got = batches();
for await (const line of createInterface({ input: createReadStream(lines), crlfDelay: 0 })) {
  const want = JSON.parse(line), { value, done } = await got.next();
  n++;
  if (done) {
    console.error(`the table ends before row ${n}`);
    process.exit(1);
  }
  names.forEach((name, i) => {
    const x = typeof value[i] === 'bigint' ? Number(value[i]) : value[i];
    if (x !== want[name] && bad++ < 10) console.error(`row ${n}, ${name}: ${x}, want ${want[name]}`);
  });
  if (Object.keys(want).join() !== names.join() && bad++ < 10) console.error(`row ${n}: other columns`);
}
if (!(await got.next()).done) bad++, console.error('the table has more rows');
console.log(`${n} rows of ${names.length} columns, ${bad} differences`);
process.exit(bad ? 1 : 0);
