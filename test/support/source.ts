import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** TypeScript files under the given folders or files, as paths from the repository's root. */
export function sourceFiles(...places: readonly string[]): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (!places.includes(entry.name)) continue;
    if (entry.isFile()) found.push(entry.name);
    else
      for (const path of readdirSync(join(root, entry.name), { recursive: true }))
        found.push(join(entry.name, String(path)));
  }
  return found.filter((path) => /\.tsx?$/.test(path) && !/(^|\/)(dist|node_modules)\//.test(path)).sort();
}

export function readSource(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

export function parseSource(path: string, text: string = readSource(path)): ts.SourceFile {
  return ts.createSourceFile(
    path,
    text,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
}

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  node.forEachChild((child) => walk(child, visit));
}

/**
 * Everything a file imports: values, types, re-exports, `import()` of both kinds. Our own files as paths from the root.
 * With `values`, only what is still there when types are gone.
 */
export function importsOf(path: string, text?: string, only?: "values"): string[] {
  const found = new Set<string>();
  walk(parseSource(path, text), (node) => {
    let from: ts.Node | undefined;
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) from = node.moduleSpecifier;
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) from = node.argument.literal;
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      from = node.arguments[0];
    if (from === undefined || !ts.isStringLiteralLike(from)) return;
    if (only === "values" && isTypeOnly(node)) return;
    found.add(
      from.text.startsWith(".") ? relative(root, resolve(root, dirname(path), from.text)) : from.text,
    );
  });
  return [...found];
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
  return ts.isImportTypeNode(node) || (ts.isExportDeclaration(node) && node.isTypeOnly);
}
