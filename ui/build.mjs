// Builds the bundle into dist/, or with --test the tests into build/, for "npm test".
import { readdirSync, copyFileSync, rmSync } from "node:fs";
import { build } from "esbuild";

const common = { bundle: true, format: "esm", target: "es2022", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning", charset: "utf8" };
if (process.argv.includes("--test")) {
  rmSync("build", { recursive: true, force: true });
  const tests = readdirSync("test").map((f) => `test/${f}`);
  await build({ ...common, entryPoints: tests, outdir: "build", outExtension: { ".js": ".mjs" }, platform: "node" });
} else {
  await build({ ...common, entryPoints: ["src/app.tsx", "src/app.css"], outdir: "dist", minify: true, legalComments: "none" });
  copyFileSync("src/index.html", "dist/index.html");
}
