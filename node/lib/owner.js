'use strict'

const native = require('../native.js')

/** The native owner of an `Owner`, `undefined` for anything else, one with its prototype too. */
let nativeOf

/** Whom re-entrancy counts for; each one is somebody else (R11). */
class Owner {
  #native = new native.Owner()

  static {
    nativeOf = (value) =>
      typeof value === 'object' && value !== null && #native in value ? value.#native : undefined
  }
}

module.exports = { Owner, nativeOf }
