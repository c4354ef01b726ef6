// Package turn runs an agent's turns: a request goes in, tools run over virtual
// files under budgets and approvals, an answer comes out, and what matters is
// remembered. It is for Go programs that bring a model of any kind, and for
// package agentsim, which brings a scripted one.
//
// # A turn
//
// ask, recall, plan, arguments, tool, and again until the plan is to answer,
// then answer and remember. The model is asked one small question at a time,
// named by its Stage, so that a small model can follow. Whatever goes wrong has a
// Reason, and either a Fallback takes over or the turn ends with the best that
// its steps allow.
//
// # Budgets
//
// Each prompt fits a limit that follows from the window; a tool's result and
// all retrieved excerpts together have budgets of their own. Every count is an
// event. The transcript in Outcome.Steps keeps what a prompt had to leave out.
//
// # Conversations
//
// Runs of one conversation happen in the order they were asked for; different
// conversations run side by side. Identifiers of conversations never enter a
// prompt. Backends gives each conversation files of its own.
//
// # Memory
//
// A turn that was answered is remembered; see package memory. When an exchange
// falls off the end of the last three, the model rewrites the summary as the
// scribe. Notes of its that leave out their slot for pending work do not forget
// it: what was open and is not mentioned stays, marked as pending before.
//
// It does not stream, does not talk to any provider, and does not checkpoint a
// turn that is under way.
package turn
