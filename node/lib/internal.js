'use strict'

const key = Symbol('internal')

/** Classes whose objects only this package makes check the key that they are given. */
function checkKey(given) {
  if (given !== key) throw new TypeError('Illegal constructor')
}

module.exports = { key, checkKey }
