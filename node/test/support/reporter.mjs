// Prints one line a test, the failures' details, and `N passed, N failed` as the last line.
// Appends `ok SUITE NAME` or `FAIL SUITE NAME` to the file that ZOOLOCK_TEST_REPORT names; SUITE is
// `node`, or what ZOOLOCK_TEST_SUITE says.

import { appendFileSync } from 'node:fs'
import { basename } from 'node:path'
import { inspect } from 'node:util'

const report = process.env.ZOOLOCK_TEST_REPORT
const suite = process.env.ZOOLOCK_TEST_SUITE ?? 'node'

export default async function* reporter(events) {
  let passed = 0
  let failed = 0
  for await (const { type, data } of events) {
    if (type === 'test:stdout' || type === 'test:stderr') yield data.message
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const fileItself = data.nesting === 0 && data.name.endsWith(basename(data.file ?? '\0'))
    if (data.details.type === 'suite' || (fileItself && type === 'test:pass')) continue
    if (data.skip !== undefined) throw new Error(`skipped, which no test here may be: ${data.name}`)
    const word = type === 'test:pass' ? 'ok' : 'FAIL'
    if (word === 'ok') passed += 1
    else failed += 1
    if (report) appendFileSync(report, `${word} ${suite} ${data.name}\n`)
    yield `${word} ${data.name} (${Math.round(data.details.duration_ms)} ms)\n`
    if (word === 'FAIL') yield `${inspect(data.details.error, { depth: 5 })}\n`
  }
  yield `${passed} passed, ${failed} failed\n`
}
