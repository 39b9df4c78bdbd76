// The types of `import`: those of `require`, so that they are the same ones however the package is loaded.
export * from './index.js'

declare const zoolock: typeof import('./index.js')
export default zoolock
