'use strict'

// Node 20 had releases without it, and TypeScript's `await using` helpers look it up on `Symbol`.
if (Symbol.asyncDispose === undefined) {
  Object.defineProperty(Symbol, 'asyncDispose', { value: Symbol('Symbol.asyncDispose') })
}
