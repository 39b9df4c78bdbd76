/// <reference lib="esnext.disposable" />
/// <reference types="node" />

import type { EventEmitter } from 'node:events'

/**
 * State of a session (R16): `suspended` while it is moved to another server, `expired` while a new
 * one is started, `closed` for ever.
 */
export type SessionState = 'connecting' | 'connected' | 'suspended' | 'expired' | 'closed'

/** State of a guard. It believes in `held` and `suspended`; `lost` and `released` are final. */
export type GuardState = 'held' | 'suspended' | 'lost' | 'released'

/** One entry of an access control list; `permissions`: READ 1, WRITE 2, CREATE 4, DELETE 8, ADMIN 16. */
export type AclEntry =
  | { permissions: number; scheme: string; id: string }
  | readonly [permissions: number, scheme: string, id: string]

/**
 * `open`: anyone may do anything. `creator`: contenders are everything for the creator and READ for
 * anyone, parents everything for the creator; needs credentials. Or a list for both.
 */
export type Acl = 'open' | 'creator' | readonly AclEntry[]

/** Credentials, such as `['digest', 'user:password']`. Never shown in errors or logs (R19). */
export type Credentials =
  | readonly [scheme: string, credentials: string | Uint8Array]
  | { scheme: string; credentials: string | Uint8Array }

/** How the first connect is retried; `retries` counts full rounds of servers, without limit if left out. */
export type Backoff =
  | { exponential: { baseMs: number; maxMs: number; retries?: number } }
  | { fixed: { delayMs: number; retries?: number } }

/** Options of {@link connect}. `undefined` is the default. */
export interface ConnectOptions {
  /** The session timeout to ask for, in milliseconds; the server may grant another. Default 15,000. */
  sessionTimeoutMs?: number | undefined
  /** How long the first connect, and a try, may take, in milliseconds. Default 10,000. */
  connectTimeoutMs?: number | undefined
  /** Credentials to present. */
  auth?: readonly Credentials[] | undefined
  /** TLS towards the servers. */
  tls?: { ca?: string; cert?: string; key?: string; checkServerName?: boolean } | undefined
  /** The ACL of nodes made. Default `creator` if there are credentials, else `open`. */
  acl?: Acl | undefined
  /** What contenders' data says of the holder. Default `host/pid`. */
  identity?: string | undefined
  /** A ZooKeeper session of this handle's own. Default false: equal handles of a process share one. */
  exclusive?: boolean | undefined
  /** Governs only the first connect. */
  backoff?: Backoff | undefined
  /** What renews leases (R3). Default `sync`. */
  leaseConfirmation?: 'sync' | 'write' | undefined
}

/** Options of one lock. */
export interface LockOptions {
  /** The names that contenders get; every naming is understood whatever is chosen. Default `curator`. */
  naming?: 'curator' | 'kazoo' | undefined
  /** Data of the contender node; the session's identity if left out. */
  data?: string | Uint8Array | undefined
  /** Overrides the session's ACL for this lock's nodes. */
  acl?: Acl | undefined
  /**
   * Keeps the contender at a release, so that the next acquire in this process costs no request, until nobody
   * here has used it for so many milliseconds, 1 to a day, or anybody else comes. Default: off. Not for
   * read-write locks. The token is then the pair of `fencingToken` and `grantCount` (R2).
   */
  keepMs?: number | undefined
}

/** Options of a call that takes a lock without waiting for a holder. */
export interface TryOptions {
  /** Abort rejects the call with the signal's `reason` and leaves no contender (R5). */
  signal?: AbortSignal | undefined
}

/** Options of a call for a lock. */
export interface CallOptions extends TryOptions {
  /** How long to wait, in milliseconds; left out, for ever (R6); 0 is a try. */
  timeoutMs?: number | undefined
}

/** For locks that are re-entrant per owner. */
export interface OwnerOptions {
  /** Whom the call is made for (R11). Default: the surrounding `withLock`'s owner, else a new one. */
  owner?: Owner | undefined
}

