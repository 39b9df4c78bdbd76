'use strict'

// How handles show themselves in `console.log`: what matters of them is in private fields.

const inspected = Symbol.for('nodejs.util.inspect.custom')

/** `Guard { state: 'held', … }` */
function describe(handle, shown, depth, options, inspect) {
  const { name } = handle.constructor
  if (depth < 0) return options.stylize(`[${name}]`, 'special')
  return `${name} ${inspect(shown, options)}`
}

module.exports = { describe, inspected }
