// The programs of the READMEs, run with the package and nothing else.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const packaged = new URL('../', import.meta.url)
const readmes = { package: '../README.md', project: '../../README.md' }

/** The programs that a README shows. */
async function programs(readme) {
  const text = await readFile(new URL(readme, import.meta.url), 'utf8')
  return [...text.matchAll(/^```js\n(.*?)^```/gms)].map(([, program]) => program)
}

/** Runs it in a project that depends on this package. */
async function run(t, program) {
  const project = await mkdtemp(join(tmpdir(), 'zoolock-node-'))
  t.after(() => rm(project, { recursive: true }))
  await mkdir(join(project, 'node_modules'))
  await symlink(fileURLToPath(packaged), join(project, 'node_modules', 'zoolock'))
  const file = join(project, 'program.mjs')
  await writeFile(file, program)
  return spawnSync(process.execPath, ['--test-reporter=tap', file], { env: {}, encoding: 'utf8' })
}

for (const [name, readme] of Object.entries(readmes)) {
  test(`the quick start of the ${name} runs as it is`, async (t) => {
    const [quickStart] = await programs(readme)
    const { status, stdout, stderr } = await run(t, quickStart)
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^fencing token \d+\n$/)
  })

  test(`the test of an application in the README of the ${name} passes`, async (t) => {
    const shown = (await programs(readme)).filter((program) => program.includes('node:test'))
    assert.equal(shown.length, 1)
    const { status, stdout } = await run(t, shown[0])
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^# pass 1$/m)
  })
}