/** One who queues, as the server shows it: holder or waiter, of this library or another. */
export interface Contender {
  /** Its node, without the session's chroot. */
  nodePath: string
  /** The number that the server gave it. */
  sequence: number
  /** The node's data as text. */
  identity: string
  /** The session that owns the node. */
  sessionId: bigint
  /** Whether the lock is its own by the order of the queue. */
  holds: boolean
}

/** What a lock object has counted since it was made. Other objects on the same path count for themselves. */
export interface LockStatistics {
  /** Grants. */
  acquisitions: number
  /** Grants that had to wait for another contender. */
  contended: number
  /** Attempts that ended at their time-out. */
  timeouts: number
  /** Guards that were lost (R4). */
  losses: number
  /** Sum of the time from call to grant, in milliseconds. */
  waitedMs: number
  /** Sum of the time from grant to release or loss, in milliseconds. */
  heldMs: number
}

/** How much a record of the log matters. */
export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

/** One record of the log. Holds no secrets (R19). */
export interface LogRecord {
  /** How much it matters. */
  level: LogLevel
  /** One line. */
  message: string
  /** What it says more; the names may change between versions. */
  fields: Record<string, string | number | boolean>
  /** The part of the library that says it. */
  target: string
  /** When it was said. */
  time: Date
}

/** Options of {@link setLogger}. */
export interface LogOptions {
  /** The least level. Default `info`. */
  level?: LogLevel | undefined
}

/**
 * Gives the log of the process to `logger` from now on, in the place of the one before; to nobody
 * without one. Each worker thread has a logger of its own, or none.
 *
 * `logger` is called on a tick of its own, so what it throws is an uncaught exception. It neither
 * delays locks nor keeps the process alive; a thread that is busy for long loses records, and is told
 * how many. The environment variable `NODE_DEBUG=zoolock` sets a logger that prints everything to
 * standard error. Throws `InvalidArgumentError` (R20).
 *
 * @example
 * setLogger(({ level, message, fields }) => pino[level](fields, message))
 */
export function setLogger(
  logger?: ((record: LogRecord) => void) | null,
  options?: LogOptions | null
): void

/**
 * Connects to `hosts`, ZooKeeper's `host:port,host:port/chroot`. Left out, the servers come from the
 * environment variable `ZOOLOCK_HOSTS`, else it is `127.0.0.1:2181`.
 *
 * Rejects with `InvalidArgumentError` before anything is sent, `UnavailableError` when no server is
 * reached within `connectTimeoutMs`, `AuthFailedError` at once, `UnsupportedError` for servers
 * older than 3.5.5.
 */
export function connect(hosts?: string | null, options?: ConnectOptions | null): Promise<Session>

/**
 * A handle on a session with an ensemble. Handles with equal servers and options share one session
 * (R16). An idle one does not keep the process alive. One that is garbage-collected, with every lock
 * and guard made from it, closes in the background.
 */
