import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { root } from "../support/source.ts";

const doors = {
  holdfast: "src/index.ts",
  "holdfast/server": "server/index.ts",
  "holdfast/react": "src/react/index.ts",
  "holdfast/testing": "src/testing/index.ts",
  "holdfast/openai": "src/adapters/openai.ts",
};

const settings = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(settings.config, ts.sys, root);
const program = ts.createProgram(
  Object.values(doors).map((path) => join(root, path)),
  options,
);
const checker = program.getTypeChecker();
const flags = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;

function textOf(type: ts.Type, extra: ts.TypeFormatFlags = 0): string {
  return checker.typeToString(type, undefined, flags | extra).replace(/import\("[^"]*\/([^"/]+)"\)/g, "$1");
}

function membersOf(type: ts.Type): string[] {
  const members = type.getProperties().filter((member) => !/^(__|#)/.test(member.name));
  return members.map((member) => {
    const optional = (member.flags & ts.SymbolFlags.Optional) !== 0 ? "?" : "";
    return `  ${member.name}${optional}: ${textOf(checker.getTypeOfSymbol(member))}`;
  });
}

function describeExport(name: string, exported: ts.Symbol): string[] {
  const symbol =
    (exported.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(exported) : exported;
  if ((symbol.flags & ts.SymbolFlags.Class) !== 0) {
    const made = checker
      .getTypeOfSymbol(symbol)
      .getConstructSignatures()
      .map((one) => `  new ${checker.signatureToString(one, undefined, flags)}`);
    return [`class ${name}`, ...made, ...membersOf(checker.getDeclaredTypeOfSymbol(symbol))];
  }
  if ((symbol.flags & ts.SymbolFlags.Value) !== 0)
    return [`${name}: ${textOf(checker.getTypeOfSymbol(symbol))}`];
  const type = checker.getDeclaredTypeOfSymbol(symbol);
  if ((symbol.flags & ts.SymbolFlags.Interface) !== 0) return [`interface ${name}`, ...membersOf(type)];
  return [`type ${name} = ${textOf(type, ts.TypeFormatFlags.InTypeAlias)}`];
}

function exportsOf(path: string): ts.Symbol[] {
  const file = program.getSourceFile(join(root, path));
  const module = file && checker.getSymbolAtLocation(file);
  if (module === undefined) throw new Error(`${path} exports nothing`);
  return checker.getExportsOfModule(module).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** From what it is called outside to where it is declared, our own files only. */
function declaredHere(exported: ts.Symbol): ts.Symbol | undefined {
  const symbol =
    (exported.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(exported) : exported;
  const foreign = symbol.declarations?.every((one) => one.getSourceFile().fileName.includes("node_modules"));
  return foreign === true ? undefined : symbol;
}

describe("the public names", () => {
  test("each has a doc comment where it is declared", () => {
    const bare = Object.entries(doors).flatMap(([door, path]) =>
      exportsOf(path)
        .filter((one) => declaredHere(one)?.getDocumentationComment(checker).length === 0)
        .map((one) => `${door} ${one.name}`),
    );
    expect(bare).toEqual([]);
  });

  test("every door exports what public-api.txt says, with these types", async () => {
    const pages = Object.entries(doors).map(([door, path]) => {
      const names = exportsOf(path);
      return [`## ${door}`, "", ...names.flatMap((one) => describeExport(one.name, one)), ""].join("\n");
    });
    await expect(pages.join("\n")).toMatchFileSnapshot("public-api.txt");
  });
});
