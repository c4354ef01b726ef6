// Package toolcall runs agent tools for the call verb: it resolves options,
// follows cursors, and speaks the line protocol of call --jsonl, in which each
// line of input is a Request and each line of output the Response to it.
package toolcall
