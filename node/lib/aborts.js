'use strict'

// One listener a signal, however many calls it may abort: Node warns of a leak at the eleventh.

const hooks = new WeakMap()

/** Calls `abort` when `signal` aborts, until the function that this returns is called. */
function onAbort(signal, abort) {
  const hook = hooks.get(signal) ?? hookUp(signal)
  hook.aborts.add(abort)
  return () => {
    hook.aborts.delete(abort)
    if (hook.aborts.size === 0) unhook(signal, hook)
  }
}

function hookUp(signal) {
  const hook = { aborts: new Set(), listener: () => fire(signal, hook) }
  hooks.set(signal, hook)
  signal.addEventListener('abort', hook.listener, { once: true })
  return hook
}

function unhook(signal, hook) {
  signal.removeEventListener('abort', hook.listener)
  if (hooks.get(signal) === hook) hooks.delete(signal)
}

function fire(signal, hook) {
  hooks.delete(signal)
  for (const abort of hook.aborts) abort()
}

module.exports = { onAbort }
