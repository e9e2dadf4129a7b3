// Bundles tests/ and runs it. ULPSCOPE_PAGE_SAMPLES: a folder of pages that the program wrote.
import {build} from "esbuild";
import {spawnSync} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const folder = dirname(fileURLToPath(import.meta.url)), out = mkdtempSync(join(tmpdir(), "ulpscope_page_"));
try {
  const file = join(out, "page.test.mjs");
  await build({
    entryPoints: [join(folder, "tests", "page.test.ts")],
    bundle: true,
    format: "esm",
    platform: "node",
    outfile: file
  });
  process.exitCode = spawnSync(process.execPath, ["--test", file], {stdio: "inherit"}).status ?? 1;
} finally {
  rmSync(out, {recursive: true});
}
