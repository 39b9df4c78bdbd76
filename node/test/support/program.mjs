// Other processes: small programs that use the package, given as text beside the test.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { after } from 'node:test'

const index = new URL('../../index.mjs', import.meta.url).href

const imported = `import { connect } from ${JSON.stringify(index)}`

/**
 * Starts a program whose body is `source`; `hosts`, `path`, `args` and `connect` are in scope.
 * Without `imports` it does not load the package, hence has no `connect`. `options` are Node's.
 */
export function start(source, { hosts, path, args = [], imports = imported, options = [], env = {}, stderr = 'inherit' }) {
  const text = `
    ${imports}
    const [hosts, path, ...args] = process.argv.slice(1)
    ${source}`
  const child = spawn(
    process.execPath,
    [...options, '--input-type=module', '-e', text, '--', hosts, path ?? '', ...args],
    { stdio: ['ignore', 'pipe', stderr], env: { ...process.env, ...env } }
  )
  // Does nothing to one that has ended; a test that failed leaves none behind.
  after(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const ended = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
  return {
    /** The next line that it prints; `undefined` at its end. */
    line: async () => (await lines.next()).value,
    kill: (signal) => child.kill(signal),
    ended
  }
}

/** Runs a program to its end; what it printed, line by line. */
export async function run(source, about) {
  const program = start(source, about)
  const printed = []
  for (let line; (line = await program.line()) !== undefined; ) printed.push(line)
  return { printed, ...(await program.ended) }
}
