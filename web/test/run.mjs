// Bundles the tests and runs them with Node's own runner.
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";

const folder = await mkdtemp(path.join(tmpdir(), "slipway-web-"));
try {
  const entryPoints = (await readdir("test")).filter((f) => f.endsWith(".test.ts")).map((f) => path.join("test", f));
  await build({ entryPoints, outdir: folder, outExtension: { ".js": ".mjs" }, bundle: true, platform: "node", format: "esm", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" });
  const files = (await readdir(folder)).map((f) => path.join(folder, f));
  process.exitCode = spawnSync(process.execPath, ["--test", "--test-force-exit", ...files], { stdio: "inherit" }).status ?? 1;
} finally {
  await rm(folder, { recursive: true });
}
