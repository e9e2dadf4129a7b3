// run.mjs logic|built|browser PAGE_SAMPLES [CHROMIUM]: one test of the page; 77 where it cannot run here.
import {spawnSync} from "node:child_process";
import {existsSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

import {testInBrowser} from "./browser.mjs";

const SKIPPED = 77, LARGE_ROWS = "100000";
const [test, samplesProgram, chromium] = process.argv.slice(2);
const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "core", "report", "html");

function skip(reason) {
  console.log("skipped: " + reason);
  process.exit(SKIPPED);
}

function node(...words) {
  return spawnSync(process.execPath, words, {
           stdio: "inherit",
           cwd: source,
           env: {...process.env, ULPSCOPE_PAGE_SAMPLES: folder}
         }).status ??
      1;
}

const hasPackages = existsSync(join(source, "node_modules", "esbuild"));
if (test !== "browser" && !hasPackages) skip("core/report/html has no node_modules: run npm ci there");
if (test === "browser" && !existsSync(chromium ?? "")) skip("no chromium");

const folder = mkdtempSync(join(tmpdir(), "ulpscope_pages_"));
try {
  const rows = test === "browser" ? [LARGE_ROWS] : [];
  if (spawnSync(samplesProgram, [folder, ...rows], {stdio: "inherit"}).status !== 0)
    throw new Error("no samples");
  if (test === "logic") process.exitCode = node("test.mjs");
  if (test === "built")
    process.exitCode = node("build.mjs", "--check") || node("node_modules/typescript/bin/tsc", "--noEmit");
  if (test === "browser") await testInBrowser(chromium, folder);
} finally {
  rmSync(folder, {recursive: true});
}
