// Package memory is what an agent remembers of a conversation: a short summary
// and the last three exchanges, verbatim. It is for package turn and for
// applications that keep memories somewhere of their own.
//
// A Memory loads and saves the state of one conversation. Save is told which
// version the state was built on, so that of two savers one wins and the other
// gets a conflict that it can retry; nothing is lost in silence. What is stored
// but cannot be read counts as empty, is reported, and is kept aside before
// anything overwrites it.
//
// Three adapters are built in: InProcess, KeyValue over anything with Get and
// Set, and Files, which keeps each conversation as a JSON file of any backend.
// A Factory makes one Memory per conversation.
//
// Memory is separate from the files that an agent's tools see. It holds only
// turns that ended: one under way is not checkpointed.
package memory
