// Builds the page into dist/, the script and style of reports into internal/report/dist/, and
// licences.json with the terms of the packages in the page; or with --test the tests into build/,
// for "npm test". The same sources give the same bytes.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, format: "esm", target: "es2022", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning", charset: "utf8" };

if (process.argv.includes("--test")) {
  rmSync("build", { recursive: true, force: true });
  const tests = readdirSync("test").map((file) => `test/${file}`);
  await build({ ...common, entryPoints: tests, outdir: "build", outExtension: { ".js": ".mjs" }, platform: "node" });
} else {
  const { metafile } = await build({ ...common, entryPoints: ["src/app.tsx", "src/app.css"], outdir: "dist", minify: true, legalComments: "none", metafile: true });
  const terms = readFileSync("node_modules/uplot/LICENSE", "utf8"); // a report is passed on by itself
  await build({ ...common, format: "iife", charset: "ascii", banner: { js: `/* uPlot: ${terms.trim()} */` }, entryPoints: ["src/report.ts", "src/report.css"], outdir: "../internal/report/dist", minify: true, legalComments: "none" });
  copyFileSync("src/index.html", "dist/index.html");
  writeFileSync("licences.json", JSON.stringify(licences(metafile), null, 1) + "\n");
}

/** Name, version and terms of each package that files of the bundle come from. */
function licences(metafile) {
  const names = new Set();
  for (const file of Object.keys(metafile.inputs)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
    if (name) names.add(name);
  }
  return [...names].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const terms = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (!terms) throw new Error(`${name} has no file with its licence`);
    return { name, version: JSON.parse(readFileSync(`${folder}/package.json`)).version, file: terms, text: readFileSync(`${folder}/${terms}`, "utf8") };
  });
}
