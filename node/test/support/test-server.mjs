// A server in the test's own process, for one test.

import { connect, startTestServer } from 'zoolock'

/** Starts it; `open` connects sessions of their own. All are closed when the test is over. */
export async function start(t, options) {
  const server = await startTestServer(options)
  const sessions = []
  t.after(async () => {
    server.thawAll()
    await Promise.all(sessions.map((session) => session.close()))
    await server.stop()
  })
  const open = async (sessionOptions) => {
    const session = await connect(server.hosts, { exclusive: true, ...sessionOptions })
    sessions.push(session)
    return session
  }
  return { server, open }
}
