// Bundles the extension into one file, with the TypeScript client of ctxd that lies beside it.
import { build } from "esbuild";

await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  alias: { "ctxd-client": "../ts/src/index.ts" },
  minify: true,
  legalComments: "linked",
});
