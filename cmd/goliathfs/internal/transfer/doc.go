// Package transfer copies and compares stores for the verbs copy and diff. It
// walks both sides once, in step, because every backend lists in the same
// order; contents are compared only where sizes do not already tell.
package transfer
