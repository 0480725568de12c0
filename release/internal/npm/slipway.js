#!/usr/bin/env node
// Starts the slipway program of this platform's package, and ends as it ends.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const name = `@slipway-dev/${process.platform}-${process.arch}`;

function program() {
  const file = process.platform === "win32" ? "slipway.exe" : "slipway";
  try {
    return require.resolve(`${name}/bin/${file}`);
  } catch {
    return undefined;
  }
}

function fail(...lines) {
  for (const line of lines) console.error(line);
  process.exit(1);
}

const path = program();
if (path === undefined) {
  fail(
    `error: the package ${name} is not installed, which has slipway for this platform`,
    "  npm leaves it out with --omit=optional, and where a lock file was made without it",
    "  next: npm install slipway --include=optional",
  );
}

const child = spawn(path, process.argv.slice(2), { stdio: "inherit", windowsHide: false });

// A terminal sends these to all of its processes, so that the program has them already. Otherwise they are handed over.
// process.stdin is not looked at: opening it makes a pipe non-blocking, for the program as well.
const terminal = [0, 1, 2].some((fd) => isatty(fd));
for (const signal of ["SIGINT", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => terminal || child.kill(signal));
}
process.on("SIGTERM", () => child.kill("SIGTERM"));

child.on("error", (err) => fail(`error: cannot start ${path}: ${err.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 1000); // where signals do not end a process
});
