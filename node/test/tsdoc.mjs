// Fails unless everything public has a doc comment: exported declarations, and their members, own
// or by the interface that a class implements. Run by lint.sh.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const file = fileURLToPath(new URL('../index.d.ts', import.meta.url))
const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
const documented = (node) => ts.getJSDocCommentsAndTags(node).length > 0
const hidden = ts.SyntaxKind.PrivateKeyword
const isPublic = (member) =>
  !ts.isConstructorDeclaration(member) && !member.modifiers?.some(({ kind }) => kind === hidden)
const name = (node) => node.name?.getText() ?? node.kind

const declarations = source.statements.filter((statement) => statement.name)
const members = new Map(
  declarations.map((declaration) => [name(declaration), declaration.members ?? []])
)
const inherited = (declaration) =>
  (declaration.heritageClauses ?? [])
    .flatMap(({ types }) => types.map(({ expression }) => expression.getText()))
    .flatMap((base) => [...(members.get(base) ?? [])])
    .filter(documented)
    .map(name)

const missing = []
for (const declaration of declarations) {
  if (!documented(declaration)) missing.push(name(declaration))
  const known = new Set(inherited(declaration))
  for (const member of (declaration.members ?? []).filter(isPublic)) {
    if (documented(member)) known.add(name(member))
    else if (!known.has(name(member))) missing.push(`${name(declaration)}.${name(member)}`)
  }
}
if (declarations.length < 40) missing.push(`(only ${declarations.length} declarations were found)`)
if (missing.length > 0) {
  console.error(`without a doc comment: ${missing.join(', ')}`)
  process.exitCode = 1
}