export class Session extends EventEmitter<{ state: [state: SessionState] }> {
  private constructor()
  /** The state at this moment. Changes are told by the event `state`. */
  readonly state: SessionState
  /** The id that the ensemble knows the session by. */
  readonly sessionId: bigint
  /** The session timeout that the ensemble has granted, in milliseconds. */
  readonly negotiatedTimeoutMs: number
  /** A mutex. Throws `InvalidArgumentError` (R20), `ClosedError`. Nothing is sent. */
  mutex(path: string, options?: LockOptions | null): Mutex
  /** A re-entrant mutex. Throws as `mutex`. Nothing is sent. */
  reentrantMutex(path: string, options?: LockOptions | null): ReentrantMutex
  /** A read-write lock. Throws as `mutex`. Nothing is sent. */
  rwLock(path: string, options?: LockOptions | null): RwLock
  /**
   * Closes the handle within `timeoutMs`, 5,000 if left out (R17): its guards are lost, its waiting
   * calls reject with `ClosedError`, its contenders are freed. Idempotent.
   */
  close(timeoutMs?: number | null): Promise<void>
  /** `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What all locks have. */
interface Lock<Call, Try> {
  /** The lock path. */
  readonly path: string
  /**
   * Waits for the lock, through outages and session changes (R6, R9). While it waits the process
   * stays alive. Rejects with `LockTimeoutError` at `timeoutMs`, with the signal's `reason` on abort.
   */
  lock(options?: Call | null): Promise<Guard>
  /** Takes the lock if nobody is before us, else `null`. Bounded by `connectTimeoutMs`. */
  tryLock(options?: Try | null): Promise<Guard | null>
  /**
   * Runs `fn` while holding the lock, and releases it. `signal` and `timeoutMs` are for getting the
   * lock. Rejects as `lock`; with what `fn` throws, whatever else happens; with `LockLostError` if
   * the lock was lost meanwhile.
   */
  withLock<T>(fn: (held: Guard) => T | PromiseLike<T>): Promise<T>
  withLock<T>(
    options: Call | null | undefined,
    fn: (held: Guard) => T | PromiseLike<T>
  ): Promise<T>
  /** Who queues on the path, in order. Rejects with `UnavailableError`, `NoAuthError`, `ClosedError`. */
  contenders(): Promise<Contender[]>
  /** What this object has counted. Nothing is sent. */
  statistics(): LockStatistics
}

/**
 * One guard at a time among all processes and languages (R1), in the order of arrival (R7).
 *
 * **Not re-entrant**: who holds it and locks it again waits for itself, until the time-out.
 */
export class Mutex implements Lock<CallOptions, TryOptions> {
  private constructor()
  readonly path: string
  lock(options?: CallOptions | null): Promise<Guard>
  tryLock(options?: TryOptions | null): Promise<Guard | null>
  withLock<T>(fn: (held: Guard) => T | PromiseLike<T>): Promise<T>
  withLock<T>(
    options: CallOptions | null | undefined,
    fn: (held: Guard) => T | PromiseLike<T>
  ): Promise<T>
  contenders(): Promise<Contender[]>
  statistics(): LockStatistics
}

/**
 * A mutex that its owner gets again at no request, with the same token (R11). The outermost
 * `withLock` makes the owner for everything that its function calls and awaits; the owner dies with
 * it. Re-entering a lost lock rejects with `LockLostError`.
 */
export class ReentrantMutex
  implements Lock<CallOptions & OwnerOptions, TryOptions & OwnerOptions>
{
  private constructor()
  readonly path: string
  lock(options?: (CallOptions & OwnerOptions) | null): Promise<Guard>
  tryLock(options?: (TryOptions & OwnerOptions) | null): Promise<Guard | null>
  withLock<T>(fn: (held: Guard) => T | PromiseLike<T>): Promise<T>
  withLock<T>(
    options: (CallOptions & OwnerOptions) | null | undefined,
    fn: (held: Guard) => T | PromiseLike<T>
  ): Promise<T>
  contenders(): Promise<Contender[]>
  statistics(): LockStatistics
}

/** One side of a {@link RwLock}; re-entrant per owner. */
export class RwLockSide implements Lock<CallOptions & OwnerOptions, TryOptions & OwnerOptions> {
  private constructor()
  readonly path: string
  lock(options?: (CallOptions & OwnerOptions) | null): Promise<Guard>
  tryLock(options?: (TryOptions & OwnerOptions) | null): Promise<Guard | null>
  withLock<T>(fn: (held: Guard) => T | PromiseLike<T>): Promise<T>
  withLock<T>(
    options: (CallOptions & OwnerOptions) | null | undefined,
    fn: (held: Guard) => T | PromiseLike<T>
  ): Promise<T>
  contenders(): Promise<Contender[]>
  /** What the lock has counted, both sides together. Nothing is sent. */
  statistics(): LockStatistics
}

/**
 * Many readers or one writer, in the order of arrival (R7, R12). The owner of the write lock may
 * take the read lock and then release the write lock, with no writer in between. The owner of only
 * a read lock who asks for the write lock gets `WouldDeadlockError`.
 */
export class RwLock {
  private constructor()
  /** The lock path. */
  readonly path: string
  /** The side that is shared. */
  readonly read: RwLockSide
  /** The side that is exclusive. */
  readonly write: RwLockSide
  /** Who queues on the path, in order. Rejects with `UnavailableError`, `NoAuthError`, `ClosedError`. */
  contenders(): Promise<Contender[]>
  /** What this object has counted, both sides together. Nothing is sent. */
  statistics(): LockStatistics
}

/** A lock that was granted. One that is garbage-collected is released in the background (R10). */
export class Guard {
  private constructor()
  /**
   * Positive, unique in the ensemble, rising from grant to grant on a path (R2). What the lock
   * protects should refuse lower ones than it has seen.
   */
  readonly fencingToken: bigint
  /**
   * The second part of the token of a lock with `keepMs`: of the grants of this contender, which this is, from
   * 1. The pair of `fencingToken` and it rises from grant to grant on a path, and a resource has to compare it
   * whole (R2). Without `keepMs` it is 1.
   */
  readonly grantCount: bigint
  /** The contender's node, without the session's chroot. */
  readonly nodePath: string
  /** The lock path. */
  readonly path: string
  /** Whether the lock may still be believed in; compares the clock at the call (R3). */
  readonly held: boolean
  /** The state at this moment. */
  readonly state: GuardState
  /**
   * Aborts when the lock is lost (R4), at once if it is; the reason is a `LockLostError`. While
   * somebody listens for that, the guard is not garbage-collected.
   */
  readonly signal: AbortSignal
  /** Throws `LockLostError` if the lock was lost, `NotHeldError` if it was released. */
  ensureHeld(): void
  /**
   * Ends the belief at once; resolves when the lock is free for others, or its lease is over (R10).
   * Rejects with `NotHeldError` if it was released before, `LockLostError` if it was lost before.
   */
  release(): Promise<void>
  /** `release()` unless it was released, for `await using`; rejects `LockLostError` if it was lost. */
  [Symbol.asyncDispose](): Promise<void>
}

/** Whom re-entrancy counts for; each one is somebody else (R11). */
export class Owner {
  constructor()
  // Keeps other objects from passing for owners.
  private readonly owner
}

/** Options of {@link startTestServer}. `undefined` is the default. */
export interface TestServerOptions {
  /** Default 0: a free one. */
  port?: number | undefined
  /** An IP address. Default `127.0.0.1`; one that is not a loopback address lets others in. */
  address?: string | undefined
  /** The unit of a server's time: sessions expire in steps of it. 10 ms to 1 min, default 500 ms. */
  tickMs?: number | undefined
  /** The shortest session timeout that clients get. Default, and least, two ticks. */
  minSessionTimeoutMs?: number | undefined
  /** The longest, at least the shortest. Default 60 s, or 20 ticks if that is longer. */
  maxSessionTimeoutMs?: number | undefined
  /** How often lock paths that nobody uses are removed. Default 60 s. */
  containerCheckMs?: number | undefined
}

/** A session as a {@link TestServer} knows it. */
export interface TestServerSession {
  /** What {@link Session.sessionId} and {@link Contender.sessionId} say. */
  id: bigint
  /** The session timeout that was granted. */
  timeoutMs: number
  /** Whether it has an open connection. */
  connected: boolean
  /** The paths of its ephemeral nodes, which are contenders for locks, in alphabetical order. */
  ephemerals: string[]
}

/**
 * Starts a ZooKeeper server in this process, **for development and tests only**: it keeps everything
 * in memory and has no security. It takes a millisecond, and clients can connect when it resolves.
 *
 * Rejects with `InvalidArgumentError`, and `UnavailableError` if the port cannot be had.
 */
export function startTestServer(options?: TestServerOptions | null): Promise<TestServer>

/**
 * A ZooKeeper server in this process. Runs until it is stopped, or its process or worker thread
 * ends, and is not garbage-collected before. As every server in Node it keeps them alive, unless
 * `unref()` is called.
 *
 * To see how a program copes, its methods end sessions and connections, or hold answers back. None
 * waits for a client. They throw `InvalidArgumentError`, and `ClosedError` once it is stopped.
 */
export class TestServer {
  private constructor()
  /** The connect string, such as `127.0.0.1:41234`, for any client of ZooKeeper. */
  readonly hosts: string
  /** The sessions that have not ended, by their ids. */
  sessions(): TestServerSession[]
  /**
   * Ends a session as if it had been silent for its timeout: its nodes are gone, and its client
   * learns, a moment later, that it expired. False if there is none with this id.
   */
  expireSession(id: bigint): boolean
  /** Ends all sessions; how many there were. */
  expireAll(): number
  /** Ends the connection of a session, whose client may come back. False if it has none. */
  cutSession(id: bigint): boolean
  /** Ends all connections; how many there were. */
  cutAll(): number
  /**
   * Neither reads nor answers anything of a session any more, on whatever connection it comes. Its
   * time runs on, so it expires after its timeout. False if there is none with this id.
   */
  freezeSession(id: bigint): boolean
  /** Ends `freezeSession`; what was kept back goes through. False if it was not frozen by itself. */
  thawSession(id: bigint): boolean
  /** Freezes every connection, and those that come. Sessions' time runs on. */
  freezeAll(): void
  /** Ends `freezeAll` and every `freezeSession`; what was kept back goes through. */
  thawAll(): void
  /** Sends every answer and event from now on so much late, at most an hour; 0 ends it. */
  delayAnswers(delayMs: number): void
  /** Refuses new connections. Open ones stay, and the port stays the server's. */
  refuseConnections(): void
  /** Ends `refuseConnections`; the port is open when it returns. */
  acceptConnections(): void
  /** Lets the process end while the server runs. Returns the server. */
  unref(): this
  /** Ends `unref()`. */
  ref(): this
  /** Ends all connections and forgets everything. Close your sessions before. Idempotent. */
  stop(): Promise<void>
  /** `stop()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The base of all errors of this package. */
export class ZoolockError extends Error {
  protected constructor()
  /** `ERR_ZOOLOCK_…`, after the kind of error. */
  readonly code: string
  /** The operation that failed, such as `lock` or `connect`. */
  readonly operation: string
  /** The lock path, if it was about one. */
  readonly path: string | undefined
  /** The failure underneath, if there is one. */
  readonly cause?: unknown
}

/** An argument is malformed; the message names it (R20). Fix the call; nothing was sent. */
export class InvalidArgumentError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_INVALID_ARGUMENT'
}
/** No server could be reached in time. Try again later, or raise `connectTimeoutMs`. */
export class UnavailableError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_UNAVAILABLE'
}
/**
 * The lock was not granted within the time given. Somebody else holds it, or no server could be
 * reached in that time: then `cause` is the `UnavailableError`.
 */
