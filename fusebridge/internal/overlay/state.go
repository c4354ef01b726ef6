package overlay

// State is what a draft is.
type State uint8

// The states of a draft.
const (
	Clean     State = iota // the store has all of it
	Typed                  // it has bytes that the store does not have
	Refused                // it cannot be committed; what was typed is in the conflict folder
	Waiting                // made or emptied, not a byte yet: the agent must not see it
	Temporary              // under a temporary name: never committed
	Unlinked               // without a name: never committed
	Gone                   // over: its node shows what the store has, or nothing
	states    = iota
)

// Event is what happens to a draft.
type Event uint8

// The events of a draft.
const (
	Type          Event = iota // bytes are written, or it is cut or extended
	Empty                      // it is cut to nothing
	Tear                       // a write into a text that has bytes of the same opening cannot be text
	Sync                       // fsync, or a close while someone still has it open for writing
	Finish                     // the last close
	Committed                  // the store has all of it
	Lose                       // the store refuses it for good
	Unlink                     // its name is removed, or another file takes it
	MakeTemporary              // it is renamed to a temporary name
	Install                    // its text is in the store under the name to which it was renamed
	PutBack                    // it is renamed back, and is what the store has there
	Release                    // no one has it open for writing any more
)

// Action is what is to be done at a transition, beside the change of state.
type Action uint8

// The actions.
const (
	Nothing  Action = iota
	Commit          // write it to the store: Committed or Lose follows, or neither if the store fails
	Preserve        // put what is in no other place into the conflict folder
)

// step is where an event leads, and what is to be done.
type step struct {
	to State
	do Action
}

// steps is the machine. An event that a state does not list means nothing to it.
var steps = [states]map[Event]step{
	Clean: {
		Type: {Typed, Nothing}, Empty: {Waiting, Nothing}, Lose: {Refused, Preserve},
		Unlink: {Unlinked, Nothing}, MakeTemporary: {Temporary, Nothing}, Release: {Gone, Nothing},
	},
	Typed: {
		Empty: {Waiting, Nothing}, Tear: {Refused, Preserve},
		Sync: {Typed, Commit}, Finish: {Typed, Commit}, Committed: {Clean, Nothing}, Lose: {Refused, Preserve},
		Unlink: {Unlinked, Nothing}, MakeTemporary: {Temporary, Nothing}, Install: {Clean, Nothing}, PutBack: {Clean, Nothing}, Release: {Gone, Preserve},
	},
	Refused: {
		Empty: {Typed, Nothing},
		Sync:  {Refused, Preserve}, Finish: {Gone, Preserve}, Committed: {Clean, Nothing}, Lose: {Refused, Preserve},
		Unlink: {Unlinked, Nothing}, MakeTemporary: {Temporary, Nothing}, Install: {Clean, Nothing}, PutBack: {Clean, Nothing}, Release: {Gone, Preserve},
	},
	Waiting: {
		Type:   {Typed, Nothing},
		Finish: {Waiting, Commit}, Committed: {Clean, Nothing}, Lose: {Refused, Preserve},
		Unlink: {Unlinked, Nothing}, MakeTemporary: {Temporary, Nothing}, Install: {Clean, Nothing}, PutBack: {Clean, Nothing}, Release: {Gone, Preserve},
	},
	Temporary: {Unlink: {Unlinked, Nothing}, Install: {Clean, Nothing}, PutBack: {Clean, Nothing}},
	Unlinked:  {Release: {Gone, Nothing}},
	Gone:      {},
}

// Next returns where an event leads from a state, and what is to be done.
func (s State) Next(e Event) (State, Action) {
	if next, ok := steps[s][e]; ok {
		return next.to, next.do
	}
	return s, Nothing
}
