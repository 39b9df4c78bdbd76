// A real ensemble for one test file: started before its tests, stopped after them.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect as openSocket } from 'node:net'
import { createInterface } from 'node:readline'
import { after } from 'node:test'
import { connect } from 'zoolock'

const program = process.env.ZOOLOCK_ENSEMBLE

/** The sessions of most tests: short, so that a loss does not take long. */
export const SESSION_TIMEOUT_MS = 3000

class Ensemble {
  #process
  #answers
  #socket
  #last = Promise.resolve()
  #sessions = []
  hosts
  direct
  control

  async start(args) {
    if (!program) throw new Error('ZOOLOCK_ENSEMBLE must name the ensemble program')
    this.#process = spawn(program, ['run', ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    const ready = await firstLine(this.#process.stdout)
    const { hosts, direct, control } = JSON.parse(ready)
    Object.assign(this, { hosts, direct, control })
    const [host, port] = control.split(':')
    this.#socket = openSocket(Number(port), host)
    await once(this.#socket, 'connect')
    this.#answers = createInterface(this.#socket)[Symbol.asyncIterator]()
  }

  /** Sends one command; its answer. */
  command(...words) {
    const answer = this.#last.then(() => this.#command(words.join(' ')))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #command(line) {
    this.#socket.write(`${line}\n`)
    const { value, done } = await this.#answers.next()
    if (done) throw new Error(`the ensemble ended at: ${line}`)
    const answer = JSON.parse(value)
    if (!answer.ok) throw new Error(`${line}: ${answer.error}`)
    return answer
  }

  /** As `command`, while the event loop stands still. */
  commandAtOnce(...words) {
    const { stdout } = spawnSync(program, ['ctl', this.control, ...words], { encoding: 'utf8' })
    return JSON.parse(stdout)
  }

  async children(path) {
    return (await this.command('children', path)).children
  }

  /** A session that is closed before the ensemble stops. */
  async connect(options) {
    const session = await connect(this.hosts, { sessionTimeoutMs: SESSION_TIMEOUT_MS, ...options })
    this.#sessions.push(session)
    return session
  }

  async stop() {
    await Promise.all(this.#sessions.map((session) => session.close()))
    this.#socket.destroy()
    const ended = once(this.#process, 'exit')
    this.#process.stdin.end()
    await ended
  }
}

async function firstLine(stream) {
  for await (const line of createInterface(stream)) return line
  throw new Error('the ensemble did not start')
}

/**
 * The ensemble of the calling test file. With top-level await and no `before`, whose order among
 * themselves is not the same in all versions of Node.
 */
export async function startEnsemble(...args) {
  const ensemble = new Ensemble()
  await ensemble.start(args.length ? args : ['--servers', '1'])
  after(() => ensemble.stop())
  return ensemble
}

/** Waits until `condition` is true; what it waits for has no event of its own. */
export async function eventually(what, condition, limitMs = 20000) {
  const until = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > until) throw new Error(`not within ${limitMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

let paths = 0

/** A lock path that no other test uses. */
export function newPath() {
  return `/locks/node/${process.pid}-${++paths}`
}
