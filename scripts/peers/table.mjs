// Reads a Parquet file with DuckDB and prints each row as a line of JSON: the named columns, or all.
//
//	cd DIR # of scripts/peers.sh
//	node scripts/peers/table.mjs pages.parquet [COLUMN…]
import { createRequire } from 'node:module';

const { DuckDBInstance } = createRequire(process.cwd() + '/')('@duckdb/node-api');
const [table, ...columns] = process.argv.slice(2);
const db = await (await DuckDBInstance.create()).connect();
const rows = await db.stream(`select ${columns.map(name => `"${name}"`).join() || '*'} from read_parquet('${table.replaceAll("'", "''")}')`);
const names = rows.columnNames();
const plain = value => typeof value === 'bigint' ? Number(value) : value;
for (let chunk = await rows.fetchChunk(); chunk && chunk.rowCount > 0; chunk = await rows.fetchChunk()) {
  for (const row of chunk.getRows()) {
    console.log(JSON.stringify(Object.fromEntries(row.map((value, i) => [names[i], plain(value)]))));
  }
}
