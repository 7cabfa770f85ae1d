// A reporter of Node's test runner that counts tests, and files that were run and had none.
// Node counts such a file as a test that passed, also when it ended its own process early.
import { relative, resolve } from "node:path";
import { env } from "node:process";

const nonce = env.ASSAY_NONCE;
const root = resolve(env.INIT_CWD ?? ".", env.ASSAY_UP ?? ".");
const SHOWN = 50;
const FILES = 20_000;

export default async function* count(source) {
  const sums = { passed: 0, failed: 0, skipped: 0, errors: 0, unrun: 0 };
  const idle = [];
  const faults = [];
  const files = new Set();
  const waiting = new Map();
  const key = (data) => `${data.file}:${data.line}:${data.column}:${data.nesting}:${data.name}`;
  for await (const { type, data } of source) {
    if (type === "test:enqueue" && !isFile(data)) {
      waiting.set(key(data), (waiting.get(key(data)) ?? 0) + 1);
    }
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (isFile(data)) {
      if (type === "test:pass") idle.push(relative(root, data.file));
      else {
        sums.errors += 1;
        faults.push(data.name);
      }
      continue;
    }
    if (data.file) files.add(relative(root, data.file));
    const left = (waiting.get(key(data)) ?? 0) - 1;
    if (left > 0) waiting.set(key(data), left);
    else waiting.delete(key(data));
    if (data.details?.type === "suite") {
      // Its tests are counted themselves; a hook that failed is nobody's.
      if (type === "test:fail" && data.details.error?.failureType !== "subtestsFailed") {
        sums.errors += 1;
        faults.push(data.name);
      }
    } else if (isSaid(data.skip) || isSaid(data.todo)) sums.skipped += 1;
    else if (type === "test:pass") sums.passed += 1;
    else {
      sums.failed += 1;
      faults.push(data.name);
    }
  }
  for (const number of waiting.values()) sums.unrun += number;
  const shown = { idle: idle.slice(0, SHOWN), faults: faults.slice(0, SHOWN) };
  shown.files = [...files].slice(0, FILES);
  yield `${JSON.stringify({ nonce, end: true, sums, ...shown })}\n`;
}

// `node --test` reports the file itself where it has no tests, or did not end well.
function isFile(data) {
  return data.nesting === 0 && data.line === 1 && data.column === 1 && isPath(data);
}

function isPath({ name, file }) {
  return name === file || (file?.endsWith(name) && /\.[cm]?[jt]sx?$/.test(name));
}

function isSaid(value) {
  return value !== undefined && value !== false;
}
