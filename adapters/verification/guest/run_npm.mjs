// Put the packages that were installed where Node looks for them, then run npm.
//
//     node run_npm.mjs MODULES PLACE NPM ARGUMENT…
//
// Each is linked by itself, since tools keep their caches in the folder around the packages.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { argv, execPath, exit } from "node:process";

const [modules, place, ...command] = argv.slice(2);
rmSync(place, { recursive: true, force: true });
mkdirSync(place);
for (const name of readdirSync(modules)) symlinkSync(join(modules, name), join(place, name));
const { status, error } = spawnSync(execPath, command, { stdio: "inherit" });
if (error) throw error;
exit(status ?? 1);
