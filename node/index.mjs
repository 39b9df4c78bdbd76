// One implementation, so that classes are the same ones however the package is loaded.
import zoolock from './index.cjs'

export const {
  connect,
  Session,
  Mutex,
  ReentrantMutex,
  RwLock,
  RwLockSide,
  Guard,
  Owner,
  setLogger,
  startTestServer,
  TestServer,
  ZoolockError,
  InvalidArgumentError,
  UnavailableError,
  LockTimeoutError,
  CancelledError,
  LockLostError,
  NotHeldError,
  WouldDeadlockError,
  SequenceExhaustedError,
  NoAuthError,
  AuthFailedError,
  SessionExpiredError,
  ClosedError,
  UnsupportedError,
  InternalError
} = zoolock
export default zoolock
