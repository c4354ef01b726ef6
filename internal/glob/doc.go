// Package glob finds files by patterns of their paths, asking a store only about
// directories in which something can match.
package glob
