// Put the packages that were installed where Node looks for them, then run npm.
//
//     node run_npm.mjs MODULES PLACE NPM ARGUMENT…
import { spawnSync } from "node:child_process";
import { rmSync, symlinkSync } from "node:fs";
import { argv, execPath, exit } from "node:process";

const [modules, place, ...command] = argv.slice(2);
rmSync(place, { recursive: true, force: true });
symlinkSync(modules, place);
const { status, error } = spawnSync(execPath, command, { stdio: "inherit" });
if (error) throw error;
exit(status ?? 1);