export class LockTimeoutError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_TIMEOUT'
}
/** Not seen where a signal aborts a call: that rejects with the signal's `reason`. */
export class CancelledError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_CANCELLED'
}
/** The lock was held and is no longer. Stop the protected work; somebody else may be in it. */
export class LockLostError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_LOCK_LOST'
}
/** Released what is not held (R10): a bug in the caller. */
export class NotHeldError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_NOT_HELD'
}
/** The owner of a read lock asked for the write lock (R12). Release the read lock first. */
export class WouldDeadlockError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_WOULD_DEADLOCK'
}
/** The path's sequence is used up (R14). Let the path empty, or use another. */
export class SequenceExhaustedError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_SEQUENCE_EXHAUSTED'
}
/** The server denies it: the message names the path and the missing right (R20). */
export class NoAuthError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_NO_AUTH'
}
/** The server does not accept the credentials. Trying again does not help. */
export class AuthFailedError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_AUTH_FAILED'
}
/** The session ended before the call could finish. */
export class SessionExpiredError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_SESSION_EXPIRED'
}
/** The session handle is closed. Open another one. */
export class ClosedError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_CLOSED'
}
/** The server, or this build, does not offer what was asked for. */
export class UnsupportedError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_UNSUPPORTED'
}
/** Something that should not happen; please report it with its message. */
export class InternalError extends ZoolockError {
  readonly code: 'ERR_ZOOLOCK_INTERNAL'
}
