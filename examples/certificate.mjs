// Checks a certificate of dsh_fp against a log, and proofs against a root, with Node.js alone.
//
//     node certificate.mjs log LOG CERTIFICATE
//     node certificate.mjs proof PROOF ROOT [OLD_ROOT]
//
// Prints `holds` or the first thing that does not, and exits 0 or 1. It shares no code with the
// library: docs/reference/certificates.md is all it follows. How a request is made of events is
// not checked here, so the requests' digests are taken as the certificate lists them.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const sha256 = (...parts) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const digest = (kind, ...content) => sha256(`\0dsh_fp/1 ${kind}\n`, ...content);
const node = (left, right) => sha256(Uint8Array.of(1), left, right);
const hex = (text) => Buffer.from(text, "hex");
const size = (number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
};
const picked = (value, keys) =>
  JSON.stringify(Object.fromEntries(keys.filter((key) => key in value).map((key) => [key, value[key]])));

const ENVELOPE = ["type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp"];
const HEADER = ["version", "id", "createdAt", "cwd", "parentSession", "seedLength"];

const treeRoot = (leaves) => {
  if (leaves.length === 0) return sha256("");
  if (leaves.length === 1) return leaves[0];
  let half = 1;
  while (2 * half < leaves.length) half *= 2;
  return node(treeRoot(leaves.slice(0, half)), treeRoot(leaves.slice(half)));
};
const logRoot = (session, events, requests) =>
  digest("log", session, size(events.size), hex(events.root), size(requests.size), hex(requests.root));
const step = (entry) => digest("step", JSON.stringify(entry));

function see(what, found, said) {
  if (Buffer.from(found).toString("hex") === said) return;
  console.log(`${what} is ${Buffer.from(found).toString("hex")}, not ${said}`);
  process.exit(1);
}

function checkLog(log, certificate) {
  const lines = log.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  const leaves = lines.slice(1).map((event) => digest("event", picked(event, ENVELOPE)));
  const session = digest("session", picked(lines[0], HEADER));
  const { events, requests } = certificate;
  see("the root of the events", treeRoot(leaves), events.root);
  see("the size", size(leaves.length), size(events.size).toString("hex"));
  see("the root of the requests", treeRoot(certificate.steps.map(step)), requests.root);
  see("the root", logRoot(session, events, requests), certificate.root);
}

function checkInclusion(proof, root) {
  let place = proof.index;
  let last = proof.requests.size - 1;
  let reached = step(proof.step);
  for (const beside of proof.path.map(hex)) {
    if (last === 0) see("the path", "", "shorter");
    if (place % 2 || place === last) {
      reached = node(beside, reached);
      while (place % 2 === 0 && place) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else reached = node(reached, beside);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  if (last !== 0) see("the path", "", "longer");
  see("where the path leads", reached, proof.requests.root);
  see("the root", logRoot(hex(proof.session), proof.events, proof.requests), root);
}

function checkConsistency(proof, root, oldRoot) {
  const { old, new: now, session } = proof;
  see("the old root", logRoot(hex(session), old.events, old.requests), oldRoot);
  see("the root", logRoot(hex(session), now.events, now.requests), root);
  if (old.events.size === 0 || old.events.size === now.events.size) {
    const known = old.events.size === 0 ? sha256("") : hex(now.events.root);
    return see("the root of the old events", known, old.events.root);
  }
  let [place, last] = [old.events.size - 1, now.events.size - 1];
  while (place % 2) [place, last] = [(place - 1) / 2, Math.floor(last / 2)];
  const path = proof.path.map(hex);
  if (place === 0) path.unshift(hex(old.events.root));
  let [before, after] = [path[0] ?? "", path[0] ?? ""];
  for (const beside of path.slice(1)) {
    if (last === 0) see("the path", "", "shorter");
    if (place % 2 || place === last) {
      [before, after] = [node(beside, before), node(beside, after)];
      while (place % 2 === 0 && place) [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
    } else after = node(after, beside);
    [place, last] = [Math.floor(place / 2), Math.floor(last / 2)];
  }
  if (last !== 0) see("the path", "", "longer");
  see("where the path leads in the old tree", before, old.events.root);
  see("where the path leads in the new tree", after, now.events.root);
}

const [kind, first, second, third] = process.argv.slice(2);
const text = (path) => readFileSync(path, "utf8");
if (kind === "log") checkLog(text(first), JSON.parse(text(second)));
else {
  const proof = JSON.parse(text(first));
  if (proof.kind === "inclusion") checkInclusion(proof, second);
  else checkConsistency(proof, second, third);
}
console.log("holds");
