// Package stores shows the stores side by side: what an acknowledged write
// survives, how they bear many writers, and what they cost. It has tests and
// benchmarks only and nothing to import; each store's own package tests what
// only that store does.
//
// The tests start this package's test binary again as another process, to kill
// it or to share a store with it. Those that need a file system of their own
// mount one where no other process sees it; they want root on Linux, and skip
// with the reason elsewhere. GOLIATHFS_STRESS is how long the stress test lasts,
// as in GOLIATHFS_STRESS=30s; half a second without it, 3 seconds with GOLIATHFS_FULL.
//
//	go test ./vfs/stores
//	go test ./vfs/stores -run '^$' -bench .
package stores
